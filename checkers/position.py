"""Positions of English draughts, their FEN and their text board (theory.md 7.5)."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from checkers.errors import FenError

if TYPE_CHECKING:
    from checkers.moves import Move

FULL = 0xFFFFFFFF


class Colour(IntEnum):
    """The two sides; Black starts and moves up in number."""

    BLACK = 0
    WHITE = 1

    @property
    def other(self) -> Colour:
        """The opponent's colour."""
        return Colour(1 - self)


def _reverse_bits(board: int) -> int:
    return int(f"{board:032b}"[::-1], 2)


class Position(NamedTuple):
    """A position: the squares of Black, of White and of all kings as 32-bit boards (square n is bit n - 1)."""

    black: int
    white: int
    kings: int
    side: Colour

    @classmethod
    def start(cls) -> Position:
        """The position that a game starts from."""
        return cls(0x00000FFF, 0xFFF00000, 0, Colour.BLACK)

    @classmethod
    def from_fen(cls, text: str) -> Position:
        """Read a FEN such as ``B:W21-32:B1-12`` or ``W:WK4,28:BK11,19.``; raise :class:`FenError` when it is none."""
        return _parse_fen(text)

    def fen(self) -> str:
        """The FEN, squares in order, kings marked K."""
        sides = []
        for letter, board in (("W", self.white), ("B", self.black)):
            squares = (n for n in range(1, 33) if board >> (n - 1) & 1)
            sides.append(letter + ",".join(f"K{n}" if self.kings >> (n - 1) & 1 else str(n) for n in squares))
        return f"{'BW'[self.side]}:{sides[0]}:{sides[1]}"

    @property
    def own(self) -> int:
        """Board of the side to move."""
        return self.white if self.side else self.black

    @property
    def opponent(self) -> int:
        """Board of the side that is not to move."""
        return self.black if self.side else self.white

    @property
    def pieces(self) -> int:
        """Number of pieces on the board."""
        return (self.black | self.white).bit_count()

    def half_turn(self) -> Position:
        """The same position with the colours exchanged: square n becomes 33 - n (theory.md 9.10)."""
        return Position(
            _reverse_bits(self.white), _reverse_bits(self.black), _reverse_bits(self.kings), self.side.other
        )

    def legal_moves(self) -> list[Move]:
        """All legal moves, in the generator's order; every capture path is a move of its own."""
        from checkers.moves import legal_moves

        return legal_moves(self)

    def move(self, text: str) -> Move:
        """The legal move that ``text`` names, in PDN notation; see :func:`checkers.moves.parse_move`."""
        from checkers.moves import parse_move

        return parse_move(self, text)

    def play(self, move: Move) -> Position:
        """The position after a legal move."""
        from checkers.moves import play

        return play(self, move)

    def board(self) -> str:
        """The board as eight lines of text: b w men, B W kings, ``.`` empty dark squares."""
        lines = []
        for row in range(8):
            cells = []
            for column in range(4):
                bit = 1 << (row * 4 + column)
                cell = "b" if self.black & bit else "w" if self.white & bit else "."
                cells.append(cell.upper() if self.kings & bit else cell)
            lines.append("  " + "   ".join(cells) if row % 2 == 0 else "   ".join(cells) + "  ")
        return "\n".join(line.rstrip() for line in lines)


_SQUARES = re.compile(r"(K?)(\d{1,4})(?:-(\d{1,4}))?$", re.IGNORECASE)


def _parse_side(part: str, text: str) -> tuple[str, int, int]:
    """Colour letter, board and kings of one colour's part of a FEN."""
    letter = part[:1].upper()
    if letter not in ("W", "B"):
        raise FenError(f"FEN {text!r}: {part!r} does not begin with W or B; right would be B:W21-32:B1-12")
    board = kings = 0
    for item in filter(None, (s.strip() for s in part[1:].split(","))):
        match = _SQUARES.match(item)
        if not match:
            raise FenError(
                f"FEN {text!r}: {item!r} is not a square; right would be a number from 1 to 32, with K for a king"
            )
        first, last = int(match[2]), int(match[3] or match[2])
        for square in (first, last):
            if not 1 <= square <= 32:
                raise FenError(f"FEN {text!r}: square {square} is not on the board; squares are 1 to 32")
        if last < first:
            raise FenError(f"FEN {text!r}: the range {item!r} runs backwards")
        for square in range(first, last + 1):
            bit = 1 << (square - 1)
            if board & bit:
                raise FenError(f"FEN {text!r}: square {square} is named twice")
            board |= bit
            if match[1]:
                kings |= bit
    return letter, board, kings


def _parse_fen(text: str) -> Position:
    parts = [part.strip() for part in text.strip().rstrip(".").split(":")]
    if len(parts) != 3:
        raise FenError(f"FEN {text!r} has not three parts separated by colons; right would be B:W21-32:B1-12")
    turn = parts[0].upper()
    if turn not in ("B", "W"):
        raise FenError(f"FEN {text!r}: the side to move is {parts[0]!r}; right would be B or W")
    first, second = _parse_side(parts[1], text), _parse_side(parts[2], text)
    if first[0] == second[0]:
        raise FenError(
            f"FEN {text!r} gives the pieces of {first[0]} twice; right would be one part for W and one for B"
        )
    boards = {first[0]: first[1], second[0]: second[1]}
    both = boards["B"] & boards["W"]
    if both:
        raise FenError(f"FEN {text!r}: square {both.bit_length()} holds two pieces")
    return Position(boards["B"], boards["W"], first[2] | second[2], Colour.BLACK if turn == "B" else Colour.WHITE)
