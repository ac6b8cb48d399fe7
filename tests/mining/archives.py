"""PDN files for the tests of archives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from checkers.game import Game
from checkers.pdn import write_pdn
from mining.archive_schema import Base
from tests.reference.brute_force_rules import played, random_record

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "pdn"
ACF = DATA / "games" / "acf_7000.pdn"
OCA = DATA / "oca" / "OCA_2.0_1841-1979.pdn"
START = "B:W21-32:B1-12"

needs_acf = pytest.mark.skipif(not ACF.is_file(), reason="the shared archive acf_7000.pdn is not here")
needs_oca = pytest.mark.skipif(not OCA.is_file(), reason="the shared archive OCA_2.0 is not here")


def game_text(moves: str, result: str, **tags: str) -> str:
    """A game as PDN."""
    heads = [f'[{name} "{value}"]' for name, value in {**tags, "Result": result}.items()]
    return "\n".join([*heads, "", f"{moves} {result}", "", ""])


def random_games(path: Path, count: int, *, seed: int = 1, plies: int = 30) -> Path:
    """A file with random games of players A to D in the years from 1900."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(count):
        one = random_record(rng, fen=START, plies=plies, number=number)
        game: Game = one.game()
        black, white = rng.choice(list("ABCD"), 2, replace=False)
        game.tags.update(Black=str(black), White=str(white), Event=f"Match {number % 3}", Date=f"{1900 + number}.??.??")
        texts.append(write_pdn(game))
    path.write_text("\n".join(texts))
    return path


def execute(url: str, statement: str) -> None:
    """Change a database behind its owner's back."""
    engine = create_engine(url if "://" in url else f"sqlite:///{url}")
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def dump(url: str) -> list[list[tuple[object, ...]]]:
    """All that an archive holds."""
    engine = create_engine(url if "://" in url else f"sqlite:///{url}")
    tables = [table for table in Base.metadata.sorted_tables if table.name != "archive_numbers"]
    with engine.begin() as connection:
        found = [connection.execute(table.select().order_by(table.columns[0])).all() for table in tables]
    engine.dispose()
    return [[tuple(row) for row in rows] for rows in found]


__all__ = [
    "ACF", "DATA", "OCA", "START", "dump", "execute", "game_text", "needs_acf", "needs_oca", "played", "random_games",
]  # fmt: skip
