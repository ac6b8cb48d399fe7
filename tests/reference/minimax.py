"""Plain minimax over all moves: no bounds, no table, no ordering, no deepening.

As in the search it checks, a position without moves is lost in as many plies as have been made, and below depth 0 play
goes on while the side to move must capture. Values are those of the side to move.
"""

from __future__ import annotations

import numpy as np

from checkers.evaluation import Evaluation, evaluate_rows
from checkers.position import Position

LOSS = -1000.0


def static_value(position: Position, evaluation: Evaluation) -> float:
    """The evaluation, turned round: it speaks for the side that has just moved."""
    out = np.zeros(1, np.float32)
    black, white, kings, side = position
    evaluate_rows(np.array([[black, white, kings, int(side)]], np.uint32), evaluation, out)
    return -float(out[0])


def minimax(position: Position, depth: int, evaluation: Evaluation, ply: int = 0) -> float:
    """The value of a position ``ply`` plies below the root."""
    moves = position.legal_moves()
    if not moves:
        return LOSS + ply
    if depth <= 0 and not moves[0].is_capture:
        return static_value(position, evaluation)
    return max(-minimax(position.play(move), depth - 1, evaluation, ply + 1) for move in moves)


def move_values(position: Position, depth: int, evaluation: Evaluation) -> dict[int, float]:
    """The value of each legal move, by code, for the side that makes it."""
    return {move.code: -minimax(position.play(move), depth - 1, evaluation, 1) for move in position.legal_moves()}
