"""Diagrams of positions: text boards in ASCII or Unicode, and SVG (theory.md 7.5).

White is at the bottom unless asked otherwise; square 1 is then at the top, next to the left corner.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

from checkers.moves import Move
from checkers.position import Colour, Position

_ASCII = {"b": "b", "B": "B", "w": "w", "W": "W", ".": "."}
_UNICODE = {"b": "⛂", "B": "⛃", "w": "⛀", "W": "⛁", ".": "·"}

#: Side of a square in the drawing's own unit; the image can be shown at any size.
_CELL = 50
_MARGIN = 4
_SIDE = 8 * _CELL + 2 * _MARGIN
_FRAME, _LIGHT, _DARK, _TOUCHED = "#4a3520", "#f3e3c3", "#a9763f", "#6f7d22"
_LABEL, _ARROW, _CAPTURED = "#f8ecd6", "#2b8ae0", "#b3261e"
#: Fill, edge and sign of each colour's pieces.
_PAINT = {"b": ("#2a2a2a", "#0c0c0c", "#e8c15a"), "w": ("#fbf7ee", "#6b6254", "#8a5a12")}
_CROWN = "M-11,8 L-13,-7 L-6,0 L0,-10 L6,0 L13,-7 L11,8 Z"


def text_board(
    position: Position, *, bottom: Colour = Colour.WHITE, unicode: bool = False, numbers: bool = False
) -> str:
    """The board as eight lines of text.

    Args:
        position: what to show.
        bottom: the colour whose side of the board is below.
        unicode: draughts signs (⛂ ⛃ black man and king, ⛀ ⛁ white) in place of b B w W.
        numbers: the first and the last square of each row at its ends.
    """
    signs = _UNICODE if unicode else _ASCII
    lines = []
    for row in _rows(bottom):
        cells = "   ".join(signs[_piece(position, square)] for square in row)
        line = f"  {cells}" if _column(row[0], bottom) else f"{cells}  "
        lines.append((f"{row[0]:>2}  {line}  {row[-1]:>2}" if numbers else line).rstrip())
    return "\n".join(lines)


def svg_board(
    position: Position,
    *,
    bottom: Colour = Colour.WHITE,
    numbers: bool = True,
    move: Move | None = None,
    size: int = 400,
) -> str:
    """The board as an SVG document.

    Args:
        position: what to show.
        bottom: the colour whose side of the board is below.
        numbers: a small number in each dark square.
        move: a move to show as an arrow over its path, its squares tinted and its captures crossed; most often the one
            that led to ``position``.
        size: width and height in pixels.
    """
    path = move.path if move else ()
    shown = f'width="{size}" height="{size}" viewBox="0 0 {_SIDE} {_SIDE}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {shown} role="img">',
        f"<title>{_title(position, move)}</title>",
        f'<rect width="{_SIDE}" height="{_SIDE}" fill="{_FRAME}"/>',
        f'<rect x="{_MARGIN}" y="{_MARGIN}" width="{8 * _CELL}" height="{8 * _CELL}" fill="{_LIGHT}"/>',
    ]
    squares = [(square, _centre(square, bottom)) for square in range(1, 33)]
    parts += [_square(centre, square in path) for square, centre in squares]
    for square, centre in squares:
        parts += _disc(_piece(position, square), centre)
    if move:
        parts += _arrow(move, bottom)
    if numbers:
        parts += [_number(square, centre) for square, centre in squares]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _rows(bottom: Colour) -> Iterator[list[int]]:
    """The dark squares of each row, from the top, left to right."""
    order = range(1, 33) if bottom is Colour.WHITE else range(32, 0, -1)
    for row in range(8):
        yield list(order[4 * row : 4 * row + 4])


def _column(square: int, bottom: Colour) -> int:
    """Column 0-7 from the left."""
    index = square - 1 if bottom is Colour.WHITE else 32 - square
    return index % 4 * 2 + (index // 4 % 2 == 0)


def _centre(square: int, bottom: Colour) -> tuple[float, float]:
    """Where the middle of a square is drawn."""
    index = square - 1 if bottom is Colour.WHITE else 32 - square
    return _MARGIN + (_column(square, bottom) + 0.5) * _CELL, _MARGIN + (index // 4 + 0.5) * _CELL


def _piece(position: Position, square: int) -> str:
    bit = 1 << (square - 1)
    letter = "b" if position.black & bit else "w" if position.white & bit else "."
    return letter.upper() if position.kings & bit else letter


def _title(position: Position, move: Move | None) -> str:
    after = f", {move}" if move else ""
    return f"{position.side.name.capitalize()} to move: {position.fen()}{after}"


def _square(centre: tuple[float, float], touched: bool) -> str:
    x, y = centre[0] - _CELL / 2, centre[1] - _CELL / 2
    fill = _TOUCHED if touched else _DARK
    return f'<rect x="{x:g}" y="{y:g}" width="{_CELL}" height="{_CELL}" fill="{fill}" shape-rendering="crispEdges"/>'


def _number(square: int, centre: tuple[float, float]) -> str:
    """The square's number in its upper left corner, clear of the piece."""
    x, y = centre[0] - 22.5, centre[1] - 15
    return f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-size="9" fill="{_LABEL}">{square}</text>'


def _disc(piece: str, centre: tuple[float, float]) -> list[str]:
    """A piece: a disc with a ring; a king has a crown on it."""
    if piece == ".":
        return []
    fill, edge, sign = _PAINT[piece.lower()]
    x, y = centre
    parts = [f'<circle cx="{x:g}" cy="{y:g}" r="18" fill="{fill}" stroke="{edge}" stroke-width="1.5"/>']
    if piece.isupper():
        parts.append(f'<path d="{_CROWN}" transform="translate({x:g},{y:g})" fill="{sign}" stroke-linejoin="round"/>')
    else:
        ring = f'fill="none" stroke="{sign}" stroke-opacity="0.45" stroke-width="1.5"'
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="12" {ring}/>')
    return parts


def _arrow(move: Move, bottom: Colour) -> list[str]:
    """The path with a head at its end, and a cross on each captured piece."""
    points = [_centre(square, bottom) for square in move.path]
    (x0, y0), (x1, y1) = points[-2:]
    length = hypot(x1 - x0, y1 - y0)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    base = x1 - 15 * dx, y1 - 15 * dy
    line = " ".join(f"{round(x, 2):g},{round(y, 2):g}" for x, y in [*points[:-1], base])
    wings = [(base[0] - 9 * dy, base[1] + 9 * dx), (x1, y1), (base[0] + 9 * dy, base[1] - 9 * dx)]
    head = " ".join(f"{x:.2f},{y:.2f}" for x, y in wings)
    stroke = f'fill="none" stroke="{_ARROW}" stroke-width="6" stroke-linecap="round" stroke-linejoin="round"'
    parts = [
        '<g opacity="0.9">',
        f'<polyline points="{line}" {stroke}/>',
        f'<polygon points="{head}" fill="{_ARROW}"/>',
        "</g>",
    ]
    for square in move.captures:
        x, y = _centre(square, bottom)
        cross = f"M{x - 9:g},{y - 9:g} l18,18 m0,-18 l-18,18"
        parts.append(f'<path d="{cross}" stroke="{_CAPTURED}" stroke-width="4" stroke-linecap="round" fill="none"/>')
    return parts
