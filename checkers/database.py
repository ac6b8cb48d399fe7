"""Database engines and transactions that all packages share; several processes may use one SQLite file at once.

Every SQLite transaction starts with BEGIN IMMEDIATE: the default of the driver, which starts one at the first write,
lets two processes read a value and both write theirs, and an update is lost without an error.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, create_engine, event, insert, select
from sqlalchemy import inspect as schema_of
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InternalError, OperationalError
from sqlalchemy.exc import DatabaseError as DriverDatabaseError
from sqlalchemy.orm import Session

from checkers.errors import DatabaseError

#: Seconds to wait for another process's transaction.
BUSY_SECONDS = 30.0

_VERSIONS = Table(
    "schema_version",
    MetaData(),
    Column("kind", String(40), primary_key=True),
    Column("version", Integer, nullable=False),
)

#: SQLite's names of what goes wrong when a disk is full or fails under a write.
_DISK_ERRORS = (
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_FSYNC",
    "SQLITE_IOERR_DIR_FSYNC",
    "SQLITE_IOERR_TRUNCATE",
    "SQLITE_IOERR_SHMSIZE",
)
#: What else can be wrong with a file, by the beginning of SQLite's name, and what would be right.
_FILE_ERRORS = {
    "SQLITE_NOTADB": ("it is not a SQLite database", "a file made by this program, or a new one"),
    "SQLITE_CORRUPT": ("it is damaged", "a sound copy of the file, or a new one"),
    "SQLITE_READONLY": ("it cannot be written", "a file and a folder that may be written"),
    "SQLITE_CANTOPEN": ("it cannot be opened", "a file in a folder that exists and may be written"),
    "SQLITE_PERM": ("it may not be used", "a file that may be read and written"),
    "SQLITE_AUTH": ("it may not be used", "a file that may be read and written"),
    "SQLITE_BUSY": (f"it was locked for {BUSY_SECONDS:.0f} s", "to try again when its other user has finished"),
}


def open_database(url: str, metadata: MetaData, *, kind: str, version: int, create: bool = True) -> Engine:
    """An engine for the tables in ``metadata``; one database may hold several kinds of tables.

    Args:
        url: a database URL such as ``sqlite:///cases.db``, or the path of a SQLite file.
        metadata: the tables of this kind; they are made when the database has none.
        kind: what the tables are registered as.
        version: the version of the tables; another one in the database is refused.
        create: make the database, or the tables of this kind, when absent; otherwise their absence is an error, and a
            file that cannot be written is opened for reading.

    Raises:
        DatabaseError: wrong URL, no driver, no such file or folder, no right to write, damaged, not ours, or another
            version of this kind.
        OSError: the disk is full.
    """
    target = _parse(url)
    _check_file(target, kind, create)
    engine = _make_engine(target)
    try:
        with _errors_of(target):
            with engine.begin() as connection:
                _register(connection, target, metadata, (kind, version), create)
            if engine.dialect.name == "sqlite":
                _write_ahead(engine)
    except (TypeError, ValueError) as error:  # options of the URL, and paths, that the driver does not take
        engine.dispose()
        if isinstance(error, DatabaseError):
            raise
        raise _wrong(target, _line(error), "a URL such as sqlite:///FILE, or a file") from error
    except BaseException:
        engine.dispose()
        raise
    return engine


@contextmanager
def made_whole(url: str) -> Iterator[None]:
    """Remove the SQLite file at ``url`` again if it is new and this block fails, so that no empty one stays."""
    target = _parse(url)
    path = Path(target.database) if target.get_backend_name() == "sqlite" and target.database else None
    is_new = path is not None and not path.exists()
    try:
        yield
    except BaseException:
        if is_new and path is not None:
            for end in ("", "-wal", "-shm", "-journal"):
                path.with_name(path.name + end).unlink(missing_ok=True)
        raise


@contextmanager
def transaction(engine: Engine) -> Iterator[Session]:
    """A session for one unit of work: committed at the end, rolled back on an error.

    Raises:
        OSError: the disk is full.
        DatabaseError: the database is damaged, locked for too long, or cannot be written.
    """
    with _errors_of(engine.url), Session(engine) as session, session.begin():
        yield session


def _parse(text: str) -> URL:
    text = str(text)
    right = "a URL such as sqlite:///FILE, or a file"
    if not text.strip():
        raise DatabaseError(f"the database has no name; right would be {right}")
    if "://" not in text:
        if text.startswith("sqlite:"):
            raise DatabaseError(f"database {_line(text)}: it has no // after sqlite:; right would be {right}")
        return URL.create("sqlite", database=text)
    try:
        return make_url(text)
    except (ArgumentError, ValueError) as error:
        raise DatabaseError(f"database {_line(text)}: this is not a URL; right would be {right}") from error


def _check_file(target: URL, kind: str, create: bool) -> None:
    """Refuse a SQLite file that is missing, or cannot be made, with a better message than SQLite's."""
    name = target.database or ":memory:"
    if target.get_backend_name() != "sqlite" or ":memory:" in name or target.query.get("mode") == "memory":
        return
    try:
        path = Path(name.removeprefix("file:"))
        if path.is_dir():
            raise _wrong(target, "it is a folder", "a file")
        if not path.parent.is_dir():
            raise _wrong(target, f"there is no folder {path.parent}", "a file in a folder that exists")
        exists = path.exists()
        if not create and not exists:
            raise _wrong(target, "there is no such file", f"a file with {kind}")
        if create and not os.access(path if exists else path.parent, os.W_OK):
            raise _wrong(target, *_FILE_ERRORS["SQLITE_READONLY"])
    except OSError as error:
        raise _wrong(target, error.strerror or _line(error), "a file that can be opened") from error


def _make_engine(target: URL) -> Engine:
    sqlite = target.get_backend_name() == "sqlite"
    arguments: dict[str, Any] = {"timeout": BUSY_SECONDS} if sqlite else {}
    try:
        engine = create_engine(target, connect_args=arguments)
    except (ArgumentError, ImportError) as error:
        raise _wrong(target, f"there is no driver for {target.drivername!r}", "sqlite:///FILE, or a file") from error
    if sqlite:
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # the driver begins nothing by itself
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # with write-ahead logging a kill loses nothing


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _register(connection: Connection, target: URL, metadata: MetaData, wanted: tuple[str, int], create: bool) -> None:
    """Check the version of our kind of tables, or make them."""
    kind, version = wanted
    tables = schema_of(connection).get_table_names()
    found = None
    if _VERSIONS.name in tables:
        found = connection.scalar(select(_VERSIONS.c.version).where(_VERSIONS.c.kind == kind))
    elif tables and connection.dialect.name == "sqlite":
        raise _wrong(target, "it is a database of another program", "a file made by this program, or a new one")
    if found is None:
        if not create:
            raise _wrong(target, f"it holds no {kind}", f"a database with {kind}")
        _VERSIONS.create(connection, checkfirst=True)
        metadata.create_all(connection)
        connection.execute(insert(_VERSIONS).values(kind=kind, version=version))
    elif found != version:
        raise _wrong(target, f"its {kind} have version {found}", f"version {version}, or a new file")


def _write_ahead(engine: Engine) -> None:
    """Turn write-ahead logging on; the file remembers it."""
    pooled = engine.raw_connection()
    try:
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                pooled.cursor().execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                # SQLite does not wait here by itself; another process may be opening the same new file
                if not _name(error).startswith("SQLITE_BUSY") or time.monotonic() > end:
                    raise OperationalError("PRAGMA journal_mode", None, error) from error
                time.sleep(0.02)
    finally:
        pooled.close()


@contextmanager
def _errors_of(target: URL) -> Iterator[None]:
    """Say in a line what went wrong with the database; errors of our statements pass through."""
    try:
        yield
    except DBAPIError as error:
        ours = isinstance(error, OperationalError | InternalError) or type(error) is DriverDatabaseError
        if not ours:
            raise
        name = _name(error.orig)
        if name in _DISK_ERRORS or "disk is full" in str(error.orig):
            code = errno.ENOSPC if name == "SQLITE_FULL" else errno.EIO
            raise OSError(code, f"cannot write ({_line(error.orig)})", _shown(target)) from error
        for beginning, (wrong, right) in _FILE_ERRORS.items():
            if name.startswith(beginning):
                raise _wrong(target, wrong, right) from error
        raise _wrong(target, _line(error.orig), "a database that can be read and written") from error


def _name(error: BaseException | None) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _wrong(target: URL, wrong: str, right: str) -> DatabaseError:
    return DatabaseError(_line(f"database {_shown(target)}: {wrong}; right would be {right}"))


def _shown(target: URL) -> str:
    sqlite = target.get_backend_name() == "sqlite"
    return _line(target.database if sqlite and target.database else target.render_as_string())


def _line(text: object) -> str:
    return " ".join(str(text).split())
