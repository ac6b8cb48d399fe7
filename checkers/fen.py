"""FEN of draughts: a reader for the spellings people use, a writer for one of them (theory.md 7.5).

Written: ``W:W4,K28:BK11,19``, the side to move, White's squares, Black's squares, in order. Read besides: the colours
in either order, ranges (``W21-32``, ``BK1-K4``), lower case, spaces, a full stop at the end, a colour that is left out
or has no pieces, quotes or the PDN tag around it, the move counters that some servers add (``:H0:F1``). Where the side
to move is ``?`` or missing, the caller has to know it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from checkers.errors import FenError
from checkers.position import Colour, Position

BLACK_KING_ROW, WHITE_KING_ROW = 0xF0000000, 0x0000000F

_EXAMPLE = "B:W21-32:B1-12"
_LONGEST_SHOWN = 160
_TAG = re.compile(r"\[\s*FEN\b(.*)\]", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(r"(K?)\s*([0-9]{1,4})(?:\s*[-–]\s*(K?)\s*([0-9]{1,4}))?", re.IGNORECASE)
_ALGEBRAIC = re.compile(r"K?\s*[A-H][1-8]", re.IGNORECASE)
_COUNTER = re.compile(r"[HF]\s*[0-9]+", re.IGNORECASE)
_TURNS = {"B": Colour.BLACK, "W": Colour.WHITE}


class _Pieces(NamedTuple):
    """One colour's part: its squares, and those of its kings."""

    board: int
    kings: int


def parse_fen(text: str, side: Colour | None = None) -> Position:
    """The position that a FEN says.

    Args:
        text: the FEN.
        side: who moves, for a FEN that says ``?`` or nothing; one that does say it is believed.

    Raises:
        FenError: the text is no FEN, or does not say who moves and ``side`` is not given.
    """
    named = f"FEN {_shown(text)}"
    turn, parts = _split(text, named)
    colour = _TURNS.get(turn, side if turn in ("", "?") else None)
    if colour is None:
        wanted = ", or the side given beside the FEN" if turn in ("", "?") else f", as in {_EXAMPLE}"
        raise FenError(f"{named}: the side to move is {_shown(turn)}; right would be B or W{wanted}")
    sides: dict[str, _Pieces] = {}
    for part in filter(None, parts):
        letter = part[0].upper()
        if letter not in _TURNS:
            raise FenError(f"{named}: {_shown(part)} does not begin with W or B; right would be {_EXAMPLE}")
        if letter in sides:
            raise FenError(f"{named} gives the pieces of {letter} twice; right would be one part for W and one for B")
        sides[letter] = _pieces(part[1:], named)
    nothing = _Pieces(0, 0)
    black, white = sides.get("B", nothing), sides.get("W", nothing)
    both = black.board & white.board
    if both:
        raise FenError(f"{named}: square {_lowest(both)} holds two pieces, one of each colour")
    return Position(black.board, white.board, black.kings | white.kings, colour)


def write_fen(position: Position) -> str:
    """The FEN of a position: no ranges, squares in order, kings marked K."""
    sides = []
    for letter, board in (("W", position.white), ("B", position.black)):
        squares = (n for n in range(1, 33) if board >> (n - 1) & 1)
        sides.append(letter + ",".join(f"K{n}" if position.kings >> (n - 1) & 1 else str(n) for n in squares))
    return f"{'BW'[position.side]}:{sides[0]}:{sides[1]}"


def oddities(position: Position) -> tuple[str, ...]:
    """What no game can lead to but published positions have, in a few words each; empty for most positions."""
    men = ~position.kings
    found = {
        "no pieces": not position.pieces,
        "more than 12 pieces": max(position.black.bit_count(), position.white.bit_count()) > 12,
        "man on its own king row": position.black & men & BLACK_KING_ROW or position.white & men & WHITE_KING_ROW,
    }
    return tuple(text for text, is_so in found.items() if is_so)


def _split(text: str, named: str) -> tuple[str, list[str]]:
    """Letter of the side to move (as it stands, in upper case) and the parts that hold pieces."""
    tag = _TAG.fullmatch(text.strip())
    bare = (tag[1] if tag else text).strip().strip("\"'").strip()
    if "/" in bare:
        raise FenError(f"{named} is a chess position; right would be {_EXAMPLE}")
    turn, *parts = (part.strip() for part in bare.rstrip(". \t").split(":"))
    while parts and _COUNTER.fullmatch(parts[-1]):
        parts.pop()
    if turn[:1].upper() in _TURNS and len(turn) > 1 and _ITEM.match(turn[1:].strip()):
        turn, parts = "", [turn, *parts]  # it begins with pieces: nobody says who moves
    if not 1 <= len(parts) <= 2:
        raise FenError(
            f"{named} has not three parts separated by colons: the side to move, White's and Black's pieces; "
            f"right would be {_EXAMPLE}"
        )
    return turn.upper(), parts


def _pieces(part: str, named: str) -> _Pieces:
    """The squares of one colour; a K before a square or before the first of a range makes kings."""
    board = kings = 0
    for item in filter(None, (item.strip() for item in part.split(","))):
        match = _ITEM.fullmatch(item)
        if not match:
            raise FenError(f"{named}: {_shown(item)} is not a square; {_advice(item)}")
        first, last = int(match[2]), int(match[4] or match[2])
        for square in (first, last):
            if not 1 <= square <= 32:
                raise FenError(f"{named}: square {square} is not on the board; squares are 1 to 32")
        if last < first:
            raise FenError(f"{named}: the range {item!r} runs backwards; right would be {last}-{first}")
        if match[3] and not match[1]:
            raise FenError(f"{named}: the range {item!r} begins with a man and ends with a king")
        squares = (1 << last) - (1 << (first - 1))
        if board & squares:
            raise FenError(f"{named}: square {_lowest(board & squares)} is named twice")
        board |= squares
        kings |= squares if match[1] else 0
    return _Pieces(board, kings)


def _advice(item: str) -> str:
    if _ALGEBRAIC.fullmatch(item):
        return "squares are numbers here, 1 to 32, not letters with numbers"
    if re.fullmatch(r"[K0-9\s]+", item, re.IGNORECASE) and " " in item:
        return "squares are separated by commas"
    return "right would be a number from 1 to 32, with K before it for a king"


def _lowest(board: int) -> int:
    """Number of the lowest square on a board."""
    return (board & -board).bit_length()


def _shown(text: str) -> str:
    """The text as a message can hold it: on one line, and not too long."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "...")
