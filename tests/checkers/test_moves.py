from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.errors import AmbiguousMoveError, IllegalMoveError, InvalidMoveError, MoveError
from checkers.moves import Move, answers_to, legal_moves, parse_move, play
from checkers.position import Position
from tests.strategies import positions

#: From 10 to 26 by way of 17 or 19: other men fall.
TWO_RESULTS = "B:W14,15,22,23:B10"
#: A king on 14 goes round and comes back, by the left or by the right: one result.
ROUND = "W:WK14:BK10,11,15,K18,19,20"
#: Nine captures from 1 to 28: three, one loop more, the other loop more, or all nine by six paths.
NINE = "B:W6,7,8,14,15,16,22,23,24:BK1"


def position(fen: str) -> Position:
    return Position.from_fen(fen)


def test_quiet_move() -> None:
    move = Position.start().move("11-15")
    assert (move.path, move.captures, move.origin, move.target) == ((11, 15), (), 11, 15)
    assert not move.is_capture
    assert str(move) == "11-15"
    after = Position.start().play(move)
    assert after.fen() == "W:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,12,15"


def test_capture_takes_off_and_crowns() -> None:
    before = position("B:WK26,18,K27:B22,1")
    move = before.move("22x31")
    assert move.is_capture
    assert move.captures == (26,)
    # the king on 27 stays: the man was crowned on 31 and stops there
    assert before.play(move).fen() == "W:W18,K27:B1,K31"


def test_a_king_stays_a_king() -> None:
    before = position("W:WK10:B1")
    assert before.play(before.move("10-15")).fen() == "B:WK15:B1"
    # nothing of a king remains where it left or was captured
    taken = position("B:WK18,1:BK14")
    assert taken.play(taken.move("14x23")).fen() == "W:W1:BK23"


def test_men_are_crowned_on_their_king_rows_only() -> None:
    assert position("B:W1:B28").play(position("B:W1:B28").move("28-32")).fen() == "W:W1:BK32"
    assert position("W:W5:B32").play(position("W:W5:B32").move("5-1")).fen() == "B:WK1:B32"
    assert position("B:W1:B24").play(position("B:W1:B24").move("24-28")).fen() == "W:W1:B28"


def test_start_order_of_moves() -> None:
    texts = [str(move) for move in legal_moves(Position.start())]
    assert sorted(texts) == sorted(["9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"])
    assert texts == [str(move) for move in Position.start().legal_moves()]


@given(positions())
def test_codes_and_texts_name_their_moves(before: Position) -> None:
    moves = legal_moves(before)
    assert len({move.code for move in moves}) == len(moves)
    assert len({move.path for move in moves}) == len(moves)
    for move in moves:
        assert Move.from_code(move.code) == move
        assert parse_move(before, str(move)) == move
        assert answers_to(move, [move.origin, move.target])
        after = play(before, move)
        assert after.side is before.side.other
        assert after.pieces == before.pieces - len(move.captures)
        assert after.black & after.white == 0
        assert after.kings & ~(after.black | after.white) == 0


@pytest.mark.parametrize("text", ["9-13", " 9-13 ", "9 - 13", "9x13", "09-13", "9:13", "9X13"])
def test_forms_of_a_quiet_move(text: str) -> None:
    assert Position.start().move(text).path == (9, 13)


@pytest.mark.parametrize("text", ["9x18x25", "9x25", "9-25", "9-18-25", "09x18x25", "9:25", "9 x 18 x 25"])
def test_forms_of_a_capture(text: str) -> None:
    before = position("B:W14,22,K32:B9")
    assert before.move(text).path == (9, 18, 25)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("10x17x26", (10, 17, 26)),
        ("10x19x26", (10, 19, 26)),
        ("10-17-26", (10, 17, 26)),
    ],
)
def test_the_full_path_tells_captures_apart(text: str, path: tuple[int, ...]) -> None:
    assert position(TWO_RESULTS).move(text).path == path


@pytest.mark.parametrize(
    ("text", "captures"),
    [
        ("1x10x19x28", 3),  # a full path, although all the others pass these squares too
        ("1x26x10x28", 9),
        ("1x3x26x28", 9),
        ("1-26-3-28", 9),
        ("1x10x17x26x19x28", 5),
    ],
)
def test_partial_path_tells_captures_apart(text: str, captures: int) -> None:
    assert len(position(NINE).move(text).captures) == captures


@pytest.mark.parametrize("text", ["1x28", "1x26x28", "1x3x28", "1x19x28", "1x10x28"])
def test_partial_path_may_leave_several(text: str) -> None:
    with pytest.raises(AmbiguousMoveError):
        position(NINE).move(text)


def test_paths_with_one_result_are_one_move() -> None:
    before = position(ROUND)
    left, right = sorted(before.legal_moves())
    assert before.play(left) == before.play(right)
    assert before.move("14x14") == before.move("14x16x14") == before.legal_moves()[0]
    assert before.move("14x7x16x14") == before.move("14x7x16x23x14") == left
    assert before.move("14x16x7x14") == before.move("14x23x16x7x14") == right


def test_ambiguous() -> None:
    with pytest.raises(AmbiguousMoveError, match=r"'10x26' may be 10x1[79]x26 or 10x1[79]x26 in B:W14,15,22,23:B10"):
        position(TWO_RESULTS).move("10x26")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "9",
        "9-",
        "-13",
        "9--13",
        "9_13",
        "a-b",
        "e2e4",
        "9-13?",
        "9-13 10-14",
        "123-4",
        "9-130",
        "9,13",
        "resigns",
    ],
)
def test_invalid(text: str) -> None:
    with pytest.raises(InvalidMoveError) as caught:
        Position.start().move(text)
    assert repr(text) in str(caught.value)
    assert "right would be" in str(caught.value)
    assert Position.start().fen() in str(caught.value)


@pytest.mark.parametrize(
    ("fen", "text"),
    [
        ("B:W21-32:B1-12", "9-18"),  # too far
        ("B:W21-32:B1-12", "23-18"),  # the other side's
        ("B:W21-32:B1-12", "9-99"),  # not on the board
        ("B:W21-32:B1-12", "0-4"),
        ("B:W21-32:B1-12", "11-11"),
        ("B:W21-32:B1-12", "11-8-15"),  # a step passes nothing
        ("B:W18:B14,1", "1-5"),  # a capture must be made
        ("B:W14,22,K32:B9", "9x18"),  # and carried on
        ("B:W14,22,K32:B9", "9x19x25"),  # by squares it passes
        ("B:W14,22,K32:B9", "9x18x18x25"),  # each as often as it passes it
        (ROUND, "14x7x23x16x14"),  # in their order
        ("W:W5:BK1", "5-1"),
    ],
)
def test_illegal(fen: str, text: str) -> None:
    with pytest.raises(IllegalMoveError) as caught:
        position(fen).move(text)
    message = str(caught.value)
    assert repr(text) in message
    assert position(fen).fen() in message
    assert "legal moves: " in message


def test_illegal_move_lists_what_is_legal() -> None:
    with pytest.raises(IllegalMoveError, match=r"legal moves: 14x23$"):
        position("B:W18:B14,1").move("1-5")
    with pytest.raises(IllegalMoveError, match=r"legal moves: none$"):
        position("W:W5:BK1").move("5-1")


@given(positions(), st.text(max_size=12) | st.from_regex(r"\d{1,2}([-x]\d{1,2}){1,3}\n?", fullmatch=True))
@settings(max_examples=200)
def test_any_text_is_a_legal_move_or_a_move_error(before: Position, text: str) -> None:
    try:
        move = before.move(text)
    except MoveError as error:
        assert "\n" not in str(error)  # noqa: PT017 - most texts raise, some do not
    else:
        assert move in before.legal_moves()
