"""Replay kernel: the squares of a recorded game to move codes and positions, one call per game (theory.md 7.5, 7.8).

A recorded game is one array of bytes: for each move the number of squares named, then the squares. Moves are matched by
their squares alone: the first is where the piece starts, the last where it ends, those between lie on the way in order.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint32

from checkers.jit import helper, kernel
from checkers.movegen import JUMPS_SHIFT, STEPS_SHIFT, generate

#: Every move was found; the third number returned is that of the legal moves left in the final position.
DONE = 0
#: No legal move answers to a move's squares.
ILLEGAL = 1
#: Moves with different results do, and no choice was given; the third number returned is how many results.
AMBIGUOUS = 2


@helper
def _neighbour(square: Any, direction: Any) -> Any:
    """The square index (0-31) one step away on the board; see :func:`checkers.movegen.step` for the directions."""
    odd = (square >> 2) & 1
    if direction == 0:
        return square + 4 - odd
    if direction == 1:
        return square + 5 - odd
    if direction == 2:
        return square - 4 - odd
    return square - 3 - odd


@helper
def _answers(code: Any, record: Any, at: Any) -> Any:
    """How the move answers to the squares at ``record[at:]``: 0 not at all, 1 passes them, 2 passes nothing else."""
    count = int64(record[at])
    square = int64(code & uint32(31))
    if square + 1 != record[at + 1]:
        return 0
    jumps = int64((code >> uint32(JUMPS_SHIFT)) & uint32(15))
    steps = max(jumps, 1)
    met = 1  # squares of the record met so far
    for i in range(steps):
        direction = int64((code >> uint32(STEPS_SHIFT + 2 * i)) & uint32(3))
        square = _neighbour(square, direction)
        if jumps > 0:
            square = _neighbour(square, direction)
        if i == steps - 1:
            if met != count - 1 or square + 1 != record[at + count]:
                return 0
        elif met < count - 1 and square + 1 == record[at + 1 + met]:
            met += 1
    return 2 if count == steps + 1 else 1


@helper
def _same_result(moves: Any, i: Any, j: Any) -> Any:
    """Whether two moves in a buffer lead to one position."""
    return moves[i, 0] == moves[j, 0] and moves[i, 1] == moves[j, 1] and moves[i, 2] == moves[j, 2]


@helper
def _find(moves: Any, count: Any, record: Any, at: Any, choice: Any) -> Any:
    """The row of the move with the squares at ``record[at:]``, and how many different results the squares allow.

    Of several results the one numbered ``choice`` (from 1) is taken; with a choice of 0 the first.
    """
    row: Any = int64(-1)
    results = int64(0)
    for i in range(count):
        answer = _answers(moves[i, 3], record, at)
        if answer == 2:
            return i, int64(1)
        if answer == 1:
            new = True
            for j in range(i):
                if _same_result(moves, i, j) and _answers(moves[j, 3], record, at) == 1:
                    new = False
                    break
            if new:
                results += 1
                if results == 1 or results == choice:
                    row = i
    return row, results


@kernel("UniTuple(int64,3)(uint8[::1],int64,uint8[::1],uint32[::1],uint32[:,::1],uint32[:,::1])")
def replay(record: Any, plies: Any, choices: Any, codes: Any, positions: Any, moves: Any) -> Any:
    """Replay ``plies`` moves from ``positions[0]``; return (plies made, DONE, ILLEGAL or AMBIGUOUS, a number).

    Args:
        record: the game as described above, bytes.
        plies: its number of moves.
        choices: shape (plies,); which result (from 1) to take where squares allow several, 0 for none chosen.
        codes: shape (plies,); receives the move codes (:mod:`checkers.movegen`).
        positions: shape (plies + 1, 4); black, white, kings, side; row 0 is the start, the others are written.
        moves: a move buffer.
    """
    black, white, kings = positions[0, 0], positions[0, 1], positions[0, 2]
    side = int64(positions[0, 3])
    at = int64(0)
    for ply in range(plies):
        own = black if side == 0 else white
        opp = white if side == 0 else black
        count = generate(own, opp, kings, side, moves, 0)
        row, results = _find(moves, count, record, at, choices[ply])
        if row < 0:
            return ply, int64(ILLEGAL), int64(0)
        if results > 1 and choices[ply] == 0:
            return ply, int64(AMBIGUOUS), results
        black = moves[row, 0] if side == 0 else moves[row, 1]
        white = moves[row, 1] if side == 0 else moves[row, 0]
        kings = moves[row, 2]
        side = 1 - side
        codes[ply] = moves[row, 3]
        positions[ply + 1, 0] = black
        positions[ply + 1, 1] = white
        positions[ply + 1, 2] = kings
        positions[ply + 1, 3] = uint32(side)
        at += int64(record[at]) + 1
    own = black if side == 0 else white
    opp = white if side == 0 else black
    return int64(plies), int64(DONE), generate(own, opp, kings, side, moves, 0)
