"""Game records to numbered board states and signed sequences (theory.md 3.4, 3.5), cycles removed (3.7).

States are numbered from 1 in order of first appearance, so that each number can carry a sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from checkers.errors import InputError
from checkers.game import Result
from checkers.pdn import Record, Rejection
from checkers.position import Colour, Position

Ids: TypeAlias = NDArray[np.int64]


class MiningError(InputError):
    """An archive holds nothing to mine, or an option of mining is wrong."""


class Heading(NamedTuple):
    """What is kept of a game beside its states: where it is from, who played, and its result."""

    file: str
    number: int
    result: Result
    black: str
    white: str
    event: str
    date: str


@dataclass(frozen=True, slots=True)
class Sequences:
    """State sequences of the games that can be mined.

    Attributes:
        states: uint32 (states, 4): black, white, kings, side; the state with number n is row n - 1.
        counts: int64 (states,): how often each state stood in the games, before cycles were removed.
        ids: int64 (elements,): signed state numbers of all games, one game after another.
        codes: uint32 (elements,): code of the move that led to the state; without meaning for the first of a game.
        bounds: int64 (games + 1,): game g is ``ids[bounds[g]:bounds[g + 1]]``.
        headings: one per game.
        read: records read, used or not; rejections are not among them.
        rejected: records that the reader refused.
        unfinished: records without a result.
        empty: records without a move.
        duplicates: records whose moves had been seen before, when those were to be skipped.
    """

    states: NDArray[np.uint32]
    counts: Ids
    ids: Ids
    codes: NDArray[np.uint32]
    bounds: Ids
    headings: tuple[Heading, ...]
    read: int
    rejected: int
    unfinished: int
    empty: int
    duplicates: int

    def __len__(self) -> int:
        """Number of games, the |D| of theory.md 3.11."""
        return len(self.headings)

    def __iter__(self) -> Iterator[Ids]:
        """The signed sequence of each game."""
        for begin, end in zip(self.bounds[:-1].tolist(), self.bounds[1:].tolist(), strict=True):
            yield self.ids[begin:end]

    def position(self, number: int) -> Position:
        """The state with that number (its sign does not matter)."""
        black, white, kings, side = self.states[abs(number) - 1].tolist()
        return Position(black, white, kings, Colour(side))


@dataclass(slots=True)
class _Collected:
    """Records on their way to sequences."""

    headings: list[Heading] = field(default_factory=list)
    positions: list[NDArray[np.uint32]] = field(default_factory=list)
    codes: list[NDArray[np.uint32]] = field(default_factory=list)
    read: int = 0
    rejected: int = 0
    unfinished: int = 0
    empty: int = 0
    duplicates: int = 0


def extract(
    records: Iterable[Record | Rejection], *, plies: int | None, unique: bool, remove_cycles: bool = True
) -> Sequences:
    """Number the states of the games and write each game as a signed sequence (theory.md 3.4-3.7).

    A state that the loser's move produced is negative; what the winner or a drawn game's sides produced, and the start,
    which nobody produced, is positive. An unfinished game says nothing about its moves and is left out, as is one
    without moves.

    Args:
        records: what :func:`checkers.pdn.read_pdn` yields.
        plies: only the first so many plies of each game; None for all.
        unique: skip a game whose start and moves, all of them, have been seen before, whatever its result.
        remove_cycles: delete what lies between two occurrences of a state, within the plies that are kept.

    Raises:
        MiningError: ``plies`` is below 1, or no game can be used.
    """
    if plies is not None and plies < 1:
        raise MiningError(f"plies is {plies}; right would be 1 or more, or none for whole games")
    found = _collect(records, plies, unique)
    if not found.headings:
        raise MiningError(
            f"the archive has no game to mine: {found.rejected} records rejected, {found.unfinished} unfinished, "
            f"{found.empty} without moves; right would be a legal game with moves and a result"
        )
    table = np.concatenate(found.positions)
    lengths = np.array([len(positions) for positions in found.positions], np.int64)
    numbers, first = _number(table)
    ids = numbers * _signs(table[:, 3], lengths, [heading.result for heading in found.headings])
    codes = np.concatenate(found.codes)
    if remove_cycles:
        kept = _without_cycles(numbers, lengths)
        ids, codes = ids[kept], codes[kept]
        lengths = np.add.reduceat(kept, _starts(lengths), dtype=np.int64)
    return Sequences(
        states=table[first],
        counts=np.bincount(numbers)[1:].astype(np.int64),
        ids=ids,
        codes=codes,
        bounds=np.concatenate(([0], np.cumsum(lengths))),
        headings=tuple(found.headings),
        read=found.read,
        rejected=found.rejected,
        unfinished=found.unfinished,
        empty=found.empty,
        duplicates=found.duplicates,
    )


def _collect(records: Iterable[Record | Rejection], plies: int | None, unique: bool) -> _Collected:
    """Sort out the records; keep the positions and codes of those to be mined."""
    found = _Collected()
    seen: set[tuple[Position, bytes]] = set()
    for record in records:
        if isinstance(record, Rejection):
            found.rejected += 1
            continue
        found.read += 1
        if record.result is Result.UNFINISHED:
            found.unfinished += 1
            continue
        if not len(record.codes):
            found.empty += 1
            continue
        if unique:
            moves = (record.start, record.codes.tobytes())
            if moves in seen:
                found.duplicates += 1
                continue
            seen.add(moves)
        length = len(record.codes) if plies is None else min(plies, len(record.codes))
        found.headings.append(_heading(record))
        # copies, so that the plies beyond the limit can be freed
        found.positions.append(record.positions[: length + 1].copy())
        found.codes.append(np.concatenate((np.zeros(1, np.uint32), record.codes[:length])))
    return found


def _heading(record: Record) -> Heading:
    tags = (record.tags.get(name, "") for name in ("Black", "White", "Event", "Date"))
    return Heading(record.file, record.number, record.result, *tags)


def _starts(lengths: Ids) -> Ids:
    """Index of each game's first element."""
    return np.cumsum(lengths) - lengths


def _number(table: NDArray[np.uint32]) -> tuple[Ids, Ids]:
    """Number equal rows alike, from 1 in order of first appearance.

    Returns:
        The number of each row, and for each number the first row that has it.
    """
    high = table[:, 0].astype(np.uint64) << np.uint64(32) | table[:, 1]
    low = table[:, 2].astype(np.uint64) << np.uint64(1) | table[:, 3]
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


def _signs(side: NDArray[np.uint32], lengths: Ids, results: list[Result]) -> Ids:
    """-1 where the loser's move produced the state, 1 elsewhere (theory.md 3.5).

    Whoever produced a state is not to move in it, so the loser did where the winner is to move.
    """
    winners = {Result.BLACK_WINS: int(Colour.BLACK), Result.WHITE_WINS: int(Colour.WHITE)}
    winner = np.repeat(np.array([winners.get(result, -1) for result in results], np.int64), lengths)
    signs = np.where(side == winner, -1, 1)
    signs[_starts(lengths)] = 1
    return signs.astype(np.int64)


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
