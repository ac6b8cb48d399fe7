from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from checkers.pdn import Record, read_pdn_text
from checkers.position import Position
from mining.cbss import PairCounter
from mining.errors import MiningError
from mining.evaluation import FREQUENT, RULE, HeldOut, as_json
from mining.holdout import GameSet, Windows, colours_merged, game_set, several_moves
from mining.miner import MiningOptions
from mining.reading import blocks_of
from mining.rules import RuleBase
from mining.sequences import acyclic_batch
from tests.mining.archives import START, game_text, played
from tests.reference.brute_force_rules import outcomes, random_record, states

PLIES = 10
ENDING = "B:WK32,K31,21:BK1,5"


def records(seed: int, count: int = 60, fen: str = START) -> list[Record]:
    """Random games."""
    rng = np.random.default_rng(seed)
    return [random_record(rng, fen=fen, plies=PLIES, number=number + 1) for number in range(count)]


def the_set(found: list[Record]) -> GameSet:
    return game_set(blocks_of(found), plies=PLIES)


def rules_of(taught: list[Record], options: MiningOptions) -> RuleBase | None:
    try:
        return RuleBase.mine(
            taught, min_count=options.min_count, plies=PLIES, sign=options.sign,
            remove_cycles=options.remove_cycles, merge_colours=options.merge_colours,
        )  # fmt: skip
    except MiningError:
        return None


@pytest.mark.parametrize(
    "options",
    [
        MiningOptions(),
        MiningOptions(min_count=1),
        MiningOptions(min_count=1, sign="w-l"),
        MiningOptions(min_count=1, remove_cycles=False),
        MiningOptions(min_count=1, merge_colours=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("fen", [START, ENDING])
def test_rates_are_those_of_rule_bases_mined_without_the_fold(options: MiningOptions, fen: str) -> None:
    """The slow way: for each fold a rule base of the others, and every position of the fold looked up in it."""
    found = records(3, fen=fen)
    games = the_set(found)
    by_number = {one.number: one for one in found}
    kept = [by_number[head.number] for head in games.sequences.headings]
    held_out = HeldOut(games, folds=5, seed=np.random.SeedSequence(4))
    fold = games.folds(5, np.random.default_rng(np.random.SeedSequence(4).spawn(3)[0]))
    covered, hits, listed, choices, frequent = Counter[int](), Counter[int](), Counter[int](), 0, 0
    for number in range(5):
        taught = [one for one, f in zip(kept, fold.tolist(), strict=True) if f != number]
        base = rules_of(taught, options)
        counts = outcomes(taught, remove_cycles=options.remove_cycles)
        for one in (one for one, f in zip(kept, fold.tolist(), strict=True) if f == number):
            for ply, (before, after) in enumerate(itertools.pairwise(states(one)), 1):
                if len(before.legal_moves()) < 2:
                    continue
                choices += 1
                rules = base.rules(before) if base else ()
                covered[ply] += bool(rules)
                hits[ply] += bool(rules) and before.play(rules[0].move) == after
                listed[ply] += any(before.play(rule.move) == after for rule in rules)
                if rules and not options.merge_colours:
                    most = max(number.total() for pair, number in counts.items() if pair[0] == before)
                    named = [y for (x, y), number in counts.items() if x == before and number.total() == most]
                    frequent += len(named) == 1 and named[0] == after
    result = held_out.evaluate(options)
    assert [row.coverage.hits for row in result.plies] == [covered[row.ply] for row in result.plies]
    assert [row.hits[RULE].hits for row in result.plies] == [hits[row.ply] for row in result.plies]
    assert [row.listed.hits for row in result.plies] == [listed[row.ply] for row in result.plies]
    assert (result.total.choices, result.total.coverage.hits) == (choices, covered.total())
    assert covered.total() > hits.total() > 0
    if not options.merge_colours:
        assert result.total.hits[FREQUENT].hits >= frequent > 0  # ties are settled by the code


def test_counts_of_some_games_are_those_of_the_counter() -> None:
    games = the_set(records(5, 40)).sequences
    windows = Windows.of(games)
    counter = PairCounter()
    counter.add(acyclic_batch(games))
    pairs = counter.pairs()
    all_games = np.ones(len(games), bool)
    np.testing.assert_array_equal(windows.keys, pairs.state << 32 | pairs.next_state)
    expected = np.stack((pairs.wins, pairs.draws, pairs.losses), axis=1)
    np.testing.assert_array_equal(windows.outcomes(all_games), expected)
    np.testing.assert_array_equal(windows.action, pairs.action)
    half = np.arange(len(games)) % 2 == 0
    np.testing.assert_array_equal(windows.outcomes(half) + windows.outcomes(~half), expected)


def test_no_game_is_asked_what_it_has_taught() -> None:
    one = played("11-15 23-19 8-11 22-17", records(1)[0].result)
    other = played("9-14 22-18 5-9 25-22", records(1)[0].result, number=2)
    found = HeldOut(the_set([one, other]), folds=2, seed=np.random.SeedSequence(1)).evaluate(MiningOptions(min_count=1))
    assert [row.known.hits for row in found.plies[:2]] == [2, 0]  # the start alone is in both
    assert found.total.hits[RULE].hits == found.total.hits[FREQUENT].hits == 0


def test_same_and_nearly_same_games_stay_together() -> None:
    tags = {"Black": "Tinsley", "White": "Lowder", "Date": "1957-??-??"}
    text = "".join(
        game_text(f"1. 11-15 23-19 2. 8-11 22-17 3. 4-8 {last}", "1-0", **{**tags, **more})
        for last, more in (
            ("17-13", {}),
            ("17-13", {"Black": "?"}),  # the same moves
            ("25-22", {}),  # nearly the same
            ("25-22 9-13", {"Date": "1958"}),  # another day
        )
    )
    games = game_set(blocks_of(read_pdn_text(text)), plies=4)
    assert games.sequences.duplicates == 1
    assert games.groups.tolist() == [0, 0, 2]
    for seed in range(10):
        fold = games.folds(2, np.random.default_rng(seed))
        assert fold[0] == fold[1] != fold[2]
    with pytest.raises(MiningError, match="2 different games are too few for 3 folds"):
        games.folds(3, np.random.default_rng(1))
    with pytest.raises(MiningError, match="folds is 1"):
        games.folds(1, np.random.default_rng(1))


def test_judges_are_asked_once_per_position_and_in_so_many_games() -> None:
    games = the_set(records(6))
    held_out = HeldOut(games, folds=4, seed=np.random.SeedSequence(2))
    options = MiningOptions(min_count=1)
    truth = {}
    for one in records(6):
        for before, after, code in zip(states(one), states(one)[1:], one.codes.tolist(), strict=False):
            truth.setdefault(before, set()).add((after, code))
    asked: list[Position] = []

    def knows(position: Position) -> int:
        asked.append(position)
        return int(min(truth[position], key=lambda item: item[1])[1])

    def never(position: Position) -> int:
        played_here = {after for after, _ in truth[position]}
        other = [move for move in position.legal_moves() if position.play(move) not in played_here]
        return int((other or position.legal_moves())[0].code)

    found = held_out.evaluate(options, judges={"knows": knows, "never": never})
    assert len(asked) == len(set(asked))
    assert all(len(position.legal_moves()) > 1 for position in asked)
    assert found.judged == len(games)
    total = found.total
    assert total.hits["knows"].of == total.coverage.hits == total.hits["never"].of
    assert total.hits["knows"].hits > total.hits[RULE].hits > total.hits["never"].hits
    gap = found.differences["never"]
    assert gap.low < gap.value < gap.high
    assert gap.value == pytest.approx((total.hits[RULE].hits - total.hits["never"].hits) / total.hits[RULE].of)
    asked.clear()
    few = held_out.evaluate(options, judges={"knows": knows}, judge_games=5)
    assert few.judged == 5
    assert 0 < few.total.hits["knows"].of < total.hits["knows"].of
    assert few.total.coverage == total.coverage


def test_one_option_at_a_time() -> None:
    games = the_set(records(7, 200))
    held_out = HeldOut(games, folds=4, seed=np.random.SeedSequence(3))
    rows = {(row.option, row.value): row for row in held_out.effects(MiningOptions(), opening_moves=(1, 5))}
    whole = held_out.evaluate(MiningOptions())
    for key in (("min_count", "2"), ("sign", "w+d-l"), ("cycles removed", "True"), ("colours merged", "False")):
        assert rows[key].coverage == whole.total.coverage
        assert rows[key].hit == whole.total.hits[RULE]
        assert rows[key].rules == whole.rules
    assert rows["min_count", "1"].rules > rows["min_count", "2"].rules > rows["min_count", "10"].rules
    assert rows["sign", "w-l"].rules < rows["sign", "w+d-l"].rules
    first = sum(row.coverage.hits for row in whole.plies[:2])
    assert rows["opening moves", "1"].coverage.hits == first < whole.total.coverage.hits
    assert rows["opening moves", "1"].coverage.of == whole.total.choices
    assert rows["opening moves", "5"].coverage == whole.total.coverage
    with pytest.raises(MiningError, match="min_count is 0"):
        held_out.evaluate(MiningOptions(min_count=0))


def test_more_games_cover_more() -> None:
    games = the_set(records(8, 200))
    held_out = HeldOut(games, folds=4, seed=np.random.SeedSequence(3))
    points = list(held_out.sizes([10, 40, 100, 7000]))
    most = len(games) - math.ceil(len(games) / 4)
    assert [point.games for point in points] == [10, 40, 100, most]
    shares = [point.coverage.share or 0 for point in points]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]
    again = HeldOut(games, folds=4, seed=np.random.SeedSequence(3))
    assert list(again.sizes([40])) == points[1:2]
    with pytest.raises(MiningError, match="0 games"):
        list(held_out.sizes([0]))


def test_merged_colours_are_the_half_turn() -> None:
    games = the_set(records(9, 30)).sequences
    merged = colours_merged(games)
    for old, new in zip(games.ids.tolist(), merged.ids.tolist(), strict=True):
        position = games.position(old)
        assert merged.position(new) == (position.half_turn() if position.side else position)
        assert (old > 0) == (new > 0)
    assert merged.counts.sum() == games.counts.sum()


def test_states_with_several_moves_and_json() -> None:
    games = the_set(records(10, 20))
    several = several_moves(games.sequences.states)
    for number in range(1, len(several) + 1):
        assert several[number - 1] == (len(games.sequences.position(number).legal_moves()) > 1)
    held_out = HeldOut(games, folds=2, seed=np.random.SeedSequence(1))
    data = as_json(held_out.evaluate())
    row = data["plies"][0]
    assert row["coverage"]["share"] == row["coverage"]["hits"] / row["coverage"]["of"]
    assert set(row["hits"]) == {RULE, FREQUENT}
