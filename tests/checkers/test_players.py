"""The random player, the searching player, and the identity whose scores an agent chooses from."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from checkers.evaluation import material
from checkers.game import Game, Result
from checkers.players import Player, RandomPlayer, SearchIdentity, SearchPlayer, Why, table_bits_for
from checkers.position import Colour, Position
from checkers.search import Searcher
from learners.network import LYNCH_FEATURES, Network
from tests.reference.minimax import move_values
from tests.strategies import random_setup


def game_at(fen: str) -> Game:
    return Game(Position.from_fen(fen))


FORCED = game_at("B:W18:B14")


def begun(player: Player, seed: int = 0) -> Player:
    player.begin(Colour.BLACK, np.random.default_rng(seed))
    return player


def test_a_random_player_plays_every_move_equally_often() -> None:
    player, game = begun(RandomPlayer()), Game()
    decisions = [player.choose(game) for _ in range(7_000)]
    counts = Counter(decision.move for decision in decisions)
    assert set(counts) == set(game.legal_moves())
    # chi-square with 6 degrees of freedom: above 27.9 once in 10,000 times
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 27.9
    assert {(decision.why, decision.score, decision.depth) for decision in decisions} == {(Why.RANDOM, None, 0)}


def test_a_random_players_chance_is_what_it_was_given() -> None:
    def moves(seed: int) -> list[str]:
        player = begun(RandomPlayer(), seed)
        return [str(player.choose(Game()).move) for _ in range(30)]

    assert moves(1) == moves(1) != moves(2)


def test_a_random_player_that_was_not_begun_has_no_chance() -> None:
    with pytest.raises(RuntimeError, match=r"begin\(\) was not called"):
        RandomPlayer().choose(Game())


@pytest.mark.parametrize("player", [RandomPlayer(), SearchPlayer("searching", material(), 3)], ids=lambda p: p.name)
def test_the_only_move_is_forced(player: Player) -> None:
    decision = begun(player).choose(FORCED)
    assert (str(decision.move), decision.why, decision.nodes) == ("14x23", Why.FORCED, 0)
    player.observe(Result.BLACK_WINS)


def test_a_searching_player_plays_the_best_move_of_its_search() -> None:
    rng = np.random.default_rng(2)
    network = Network.initial(LYNCH_FEATURES, rng).evaluation()
    for _ in range(20):
        position = random_setup(rng)
        if len(position.legal_moves()) < 2:
            continue
        decision = begun(SearchPlayer("searching", network, 4)).choose(Game(position))
        found = Searcher(network, 4, table_bits=table_bits_for(4)).search(position)
        assert (decision.move, decision.score, decision.depth) == (found.move, found.score, found.depth)
        assert (decision.nodes, decision.pv, decision.why) == (found.nodes, found.pv, Why.SEARCHED)
        assert decision.pv[0] == decision.move


def test_a_searching_player_forgets_at_the_start_of_a_game() -> None:
    network = Network.initial(LYNCH_FEATURES, np.random.default_rng(3)).evaluation()
    player = SearchPlayer("searching", network, 5)
    first = begun(player).choose(Game())
    assert begun(player).choose(Game()) == first
    assert player.choose(Game()).nodes < first.nodes  # within a game it remembers


@pytest.mark.parametrize("kind", ["material", "network"])
def test_identity_scores_are_exact_within_the_window_and_bounds_below(kind: str) -> None:
    rng = np.random.default_rng(4)
    network = Network.initial(LYNCH_FEATURES, rng).evaluation()
    evaluation, error = (material(), 0.0) if kind == "material" else (network, 2e-6)
    identity = SearchIdentity(evaluation, 3, window=0.3)
    for _ in range(40):
        position = random_setup(rng, 4)
        if not position.legal_moves():
            continue
        identity.clear()
        scores = identity.root_scores(Game(position))
        assert list(scores) == [move.code for move in position.legal_moves()]
        values = move_values(position, Searcher(evaluation, 3).search(position).depth, evaluation)
        best = max(scores.values())
        assert best == pytest.approx(max(values.values()), abs=error)
        for code, score in scores.items():
            assert values[code] <= score + error
            if score > best - 0.3 + 1e-6:
                assert score == pytest.approx(values[code], abs=error), position.fen()


@pytest.mark.parametrize("window", [0.0, 0.5])
def test_identity_scores_at_the_edge_of_the_window_are_exact_too(window: float) -> None:
    """An agent takes moves whose score is the best less delta or more; bounds that just reach it would be taken too."""
    rng = np.random.default_rng(5)
    wrong = []
    identity = SearchIdentity(material(), 3, window)
    for _ in range(100):
        position = random_setup(rng, 7)
        if not position.legal_moves():
            continue
        identity.clear()
        scores = identity.root_scores(Game(position))
        values = move_values(position, Searcher(material(), 3).search(position).depth, material())
        best = max(scores.values())
        wrong += [(position.fen(), c, s, values[c]) for c, s in scores.items() if s >= best - window and s != values[c]]
    assert wrong == []


def test_an_identity_remembers_until_it_is_cleared() -> None:
    network = Network.initial(LYNCH_FEATURES, np.random.default_rng(6)).evaluation()
    identity = SearchIdentity(network, 5)
    first = identity.root_scores(Game())
    other = Game(random_setup(np.random.default_rng(7)))
    identity.root_scores(other)
    identity.clear()
    assert identity.root_scores(Game()) == first


@pytest.mark.parametrize(("depth", "bits"), [(1, 12), (2, 12), (3, 13), (9, 19), (10, 20), (30, 20)])
def test_tables_grow_with_the_depth(depth: int, bits: int) -> None:
    assert table_bits_for(depth) == bits
