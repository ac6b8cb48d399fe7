"""Boards of 32 bits against a table of the squares' neighbours, taken from the board in the rule book."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import float32, uint32

from checkers import bitboard
from checkers.jit import kernel

#: From the top row (1-4) down, as printed; . is a light square.
DIAGRAM = """
 . 1 . 2 . 3 . 4
 5 . 6 . 7 . 8 .
 . 9 . 10 . 11 . 12
 13 . 14 . 15 . 16 .
 . 17 . 18 . 19 . 20
 21 . 22 . 23 . 24 .
 . 25 . 26 . 27 . 28
 29 . 30 . 31 . 32 .
"""
CELLS = [line.split() for line in DIAGRAM.strip().splitlines()]
PLACES = {
    int(cell): (row, column) for row, cells in enumerate(CELLS) for column, cell in enumerate(cells) if cell != "."
}
SQUARES = {place: square for square, place in PLACES.items()}
STEPS = {"down_left": (1, -1), "down_right": (1, 1), "up_left": (-1, -1), "up_right": (-1, 1)}
NAMES = [*STEPS, "half_turn", "lowest", "without_lowest"]

boards = st.integers(0, 2**32 - 1)


@kernel("void(uint32,uint32[::1])")
def all_of(board: Any, out: Any) -> Any:
    """Every function that makes a board of a board, in the order of NAMES."""
    out[0] = bitboard.down_left(board)
    out[1] = bitboard.down_right(board)
    out[2] = bitboard.up_left(board)
    out[3] = bitboard.up_right(board)
    out[4] = bitboard.half_turn(board)
    out[5] = bitboard.lowest(board)
    out[6] = bitboard.without_lowest(board)


@kernel("int64(uint32)")
def count_of(board: Any) -> Any:
    """The intrinsic population count."""
    return bitboard.popcount(board)


@kernel("int64(uint32)")
def first_of(board: Any) -> Any:
    """The intrinsic count of trailing zeros."""
    return bitboard.first_square(board)


@kernel("uint32(float32)")
def bits_of(value: Any) -> Any:
    """A float's bits, there and back and there again."""
    return uint32(bitboard.float_bits(float32(bitboard.bits_float(bitboard.float_bits(value)))))


def made(name: str, board: int) -> int:
    out = np.zeros(len(NAMES), np.uint32)
    all_of(board, out)
    return int(out[NAMES.index(name)])


def squares_of(board: int) -> set[int]:
    return {square for square in range(1, 33) if board >> (square - 1) & 1}


def board_of(squares: set[int]) -> int:
    return sum(1 << (square - 1) for square in squares)


def neighbour(square: int, step: str) -> int | None:
    (row, column), (down, right) = PLACES[square], STEPS[step]
    return SQUARES.get((row + down, column + right))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("square", range(1, 33))
def test_a_shift_leads_to_the_neighbour_or_off_the_board(square: int, step: str) -> None:
    to = neighbour(square, step)
    assert squares_of(made(step, 1 << (square - 1))) == ({to} if to else set())


@pytest.mark.parametrize("step", STEPS)
@given(board=boards)
def test_a_shift_moves_every_square_by_itself(step: str, board: int) -> None:
    assert squares_of(made(step, board)) == {n for n in (neighbour(s, step) for s in squares_of(board)) if n}


@given(boards)
def test_a_half_turn_makes_square_n_33_less_n(board: int) -> None:
    assert squares_of(made("half_turn", board)) == {33 - square for square in squares_of(board)}
    assert made("half_turn", made("half_turn", board)) == board


@given(boards)
def test_a_half_turn_turns_the_ways_round(board: int) -> None:
    turned = made("half_turn", board)
    assert made("half_turn", made("down_left", board)) == made("up_right", turned)
    assert made("half_turn", made("down_right", board)) == made("up_left", turned)


@given(boards)
def test_counting_and_taking_off(board: int) -> None:
    squares = squares_of(board)
    assert count_of(board) == len(squares)
    first = {min(squares)} if squares else set()
    assert squares_of(made("lowest", board)) == first
    assert squares_of(made("without_lowest", board)) == squares - first
    if squares:
        assert first_of(board) == min(squares) - 1


@given(st.floats(width=32, allow_nan=False))
def test_the_bits_of_a_float(value: float) -> None:
    assert bits_of(np.float32(value)) == np.float32(value).view(np.uint32)


def test_masks() -> None:
    rows = [board_of({square for square in PLACES if PLACES[square][0] == row}) for row in range(8)]
    assert (rows[0], rows[7]) == (bitboard.TOP_ROW, bitboard.BOTTOM_ROW)
    assert sum(rows[::2]) == bitboard.EVEN_ROWS
    assert sum(rows[1::2]) == bitboard.ODD_ROWS
    edge = {square for square, place in PLACES.items() if {0, 7} & set(place)}
    assert squares_of(int(bitboard.EDGE)) == edge
    left, right = ({s for s in PLACES if PLACES[s][1] == column} for column in (0, 7))
    assert squares_of(int(bitboard.ODD_ROWS_NOT_LEFT)) == squares_of(int(bitboard.ODD_ROWS)) - left
    assert squares_of(int(bitboard.EVEN_ROWS_NOT_RIGHT)) == squares_of(int(bitboard.EVEN_ROWS)) - right


def test_squares_mask() -> None:
    assert squares_of(int(bitboard.squares_mask(1, 18, 32))) == {1, 18, 32}
    assert bitboard.squares_mask() == 0
    assert bitboard.squares_mask(*range(1, 33)) == 0xFFFFFFFF
    assert isinstance(bitboard.squares_mask(1), np.uint32)
