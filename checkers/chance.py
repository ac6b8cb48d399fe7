"""Random numbers inside kernels: splitmix64 (Steele, Lea, Flood 2014) on an explicit state array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from checkers.jit import helper


def chance_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """A kernel's random state, uint64 (1,), drawn from a generator."""
    return rng.integers(0, 2**64, 1, np.uint64)


@helper
def random_bits(state: Any) -> Any:
    """The next 64 random bits."""
    state[0] = uint64(state[0] + uint64(0x9E3779B97F4A7C15))
    z = state[0]
    z = uint64((z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9))
    z = uint64((z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB))
    return uint64(z ^ (z >> uint64(31)))


@helper
def random_float(state: Any) -> Any:
    """A number in [0, 1)."""
    return float(random_bits(state) >> uint64(11)) * (1.0 / 9007199254740992.0)


@helper
def random_below(state: Any, n: Any) -> Any:
    """An integer in [0, n), n below 2**32; the bias is under 2**-32."""
    return int64(uint64((random_bits(state) >> uint64(32)) * uint64(n)) >> uint64(32))
