from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from checkers.position import Position
from experiments.cli import run
from learners.network import LYNCH_FEATURES, Network
from tests.mining.archives import execute, game_text, random_games


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


def test_lines_and_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db, games = tmp_path / "archive.db", tmp_path / "games.pdn"
    line = "1. 11-15 23-19 2. 8-11 22-17 3. 4-8 {}"
    games.write_text("".join(game_text(line.format(last), "1-0", Date="1950") for last in ("17-13", "25-22", "17-13")))
    answer(capsys, "archive", "add", games, "--db", db)
    found = answer(capsys, "archive", "lines", "--db", db, "--min-count", 2)["lines"]
    moves = ["11-15", "23-19", "8-11", "22-17", "4-8", "17-13"]
    assert [(row["moves"], row["count"], row["wins"]) for row in found] == [(moves, 2, 2), (moves[:5], 3, 3)]
    assert found[0]["fen"] == Position.start().fen()
    every = answer(capsys, "archive", "lines", "--db", db, "--min-count", 2, "--all", "--shortest", 1, "--top", 100)
    assert len(every["lines"]) == 6 * 7 // 2
    assert answer(capsys, "archive", "lines", "--db", db, "--min-count", 3, "--unique")["lines"] == []
    found = answer(capsys, "archive", "plans", "--db", db, "--side", "black", "--top", 1)
    assert found == {"plans": [{"moves": ["11-15", "8-11", "4-8"], "games": 3}], "sequences": 3, "complete": True}
    cut = answer(capsys, "archive", "plans", "--db", db, "--max-sequences", 1)
    assert not cut["complete"]
    for command in ("lines", "plans"):
        assert run(["archive", command, "--db", str(db), "--since", "1949"]) == 0
        assert capsys.readouterr().out.strip()
    nothing = answer(capsys, "archive", "plans", "--db", db, "--since", "1951")
    assert nothing == {"plans": [], "sequences": 0, "complete": True}


def test_novelty(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db, other = tmp_path / "archive.db", tmp_path / "other.pdn"
    line = "1. 11-15 23-19 2. 8-11 22-17"
    games.write_text(game_text(line, "1-0"))
    answer(capsys, "archive", "add", games, "--db", db)
    other.write_text(game_text("1. 11-15 23-19 2. 9-14", "0-1") + game_text("1. 11-15 10-10", "0-1"))
    found = answer(capsys, "archive", "novelty", other, "--db", db)
    row = found["games"][0]
    assert (row["ply"], row["move"], row["before"], row["plies"]) == (3, "9-14", 1, 3)
    assert [row["number"] for row in found["rejected"]] == [2]
    games.write_text(game_text("1. 11-15 23-19", "*"))
    assert answer(capsys, "archive", "novelty", games, "--db", db)["games"][0]["ply"] is None
    assert run(["archive", "novelty", str(other), "--db", str(db)]) == 0
    assert "new at ply 3, 9-14; other visits of the position before it: 1" in capsys.readouterr().out


def test_a_picture_of_the_openings(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db, page = tmp_path / "archive.db", tmp_path / "openings.html"
    answer(capsys, "archive", "add", games, "--db", db)
    options = ["--db", db, "--min-games", 1, "--report", page]
    tree = answer(capsys, "archive", "openings", *options)
    html = page.read_text()
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", html)
    svg = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    labels = [text.text or "" for text in svg.iter("text")]

    def expected(node: dict[str, Any]) -> list[str]:
        below = [label for child in node["next"] for label in expected(child)]
        return [f"{node['move'] or 'start'}  {node['games']}", *below]

    assert labels == expected(tree)
    places = [(float(text.get("x", 0)), float(text.get("y", 0))) for text in svg.iter("text")]
    assert len(set(places)) == len(places)  # no two moves in one place
    assert all(y < float(svg.get("height", 0)) and x < float(svg.get("width", 0)) for x, y in places)
    widths: dict[str, float] = {}
    for bar in next(svg.iter("g")).iter("rect"):
        widths[bar.get("fill", "")] = float(bar.get("width", 0))
    assert list(widths.values()) == pytest.approx(
        [96 * tree[key] / tree["games"] for key in ("black_wins", "draws", "white_wins")], abs=0.06
    )
    assert "1900-1909" in html  # 40 years are put together
    answer(capsys, "archive", "openings", *options, "--min-games", 1000)
    assert page.read_text().count("<g>") == 1


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
    added = tmp_path / "archive.db"
    answer(capsys, "archive", "add", games, "--db", added)
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
        (["archive", "lines", "--db", db], "no such file"),
        (["archive", "lines", "--db", added, "--min-count", 0], "min_count is 0"),
        (["archive", "lines", "--db", added, "--shortest", 5, "--longest", 4], "plies 5 to 4 hold no line"),
        (["archive", "plans", "--db", added, "--top", 0], "top 0"),
        (["archive", "plans", "--db", added, "--side", "red"], "--side red is unknown"),
        (["archive", "novelty", other, "--db", added], "not English checkers"),
        (["archive", "novelty", tmp_path / "none.pdn", "--db", added], "no such file"),
        (["archive", "openings", "--db", added, "--report", tmp_path], "cannot be written"),
    ):
        assert run([str(one) for one in arguments]) == 2  # type: ignore[union-attr]
        lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ace-checkers:")]
        assert len(lines) == 1
        assert message in lines[0]
        assert not db.exists()


def test_rule_bases_that_cannot_be_used(
    tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version, a move that is not legal, another kind of database: one line, and no move."""
    good, net = tmp_path / "rules.db", tmp_path / "net.npz"
    answer(capsys, "mine", games, "--db", good)
    assert answer(capsys, "rules", "--db", good, "--fen", "B:WK32:BK1") == {
        "fen": Position.from_fen("B:WK32:BK1").fen(), "rules": [], "avoided": [],
    }  # fmt: skip
    Network.initial(LYNCH_FEATURES, np.random.default_rng(1), hidden=2).save(net)
    archive = tmp_path / "archive.db"
    answer(capsys, "archive", "add", games, "--db", archive)
    for number, (statement, message) in enumerate(
        (
            ("UPDATE schema_version SET version = 99", "have version 99"),
            ("UPDATE rule SET action = 12", "is not legal"),
            ("DELETE FROM mined_archive", "no archive is mined into it"),
            ("DELETE FROM schema_version", "it holds no rules"),
        )
    ):
        bad = tmp_path / f"bad-{number}.db"
        shutil.copy(good, bad)
        execute(str(bad), statement)
        for arguments in (
            ["rules", "--db", bad],
            ["rules", "--db", bad, "--export", "json"],
            ["analyse", "B:W21-32:B1-12", "--player", f"ace-rl:identity={net},rules={bad},depth=1"],
        ):
            assert run([*map(str, arguments)]) == 2
            captured = capsys.readouterr()
            assert captured.out == ""
            assert len(captured.err.splitlines()) == 1
            assert message in captured.err
    assert run(["rules", "--db", str(archive)]) == 2
    assert run(["archive", "stats", "--db", str(good)]) == 2
