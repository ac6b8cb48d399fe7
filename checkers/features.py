"""NET-FEATUREMAP: what a network sees of a position, as small integers (theory.md 4.1).

"Own" is the side that has just moved, ``opp`` the side to move next; the board is turned so that own men move up in
number. Every feature is a count clamped to ``[0, 2^bits - 1]``; how it is encoded for a network is the network's
business. The public code's quirks (a saturating offset of 8, centre features that begin at -1) are not copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint8, uint32, uint64
from numpy.typing import NDArray

from checkers.bitboard import (
    U,
    down_left,
    down_right,
    half_turn,
    popcount,
    squares_mask,
    up_left,
    up_right,
)
from checkers.errors import SpecificationError
from checkers.jit import helper, kernel


class Feature(NamedTuple):
    """One feature: its key in theory.md 4.1 (from 1), its name, its width in bits, its definition."""

    key: int
    name: str
    bits: int
    definition: str


_DEFINITIONS = (
    ("PieceAdvantage", 4, "material own minus opp (man 2, king 3), if positive"),
    ("PieceDisadvantage", 4, "material opp minus own (man 2, king 3), if positive"),
    ("PieceThreat", 3, "opp pieces that can jump now; one with two or more ways to jump counts 2"),
    ("PieceTake", 3, "own pieces that could jump if own side moved again; two or more ways count 2"),
    ("Advancement", 3, "own men on rows 5-6 minus own men on rows 3-4, plus 4"),
    ("DoubleDiagonal", 4, "own pieces on the two double diagonals"),
    ("BackrowBridge", 1, "own men on 1 and 3 while opp has no king"),
    ("CentreControl", 3, "own men on the eight centre squares"),
    ("XCentreControl", 3, "centre squares held by an opp man, or empty and within reach of opp's simple move"),
    ("TotalMobility", 4, "empty squares to which opp can make a simple move"),
    ("Exposure", 3, "own pieces off the edge with both neighbours empty along a diagonal"),
    ("KingCentreControl", 3, "own kings on the eight centre squares"),
)

#: The features in the order of theory.md 4.1; the first twelve are Lynch's.
FEATURES: tuple[Feature, ...] = tuple(Feature(i + 1, *row) for i, row in enumerate(_DEFINITIONS))
BY_NAME = {feature.name: feature for feature in FEATURES}

CENTRE = squares_mask(10, 11, 14, 15, 18, 19, 22, 23)
DOUBLE_DIAGONALS = squares_mask(1, 6, 10, 15, 19, 24, 28, 5, 9, 14, 18, 23, 27, 32)
BRIDGE = squares_mask(1, 3)
ROWS_3_4 = U(0x0000FF00)
ROWS_5_6 = U(0x00FF0000)


def select(names: Iterable[str]) -> tuple[Feature, ...]:
    """The features of these names, in the order given.

    Raises:
        SpecificationError: a name is unknown or repeated, or there is none.
    """
    chosen = []
    for name in names:
        if name not in BY_NAME:
            raise SpecificationError(f"feature {name!r} is unknown; there are {', '.join(BY_NAME)}")
        if BY_NAME[name] in chosen:
            raise SpecificationError(f"feature {name} is named twice; a set holds each feature once")
        chosen.append(BY_NAME[name])
    if not chosen:
        raise SpecificationError("a feature set needs at least one feature")
    return tuple(chosen)


def selection_mask(features: Iterable[Feature]) -> int:
    """The features as bits of an integer (bit key - 1), as the kernels take them."""
    return sum(1 << (feature.key - 1) for feature in features)


@helper
def _clamp(value: Any, top: Any) -> Any:
    return uint64(min(max(value, int64(0)), int64(top)))


@helper
def _jump_ways(down_board: Any, up_board: Any, victims: Any, empty: Any) -> Any:
    """Pieces that can jump ``victims``, those with several directions counted twice."""
    a = uint32(down_board & up_right(uint32(victims & up_right(empty))))
    b = uint32(down_board & up_left(uint32(victims & up_left(empty))))
    c = uint32(up_board & down_right(uint32(victims & down_right(empty))))
    d = uint32(up_board & down_left(uint32(victims & down_left(empty))))
    several = uint32((a & b) | (c & d) | ((a | b) & (c | d)))
    return popcount(uint32(a | b | c | d)) + popcount(several)


@helper
def pack_features(own: Any, opp: Any, kings: Any, side: Any, selection: Any) -> Any:
    """The selected features in key order, four bits each, the first one lowest (uint64).

    ``own`` has just moved, ``side`` is its colour, ``selection`` has bit key - 1 for each feature wanted.
    """
    if side == 1:
        own, opp, kings = half_turn(own), half_turn(opp), half_turn(kings)
    empty = uint32(~(own | opp))
    own_kings = uint32(own & kings)
    opp_kings = uint32(opp & kings)
    own_men = uint32(own & ~kings)
    opp_men = uint32(opp & ~kings)
    # own men move to higher numbers (down the diagram), opp's to lower ones
    reach = uint32(empty & (up_left(opp) | up_right(opp) | down_left(opp_kings) | down_right(opp_kings)))
    packed = uint64(0)
    shift = uint64(0)
    if selection & 3:
        balance = 2 * (popcount(own_men) - popcount(opp_men)) + 3 * (popcount(own_kings) - popcount(opp_kings))
        if selection & 1:
            packed |= _clamp(balance, 15) << shift
            shift += uint64(4)
        if selection & 2:
            packed |= _clamp(-balance, 15) << shift
            shift += uint64(4)
    if selection & 4:
        packed |= _clamp(_jump_ways(opp_kings, opp, own, empty), 7) << shift
        shift += uint64(4)
    if selection & 8:
        packed |= _clamp(_jump_ways(own, own_kings, opp, empty), 7) << shift
        shift += uint64(4)
    if selection & 16:
        packed |= _clamp(popcount(uint32(own_men & ROWS_5_6)) - popcount(uint32(own_men & ROWS_3_4)) + 4, 7) << shift
        shift += uint64(4)
    if selection & 32:
        packed |= _clamp(popcount(uint32(own & DOUBLE_DIAGONALS)), 15) << shift
        shift += uint64(4)
    if selection & 64:
        bridge = opp_kings == 0 and (own_men & BRIDGE) == BRIDGE
        packed |= (uint64(1) if bridge else uint64(0)) << shift
        shift += uint64(4)
    if selection & 128:
        packed |= _clamp(popcount(uint32(own_men & CENTRE)), 7) << shift
        shift += uint64(4)
    if selection & 256:
        packed |= _clamp(popcount(uint32(CENTRE & (opp_men | reach))), 7) << shift
        shift += uint64(4)
    if selection & 512:
        packed |= _clamp(popcount(reach), 15) << shift
        shift += uint64(4)
    if selection & 1024:
        open_diagonal = (down_left(empty) & up_right(empty)) | (down_right(empty) & up_left(empty))
        packed |= _clamp(popcount(uint32(own & open_diagonal)), 7) << shift
        shift += uint64(4)
    if selection & 2048:
        packed |= _clamp(popcount(uint32(own_kings & CENTRE)), 7) << shift
        shift += uint64(4)
    return packed


@kernel("void(uint32[:,::1],int64,uint8[:,::1])")
def feature_rows(positions: Any, selection: Any, out: Any) -> Any:
    """Features of many positions.

    Args:
        positions: uint32 (positions, 4): black, white, kings, side to move.
        selection: the features, as bits.
        out: uint8 (positions, features), filled in key order.
    """
    for i in range(positions.shape[0]):
        side = int64(positions[i, 3])
        own = positions[i, 0] if side == 1 else positions[i, 1]
        opp = positions[i, 1] if side == 1 else positions[i, 0]
        packed = pack_features(own, opp, positions[i, 2], 1 - side, selection)
        for j in range(out.shape[1]):
            out[i, j] = uint8((packed >> uint64(4 * j)) & uint64(15))


def feature_values(black: int, white: int, kings: int, mover: int) -> NDArray[np.uint8]:
    """All features of one position as uint8 (features,), seen by ``mover``, the side that has just moved."""
    out: NDArray[np.uint8] = np.zeros((1, len(FEATURES)), np.uint8)
    positions = np.array([[black, white, kings, 1 - mover]], np.uint32)
    feature_rows(positions, selection_mask(FEATURES), out)
    return out.reshape(-1)
