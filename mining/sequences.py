"""Games to numbered board states and signed sequences (theory.md 3.4, 3.5), cycles removed (3.7).

States are numbered from 1 in order of first appearance, so that each number can carry a sign. :class:`Extraction`
turns blocks of games into batches of sequences with memory for the different states alone; :func:`extract` keeps all.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from checkers.game import Result
from checkers.pdn import Record, Rejection
from checkers.position import Colour, Position
from mining.errors import MiningError
from mining.filters import GameFilter, date_range
from mining.reading import Block, Head, blocks_of

Ids: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences of some games.

    Attributes:
        ids: int64 (elements,): signed state numbers, one game after another.
        codes: uint32 (elements,): code of the move that led to the state; without meaning for the first of a game.
        bounds: int64 (games + 1,): game g is ``ids[bounds[g]:bounds[g + 1]]``.
        drawn: bool (games,): which games were drawn.
        years: int64 (games,): year played, 0 when unknown.
        sources: int64 (games,): number of the file (from 1) times 2^32 plus the game's number in it.
    """

    ids: Ids
    codes: NDArray[np.uint32]
    bounds: Ids
    drawn: NDArray[np.bool_]
    years: Ids
    sources: Ids

    def __len__(self) -> int:
        """Number of games."""
        return len(self.drawn)

    def __iter__(self) -> Iterator[Ids]:
        """The signed sequence of each game."""
        for begin, end in zip(self.bounds[:-1].tolist(), self.bounds[1:].tolist(), strict=True):
            yield self.ids[begin:end]


@dataclass(frozen=True, slots=True)
class Sequences(Batch):
    """State sequences of all games that can be mined.

    Attributes:
        states: uint32 (states, 4): black, white, kings, side; the state with number n is row n - 1.
        counts: int64 (states,): how often each state stood in the games, before cycles were removed.
        headings: one per game.
        read: records read, used or not; rejections are not among them.
        rejected: records that the reader refused.
        unfinished: records without a result.
        empty: records without a move.
        duplicates: records whose moves had been seen before, when those were to be skipped.
    """

    states: NDArray[np.uint32]
    counts: Ids
    headings: tuple[Head, ...]
    read: int
    rejected: int
    unfinished: int
    empty: int
    duplicates: int

    def position(self, number: int) -> Position:
        """The state with that number (its sign does not matter)."""
        return position_of(self.states[abs(number) - 1])


def position_of(row: NDArray[np.uint32]) -> Position:
    """A row of black, white, kings, side as a position."""
    black, white, kings, side = row.tolist()
    return Position(black, white, kings, Colour(side))


class Numbering:
    """Numbers for states, from 1 in order of first appearance, over any number of tables.

    Attributes:
        counts: int64 (states,): how often each state was numbered.
    """

    def __init__(self) -> None:
        self.counts: Ids = np.zeros(0, np.int64)
        self._numbers: dict[int, int] = {}
        self._rows: list[NDArray[np.uint32]] = [np.zeros((0, 4), np.uint32)]

    def __len__(self) -> int:
        """Number of different states."""
        return len(self._numbers)

    def number(self, table: NDArray[np.uint32]) -> Ids:
        """The number of each row (black, white, kings, side)."""
        group, first = number_rows(table)
        distinct = table[first]
        high, low = _keys(distinct)
        known, before = self._numbers, len(self._numbers)
        keys = (one << 33 | other for one, other in zip(high.tolist(), low.tolist(), strict=True))
        numbers = np.array([known.setdefault(key, len(known) + 1) for key in keys], np.int64)
        self._rows.append(distinct[numbers > before])
        self.counts = np.concatenate((self.counts, np.zeros(len(known) - before, np.int64)))
        self.counts[numbers - 1] += np.bincount(group)[1:]
        return numbers[group - 1]

    @property
    def states(self) -> NDArray[np.uint32]:
        """uint32 (states, 4): the state with number n is row n - 1."""
        self._rows = [np.concatenate(self._rows)]
        return self._rows[0]


@dataclass(slots=True)
class Extraction:
    """Turns blocks of games into batches of signed sequences, and counts what is left out (theory.md 3.4-3.7).

    A state that the loser's move produced is negative; what the winner or a drawn game's sides produced, and the start,
    which nobody produced, is positive. An unfinished game says nothing about its moves and is left out, as is one
    without moves.

    Attributes:
        plies: only the first so many plies of each game; None for all.
        unique: skip a game whose start and moves, all of them, have been seen before, whatever its result.
        remove_cycles: delete what lies between two occurrences of a state, within the plies that are kept.
        numbering: the states met so far.
        files: the number of each file met so far, from 1.
        rejected: records refused, by kind.
    """

    plies: int | None = 24
    unique: bool = False
    remove_cycles: bool = True
    numbering: Numbering = field(default_factory=Numbering)
    files: dict[str, int] = field(default_factory=dict)
    read: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    filtered: int = 0
    unfinished: int = 0
    empty: int = 0
    duplicates: int = 0
    used: int = 0
    _seen: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        check_plies(self.plies)

    def batch(self, block: Block) -> tuple[Batch | None, list[Head]]:
        """The sequences of a block, and their heads; None when no game of it can be mined."""
        self.read += len(block.heads) + block.filtered
        self.filtered += block.filtered
        self.rejected.update(block.rejected)
        heads: list[Head] = []
        codes: list[NDArray[np.uint32]] = []
        positions: list[NDArray[np.uint32]] = []
        for head, moves, states in block.games():
            if not self._wanted(head, moves, states):
                continue
            length = len(moves) if self.plies is None else min(self.plies, len(moves))
            heads.append(head)
            codes += (np.zeros(1, np.uint32), moves[:length])
            positions.append(states[: length + 1])
        if not heads:
            return None, heads
        self.used += len(heads)
        table = np.concatenate(positions)
        lengths = np.array([len(rows) for rows in positions], np.int64)
        numbers = self.numbering.number(table)
        ids = numbers * signs(table[:, 3], lengths, [head.result for head in heads])
        number = self.files.setdefault(block.file, len(self.files) + 1)
        batch = Batch(
            ids,
            np.concatenate(codes),
            bounds_of(lengths),
            np.array([head.result is Result.DRAW for head in heads], bool),
            np.array([year_of(head.date) for head in heads], np.int64),
            np.array([number << 32 | head.number for head in heads], np.int64),
        )
        return (acyclic_batch(batch) if self.remove_cycles else batch), heads

    def _wanted(self, head: Head, codes: NDArray[np.uint32], positions: NDArray[np.uint32]) -> bool:
        if head.result is Result.UNFINISHED:
            self.unfinished += 1
            return False
        if not head.plies:
            self.empty += 1
            return False
        if self.unique:
            key = moves_key(positions[0], codes)
            if key in self._seen:
                self.duplicates += 1
                return False
            self._seen.add(key)
        return True

    def check(self) -> None:
        """Raise :class:`MiningError` when no game could be used."""
        if not self.used:
            kinds = "".join(f" ({count} {kind})" for kind, count in self.rejected.most_common(1))
            filtered = f", {self.filtered} not wanted" if self.filtered else ""
            raise MiningError(
                f"the archive has no game to mine: {self.rejected.total()} records rejected{kinds}, {self.unfinished} "
                f"unfinished, {self.empty} without moves{filtered}; right would be a legal game of English checkers "
                "with moves and a result"
            )


def extract(
    records: Iterable[Record | Rejection],
    *,
    plies: int | None,
    unique: bool,
    remove_cycles: bool = True,
    wanted: GameFilter | None = None,
) -> Sequences:
    """All sequences of an archive in memory; see :class:`Extraction` for the options.

    Raises:
        MiningError: ``plies`` is below 1, or no game can be used.
    """
    return extract_blocks(blocks_of(records, wanted=wanted), plies=plies, unique=unique, remove_cycles=remove_cycles)


def extract_blocks(
    blocks: Iterable[Block], *, plies: int | None, unique: bool, remove_cycles: bool = True
) -> Sequences:
    """The same for blocks of games.

    Raises:
        MiningError: ``plies`` is below 1, or no game can be used.
    """
    extraction = Extraction(plies, unique, remove_cycles)
    batches: list[Batch] = []
    headings: list[Head] = []
    for block in blocks:
        batch, heads = extraction.batch(block)
        headings += heads
        if batch is not None:
            batches.append(batch)
    extraction.check()
    lengths = np.concatenate([np.diff(batch.bounds) for batch in batches])
    return Sequences(
        ids=np.concatenate([batch.ids for batch in batches]),
        codes=np.concatenate([batch.codes for batch in batches]),
        bounds=bounds_of(lengths),
        drawn=np.concatenate([batch.drawn for batch in batches]),
        years=np.concatenate([batch.years for batch in batches]),
        sources=np.concatenate([batch.sources for batch in batches]),
        states=extraction.numbering.states,
        counts=extraction.numbering.counts,
        headings=tuple(headings),
        read=extraction.read,
        rejected=extraction.rejected.total(),
        unfinished=extraction.unfinished,
        empty=extraction.empty,
        duplicates=extraction.duplicates,
    )


def check_plies(plies: int | None) -> None:
    """Raise :class:`MiningError` when no ply would be kept."""
    if plies is not None and plies < 1:
        raise MiningError(f"plies is {plies}; right would be 1 or more, or none for whole games")


def year_of(date: str) -> int:
    """The year of a date, 0 when it has none."""
    days = date_range(date)
    return days[0] // 10000 if days else 0


def moves_key(start: NDArray[np.uint32], codes: NDArray[np.uint32]) -> bytes:
    """16 bytes that tell games apart by their start and all their moves."""
    return hashlib.blake2b(start.tobytes() + codes.tobytes(), digest_size=16).digest()


def bounds_of(lengths: Ids) -> Ids:
    """Where games of these lengths begin and end."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def _starts(lengths: Ids) -> Ids:
    """Index of each game's first element."""
    return np.cumsum(lengths) - lengths


def _keys(table: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Two numbers that name each row: the men and kings of both sides, and kings with the side to move."""
    high = table[:, 0].astype(np.uint64) << np.uint64(32) | table[:, 1]
    return high, table[:, 2].astype(np.uint64) << np.uint64(1) | table[:, 3]


def number_rows(table: NDArray[np.uint32]) -> tuple[Ids, Ids]:
    """Number equal rows alike, from 1 in order of first appearance.

    Returns:
        The number of each row, and for each number the first row that has it.
    """
    high, low = _keys(table)
    order = np.lexsort((low, high))  # stable: the first of equal rows comes first
    new = np.ones(len(table), bool)
    new[1:] = (high[order][1:] != high[order][:-1]) | (low[order][1:] != low[order][:-1])
    group = np.empty(len(table), np.int64)
    group[order] = np.cumsum(new) - 1
    first = order[new]
    by_appearance = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_appearance] = np.arange(1, len(first) + 1)
    return rank[group], first[by_appearance]


def signs(side: NDArray[np.uint32], lengths: Ids, results: list[Result]) -> Ids:
    """-1 where the loser's move produced the state, 1 elsewhere (theory.md 3.5).

    Whoever produced a state is not to move in it, so the loser did where the winner is to move.
    """
    winners = {Result.BLACK_WINS: int(Colour.BLACK), Result.WHITE_WINS: int(Colour.WHITE)}
    winner = np.repeat(np.array([winners.get(result, -1) for result in results], np.int64), lengths)
    found = np.where(side == winner, -1, 1)
    found[_starts(lengths)] = 1
    return found.astype(np.int64)


def acyclic_batch(batch: Batch) -> Batch:
    """The batch with the cycles of each game removed (theory.md 3.7)."""
    lengths = np.diff(batch.bounds)
    kept = _without_cycles(np.abs(batch.ids), lengths)
    bounds = bounds_of(np.add.reduceat(kept, _starts(lengths), dtype=np.int64))
    return Batch(batch.ids[kept], batch.codes[kept], bounds, batch.drawn, batch.years, batch.sources)


def some_games(batch: Batch, chosen: NDArray[np.bool_]) -> Batch:
    """The marked games of a batch."""
    lengths = np.diff(batch.bounds)
    kept = np.repeat(chosen, lengths)
    return Batch(
        batch.ids[kept],
        batch.codes[kept],
        bounds_of(lengths[chosen]),
        batch.drawn[chosen],
        batch.years[chosen],
        batch.sources[chosen],
    )


def _without_cycles(numbers: Ids, lengths: Ids) -> NDArray[np.bool_]:
    """Which elements stay when cycles are removed from each game."""
    kept = np.ones(len(numbers), bool)
    game = np.repeat(np.arange(len(lengths)), lengths)
    occurrences, counts = np.unique(game * (numbers.max() + 1) + numbers, return_counts=True)
    repeating = np.unique(occurrences[counts > 1] // (numbers.max() + 1))
    starts = _starts(lengths)
    for g in repeating.tolist():  # games without a repetition need no walk
        begin = int(starts[g])
        end = begin + int(lengths[g])
        kept[begin:end] = False
        kept[begin + np.array(acyclic(numbers[begin:end].tolist()))] = True
    return kept


def acyclic(sequence: list[int]) -> list[int]:
    """Indices that stay when, from the end backwards, the part between two occurrences of a state is deleted.

    Theory.md 3.7. The earlier of the two occurrences stays; the side to move is part of a state, so occurrences are an
    even number of plies apart.

    >>> acyclic([1, 2, 3, 4, 1, 6])
    [0, 5]
    """
    first: dict[int, int] = {}
    for index, number in enumerate(sequence):
        first.setdefault(number, index)
    kept: list[int] = []
    index = len(sequence) - 1
    while index >= 0:
        index = first[sequence[index]]
        kept.append(index)
        index -= 1
    return kept[::-1]
