from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checkers.pdn import Record, read_pdn_text
from mining.archive import Archive
from mining.errors import MiningError
from mining.filters import GameFilter
from mining.statistics import (
    Score,
    archive_statistics,
    ballots,
    longest_shared_line,
    novelty,
    opening_tree,
    player_profile,
)
from tests.mining.archives import game_text

GAMES = [
    ("1. 11-15 23-19 2. 8-11 22-17", "1-0", "Tinsley, M. F.", "Lowder, E.", "1957-??-??"),
    ("1. 11-15 23-19 2. 8-11 26-23", "1/2-1/2", "Lowder, E.", "Tinsley, M.F.", "1957-??-??"),
    ("1. 11-15 23-19 2. 9-14", "0-1", "Hellman, W.", "Tinsley, M.F.", "1958-??-??"),
    ("1. 9-14 23-19 2. 11-15 22-17", "1-0", "Hellman, W.", "Lowder, E.", ""),  # reaches a known state another way
    ("1. 11-15 23-19 2. 8-11 22-17", "1-0", "?", "?", "?"),  # the first again
    ("1. 12-16", "*", "Lowder, E.", "Hellman, W.", "1959"),
]


def pdn() -> str:
    return "".join(
        game_text(moves, result, Black=black, White=white, Date=date) for moves, result, black, white, date in GAMES
    )


@pytest.fixture
def archive(tmp_path: Path, url: str) -> Iterator[Archive]:
    (tmp_path / "games.pdn").write_text(pdn())
    with Archive(url) as found:
        found.add([tmp_path / "games.pdn"])
        yield found


def record(moves: str, result: str = "1-0") -> Record:
    (one,) = read_pdn_text(game_text(moves, result))
    assert isinstance(one, Record)
    return one


def test_totals(archive: Archive) -> None:
    data = archive_statistics(archive)
    assert data["games"] == 6
    assert data["results"] == {"1-0": 3, "1/2-1/2": 1, "0-1": 1, "*": 1}
    assert (data["years"], data["players"], data["plies"]) == ([1957, 1959], 3, 20)
    assert data["duplicates"] == {"exact": 1, "near": 1}
    assert archive_statistics(archive, GameFilter(player="hellman"))["games"] == 3


def test_opening_tree_with_years(archive: Archive) -> None:
    root = opening_tree(archive, plies=3, min_games=1)
    assert root.score == Score(3, 1, 1)
    first, second = root.best_first()
    assert (str(first.move), first.score, str(second.move)) == ("11-15", Score(2, 1, 1), "9-14")
    assert first.years == {1957: Score(1, 1, 0), 1958: Score(0, 0, 1)}
    (reply,) = first.best_first()
    assert [(str(node.move), node.score.games) for node in reply.best_first()] == [("8-11", 3), ("9-14", 1)]
    assert not reply.best_first()[0].children
    assert opening_tree(archive, plies=1, min_games=2).best_first()[-1].score.games == 4
    assert opening_tree(archive, unique=True, min_games=1).score.games == 4
    with pytest.raises(MiningError):
        opening_tree(archive, plies=0)


def test_player(archive: Archive) -> None:
    profile = player_profile(archive, "tinsley")
    assert profile.names == {"Tinsley, M.F.": 2, "Tinsley, M. F.": 1}
    assert (profile.games, profile.score) == (3, pytest.approx(2.5 / 3))
    assert (profile.black, profile.white) == (Score(1, 0, 0), Score(0, 1, 1))
    assert profile.years == {1957: (1, 1, 0), 1958: (1, 0, 0)}
    assert profile.opponents == {"Lowder, E.": 2, "Hellman, W.": 1}
    assert profile.openings[0][:2] == ("black", "ballot 126")
    with pytest.raises(MiningError, match="no player"):
        player_profile(archive, "Chinook")
    with pytest.raises(MiningError, match="part of a name"):
        player_profile(archive, "?")


def test_ballots(archive: Archive) -> None:
    # 126 is 11-15 23-19 8-11; 128 is 11-15 23-19 9-14, which the fourth game reaches in another order
    assert ballots(archive) == [(126, Score(2, 1, 0)), (128, Score(1, 0, 1))]


def test_shared_line(archive: Archive) -> None:
    line = longest_shared_line(archive)
    assert [str(move) for move in line.moves] == ["11-15", "23-19", "8-11"]
    assert sorted(number for _, number in line.games) == [1, 2]
    assert [str(move) for move in longest_shared_line(archive, games=3).moves] == ["11-15", "23-19"]
    with pytest.raises(MiningError, match="only 4 different games"):
        longest_shared_line(archive, games=5)


def test_novelty(archive: Archive) -> None:
    found = novelty(archive, record("1. 11-15 23-19 2. 8-11 27-23"))
    assert (found.ply, str(found.move), found.before) == (4, "27-23", 3)
    # the archive's own games: what only they have is new
    assert novelty(archive, record("1. 11-15 23-19 2. 8-11 22-17")).ply == 4
    assert novelty(archive, record("1. 11-15 23-19 2. 9-14", "0-1")).ply is None
    assert novelty(archive, record("1. 9-14 23-19 2. 11-15 22-17")).ply == 1
    assert novelty(archive, record("1. 10-15")).ply == 1
