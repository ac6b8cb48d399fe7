"""MoveDecision: the order of its three modules, the identity's choice, and frequencies worked out by hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from casebase.decision import AceRlPlayer, softmax
from casebase.library import CaseLibrary, RetrievedCase
from casebase.ratings import GeneralPositiveMemory
from checkers.errors import SpecificationError
from checkers.game import Game
from checkers.players import RandomPlayer, Why
from checkers.position import Colour, Position
from tests.casebase.training import play

START = Position.start()
N = 20_000


def code(text: str, position: Position = START) -> int:
    return position.move(text).code


class Rule(NamedTuple):
    action: int
    rating: float


class Rules:
    """The same rules everywhere."""

    def __init__(self, *rules: Rule) -> None:
        self.given = rules

    def rules(self, position: Position) -> Sequence[Rule]:
        return self.given


class Scores:
    """An identity that knows the scores of some moves; others have -0.5."""

    def __init__(self, **scores: float) -> None:
        self.known = {text.replace("_", "-")[1:]: score for text, score in scores.items()}
        self.asked = 0

    def clear(self) -> None:
        pass

    def root_scores(self, game: Game) -> Mapping[int, float]:
        self.asked += 1
        return {move.code: self.known.get(str(move), -0.5) for move in game.legal_moves()}


class Cases(CaseLibrary):
    """A library in memory with given ratings in every position."""

    def __init__(self, *cases: Rule) -> None:
        super().__init__(None, "stub", GeneralPositiveMemory())
        self.given = [RetrievedCase(case.action, case.rating, 1, 1, 1, "explored") for case in cases]

    def retrieve(self, position: Position) -> list[RetrievedCase]:
        return self.given


def frequencies(player: AceRlPlayer, n: int = N) -> dict[tuple[str, Why], float]:
    player.begin(Colour.BLACK, np.random.default_rng(21))
    game = Game()
    found = Counter((str(d.move), d.why) for d in (player.choose(game) for _ in range(n)))
    return {key: count / n for key, count in found.items()}


def close(found: Mapping[Any, float], expected: Mapping[Any, float]) -> None:
    assert found.keys() == expected.keys()
    for key, share in expected.items():
        assert found[key] == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / N)), key


def test_cases_then_rules_then_identity() -> None:
    player = AceRlPlayer(
        Cases(Rule(code("9-13"), 0.6), Rule(code("10-14"), 0.5)),
        Scores(m9_13=0.9, m11_16=0.88, m12_16=0.86, m9_14=0.8),
        rules=Rules(Rule(code("11-15"), 0.4), Rule(code("9-13"), 0.25)),
        delta=0.05,
        temperature=0.02,
    )
    # cases: 0.6, 0.4 * 0.5 = 0.2; left 0.2. Rules: 0.2 * 0.4 = 0.08, 0.12 * 0.25 = 0.03; left 0.09.
    # identity: 9-13 is best but has a case; 11-16 and 12-16 are within 0.05 of it, as 1 : exp(-0.02 / 0.02)
    share = 1 / (1 + math.exp(-1))
    expected = {
        ("9-13", Why.CASE): 0.6,
        ("10-14", Why.CASE): 0.2,
        ("11-15", Why.RULE): 0.08,
        ("9-13", Why.RULE): 0.03,
        ("11-16", Why.IDENTITY): 0.09 * share,
        ("12-16", Why.IDENTITY): 0.09 * (1 - share),
    }
    close(frequencies(player), expected)


def test_upper_ratings_are_clipped() -> None:
    identity = Scores()
    player = AceRlPlayer(Cases(Rule(code("9-13"), 1.7)), identity)
    assert frequencies(player, 200) == {("9-13", Why.CASE): 1.0}
    player = AceRlPlayer(Cases(), identity, rules=Rules(Rule(code("9-13"), 1.0)))
    assert frequencies(player, 200) == {("9-13", Why.RULE): 1.0}
    assert identity.asked == 0  # searched only when it is needed


def test_identity_alone() -> None:
    scores = Scores(m9_13=0.3, m10_14=0.3, m11_15=0.29)
    alone = AceRlPlayer(None, scores, delta=0.0)
    close(frequencies(alone), {("9-13", Why.IDENTITY): 0.5, ("10-14", Why.IDENTITY): 0.5})
    certain = AceRlPlayer(None, scores, delta=0.05, temperature=0.0)
    assert code("9-13") < code("10-14")
    assert frequencies(certain, 100) == {("9-13", Why.IDENTITY): 1.0}
    all_equal = AceRlPlayer(None, Scores(), delta=0.0)
    found = frequencies(all_equal)
    close(found, {(str(move), Why.IDENTITY): 1 / 7 for move in START.legal_moves()})


def test_no_good_untried_move_gives_the_best_of_all() -> None:
    cases = Cases(Rule(code("9-13"), 0.0), Rule(code("10-14"), 0.0))
    player = AceRlPlayer(cases, Scores(m9_13=0.5, m10_14=0.5, m11_15=0.4), delta=0.05)
    assert frequencies(player, 100) == {("9-13", Why.IDENTITY): 1.0}
    decision = player.choose(Game())
    assert decision.details["identity"] == [{"move": "9-13", "score": 0.5, "chance": 1.0}]
    assert (decision.score, decision.pv) == (0.5, (decision.move,))


def test_softmax() -> None:
    assert softmax([0.3, 0.1], 0.2) == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))])
    assert softmax([1000.0, -1000.0, 999.0], 1e-3) == [1.0, 0.0, 0.0]  # proven results, no overflow
    assert softmax([-1000.0, -1000.0], 0.05) == [0.5, 0.5]
    assert softmax([0.2, 0.5, 0.5], 0.0) == [0.0, 1.0, 0.0]
    assert softmax([0.0, 0.1], 5e-324) == [0.0, 1.0]
    assert softmax([0.0, 1.0], 1e308) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("opening_moves", [0, 1, 3])
def test_rules_only_in_the_opening(opening_moves: int) -> None:
    for colour in Colour:
        player = AceRlPlayer(None, Scores(), rules=Always(), opening_moves=opening_moves, learn=False)
        other = RandomPlayer()
        game = Game()
        player.begin(colour, np.random.default_rng(1))
        other.begin(colour.other, np.random.default_rng(2))
        told = []
        for _ in range(12):
            if game.side == colour:
                decision = player.choose(game)
                told.append((decision.details.get("own_move"), decision.why))
                game.play(decision.move)
            else:
                game.play(other.choose(game).move)
        for number, (own_move, why) in enumerate(told, start=1):
            assert why is Why.FORCED or (own_move == number and (why is Why.RULE) == (number <= opening_moves))
        assert player.counts == Counter(why for _, why in told)


class Always:
    """A certain rule for the last legal move of every position."""

    def rules(self, position: Position) -> Sequence[Rule]:
        return [Rule(position.legal_moves()[-1].code, 1.0)]


def test_illegal_actions_are_never_played() -> None:
    white = code("24-20", START.half_turn())
    player = AceRlPlayer(
        Cases(Rule(white, 1.0), Rule(2**32 - 1, 1.0)), Scores(m9_13=1.0), rules=Rules(Rule(white, 1.0), Rule(-1, 1.0))
    )
    assert frequencies(player, 50) == {("9-13", Why.IDENTITY): 1.0}
    details = player.choose(Game()).details
    for key in ("cases", "rules"):
        told = details[key]
        assert isinstance(told, list)
        assert [one["verdict"] for one in told] == ["illegal", "illegal"]
    assert json.loads(json.dumps(details)) == details


def test_a_game_is_learned() -> None:
    library = CaseLibrary(None, "random", GeneralPositiveMemory())
    player = AceRlPlayer(library, Scores(), rules=Always(), opening_moves=2)
    game = play(player, RandomPlayer(), 3)
    figures = library.statistics()
    assert figures["moves"] == {why.value: n for why, n in player.counts.items()}
    assert player.counts[Why.RULE] > 0
    assert player.counts[Why.IDENTITY] > 0
    own = [(p, m.code) for p, m in zip(game.positions, game.moves, strict=False) if p.side == Colour.BLACK]
    kept = {(position, case.action) for position in library for case in library.retrieve(position)}
    assert kept == {(p, c) for p, c in own if len(p.legal_moves()) > 1}
    assert figures["by_source"] == Counter(case.source for p in library for case in library.retrieve(p))
    play(AceRlPlayer(library, Scores(), learn=False), RandomPlayer(), 5)
    assert library.statistics() == figures
    play(AceRlPlayer(None, Scores()), RandomPlayer(), 5)


@pytest.mark.parametrize("wrong", [{"delta": -0.1}, {"temperature": -1.0}, {"opening_moves": -1}, {"delta": math.nan}])
def test_wrong_numbers(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpecificationError, match=r"right would be a number, 0 or more"):
        AceRlPlayer(None, Scores(), **wrong)
