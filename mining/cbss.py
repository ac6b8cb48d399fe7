"""Consecutive binary subsequences: pairs of states that follow each other, with how it went (theory.md 3.3-3.11).

:class:`PairCounter` counts with the PrefixSpan package, :func:`mining.tree.ers_mining` with Wang's sequence tree; both
give the same net weights.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from prefixspan import PrefixSpan

from mining.errors import MiningError
from mining.sequences import Batch, Ids, Sequences, number_rows

#: How a pair's net weight follows from wins, draws and losses: Wang's sign rule, or draws left out.
Sign: TypeAlias = Literal["w+d-l", "w-l"]

#: Windows given to PrefixSpan at a time; it is fastest with few, and this bounds its memory.
BATCH = 1024
#: Games that a pair remembers as examples.
EXAMPLES = 3
#: Rows that wait at least before they are merged into the table of all pairs.
MERGE = 200_000


@dataclass(frozen=True, slots=True)
class SequentialPattern:
    """A pair of consecutive states, seen from the mover (theory.md 3.11).

    ``state`` and ``next_state`` are state numbers, ``action`` is the code of the move between them. ``support`` is the
    count per game, ``confidence`` the share among all pairs from the state; ``last_year`` and ``examples`` are as in
    :class:`Pairs`.
    """

    state: int
    next_state: int
    action: int
    count: int
    wins: int
    draws: int
    losses: int
    weight: int
    support: float
    confidence: float
    rating: float
    last_year: int
    examples: list[int]


@dataclass(frozen=True, slots=True)
class Pairs:
    """All different pairs of an archive as columns of equal length, ordered by state and next state.

    Attributes:
        state, next_state: int64 state numbers.
        action: uint32 code of the move between them; of several paths with one result, the lowest code.
        wins, draws, losses: int64 counts, from the mover's side.
        total: int64 count of all pairs from the state.
        last_year: int64 year in which the move was last played, 0 when unknown.
        examples: int64 (pairs, EXAMPLES): the first games that hold the pair, as in :class:`~mining.sequences.Batch`'s
            ``sources``; 0 where there are fewer.
        games: number of games, |D|.
    """

    state: Ids
    next_state: Ids
    action: NDArray[np.uint32]
    wins: Ids
    draws: Ids
    losses: Ids
    total: Ids
    last_year: Ids
    examples: Ids
    games: int

    def __len__(self) -> int:
        return len(self.state)

    @property
    def count(self) -> Ids:
        """How often each pair occurs."""
        return self.wins + self.draws + self.losses

    def weight(self, sign: Sign = "w+d-l") -> Ids:
        """Net weight of each pair."""
        return self.wins - self.losses + (self.draws if sign == "w+d-l" else 0)

    @property
    def support(self) -> NDArray[np.float64]:
        """Count per game; a pair that a game repeats counts each time."""
        return self.count / self.games

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Share of each pair among the pairs from its state."""
        return self.count / self.total

    @property
    def rating(self) -> NDArray[np.float64]:
        """Points per occurrence of each pair: 1 for a win, 0.5 for a draw."""
        return (self.wins + 0.5 * self.draws) / self.count

    def where(self, mask: NDArray[np.bool_]) -> Pairs:
        """The pairs that ``mask`` marks; ``total`` and ``games`` still speak of the whole archive."""
        columns: dict[str, Any] = {name: getattr(self, name)[mask] for name in Pairs.__slots__ if name != "games"}
        return Pairs(**columns, games=self.games)

    def numbered(self, used: Ids) -> Pairs:
        """The pairs with new numbers for states: the place, from 1, of the old number in ``used``, in order."""
        state, next_state = np.searchsorted(used, self.state) + 1, np.searchsorted(used, self.next_state) + 1
        return dataclasses.replace(self, state=state, next_state=next_state)

    def kept(self, *, min_count: int = 2, sign: Sign = "w+d-l") -> Pairs:
        """The pairs that become rules: frequent enough, and of positive net weight.

        Raises:
            MiningError: ``min_count`` is below 1, or there is no such ``sign``.
        """
        check_options(min_count, sign)
        return self.where((self.count >= min_count) & (self.weight(sign) > 0))

    def avoided(self, *, min_count: int = 2, sign: Sign = "w+d-l") -> Pairs:
        """The frequent pairs of negative net weight: what was played and went wrong.

        Raises:
            MiningError: ``min_count`` is below 1, or there is no such ``sign``.
        """
        check_options(min_count, sign)
        return self.where((self.count >= min_count) & (self.weight(sign) < 0))

    def patterns(self, sign: Sign = "w+d-l") -> Iterator[SequentialPattern]:
        """The pairs one by one."""
        return itertools.starmap(SequentialPattern, self.rows(sign))

    def rows(self, sign: Sign = "w+d-l") -> Iterator[tuple[Any, ...]]:
        """The pairs as tuples with the fields of a :class:`SequentialPattern`."""
        columns: tuple[NDArray[Any], ...] = (
            self.state, self.next_state, self.action, self.count, self.wins, self.draws, self.losses,
            self.weight(sign), self.support, self.confidence, self.rating, self.last_year, self.examples,
        )  # fmt: skip
        return zip(*(column.tolist() for column in columns), strict=True)


def check_options(min_count: int, sign: str) -> None:
    """Raise :class:`~mining.errors.MiningError` when an option is wrong."""
    if min_count < 1:
        raise MiningError(f"min_count is {min_count}; right would be 1 or more")
    if sign not in get_args(Sign):
        raise MiningError(f"sign {sign!r} is unknown; there are {', '.join(get_args(Sign))}")


def mine(sequences: Sequences, *, min_count: int = 2, sign: Sign = "w+d-l") -> list[SequentialPattern]:
    """The patterns that become rules (theory.md 3.11), ordered by state and next state.

    Raises:
        MiningError: ``min_count`` is below 1, or there is no such ``sign``.
    """
    check_options(min_count, sign)
    return list(count_pairs(sequences).kept(min_count=min_count, sign=sign).patterns(sign))


def count_pairs(sequences: Sequences, *, batch: int = BATCH) -> Pairs:
    """Count the consecutive pairs of states of an archive that is in memory; see :class:`PairCounter`."""
    counter = PairCounter(batch=batch)
    counter.add(sequences)
    return counter.pairs()


class PairCounter:
    """Counts the consecutive pairs of states by outcome, batch of games by batch of games.

    Each batch takes one PrefixSpan pass each for won, drawn and lost moves; the counts of all are added up here, so
    that memory grows with the different pairs, not with the games.

    Args:
        batch: windows given to PrefixSpan at a time.
    """

    def __init__(self, *, batch: int = BATCH) -> None:
        self.games = 0
        self._batch = batch
        self._table: _Table | None = None
        self._waiting: list[_Table] = []

    def add(self, games: Batch) -> None:
        """Count the pairs of some games."""
        self.games += len(games)
        pairs, drawn, actions, game = _windows(games)
        if not len(pairs):
            return
        numbers = np.abs(pairs)
        lost = pairs[:, 1] < 0
        counted = [prefix_span(numbers[mask], batch=self._batch) for mask in (~lost & ~drawn, drawn, lost)]
        keys = np.unique(np.concatenate([_key(found) for found, _ in counted]))
        outcomes = np.zeros((len(keys), 3), np.int64)
        for column, (found, counts) in enumerate(counted):
            # a pair may come from several batches
            np.add.at(outcomes[:, column], np.searchsorted(keys, _key(found)), counts)
        at = np.searchsorted(keys, _key(numbers))
        action = np.full(len(keys), np.iinfo(np.uint32).max, np.uint32)
        np.minimum.at(action, at, actions)
        last_year = np.zeros(len(keys), np.int64)
        np.maximum.at(last_year, at, games.years[game])
        examples = _first_examples(at, games.sources[game], len(keys))
        self._waiting.append(_Table(keys, outcomes, action, last_year, examples))
        # merged when what waits is as large as what is there: every row is merged a few times only
        if sum(len(table.keys) for table in self._waiting) >= max(MERGE, len(self._table.keys) if self._table else 0):
            self._merge()

    def _merge(self) -> None:
        tables = [self._table, *self._waiting] if self._table else self._waiting
        self._table, self._waiting = _merged([table for table in tables if table]), []

    def pairs(self) -> Pairs:
        """The pairs counted so far."""
        if self._waiting:
            self._merge()
        if self._table is None:
            self._table = _merged([])
        return self._table.pairs(self.games)


@dataclass(frozen=True, slots=True)
class _Table:
    """Counted pairs; keys are in order and each is there once."""

    keys: Ids  # state times 2^32 plus next state
    outcomes: Ids  # (pairs, 3): wins, draws, losses
    action: NDArray[np.uint32]
    last_year: Ids
    examples: Ids  # (pairs, EXAMPLES)

    def pairs(self, games: int) -> Pairs:
        state, next_state = self.keys >> 32, self.keys & 0xFFFFFFFF
        wins, draws, losses = np.ascontiguousarray(self.outcomes.T)
        sources, at = np.unique(state, return_inverse=True)
        total = np.zeros(len(sources), np.int64)
        np.add.at(total, at, self.outcomes.sum(axis=1))
        return Pairs(
            state, next_state, self.action, wins, draws, losses, total[at], self.last_year, self.examples, games
        )


def _key(pairs: Ids) -> Ids:
    return pairs[:, 0] << 32 | pairs[:, 1]


def _merged(tables: list[_Table]) -> _Table:
    """One table of several; a pair's examples are those of the earlier tables first."""
    all_keys = np.concatenate([np.zeros(0, np.int64), *(table.keys for table in tables)])
    keys, at = np.unique(all_keys, return_inverse=True)
    outcomes = np.zeros((len(keys), 3), np.int64)
    action = np.full(len(keys), np.iinfo(np.uint32).max, np.uint32)
    last_year = np.zeros(len(keys), np.int64)
    begin = 0
    for table in tables:
        rows = at[begin : begin + len(table.keys)]  # different ones, as the keys of a table are
        outcomes[rows] += table.outcomes
        action[rows] = np.minimum(action[rows], table.action)
        last_year[rows] = np.maximum(last_year[rows], table.last_year)
        begin += len(table.keys)
    found = np.concatenate([np.zeros((0, EXAMPLES), np.int64), *(table.examples for table in tables)])
    given = found.ravel() > 0
    examples = _first_examples(np.repeat(at, EXAMPLES)[given], found.ravel()[given], len(keys))
    return _Table(keys, outcomes, action, last_year, examples)


def _first_examples(at: Ids, sources: Ids, size: int) -> Ids:
    """The first different games of each of ``size`` pairs, 0 where there are fewer; (size, EXAMPLES)."""
    order = np.argsort(at, kind="stable")
    row, source = at[order], sources[order]
    new = np.ones(len(row), bool)
    new[1:] = (row[1:] != row[:-1]) | (source[1:] != source[:-1])  # a game's windows follow each other
    row, source = row[new], source[new]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    kept = rank < EXAMPLES
    examples = np.zeros((size, EXAMPLES), np.int64)
    examples[row[kept], rank[kept]] = source[kept]
    return examples


def merge_colours(pairs: Pairs, states: NDArray[np.uint32]) -> tuple[Pairs, NDArray[np.uint32]]:
    """The pairs with White's positions turned by half, so that Black is to move in every state (theory.md 9.10).

    Args:
        pairs: pairs of states numbered from 1.
        states: uint32 (states, 4), black, white, kings, side; the state with number n is row n - 1.

    Returns:
        The merged pairs and the states that they speak of.
    """
    white = states[:, 3] == 1
    turned = states.copy()
    turned[white, 0], turned[white, 1] = turn_boards(states[white, 1]), turn_boards(states[white, 0])
    turned[white, 2], turned[white, 3] = turn_boards(states[white, 2]), 0
    numbers, first = number_rows(turned)
    action = np.where(white[pairs.state - 1], turn_codes(pairs.action), pairs.action)
    keys = numbers[pairs.state - 1] << 32 | numbers[pairs.next_state - 1]
    tables = []
    for rows in (~white[pairs.state - 1], white[pairs.state - 1]):  # among one colour's pairs no two become one
        outcomes = np.stack((pairs.wins, pairs.draws, pairs.losses), axis=1)[rows]
        tables.append(_Table(keys[rows], outcomes, action[rows], pairs.last_year[rows], pairs.examples[rows]))
    return _merged(tables).pairs(pairs.games), turned[first]


def turn_boards(boards: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Boards after a half-turn: square n becomes 33 - n."""
    bits = np.unpackbits(np.ascontiguousarray(boards, "<u4").view(np.uint8).reshape(-1, 4), axis=1, bitorder="little")
    turned: NDArray[np.uint32] = np.packbits(bits[:, ::-1], axis=1, bitorder="little").view("<u4").ravel()
    return turned.astype(np.uint32)


def turn_codes(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Move codes after a half-turn: the square and every direction are the opposite ones."""
    wide = codes.astype(np.uint64)
    steps = np.maximum(wide >> np.uint64(5) & np.uint64(15), np.uint64(1))
    directions = ((np.uint64(1) << np.uint64(2) * steps) - np.uint64(1)) << np.uint64(9)
    turned: NDArray[np.uint32] = (wide ^ directions ^ np.uint64(31)).astype(np.uint32)
    return turned


def _windows(games: Batch) -> tuple[Ids, NDArray[np.bool_], NDArray[np.uint32], Ids]:
    """Every two consecutive elements of a game (signed, (windows, 2)), whether it was drawn, the move, the game."""
    second = np.ones(len(games.ids), bool)
    second[games.bounds[:-1]] = False
    at = np.flatnonzero(second)
    game = np.repeat(np.arange(len(games)), np.diff(games.bounds))[at]
    return np.stack((games.ids[at - 1], games.ids[at]), axis=1), games.drawn[game], games.codes[at], game


def prefix_span(windows: Ids, *, batch: int = BATCH) -> tuple[Ids, Ids]:
    """Different pairs among ``windows`` (n, 2), and their counts, found by the PrefixSpan package.

    PrefixSpan allows gaps within a pattern and counts a pattern once per sequence, so in whole games it would count
    distant pairs and miss repeated ones. Given each window as a sequence of its own, a frequent pattern of length 2 is
    exactly a pair of neighbours. A pair can come more than once when ``batch`` divides its windows.

    Returns:
        int64 (pairs, 2) and int64 (pairs,).
    """
    ordered = windows[np.argsort(windows[:, 0], kind="stable")]
    found: list[list[int]] = []
    counts: list[int] = []
    for begin in range(0, len(ordered), batch):
        miner = PrefixSpan(ordered[begin : begin + batch].tolist())
        miner.minlen = miner.maxlen = 2
        for count, pattern in miner.frequent(1):
            counts.append(count)
            found.append(pattern)
    return np.array(found, np.int64).reshape(-1, 2), np.array(counts, np.int64)
