"""Databases for the tests: SQLite files, and databases of a PostgreSQL server where there is one.

ACE_CHECKERS_TEST_POSTGRES names the server by a URL such as postgresql+psycopg://user@localhost/postgres, whose user
may create databases; without it those tests are skipped.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

SERVER = os.environ.get("ACE_CHECKERS_TEST_POSTGRES")


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Gives the name of a new database: a path, or a URL."""
    if request.param == "sqlite":
        numbers = itertools.count(1)
        yield lambda: str(tmp_path / f"{next(numbers)}.db")
        return
    if not SERVER:
        pytest.skip("ACE_CHECKERS_TEST_POSTGRES names no server")
    server = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    made: list[str] = []

    def new() -> str:
        made.append(f"test_{uuid.uuid4().hex}")
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {made[-1]}"))
        return make_url(SERVER).set(database=made[-1]).render_as_string(hide_password=False)

    yield new
    with server.connect() as connection:
        for name in made:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


@pytest.fixture
def url(new_database: Callable[[], str]) -> str:
    """A new database."""
    return new_database()
