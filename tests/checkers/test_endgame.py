"""Endgame databases against the published counts of theory.md 7.3 and against search."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from checkers.endgame import EndgameDatabase, Outcome, Slice, slices_up_to
from checkers.endgame_index import check_numbering
from checkers.errors import FileFormatError, InputError
from checkers.evaluation import material
from checkers.position import Colour, Position
from checkers.search import Searcher

#: Slice, positions, wins, draws, losses, longest win, longest loss: theory.md 7.3.
_ROWS = json.loads((Path(__file__).parent / "endgame_slices.json").read_text(encoding="utf-8"))
PUBLISHED = {row[0]: tuple(row[1:]) for row in _ROWS}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> EndgameDatabase:
    return EndgameDatabase.build(tmp_path_factory.mktemp("endgames") / "three.egdb", 3)


def test_counts_to_three_pieces(database: EndgameDatabase) -> None:
    rows = list(database.statistics())
    assert len(rows) == 16
    for row in rows:
        assert tuple(row[1:]) == PUBLISHED[row.slice], row.slice


@pytest.mark.slow
def test_counts_to_four_pieces(tmp_path: Path) -> None:
    rows = list(EndgameDatabase.build(tmp_path / "four.egdb", 4).statistics())
    assert {row.slice: tuple(row[1:]) for row in rows} == PUBLISHED


@pytest.mark.parametrize("each", slices_up_to(4), ids=str)
def test_numbers_come_back(each: Slice) -> None:
    valid = np.zeros(1, np.int64)
    assert check_numbering(*each, valid) == 0
    assert valid[0] == PUBLISHED[str(each)][0]


def random_position(rng: np.random.Generator, pieces: int) -> Position:
    squares = rng.permutation(32)[:pieces]
    black = white = kings = 0
    for i, square in enumerate(squares):
        own = i == 0 or (i > 1 and rng.random() < 0.5)
        black |= own << int(square)
        white |= (not own) << int(square)
        if rng.random() < 0.6 or (square >= 28 if own else square < 4):
            kings |= 1 << int(square)
    return Position(black, white, kings, Colour(int(rng.integers(2))))


def test_values_follow_from_those_of_the_moves(database: EndgameDatabase) -> None:
    """A win has a lost successor one ply shorter, a loss only won ones, a draw no lost and one drawn."""
    rng = np.random.default_rng(1)
    for _ in range(3000):
        position = random_position(rng, int(rng.integers(2, 4)))
        found = database.probe(position)
        assert found is not None
        after = [database.probe(position.play(move)) for move in position.legal_moves()]
        lost = [p.plies for p in after if p and p.outcome is Outcome.LOSS and p.plies is not None]
        won = [p.plies for p in after if p and p.outcome is Outcome.WIN and p.plies is not None]
        drawn = len(after) - len(lost) - len(won)
        if found.outcome is Outcome.WIN:
            assert found.plies == 1 + min(lost)
        elif found.outcome is Outcome.LOSS:
            assert not lost
            assert not drawn
            assert found.plies == (1 + max(won) if won else 0)
        else:
            assert drawn
            assert not lost


def test_search_proves_what_the_database_says(database: EndgameDatabase) -> None:
    rng = np.random.default_rng(2)
    searcher = Searcher(material(), 12)
    proven = 0
    while proven < 60:
        position = random_position(rng, 3)
        found = database.probe(position)
        if found is None or found.plies is None or not 1 <= found.plies <= 9:
            continue
        searcher.clear()
        assert searcher.search(position).score == found.score
        proven += 1


def test_both_colours_see_the_same(database: EndgameDatabase) -> None:
    rng = np.random.default_rng(3)
    for _ in range(500):
        position = random_position(rng, 3)
        assert database.probe(position) == database.probe(position.half_turn())


def test_what_is_not_in_it(database: EndgameDatabase) -> None:
    assert database.probe(Position.start()) is None
    assert database.probe(Position.from_fen("B:W4:BK9")) is None  # a man on its own king row
    assert database.probe(Position.from_fen("B:W32:B")) == (Outcome.LOSS, 0)


def test_damaged_and_foreign_files_are_refused_by_name(database: EndgameDatabase, tmp_path: Path) -> None:
    whole = database.path.read_bytes()
    path = tmp_path / "x.egdb"
    header, _, data = whole.partition(b"\n")
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    other = {**json.loads(header), "version": 99}
    for content, message in (
        (b"", "is not an endgame database"),
        (os.urandom(5000), "is not an endgame database"),
        (whole[:-1], "is damaged"),
        (header + b"\n" + bytes(flipped), "is damaged in the slice"),
        (json.dumps(other).encode() + b"\n" + data, "has endgame version 99"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=message) as caught:
            EndgameDatabase.open(path)
        assert str(path) in str(caught.value)
    with pytest.raises(FileFormatError, match="does not exist"):
        EndgameDatabase.open(tmp_path / "none.egdb")


@pytest.mark.parametrize("pieces", [-1, 0, 1, 6])
def test_refuses_other_numbers_of_pieces(tmp_path: Path, pieces: int) -> None:
    with pytest.raises(InputError, match="right would be 2 to 5"):
        EndgameDatabase.build(tmp_path / "x.egdb", pieces)


@pytest.mark.slow
def test_a_killed_build_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "four.egdb"
    code = f"from pathlib import Path; from checkers.endgame import *; EndgameDatabase.build(Path({str(path)!r}), 4)"
    for seconds in (3.0, 3.5):
        process = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = len(list(tmp_path.glob("*.parts/*.npz")))
    rows = list(EndgameDatabase.build(path, 4).statistics())
    assert kept
    assert {row.slice: tuple(row[1:]) for row in rows} == PUBLISHED
    assert [p.name for p in tmp_path.iterdir()] == ["four.egdb"]
