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

from checkers.game import Game
from checkers.pdn import write_pdn
from experiments.demo import Demo, DemoConfig, archive_names

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
    assert timeless(json.loads((out / "report.json").read_text(encoding="utf-8"))["matches"]) is not None
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
