"""Positions of English draughts; :mod:`checkers.fen` and :mod:`checkers.diagram` write them (theory.md 7.5)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

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
    def from_fen(cls, text: str, side: Colour | None = None) -> Position:
        """Read a FEN such as ``B:W21-32:B1-12`` or ``W:WK4,28:BK11,19.``; see :func:`checkers.fen.parse_fen`.

        ``side`` is who moves where the FEN says ``?`` or nothing. Raises :class:`checkers.errors.FenError`.
        """
        from checkers.fen import parse_fen

        return parse_fen(text, side)

    def fen(self) -> str:
        """The FEN, squares in order, kings marked K."""
        from checkers.fen import write_fen

        return write_fen(self)

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

    def board(self, *, bottom: Colour = Colour.WHITE, unicode: bool = False, numbers: bool = False) -> str:
        """The board as eight lines of text: b w men, B W kings, ``.`` empty dark squares.

        See :func:`checkers.diagram.text_board`.
        """
        from checkers.diagram import text_board

        return text_board(self, bottom=bottom, unicode=unicode, numbers=numbers)

    def svg(
        self, *, bottom: Colour = Colour.WHITE, numbers: bool = True, move: Move | None = None, size: int = 400
    ) -> str:
        """The board as an SVG document; see :func:`checkers.diagram.svg_board`."""
        from checkers.diagram import svg_board

        return svg_board(self, bottom=bottom, numbers=numbers, move=move, size=size)

    def _repr_svg_(self) -> str:
        """How notebooks show a position."""
        return self.svg()
