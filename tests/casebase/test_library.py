"""The library: retrieval, retaining, durability, several processes, damaged and foreign databases."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import event

from casebase.library import CaseLibrary, Step, StoredCase, library_statistics, opponents
from casebase.ratings import DecayingMemory, GeneralPositiveMemory, Rating, UpperConfidenceMemory
from casebase.schema import KIND, VERSION, Base
from checkers.database import open_database
from checkers.errors import DatabaseError, SpecificationError
from checkers.players import Why
from checkers.position import Colour, Position
from tests.casebase.training import train

ROOT = Path(__file__).resolve().parents[2]
START = Position.start()
AFTER = START.play(START.move("11-15"))
RATINGS: list[Rating] = [DecayingMemory(alpha=0.3, draw=0.4), GeneralPositiveMemory(), UpperConfidenceMemory(c=1.0)]


def step(text: str, why: Why = Why.EXPLORED, position: Position = START) -> Step:
    return position, position.move(text).code, why


def learn(library: CaseLibrary, text: str, points: float, why: Why = Why.EXPLORED) -> int:
    return library.retain([step(text, why)], points, colour=Colour.BLACK, plies=50)


def contents(library: CaseLibrary) -> dict[Position, dict[int, StoredCase | None]]:
    return {
        position: {case.action: library.stored(position, case.action) for case in library.retrieve(position)}
        for position in library
    }


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'cases.db'}"


@pytest.mark.parametrize("kept", [False, True])
def test_cases_best_first(kept: bool, url: str) -> None:
    with CaseLibrary(url if kept else None, "x", GeneralPositiveMemory()) as library:
        assert library.retrieve(START) == []
        for text, points in [("9-13", 0.5), ("11-15", 1.0), ("11-15", 0.5), ("12-16", 0.5), ("10-14", 0.0)]:
            learn(library, text, points)
        found = library.retrieve(START)
        # 11-15 has 1.5 of 2, 9-13 and 12-16 0.5 of 1 (their codes decide), 10-14 none
        assert [(str(case.move), case.rating) for case in found] == [
            ("11-15", 0.75), ("9-13", 0.5), ("12-16", 0.5), ("10-14", 0.0),
        ]  # fmt: skip
        assert found[1].action < found[2].action
        assert found[0][2:] == (1, 1, 0, "explored")
        assert library.retrieve(AFTER) == []
        assert (len(library), library.games) == (4, 5)


def test_upper_confidence_counts_the_uses_of_the_position() -> None:
    library = CaseLibrary(None, "x", UpperConfidenceMemory(c=0.5))
    for text, points in [("9-13", 1.0), ("9-13", 0.0), ("10-14", 0.5), ("11-15", 0.0)]:
        learn(library, text, points)
    rate = UpperConfidenceMemory(c=0.5)
    expected = {"9-13": rate.rating(StoredCase(1, 0, 1), 4), "10-14": rate.rating(StoredCase(0, 1, 0), 4)}
    found = {str(case.move): case.rating for case in library.retrieve(START)}
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("kept", [False, True])
def test_a_pair_counts_once_a_game_and_forced_moves_make_no_case(kept: bool, url: str) -> None:
    with CaseLibrary(url if kept else None, "x", GeneralPositiveMemory()) as library:
        steps = [step("11-15"), step("9-13"), step("11-15", Why.CASE), step("23-19", Why.FORCED, AFTER)]
        assert library.retain(steps, 1.0, colour=Colour.BLACK, plies=30) == 1
        assert [(str(case.move), case.wins) for case in library.retrieve(START)] == [("9-13", 1), ("11-15", 1)]
        assert library.retrieve(AFTER) == []
        figures = library.statistics()
        assert figures["moves"] == {"forced": 1, "case": 1, "explored": 2}
        assert (figures["cases"], figures["uses"], figures["plies"], figures["random_moves"]) == (2, 2, 30, 2)


@pytest.mark.parametrize("rating", RATINGS)
def test_a_library_survives_reopening(rating: Rating, url: str) -> None:
    with CaseLibrary(url, "random", rating) as library:
        for seed in range(12):
            train(library, seed)
        learn(library, "9-13", 0.5, Why.RULE)
        before, figures = contents(library), library.statistics()
        in_order = [library.retrieve(position) for position in library]
    with CaseLibrary(url, "random", rating, create=False) as again:
        assert contents(again) == before
        assert again.statistics() == figures
        assert [again.retrieve(position) for position in before] == in_order
    memory = CaseLibrary(None, "random", rating)
    for seed in range(12):
        train(memory, seed)
    learn(memory, "9-13", 0.5, Why.RULE)
    assert contents(memory) == before
    assert memory.statistics() == figures


def test_numbers_of_games_and_the_source_stay(url: str) -> None:
    with CaseLibrary(url, "x", GeneralPositiveMemory()) as library:
        numbers = [learn(library, "9-13", 1.0, Why.RULE), learn(library, "10-14", 0.0, Why.IDENTITY)]
        numbers.append(learn(library, "9-13", 0.0, Why.CASE))
        assert numbers == [1, 2, 3]
        library.reload()
        assert library.stored(START, START.move("9-13").code) == StoredCase(1, 0, 1, 0.5, 1, 3, "rule")
        assert library.stored(START, START.move("11-15").code) is None
        assert library.statistics()["by_source"] == {"identity": 1, "rule": 1}


def test_opponents_do_not_mix(url: str) -> None:
    names = [
        "x",
        "X",
        "x ",
        "",
        "O'Neil \"; DROP TABLE opponent; --",
        "☃ 🦊 \u202e",
        "new\nline\0",
        "é",
        "e\u0301",
        "n" * 10_000,
    ]
    libraries = [CaseLibrary(url, name, GeneralPositiveMemory()) for name in names]
    for n, library in enumerate(libraries):
        for _ in range(n + 1):
            learn(library, "9-13", 1.0)
    assert opponents(url) == names
    for n, (name, library) in enumerate(zip(names, libraries, strict=True)):
        library.close()
        with CaseLibrary(url, name, GeneralPositiveMemory(), create=False) as again:
            assert (again.opponent, again.games, again.retrieve(START)[0].wins) == (name, n + 1, n + 1)
    with pytest.raises(SpecificationError, match="not Unicode"):
        CaseLibrary(url, "\udc80", GeneralPositiveMemory())


def test_reset_forgets_one_opponent(url: str) -> None:
    with CaseLibrary(url, "x", DecayingMemory()) as library, CaseLibrary(url, "y", DecayingMemory()) as other:
        learn(library, "9-13", 1.0)
        learn(other, "9-13", 0.0)
        library.reset()
        assert (len(library), library.games, library.retrieve(START)) == (0, 0, [])
        assert opponents(url) == ["y"]
        other.reload()
        assert other.games == 1
        assert learn(library, "10-14", 1.0) == 1
        library.reload()
        assert [str(case.move) for case in library.retrieve(START)] == ["10-14"]


def test_figures_of_a_whole_library(url: str) -> None:
    with CaseLibrary(url, "x", GeneralPositiveMemory()) as x, CaseLibrary(url, "y", GeneralPositiveMemory()) as y:
        learn(x, "9-13", 1.0)
        learn(x, "10-14", 0.5, Why.RULE)
        learn(x, "10-14", 0.0, Why.CASE)
        learn(y, "9-13", 0.0, Why.IDENTITY)
        both = [x.statistics(), y.statistics()]
    told = library_statistics(url)
    assert (told["cases"], told["games"]) == (3, 4)
    assert told["by_source"] == {"explored": 1, "identity": 1, "rule": 1}
    opponents_told = told["opponents"]
    assert isinstance(opponents_told, list)
    for figures, one in zip(both, opponents_told, strict=True):
        assert one.items() <= figures.items()
    assert opponents_told[0]["moves"] == {"case": 1, "rule": 1, "explored": 1}
    assert [one["losses"] for one in opponents_told] == [1, 1]
    with pytest.raises(DatabaseError, match="no such file"):
        library_statistics(url + "x")


def test_a_reader_refuses_what_is_not_there(url: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="no such file"):
        CaseLibrary(url, "x", GeneralPositiveMemory(), create=False)
    with pytest.raises(DatabaseError, match="no such file"):
        opponents(url)
    assert list(tmp_path.iterdir()) == []
    with CaseLibrary(url, "x", GeneralPositiveMemory()) as library:
        learn(library, "9-13", 1.0)
    with pytest.raises(DatabaseError, match="no opponent 'y'; right would be one of 'x'"):
        CaseLibrary(url, "y", GeneralPositiveMemory(), create=False)
    assert opponents(url) == ["x"]


def test_another_version_is_refused(url: str) -> None:
    open_database(url, Base.metadata, kind=KIND, version=VERSION + 1).dispose()
    with pytest.raises(DatabaseError, match=f"its cases have version {VERSION + 1}; right would be version {VERSION}"):
        CaseLibrary(url, "x", GeneralPositiveMemory())


def test_decaying_memory_is_kept_with_its_constants(url: str) -> None:
    with CaseLibrary(url, "x", DecayingMemory(alpha=0.2)) as library:
        learn(library, "9-13", 1.0)
        learn(library, "9-13", 0.0)
    with pytest.raises(SpecificationError, match=r"alpha is 0.5 and draw 0.5; right would be 0.2 and 0.5"):
        CaseLibrary(url, "x", DecayingMemory())
    with CaseLibrary(url, "x", GeneralPositiveMemory()) as library:
        learn(library, "9-13", 1.0)
    with CaseLibrary(url, "x", DecayingMemory(alpha=0.2)) as library:
        assert library.retrieve(START)[0].rating == pytest.approx(0.8 * (0.8 * 1 + 0.2 * 0) + 0.2 * 1)


def damage(url: str, statement: str) -> None:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    with connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "black = -1",
        "black = 4294967296",
        "white = 'x'",
        "side = 2",
        "white = black",
        "wins = -1",
        "wins = 0",
        "action = -5",
    ],
)
def test_a_damaged_library_is_refused(change: str, url: str) -> None:
    with CaseLibrary(url, "x", GeneralPositiveMemory()) as library:
        learn(library, "9-13", 1.0)
    damage(url, f"UPDATE elicited_case SET {change}")
    with pytest.raises(DatabaseError, match=r"is no case; right would be") as caught:
        CaseLibrary(url, "x", GeneralPositiveMemory())
    assert "\n" not in str(caught.value)


def test_a_failed_write_changes_nothing(url: str) -> None:
    with CaseLibrary(url, "x", GeneralPositiveMemory()) as library:
        learn(library, "9-13", 1.0)
        before, figures = contents(library), library.statistics()
        damage(url, "CREATE TRIGGER stop BEFORE INSERT ON game_played BEGIN SELECT RAISE(FAIL, 'no'); END")
        with pytest.raises(Exception, match="no"):
            learn(library, "9-13", 1.0)
        assert (contents(library), library.statistics()) == (before, figures)
        library.reload()
        assert (contents(library), library.statistics()) == (before, figures)


def test_a_full_disk(url: str) -> None:
    with CaseLibrary(url, "x", GeneralPositiveMemory()) as library:
        assert library._engine is not None
        event.listen(library._engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 30"))
        library._engine.dispose()
        with pytest.raises(OSError, match="full"):  # noqa: PT012
            for seed in range(1000):
                train(library, seed)
        before, games = contents(library), library.games
        library.reload()
        assert (contents(library), library.games) == (before, games)
        assert games > 0


def worker(url: str, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.casebase.training", url, str(first), str(last)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def recount(url: str, path: str) -> int:
    """Check the cases' counters against the games; return the number of games."""
    connection = sqlite3.connect(path)
    games = connection.execute(
        "SELECT sum(retained * (result = 'win')), sum(retained * (result = 'draw')), sum(retained * (result = 'loss')),"
        " count(*), max(number) FROM game_played"
    ).fetchone()
    cases = connection.execute("SELECT sum(wins), sum(draws), sum(losses) FROM elicited_case").fetchone()
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert games[:3] == cases
    assert games[3] == games[4]
    with CaseLibrary(url, "random", DecayingMemory(alpha=0.3), create=False) as library:
        figures = library.statistics()
        assert figures["uses"] == sum(cases)
        assert figures["games"] == games[3]
    return int(games[3])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_training_leaves_whole_games(url: str, tmp_path: Path) -> None:
    games = 0
    path = str(tmp_path / "cases.db")
    memory = CaseLibrary(None, "random", DecayingMemory(alpha=0.3))
    for pause in (0.0, 0.0173):
        with worker(url, games, 100_000) as process:
            assert process.stdout is not None
            for _ in range(15):
                announced = int(process.stdout.readline())
            time.sleep(pause)
            process.kill()
        written = recount(url, path)
        assert written > announced
        for seed in range(games, written):  # the same games again, in memory
            train(memory, seed)
        games = written
        with CaseLibrary(url, "random", DecayingMemory(alpha=0.3), create=False) as library:
            assert contents(library) == contents(memory)
            assert library.statistics() == memory.statistics()


RETAIN = """
import sys
import numpy as np
from casebase.library import CaseLibrary
from casebase.ratings import DecayingMemory
from checkers.players import Why
from checkers.position import Colour, Position
rng = np.random.default_rng(int(sys.argv[2]))
with CaseLibrary(sys.argv[1], "random", DecayingMemory(alpha=0.3)) as library:
    for _ in range(60):
        actions = rng.choice(40, 20, replace=False).tolist()
        steps = [(Position.start(), action, Why.EXPLORED) for action in actions]
        points = float(rng.choice([1.0, 0.5, 0.0]))
        library.retain(steps, points, colour=Colour.BLACK)
        print(points, *actions)
"""


def test_four_processes_lose_no_update(url: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RETAIN, url, str(n)], env=environment, stdout=subprocess.PIPE, text=True
        )
        for n in range(4)
    ]
    expected: dict[int, Counter[str]] = {}
    for process in processes:
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                points, *actions = line.split()
                for action in actions:
                    expected.setdefault(int(action), Counter())[points] += 1
        assert process.returncode == 0
    assert recount(url, str(tmp_path / "cases.db")) == 240
    with CaseLibrary(url, "random", GeneralPositiveMemory(), create=False) as library:
        found = {case.action: (case.wins, case.draws, case.losses) for case in library.retrieve(START)}
    assert found == {action: (n["1.0"], n["0.5"], n["0.0"]) for action, n in expected.items()}
