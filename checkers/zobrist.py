"""Zobrist keys: 32 squares × 4 kinds of piece, and one for the side to move (theory.md 5).

The numbers come from a fixed seed, so keys may be stored. Besides the 64-bit key, every lookup compares 16 bits of a
multiplicative hash of the boards, which shares no randomness with it: the thesis's second key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32, uint64

from checkers.bitboard import first_square, without_lowest
from checkers.jit import helper, kernel
from checkers.position import Position

BLACK_MAN, BLACK_KING, WHITE_MAN, WHITE_KING = range(4)

_numbers = np.random.Generator(np.random.PCG64(20160101)).integers(0, 2**64, 129, np.uint64, endpoint=False)
#: uint64 (4, 32): piece kind, square.
KEYS = np.ascontiguousarray(_numbers[:128].reshape(4, 32))
WHITE_TO_MOVE = np.uint64(_numbers[128])


@helper
def _xor_pieces(key: Any, board: Any, kings: Any, side: Any) -> Any:
    while board != 0:
        square = first_square(board)
        royal = (kings >> uint32(square)) & uint32(1)
        key = uint64(key ^ KEYS[2 * side + royal, square])
        board = without_lowest(board)
    return key


@helper
def zobrist_key(own: Any, opp: Any, kings: Any, side: Any) -> Any:
    """The key of a position from scratch."""
    key = WHITE_TO_MOVE if side == 1 else uint64(0)
    return _xor_pieces(_xor_pieces(uint64(key), own, kings, side), opp, kings, 1 - side)


@helper
def key_after(key: Any, own: Any, opp: Any, kings: Any, side: Any, new_own: Any, new_opp: Any, new_kings: Any) -> Any:
    """The key after a move: ``own, opp, kings`` before it, ``new_*`` after it, both seen by the mover."""
    key = _xor_pieces(uint64(key ^ WHITE_TO_MOVE), uint32(own & ~new_own), kings, side)
    key = _xor_pieces(key, uint32(new_own & ~own), new_kings, side)
    return _xor_pieces(key, uint32(opp & ~new_opp), kings, 1 - side)


@helper
def verification_key(own: Any, opp: Any, kings: Any) -> Any:
    """16 bits of a multiplicative hash of the boards."""
    mixed = uint64(own) * uint64(0x9E3779B97F4A7C15) + uint64(opp) * uint64(0xC2B2AE3D27D4EB4F)
    mixed = uint64(mixed ^ (mixed >> uint64(29))) + uint64(kings) * uint64(0x165667B19E3779F9)
    return uint64(uint64(mixed * uint64(0xBF58476D1CE4E5B9)) >> uint64(48))


@kernel("uint64(uint32,uint32,uint32,int64)")
def _key_of(own: Any, opp: Any, kings: Any, side: Any) -> Any:
    return zobrist_key(own, opp, kings, side)


def position_key(position: Position) -> int:
    """The key of a position."""
    return int(_key_of(position.own, position.opponent, position.kings, int(position.side)))
