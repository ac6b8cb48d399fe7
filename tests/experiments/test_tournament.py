"""Games and matches: colours, openings, seeds, and figures that can be counted by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from checkers.draws import ACF, NEURODRAUGHTS, THESIS
from checkers.evaluation import material
from checkers.game import Game, Result
from checkers.openings import Ballot, openings_named
from checkers.players import Decision, RandomPlayer, SearchPlayer, Why
from checkers.position import Colour
from experiments.tournament import Match, PlayedGame, opening_order, play_game, play_match

BALLOTS = openings_named("three-move")


def seed(number: int = 0) -> np.random.SeedSequence:
    return np.random.SeedSequence(number)


class Watching(RandomPlayer):
    """A random player that notes what happens to it."""

    def __init__(self, name: str, why: Sequence[Why] = (Why.RANDOM,)) -> None:
        super().__init__(name)
        self.begun: list[tuple[Colour, int]] = []
        self.seen: list[Colour] = []
        self.results: list[Result] = []
        self._why = why

    def begin(self, colour: Colour, rng: np.random.Generator) -> None:
        super().begin(colour, rng)
        self.begun.append((colour, int(rng.integers(1 << 60))))

    def choose(self, game: Game) -> Decision:
        self.seen.append(game.side)
        assert not game.is_over
        decision = super().choose(game)
        return Decision(decision.move, self._why[len(self.seen) % len(self._why)])

    def observe(self, result: Result) -> None:
        self.results.append(result)


@pytest.mark.parametrize("colour", Colour)
def test_a_game_is_played_to_its_end_with_both_told(colour: Colour) -> None:
    first, second = Watching("first", [Why.CASE, Why.RULE]), Watching("second")
    played = play_game(first, second, BALLOTS[3], colour, seed(), THESIS)
    game = played.game
    assert game.is_over
    assert [str(move) for move in game.moves[:3]] == list(BALLOTS[3].moves)
    assert (first.begun[0][0], second.begun[0][0]) == (colour, colour.other)
    assert first.begun[0][1] != second.begun[0][1]
    assert set(first.seen) == {colour}
    assert set(second.seen) == {colour.other}
    assert len(first.seen) + len(second.seen) == len(game.moves) - 3 == len(played.reasons)
    assert first.results == second.results == [game.result]
    assert played.points == game.result.points(colour)
    assert (played.opening, played.colour) == (BALLOTS[3].number, colour)
    assert sum(played.decisions.values()) == len(first.seen)
    assert set(played.decisions) == {"case", "rule"}
    names = {"Black": "first", "White": "second"} if colour is Colour.BLACK else {"Black": "second", "White": "first"}
    assert game.tags == {**names, "Result": game.result.value}


def test_reasons_are_those_of_each_ply() -> None:
    played = play_game(Watching("a", [Why.CASE]), Watching("b", [Why.RULE]), BALLOTS[0], Colour.BLACK, seed(), THESIS)
    assert played.reasons[0] == Why.RULE  # after three plies White moves, who is the second
    assert set(played.reasons[::2]) == {Why.RULE}
    assert set(played.reasons[1::2]) == {Why.CASE}


@pytest.mark.parametrize("policy", [THESIS, ACF, NEURODRAUGHTS])
def test_the_draw_policy_is_the_one_asked_for(policy: object) -> None:
    played = play_game(RandomPlayer(), RandomPlayer(), BALLOTS[0], Colour.BLACK, seed(), policy)  # type: ignore[arg-type]
    assert played.game.policy is policy


def test_openings_come_round_before_one_comes_again() -> None:
    order = opening_order(BALLOTS, 400, seed(1))
    size = len(BALLOTS)
    assert size == 156
    assert set(order[:size]) == set(order[size : 2 * size]) == set(BALLOTS)
    assert order[:size] != order[size : 2 * size]
    assert len(set(order[2 * size :])) == 400 - 2 * size
    assert order == opening_order(BALLOTS, 400, seed(1)) != opening_order(BALLOTS, 400, seed(2))


@pytest.mark.parametrize("pairs", [0, 1, 5])
def test_fewer_openings_than_there_are(pairs: int) -> None:
    assert len(set(opening_order(BALLOTS, pairs, seed()))) == pairs


def test_a_match_plays_each_opening_with_both_colours_in_turn() -> None:
    first, second = Watching("first"), Watching("second")
    steps: list[int] = []
    match = play_match(first, second, BALLOTS[:4], seed(), policy=ACF, progress=steps.append)
    assert steps == [1] * 8
    assert match.players == ("first", "second")
    assert [game.opening for game in match.games] == [n for ballot in BALLOTS[:4] for n in [ballot.number] * 2]
    assert [game.colour for game in match.games] == [Colour.BLACK, Colour.WHITE] * 4
    assert [colour for colour, _ in second.begun] == [Colour.WHITE, Colour.BLACK] * 4
    assert len({rng for _, rng in first.begun + second.begun}) == 16
    assert all(game.game.policy is ACF for game in match.games)
    assert match.seconds > 0


def text_of(match: Match) -> list[list[str]]:
    return [[str(move) for move in played.game.moves] for played in match.games]


def test_a_match_depends_on_players_openings_and_seed_alone() -> None:
    def played(number: int, openings: Sequence[Ballot] = BALLOTS[:3]) -> Match:
        return play_match(RandomPlayer("a"), SearchPlayer("b", material(), 2), openings, seed(number))

    assert text_of(played(1)) == text_of(played(1)) != text_of(played(2))
    # a game's chance does not depend on how many come after it
    assert text_of(played(1, BALLOTS[:5]))[:6] == text_of(played(1))


def test_a_match_of_two_searches_is_the_same_with_the_players_exchanged() -> None:
    one, other = SearchPlayer("one", material(), 3), SearchPlayer("other", material(), 2)
    match = play_match(one, other, BALLOTS[10:13], seed(1))
    exchanged = play_match(other, one, BALLOTS[10:13], seed(2))
    games = text_of(exchanged)
    assert text_of(match) == [games[1], games[0], games[3], games[2], games[5], games[4]]
    assert sum(match.points) + sum(exchanged.points) == 6


def test_a_search_beats_chance() -> None:
    match = play_match(SearchPlayer("search", material(), 4), RandomPlayer(), BALLOTS[:6], seed(3))
    assert sum(match.points) >= 11


def made_game(opening: int, points: float, decisions: dict[str, int]) -> PlayedGame:
    game = Game()
    result = {1.0: Result.BLACK_WINS, 0.5: Result.DRAW, 0.0: Result.WHITE_WINS}[points]
    game.finish(result, "agreed" if points == 0.5 else "resigned")
    return PlayedGame(game, opening, Colour.BLACK, points, decisions, ())


MADE = Match(
    ("a", "b"),
    [
        made_game(7, 1.0, {"case": 3, "explored": 1}),
        made_game(7, 0.5, {"case": 2}),
        made_game(2, 0.0, {"identity": 4}),
        made_game(2, 0.5, {"forced": 1, "identity": 1}),
        made_game(7, 1.0, {}),
    ],
    2.5,
)


def test_points_by_opening_are_means_in_the_order_of_the_openings() -> None:
    assert MADE.points == [1.0, 0.5, 0.0, 0.5, 1.0]
    assert list(MADE.opening_points.items()) == [(2, 0.25), (7, pytest.approx(2.5 / 3))]


def test_decisions_are_counted_over_all_games() -> None:
    assert MADE.decisions() == {"case": 5, "explored": 1, "forced": 1, "identity": 5}
    assert list(MADE.decisions()) == sorted(MADE.decisions())


def test_the_figures_of_a_match() -> None:
    figures = MADE.figures(seed(4))
    assert figures["players"] == ["a", "b"]
    assert (figures["games"], figures["wins"], figures["draws"], figures["losses"]) == (5, 2, 2, 1)
    assert figures["score"] == 0.6
    assert figures["points"] == MADE.points
    assert figures["opening_points"] == [0.25, pytest.approx(2.5 / 3)]
    assert figures["random_moves"] == 6
    assert figures["reasons"] == {"agreed": 2, "resigned": 3}
    assert figures["decisions_by_game"] == [game.decisions for game in MADE.games]
    assert figures["seconds"] == 2.5
    low, high = figures["score_interval"]
    assert 0 <= low <= 0.6 <= high <= 1
    assert figures == MADE.figures(seed(4))
    assert json.loads(json.dumps(figures, allow_nan=False))["score"] == 0.6


@pytest.mark.parametrize("points", [0.0, 0.5, 1.0])
def test_figures_stay_finite_where_every_game_ends_alike(points: float) -> None:
    match = Match(("a", "b"), [made_game(n, points, {}) for n in range(4)])
    figures = match.figures(seed())
    json.dumps(figures, allow_nan=False)
    assert figures["score"] == points


def test_decisions_of_the_first_player_alone_are_counted() -> None:
    first, second = Watching("a", [Why.CASE]), Watching("b", [Why.RULE])
    match = play_match(first, second, BALLOTS[:2], seed())
    assert match.decisions() == {"case": len(first.seen)}
    assert Counter(why for game in match.games for why in game.reasons) == {
        Why.CASE: len(first.seen),
        Why.RULE: len(second.seen),
    }
