from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import cycle, islice

import pytest

from checkers.draws import ACF, NEURODRAUGHTS, NONE, THESIS, DrawPolicy
from checkers.errors import InputError, MoveError
from checkers.game import Game, Result
from checkers.moves import Move
from checkers.position import Colour, Position

#: Two kings far apart: Black's on the top left, White's further down.
KINGS = Position.from_fen("B:WK18:BK1")
BLACK_SHUTTLE, WHITE_SHUTTLE = ["1-5", "5-1"], ["18-22", "22-18"]
#: Round trips that never undo a move.
BLACK_ROUND, WHITE_ROUND = ["1-5", "5-9", "9-6", "6-1"], ["18-22", "22-26", "26-23", "23-18"]


def play(game: Game, text: str) -> Game:
    for move in text.split():
        game.play(game.position.move(move))
    return game


def alternate(black: list[str], white: list[str], plies: int, policy: DrawPolicy) -> Game:
    """A game in which each side goes through its moves again and again."""
    moves = (text for pair in zip(cycle(black), cycle(white), strict=False) for text in pair)
    return play(Game(KINGS, policy=policy), " ".join(islice(moves, plies)))


def wander(policy: DrawPolicy, plies: int) -> Game:
    """A game of two kings that stay out of each other's way and repeat positions as little as they can."""
    game = Game(KINGS, policy=policy)
    seen = Counter([KINGS])

    def cost(move: Move) -> tuple[bool, int]:
        after = game.position.play(move)
        replies = after.legal_moves()
        return not replies or replies[0].is_capture, seen[after]

    for _ in range(plies):
        game.play(min(game.legal_moves(), key=cost))
        seen[game.position] += 1
    return game


def test_a_new_game() -> None:
    game = Game()
    assert game.position == game.start == Position.start()
    assert game.policy == THESIS
    assert (game.moves, game.tags, game.side) == ([], {}, Colour.BLACK)
    assert game.result is Result.UNFINISHED
    assert not game.is_over
    assert game.reason == ""


def test_moves_and_positions_are_kept() -> None:
    game = play(Game(tags={"Event": "test"}), "11-15 22-18 15x22 25x18")
    assert [str(move) for move in game.moves] == ["11-15", "22-18", "15x22", "25x18"]
    assert len(game.positions) == 5
    for before, move, after in zip(game.positions, game.moves, game.positions[1:], strict=False):
        assert before.play(move) == after
    assert game.legal_moves() == game.position.legal_moves()
    assert game.tags == {"Event": "test"}


def test_game_of_moves() -> None:
    game = play(Game(), "11-15 23-19 8-11")
    again = Game.of(game.moves)
    assert again.positions == game.positions
    other = Game.of(play(Game(KINGS), "1-6 18-23").moves, KINGS, ACF)
    assert (other.start, other.policy, other.position.fen()) == (KINGS, ACF, "B:WK23:BK6")


def test_wrong_text_leaves_the_game_alone() -> None:
    game = play(Game(), "11-15")
    with pytest.raises(MoveError):
        game.play(game.position.move("11-15"))
    assert len(game.moves) == 1


@pytest.mark.parametrize(
    ("fen", "move", "result"),
    [
        ("B:W5:BK6", "6-1", Result.BLACK_WINS),  # White's man stands before Black's king
        ("B:W18:B14", "14x23", Result.BLACK_WINS),  # White's last piece falls
        ("W:WK27:B28", "27-32", Result.WHITE_WINS),
        ("W:W18:B14", "18x9", Result.WHITE_WINS),
    ],
)
def test_no_move_left(fen: str, move: str, result: Result) -> None:
    game = play(Game(Position.from_fen(fen)), move)
    assert game.result is result
    assert game.is_over
    assert game.reason == "no move left"


def test_lost_from_the_start() -> None:
    assert Game(Position.from_fen("W:W5:BK1")).result is Result.BLACK_WINS
    assert Game(Position.from_fen("B:W1:B")).result is Result.WHITE_WINS


def test_a_game_without_a_move_is_lost_even_when_it_is_also_a_draw() -> None:
    game = play(Game(Position.from_fen("B:W5:BK6"), policy=DrawPolicy("short", quiet_moves=1, repetition=1)), "6-1")
    assert game.result is Result.BLACK_WINS


# --- thesis: both sides' last five moves go back and forth; more than 100 moves of each side ----------------------


def test_five_moves_back_and_forth_are_a_draw() -> None:
    assert not alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 8, THESIS).is_over  # four of each side
    assert not alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 9, THESIS).is_over
    game = alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 10, THESIS)
    assert game.result is Result.DRAW
    assert game.reason == "both sides' last 5 moves go back and forth"


@pytest.mark.parametrize(("black", "white"), [(BLACK_SHUTTLE, WHITE_ROUND), (BLACK_ROUND, WHITE_SHUTTLE)])
def test_one_side_going_back_and_forth_is_no_draw(black: list[str], white: list[str]) -> None:
    assert not alternate(black, white, 100, THESIS).is_over


def test_going_round_is_not_going_back_and_forth() -> None:
    assert not alternate(BLACK_ROUND, WHITE_ROUND, 100, THESIS).is_over


def test_another_move_in_between_starts_the_count_again() -> None:
    game = alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 8, THESIS)
    play(game, "1-6 18-22 6-1 22-18")  # Black's first move here undoes nothing
    assert not game.is_over
    play(game, "1-6 18-22 6-1 22-18")
    assert not game.is_over
    assert play(game, "1-6").result is Result.DRAW  # Black's fifth; White's last five were back and forth all along


def test_more_than_a_hundred_moves_of_each_side_are_a_draw() -> None:
    assert not alternate(BLACK_ROUND, WHITE_ROUND, 200, THESIS).is_over
    game = alternate(BLACK_ROUND, WHITE_ROUND, 201, THESIS)  # the side that began has made its 101st
    assert game.result is Result.DRAW
    assert game.reason == "more than 100 moves of each side"


# --- acf: third repetition; 40 moves of each side without progress -------------------------------------------------


def test_threefold_repetition() -> None:
    game = alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 7, ACF)
    assert not game.is_over
    play(game, "22-18")
    assert game.position == game.start  # for the third time, the start itself being the first
    assert game.result is Result.DRAW
    assert game.reason == "position repeated 3 times"


def test_forty_moves_of_each_side_without_progress() -> None:
    assert not wander(ACF, 79).is_over
    game = wander(ACF, 80)
    assert game.result is Result.DRAW
    assert game.reason == "40 moves of each side without progress"


def test_an_advance_or_a_capture_is_progress() -> None:
    policy = ACF._replace(repetition=0)
    start = Position.from_fen("B:WK18,32:BK1,12")
    game = play(Game(start, policy=policy), "1-5 18-22 5-1 22-18 " * 19 + "12-16 18-22")  # 76 plies, then an advance
    play(game, "1-5 22-18 5-1 18-22 " * 19)
    assert not game.is_over
    play(game, "1-5 22-18")
    assert not game.is_over  # 79 plies since Black's man advanced
    assert play(game, "5-1").result is Result.DRAW


def test_a_king_s_capture_is_progress() -> None:
    policy = DrawPolicy("quiet", quiet_moves=3)
    game = play(Game(Position.from_fen("B:WK15,K32:BK1"), policy=policy), "1-5 15-10 5-1 10-6 1x10 32-27")
    assert not game.is_over  # six plies, one since the capture
    play(game, "10-14 27-32 14-10 32-27")
    assert not game.is_over
    assert play(game, "10-14").result is Result.DRAW


def test_acf_has_no_limit_of_moves() -> None:
    assert ACF.max_moves == 0
    assert ACF.shuttle == 0


# --- others --------------------------------------------------------------------------------------------------------


def test_neurodraughts_stops_after_fifty_moves_of_each_side() -> None:
    assert not alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 100, NEURODRAUGHTS).is_over
    game = alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 101, NEURODRAUGHTS)
    assert game.result is Result.DRAW
    assert game.reason == "more than 50 moves of each side"


def test_no_policy_never_calls_a_draw() -> None:
    assert not alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 600, NONE).is_over


def test_finish() -> None:
    game = play(Game(), "11-15")
    game.finish(Result.WHITE_WINS, "resigned")
    assert game.is_over
    assert (game.result, game.reason) == (Result.WHITE_WINS, "resigned")


@pytest.mark.parametrize("policy", [THESIS, ACF, NEURODRAUGHTS], ids=lambda policy: policy.name)
@pytest.mark.parametrize(
    ("end", "result", "reason"),
    [
        (lambda game: game.resign(Colour.BLACK), Result.WHITE_WINS, "Black resigned"),
        (lambda game: game.resign(Colour.WHITE), Result.BLACK_WINS, "White resigned"),
        (Game.agree_draw, Result.DRAW, "draw agreed"),
        (lambda game: game.adjudicate(Result.BLACK_WINS), Result.BLACK_WINS, "adjudicated"),
        (lambda game: game.adjudicate(Result.WHITE_WINS), Result.WHITE_WINS, "adjudicated"),
        (lambda game: game.adjudicate(Result.DRAW), Result.DRAW, "adjudicated"),
    ],
)
def test_a_game_ended_by_people(policy: DrawPolicy, end: Callable[[Game], None], result: Result, reason: str) -> None:
    game = play(Game(policy=policy), "11-15 22-17")
    end(game)
    assert game.is_over
    assert (game.result, game.reason) == (result, reason)
    assert len(game.moves) == 2
    for again in (lambda: game.resign(Colour.BLACK), game.agree_draw, lambda: game.adjudicate(Result.DRAW)):
        with pytest.raises(InputError, match=f"the game is over: {result.value}, {reason}"):
            again()
    assert (game.result, game.reason) == (result, reason)


@pytest.mark.parametrize("fen", ["W:W5:BK1", "B:W1:B"])
def test_a_game_that_the_rules_have_ended_cannot_be_given_up(fen: str) -> None:
    game = Game(Position.from_fen(fen))
    with pytest.raises(InputError, match=r"the game is over: .*, no move left; it cannot end again"):
        game.resign(game.side)
    with pytest.raises(InputError, match="the game is over"):
        alternate(BLACK_SHUTTLE, WHITE_SHUTTLE, 10, THESIS).adjudicate(Result.BLACK_WINS)


def test_an_adjudication_decides() -> None:
    game = Game()
    with pytest.raises(InputError, match=r"decides nothing; right would be 1-0, 0-1 or 1/2-1/2"):
        game.adjudicate(Result.UNFINISHED)
    assert not game.is_over


def test_results() -> None:
    assert [result.value for result in Result] == ["1-0", "0-1", "1/2-1/2", "*"]  # Black, who starts, first
    assert Result.win(Colour.BLACK) is Result.BLACK_WINS
    assert Result.win(Colour.WHITE) is Result.WHITE_WINS
    points = {r: (r.points(Colour.BLACK), r.points(Colour.WHITE)) for r in Result if r is not Result.UNFINISHED}
    assert points == {Result.BLACK_WINS: (1, 0), Result.WHITE_WINS: (0, 1), Result.DRAW: (0.5, 0.5)}
    with pytest.raises(ValueError, match="unfinished"):
        Result.UNFINISHED.points(Colour.BLACK)
