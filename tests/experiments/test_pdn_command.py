"""The command ``pdn check``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.cli import run

GOOD = '[Event "good"]\n\n1. 11-15! {c} 23-19 (23-18) 2. 8-11 1-0\n\n'
BAD = '[Event "bad"]\n\n1. 11-15\n23-14 0-1\n\n'


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        status = run(["pdn", "check", *map(str, arguments)])
        return status, *capsys.readouterr()

    return call


def test_the_command(check: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    out, mixed = tmp_path / "out", tmp_path / "mixed.pdn"
    mixed.write_text(GOOD + BAD + GOOD)
    code, text, told = check(tmp_path / "missing.pdn", mixed, "--rejects", out, "--fix", out)
    assert code == 0
    assert "2 of 3 games in 1 files accepted, 1 rejected" in text
    assert "games/s" in text
    assert f"{out / 'mixed.clean.pdn'} written" in text
    lines = told.strip().splitlines()
    assert len(lines) == 2
    assert "no such file" in lines[0]
    assert lines[1].startswith(f"{mixed}:8:1: game 2, ply 2: illegal move")
    code, text, _ = check(mixed, "--json")
    data = json.loads(text)
    assert (code, data["accepted"], data["rejected"], data["unreadable"]) == (0, 2, 1, {})


def test_the_command_fails_only_when_nothing_can_be_used(
    check: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    other = tmp_path / "other.pdn"
    other.write_text('[GameType "20"]\n1. 32-28 *\n')
    code, _, told = check(other, tmp_path / "missing.pdn")
    assert code == 2
    assert f"{other}: every game is international draughts (10x10), not English checkers" in told


def test_the_command_knows_orientation_and_squares(check: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    path = tmp_path / "won.pdn"
    path.write_text('[FEN "B:W14:B9,1"]\n[Result "0-1"]\n9x18 *\n')
    assert "--one-zero white may be right" in check(path)[1]
    assert "may be right" not in check(path, "--one-zero", "white")[1]
    path.write_text("1. c3-b4 f6-g5 *\n")
    assert check(path)[0] == 2
    assert check(path, "--squares", "algebraic")[0] == 0
    assert check(path, "--squares", "roman")[0] != 0
