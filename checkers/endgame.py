"""Endgame databases: every position with few pieces, its outcome and distance in plies (theory.md 7.3).

One file holds all slices up to a number of pieces, bit-packed and memory-mapped. It begins with a line of JSON that
tells the slices, where they stand, how many bits a value takes, and a checksum of each. While a database is built, each
finished pair of slices is kept in a folder beside it, so that an interrupted build goes on where it was.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.endgame_build import CODES, DRAWN, NONE, finish_distance, slice_code, start_slice
from checkers.endgame_index import CHOOSE, MAN_SQUARES, packed_value, position_number_of
from checkers.errors import FileFormatError, InputError
from checkers.movegen import MAX_MOVES, new_buffer
from checkers.position import Position

FORMAT = "ace-rl-checkers endgame database"
VERSION = 1
#: Most pieces that a build takes on; 6 would need 17 times the time and room of 5.
MOST_PIECES = 5

Values = NDArray[np.uint8]


class Outcome(StrEnum):
    """How a position ends with best play, for the side to move."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


class Slice(NamedTuple):
    """Material of the side to move and of its opponent."""

    own_men: int
    own_kings: int
    opp_men: int
    opp_kings: int

    @property
    def mirror(self) -> Slice:
        """The same material with the other side to move."""
        return Slice(self.opp_men, self.opp_kings, self.own_men, self.own_kings)

    @property
    def size(self) -> int:
        """How many numbers its positions take; some stand for no position."""
        left = 32 - self.own_men - self.opp_men
        men = CHOOSE[MAN_SQUARES, self.own_men] * CHOOSE[MAN_SQUARES, self.opp_men]
        return int(men * CHOOSE[left, self.own_kings] * CHOOSE[left - self.own_kings, self.opp_kings])

    @property
    def code(self) -> int:
        """The slice as a kernel's number."""
        return int(slice_code.py_func(*self))  # type: ignore[attr-defined]

    def __str__(self) -> str:
        own, opp = (_material(*side) for side in ((self.own_men, self.own_kings), (self.opp_men, self.opp_kings)))
        return f"{own} v {opp}"


def _material(men: int, kings: int) -> str:
    return (f"{kings}K" if kings else "") + (f"{men}M" if men else "")


class SliceStatistics(NamedTuple):
    """Counts of a slice: positions, outcomes for the side to move, longest win and loss in plies (0: none)."""

    slice: str
    total: int
    wins: int
    draws: int
    losses: int
    longest_win: int
    longest_loss: int


class Probe(NamedTuple):
    """What the database says of a position; ``plies`` to the end of the game, None for a draw."""

    outcome: Outcome
    plies: int | None

    @property
    def score(self) -> float:
        """1000 minus the plies for a win, the negative for a loss, 0 for a draw."""
        if self.plies is None:
            return 0.0
        return 1000.0 - self.plies if self.outcome is Outcome.WIN else self.plies - 1000.0


def slices_up_to(pieces: int) -> list[Slice]:
    """All slices of two colours with up to so many pieces, each after those that its moves can lead to."""
    found = [
        Slice(own_men, own_kings, opp_men, total - own_men - own_kings - opp_men)
        for total in range(2, pieces + 1)
        for own_men in range(total)
        for own_kings in range(total - own_men)
        for opp_men in range(total - own_men - own_kings + 1)
    ]
    found = [s for s in found if s.own_men + s.own_kings and s.opp_men + s.opp_kings]
    return sorted(found, key=lambda s: (sum(s), s.own_men + s.opp_men, s))


class _Builder:
    """Solves slices in order, all values in memory, finished ones in a folder."""

    def __init__(self, pieces: int, folder: Path) -> None:
        self.slices = slices_up_to(pieces)
        self.folder = folder
        self.values: Values = np.zeros(sum(s.size for s in self.slices), np.uint8)
        self.offsets = np.full(CODES, -1, np.int64)
        self._places = dict(zip(self.slices, np.cumsum([0, *(s.size for s in self.slices)]).tolist(), strict=False))
        self._moves = new_buffer(MAX_MOVES)

    def run(self, progress: Callable[[int], None]) -> None:
        """Solve what is not in the folder yet; ``progress`` is called with 1 for each slice."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for each in self.slices:
            if self.offsets[each.code] < 0:
                pair = [each] if each == each.mirror else [each, each.mirror]
                solved = self._kept(pair) or self._solved(pair)
                for one in pair:
                    self._place(one, solved[one])
            progress(1)

    def of(self, each: Slice) -> Values:
        """The values of a finished slice."""
        place = self._places[each]
        return self.values[place : place + each.size]

    def _place(self, each: Slice, values: Values) -> None:
        self.of(each)[:] = values
        self.offsets[each.code] = self._places[each]

    def _file(self, pair: list[Slice]) -> Path:
        return self.folder / f"{pair[0]}.npz".replace(" ", "")

    def _kept(self, pair: list[Slice]) -> dict[Slice, Values] | None:
        path = self._file(pair)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as data:
            return {each: np.asarray(data[str(each)], np.uint8) for each in pair}

    def _solved(self, pair: list[Slice]) -> dict[Slice, Values]:
        work = {each: [np.zeros(each.size, np.uint8) for _ in range(3)] for each in pair}
        for each in pair:
            due, ways, latest = work[each]
            if start_slice(*each, due, ways, latest, self.values, self.offsets, self._moves) < 0:
                raise RuntimeError(f"a slice that {each} needs was not built before it")
        for distance in range(NONE):
            for each in pair:
                finish_distance(*each, distance, work[each][0], *work[each.mirror])
            if not any(((due > distance) & (due < NONE)).any() for due, _, _ in work.values()):
                break
        path = self._file(pair)
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            arrays: dict[str, Any] = {str(each): work[each][0] for each in pair}
            np.savez_compressed(file, **arrays)
        part.replace(path)
        return {each: work[each][0] for each in pair}


class EndgameDatabase:
    """A database in memory-mapped form; open it with :meth:`open`.

    Attributes:
        pieces: it holds all positions with at most so many pieces and pieces of both colours.
    """

    def __init__(self, path: Path, header: dict[str, Any], data: Values) -> None:
        self.path = path
        self.pieces = int(header["pieces"])
        self._rows: list[dict[str, Any]] = header["slices"]
        self._data = data
        self._by_slice = {Slice(*row["material"]): row for row in self._rows}

    @classmethod
    def build(cls, path: Path, pieces: int = 4, *, progress: Callable[[int], None] = lambda _: None) -> EndgameDatabase:
        """Build the database of up to ``pieces`` pieces at ``path``, going on with what an earlier build finished.

        Up to 4 pieces take a few seconds and 8 MB; 5 take some minutes, 1 GB of memory and 170 MB.
        """
        if not 2 <= pieces <= MOST_PIECES:
            raise InputError(f"endgames of {pieces} pieces cannot be built; right would be 2 to {MOST_PIECES}")
        parts = path.with_name(path.name + ".parts")
        builder = _Builder(pieces, parts)
        builder.run(progress)
        _write(path, pieces, builder)
        shutil.rmtree(parts)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> EndgameDatabase:
        """Map a database; raise :class:`FileFormatError` by name when it is damaged or not ours."""
        if not path.is_file():
            raise FileFormatError(f"endgame database {path} does not exist; `ace-checkers egdb build` makes it")
        try:
            with path.open("rb") as file:
                line = file.readline(1 << 20)
            header = json.loads(line)
            known = header["format"] == FORMAT
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise FileFormatError(f"{path} is not an endgame database of this program")
        if header["version"] != VERSION:
            raise FileFormatError(f"{path} has endgame version {header['version']}; this is {VERSION}")
        if path.stat().st_size != len(line) + header["bytes"]:
            raise FileFormatError(f"{path} is damaged: it is {path.stat().st_size} bytes long, not as it says")
        data: Values = np.memmap(path, np.uint8, "r", offset=len(line))
        for row in header["slices"]:
            if zlib.crc32(data[row["at"] : row["at"] + row["bytes"]].data) != row["crc32"]:
                raise FileFormatError(f"{path} is damaged in the slice {Slice(*row['material'])}; build it again")
        return cls(path, header, data)

    def probe(self, position: Position) -> Probe | None:
        """Outcome and distance of a position; None where it has too many pieces or a man on its own king row."""
        own, opp, kings = position.own, position.opponent, position.kings
        if not own:
            return Probe(Outcome.LOSS, 0)
        if position.side:
            turned = position.half_turn()
            own, opp, kings = turned.own, turned.opponent, turned.kings
        each = Slice(
            (own & ~kings).bit_count(),
            (own & kings).bit_count(),
            (opp & ~kings).bit_count(),
            (opp & kings).bit_count(),
        )
        row = self._by_slice.get(each)
        if row is None or own & ~kings & 0xF0000000 or opp & ~kings & 0x0000000F:
            return None
        section = self._data[row["at"] : row["at"] + row["bytes"]]
        value = int(packed_value(section, row["bits"], position_number_of(own, opp, kings)))
        if value == 0:
            return Probe(Outcome.DRAW, None)
        return Probe(Outcome.WIN if value % 2 == 0 else Outcome.LOSS, value - 1)

    def packed(self) -> tuple[Values, NDArray[np.int64]]:
        """What kernels probe: the packed values, and for each slice code where it begins and the bits of a value.

        Shapes: uint8 (bytes,), int64 (CODES, 2).
        """
        places = np.zeros((CODES, 2), np.int64)
        for each, row in self._by_slice.items():
            places[each.code] = row["at"], row["bits"]
        return np.asarray(self._data), places

    def statistics(self) -> Iterator[SliceStatistics]:
        """Counts of every slice, in the order they were built."""
        for row in self._rows:
            yield SliceStatistics(str(Slice(*row["material"])), *row["counts"])


def _write(path: Path, pieces: int, builder: _Builder) -> None:
    """Write the file at once; values are kept as 0 for a draw (or no position), else the distance plus 1."""
    rows, sections, at = [], [], 0
    for each in builder.slices:
        values = builder.of(each)
        stored = np.where(values < NONE, values + np.uint8(1), np.uint8(0)).astype(np.uint8)
        bits = max(int(stored.max()).bit_length(), 1)
        section = _pack(stored, bits)
        rows.append(
            {
                "material": list(each),
                "at": at,
                "bytes": len(section),
                "bits": bits,
                "crc32": zlib.crc32(section),
                "counts": list(_count(each, values)[1:]),
            }
        )
        sections.append(section)
        at += len(section)
    header = {"format": FORMAT, "version": VERSION, "pieces": pieces, "bytes": at, "slices": rows}
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            file.write(json.dumps(header).encode() + b"\n")
            for section in sections:
                file.write(section)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _pack(values: Values, bits: int, block: int = 1 << 20) -> bytes:
    """Values of so many bits each, one after the other, low bits first, and one byte more so that two can be read."""
    packed = [
        np.packbits(
            np.unpackbits(values[i : i + block, None], axis=1, count=bits, bitorder="little"), bitorder="little"
        ).tobytes()
        for i in range(0, len(values), block)
    ]
    return b"".join(packed) + b"\0"


def _count(each: Slice, values: Values) -> SliceStatistics:
    known = values < NONE
    odd = values % 2 == 1
    wins, losses = values[known & odd], values[known & ~odd]
    drawn = int((values == DRAWN).sum())
    return SliceStatistics(
        str(each),
        len(wins) + len(losses) + drawn,
        len(wins),
        drawn,
        len(losses),
        int(wins.max(initial=0)),
        int(losses.max(initial=0)),
    )
