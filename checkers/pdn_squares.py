"""Squares named by letter and number, and the start position of a record (theory.md 7.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from checkers.pdn_games import ENGLISH, game_type
from checkers.pdn_warnings import PdnWarning, WarningKind
from checkers.position import Colour, Position

#: How squares are named where no tag says it.
Squares = Literal["numeric", "algebraic"]

_NOTATION = re.compile(r"\s*\d+\s*,\s*[WBwb]?\s*,\s*\d+\s*,\s*\d+\s*,\s*([ANSans])([0-3]?)")
_COORDINATE = re.compile(r"([a-j])(10|[1-9])", re.IGNORECASE)
_NO_PIECES = re.compile(r"\s*([BW?]?)\s*(?::\s*[BW]?\s*){1,2}\.?\s*$", re.IGNORECASE)
_UNKNOWN_SIDE = re.compile(r"\s*\?")
_BLACK_CROWN, _WHITE_CROWN = 0xF0000000, 0x0000000F


def algebraic_corner(tags: Mapping[str, str], squares: Squares) -> int | None:
    """The corner that a1 is, seen by the side that starts, if this record's squares are algebraic; otherwise None.

    0 bottom left (as in ``21,B,8,8,A0,0``), 1 bottom right, 2 top left, 3 top right.
    """
    notation = _NOTATION.match(tags.get("GameType", "")) if game_type(tags) == ENGLISH else None
    if notation and notation[1] in "Aa":
        return int(notation[2] or 0)
    if notation and notation[1] in "Nn":
        return None
    return 0 if squares == "algebraic" else None


@lru_cache(maxsize=1024)
def _number(file: str, rank: int, corner: int) -> int | None:
    """The number of an algebraic square, None if it is a light square or not on the board."""
    column, row = ord(file.lower()) - ord("a"), rank - 1
    if column > 7 or row > 7:
        return None
    column = 7 - column if corner & 1 == 0 else column  # now from the left as White sees it
    row = 7 - row if corner & 2 else row  # from Black's edge
    return row * 4 + column // 2 + 1 if (row + column) % 2 else None


def numeric_move(text: str, corner: int) -> str | None:
    """An algebraic move with numbers instead, None if one of its squares is no square of play."""
    numbers = [_number(file, int(rank), corner) for file, rank in _COORDINATE.findall(text)]
    return None if None in numbers or len(numbers) < 2 else "-".join(map(str, numbers))


def numeric_fen(fen: str, corner: int) -> str:
    """A FEN with algebraic squares with numbers instead; squares that are none stay as they are."""
    return _COORDINATE.sub(lambda match: str(_number(match[1], int(match[2]), corner) or match[0]), fen)


def positions_of(fen: str) -> tuple[list[Position], list[PdnWarning]]:
    """The positions that the FEN of a record may mean, the likelier first, and what is odd about them.

    Published problems have men on their own king row and once an empty board. Where the side to move is ``?`` the
    moves have to tell which of two it is.

    Raises:
        FenError: the text is no FEN.
    """
    empty, warnings = _NO_PIECES.match(fen), []
    if empty:
        position = Position(0, 0, 0, Colour.WHITE if empty[1].upper() == "W" else Colour.BLACK)
        warnings.append(PdnWarning(WarningKind.EMPTY_BOARD, f"FEN {fen!r} has no pieces"))
    else:
        position = Position.from_fen(_UNKNOWN_SIDE.sub("B", fen, count=1))
    positions = [position]
    if _UNKNOWN_SIDE.match(fen):
        positions.append(position._replace(side=Colour.WHITE))
        warnings.append(PdnWarning(WarningKind.SIDE_UNKNOWN, f"FEN {fen[:60]!r}: who moves is seen from the moves"))
    men = ~position.kings
    if position.black & men & _BLACK_CROWN or position.white & men & _WHITE_CROWN:
        warnings.append(PdnWarning(WarningKind.MAN_ON_KING_ROW, f"FEN {fen[:120]!r}"))
    return positions, warnings
