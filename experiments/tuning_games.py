"""Kernels that play the training games of the reference evaluation (theory.md 4.2).

The search is to a fixed depth and without a table, so that the weights and the seed alone decide what the games are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int64, types, uint32

from checkers.bitboard import popcount
from checkers.chance import random_below
from checkers.draw_tracking import MOST_PLIES, STATE, is_drawn, start_tracking, track
from checkers.evaluation import EVALUATION_TYPE, evaluate
from checkers.jit import kernel
from checkers.movegen import generate, generate_captures, generate_quiet, jumpers
from checkers.zobrist import key_after, zobrist_key

#: How a game ended, for Black; OPEN where it came down to a database's pieces.
LOSS, DRAW, WIN, OPEN = -1, 0, 1, 2
#: Most pieces of an ending, which is searched deeper.
ENDING = 10
_INFINITY = 2000.0
_LOST = -1000.0


@kernel(
    types.float32(
        types.uint32, types.uint32, types.uint32, types.int64, types.int64, types.float32, types.float32,
        types.uint32[:, ::1], types.int64, EVALUATION_TYPE, types.float32[::1],
    )
)  # fmt: skip
def _value(
    own: Any, opp: Any, kings: Any, side: Any, depth: Any, alpha: Any, beta: Any, moves: Any, base: Any,
    evaluation: Any, hidden: Any,
) -> Any:  # fmt: skip
    """Fail-soft alpha-beta for the side to move; captures are always searched to their end."""
    who = jumpers(own, opp, kings, side)
    if who != 0:
        count = generate_captures(own, opp, kings, side, who, moves, base)
    else:
        count = generate_quiet(own, opp, kings, side, moves, base)
        if count == 0:
            return float32(_LOST - float32(depth))
        if depth <= 0:
            return float32(-evaluate(evaluation, opp, own, kings, 1 - side, hidden))
    best = float32(-_INFINITY)
    for i in range(base, base + count):
        value = float32(
            -_value(
                moves[i, 1], moves[i, 0], moves[i, 2], 1 - side, depth - 1, float32(-beta), float32(-alpha), moves,
                base + count, evaluation, hidden,
            )
        )  # fmt: skip
        if value > best:
            best = value
            alpha = max(alpha, value)
            if value >= beta:
                break
    return best


@kernel(
    types.int64(
        types.uint32[::1], types.int64, types.int64[::1], types.int64, EVALUATION_TYPE, types.int64[::1],
        types.uint64[::1], types.uint32[:, ::1], types.uint32[:, ::1], types.float32[::1], types.int64[::1],
    )
)  # fmt: skip
def training_game(
    opening: Any, random_plies: Any, depths: Any, pieces: Any, evaluation: Any, limits: Any, chance: Any, moves: Any,
    positions: Any, hidden: Any, ending: Any,
) -> Any:  # fmt: skip
    """Play a game of the evaluation against itself; return the number of plies.

    Args:
        opening: uint32 (4,): black, white, kings, side.
        random_plies: so many plies are made at random first.
        depths: int64 (2,), plies to search: with more than ENDING pieces, and with fewer.
        pieces: the game stops, OPEN, at a quiet position of so many pieces or fewer.
        evaluation: whose game it is.
        limits: draw limits (:mod:`checkers.draw_tracking`).
        chance: uint64 (1,), state of the generator.
        moves: a move buffer.
        positions: uint32 (MOST_PLIES, 4), filled: the position before each ply and after the last.
        hidden: float32 scratch of the evaluation.
        ending: int64 (1,), filled: WIN, DRAW or LOSS of Black's, or OPEN.
    """
    side = int64(opening[3])
    own = opening[1] if side == 1 else opening[0]
    opp = opening[0] if side == 1 else opening[1]
    kings = opening[2]
    state = np.empty(STATE, np.int64)
    keys = np.empty(MOST_PLIES, np.uint64)
    key = zobrist_key(own, opp, kings, side)
    start_tracking(state, keys, key)
    ply = int64(0)
    while True:
        positions[ply, 0] = opp if side == 1 else own
        positions[ply, 1] = own if side == 1 else opp
        positions[ply, 2] = kings
        positions[ply, 3] = uint32(side)
        count = generate(own, opp, kings, side, moves, 0)
        if count == 0:
            ending[0] = LOSS if side == 0 else WIN
            return ply
        if is_drawn(state, keys, limits):
            ending[0] = DRAW
            return ply
        if popcount(uint32(own | opp)) <= pieces and jumpers(own, opp, kings, side) == 0:
            ending[0] = OPEN
            return ply
        depth = depths[0] if popcount(uint32(own | opp)) > ENDING else depths[1]
        best: Any = int64(0)
        if ply < random_plies:
            best = random_below(chance, count)
        elif count > 1:
            highest = float32(-_INFINITY)
            for i in range(count):
                value = float32(
                    -_value(
                        moves[i, 1], moves[i, 0], moves[i, 2], 1 - side, depth - 1, float32(-_INFINITY),
                        float32(-highest), moves, count, evaluation, hidden,
                    )
                )  # fmt: skip
                if value > highest:
                    highest = value
                    best = int64(i)
        new_own, new_opp, new_kings = moves[best, 0], moves[best, 1], moves[best, 2]
        key = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
        track(state, keys, side, kings, moves[best, 3], key)
        own, opp, kings, side = new_opp, new_own, new_kings, 1 - side
        ply += 1


@kernel(types.void(types.uint32[:, ::1], types.boolean[::1]))
def quiet_rows(positions: Any, out: Any) -> Any:
    """Which positions (uint32 (positions, 4): black, white, kings, side) have no capture for the side to move."""
    for i in range(positions.shape[0]):
        side = int64(positions[i, 3])
        own = positions[i, 1] if side == 1 else positions[i, 0]
        opp = positions[i, 0] if side == 1 else positions[i, 1]
        out[i] = jumpers(own, opp, positions[i, 2], side) == 0
