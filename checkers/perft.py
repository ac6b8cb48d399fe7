"""Perft of positions: counts of move sequences, for proving a move generator (theory.md 7.1)."""

from __future__ import annotations

from checkers.movegen import new_buffer
from checkers.movegen import perft as perft_kernel
from checkers.position import Position


def perft_count(position: Position, depth: int) -> int:
    """Number of move sequences of ``depth`` plies, every capture path counted; 1 at depth 0."""
    if depth == 0:
        return 1
    board = (position.own, position.opponent, position.kings, int(position.side))
    return int(perft_kernel(*board, depth, new_buffer(), 0))


def divide_perft(position: Position, depth: int) -> dict[str, int]:
    """The count under each move, in the generator's order."""
    return {str(move): perft_count(position.play(move), depth - 1) for move in position.legal_moves()}
