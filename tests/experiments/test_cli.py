"""The command line: what it prints, its exit statuses, and one line for every failure."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from experiments.cli import run
from learners.network import LYNCH_FEATURES, Network


def test_perft_counts_and_divides(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perft", "7", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nodes"] == 179740
    assert run(["perft", "7", "--divide", "--json"]) == 0
    assert sum(json.loads(capsys.readouterr().out)["divide"].values()) == 179740


def test_analyse_explains_a_decision(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyse", "B:W18:B14", "--depth", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["move"], found["why"]) == ("14x23", "forced")
    assert run(["analyse", "B:W21-32:B1-12", "--depth", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["why"] == "searched"
    assert found["pv"][0] == found["move"]
    assert found["nodes"] > 0


def test_match_reports_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "alphabeta:depth=3", "random", "--games", "6", "--seed", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["games"] == 6 == found["wins"] + found["draws"] + found["losses"]
    assert found["score"] > 0.8


def network_file(folder: Path) -> Path:
    path = folder / "net.npz"
    Network.initial(LYNCH_FEATURES, np.random.default_rng(0)).save(path)
    return path


def test_ace_rl_learns_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, cases = network_file(tmp_path), tmp_path / "cases.db"
    first = f"ace-rl:identity={net},depth=1,library={cases},opponent=rival"
    assert run(["match", first, f"network:file={net},depth=1", "--games", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decisions"]["identity"] > 0
    assert run(["cases", "stats", "--db", str(cases), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["games"] == 4
    assert found["cases"] == sum(found["by_source"].values()) > 0


WRONG = [
    (["perft", "-3"], "greater than or equal to 1"),
    (["perft", "x"], "depth"),
    (["perft", "3", "--fen", "B:W33:B1"], "square 33 is not on the board"),
    (["perft", "3", "--fen", "B:W5:B5"], "square 5 holds two pieces"),
    (["perft", "3", "--fen", "nonsense"], "three parts"),
    (["pdn", "check", "{missing}"], "no such file"),
    (["pdn", "check", "{folder}"], "is a directory"),
    (["pdn", "check", "{empty}"], "is empty"),
    (["pdn", "check", "{binary}"], "is a binary file"),
    (["demo", "--archive", "{missing}", "--out", "{new}"], "no such file"),
    (["demo", "--archive", "{binary}", "--out", "{new}"], "is a binary file"),
    (["demo", "--out", "{empty}"], "is a file; right would be a folder"),
    (["demo", "--workers", "0"], "workers"),
    (["mine", "{empty}", "--db", "{new}"], "is empty"),
    (["rules", "--db", "{missing}"], "there is no such file"),
    (["rules", "--db", "{binary}"], "is not a SQLite database"),
    (["rules", "--db", "mysql://a/b"], "no driver for 'mysql'"),
    (["match", "random", "gambler"], "player 'gambler' is unknown; there are random, alphabeta"),
    (["match", "random", "alphabet"], "did you mean alphabeta?"),
    (["match", "random", "alphabeta:dept=3"], "did you mean depth?"),
    (["match", "random", "alphabeta:depth=many"], "depth=many"),
    (["match", "random", "network:file={missing}"], "does not exist"),
    (["match", "random", "network:file={binary}"], "is not a network file"),
    (["match", "random", "random", "--games", "3"], "right would be an even number"),
    (["match", "random", "random", "--openings", "none"], "openings 'none' are unknown"),
    (["match", "random", "random", "--draws", "never"], "draw policy 'never' is unknown"),
    (["train", "--out", "{missing}/x/net.npz"], "does not exist"),
    (["train", "--out", "{new}", "--feature", "Fear"], "feature 'Fear' is unknown"),
    (["analyse", "B:W5:B"], "the game is over"),
    (["egdb", "probe", "B:W21-32:B1-12", "--file", "{binary}"], "is not an endgame database"),
    (["nonsense"], "No such command"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_input_is_one_line_and_status_2(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, binary = tmp_path / "empty.pdn", tmp_path / "binary.pdn"
    empty.touch()
    binary.write_bytes(np.random.default_rng(0).bytes(3000))
    names = {"missing": tmp_path / "missing", "folder": tmp_path, "empty": empty, "binary": binary}
    new = tmp_path / "new"
    filled = [word.format(**names, new=new) for word in arguments]
    assert run(filled) == 2
    captured = capsys.readouterr()
    assert captured.out.strip() in ("", captured.out.strip() if "check" in arguments else "")
    lines = [line for line in captured.err.splitlines() if line.startswith("ace-checkers: ") or "check" in arguments]
    assert len(lines) == 1
    assert message in lines[0]
    assert not new.exists()


def test_help_answers_at_once() -> None:
    """Best of five, so that a busy machine does not matter; nothing heavy is imported."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "experiments.cli", "--help"], capture_output=True, text=True, check=True
        )
        times.append(time.perf_counter() - started)
        assert "demo" in done.stdout
    code = "import sys, experiments.cli as c; c.build_app(); print({'numba', 'numpy', 'sqlalchemy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    assert min(times) < 2.0  # 0.3 s on an idle machine


def test_importing_the_packages_compiles_nothing() -> None:
    code = (
        "import sys, checkers, learners, casebase, mining, experiments, checkers.position, checkers.game, checkers.pdn;"
        "print({'numba', 'llvmlite'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
