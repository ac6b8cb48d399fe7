from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import rule_learning_curve
from experiments.cli import run
from experiments.matches import MatchTask, Outcome
from learners.network import LYNCH_FEATURES, Network
from mining.holdout import read_games
from mining.miner import MiningOptions, mine_files, mine_sequences
from mining.rules import RuleBase
from tests.mining.archives import random_games


@pytest.fixture
def games(tmp_path: Path) -> Path:
    return random_games(tmp_path / "games.pdn", 80, plies=8)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "net.npz"
    Network.initial(LYNCH_FEATURES, np.random.default_rng(1), hidden=4).save(path)
    return path


def arguments(games: Path, network: Path, out: Path) -> list[str]:
    options = {"size": 20, "openings": 3, "depth": 1, "workers": 1, "min-count": 1}
    given = [f"--{name}={value}" for name, value in options.items()]
    return ["rules", "curve", str(games), f"--identity={network}", f"--out={out}", "--size=500", *given, "--json"]


def curve(capsys: pytest.CaptureFixture[str], *given: str) -> dict[str, Any]:
    status = run(list(given))
    out, err = capsys.readouterr()
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_curve(tmp_path: Path, games: Path, network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = curve(capsys, *arguments(games, network, tmp_path / "one"))
    points = found["points"]
    assert [point["games_mined"] for point in points] == [0, 20, 80]  # there are but 80
    assert [point["games"] for point in points] == [6, 6, 6]
    assert points[0]["rules"] == points[0]["rule_moves"] == 0
    assert 0 < points[1]["rules"] < points[2]["rules"]
    assert points[2]["rules"] == mine_files([games], MiningOptions(1, unique=True)).report.rules
    for point in points:
        low, high = point["score_interval"]
        assert low <= point["score"] <= high
    html = Path(found["report"]).read_text()
    assert "<svg" in html
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", html)
    other = curve(capsys, *arguments(games, network, tmp_path / "two"))
    assert other["points"] == points


def test_a_stopped_curve_goes_on(
    tmp_path: Path, games: Path, network: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = curve(capsys, *arguments(games, network, tmp_path / "whole"))
    play, played = rule_learning_curve.play_task, list[str]()

    def one_only(task: MatchTask) -> Outcome:
        if played:
            raise KeyboardInterrupt
        played.append(task.key)
        return play(task)

    out = tmp_path / "stopped"
    monkeypatch.setattr(rule_learning_curve, "play_task", one_only)
    assert run(arguments(games, network, out)) == 130
    capsys.readouterr()
    rest: list[str] = []
    monkeypatch.setattr(rule_learning_curve, "play_task", lambda task: rest.append(task.key) or play(task))
    assert curve(capsys, *arguments(games, network, out))["points"] == whole["points"]
    assert len(rest) == 2
    assert played[0] not in rest


def test_rules_of_chosen_games_are_those_of_a_file_with_them(tmp_path: Path, games: Path) -> None:
    texts = games.read_text().split("\n\n[")
    half = tmp_path / "half.pdn"
    half.write_text("\n\n[".join(texts[:40]))
    found = read_games([games])
    numbers = np.array([head.number for head in found.sequences.headings])
    for options in (MiningOptions(), MiningOptions(1, merge_colours=True), MiningOptions(1, remove_cycles=False)):
        one = RuleBase.of(mine_sequences(found.sequences, options, numbers <= 40))
        other = RuleBase.of(mine_files([half], options))
        assert set(one) == set(other)
        for position in one:
            rules = [(rule.move, rule.count, rule.rating, rule.support) for rule in one.rules(position)]
            assert rules == [(rule.move, rule.count, rule.rating, rule.support) for rule in other.rules(position)]
        assert one.report.states == other.report.states


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("--size=0", "right would be numbers of games from 1 on"),
        ("--identity=none.npz", "none.npz"),
        ("--identity=games.pdn", "is not a network file"),
        ("--min-count=0", "min_count is 0"),
        ("--sign=w", "sign 'w' is unknown"),
    ],
)
def test_refusals(
    tmp_path: Path,
    games: Path,
    network: Path,
    changed: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    assert run([*arguments(games, network, out), changed]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ace-checkers:")]
    assert len(lines) == 1
    assert message in lines[0]
    assert not out.exists()
