from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.errors import FenError, InputError
from checkers.position import FULL, Colour, Position
from tests.strategies import positions

START = Position(0x00000FFF, 0xFFF00000, 0, Colour.BLACK)


def board(*squares: int) -> int:
    return sum(2 ** (square - 1) for square in squares)


def test_colours() -> None:
    assert Colour.BLACK.other is Colour.WHITE
    assert Colour.WHITE.other is Colour.BLACK


def test_start() -> None:
    assert Position.start() == START
    assert START.pieces == 24
    assert START.own == board(*range(1, 13))
    assert START.opponent == board(*range(21, 33))


def test_own_and_opponent_follow_the_side_to_move() -> None:
    position = Position(board(1), board(32), 0, Colour.WHITE)
    assert (position.own, position.opponent) == (board(32), board(1))


def test_half_turn() -> None:
    position = Position(board(1, 11), board(30), board(11), Colour.BLACK)
    assert position.half_turn() == Position(board(3), board(32, 22), board(22), Colour.WHITE)
    assert START.half_turn() == START._replace(side=Colour.WHITE)


def test_text_board() -> None:
    assert Position.from_fen("B:W21-31,K32:BK1,2-12").board().splitlines() == [
        "  B   b   b   b",
        "b   b   b   b",
        "  b   b   b   b",
        ".   .   .   .",
        "  .   .   .   .",
        "w   w   w   w",
        "  w   w   w   w",
        "w   w   w   W",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B:W21-32:B1-12", START),
        ("B:B1-12:W21-32", START),  # colours in either order
        (" b:w21-32 : b1-12. ", START),  # lower case, spaces, full stop
        ("W:WK4,28:BK11,19.", Position(board(11, 19), board(4, 28), board(4, 11), Colour.WHITE)),
        ("B:WK30-32:B1", Position(board(1), board(30, 31, 32), board(30, 31, 32), Colour.BLACK)),
        ("W: W 5 , k6 :B", Position(0, board(5, 6), board(6), Colour.WHITE)),  # a side without a piece
        ("W:W:B", Position(0, 0, 0, Colour.WHITE)),
        ("B:W1:B32", Position(board(32), board(1), 0, Colour.BLACK)),  # men on their own king rows
    ],
)
def test_from_fen(text: str, expected: Position) -> None:
    assert Position.from_fen(text) == expected


def test_fen_names_squares_in_order() -> None:
    assert Position.from_fen("W:B19,K11:WK28,4").fen() == "W:W4,K28:BK11,19"
    assert START.fen() == "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"


@given(positions())
def test_fen_round_trip(position: Position) -> None:
    assert Position.from_fen(position.fen()) == position


@st.composite
def any_boards(draw: st.DrawFn) -> Position:
    """Any position a FEN can say, men on their own king rows included."""
    black = draw(st.integers(0, FULL))
    white = draw(st.integers(0, FULL)) & ~black
    kings = draw(st.integers(0, FULL)) & (black | white)
    return Position(black, white, kings, draw(st.sampled_from(Colour)))


@given(any_boards())
def test_fen_round_trip_of_any_boards(position: Position) -> None:
    assert Position.from_fen(position.fen()) == position
    assert position.half_turn().half_turn() == position
    assert len(position.board().splitlines()) == 8


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["three parts", "B:W21-32:B1-12"]),
        ("garbage", ["three parts"]),
        ("B:W21-32", ["three parts"]),  # one side missing
        ("B:W21-32:B1-12:W5", ["three parts"]),
        ("W21-32:B1-12", ["three parts"]),  # side to move missing
        (":W21-32:B1-12", ["side to move is ''", "B or W"]),
        ("?:W21-32:B1-12", ["side to move is '?'"]),
        ("X:W21-32:B1-12", ["side to move is 'X'", "B or W"]),
        ("B:21-32:B1-12", ["'21-32'", "W or B"]),
        ("B::B1-12", ["''", "W or B"]),
        ("B:W1:W2", ["W twice", "one for B"]),
        ("B:B1:b2", ["B twice"]),
        ("B:W33:B1", ["square 33", "1 to 32"]),
        ("B:W0:B1", ["square 0", "1 to 32"]),
        ("B:W21:B31-50", ["square 50", "1 to 32"]),
        ("B:W21:BK9999", ["square 9999", "1 to 32"]),
        ("B:W5,5:B1", ["square 5", "twice"]),
        ("B:W5,K5:B1", ["square 5", "twice"]),
        ("B:W5-8,7:B1", ["square 7", "twice"]),
        ("B:W5,6:BK6,7", ["square 6", "two pieces"]),
        ("B:W12-9:B1", ["'12-9'", "backwards"]),
        ("B:Wx:B1", ["'x'", "1 to 32"]),
        ("B:WQ5:B1", ["'Q5'", "K for a king"]),
        ("B:W5 6:B1", ["'5 6'"]),
        ("B:W-5:B1", ["'-5'"]),
        ("B:WKK5:B1", ["'KK5'"]),
        ("B:W12345:B1", ["'12345'"]),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", ["three parts"]),  # chess
    ],
)
def test_wrong_fen(text: str, told: list[str]) -> None:
    with pytest.raises(FenError) as caught:
        Position.from_fen(text)
    message = str(caught.value)
    assert repr(text) in message
    assert "\n" not in message
    for part in told:
        assert part in message
    assert isinstance(caught.value, InputError)


@given(
    st.text(max_size=40) | st.from_regex(r"[BWbw?]?:[BW]?[K0-9,\- ]{0,12}:[BW]?[K0-9,\- ]{0,12}\.?\n?", fullmatch=True)
)
@settings(max_examples=300)
def test_any_text_is_a_position_or_a_fen_error(text: str) -> None:
    try:
        position = Position.from_fen(text)
    except FenError as error:
        assert "\n" not in str(error)  # noqa: PT017 - most texts raise, some do not
    else:
        assert Position.from_fen(position.fen()) == position
        assert position.black & position.white == 0
        assert position.kings & ~(position.black | position.white) == 0
