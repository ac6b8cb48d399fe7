"""Move generation kernels: legal moves into a buffer, one step along a move, perft (theory.md 7.1, 7.8).

A position is ``own, opp, kings`` (uint32 boards of the side to move, of its opponent, and of all kings) and ``side``
(0 Black, 1 White). A row of a move buffer is the position after the move, still seen by the mover, and the move's code:
``own, opp, kings, code``.

Code of a move (uint32): bits 0-4 the starting square (0-31), bits 5-8 the number of jumps (0 for a quiet move), then
two bits per step for its direction (0 down-left, 1 down-right, 2 up-left, 3 up-right). A jumper meets at most 9 inner
squares of the other row parity, so every capture fits, path and captured squares included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, uint32

from checkers.bitboard import (
    BOTTOM_ROW,
    TOP_ROW,
    down_left,
    down_right,
    first_square,
    lowest,
    popcount,
    up_left,
    up_right,
    without_lowest,
)
from checkers.jit import helper, kernel

#: Rows that one position can need in a buffer; positions made to have many capture paths stay far below.
MAX_MOVES = 512
#: Rows of a buffer for a line of positions (a search or perft): real positions have at most about 50 moves.
LINE_ROWS = 128 * 64

JUMPS_SHIFT = 5
STEPS_SHIFT = 9


def new_buffer(rows: int = LINE_ROWS) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """A move buffer for ``rows`` moves."""
    return np.zeros((rows, 4), np.uint32)


@helper
def ways(own: Any, kings: Any, side: Any) -> Any:
    """The pieces of ``own`` that may move down, and those that may move up: its men one way, its kings both."""
    royal = uint32(own & kings)
    if side == 0:
        return own, royal
    return royal, own


@helper
def steppers(down: Any, up: Any, empty: Any, direction: Any) -> Any:
    """The pieces that can make a quiet move in a direction; ``down`` and ``up`` as from :func:`ways`."""
    if direction == 0:
        return uint32(down & up_right(empty))
    if direction == 1:
        return uint32(down & up_left(empty))
    if direction == 2:
        return uint32(up & down_right(empty))
    return uint32(up & down_left(empty))


@helper
def jumpers(own: Any, opp: Any, kings: Any, side: Any) -> Any:
    """The pieces of ``own`` that can capture."""
    empty = uint32(~(own | opp))
    down, up = ways(own, kings, side)
    return uint32(
        (down & up_right(uint32(opp & up_right(empty))))
        | (down & up_left(uint32(opp & up_left(empty))))
        | (up & down_right(uint32(opp & down_right(empty))))
        | (up & down_left(uint32(opp & down_left(empty))))
    )


@helper
def step(board: Any, direction: Any) -> Any:
    """A board moved one step in a direction (0 down-left, 1 down-right, 2 up-left, 3 up-right)."""
    if direction == 0:
        return down_left(board)
    if direction == 1:
        return down_right(board)
    if direction == 2:
        return up_left(board)
    return up_right(board)


@kernel("int64(uint32,uint32,uint32,int64,uint32,uint32,boolean,uint32,int64,uint32[:,::1],int64)")
def _capture_paths(
    own: Any,
    opp: Any,
    kings: Any,
    side: Any,
    origin: Any,
    at: Any,
    royal: Any,
    code: Any,
    jumps: Any,
    moves: Any,
    n: Any,
) -> Any:
    """Write every way to go on capturing from ``at`` to ``moves[n:]``; return the new n.

    ``own`` is without the moving piece. Captured pieces are taken off at once, which in English draughts gives the same
    moves as at the end (theory.md 7.8); the square the piece left counts as empty throughout.
    """
    empty = uint32(~(own | opp | at))
    crown = BOTTOM_ROW if side == 0 else TOP_ROW
    any_jump = False
    for direction in range(4):
        if (not royal) and ((side == 0) != (direction < 2)):
            continue
        taken = uint32(step(at, direction) & opp)
        to = uint32(step(taken, direction) & empty)
        if to == 0:
            continue
        any_jump = True
        further = uint32(code | (uint32(direction) << uint32(STEPS_SHIFT + 2 * jumps)))
        if (not royal) and (to & crown) != 0:  # a man that reaches the king row stops there
            moves[n, 0] = uint32(own | to)
            moves[n, 1] = uint32(opp & ~taken)
            moves[n, 2] = uint32((kings & ~taken) | to)
            moves[n, 3] = uint32(further | (uint32(jumps + 1) << uint32(JUMPS_SHIFT)))
            n += 1
        else:
            n = _capture_paths(
                own, uint32(opp & ~taken), uint32(kings & ~taken), side, origin, to, royal, further, jumps + 1, moves, n
            )
    if not any_jump and jumps > 0:
        moves[n, 0] = uint32(own | at)
        moves[n, 1] = opp
        moves[n, 2] = uint32(kings | at) if royal else kings
        moves[n, 3] = uint32(code | (uint32(jumps) << uint32(JUMPS_SHIFT)))
        n += 1
    return n


@kernel("int64(uint32,uint32,uint32,int64,uint32,uint32[:,::1],int64)")
def generate_captures(own: Any, opp: Any, kings: Any, side: Any, who: Any, moves: Any, base: Any) -> Any:
    """Write the captures of the pieces ``who`` (from :func:`jumpers`) to ``moves[base:]``; return their number."""
    n = base
    while who != 0:
        piece = lowest(who)
        who = without_lowest(who)
        royal = (piece & kings) != 0
        n = _capture_paths(
            uint32(own & ~piece),
            opp,
            uint32(kings & ~piece),
            side,
            piece,
            piece,
            royal,
            uint32(first_square(piece)),
            0,
            moves,
            n,
        )
    return n - base


@helper
def generate_quiet(own: Any, opp: Any, kings: Any, side: Any, moves: Any, base: Any) -> Any:
    """Write the quiet moves to ``moves[base:]``; return their number."""
    empty = uint32(~(own | opp))
    down, up = ways(own, kings, side)
    crown = BOTTOM_ROW if side == 0 else TOP_ROW
    n = base
    for direction in range(4):
        who = steppers(down, up, empty, direction)
        while who != 0:
            piece = lowest(who)
            who = without_lowest(who)
            to = step(piece, direction)
            moves[n, 0] = uint32((own & ~piece) | to)
            moves[n, 1] = opp
            if (piece & kings) != 0:
                moves[n, 2] = uint32((kings & ~piece) | to)
            else:
                moves[n, 2] = uint32(kings | (to & crown))
            moves[n, 3] = uint32(uint32(first_square(piece)) | (uint32(direction) << uint32(STEPS_SHIFT)))
            n += 1
    return n - base


@kernel("int64(uint32,uint32,uint32,int64,uint32[:,::1],int64)")
def generate(own: Any, opp: Any, kings: Any, side: Any, moves: Any, base: Any) -> Any:
    """Write the legal moves to ``moves[base:]`` (uint32, 4 columns); return their number."""
    who = jumpers(own, opp, kings, side)
    if who != 0:
        return generate_captures(own, opp, kings, side, who, moves, base)
    return generate_quiet(own, opp, kings, side, moves, base)


@helper
def count_quiet(own: Any, opp: Any, kings: Any, side: Any) -> Any:
    """Number of quiet moves."""
    empty = uint32(~(own | opp))
    down, up = ways(own, kings, side)
    count = int64(0)
    for direction in range(4):
        count += popcount(steppers(down, up, empty, direction))
    return count


@kernel("int64(uint32,uint32,uint32,int64,int64,uint32[:,::1],int64)")
def perft(own: Any, opp: Any, kings: Any, side: Any, depth: Any, moves: Any, base: Any) -> Any:
    """Number of move sequences of ``depth`` plies, every capture path counted; the last ply is counted in bulk."""
    who = jumpers(own, opp, kings, side)
    if depth == 1:
        if who == 0:
            return count_quiet(own, opp, kings, side)
        return generate_captures(own, opp, kings, side, who, moves, base)
    if who != 0:
        count = generate_captures(own, opp, kings, side, who, moves, base)
        nodes = int64(0)
        for i in range(base, base + count):
            nodes += perft(moves[i, 1], moves[i, 0], moves[i, 2], 1 - side, depth - 1, moves, base + count)
        return nodes
    # quiet moves are walked without the buffer
    empty = uint32(~(own | opp))
    down, up = ways(own, kings, side)
    crown = BOTTOM_ROW if side == 0 else TOP_ROW
    nodes = int64(0)
    for direction in range(4):
        who = steppers(down, up, empty, direction)
        while who != 0:
            piece = lowest(who)
            who = without_lowest(who)
            to = step(piece, direction)
            after = uint32((own & ~piece) | to)
            if (piece & kings) != 0:
                kings_after = uint32((kings & ~piece) | to)
            else:
                kings_after = uint32(kings | (to & crown))
            nodes += perft(opp, after, kings_after, 1 - side, depth - 1, moves, base)
    return nodes


@kernel("uint32[::1](uint32,uint32,uint32,int64)")
def legal_move_codes(own: Any, opp: Any, kings: Any, side: Any) -> Any:
    """Codes of the legal moves, shape (moves,); for callers that hold no buffer."""
    moves = np.empty((MAX_MOVES, 4), np.uint32)
    count = generate(own, opp, kings, side, moves, 0)
    return moves[:count, 3].copy()
