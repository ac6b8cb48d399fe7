"""PDN files and folders to blocks of games, in several processes when wanted; memory does not grow with the files."""

from __future__ import annotations

import contextlib
import gzip
import json
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from checkers.errors import FileFormatError, InputError
from checkers.game import Result
from checkers.pdn import Record, Rejection, read_pdn
from checkers.position import Position
from mining.filters import GameFilter

#: Games in a block.
BLOCK = 1000
#: How the names of archives in a folder end.
SUFFIXES = (".pdn", ".pdn.gz")

#: What runs ``function(task)`` for each task and yields the results in the order of the tasks.
Map: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

#: Called with what is being done, how much is done, and of how much.
Progress: TypeAlias = Callable[[str, int, int], None]

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


def pdn_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files among ``paths``, and the archives (``.pdn``, ``.pdn.gz``) in their folders and those below.

    Raises:
        FileFormatError: there is no such file or folder, or a folder holds no archive.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.name.lower().endswith(SUFFIXES) and p.is_file())
            if not inside:
                raise FileFormatError(f"{path}: this folder holds no {' or '.join(SUFFIXES)} file; right would be one")
            found.update(dict.fromkeys(inside))
        elif path.exists():
            found[path] = None
        else:
            raise FileFormatError(f"{path}: no such file; right would be a PDN file or a folder with some")
    return list(found)


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


class Task(NamedTuple):
    """A file to read from the record behind ``skip``."""

    path: Path
    skip: int = 0


class Failure(NamedTuple):
    """A file that could not be read to its end, and why."""

    path: Path
    error: InputError


def read_blocks(
    tasks: Iterable[Task], *, wanted: GameFilter | None = None, workers: int = 1, parallel: Map | None = None
) -> Iterator[tuple[Task, Block | Failure]]:
    """The blocks of all files, file by file in the order given.

    Several files are read at once by ``workers`` processes (or by ``parallel``, a map), which leave their blocks in a
    temporary folder, so that memory stays bounded. One file is read by this process.
    """
    todo = list(tasks)
    if workers < 1:
        raise InputError(f"workers is {workers}; right would be 1 or more")
    if len(todo) < 2 or (workers == 1 and parallel is None):
        for task in todo:
            for block in _read(task, wanted):
                yield task, block
        return
    with tempfile.TemporaryDirectory(prefix="blocks-") as folder:
        numbered = [(index, task) for index, task in enumerate(todo)]
        spool = partial(_spool, folder=folder, wanted=wanted)
        for task, done in zip(todo, (parallel or processes(workers))(spool, numbered), strict=True):
            names, failure = done
            for name in names:
                path = Path(name)
                block = Block.load(path)
                path.unlink()
                yield task, block
            if failure:
                yield task, Failure(task.path, FileFormatError(failure))


def processes(workers: int) -> Map:
    """A map over joblib's processes."""

    def run(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        import joblib

        parallel = joblib.Parallel(n_jobs=workers, return_as="generator", batch_size=1, pre_dispatch="n_jobs")
        yield from parallel(joblib.delayed(function)(task) for task in tasks)

    return run


def _read(task: Task, wanted: GameFilter | None) -> Iterator[Block | Failure]:
    try:
        yield from blocks_of(read_pdn(task.path), wanted=wanted, skip=task.skip)
    except InputError as error:
        yield Failure(task.path, error)


def _spool(numbered: tuple[int, Task], *, folder: str, wanted: GameFilter | None) -> tuple[list[str], str]:
    """Read a file and leave its blocks in the folder; their names, and what went wrong."""
    index, task = numbered
    names: list[str] = []
    for number, block in enumerate(_read(task, wanted)):
        if isinstance(block, Failure):
            return names, str(block.error)
        path = Path(folder) / f"{index}-{number}.npz"
        block.save(path)
        names.append(str(path))
    return names, ""


class LineMeter:
    """Tells how many lines of all files have been read, as records know theirs."""

    def __init__(self, progress: Progress | None, files: list[Path]) -> None:
        self._progress = progress
        self._lines = {path: _lines(path) for path in files} if progress else {}
        self._total, self._before = sum(self._lines.values()), 0
        self._path: Path | None = None

    def tell(self, path: Path, line: int) -> None:
        """So many lines of a file have been read."""
        if self._progress is None:
            return
        if path != self._path:
            self._before += self._lines.get(self._path, 0) if self._path else 0
            self._path = path
        self._progress("read games", min(self._before + line, self._total), self._total)

    def done(self) -> None:
        """Everything has been read."""
        if self._progress and self._total:
            self._progress("read games", self._total, self._total)


def _lines(path: Path) -> int:
    """Number of lines of a file, 0 when it cannot be read."""
    count = 0
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream = gzip.GzipFile(fileobj=raw) if zipped else raw
            while chunk := stream.read(1 << 20):
                count += chunk.count(b"\n") or chunk.count(b"\r")
    except (OSError, EOFError, zlib.error):
        return 0
    return count
