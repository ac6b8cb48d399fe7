"""Every command of the README runs: those of make in the CI script, those of ace-checkers here, in one folder."""

from __future__ import annotations

import gzip
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def console_commands() -> list[str]:
    """The lines of the README's console blocks, without comments."""
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    lines = [line.split("  # ")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def test_make_commands_are_run_by_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    made = [command for command in console_commands() if command.startswith("make ")]
    assert made
    assert all(command in script for command in made)


def test_every_command_is_known_here() -> None:
    """A command of another program would be run by nobody."""
    known = ("make ", "ace-checkers ", "python3 -m venv", ".venv/bin/pip", ".venv/bin/ace-checkers")
    assert [command for command in console_commands() if not command.startswith(known)] == []


@pytest.mark.slow
def test_ace_checkers_commands_run(tmp_path: Path) -> None:
    with gzip.open(ROOT / "experiments" / "data" / "ballots.pdn.gz", "rt", encoding="utf-8") as file:
        (tmp_path / "games.pdn").write_text(file.read(), encoding="utf-8")
    commands = [command for command in console_commands() if command.startswith("ace-checkers ")]
    assert len(commands) > 5
    for command in commands:
        words = [sys.executable, "-m", "experiments.cli", *shlex.split(command)[1:]]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout.strip(), command
