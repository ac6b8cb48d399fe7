from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.cli import run
from tests.mining.archives import game_text, random_games


@pytest.fixture
def games(tmp_path: Path) -> Path:
    return random_games(tmp_path / "games.pdn", 40, plies=8)


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    status = run([*map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_archive_commands(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "archive.db"
    assert answer(capsys, "archive", "add", games, "--db", db)["games"] == 40
    assert answer(capsys, "archive", "add", games, "--db", db)["known"] == 1
    stats = answer(capsys, "archive", "stats", "--db", db, "--near")
    assert (stats["games"], stats["years"]) == (40, [1900, 1939])
    tree = answer(capsys, "archive", "openings", "--db", db, "--min-games", 1)
    assert sum(node["games"] for node in tree["next"]) == tree["games"] == 40
    assert answer(capsys, "archive", "openings", "--db", db, "--until", "1909", "--min-games", 1)["games"] == 10
    player = answer(capsys, "archive", "player", "A", "--db", db)
    assert player["games"] == player["black"]["games"] + player["white"]["games"] == sum(player["opponents"].values())
    for command in (["stats"], ["openings", "--years", "--min-games", "1"], ["player", "A"]):
        assert run(["archive", *command, "--db", str(db)]) == 0
        assert capsys.readouterr().out.strip()


def test_mine_from_files_and_from_an_archive(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other, db = tmp_path / "one.db", tmp_path / "other.db", tmp_path / "archive.db"
    direct = answer(capsys, "mine", games, "--db", one)
    tables = answer(capsys, "mine", games, "--db", other, "--archive", db)
    for key in ("games", "rejected", "skipped", "sequences", "states", "rules", "avoided"):
        assert direct[key] == tables[key]
    assert answer(capsys, "rules", "--db", one) == answer(capsys, "rules", "--db", other)
    some = answer(capsys, "mine", "--db", other, "--archive", db, "--since", "1930", "--sign", "w-l", "--no-cycles")
    assert (some["sequences"], some["skipped"]) == (10, 30)
    assert answer(capsys, "mine", tmp_path, "--db", one, "--since", "1930")["sequences"] == 10


@pytest.mark.parametrize("form", ["json", "csv", "book", "pdn"])
def test_export(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    db = tmp_path / "rules.db"
    answer(capsys, "mine", games, "--db", db)
    out = tmp_path / "rules.txt"
    assert answer(capsys, "rules", "--db", db, "--export", form, "--out", out)["form"] == form
    assert run(["rules", "--db", str(db), "--export", form]) == 0
    assert capsys.readouterr().out == out.read_text()


def test_refusals_are_one_line(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db, nothing, other = tmp_path / "rules.db", tmp_path / "nothing.pdn", tmp_path / "other.pdn"
    nothing.write_text(game_text("1. 11-15", "*"))
    other.write_text(game_text("1. 32-28 19-23", "1-0", GameType="20"))
    for arguments, message in (
        (["mine", nothing, "--db", db], "no game to mine"),
        (["mine", other, "--db", db], "not English checkers"),
        (["mine", games, "--db", db, "--min-count", 0], "min_count is 0"),
        (["mine", games, "--db", db, "--sign", "w"], "sign 'w' is unknown"),
        (["mine", games, "--db", db, "--since", "long ago"], "since is 'long ago'"),
        (["mine", games, "--db", db, "--since", "2001"], "40 not wanted"),
        (["mine", "--db", db], "nothing to mine"),
        (["rules", "--db", db], "no such file"),
        (["archive", "stats", "--db", db], "no such file"),
    ):
        assert run([str(one) for one in arguments]) == 2  # type: ignore[union-attr]
        lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ace-checkers:")]
        assert len(lines) == 1
        assert message in lines[0]
        assert not db.exists()
