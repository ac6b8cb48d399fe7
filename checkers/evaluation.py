"""What a search can evaluate with: one NamedTuple of arrays that every kernel takes (design, section 2).

Kinds: material (man 1, king 1.5, in men), the reference evaluation (:mod:`checkers.reference`, in men), and networks
over NET-FEATUREMAP (one hidden layer of tanh, tanh output, in (-1, 1)). A network's first layer is kept as a table: one
row per feature and value, the sum of that value's weights. Whatever the encoding of a feature, its share of the hidden
sums is one row, so evaluating adds one row per feature.

An evaluation speaks for the side that has just moved, as the features do (theory.md 4.1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, int64, types, uint32, uint64
from numpy.typing import NDArray

from checkers.bitboard import popcount
from checkers.features import pack_features
from checkers.jit import helper, kernel, tuple_type
from checkers.reference import reference_value

MATERIAL, NETWORK, REFERENCE = 0, 1, 2

#: Values that a feature can take; the table has so many rows per feature.
VALUES = 16
#: Hidden units are padded with silent ones to a multiple of this, so that loops fill whole registers.
LANES = 8


class Evaluation(NamedTuple):
    """A kind and its numbers.

    ``selection`` has bit key - 1 for each of the ``features``. ``weights`` is float32 (features × 16 + 3, hidden): row
    16 i + v is what value v of the i-th feature adds to the hidden sums, then the hidden biases, the output weights,
    and a row that begins with the output bias.
    """

    kind: int
    selection: int
    features: int
    weights: NDArray[np.float32]


EVALUATION_TYPE = tuple_type([types.int64, types.int64, types.int64, types.float32[:, ::1]], Evaluation)


def material() -> Evaluation:
    """The evaluation that counts men as 1 and kings as 1.5."""
    return Evaluation(MATERIAL, 0, 0, np.zeros((3, LANES), np.float32))


def reference(weights: NDArray[np.float64] | None = None) -> Evaluation:
    """The reference evaluation; ``weights`` as :func:`checkers.reference_weights.read_weights` gives them.

    None stands for the shipped weights.
    """
    from checkers.reference_weights import kernel_table, shipped_weights

    return Evaluation(REFERENCE, 0, 0, kernel_table(shipped_weights() if weights is None else weights))


@helper
def tanh(x: Any) -> Any:
    """Hyperbolic tangent to float32 accuracy: the rational function that Eigen uses, which vectorises."""
    x = min(max(x, float32(-7.90531110763549805)), float32(7.90531110763549805))
    x2 = x * x
    p = float32(-2.76076847742355e-16) * x2 + float32(2.00018790482477e-13)
    p = p * x2 + float32(-8.60467152213735e-11)
    p = p * x2 + float32(5.12229709037114e-08)
    p = p * x2 + float32(1.48572235717979e-05)
    p = p * x2 + float32(6.37261928875436e-04)
    p = p * x2 + float32(4.89352455891786e-03)
    q = float32(1.19825839466702e-06) * x2 + float32(1.18534705686654e-04)
    q = q * x2 + float32(2.26843463243900e-03)
    q = q * x2 + float32(4.89352518554385e-03)
    return x * p / q


@helper
def network_value(weights: Any, features: Any, packed: Any, hidden: Any) -> Any:
    """The network's value in (-1, 1) for packed feature values; ``hidden`` is float32 scratch (hidden,)."""
    size = weights.shape[1]
    bias = features * VALUES
    for j in range(size):
        hidden[j] = weights[bias, j]
    for i in range(features):
        row = i * VALUES + int64(packed & uint64(VALUES - 1))
        packed = packed >> uint64(4)
        for j in range(size):
            hidden[j] += weights[row, j]
    total = weights[bias + 2, 0]
    for j in range(size):
        total += weights[bias + 1, j] * tanh(hidden[j])
    return tanh(total)


@helper
def evaluate(evaluation: Any, own: Any, opp: Any, kings: Any, side: Any, hidden: Any) -> Any:
    """The value for ``own``, the side (colour ``side``) that has just moved; ``hidden`` is scratch."""
    if evaluation.kind == MATERIAL:
        men = popcount(uint32(own & ~kings)) - popcount(uint32(opp & ~kings))
        royal = popcount(uint32(own & kings)) - popcount(uint32(opp & kings))
        return float32(men) + float32(1.5) * float32(royal)
    if evaluation.kind == REFERENCE:
        return reference_value(evaluation.weights, own, opp, kings, side, hidden)
    packed = pack_features(own, opp, kings, side, evaluation.selection)
    return network_value(evaluation.weights, evaluation.features, packed, hidden)


@kernel(types.void(types.uint32[:, ::1], EVALUATION_TYPE, types.float32[::1]))
def evaluate_rows(positions: Any, evaluation: Any, out: Any) -> Any:
    """Values of many positions, each for the side that has just moved.

    Args:
        positions: uint32 (positions, 4): black, white, kings, side to move.
        evaluation: what to evaluate with.
        out: float32 (positions,), filled.
    """
    hidden = np.zeros(evaluation.weights.shape[1], np.float32)
    for i in range(positions.shape[0]):
        side = int64(positions[i, 3])
        own = positions[i, 0] if side == 1 else positions[i, 1]
        opp = positions[i, 1] if side == 1 else positions[i, 0]
        out[i] = evaluate(evaluation, own, opp, positions[i, 2], 1 - side, hidden)
