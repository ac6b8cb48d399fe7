"""Colours merged by the half-turn (theory.md 9.10)."""

from __future__ import annotations

import numpy as np
import pytest

from checkers.moves import Move
from checkers.position import Colour, Position
from mining.cbss import turn_boards, turn_codes
from mining.rules import RuleBase
from tests.mining.archives import START
from tests.reference.brute_force_rules import outcomes, random_record


def test_turned_boards_and_codes() -> None:
    rng = np.random.default_rng(1)
    for number in range(12):
        one = random_record(rng, fen=START, plies=60, number=number)
        for row, code in zip(one.positions.tolist(), one.codes.tolist(), strict=False):
            position = Position(*row[:3], Colour(row[3]))
            turned = position.half_turn()
            boards = turn_boards(np.array([row[1], row[0], row[2]], np.uint32)).tolist()
            assert boards == [turned.black, turned.white, turned.kings]
            (other,) = turn_codes(np.array([code], np.uint32)).tolist()
            assert position.play(Move.from_code(code)).half_turn() == turned.play(Move.from_code(other))
            assert Move.from_code(other) in turned.legal_moves()


@pytest.mark.parametrize("fen", [START, "B:WK32,K31:BK1,K2"])
def test_merged_counts_are_those_of_both_colours(fen: str) -> None:
    rng = np.random.default_rng(2)
    records = [random_record(rng, fen=fen, plies=12, number=n) for n in range(80)]
    base = RuleBase.mine(records, min_count=1, merge_colours=True)
    expected: dict[tuple[Position, Position], list[int]] = {}
    for (before, after), number in outcomes(records, remove_cycles=True).items():
        if before.side is Colour.WHITE:
            before, after = before.half_turn(), after.half_turn()
        total = expected.setdefault((before, after), [0, 0, 0])
        for place, name in enumerate("wdl"):
            total[place] += number[name]
    found = {
        (position, position.play(rule.move)): [rule.wins, rule.draws, rule.losses]
        for position in base
        if position.side is Colour.BLACK
        for rule in base.rules(position)
    }
    assert found == {pair: wdl for pair, wdl in expected.items() if wdl[0] + wdl[1] > wdl[2]}
    for position in base:
        for rule in base.rules(position):
            assert rule.move in position.legal_moves()
        assert [rule.count for rule in base.rules(position.half_turn())] == [r.count for r in base.rules(position)]


def test_a_merged_base_is_stored_once(tmp_path: object) -> None:
    rng = np.random.default_rng(3)
    records = [random_record(rng, fen=START, plies=12, number=n) for n in range(80)]
    url = f"{tmp_path}/rules.db"
    report = RuleBase.build(records, url, merge_colours=True)
    base = RuleBase.open(url)
    assert len(base) == 2 * report.rules
    mined = RuleBase.mine(records, merge_colours=True)
    assert all(base.rules(position) == mined.rules(position) for position in mined)
