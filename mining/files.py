"""PDN files and folders to blocks of games, in several processes when wanted; memory does not grow with the files.

A large file is read in parts that begin with a game, so that several processes can read one file.
"""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from checkers.errors import FileFormatError, InputError
from checkers.pdn import Record, Rejection, read_pdn
from checkers.pdn_source import parts_of
from mining.filters import GameFilter
from mining.reading import Block, blocks_of

#: How the names of archives in a folder end.
SUFFIXES = (".pdn", ".pdn.gz")
#: Bytes of a part of a file, about.
PART = 1 << 20
#: Bytes up to which one process has read files before others have started.
SMALL = 1 << 22

#: What runs ``function(task)`` for each task and yields the results in the order of the tasks.
Map: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

#: Called with what is being done, how much is done, and of how much.
Progress: TypeAlias = Callable[[str, int, int], None]


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


class Task(NamedTuple):
    """A file to read from the record behind ``skip``."""

    path: Path
    skip: int = 0


class Failure(NamedTuple):
    """A file that could not be read to its end, and why."""

    path: Path
    error: InputError


class _Piece(NamedTuple):
    """What one process reads at a time: a file, or a part of one, as first and last byte offset."""

    number: int
    task: Task
    part: tuple[int, int] | None


@dataclass(slots=True)
class _Spooled:
    """Blocks of a piece in files, and what went wrong.

    ``unsure`` counts the records without moves before the first that names another game, ``other`` is the kind of the
    last that does: what such a record is rejected for depends on those before it in the file.
    """

    names: list[str] = field(default_factory=list)
    failure: str = ""
    unsure: int = 0
    other: str = ""

    def watch(self, records: Iterable[Record | Rejection]) -> Iterator[Record | Rejection]:
        """The records, looked at."""
        for record in records:
            if isinstance(record, Rejection):
                if record.other_game:
                    self.other = record.kind
                elif record.kind == _NO_MOVES and not self.other:
                    self.unsure += 1
            yield record


_NO_MOVES = "no moves"


def read_blocks(
    tasks: Iterable[Task], *, wanted: GameFilter | None = None, workers: int = 1, parallel: Map | None = None
) -> Iterator[tuple[Task, Block | Failure]]:
    """The blocks of all files, file by file in the order given.

    Several files, and the parts of large ones, are read at once by ``workers`` processes (or by ``parallel``, a map),
    which leave their blocks in a temporary folder, so that memory stays bounded. A compressed file and the rest of one
    that was interrupted are read in one piece; small files are read here, since processes take a second to start.
    """
    todo = list(tasks)
    if workers < 1:
        raise InputError(f"workers is {workers}; right would be 1 or more")
    alone = parallel is None and (workers == 1 or _size(todo) < SMALL)
    pieces = [] if alone else list(_pieces(todo))
    if len(pieces) < 2:
        for task in todo:
            for block in _read(task, None, wanted, _Spooled()):
                yield task, block
        return
    with tempfile.TemporaryDirectory(prefix="blocks-") as folder:
        spool = partial(_spool, folder=folder, wanted=wanted)
        join = _Join()
        for piece, spooled in zip(pieces, (parallel or processes(workers))(spool, pieces), strict=True):
            yield from join.blocks(piece, spooled)


def _size(tasks: Iterable[Task]) -> int:
    """Bytes of all files."""
    return sum(task.path.stat().st_size for task in tasks if task.path.is_file())


def _pieces(tasks: Iterable[Task]) -> Iterator[_Piece]:
    number = 0
    for task in tasks:
        parts = parts_of(task.path, PART) if not task.skip else []
        for part in parts if len(parts) > 1 else [None]:
            yield _Piece(number, task, part)
            number += 1


class _Join:
    """Puts the parts of a file together: numbers and lines go on from the part before."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """A new file."""
        self._records = self._line = 0
        self._other = ""
        self._failed = False

    def blocks(self, piece: _Piece, spooled: _Spooled) -> Iterator[tuple[Task, Block | Failure]]:
        """The blocks of the next piece."""
        if piece.part is None or piece.part[0] == 0:
            self._begin()
        records, line, unsure = self._records, self._line, spooled.unsure if self._other else 0
        for name in spooled.names:
            path = Path(name)
            block = Block.load(path)
            path.unlink()
            if self._failed:
                continue
            if piece.part is not None:
                block.last, block.line = records + block.last, line + block.line
                block.heads = [head._replace(number=records + head.number) for head in block.heads]
                self._records, self._line = block.last, block.line
            renamed = min(unsure, block.rejected[_NO_MOVES])
            if renamed:
                block.rejected[_NO_MOVES] -= renamed
                block.rejected[self._other] += renamed
                block.rejected = +block.rejected
                unsure -= renamed
            yield piece.task, block
        self._other = spooled.other or self._other
        if spooled.failure and not self._failed:
            self._failed = True
            yield piece.task, Failure(piece.task.path, FileFormatError(spooled.failure))


def processes(workers: int) -> Map:
    """A map over joblib's processes."""

    def run(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        import joblib

        parallel = joblib.Parallel(n_jobs=workers, return_as="generator", batch_size=1, pre_dispatch="2*n_jobs")
        yield from parallel(joblib.delayed(function)(task) for task in tasks)

    return run


def _read(
    task: Task, part: tuple[int, int] | None, wanted: GameFilter | None, spooled: _Spooled
) -> Iterator[Block | Failure]:
    try:
        records = spooled.watch(read_pdn(task.path, part=part))
        yield from blocks_of(records, wanted=wanted, skip=task.skip)
    except InputError as error:
        yield Failure(task.path, error)


def _spool(piece: _Piece, *, folder: str, wanted: GameFilter | None) -> _Spooled:
    """Read a piece and leave its blocks in the folder."""
    spooled = _Spooled()
    for number, block in enumerate(_read(piece.task, piece.part, wanted, spooled)):
        if isinstance(block, Failure):
            spooled.failure = str(block.error)
            break
        path = Path(folder) / f"{piece.number}-{number}.npz"
        block.save(path)
        spooled.names.append(str(path))
    return spooled


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
