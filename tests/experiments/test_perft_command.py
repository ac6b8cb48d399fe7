from __future__ import annotations

import json

import pytest

from experiments.cli import run

CIRCLE = "W:WK14:BK10,11,15,K18,19,20"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert run(["perft", *arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_all_paths_and_distinct_results(capsys: pytest.CaptureFixture[str]) -> None:
    paths = answer(capsys, "3", "--fen", CIRCLE, "--divide")
    assert (paths["nodes"], paths["distinct"]) == (18, False)
    assert paths["divide"] == {"14x23x16x7x14": 9, "14x7x16x23x14": 9}
    results = answer(capsys, "3", "--fen", CIRCLE, "--divide", "--distinct")
    assert (results["nodes"], results["distinct"]) == (9, True)
    assert results["divide"] == {"14x23x16x7x14": 9}
    assert answer(capsys, "3", "--fen", CIRCLE, "--distinct")["nodes"] == 9


def test_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "7")["nodes"] == answer(capsys, "7", "--distinct")["nodes"] == 179740


def test_a_side_that_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perft", "3", "--fen", "?:W18:B10"]) == 2
    assert "the side to move is '?'; right would be B or W" in capsys.readouterr().err
