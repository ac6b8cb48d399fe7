"""CHEBR: which cases are accepted, what is explored, what is retained."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from casebase.elicitation import ChebrPlayer
from casebase.library import CaseLibrary, RetrievedCase, Step
from casebase.ratings import GeneralPositiveMemory
from checkers.game import Game, Result
from checkers.players import RandomPlayer, Why
from checkers.position import Colour, Position
from tests.casebase.training import play, train

START = Position.start()
ONE_MOVE = Position.from_fen("W:W32:B28")  # 32 must go to 27


class Stub:
    """A library with the same cases everywhere; it keeps what it is told."""

    def __init__(self, **ratings: float) -> None:
        cases = [
            RetrievedCase(START.move(text.replace("_", "-")[1:]).code, r, 1, 0, 0, "explored")
            for text, r in ratings.items()
        ]
        self.cases = sorted(cases, key=lambda case: (-case.rating, case.action))
        self.games: list[tuple[list[Step], float, Colour, int]] = []

    def retrieve(self, position: Position) -> list[RetrievedCase]:
        return self.cases

    def retain(self, steps: Sequence[Step], points: float, *, colour: Colour, plies: int = 0) -> int:
        self.games.append((list(steps), points, colour, plies))
        return len(self.games)


def frequencies(player: ChebrPlayer, n: int = 20_000) -> dict[tuple[str, Why], float]:
    player.begin(Colour.BLACK, np.random.default_rng(11))
    game = Game()
    found = Counter((str(d.move), d.why) for d in (player.choose(game) for _ in range(n)))
    return {key: count / n for key, count in found.items()}


def test_acceptance_frequencies() -> None:
    found = frequencies(ChebrPlayer(Stub(m9_13=0.7, m10_14=0.5, m11_15=0.0)))
    # 9-13: 0.7; 10-14: 0.3 * 0.5; the rest 0.15 over the four moves without a case
    explored = {(text, Why.EXPLORED): 0.0375 for text in ("12-16", "9-14", "10-15", "11-16")}
    expected = {("9-13", Why.CASE): 0.7, ("10-14", Why.CASE): 0.15, **explored}
    assert found.keys() == expected.keys()
    for key, share in expected.items():
        assert found[key] == pytest.approx(share, abs=4 * (share * (1 - share) / 20_000) ** 0.5)


def test_a_rating_over_one_is_always_accepted() -> None:
    assert frequencies(ChebrPlayer(Stub(m9_13=1.4, m10_14=1.2)), 300) == {("9-13", Why.CASE): 1.0}


def test_without_untried_moves_all_are_explored() -> None:
    ratings = {"m" + str(move).replace("-", "_"): 0.0 for move in START.legal_moves()}
    found = frequencies(ChebrPlayer(Stub(**ratings)), 7000)
    assert {why for _, why in found} == {Why.EXPLORED}
    assert len(found) == 7
    assert all(share == pytest.approx(1 / 7, abs=0.02) for share in found.values())


def test_a_decision_explains_itself() -> None:
    player = ChebrPlayer(Stub(m9_13=1.0, m10_14=0.0, m11_15=0.5))
    player.begin(Colour.BLACK, np.random.default_rng(1))
    decision = player.choose(Game())
    told = decision.details["cases"]
    assert told == [
        {"move": "9-13", "rating": 1.0, "wins": 1, "draws": 0, "losses": 0, "verdict": "accepted"},
        {"move": "11-15", "rating": 0.5, "wins": 1, "draws": 0, "losses": 0, "verdict": "not tried"},
        {"move": "10-14", "rating": 0.0, "wins": 1, "draws": 0, "losses": 0, "verdict": "not tried"},
    ]
    assert json.loads(json.dumps(decision.details)) == decision.details


def test_an_illegal_case_is_passed_over() -> None:
    stub = Stub(m9_13=0.0)
    stub.cases.insert(0, RetrievedCase(START.half_turn().move("24-20").code, 1.0, 9, 0, 0, "explored"))
    player = ChebrPlayer(stub)
    player.begin(Colour.BLACK, np.random.default_rng(1))
    for _ in range(50):
        decision = player.choose(Game())
        assert decision.why is Why.EXPLORED
        assert decision.move in START.legal_moves()
    told = decision.details["cases"]
    assert isinstance(told, list)
    assert [case["verdict"] for case in told] == ["illegal", "refused"]


def test_forced_moves_are_not_stored_and_take_no_chance() -> None:
    stub = Stub()
    player = ChebrPlayer(stub)
    rng = np.random.default_rng(1)
    player.begin(Colour.WHITE, rng)
    state = rng.bit_generator.state
    game = Game(ONE_MOVE)
    decision = player.choose(game)
    assert (decision.why, str(decision.move)) == (Why.FORCED, "32-27")
    assert rng.bit_generator.state == state
    assert player.counts == {Why.FORCED: 1}
    library = CaseLibrary(None, "x", GeneralPositiveMemory())
    learner = ChebrPlayer(library)
    learner.begin(Colour.WHITE, rng)
    learner.choose(game)
    learner.observe(Result.DRAW)
    assert (len(library), library.games) == (0, 1)
    assert library.statistics()["moves"] == {"forced": 1}


@pytest.mark.parametrize("colour", list(Colour))
def test_own_moves_are_retained_with_the_points_of_the_own_colour(colour: Colour) -> None:
    stub = Stub()
    agent = ChebrPlayer(stub)
    players = (RandomPlayer(), agent) if colour else (agent, RandomPlayer())
    game = play(players[0], players[1], seed=4)
    ((steps, points, told, plies),) = stub.games
    assert (points, told, plies) == (game.result.points(colour), colour, len(game.moves))
    own = [
        (position, move.code)
        for position, move in zip(game.positions, game.moves, strict=False)
        if position.side == colour
    ]
    assert [(position, code) for position, code, _ in steps] == own
    assert agent.counts == Counter(why for _, _, why in steps)
    agent.observe(game.result)  # a game is learned once
    assert len(stub.games) == 1


def test_what_teaches_nothing() -> None:
    stub = Stub()
    frozen = ChebrPlayer(stub, learn=False)
    play(frozen, RandomPlayer(), 1)
    assert stub.games == []
    assert frozen.counts.total() > 0
    agent = ChebrPlayer(stub)
    agent.begin(Colour.BLACK, np.random.default_rng(1))
    agent.choose(Game())
    agent.observe(Result.UNFINISHED)
    assert stub.games == []
    with pytest.raises(RuntimeError, match=r"begin\(\) was not called"):
        ChebrPlayer(stub).choose(Game())


def test_equal_seeds_give_equal_libraries_and_cases_are_reused() -> None:
    first, second = (CaseLibrary(None, "random", GeneralPositiveMemory()) for _ in range(2))
    for library in (first, second):
        for seed in range(30):
            train(library, seed)
    assert first.statistics() == second.statistics()
    assert list(first) == list(second)
    moves = first.statistics()["moves"]
    assert isinstance(moves, dict)
    assert moves["case"] > 10
    assert all(move.move in position.legal_moves() for position in first for move in first.retrieve(position))
