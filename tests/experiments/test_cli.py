"""The command line: what it prints, its exit statuses, and one line for every failure."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checkers.errors import InputError
from checkers.game import Game
from checkers.pdn import write_pdn
from experiments.cli import run
from learners.network import LYNCH_FEATURES, Network

ROOT = Path(__file__).resolve().parents[2]


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
    (["train", "--out", "{missing}/x/net.npz"], "cannot be written"),
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
    if "check" in arguments:  # its counts are printed whatever they are
        assert captured.out.startswith("0 of 0 games")
    else:
        assert captured.out == ""
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


def process(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, in another folder."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    words = [sys.executable, "-m", "experiments.cli", *arguments]
    return subprocess.run(words, cwd=cwd, env=settings, text=True, timeout=120, check=False, **streams)


def test_a_process_prints_its_object_and_nothing_else(tmp_path: Path) -> None:
    done = process("perft", "5", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["nodes"] == 7361


@pytest.mark.parametrize(
    "arguments",
    [["perft", "3", "--fen", "B:W33:B1"], ["rules", "--db", "nothing.db"], ["match", "random", "chebr:libary=x"]],
)
def test_a_process_that_fails_says_so_in_one_line(arguments: list[str], tmp_path: Path) -> None:
    done = process(*arguments, "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ace-checkers: ")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_under_the_output_is_a_failure_of_the_work(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = process("perft", "3", cwd=tmp_path, stdout=full)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["ace-checkers: No space left on device"]


def test_a_reader_that_has_gone_away_is_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process("perft", "3", "--divide", cwd=tmp_path, stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) <= 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "runs.db"), 1, "runs.db: No space left on device"),
        (OSError(errno.EIO, "Input/output error"), 1, "Input/output error"),
        (OSError("no number"), 1, "no number"),
        (PermissionError(errno.EACCES, "Permission denied", "x.pdn"), 2, "x.pdn: Permission denied"),
        (InputError("first line\nsecond line"), 2, "first line second line"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=repr,
)
def test_what_goes_wrong_while_at_work(
    error: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise error

    monkeypatch.setattr("checkers.perft.perft_count", fail)
    assert run(["perft", "3"]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"ace-checkers: {message}\n"


def test_a_mistake_of_ours_is_one_line_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("checkers.perft.perft_count", fail)
    assert run(["perft", "3"]) == 1
    assert "should not have happened (ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.setenv("ACE_CHECKERS_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run(["perft", "3"])


@pytest.mark.parametrize("arguments", [[], ["pdn"], ["evolve"], ["cases"]], ids=str)
def test_without_a_command_the_help_is_shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert "Usage" in captured.out + captured.err
    assert "ace-checkers: ;" not in captured.err


@pytest.mark.parametrize("command", ["", "perft", "analyse", "match", "demo", "mine", "pdn check", "evolve features"])
def test_help_is_for_the_asking(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    captured = capsys.readouterr()
    assert "Usage" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "--games", "1"],
        ["archive", "make", "--depth", "1", "--networks", "2", "--training-games", "1"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_to_write_to_is_refused_before_the_work(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert run([*arguments, "--out", str(folder)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1  # no progress bar either
    assert f"--out {folder}" in captured.err
    assert list(tmp_path.iterdir()) == [folder]


def test_from_an_archive_to_rules_and_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command of learning on a small scale; each prints one object."""

    def answer(*arguments: object) -> dict[str, Any]:
        assert run([*map(str, arguments), "--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    games = []
    for seed in range(8):
        game, rng = Game(), np.random.default_rng(seed)
        while not game.is_over:
            moves = game.legal_moves()
            game.play(moves[0] if len(game.moves) < 4 else moves[int(rng.integers(len(moves)))])
        games.append(write_pdn(game))
    archive, rules, net = tmp_path / "games.pdn", tmp_path / "rules.db", tmp_path / "net.npz"
    archive.write_text("\n".join(games), encoding="utf-8")

    checked = answer("pdn", "check", archive)
    assert (checked["files"], checked["games"], checked["accepted"], checked["rejected"]) == (1, 8, 8, 0)
    mined = answer("mine", archive, "--db", rules, "--min-count", "2", "--plies", "10")
    assert mined["rules"] > 0
    start = answer("rules", "--db", rules)["rules"]
    assert [(rule["move"], rule["count"]) for rule in start] == [(str(Game().legal_moves()[0]), 8)]
    trained = answer("train", "--out", net, "--games", "20", "--feature", "PieceThreat", "--feature", "PieceAdvantage")
    assert (trained["network"], trained["games"]) == (str(net), 20)
    assert Network.load(net).hidden == 20
    evolved = answer(
        "evolve", "features", "--out", tmp_path / "evolved", "--population", 2, "--generations", 1, "--games", 10
    )
    assert Path(evolved["best"]["network"]).is_file()
    assert len(evolved["generations"]) == 2
    player = f"ace-rl:identity={net},rules={rules},depth=1"
    assert answer("analyse", "B:W21-32:B1-12", "--player", player)["why"] in ("rule", "identity")
