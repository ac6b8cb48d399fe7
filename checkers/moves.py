"""Moves as values: squares passed and captured, PDN text, and the legal moves of a position."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from checkers.errors import AmbiguousMoveError, IllegalMoveError, InvalidMoveError
from checkers.position import Colour, Position

JUMP_BITS = 5
STEP_BITS = 9


class Move(NamedTuple):
    """A move: the squares it passes (start first), the squares it captures, and its code in the kernels.

    The code (see :mod:`checkers.movegen`) says the whole path, so two moves of one position are equal when their codes
    are.
    """

    path: tuple[int, ...]
    captures: tuple[int, ...]
    code: int

    @property
    def origin(self) -> int:
        """The square the piece leaves."""
        return self.path[0]

    @property
    def target(self) -> int:
        """The square the piece ends on."""
        return self.path[-1]

    @property
    def is_capture(self) -> bool:
        """Whether the move captures."""
        return bool(self.captures)

    def __str__(self) -> str:
        """PDN text; a capture with its full path: ``10x17x26``."""
        return ("x" if self.captures else "-").join(map(str, self.path))

    @staticmethod
    def from_code(code: int) -> Move:
        """The move that a kernel's code stands for."""
        return _move_of(code)


@functools.lru_cache(maxsize=1 << 16)
def _move_of(code: int) -> Move:
    square, jumps = code & 31, code >> JUMP_BITS & 15
    path, captures = [square + 1], []
    for i in range(max(jumps, 1)):
        direction = code >> (STEP_BITS + 2 * i) & 3
        square = _neighbour(square, direction)
        if jumps:
            captures.append(square + 1)
            square = _neighbour(square, direction)
        path.append(square + 1)
    return Move(tuple(path), tuple(captures), code)


def _neighbour(square: int, direction: int) -> int:
    """The index (0-31) one step away; directions as in :mod:`checkers.movegen`."""
    even = square // 4 % 2 == 0
    return square + ((4, 5, -4, -3) if even else (3, 4, -5, -4))[direction]


def legal_moves(position: Position) -> list[Move]:
    """All legal moves in the generator's order; every capture path is a move of its own."""
    from checkers.movegen import legal_move_codes

    codes = legal_move_codes(position.own, position.opponent, position.kings, int(position.side))
    return [Move.from_code(code) for code in codes.tolist()]


def play(position: Position, move: Move) -> Position:
    """The position after ``move``, which must be legal."""
    bit_from, bit_to = 1 << (move.path[0] - 1), 1 << (move.path[-1] - 1)
    black, white, kings, side = position
    taken = 0
    for square in move.captures:
        taken |= 1 << (square - 1)
    own = ((white if side else black) & ~bit_from) | bit_to
    opponent = (black if side else white) & ~taken
    crown = 0xF if side else 0xF0000000
    royal = kings & bit_from or bit_to & crown
    kings = kings & ~bit_from & ~taken
    if royal:
        kings |= bit_to
    return Position(opponent, own, kings, Colour.BLACK) if side else Position(own, opponent, kings, Colour.WHITE)


_MOVE_TEXT = re.compile(r"\s*[0-9]{1,2}(\s*[-x:]\s*[0-9]{1,2})+\s*$", re.IGNORECASE)


def parse_move(position: Position, text: str) -> Move:
    """The legal move that ``text`` names.

    Accepted: ``9-13``, ``22x15``, full, partial or short capture paths (``22x8``), x for a quiet move, - for a capture.
    Several paths with one result are one move (the first is returned).

    Raises:
        InvalidMoveError: the text is not a move.
        IllegalMoveError: no legal move answers to it.
        AmbiguousMoveError: moves with different results answer to it.
    """
    if not _MOVE_TEXT.match(text):
        raise InvalidMoveError(f"{text!r} is not a move; right would be 11-15 or 22x15, in {position.fen()}")
    squares = [int(n) for n in re.findall(r"\d+", text)]
    moves = legal_moves(position)
    found = [move for move in moves if answers_to(move, squares)]
    if not found:
        legal = ", ".join(map(str, moves)) or "none"
        raise IllegalMoveError(f"{text.strip()!r} is not legal in {position.fen()}; legal moves: {legal}")
    exact = [move for move in found if list(move.path) == squares]
    if exact:
        return exact[0]
    if len({play(position, move) for move in found}) > 1:
        raise AmbiguousMoveError(f"{text.strip()!r} may be {' or '.join(map(str, found))} in {position.fen()}")
    return found[0]


def answers_to(move: Move, squares: list[int]) -> bool:
    """Whether the squares name the move: same ends, and the squares between are passed in this order."""
    if squares[0] != move.path[0] or squares[-1] != move.path[-1]:
        return False
    passed = iter(move.path[1:-1])
    return all(square in passed for square in squares[1:-1])
