"""Numbers the positions of an endgame slice, and back (theory.md 7.3).

A slice is the material of the side to move and of its opponent: ``own men, own kings, opp men, opp kings``. The board
is turned so that the side to move moves up in number, so one slice serves both colours. A position's number is made of
the ranks of four sets of squares: own men among the 28 squares that are not their king row, opp men likewise, own kings
among the squares that no man holds, opp kings among what is left. Numbers in which two men share a square stand for no
position.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import int64, types, uint32

from checkers.bitboard import U, first_square, half_turn, popcount, without_lowest
from checkers.jit import helper, kernel

#: Most pieces of a kind that a slice can have.
MOST = 8
#: Binomial coefficients, int64 (33, MOST + 1).
CHOOSE = np.array([[math.comb(n, k) for k in range(MOST + 1)] for n in range(33)], np.int64)
MAN_SQUARES = 28


@helper
def _rank(board: Any, occupied: Any) -> Any:
    """Number of a set of squares among all sets of its size; ``occupied`` squares (none of the set) do not count."""
    rank = int64(0)
    k = int64(0)
    while board != 0:
        square = first_square(board)
        below = uint32((uint32(1) << uint32(square)) - uint32(1))
        k += 1
        rank += CHOOSE[square - popcount(uint32(occupied & below)), k]
        board = without_lowest(board)
    return rank


@helper
def _unrank(rank: Any, size: Any, occupied: Any) -> Any:
    """The set of ``size`` squares with this number, among those not ``occupied``."""
    board = uint32(0)
    free = 32 - popcount(occupied)
    place = free - 1
    square = int64(31)
    while size > 0:
        while (occupied >> uint32(square)) & uint32(1):
            square -= 1
        if CHOOSE[place, size] <= rank:
            rank -= CHOOSE[place, size]
            board = uint32(board | (uint32(1) << uint32(square)))
            size -= 1
        place -= 1
        square -= 1
    return board


@helper
def slice_size(own_men: Any, own_kings: Any, opp_men: Any, opp_kings: Any) -> Any:
    """How many numbers a slice has."""
    left = 32 - own_men - opp_men
    men = CHOOSE[MAN_SQUARES, own_men] * CHOOSE[MAN_SQUARES, opp_men]
    return men * CHOOSE[left, own_kings] * CHOOSE[left - own_kings, opp_kings]


@helper
def position_number(own: Any, opp: Any, kings: Any) -> Any:
    """A position's number in its slice; the side to move moves up in number."""
    own_men, opp_men = uint32(own & ~kings), uint32(opp & ~kings)
    own_kings, opp_kings = uint32(own & kings), uint32(opp & kings)
    men = uint32(own_men | opp_men)
    left = 32 - popcount(men)
    number = _rank(own_men, U(0)) * CHOOSE[MAN_SQUARES, popcount(opp_men)] + _rank(half_turn(opp_men), U(0))
    number = number * CHOOSE[left, popcount(own_kings)] + _rank(own_kings, men)
    left -= popcount(own_kings)
    return number * CHOOSE[left, popcount(opp_kings)] + _rank(opp_kings, uint32(men | own_kings))


@helper
def numbered_position(number: Any, own_men: Any, own_kings: Any, opp_men: Any, opp_kings: Any) -> Any:
    """The boards ``own, opp, kings`` with this number; ``own`` is 0 where two men share a square."""
    left = 32 - own_men - opp_men - own_kings
    rest = CHOOSE[left, opp_kings]
    opp_kings_rank, number = number % rest, number // rest
    rest = CHOOSE[left + own_kings, own_kings]
    own_kings_rank, number = number % rest, number // rest
    rest = CHOOSE[MAN_SQUARES, opp_men]
    men = _unrank(number // rest, own_men, U(0xF0000000))
    foes = half_turn(_unrank(number % rest, opp_men, U(0xF0000000)))
    if (men & foes) != 0:
        return U(0), U(0), U(0)
    royal = _unrank(own_kings_rank, own_kings, uint32(men | foes))
    foe_kings = _unrank(opp_kings_rank, opp_kings, uint32(men | foes | royal))
    return uint32(men | royal), uint32(foes | foe_kings), uint32(royal | foe_kings)


@kernel("int64(int64,int64,int64,int64,int64[::1])")
def check_numbering(own_men: Any, own_kings: Any, opp_men: Any, opp_kings: Any, valid: Any) -> Any:
    """Number of a slice's numbers that do not come back to themselves; ``valid[0]`` gets the number of positions."""
    wrong = int64(0)
    valid[0] = 0
    for number in range(slice_size(own_men, own_kings, opp_men, opp_kings)):
        own, opp, kings = numbered_position(number, own_men, own_kings, opp_men, opp_kings)
        if own == 0:
            continue
        valid[0] += 1
        if position_number(own, opp, kings) != number:
            wrong += 1
    return wrong


@kernel("int64(uint32,uint32,uint32)")
def position_number_of(own: Any, opp: Any, kings: Any) -> Any:
    """:func:`position_number` for callers outside kernels."""
    return position_number(own, opp, kings)


@kernel(types.int64(types.Array(types.uint8, 1, "C", readonly=True), types.int64, types.int64))
def packed_value(section: Any, bits: Any, number: Any) -> Any:
    """The value with this number among values of ``bits`` bits (at most 8), packed low bits first."""
    first = number * bits
    pair = int64(section[first >> 3]) | (int64(section[(first >> 3) + 1]) << 8)
    return (pair >> (first & 7)) & ((1 << bits) - 1)
