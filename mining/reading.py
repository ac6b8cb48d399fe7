"""Records of games to blocks: what is kept of a game beside its moves, and many games in few arrays."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.game import Result
from checkers.pdn import Record, Rejection
from checkers.position import Position
from mining.filters import GameFilter

#: Games in a block.
BLOCK = 1000

_RATINGS = (("BlackElo", "BlackRating"), ("WhiteElo", "WhiteRating"))


class Head(NamedTuple):
    """What is kept of a game beside its moves.

    ``number`` is its number in its file; ``rating`` the lower of both players' ratings, None unless both are known;
    ``ballot`` the number of its three-move ballot, 0 for none.
    """

    file: str
    number: int
    result: Result
    black: str
    white: str
    event: str
    date: str
    plies: int
    rating: int | None = None
    ballot: int = 0


@dataclass(slots=True)
class Block:
    """Games of one file, one after another.

    Attributes:
        file: its name.
        heads: one per game.
        codes: uint32 (sum of plies,): move codes.
        positions: uint32 (sum of plies + games, 4): black, white, kings, side.
        last: number of the last record looked at, accepted or not.
        line: the line that record begins on.
        rejected: records refused, by kind.
        filtered: games that the filter left out.
    """

    file: str
    heads: list[Head] = field(default_factory=list)
    codes: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    positions: NDArray[np.uint32] = field(default_factory=lambda: np.zeros((0, 4), np.uint32))
    last: int = 0
    line: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    filtered: int = 0

    def games(self) -> Iterator[tuple[Head, NDArray[np.uint32], NDArray[np.uint32]]]:
        """Head, codes and positions of each game."""
        ply = at = 0
        for head in self.heads:
            yield head, self.codes[ply : ply + head.plies], self.positions[at : at + head.plies + 1]
            ply, at = ply + head.plies, at + head.plies + 1

    def save(self, path: Path) -> None:
        """Write the block to a file that :meth:`load` reads."""
        heads = [(*head[:2], head.result.value, *head[3:]) for head in self.heads]
        text = json.dumps([self.file, heads, self.last, self.line, self.rejected, self.filtered])
        with path.open("wb") as stream:
            np.savez(stream, text=np.frombuffer(text.encode(), np.uint8), codes=self.codes, positions=self.positions)

    @classmethod
    def load(cls, path: Path) -> Block:
        """Read a block that :meth:`save` wrote."""
        with np.load(path) as arrays:
            file, heads, last, line, rejected, filtered = json.loads(arrays["text"].tobytes())
            rows = [Head(head[0], head[1], Result(head[2]), *head[3:]) for head in heads]
            return cls(file, rows, arrays["codes"], arrays["positions"], last, line, Counter(rejected), filtered)


@cache
def _ballots() -> dict[Position, int]:
    """The number of the three-move ballot by its position."""
    from checkers.openings import three_move_ballots

    return {ballot.position(): ballot.number for ballot in three_move_ballots()}


def ballot_of(positions: NDArray[np.uint32]) -> int:
    """The three-move ballot that a game starts from or has after three plies; 0 for none."""
    for row in (0, 3):
        if row < len(positions) and (number := _ballots().get(tuple(positions[row].tolist()))):  # type: ignore[call-overload]
            return int(number)
    return 0


def head_of(record: Record) -> Head:
    """What is kept of a record."""
    tags = record.tags
    ratings = [_rating(tags, names) for names in _RATINGS]
    lower = None if None in ratings else min(rating for rating in ratings if rating is not None)
    black, white, event, date = (tags.get(name, "") for name in ("Black", "White", "Event", "Date"))
    ballot = ballot_of(record.positions)
    return Head(record.file, record.number, record.result, black, white, event, date, len(record.codes), lower, ballot)


def _rating(tags: dict[str, str], names: tuple[str, ...]) -> int | None:
    for name in names:
        with contextlib.suppress(ValueError):
            return round(float(tags.get(name, "")))
    return None


def blocks_of(
    records: Iterable[Record | Rejection], *, wanted: GameFilter | None = None, skip: int = 0, games: int | None = None
) -> Iterator[Block]:
    """Records in blocks; a block ends where the file does.

    Args:
        records: what :func:`checkers.pdn.read_pdn` yields.
        wanted: which games to keep; None for all.
        skip: leave out the records with numbers up to this.
        games: records in a block; None for BLOCK.
    """
    games = games or BLOCK
    block, looked = Block(""), 0
    codes: list[NDArray[np.uint32]] = []
    positions: list[NDArray[np.uint32]] = []
    for record in records:
        if looked and (looked == games or record.file != block.file):
            yield _closed(block, codes, positions)
            block, looked, codes, positions = Block(""), 0, [], []
        if skip and record.number <= skip:
            continue
        looked += 1
        block.file, block.last, block.line = record.file, record.number, record.line
        if isinstance(record, Rejection):
            block.rejected[record.kind] += 1
            continue
        head = head_of(record)
        if wanted and not wanted.accepts(head):
            block.filtered += 1
            continue
        block.heads.append(head)
        codes.append(record.codes)
        positions.append(record.positions)
    if looked:
        yield _closed(block, codes, positions)


def _closed(block: Block, codes: list[NDArray[np.uint32]], positions: list[NDArray[np.uint32]]) -> Block:
    if block.heads:
        block.codes, block.positions = np.concatenate(codes), np.concatenate(positions)
    return block
