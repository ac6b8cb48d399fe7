"""English draughts on a plain 8x8 board, written from the rules alone: no bit tricks, nothing of the kernels.

Rows count from 0 at the top (squares 1-4) to 7, columns from 0 at the left. Square 1 is row 0, column 1. Black's men go
down, White's go up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

BLACK, WHITE = "black", "white"
MAN, KING = "man", "king"
Piece = tuple[str, str]


@cache
def place(square: int) -> tuple[int, int]:
    """Row and column of a square."""
    row, index = divmod(square - 1, 4)
    return row, 2 * index + (1 if row % 2 == 0 else 0)


SQUARE_AT = {place(square): square for square in range(1, 33)}


@cache
def ahead(square: int, down: int, right: int) -> int | None:
    """The square one step away, or None when it would be off the board."""
    row, column = place(square)
    return SQUARE_AT.get((row + down, column + right))


@dataclass(frozen=True)
class MailboxMove:
    """The squares a piece passes, its start first, and the squares it captures, in order."""

    path: tuple[int, ...]
    captures: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mailbox:
    """What stands where, and who moves."""

    pieces: tuple[tuple[int, Piece], ...]
    side: str = BLACK

    @classmethod
    def of(cls, pieces: dict[int, Piece], side: str) -> Mailbox:
        return cls(tuple(sorted(pieces.items())), side)

    @classmethod
    def start(cls) -> Mailbox:
        black = dict.fromkeys(range(1, 13), (BLACK, MAN))
        white = dict.fromkeys(range(21, 33), (WHITE, MAN))
        return cls.of(black | white, BLACK)

    @classmethod
    def from_boards(cls, black: int, white: int, kings: int, side: int) -> Mailbox:
        """From the product's four integers."""
        pieces = {}
        for square in range(1, 33):
            kind = KING if kings & 2 ** (square - 1) else MAN
            if black & 2 ** (square - 1):
                pieces[square] = (BLACK, kind)
            elif white & 2 ** (square - 1):
                pieces[square] = (WHITE, kind)
        return cls.of(pieces, WHITE if side == 1 else BLACK)

    def boards(self) -> tuple[int, int, int, int]:
        """As the product's four integers."""
        black = sum(2 ** (square - 1) for square, (colour, _) in self.pieces if colour == BLACK)
        white = sum(2 ** (square - 1) for square, (colour, _) in self.pieces if colour == WHITE)
        kings = sum(2 ** (square - 1) for square, (_, kind) in self.pieces if kind == KING)
        return black, white, kings, int(self.side == WHITE)


def directions(piece: Piece) -> list[tuple[int, int]]:
    """The ways a piece may go: forwards for a man, all four for a king."""
    colour, kind = piece
    rows = [1, -1] if kind == KING else [1] if colour == BLACK else [-1]
    return [(down, right) for down in rows for right in (-1, 1)]


def is_king_row(square: int, colour: str) -> bool:
    """Whether a man of this colour is crowned here."""
    return place(square)[0] == (7 if colour == BLACK else 0)


def jumps_on(
    board: dict[int, Piece], piece: Piece, path: tuple[int, ...], taken: tuple[int, ...]
) -> Iterator[MailboxMove]:
    """Every way to go on with a capture, each to its end. Captured pieces stay on the board until then.

    ``board`` is without the moving piece: the square it left is empty while it jumps.
    """
    at = path[-1]
    ended = True
    crowned = len(path) > 1 and piece[1] == MAN and is_king_row(at, piece[0])
    for down, right in [] if crowned else directions(piece):
        over = ahead(at, down, right)
        if over is None or over not in board or board[over][0] == piece[0] or over in taken:
            continue
        to = ahead(over, down, right)
        if to is None or to in board:
            continue
        ended = False
        yield from jumps_on(board, piece, (*path, to), (*taken, over))
    if ended and taken:
        yield MailboxMove(path, taken)


def legal_moves(position: Mailbox) -> list[MailboxMove]:
    """All legal moves: the captures if there is one, else the steps."""
    board = dict(position.pieces)
    captures: list[MailboxMove] = []
    steps: list[MailboxMove] = []
    for square, piece in position.pieces:
        if piece[0] != position.side:
            continue
        others = {s: p for s, p in board.items() if s != square}
        captures += jumps_on(others, piece, (square,), ())
        for down, right in directions(piece):
            to = ahead(square, down, right)
            if to is not None and to not in board:
                steps.append(MailboxMove((square, to)))
    return captures or steps


def play(position: Mailbox, move: MailboxMove) -> Mailbox:
    """The position after a legal move."""
    board = dict(position.pieces)
    colour, kind = board.pop(move.path[0])
    for square in move.captures:
        del board[square]
    if is_king_row(move.path[-1], colour):
        kind = KING
    board[move.path[-1]] = (colour, kind)
    return Mailbox.of(board, WHITE if colour == BLACK else BLACK)


def perft(position: Mailbox, depth: int, known: dict[tuple[Mailbox, int], int] | None = None) -> int:
    """Move sequences of this many plies, every capture path counted; positions met twice are counted once."""
    if depth == 0:
        return 1
    known = {} if known is None else known
    if (position, depth) not in known:
        moves = legal_moves(position)
        known[position, depth] = (
            len(moves) if depth == 1 else sum(perft(play(position, move), depth - 1, known) for move in moves)
        )
    return known[position, depth]


def perft_distinct(position: Mailbox, depth: int, known: dict[tuple[Mailbox, int], int] | None = None) -> int:
    """The same, moves from one position with the same result counted once."""
    if depth == 0:
        return 1
    known = {} if known is None else known
    if (position, depth) not in known:
        results = {play(position, move) for move in legal_moves(position)}
        known[position, depth] = sum(perft_distinct(result, depth - 1, known) for result in results)
    return known[position, depth]


def half_turn(position: Mailbox) -> Mailbox:
    """Colours exchanged, board turned."""
    other = {BLACK: WHITE, WHITE: BLACK}
    pieces = {33 - square: (other[colour], kind) for square, (colour, kind) in position.pieces}
    return Mailbox.of(pieces, other[position.side])
