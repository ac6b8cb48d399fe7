"""Features 1-12 of NET-FEATUREMAP on sets of squares, read off the table of theory.md 4.1.

"Own" is the side that has just moved; when that is White the board is turned, so that own men move up in number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.reference.mailbox import SQUARE_AT, ahead, place

CENTRE = {10, 11, 14, 15, 18, 19, 22, 23}
DOUBLE_DIAGONALS = {1, 6, 10, 15, 19, 24, 28} | {5, 9, 14, 18, 23, 27, 32}
EDGE = {square for square in range(1, 33) if {0, 7} & set(place(square))}
UP_IN_NUMBER, DOWN_IN_NUMBER = [(1, -1), (1, 1)], [(-1, -1), (-1, 1)]


@dataclass(frozen=True)
class View:
    """The squares of the side that has just moved and of its opponent, men of ``own`` moving up in number."""

    own: frozenset[int]
    opp: frozenset[int]
    kings: frozenset[int]

    @property
    def own_men(self) -> frozenset[int]:
        return self.own - self.kings

    @property
    def opp_men(self) -> frozenset[int]:
        return self.opp - self.kings

    @property
    def empty(self) -> set[int]:
        return set(SQUARE_AT.values()) - self.own - self.opp


def view(black: Iterable[int], white: Iterable[int], kings: Iterable[int], mover: int) -> View:
    """The view of the side that has just moved, 0 Black or 1 White."""
    if mover == 0:
        return View(frozenset(black), frozenset(white), frozenset(kings))
    return View(*(frozenset(33 - square for square in squares) for squares in (white, black, kings)))


def ways(v: View, square: int) -> list[tuple[int, int]]:
    """The directions in which the piece on a square may go."""
    if square in v.kings:
        return UP_IN_NUMBER + DOWN_IN_NUMBER
    return UP_IN_NUMBER if square in v.own else DOWN_IN_NUMBER


def jump_directions(v: View, square: int) -> int:
    """The number of directions in which the piece on a square can jump."""
    victims = v.opp if square in v.own else v.own
    count = 0
    for down, right in ways(v, square):
        over = ahead(square, down, right)
        if over in victims and over is not None and ahead(over, down, right) in v.empty:
            count += 1
    return count


def reach(v: View) -> set[int]:
    """The empty squares to which opp can make a simple move, compulsory captures left out of account."""
    return {square for piece in v.opp for way in ways(v, piece) if (square := ahead(piece, *way)) in v.empty}


def balance(v: View) -> int:
    """Material of own less opp's: a man 2, a king 3."""
    return sum(3 if s in v.kings else 2 for s in v.own) - sum(3 if s in v.kings else 2 for s in v.opp)


def jumpers(v: View, pieces: Iterable[int]) -> int:
    """Pieces that can jump, those with two or more directions counted twice."""
    return sum(min(jump_directions(v, square), 2) for square in pieces)


def advancement(v: View) -> int:
    return sum(17 <= s <= 24 for s in v.own_men) - sum(9 <= s <= 16 for s in v.own_men) + 4


def is_exposed(v: View, square: int) -> bool:
    """Whether both neighbours along a diagonal are empty; never on the edge."""
    if square in EDGE:
        return False
    diagonals = [(ahead(square, -1, -1), ahead(square, 1, 1)), (ahead(square, -1, 1), ahead(square, 1, -1))]
    return any(all(neighbour in v.empty for neighbour in pair) for pair in diagonals)


def bridge(v: View) -> int:
    return int(not v.opp & v.kings and {1, 3} <= v.own_men)


def extended_centre(v: View) -> int:
    return sum(square in v.opp_men or square in reach(v) for square in CENTRE)


#: Bits and definition of each feature, in order.
FEATURES: dict[str, tuple[int, Callable[[View], int]]] = {
    "PieceAdvantage": (4, balance),
    "PieceDisadvantage": (4, lambda v: -balance(v)),
    "PieceThreat": (3, lambda v: jumpers(v, v.opp)),
    "PieceTake": (3, lambda v: jumpers(v, v.own)),
    "Advancement": (3, advancement),
    "DoubleDiagonal": (4, lambda v: len(v.own & DOUBLE_DIAGONALS)),
    "BackrowBridge": (1, bridge),
    "CentreControl": (3, lambda v: len(v.own_men & CENTRE)),
    "XCentreControl": (3, extended_centre),
    "TotalMobility": (4, lambda v: len(reach(v))),
    "Exposure": (3, lambda v: sum(is_exposed(v, square) for square in v.own)),
    "KingCentreControl": (3, lambda v: len(v.own & v.kings & CENTRE)),
}


def squares_of(board: int) -> set[int]:
    """The squares of one of the product's boards."""
    return {square for square in range(1, 33) if board // 2 ** (square - 1) % 2}


def feature_values(position: tuple[int, int, int, int], mover: int) -> list[int]:
    """Features of a position (boards of Black, White and the kings, side) seen by ``mover``, clamped to their bits."""
    black, white, kings, _ = position
    v = view(squares_of(black), squares_of(white), squares_of(kings), mover)
    return [min(max(define(v), 0), 2**bits - 1) for bits, define in FEATURES.values()]


def feature_bits(values: Iterable[int]) -> list[int]:
    """The values in binary, the least-significant bit of each first."""
    bits = []
    for value, (width, _) in zip(values, FEATURES.values(), strict=True):
        for _ in range(width):
            bits.append(value % 2)
            value //= 2
    return bits
