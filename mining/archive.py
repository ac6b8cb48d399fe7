"""Archive: games of any number of PDN files in tables, read block by block, added once (theory.md 3.4, 3.5, 3.12)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased

from checkers.database import open_database, transaction
from checkers.errors import DatabaseError
from checkers.game import Result
from mining.archive_schema import KIND, VERSION, ArchivedGame, Base, BoardState, BoardStateSequence, Duplicate, Source
from mining.archive_write import IN_LIST, Added, begin_source, hold_numbers, write_block
from mining.files import Failure, LineMeter, Map, Progress, Task, pdn_files, read_blocks
from mining.filters import GameFilter
from mining.sequences import Batch, acyclic_batch, bounds_of, check_plies

#: Games read from the tables at a time.
GAMES = 2000


@dataclasses.dataclass(frozen=True, slots=True)
class AddReport:
    """What came of adding files.

    Attributes:
        files: files looked at.
        known: files that had been added before, to their end and with the same filter.
        records: records read.
        games: games added.
        rejected: records refused.
        filtered: games that were not wanted.
        exact: added games whose moves an earlier game has.
        near: added games whose players and date an earlier game has, with a few plies that differ.
        failures: files that could not be read to their end, and why.
        reasons: refused records by kind.
    """

    files: int
    known: int
    records: int
    games: int
    rejected: int
    filtered: int
    exact: int
    near: int
    failures: tuple[tuple[str, str], ...]
    reasons: dict[str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class DuplicateGame:
    """A game that repeats an earlier one; ``difference`` plies differ, and 0 means the same moves."""

    file: str
    number: int
    original_file: str
    original_number: int
    difference: int


class Archive:
    """Games in tables of a database.

    Attributes:
        engine: the database.
        url: its name for messages, without a password.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        """Open the archive at ``url``, a file or a database URL; make it when absent and ``create``.

        Raises:
            DatabaseError: the database cannot be used, holds no archive, or one of another version.
        """
        self.engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=create)
        self.url = str(self.engine.url)

    def close(self) -> None:
        """Let the database go."""
        self.engine.dispose()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of games."""
        with self.session() as session:
            return session.scalar(select(func.count()).select_from(ArchivedGame)) or 0

    def session(self) -> AbstractContextManager[Session]:
        """A transaction, see :func:`checkers.database.transaction`."""
        return transaction(self.engine)

    def add(
        self,
        paths: Iterable[str | Path],
        *,
        workers: int = 1,
        filters: GameFilter | None = None,
        progress: Progress | None = None,
        parallel: Map | None = None,
    ) -> AddReport:
        """Add PDN files and the archives in folders, gzip included.

        Every block of games is one transaction: whoever stops this and calls it again goes on where it was. A file is
        known by its bytes, and adding it twice changes nothing; with another filter the games that are still missing
        are added.

        Args:
            paths: files and folders.
            workers: processes that read files; one reads here.
            filters: the games to add; None for all.
            progress: told after every block how many lines of how many have been read.
            parallel: what runs the reading of files instead of joblib's processes.

        Raises:
            FileFormatError: there is no such file, or none of them could be read.
            DatabaseError: the database cannot be written.
        """
        files = pdn_files(paths)
        wanted = filters or GameFilter()
        sources: dict[Path, int] = {}
        tasks: list[Task] = []
        known = 0
        for path in files:
            with self.session() as session:
                source, skip = begin_source(session, _digest(path), str(path), wanted.text())
            if skip is None or source in sources.values():  # the same bytes may come under two names
                known += 1
            else:
                sources[path] = source
                tasks.append(Task(path, skip))
        meter = LineMeter(progress, list(sources))
        added, failures = Added(), list[Failure]()
        for task, block in read_blocks(tasks, wanted=wanted, workers=workers, parallel=parallel):
            if isinstance(block, Failure):
                failures.append(block)
                continue
            with self.session() as session:
                added.include(write_block(session, sources[task.path], block))
            meter.tell(task.path, block.line)
        failed = {failure.path for failure in failures}
        with self.session() as session:
            hold_numbers(session)
            for path, source in sources.items():
                if path not in failed:
                    session.get_one(Source, source).complete = True
        meter.done()
        if failures and not added.records and not known:
            raise failures[0].error
        return AddReport(
            files=len(files),
            known=known,
            records=added.records,
            games=added.games,
            rejected=added.rejected.total(),
            filtered=added.filtered,
            exact=added.exact,
            near=added.near,
            failures=tuple((str(failure.path), str(failure.error)) for failure in failures),
            reasons=dict(added.rejected.most_common()),
        )

    def duplicates(self, *, near: bool | None = None) -> Iterator[DuplicateGame]:
        """The games that repeat earlier ones; only exact or only near ones on request."""
        file, original_file = aliased(Source), aliased(Source)
        game, original = aliased(ArchivedGame), aliased(ArchivedGame)
        statement = (
            select(file.name, game.number, original_file.name, original.number, Duplicate.difference)
            .select_from(Duplicate)
            .join(game, Duplicate.game_id == game.id)
            .join(original, Duplicate.original_id == original.id)
            .join(file, game.source_id == file.id)
            .join(original_file, original.source_id == original_file.id)
            .order_by(Duplicate.game_id)
        )
        if near is not None:
            statement = statement.where(Duplicate.difference > 0 if near else Duplicate.difference == 0)
        with self.session() as session:
            rows = session.execute(statement).all()
        return (DuplicateGame(*row) for row in rows)

    def files(self) -> dict[int, str]:
        """The names of the files by their numbers."""
        with self.session() as session:
            return {row.id: row.name for row in session.execute(select(Source.id, Source.name))}

    def totals(self) -> tuple[int, int]:
        """Records read and records refused."""
        with self.session() as session:
            rows = session.execute(select(Source.records, Source.rejections)).all()
        return sum(row[0] for row in rows), sum(sum(json.loads(row[1]).values()) for row in rows)

    def batches(
        self,
        *,
        plies: int | None = 24,
        unique: bool = False,
        remove_cycles: bool = True,
        filters: GameFilter | None = None,
    ) -> Iterator[Batch]:
        """The sequences of the games that can be mined, some games at a time, in the order in which they were added.

        Args:
            plies: only the first so many plies of each game; None for all.
            unique: of several games with one start and the same moves only the first that is wanted.
            remove_cycles: delete what lies between two occurrences of a state, within the plies that are kept.
            filters: which games; None for all.

        Raises:
            MiningError: ``plies`` is below 1.
            DatabaseError: the archive is damaged.
        """
        check_plies(plies)
        game = ArchivedGame
        clauses = minable(filters)
        number = func.min(game.id) if unique else game.id
        statement = select(number).where(*clauses).order_by(number)
        with self.session() as session:
            found = session.scalars(statement.group_by(game.moves_key) if unique else statement)
            numbers = np.fromiter(found, np.int64)
        columns = (game.id, game.source_id, game.number, game.result, game.year, game.codes)
        for begin in range(0, len(numbers), GAMES):
            some = numbers[begin : begin + GAMES].tolist()
            with self.session() as session:
                rows = session.execute(
                    select(*columns, BoardStateSequence.sequence)
                    .join(BoardStateSequence, BoardStateSequence.game_id == game.id)
                    .where(game.id.in_(some))
                    .order_by(game.id)
                ).all()
            if len(rows) != len(some):
                raise self._damaged(f"{len(some) - len(rows)} games have no sequence")
            batch = self._batch(rows, plies)
            yield acyclic_batch(batch) if remove_cycles else batch

    def _batch(self, rows: Sequence[Any], plies: int | None) -> Batch:
        """The sequences of some games."""
        ids: list[NDArray[np.int64]] = []
        codes: list[NDArray[np.uint32]] = []
        for row in rows:
            moves = np.frombuffer(row.codes, "<u4").astype(np.uint32)[:plies]
            signed = np.array(row.sequence.split(":", len(moves) + 1)[: len(moves) + 1])
            try:
                ids.append(signed.astype(np.int64))
            except ValueError:
                raise self._damaged(f"the sequence of game {row.id} is {row.sequence[:40]!r}") from None
            if len(signed) != len(moves) + 1 or not ids[-1].all():
                raise self._damaged(f"the sequence of game {row.id} does not fit its moves")
            codes += (np.zeros(1, np.uint32), moves)
        return Batch(
            np.concatenate(ids),
            np.concatenate(codes),
            bounds_of(np.array([len(one) for one in ids], np.int64)),
            np.array([row.result == Result.DRAW.value for row in rows], bool),
            np.array([row.year or 0 for row in rows], np.int64),
            np.array([row.source_id << 32 | row.number for row in rows], np.int64),
        )

    def states(self, numbers: NDArray[np.int64]) -> NDArray[np.uint32]:
        """The states with these numbers, uint32 (numbers, 4): black, white, kings, side.

        Raises:
            DatabaseError: the archive is damaged: one of them is missing.
        """
        found = np.zeros((len(numbers), 4), np.uint32)
        order = np.argsort(numbers, kind="stable")
        state = BoardState
        for begin in range(0, len(numbers), IN_LIST):
            at = order[begin : begin + IN_LIST]
            wanted = np.unique(numbers[at])
            statement = select(state.id, state.black, state.white, state.kings, state.side).order_by(state.id)
            with self.session() as session:
                rows = session.execute(statement.where(state.id.in_(wanted.tolist()))).all()
            if len(rows) != len(wanted):
                raise self._damaged(f"{len(wanted) - len(rows)} states are missing")
            found[at] = np.array([tuple(row)[1:] for row in rows], np.int64)[np.searchsorted(wanted, numbers[at])]
        return found

    def sides(self, batch: Batch) -> NDArray[np.uint32]:
        """The side to move at the start of each game of a batch, uint32 (games,)."""
        return self.states(np.abs(batch.ids[batch.bounds[:-1]]))[:, 3]

    def _damaged(self, what: str) -> DatabaseError:
        return DatabaseError(f"archive {self.url}: {what}; right would be an archive as it was written")


def minable(filters: GameFilter | None) -> list[ColumnElement[bool]]:
    """Conditions on the games that can be mined: wanted, with moves and a result."""
    finished = [ArchivedGame.result != Result.UNFINISHED.value, ArchivedGame.plies > 0]
    return finished + (filters.where(ArchivedGame) if filters else [])


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
