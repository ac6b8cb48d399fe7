"""Engines and transactions: kinds and versions, readable errors, no lost update, a full disk."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, event, insert, select, update
from sqlalchemy.engine import Engine
from sqlalchemy.exc import IntegrityError

from checkers.database import open_database, transaction
from checkers.errors import DatabaseError

ROOT = Path(__file__).resolve().parents[2]
THINGS = MetaData()
THING = Table("thing", THINGS, Column("id", Integer, primary_key=True), Column("n", Integer), Column("text", String))
OTHERS = MetaData()
Table("other", OTHERS, Column("id", Integer, primary_key=True))


def open_things(url: str | Path, *, version: int = 1, create: bool = True) -> Engine:
    return open_database(str(url), THINGS, kind="things", version=version, create=create)


def refused(url: str | Path, message: str, *, version: int = 1, create: bool = True) -> None:
    with pytest.raises(DatabaseError, match=message) as caught:
        open_things(url, version=version, create=create)
    assert "\n" not in str(caught.value)
    assert "right would be" in str(caught.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a b%20c?d#e ☃.db"  # a plain path may hold what means something in a URL


def test_a_path_and_a_url_name_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "things.db"
    first = open_things(path)
    with transaction(first) as session:
        session.execute(insert(THING).values(n=5))
    second = open_things(f"sqlite:///{path}", create=False)
    with transaction(second) as session:
        assert session.scalar(select(THING.c.n)) == 5
    first.dispose()
    second.dispose()


def test_settings_of_a_connection(path: Path) -> None:
    engine = open_things(path)
    with engine.connect() as connection:
        pragma = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        }
    engine.dispose()
    assert path.is_file()
    assert pragma == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 30_000}


def test_several_kinds_share_a_file(path: Path) -> None:
    open_things(path).dispose()
    with pytest.raises(DatabaseError, match="holds no others"):
        open_database(str(path), OTHERS, kind="others", version=7, create=False)
    open_database(str(path), OTHERS, kind="others", version=7).dispose()
    open_things(path, create=False).dispose()
    refused(path, "its things have version 1; right would be version 2", version=2)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT * FROM schema_version ORDER BY kind").fetchall() == [("others", 7), ("things", 1)]
    connection.close()


def test_a_reader_makes_nothing(path: Path) -> None:
    refused(path, "there is no such file", create=False)
    assert not path.exists()
    path.touch()
    refused(path, "it holds no things", create=False)
    assert path.read_bytes() == b""
    open_things(path).dispose()  # an empty file is a new database


def test_files_that_are_not_ours(path: Path, tmp_path: Path) -> None:
    path.write_text("not a database, but long enough to have a header of a hundred bytes. " * 3)
    before = path.read_bytes()
    refused(path, "it is not a SQLite database")
    assert path.read_bytes() == before

    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = foreign.read_bytes()
    refused(foreign, "a database of another program")
    assert foreign.read_bytes() == before


def test_a_damaged_file(path: Path) -> None:
    engine = open_things(path)
    with transaction(engine) as session:
        session.execute(insert(THING), [{"text": "x" * 500} for _ in range(200)])
    engine.dispose()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(DatabaseError, match="it is damaged") as caught, transaction(engine) as session:
        session.execute(select(THING)).all()
    engine.dispose()
    refused(path, "it is damaged")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "has no name"),
        ("  ", "has no name"),
        ("sqlite:things.db", "no // after sqlite:"),
        ("nosuchdatabase://host/things", "no driver for 'nosuchdatabase'"),
        ("sqlite+nodriver:///things.db", r"no driver for 'sqlite\+nodriver'"),
        ("oracle+cx_oracle://me:secret@host/things", "no driver"),
        ("://", "not a URL"),
        ("postgresql://host:port/things", "not a URL"),
        ("/no/such/folder/things.db", "there is no folder /no/such/folder"),
        ("sqlite:////no/such/folder/things.db", "there is no folder"),
        ("line\nbreak/things.db", "there is no folder line break"),
        ("x" * 300, "(?i)too long|cannot be opened"),
        ("nul\0.db", "null"),
    ],
)
def test_urls_that_cannot_be_used(url: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    refused(url, message)
    assert list(tmp_path.iterdir()) == []


def test_a_password_is_not_told() -> None:
    with pytest.raises(DatabaseError) as caught:
        open_things("oracle+cx_oracle://me:secret@host/things")
    assert "secret" not in str(caught.value)


def test_a_folder(tmp_path: Path) -> None:
    refused(tmp_path, "it is a folder")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "things.db"
    open_things(path).dispose()
    engine = open_things(f"sqlite:///file:{path}?mode=ro&uri=true")
    with transaction(engine) as session:
        assert session.execute(select(THING)).all() == []
    with pytest.raises(DatabaseError, match="it cannot be written"), transaction(engine) as session:
        session.execute(insert(THING).values(n=1))
    engine.dispose()
    missing = tmp_path / "missing.db"
    refused(f"sqlite:///file:{missing}?mode=rw&uri=true", "cannot be opened")
    refused(f"sqlite:///file:{missing}?uri=true", "no such file", create=False)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "things.db"
    open_things(path).dispose()
    path.chmod(0o400)
    refused(path, "it cannot be written")
    open_things(path, create=False).dispose()
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    refused(folder / "things.db", "it cannot be written")


def test_an_error_rolls_back(path: Path) -> None:
    engine = open_things(path)

    def fail() -> None:
        with transaction(engine) as session:
            session.execute(insert(THING).values(n=1))
            raise RuntimeError("in between")

    with pytest.raises(RuntimeError, match="in between"):
        fail()
    with pytest.raises(IntegrityError), transaction(engine) as session:  # ours to answer for: not an input error
        session.execute(insert(THING), [{"id": 1}, {"id": 1}])
    with transaction(engine) as session:
        assert session.execute(select(THING)).all() == []
    engine.dispose()


def test_a_database_that_stays_locked(path: Path) -> None:
    engine = open_things(path)
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout = 1"))
    engine.dispose()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseError, match="locked"), transaction(engine) as session:
        session.execute(select(THING))
    holder.execute("ROLLBACK")
    holder.close()
    with transaction(engine) as session:
        assert session.execute(select(THING)).all() == []
    engine.dispose()


def test_a_full_disk_is_an_os_error(path: Path) -> None:
    engine = open_things(path)
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 20"))
    engine.dispose()
    with pytest.raises(OSError, match="database or disk is full") as caught, transaction(engine) as session:
        session.execute(insert(THING), [{"text": "x" * 5000} for _ in range(100)])
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    assert "\n" not in str(caught.value)
    with transaction(engine) as session:  # nothing of it is left, and the database can be used
        assert session.execute(select(THING)).all() == []
    engine.dispose()


WRITE_BEYOND_LIMIT = """
import resource, sys
from sqlalchemy import insert
from checkers.database import transaction
from tests.checkers.test_database import THING, open_things
engine = open_things(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    with transaction(engine) as session:
        session.execute(insert(THING), [{"text": "x" * 5000} for _ in range(1000)])
except OSError as error:
    print(error)
"""


def run(program: str, *arguments: str | Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_write_that_the_system_refuses_is_an_os_error(path: Path) -> None:
    assert "cannot write" in run(WRITE_BEYOND_LIMIT, path)
    engine = open_things(path, create=False)
    with transaction(engine) as session:
        assert session.execute(select(THING)).all() == []
    engine.dispose()


def test_read_then_write_in_many_threads_loses_nothing(path: Path) -> None:
    engine = open_things(path)
    with transaction(engine) as session:
        session.execute(insert(THING).values(id=1, n=0))

    def work(_: int) -> None:
        for _ in range(50):
            with transaction(engine) as session:
                n = session.scalar(select(THING.c.n))
                assert n is not None
                session.execute(update(THING).values(n=n + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with transaction(engine) as session:
        assert session.scalar(select(THING.c.n)) == 200
    engine.dispose()


def test_many_open_a_new_file_at_once(path: Path) -> None:
    def work(_: int) -> None:
        engine = open_things(path)
        with transaction(engine) as session:
            session.execute(insert(THING).values(n=1))
        engine.dispose()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM thing").fetchone() == (24,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
