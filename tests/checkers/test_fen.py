from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.errors import FenError, InputError
from checkers.fen import oddities, parse_fen, write_fen
from checkers.position import FULL, Colour, Position
from tests.strategies import positions

START = Position.start()
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "pdn"


def board(*squares: int) -> int:
    return sum(2 ** (square - 1) for square in squares)


@pytest.mark.parametrize(
    "text",
    [
        "B:W21-32:B1-12",
        "B:B1-12:W21-32",  # colours in either order
        " b:w21-32 : b1-12. ",  # lower case, spaces, full stop
        "B:W21-32:B1-12. .",
        "B:W 21 - 32 : B 1 - 12",
        "B:W21–32:B1–12",  # as word processors write it
        "B:W21-24,25-28,29,30-32,:B1,2,3,4-12",  # a comma too many
        "B:W021-032:B01-12",  # leading zeros
        "B:W32,31,30,29,28,27,26,25,24,23,22,21:B12,11,10,9,8,7,6,5,4,3,2,1",
        "B:W21-32:B1-12:H0:F1",  # counters of half-moves and moves
        '"B:W21-32:B1-12"',
        '[FEN "B:W21-32:B1-12"]',
        "B:W21-32:B1-12\n",
    ],
)
def test_spellings_of_the_start(text: str) -> None:
    assert parse_fen(text) == Position.from_fen(text) == START


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("W:WK4,28:BK11,19.", Position(board(11, 19), board(4, 28), board(4, 11), Colour.WHITE)),
        ("B:WK30-32:B1", Position(board(1), board(30, 31, 32), board(30, 31, 32), Colour.BLACK)),
        ("B:WK30-K32:B1", Position(board(1), board(30, 31, 32), board(30, 31, 32), Colour.BLACK)),
        ("b:wk30 - k32,29:b1", Position(board(1), board(29, 30, 31, 32), board(30, 31, 32), Colour.BLACK)),
        ("B:WK5-5:B1", Position(board(1), board(5), board(5), Colour.BLACK)),
        ("B:WK 5:B1", Position(board(1), board(5), board(5), Colour.BLACK)),
        ("W: W 5 , k6 :B", Position(0, board(5, 6), board(6), Colour.WHITE)),  # a side without a piece
        ("W:B:WK6,5", Position(0, board(5, 6), board(6), Colour.WHITE)),
        ("W:WK6,5", Position(0, board(5, 6), board(6), Colour.WHITE)),  # a side left out
        ("W:WK6,5:", Position(0, board(5, 6), board(6), Colour.WHITE)),
        ("W::BK6,5.", Position(board(5, 6), 0, board(6), Colour.WHITE)),
        ("W:W:B", Position(0, 0, 0, Colour.WHITE)),
        ("W::.", Position(0, 0, 0, Colour.WHITE)),  # as a published problem has it
        ("B:W1:B32", Position(board(32), board(1), 0, Colour.BLACK)),  # men on their own king rows
        ("B:W1-16:B17-32", Position(0xFFFF0000, 0x0000FFFF, 0, Colour.BLACK)),  # more men than a game has
    ],
)
def test_parse(text: str, expected: Position) -> None:
    assert parse_fen(text) == expected


@pytest.mark.parametrize("text", ["?:W21-32:B1-12", ":W21-32:B1-12", "W21-32:B1-12", " ? : w21-32 : b1-12 ."])
def test_unknown_side_to_move(text: str) -> None:
    with pytest.raises(FenError, match=r"the side to move is '\??'; right would be B or W.*given beside the FEN"):
        parse_fen(text)
    for side in Colour:
        assert parse_fen(text, side) == START._replace(side=side)
        assert Position.from_fen(text, side=side).side is side


def test_a_side_in_the_fen_is_believed() -> None:
    assert parse_fen("B:W21-32:B1-12", Colour.WHITE).side is Colour.BLACK


def test_squares_are_written_in_order() -> None:
    assert write_fen(parse_fen("W:B19,K11:WK28,4")) == "W:W4,K28:BK11,19"
    assert START.fen() == "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"
    assert Position(0, 0, 0, Colour.WHITE).fen() == "W:W:B"


@given(positions())
def test_round_trip(position: Position) -> None:
    assert Position.from_fen(position.fen()) == position
    assert "man on its own king row" not in oddities(position)


@st.composite
def any_boards(draw: st.DrawFn) -> Position:
    """Any position a FEN can say, men on their own king row included."""
    black = draw(st.integers(0, FULL))
    white = draw(st.integers(0, FULL)) & ~black
    kings = draw(st.integers(0, FULL)) & (black | white)
    return Position(black, white, kings, draw(st.sampled_from(Colour)))


def other_spelling(draw: st.DrawFn, position: Position) -> str:
    """The FEN with ranges, spaces, other cases, the colours in either order."""
    parts = []
    for letter, side in (("W", position.white), ("B", position.black)):
        items, square = [], 1
        while square <= 32:
            last = square
            kind = (side >> (square - 1) & 1, position.kings >> (square - 1) & 1)
            while last < 32 and draw(st.booleans()) and (side >> last & 1, position.kings >> last & 1) == kind:
                last += 1
            if kind[0]:
                items.append("K" * kind[1] + (f"{square}-{last}" if last > square else f"{square}"))
            square = last + 1
        parts.append(letter + draw(st.sampled_from([",", ", ", " ,"])).join(draw(st.permutations(items))))
    text = ":".join(["BW"[position.side], *draw(st.permutations(parts))]) + draw(st.sampled_from(["", ".", " . "]))
    return text.lower() if draw(st.booleans()) else text


@given(st.data(), any_boards())
@settings(max_examples=60)
def test_round_trip_of_any_boards(data: st.DataObject, position: Position) -> None:
    assert parse_fen(position.fen()) == position
    text = data.draw(st.composite(other_spelling)(position))
    assert parse_fen(text) == position
    assert position.half_turn().half_turn() == position
    assert len(position.board().splitlines()) == 8


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["three parts", "B:W21-32:B1-12"]),
        ("B", ["three parts"]),
        ("garbage", ["three parts"]),
        ("B:W21-32:B1-12:W5", ["three parts"]),
        ("B:W21-32:B1-12:G5", ["three parts"]),
        ("X:W21-32:B1-12", ["side to move is 'X'", "B or W"]),
        ("BW:W21-32:B1-12", ["side to move is 'BW'", "B or W"]),
        ("R:W21-32:R1-12", ["side to move is 'R'", "B or W"]),
        ("B:21-32:B1-12", ["'21-32'", "W or B"]),
        ("B:K5:B1-12", ["'K5'", "W or B"]),
        ("B:W1:W2", ["W twice", "one for B"]),
        ("B:B1:b2", ["B twice", "one part for W"]),
        ("B:W33:B1", ["square 33", "1 to 32"]),
        ("B:W0:B1", ["square 0", "1 to 32"]),
        ("B:W21:B31-50", ["square 50", "1 to 32"]),
        ("B:W21:BK9999", ["square 9999", "1 to 32"]),
        ("B:W5,5:B1", ["square 5", "twice"]),
        ("B:W5,K5:B1", ["square 5", "twice"]),
        ("B:W5-8,7:B1", ["square 7", "twice"]),
        ("B:W5,6:BK6,7", ["square 6", "two pieces"]),
        ("B:W5-9:B1,6-8", ["square 6", "two pieces"]),
        ("B:W12-9:B1", ["'12-9'", "backwards", "9-12"]),
        ("B:W9-K12:B1", ["'9-K12'", "begins with a man and ends with a king"]),
        ("B:Wx:B1", ["'x'", "1 to 32"]),
        ("B:WQ5:B1", ["'Q5'", "K before it for a king"]),
        ("B:W5 6:B1", ["'5 6'", "commas"]),
        ("B:W21 22 23:BK1 K2", ["'21 22 23'", "commas"]),
        ("B:Wc3,e3:Bd6", ["'c3'", "numbers here"]),
        ("B:W-5:B1", ["'-5'"]),
        ("B:W5-:B1", ["'5-'"]),
        ("B:W1-2-3:B5", ["'1-2-3'"]),
        ("B:WKK5:B1", ["'KK5'"]),
        ("B:W12345:B1", ["'12345'"]),
        ("B:W٣:B1", ["'٣'"]),  # a digit, but none of ours
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", ["chess"]),
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


def test_a_long_text_makes_no_long_message() -> None:
    for text in ("B" * 100_000, "B:W" + "5 " * 100_000, "B:" + "5" * 100_000, ":" * 100_000):
        with pytest.raises(FenError) as caught:
            parse_fen(text)
        assert len(str(caught.value)) < 600


@given(
    st.text(max_size=40)
    | st.from_regex(r"[BWbw?]?:?[BW]?[K0-9,\- ]{0,12}:[BW]?[Kk0-9,\- ]{0,12}\.?(:[HF]1)?\n?", fullmatch=True)
)
@settings(max_examples=300)
def test_any_text_is_a_position_or_a_fen_error(text: str) -> None:
    try:
        position = parse_fen(text, Colour.WHITE)
    except FenError as error:
        assert "\n" not in str(error)  # noqa: PT017 - most texts raise, some do not
    else:
        assert parse_fen(position.fen()) == position


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("B:W21-32:B1-12", ()),
        ("W::.", ("no pieces",)),
        ("B:W:B1", ()),
        ("B:W1:B5", ("man on its own king row",)),
        ("B:W9:B29", ("man on its own king row",)),
        ("B:WK1:BK29", ()),
        ("B:W29:B4", ()),
        ("B:W20-32:B1-12", ("more than 12 pieces",)),
        ("B:W1,20-32:B5", ("more than 12 pieces", "man on its own king row")),
    ],
)
def test_oddities(fen: str, expected: tuple[str, ...]) -> None:
    assert oddities(Position.from_fen(fen)) == expected


@pytest.mark.parametrize(("name", "count"), [("goulds", 262), ("bridges", 267), ("beginner", 58)])
def test_problems_as_published(name: str, count: int) -> None:
    path = SHARED / "problems" / f"{name}.pdn"
    if not path.exists():
        pytest.skip(f"the published problems are not here: {name}.pdn")
    lines = [line for line in path.read_text("latin-1").splitlines() if line.startswith("[FEN")]
    assert len(lines) == count
    found = {number: oddities(parse_fen(line)) for number, line in enumerate(lines, 1)}
    odd = {number: texts for number, texts in found.items() if texts}
    king_row = ("man on its own king row",)
    assert odd == {"goulds": {93: king_row}, "bridges": {14: ("no pieces",)}, "beginner": {10: king_row}}[name]
