"""A tiny demo: equal for any number of workers, and whatever kills it on the way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from checkers.errors import InputError
from checkers.game import Game
from checkers.pdn import write_pdn
from experiments.demo import Demo, DemoConfig, archive_names
from experiments.store import RunStore, Status

TINY = {
    "population": 2,
    "generations": 1,
    "individual_games": 40,
    "training_games": 400,
    "depth": 2,
    "elicitation_openings": 2,
    "elicitation_games": 8,
    "tournament_games": 8,
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random games, half of them alike in their first plies, so that there are rules."""
    path = tmp_path_factory.mktemp("archive") / "games.pdn"
    texts = []
    for seed in range(30):
        game = Game()
        rng = np.random.default_rng(seed)
        for ply in range(300):
            if game.is_over:
                break
            moves = game.legal_moves()
            game.play(moves[0] if ply < 6 and seed % 2 else moves[int(rng.integers(len(moves)))])
        texts.append(write_pdn(game))
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def run(archive: Path, out: Path, workers: int = 1) -> dict[str, Any]:
    config = DemoConfig(seed=3, archive=archive_names([archive]), **TINY)
    return Demo(config, [archive], out, workers=workers, progress=lambda *_: None).run()


def timeless(value: Any) -> Any:
    """Results without what may differ between equal runs: times and the folder."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in ("seconds", "report")}
    return [timeless(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.fixture(scope="module")
def unbroken(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("unbroken")
    results = run(archive, out)
    assert (out / "report.html").is_file()
    reported = json.loads((out / "report.json").read_text(encoding="utf-8"))["matches"]
    assert [match["points"] for match in reported] == [match["points"] for match in results["matches"]]
    return results


def test_results_have_every_pairing(unbroken: dict[str, Any]) -> None:
    tournaments = {tuple(m["players"]): m for m in unbroken["matches"] if m["phase"] == "tournament"}
    assert len(tournaments) == 9
    for match in tournaments.values():
        assert match["games"] == 8 == match["wins"] + match["draws"] + match["losses"] == len(match["points"])
        assert 0 <= match["score_interval"][0] <= match["score"] <= match["score_interval"][1] <= 1
    trained = [m for m in unbroken["matches"] if m["phase"] == "training"]
    assert all(m["cases"] > 0 for m in trained)
    assert unbroken["rules"]["rules"] > 0
    assert len(unbroken["comparisons"]) == 6


def test_two_workers_give_the_same(unbroken: dict[str, Any], archive: Path, tmp_path: Path) -> None:
    assert timeless(run(archive, tmp_path / "two", workers=2)) == timeless(unbroken)


def test_another_seed_gives_another_run(unbroken: dict[str, Any], archive: Path, tmp_path: Path) -> None:
    config = DemoConfig(seed=4, archive=archive_names([archive]), **TINY)
    other = Demo(config, [archive], tmp_path, workers=1, progress=lambda *_: None).run()
    assert timeless(other)["training"] != timeless(unbroken)["training"]


@pytest.mark.slow
def test_kills_leave_sound_databases_and_change_nothing(
    unbroken: dict[str, Any], archive: Path, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    code = (
        "from pathlib import Path; from experiments.demo import *; "
        f"files = [Path({str(archive)!r})]; config = DemoConfig(seed=3, archive=archive_names(files), **{TINY!r}); "
        f"Demo(config, files, Path({str(out)!r}), workers=1, progress=lambda *_: None).run()"
    )
    for seconds in (1.5, 2.5, 3.0, 4.0, 5.0):
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        time.sleep(seconds)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for database in out.glob("*.db"):
            with sqlite3.connect(database) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            connection.close()
    assert timeless(run(archive, out)) == timeless(unbroken)


#: Where a run is killed: at so many calls of a stage's progress, or at so many games of the matches; each time later.
#: The first eight games are the first elicitation, whose library is at work in them.
MOMENTS = [
    ("read the archive", 1),
    ("mine experience rules", 2),  # the rules are written, their unit is not
    ("evolve feature sets", 2),
    ("train the identity", 2),
    ("game", 5),
    ("game", 12),
    ("play the matches", 4),
    ("write the report", 1),  # all units are there
]
KILLED = """
import os, signal
from collections import Counter
from pathlib import Path
from experiments import demo, tournament

moment, number = {moment!r}
seen = Counter()
play, write = tournament.play_game, demo.write_report

def passed(what, *_):
    seen[what] += 1
    if (what, seen[what]) == (moment, number):
        os.kill(os.getpid(), signal.SIGKILL)

def played(*arguments):
    passed("game")
    return play(*arguments)

def written(*arguments):
    path = write(*arguments)
    passed("write the report")
    return path

tournament.play_game, demo.write_report = played, written
files = [Path({archive!r})]
config = demo.DemoConfig(seed=3, archive=demo.archive_names(files), **{tiny!r})
demo.Demo(config, files, Path({out!r}), workers=1, progress=passed).run()
"""


def check_databases(out: Path) -> None:
    """Whole databases, no leftovers of half-written files but what the next run overwrites."""
    for database in out.glob("*.db"):
        connection = sqlite3.connect(database)
        try:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), database.name
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == [], database.name
        finally:
            connection.close()


def check_store(out: Path, results: dict[str, Any], runs: int) -> None:
    """The last run is done, holds the results, and has each game of each match once."""
    with RunStore(f"sqlite:///{out / 'runs.db'}", create=False) as store:
        found = store.list()
        assert [run.status for run in found] == [Status.DONE] * runs
        last = found[-1]
        assert timeless(last.results) == timeless(json.loads(json.dumps(results)))
        assert len(store.games(last.id)) == sum(match["games"] for match in results["matches"])
        assert len(store.units(last.id)) == 3 + len({tuple(match["players"]) for match in results["matches"]})


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_kills_at_every_stage(unbroken: dict[str, Any], archive: Path, tmp_path: Path) -> None:
    """One run that is killed again and again, each time further on, ends like the one that never was."""
    out = tmp_path / "killed"
    settings = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    for moment in MOMENTS:
        code = KILLED.format(moment=moment, archive=str(archive), tiny=TINY, out=str(out))
        done = subprocess.run(
            [sys.executable, "-c", code], env=settings, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == -signal.SIGKILL, (moment, done.stderr)
        check_databases(out)
    results = run(archive, out)
    assert timeless(results) == timeless(unbroken)
    check_databases(out)
    check_store(out, results, runs=1)
    assert [path.name for path in out.glob("*.part*")] == []


@pytest.mark.slow
def test_a_second_call_in_the_folder_is_a_new_run_with_the_same_results(
    unbroken: dict[str, Any], archive: Path, tmp_path: Path
) -> None:
    """What an interrupted run has is used again; what a finished one left, case libraries above all, is not."""

    def interrupt(stage: str, done: int, total: int) -> None:
        if stage == "play the matches" and done:
            raise KeyboardInterrupt

    config = DemoConfig(seed=3, archive=archive_names([archive]), **TINY)
    with pytest.raises(KeyboardInterrupt):
        Demo(config, [archive], tmp_path, workers=1, progress=interrupt).run()
    assert not (tmp_path / "report.html").exists()
    resumed = run(archive, tmp_path)
    assert timeless(resumed) == timeless(unbroken)
    check_store(tmp_path, resumed, runs=1)

    again = run(archive, tmp_path, workers=2)
    assert timeless(again) == timeless(unbroken)
    check_store(tmp_path, again, runs=2)
    reported = timeless(json.loads((tmp_path / "report.json").read_text(encoding="utf-8")))
    expected = timeless(json.loads(json.dumps(again)))
    assert {key: reported[key] for key in expected} == expected  # it has what was found in words besides


@pytest.mark.slow
def test_other_settings_in_the_folder_are_another_run(unbroken: dict[str, Any], archive: Path, tmp_path: Path) -> None:
    """A run that was stopped is not taken up by one with another seed."""

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "train the identity":
            raise KeyboardInterrupt

    other = DemoConfig(seed=4, archive=archive_names([archive]), **TINY)
    with pytest.raises(KeyboardInterrupt):
        Demo(other, [archive], tmp_path, workers=1, progress=stop).run()
    assert timeless(run(archive, tmp_path)) == timeless(unbroken)
    with RunStore(f"sqlite:///{tmp_path / 'runs.db'}", create=False) as store:
        assert [(run.seed, run.status) for run in store.list()] == [(4, Status.RUNNING), (3, Status.DONE)]


def test_an_archive_that_cannot_be_used_leaves_nothing_behind(tmp_path: Path) -> None:
    checkers = tmp_path / "other.pdn"
    checkers.write_text('[GameType "20"]\n[Result "*"]\n1. 32-28 *\n', encoding="utf-8")
    config = DemoConfig(seed=3, archive=archive_names([checkers]), **TINY)
    with pytest.raises(InputError, match="no game of the archive can be used"):
        Demo(config, [checkers], tmp_path / "out", workers=1, progress=lambda *_: None).run()
    assert not (tmp_path / "out").exists()


def test_archives_are_told_apart_by_name_and_bytes(tmp_path: Path) -> None:
    first, second, missing = tmp_path / "a.pdn", tmp_path / "b.pdn", tmp_path / "none.pdn"
    first.write_bytes(b"1")
    second.write_bytes(b"1")
    names = archive_names([first, second, missing])
    assert len(set(names)) == 3
    assert names[2] == "none.pdn"
    first.write_bytes(b"2")
    assert archive_names([first])[0] != names[0]


@pytest.mark.parametrize("wrong", [{"population": 1}, {"depth": 0}, {"seed": -1}, {"games": 3}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        DemoConfig(archive=("x",), **wrong)
