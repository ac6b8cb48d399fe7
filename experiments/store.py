"""The run store: what was run, with which settings, its finished units of work, its games and its results.

A run is checkpointed by units. A unit has a key that says what it is (for example ``training/3/17``), and whoever runs
it takes its seed from that key, so a unit can be done again with the same outcome. A unit and its games are written in
one transaction: after a kill the store holds whole units only, and the run goes on with those that are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import JSON, ForeignKeyConstraint, Index, String, Text, UniqueConstraint, delete, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from checkers.database import open_database, transaction
from checkers.errors import InputError

KIND, VERSION = "runs", 1


class RunError(InputError):
    """A run that is not in the store, or not in a state for what was asked."""


class Status(StrEnum):
    """Where a run stands; a killed run stays running."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class GameRecord(NamedTuple):
    """A game of a unit: number in the unit, names of Black and White, result (PDN), reason, plies, PDN text."""

    number: int
    players: tuple[str, str]
    result: str
    reason: str
    plies: int
    pdn: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the store knows it; times are UTC, ISO 8601; ``failure`` says why it failed."""

    id: int
    name: str
    status: Status
    seed: int
    config: dict[str, Any]
    versions: dict[str, str]
    started: str
    finished: str | None
    results: dict[str, Any] | None
    failure: str


class Base(DeclarativeBase):
    """The store's tables; all begin with ``run``, as one database may hold other kinds of tables too."""


class RunRow(Base):
    """One run."""

    __tablename__ = "run"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    name: Mapped[str] = mapped_column(String(200), index=True)
    status: Mapped[str] = mapped_column(String(10))
    seed: Mapped[str] = mapped_column(String(80))  # text: seeds may exceed a database's integers
    config: Mapped[Any] = mapped_column(JSON)
    versions: Mapped[Any] = mapped_column(JSON)
    started: Mapped[str] = mapped_column(String(40))
    finished: Mapped[str | None] = mapped_column(String(40))
    results: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    failure: Mapped[str] = mapped_column(Text, default="")
    __table_args__ = ({"sqlite_autoincrement": True},)  # the id of a deleted run is not given again

    def value(self) -> Run:
        """The row as a value that outlives its session."""
        return Run(
            self.id,
            self.name,
            Status(self.status),
            int(self.seed),
            self.config,
            self.versions,
            self.started,
            self.finished,
            self.results,
            self.failure,
        )


class UnitRow(Base):
    """One finished unit of work."""

    __tablename__ = "run_unit"
    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int]
    key: Mapped[str] = mapped_column(String(200))
    payload: Mapped[Any] = mapped_column(JSON)
    __table_args__ = (UniqueConstraint("run_id", "key"), ForeignKeyConstraint(["run_id"], ["run.id"]))


class GameRow(Base):
    """One game of a finished unit."""

    __tablename__ = "run_game"
    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int]
    unit: Mapped[str] = mapped_column(String(200))
    number: Mapped[int]
    players: Mapped[Any] = mapped_column(JSON)
    result: Mapped[str] = mapped_column(String(10))
    reason: Mapped[str] = mapped_column(Text)
    plies: Mapped[int]
    pdn: Mapped[str] = mapped_column(Text)
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "unit"], ["run_unit.run_id", "run_unit.key"]),
        Index("run_game_of_unit", "run_id", "unit", "number", unique=True),
    )

    def value(self) -> GameRecord:
        """The row as a value that outlives its session."""
        black, white = self.players
        return GameRecord(self.number, (black, white), self.result, self.reason, self.plies, self.pdn)


class RunStore:
    """Runs in one database; several processes may use it at once.

    Args:
        url: database URL, for example ``sqlite:///runs.db``.
        create: make the database when it is absent.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self._engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=create)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, name: str, seed: int, config: Mapping[str, Any], versions: Mapping[str, str]) -> int:
        """Start a run; return its id. ``config`` and ``versions`` are JSON values."""
        with transaction(self._engine) as session:
            row = RunRow(
                name=name,
                status=Status.RUNNING.value,
                seed=str(seed),
                config=dict(config),
                versions=dict(versions),
                started=_now(),
            )
            session.add(row)
            session.flush()
            return row.id

    def find_resumable(self, name: str, config: Mapping[str, Any], versions: Mapping[str, str]) -> int | None:
        """The newest run of that name, configuration and versions that is not done, or None.

        Whether another process is at work on it cannot be seen here; if so, both do the same units, and each is kept
        once.
        """
        wanted = (_plain(config), _plain(versions))
        query = select(RunRow).where(RunRow.name == name, RunRow.status != Status.DONE.value).order_by(RunRow.id.desc())
        with transaction(self._engine) as session:
            return next((row.id for row in session.scalars(query) if (row.config, row.versions) == wanted), None)

    def resume(self, run_id: int) -> Run:
        """Mark a run that is not done as running again, and return it.

        Raises:
            RunError: there is no such run, or it is done.
        """
        with transaction(self._engine) as session:
            row = self._row(session, run_id)
            if row.status == Status.DONE.value:
                raise RunError(f"run {run_id} is done; only a run that was stopped or failed can be resumed")
            row.status, row.finished, row.failure = Status.RUNNING.value, None, ""
            return row.value()

    def unit(self, run_id: int, key: str) -> Any | None:
        """The payload of a finished unit, or None when it is not finished."""
        query = select(UnitRow.payload).where(UnitRow.run_id == run_id, UnitRow.key == key)
        with transaction(self._engine) as session:
            return session.scalar(query)

    def units(self, run_id: int) -> dict[str, Any]:
        """The payloads of all finished units by key, in the order they were finished."""
        query = select(UnitRow).where(UnitRow.run_id == run_id).order_by(UnitRow.id)
        with transaction(self._engine) as session:
            self._row(session, run_id)
            return {row.key: row.payload for row in session.scalars(query)}

    def finish_unit(self, run_id: int, key: str, payload: Any, games: Iterable[GameRecord] = ()) -> bool:
        """Write a unit and its games at once.

        Safe to repeat: a unit that is finished already stays as it is, and False is returned. ``payload`` is any JSON
        value but null.
        """
        if payload is None:
            raise ValueError("a unit's payload may not be None, which stands for an unfinished unit")
        records = list(games)
        done = select(UnitRow.id).where(UnitRow.run_id == run_id, UnitRow.key == key)
        with transaction(self._engine) as session:
            self._row(session, run_id)
            if session.scalar(done) is not None:
                return False
            session.add(UnitRow(run_id=run_id, key=key, payload=payload))
            session.flush()  # the games refer to it
            session.add_all(
                GameRow(run_id=run_id, unit=key, **{**record._asdict(), "players": list(record.players)})
                for record in records
            )
        return True

    def games(self, run_id: int, key: str | None = None) -> list[GameRecord]:
        """The games of a run, or of one of its units, in the order of their units and numbers."""
        query = select(GameRow).join(UnitRow, (UnitRow.run_id == GameRow.run_id) & (UnitRow.key == GameRow.unit))
        query = query.where(GameRow.run_id == run_id).order_by(UnitRow.id, GameRow.number)
        if key is not None:
            query = query.where(GameRow.unit == key)
        with transaction(self._engine) as session:
            self._row(session, run_id)
            return [row.value() for row in session.scalars(query)]

    def finish(self, run_id: int, results: Mapping[str, Any]) -> None:
        """Mark a run as done and keep its results."""
        with transaction(self._engine) as session:
            row = self._row(session, run_id)
            row.status, row.finished, row.results, row.failure = Status.DONE.value, _now(), dict(results), ""

    def fail(self, run_id: int, reason: str = "") -> None:
        """Mark a run as failed; its finished units stay, and it can be resumed."""
        with transaction(self._engine) as session:
            row = self._row(session, run_id)
            row.status, row.finished, row.failure = Status.FAILED.value, _now(), reason

    def get(self, run_id: int) -> Run:
        """A run.

        Raises:
            RunError: there is no such run.
        """
        with transaction(self._engine) as session:
            return self._row(session, run_id).value()

    def delete(self, run_id: int) -> None:
        """Remove a run with its units and games."""
        with transaction(self._engine) as session:
            self._row(session, run_id)
            session.execute(delete(GameRow).where(GameRow.run_id == run_id))
            session.execute(delete(UnitRow).where(UnitRow.run_id == run_id))
            session.execute(delete(RunRow).where(RunRow.id == run_id))

    def _row(self, session: Session, run_id: int) -> RunRow:
        row = session.get(RunRow, run_id)
        if row is None:
            known = ", ".join(map(str, session.scalars(select(RunRow.id).order_by(RunRow.id.desc()).limit(10))))
            raise RunError(f"there is no run {run_id} in {self._engine.url}; the latest are {known or '(none)'}")
        return row

    def list(self) -> list[Run]:
        """All runs, the oldest first."""
        with transaction(self._engine) as session:
            return [row.value() for row in session.scalars(select(RunRow).order_by(RunRow.id))]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _plain(value: Any) -> Any:
    """The value as it comes back from a JSON column: tuples as lists, keys as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
