from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from checkers.game import Result
from checkers.pdn import Record, read_annotated_text, read_pdn_text
from checkers.position import Colour, Position
from mining.errors import MiningError
from mining.rule_export import FORMATS, export, figures
from mining.rules import Example, RuleBase
from tests.mining.archives import START, played
from tests.reference.brute_force_rules import random_record


@pytest.fixture(scope="module")
def base() -> RuleBase:
    rng = np.random.default_rng(8)
    records: list[Record] = [random_record(rng, fen=START, plies=10, number=n + 1) for n in range(150)]
    records += [random_record(rng, fen="W:WK32,K31:BK1", plies=6, number=n + 151) for n in range(30)]
    for number, record in enumerate(records):
        record.tags["Date"] = f"{1900 + number}"
    return RuleBase.mine(records)


def pairs(base: RuleBase) -> dict[tuple[Position, str], int]:
    return {(position, str(rule.move)): rule.count for position in base for rule in base.rules(position)}


def test_years_examples_and_what_was_avoided() -> None:
    records = [
        played(text, result, number=n + 1)
        for n, (text, result) in enumerate(
            [("11-15", Result.BLACK_WINS)] * 5 + [("12-16", Result.WHITE_WINS)] * 3 + [("9-13", Result.WHITE_WINS)] * 2
        )
    ]
    for record, year in zip(records, ("1950", "1960-05-01", "", "1940", "?"), strict=False):
        record.tags["Date"] = year
    base = RuleBase.mine(records)
    (rule,) = base.rules(Position.start())
    assert rule.last_year == 1960
    assert rule.examples == (Example("test.pdn", 1), Example("test.pdn", 2), Example("test.pdn", 3))
    avoided = base.avoided(Position.start())
    assert [(str(rule.move), rule.count, rule.weight, rule.last_year) for rule in avoided] == [
        ("12-16", 3, -3, None),
        ("9-13", 2, -2, None),
    ]
    assert list(base.avoided_positions()) == [Position.start()]
    assert base.avoided(Position.start().half_turn()) == ()


def test_json(base: RuleBase) -> None:
    data = json.loads(export(base, "json"))
    assert {(Position.from_fen(row["fen"]), row["move"]): row["count"] for row in data["rules"]} == pairs(base)
    assert len(data["avoided"]) == base.report.avoided
    assert data["report"]["sequences"] == 180
    assert all(row["weight"] < 0 for row in data["avoided"])


def test_csv(base: RuleBase) -> None:
    rows = list(csv.DictReader(io.StringIO(export(base, "csv"))))
    assert {(Position.from_fen(row["fen"]), row["move"]): int(row["count"]) for row in rows} == pairs(base)
    assert rows[0]["examples"].startswith("test.pdn#")


def test_book(base: RuleBase) -> None:
    head, *lines = export(base, "book").splitlines()
    assert head == "fen\tmove\tweight\tgames"
    rows = [line.split("\t") for line in lines]
    assert {(Position.from_fen(fen), move): int(games) for fen, move, _, games in rows} == pairs(base)
    best: dict[str, int] = {}
    for fen, _, weight, _ in rows:
        assert 1 <= int(weight) <= 65535
        best[fen] = max(best.get(fen, 0), int(weight))
    assert set(best.values()) == {65535}


def test_pdn_has_every_rule_once(base: RuleBase) -> None:
    text = export(base, "pdn")
    assert all(isinstance(record, Record) for record in read_pdn_text(text))
    found: dict[tuple[Position, str], str] = {}
    commented = 0
    for game in read_annotated_text(text):
        for row, move in zip(game.record.positions.tolist(), game.line.moves, strict=False):  # type: ignore[union-attr]
            position = Position(*row[:3], Colour(row[3]))
            if move.comments:
                commented += 1
                found[position, str(move.move)] = " ".join(move.comments)
    expected = {(position, str(rule.move)): figures(rule) for position in base for rule in base.rules(position)}
    assert found == expected
    assert commented == len(expected)


def test_unknown_form_and_empty_base(base: RuleBase) -> None:
    with pytest.raises(MiningError, match="form 'xml' is unknown; there are json, csv, book, pdn"):
        export(base, "xml")
    empty = RuleBase.mine([played("11-15", Result.DRAW)])
    assert all(isinstance(export(empty, form), str) for form in FORMATS)
