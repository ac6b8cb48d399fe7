"""Draw policies inside kernels: the same limits as :mod:`checkers.draws`, kept up move by move (theory.md 10).

``limits`` is int64 (4,): shuttle, repetition, quiet moves, most moves of each side; ``state`` is int64 (8,); ``keys``
is uint64, one Zobrist key per position since the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, uint32
from numpy.typing import NDArray

from checkers.draws import DrawPolicy
from checkers.errors import SpecificationError
from checkers.jit import helper

#: A game that a kernel plays ends after so many plies whatever the policy; keys has room for them.
MOST_PLIES = 1024
STATE = 8
_QUIET_PLIES, _PLIES, _UNDONE, _LAST = 0, 1, 2, 4


def limits_of(policy: DrawPolicy) -> NDArray[np.int64]:
    """The limits as the kernels take them."""
    if 2 * policy.max_moves >= MOST_PLIES - 1:
        raise SpecificationError(
            f"draw policy {policy.name}: {policy.max_moves} moves are more than kernels keep; right would be up to 500"
        )
    return np.array([policy.shuttle, policy.repetition, policy.quiet_moves, policy.max_moves], np.int64)


@helper
def start_tracking(state: Any, keys: Any, key: Any) -> Any:
    """A game starts from a position with this key."""
    for i in range(STATE):
        state[i] = 0
    state[_LAST] = -1
    state[_LAST + 1] = -1
    keys[0] = key


@helper
def track(state: Any, keys: Any, side: Any, kings: Any, code: Any, key: Any) -> Any:
    """A move was made: its code, the kings before it, the key after it."""
    origin = int64(code & uint32(31))
    jumps = int64((code >> uint32(5)) & uint32(15))
    direction = int64((code >> uint32(9)) & uint32(3))
    royal = (kings >> uint32(origin)) & uint32(1)
    state[_QUIET_PLIES] = state[_QUIET_PLIES] + 1 if royal != 0 and jumps == 0 else 0
    # a quiet move is undone by the opposite direction from where it ended: compare as start * 64 + end
    even = (origin >> 2) & 1 == 0
    if direction == 0:
        end = origin + (4 if even else 3)
    elif direction == 1:
        end = origin + (5 if even else 4)
    elif direction == 2:
        end = origin - (4 if even else 5)
    else:
        end = origin - (3 if even else 4)
    undoes = jumps == 0 and state[_LAST + side] == end * 64 + origin
    state[_UNDONE + side] = state[_UNDONE + side] + 1 if undoes else 0
    state[_LAST + side] = origin * 64 + end if jumps == 0 else -1
    state[_PLIES] += 1
    keys[state[_PLIES]] = key


@helper
def is_drawn(state: Any, keys: Any, limits: Any) -> Any:
    """Whether the policy calls the position on the board a draw."""
    shuttle, repetition, quiet, most = limits[0], limits[1], limits[2], limits[3]
    plies = state[_PLIES]
    if shuttle > 0 and state[_UNDONE] >= shuttle - 1 and state[_UNDONE + 1] >= shuttle - 1:
        return True
    if quiet > 0 and state[_QUIET_PLIES] >= 2 * quiet:
        return True
    if most > 0 and plies > 2 * most:
        return True
    if repetition > 0:
        seen = 0
        for i in range(plies, max(plies - state[_QUIET_PLIES], int64(0)) - 1, -1):
            if keys[i] == keys[plies]:
                seen += 1
        if seen >= repetition:
            return True
    return plies >= MOST_PLIES - 1
