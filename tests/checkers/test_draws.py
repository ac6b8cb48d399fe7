"""The named policies, and the kernels' bookkeeping against Game's."""

from __future__ import annotations

import numpy as np
import pytest

from checkers.draw_tracking import MOST_PLIES, STATE, is_drawn, limits_of, start_tracking, track
from checkers.draws import ACF, NEURODRAUGHTS, NONE, POLICIES, THESIS, DrawPolicy, draw_policy
from checkers.errors import SpecificationError
from checkers.game import Game, Result
from checkers.moves import Move
from checkers.position import Position
from checkers.zobrist import zobrist_key

TIGHT = DrawPolicy("tight", shuttle=2, repetition=2, quiet_moves=3, max_moves=20)
SHUTTLE = DrawPolicy("shuttle", shuttle=3)


def test_limits_of_the_policies() -> None:
    assert THESIS == ("thesis", 5, 0, 0, 100)
    assert ACF == ("acf", 0, 3, 40, 0)
    assert NEURODRAUGHTS == ("neurodraughts", 0, 0, 0, 50)
    assert NONE == ("none", 0, 0, 0, 0)
    assert limits_of(THESIS).tolist() == [5, 0, 0, 100]
    assert limits_of(ACF).tolist() == [0, 3, 40, 0]


def test_policies_by_name() -> None:
    assert set(POLICIES) == {"thesis", "acf", "neurodraughts", "none"}
    for name, policy in POLICIES.items():
        assert draw_policy(name) is policy


def test_unknown_policy() -> None:
    with pytest.raises(SpecificationError, match="'fide' is unknown; there are thesis, acf, neurodraughts, none"):
        draw_policy("fide")


class Tracker:
    """The kernels' bookkeeping of one game."""

    def __init__(self, start: Position) -> None:
        self.state = np.full(STATE, 99, np.int64)
        self.keys = np.full(MOST_PLIES, 99, np.uint64)
        start_tracking(self.state, self.keys, key_of(start))

    def play(self, before: Position, move: Move) -> None:
        key = key_of(before.play(move))
        track(self.state, self.keys, int(before.side), np.uint32(before.kings), np.uint32(move.code), key)

    def is_drawn(self, policy: DrawPolicy) -> bool:
        return bool(is_drawn(self.state, self.keys, limits_of(policy)))


def key_of(position: Position) -> np.uint64:
    own, opp, kings = (np.uint32(board) for board in (position.own, position.opponent, position.kings))
    return np.uint64(zobrist_key(own, opp, kings, int(position.side)))


def lazy_move(game: Game, rng: np.random.Generator) -> Move:
    """A random move that often takes back the last one, so that games shuttle and repeat."""
    moves = game.legal_moves()
    if len(game.moves) > 1 and rng.random() < 0.7:
        back = game.moves[-2].path[::-1]
        moves = [move for move in moves if move.path == back] or moves
    return moves[int(rng.integers(len(moves)))]


@pytest.mark.parametrize("policy", [THESIS, ACF, NEURODRAUGHTS, NONE, TIGHT, SHUTTLE], ids=lambda policy: policy.name)
def test_kernels_call_the_same_draws_as_games(policy: DrawPolicy) -> None:
    rng = np.random.default_rng(7)
    starts = ["B:W21-32:B1-12", "B:WK18,K27,29:BK1,K6,4", "W:WK32,K31:BK1,K5", "B:WK32,28:BK1,5"]
    draws = 0
    for number in range(24):
        game = Game(Position.from_fen(starts[number % len(starts)]), policy=policy)
        tracker = Tracker(game.start)
        while len(game.moves) < 220 and not game.is_over:
            assert not tracker.is_drawn(policy)
            move = lazy_move(game, rng)
            tracker.play(game.position, move)
            game.play(move)
        if game.result is Result.DRAW:
            assert tracker.is_drawn(policy), game.reason
            draws += 1
    assert (draws > 0) == (policy is not NONE)


def test_kernels_end_a_game_that_no_policy_ends() -> None:
    game = Game(Position.from_fen("B:WK32:BK1"), policy=NONE)
    tracker = Tracker(game.start)
    shuttle = ["1-5", "32-27", "5-1", "27-32"]
    for ply in range(MOST_PLIES - 1):
        assert not tracker.is_drawn(NONE), ply
        move = game.position.move(shuttle[ply % 4])
        tracker.play(game.position, move)
        game.play(move)
    assert tracker.is_drawn(NONE)
    assert not game.is_over
