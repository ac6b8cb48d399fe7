"""Bit tricks on 32-bit boards: the only file that has any. Square n is bit n - 1 (theory.md 4.1, 7.5).

Seen as a diagram with square 1 at the top, Black's men move down and White's move up. Even rows (squares 1-4, 9-12,
...) stand one column to the right of the odd rows, hence the two masks in each shift.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types, uint32
from numba.extending import intrinsic

from checkers.jit import helper

U = np.uint32

EVEN_ROWS = U(0x0F0F0F0F)
ODD_ROWS = U(0xF0F0F0F0)
ODD_ROWS_NOT_LEFT = U(0xE0E0E0E0)
EVEN_ROWS_NOT_RIGHT = U(0x07070707)
TOP_ROW = U(0x0000000F)
BOTTOM_ROW = U(0xF0000000)
#: Squares 5, 13, 21, 29 and 4, 12, 20, 28 touch a side; rows 1 and 8 are the ends.
EDGE = U(0xF818181F)


def _popcount(typingctx: Any, board: Any) -> Any:
    """Number of squares on a board."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.ctpop(args[0]), ir.IntType(64))

    return types.int64(types.uint32), codegen


popcount: Any = intrinsic(_popcount)


def _first_square(typingctx: Any, board: Any) -> Any:
    """Index 0-31 of the lowest square on a board that is not empty."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.zext(zeros, ir.IntType(64))

    return types.int64(types.uint32), codegen


first_square: Any = intrinsic(_first_square)


def _float_bits(typingctx: Any, value: Any) -> Any:
    """The bits of a float32 as uint32, for packed table entries."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(32))

    return types.uint32(types.float32), codegen


float_bits: Any = intrinsic(_float_bits)


def _bits_float(typingctx: Any, bits: Any) -> Any:
    """The float32 that these bits are."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.uint32), codegen


bits_float: Any = intrinsic(_bits_float)


@helper
def down_left(board: Any) -> Any:
    """Every square moved one step down and left; what leaves the board is gone."""
    return uint32(((board & EVEN_ROWS) << U(4)) | ((board & ODD_ROWS_NOT_LEFT) << U(3)))


@helper
def down_right(board: Any) -> Any:
    """Every square moved one step down and right."""
    return uint32(((board & EVEN_ROWS_NOT_RIGHT) << U(5)) | ((board & ODD_ROWS) << U(4)))


@helper
def up_left(board: Any) -> Any:
    """Every square moved one step up and left."""
    return uint32(((board & EVEN_ROWS) >> U(4)) | ((board & ODD_ROWS_NOT_LEFT) >> U(5)))


@helper
def up_right(board: Any) -> Any:
    """Every square moved one step up and right."""
    return uint32(((board & EVEN_ROWS_NOT_RIGHT) >> U(3)) | ((board & ODD_ROWS) >> U(4)))


@helper
def lowest(board: Any) -> Any:
    """The lowest square of a board, as a board."""
    return uint32(board & (~board + U(1)))


@helper
def without_lowest(board: Any) -> Any:
    """The board less its lowest square."""
    return uint32(board & (board - U(1)))


@helper
def half_turn(board: Any) -> Any:
    """The board seen from the other side: square n becomes 33 - n (theory.md 9.10)."""
    x = uint32(((board >> U(1)) & U(0x55555555)) | ((board & U(0x55555555)) << U(1)))
    x = uint32(((x >> U(2)) & U(0x33333333)) | ((x & U(0x33333333)) << U(2)))
    x = uint32(((x >> U(4)) & U(0x0F0F0F0F)) | ((x & U(0x0F0F0F0F)) << U(4)))
    x = uint32(((x >> U(8)) & U(0x00FF00FF)) | ((x & U(0x00FF00FF)) << U(8)))
    return uint32((x >> U(16)) | (x << U(16)))


def squares_mask(*squares: int) -> np.uint32:
    """The board that holds these squares (numbers 1-32)."""
    mask = 0
    for square in squares:
        mask |= 1 << (square - 1)
    return U(mask)
