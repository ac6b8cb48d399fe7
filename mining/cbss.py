"""Consecutive binary subsequences: pairs of states that follow each other, with how it went (theory.md 3.3-3.11).

:func:`count_pairs` counts with the PrefixSpan package, :func:`ers_mining` with Wang's sequence tree; both give the same
net weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from prefixspan import PrefixSpan

from checkers.game import Result
from mining.archive import Ids, MiningError, Sequences

#: How a pair's net weight follows from wins, draws and losses: Wang's sign rule, or draws left out.
Sign: TypeAlias = Literal["w+d-l", "w-l"]

#: Windows given to PrefixSpan at a time; it is fastest with few, and this bounds its memory.
BATCH = 1024


@dataclass(frozen=True, slots=True)
class SequentialPattern:
    """A pair of consecutive states, seen from the mover (theory.md 3.11).

    ``state`` and ``next_state`` are state numbers, ``action`` is the code of the move between them. ``support`` is the
    count per game, ``confidence`` the share among all pairs from the state.
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


@dataclass(frozen=True, slots=True)
class Pairs:
    """All different pairs of an archive as columns of equal length, ordered by state and next state.

    Attributes:
        state, next_state: int64 state numbers.
        action: uint32 code of the move between them; of several paths with one result, the lowest code.
        wins, draws, losses: int64 counts, from the mover's side.
        total: int64 count of all pairs from the state.
        games: number of games, |D|.
    """

    state: Ids
    next_state: Ids
    action: NDArray[np.uint32]
    wins: Ids
    draws: Ids
    losses: Ids
    total: Ids
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

    def kept(self, *, min_count: int = 2, sign: Sign = "w+d-l") -> Pairs:
        """The pairs that become rules: frequent enough, and of positive net weight.

        Raises:
            MiningError: ``min_count`` is below 1, or there is no such ``sign``.
        """
        check_options(min_count, sign)
        return self.where((self.count >= min_count) & (self.weight(sign) > 0))

    def patterns(self, sign: Sign = "w+d-l") -> Iterator[SequentialPattern]:
        """The pairs one by one."""
        return itertools.starmap(SequentialPattern, self.rows(sign))

    def rows(self, sign: Sign = "w+d-l") -> Iterator[tuple[Any, ...]]:
        """The pairs as tuples with the fields of a :class:`SequentialPattern`."""
        columns: tuple[NDArray[Any], ...] = (
            self.state, self.next_state, self.action, self.count, self.wins, self.draws, self.losses,
            self.weight(sign), self.support, self.confidence, self.rating,
        )  # fmt: skip
        return zip(*(column.tolist() for column in columns), strict=True)


def check_options(min_count: int, sign: str) -> None:
    """Raise :class:`~mining.archive.MiningError` when an option is wrong."""
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
    """Count the consecutive pairs of states by outcome: one PrefixSpan pass each for won, drawn and lost moves."""
    pairs, drawn, actions = _windows(sequences)
    numbers = np.abs(pairs)
    lost = pairs[:, 1] < 0
    base = len(sequences.states) + 1  # larger than any number: a pair becomes one key
    counted = [prefix_span(numbers[mask], batch=batch) for mask in (~lost & ~drawn, drawn, lost)]
    keys = np.unique(np.concatenate([found @ (base, 1) for found, _ in counted]))
    outcomes = np.zeros((3, len(keys)), np.int64)
    for row, (found, counts) in zip(outcomes, counted, strict=True):
        # a pair may come from several batches
        np.add.at(row, np.searchsorted(keys, found @ (base, 1)), counts)
    state, next_state = np.divmod(keys, base)
    action = np.full(len(keys), np.iinfo(np.uint32).max, np.uint32)
    np.minimum.at(action, np.searchsorted(keys, numbers @ (base, 1)), actions)
    total = np.zeros(base, np.int64)
    np.add.at(total, state, outcomes.sum(axis=0))
    wins, draws, losses = outcomes
    return Pairs(state, next_state, action, wins, draws, losses, total[state], len(sequences))


def _windows(sequences: Sequences) -> tuple[Ids, NDArray[np.bool_], NDArray[np.uint32]]:
    """Every two consecutive elements of a game (signed, shape (windows, 2)), whether it was drawn, and the move."""
    second = np.ones(len(sequences.ids), bool)
    second[sequences.bounds[:-1]] = False
    at = np.flatnonzero(second)
    drawn = np.array([heading.result is Result.DRAW for heading in sequences.headings], bool)
    game = np.repeat(drawn, np.diff(sequences.bounds))
    return np.stack((sequences.ids[at - 1], sequences.ids[at]), axis=1), game[at], sequences.codes[at]


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


@dataclass(slots=True)
class Node:
    """A node of the sequence tree: a state number and its branches."""

    value: int
    branches: dict[int, Branch] = field(default_factory=dict)


@dataclass(slots=True)
class Branch:
    """A branch of the sequence tree: its weight and the node it leads to."""

    weight: int
    next: Node


def ers_mining(sequences: Iterable[Iterable[int]]) -> dict[int, dict[int, int]]:
    """Net weights ``w + d - l`` of all pairs by ErsMining's sequence tree (theory.md 3.6-3.10).

    Nodes of one value are merged when the tree is complete: weights only add up, so this gives what merging after every
    step gives.

    Args:
        sequences: signed state numbers of each game.

    Returns:
        state -> next state -> weight; the root, with value 0, leads to the states that games start from.
    """
    root = Node(0)
    for sequence in sequences:
        node = root
        for signed in sequence:
            number = abs(int(signed))
            branch = node.branches.get(number)
            if branch is None:
                branch = node.branches[number] = Branch(0, Node(number))
            branch.weight += 1 if signed > 0 else -1
            node = branch.next
    return _unify(root)


def _unify(root: Node) -> dict[int, dict[int, int]]:
    """Merge all nodes of equal value; equal branches add their weights (theory.md 3.9)."""
    table: dict[int, dict[int, int]] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not node.branches:
            continue
        merged = table.setdefault(node.value, {})
        for number, branch in node.branches.items():
            merged[number] = merged.get(number, 0) + branch.weight
            waiting.append(branch.next)
    return table
