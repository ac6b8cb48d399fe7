from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checkers.position import Position
from experiments.cli import run
from experiments.rule_evaluation import judge_of
from tests.mining.archives import random_games


@pytest.fixture
def games(tmp_path: Path) -> Path:
    return random_games(tmp_path / "games.pdn", 60, plies=8)


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    status = run([*map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_judge_answers_alike_whatever_was_asked_before() -> None:
    start = Position.start()
    reply = start.play(start.legal_moves()[0])
    for specification in ("random", "alphabeta:depth=2"):
        judge = judge_of(specification)
        first, second = judge(start), judge(reply)
        assert (judge(reply), judge(start)) == (second, first)
        assert first in [move.code for move in start.legal_moves()]
    assert len({judge_of("random", seed)(start) for seed in range(20)}) > 1


def test_evaluation_and_its_report(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    arguments = ["rules", "evaluate", games, "--folds", 4, "--min-count", 1, "--size", 10, "--size", 30]
    found = answer(capsys, *arguments, "--judge", "random", "--judge-games", 20, "--report", page)
    assert (found["games"], found["folds"], found["judged"]) == (60, 4, 20)
    assert [row["ply"] for row in found["plies"]] == [*range(1, 9)]
    first = found["plies"][0]
    assert first["coverage"]["hits"] == first["choices"] == 60
    assert set(first["hits"]) == {"rule", "most frequent", "random"}
    assert 0 <= first["hits"]["random"]["low"] < first["hits"]["random"]["high"] <= 1
    assert [row["games"] for row in found["sizes"]] == [10, 30]
    assert {row["option"] for row in found["effects"]} >= {"min_count", "sign", "opening moves"}
    html = page.read_text()
    assert html.count("<svg") == 2
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", html)  # self-contained
    again = answer(capsys, *arguments, "--judge", "random", "--judge-games", 20, "--report", page)
    again["seconds"] = found["seconds"]
    assert again == found
    assert page.read_text() == html
    assert run([*map(str, arguments)]) == 0
    assert "all" in capsys.readouterr().out
    assert answer(capsys, *arguments, "--seed", 2)["plies"] != found["plies"]


def test_rules_with_and_without_a_command(tmp_path: Path, games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "rules.db"
    assert run(["mine", str(games), "--db", str(db), "--json"]) == 0
    capsys.readouterr()
    assert answer(capsys, "rules", "--db", db)["rules"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rules"], "needs --db"),
        (["rules", "--db", "x.db", "evaluate", "GAMES"], "stand before evaluate"),
        (["rules", "evaluate", "none.pdn"], "no such file"),
        (["rules", "evaluate", "GAMES", "--min-count", "0"], "min_count is 0"),
        (["rules", "evaluate", "GAMES", "--folds", "1"], "folds is 1"),
        (["rules", "evaluate", "GAMES", "--folds", "100"], "too few for 100 folds"),
        (["rules", "evaluate", "GAMES", "--size", "0"], "learning curve of 0 games"),
        (["rules", "evaluate", "GAMES", "--judge", "nobody"], "'nobody' is unknown"),
        (["rules", "evaluate", "GAMES", "--judge", "network:file=none.npz"], "none.npz"),
        (["rules", "evaluate", "GAMES", "--report", "none/report.html"], "cannot be written"),
        (["rules", "evaluate", "GAMES", "--since", "2001"], "60 not wanted"),
    ],
)
def test_refusals_are_one_line(
    games: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([str(games) if one == "GAMES" else one for one in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [line for line in captured.err.splitlines() if line.startswith("ace-checkers:")]
    assert len(lines) == 1
    assert message in lines[0]
