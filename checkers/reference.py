"""The reference evaluation: a hand-written sum of weighted terms, what a player knows of checkers (theory.md 4.2, 7.3).

Own is the side that has just moved; the board is turned so that own men move up in number. Each side's terms are taken
from its own view and subtracted, so they change sign with the colours; only ``tempo`` and ``crowning next`` belong to
the side to move, and ``the move`` to whoever has it.

A weight has a value for each of three phases: opening, ending without kings, ending with kings. A position's weights
lie between the opening's (24 pieces) and one of the endings' (6 pieces or fewer), in proportion to its pieces. To trade
down when ahead needs no rule: men weigh more in the endings, and ``majority`` grows as pieces go.

Which terms and which phases is our choice; Samuel's list names many of them.
The weights are tuned (``experiments/tuning.py``) and kept in men: the mean man of an opening weighs 1.
"""

from __future__ import annotations

from typing import Any

from numba import float32, int64, types, uint32

from checkers.bitboard import (
    EVEN_ROWS,
    U,
    down_left,
    down_right,
    half_turn,
    popcount,
    squares_mask,
    up_left,
    up_right,
)
from checkers.jit import helper, kernel

PHASES = ("opening", "ending", "kings")

#: Terms by name, in the kernels' order, and what each counts for a side.
TERMS = {
    "man": "men",
    "king": "kings",
    "majority": "eight times its pieces over all pieces: a man ahead tells more when few are left",
    "first king": "1 if it has a king and the opponent none",
    "safe moves": "quiet moves of men to squares where they cannot be jumped",
    "king moves": "quiet moves of kings to squares where they cannot be jumped",
    "blocked men": "men with no empty square before them",
    "held men": "men that can move, but only to where they can be jumped",
    "trapped kings": "kings with no safe move",
    "stuck": "1 if no piece has a safe move",
    "exposed": "men off the edge with both neighbours empty along a diagonal",
    "pairs": "neighbours on a diagonal, counted as pairs",
    "centre": "men on 14, 15, 18, 19 with a piece or the edge behind them on both sides",
    "runaway 1": "men one step from an empty square of the king row",
    "runaway 2": "men two steps from it over squares where they cannot be jumped",
    "runaway 3": "men three steps from it likewise",
    "runaway 4": "men four or five steps from it likewise",
    "dog hole": "1 if its man on 28 is shut in by a man on 32",
    "cramp": "1 if its piece on 13 (with 9 or 14 behind) holds men on 17, 21, 22 and 25",
    "oreo": "1 if men stand on 2, 3 and 7 and the opponent has no king",
    "refuge": "1 if it has fewer pieces and a king in a double corner (1, 5, 28, 32)",
    "threats": "1 if it could jump, were it to move",
    "more threats": "pieces that could jump, beyond the first",
    "the move": "1 if pieces are even and it has the move (theory.md 4.2, MOVE)",
    "tempo": "1 for the side that has just moved",
    "crowning next": "1 if the side to move has a man one step from the king row (counted against the other side)",
}
(
    MAN, KING, MAJORITY, FIRST_KING, SAFE, KING_MOVES, BLOCKED, HELD, TRAPPED, STUCK, EXPOSED, PAIRS, CENTRE, RUN_1,
    RUN_2, RUN_3, RUN_4, DOG_HOLE, CRAMP, OREO, REFUGE, THREATS, MORE_THREATS, THE_MOVE, TEMPO, CROWNING,
) = range(len(TERMS))  # fmt: skip

COUNT = len(TERMS)

#: Parameters of a phase: the terms, men by square, kings by square, men on the back rank by pattern (1-4 as bits).
SQUARES, PATTERNS = 32, 16
PARAMETERS = COUNT + 2 * SQUARES + PATTERNS

#: Rows and columns of the table that kernels take: a row of terms per phase, then per phase four rows of men and four
#: of kings, one per byte of the board, so that eight squares are one look-up.
WIDTH = 256
ROWS = 3 + 3 * 8

#: Pieces from which a position is all opening, and up to which all ending.
MOST_PIECES, FEWEST_PIECES = 24, 6

_ROW_2, _ROW_3, _ROW_4 = U(0x000000F0), U(0x00000F00), U(0x0000F000)
_ROW_5, _ROW_6, _ROW_7, _ROW_8 = U(0x000F0000), U(0x00F00000), U(0x0F000000), U(0xF0000000)
_CENTRE = squares_mask(14, 15, 18, 19)
_CRAMPED = squares_mask(17, 21, 22, 25)
_CRAMPING, _SUPPORT = squares_mask(13), squares_mask(9, 14)
_OREO = squares_mask(2, 3, 7)
_DOUBLE_CORNERS = squares_mask(1, 5, 28, 32)
_SQUARE_28, _SQUARE_32 = squares_mask(28), squares_mask(32)


@helper
def _count(board: Any) -> Any:
    return float32(popcount(uint32(board)))


@helper
def _back(board: Any) -> Any:
    """The squares from which a man can step onto the board's."""
    return uint32(up_left(board) | up_right(board))


@helper
def _structure_terms(men: Any, kings: Any, foe_men: Any, foe_kings: Any, out: Any, sign: Any) -> Any:
    """Add what a side has: pieces, their neighbours, patterns."""
    own, foes = uint32(men | kings), uint32(foe_men | foe_kings)
    empty = uint32(~(own | foes))
    out[MAN] += sign * _count(men)
    out[KING] += sign * _count(kings)
    if kings != 0 and foe_kings == 0:
        out[FIRST_KING] += sign
    open_diagonal = (down_left(empty) & up_right(empty)) | (down_right(empty) & up_left(empty))
    out[EXPOSED] += sign * _count(men & open_diagonal)
    out[PAIRS] += sign * (_count(own & down_left(own)) + _count(own & down_right(own)))
    out[CENTRE] += sign * _count(men & _CENTRE & down_left(own) & down_right(own))
    if (men & _SQUARE_28) != 0 and (foe_men & _SQUARE_32) != 0:
        out[DOG_HOLE] += sign
    if (own & _CRAMPING) != 0 and (own & _SUPPORT) != 0 and (foe_men & _CRAMPED) == _CRAMPED:
        out[CRAMP] += sign
    if (men & _OREO) == _OREO and foe_kings == 0:
        out[OREO] += sign
    if (kings & _DOUBLE_CORNERS) != 0 and popcount(own) < popcount(foes):
        out[REFUGE] += sign


@helper
def _movement_terms(men: Any, kings: Any, foe_men: Any, foe_kings: Any, out: Any, sign: Any) -> Any:
    """Add what a side can do: safe moves, pieces without one, men on their way to the king row, threats."""
    own, foes = uint32(men | kings), uint32(foe_men | foe_kings)
    empty = uint32(~(own | foes))
    # where a piece can be jumped from below, to the upper left and the upper right, and by a king from above
    to_left, to_right = up_left(foes) & down_right(empty), up_right(foes) & down_left(empty)
    by_king_left, by_king_right = down_right(foe_kings) & up_left(empty), down_left(foe_kings) & up_right(empty)
    falling, rising = to_left | by_king_left, to_right | by_king_right
    # the square that a mover leaves is empty: whoever stands before it on that line can jump
    safe_left = empty & ~(up_right(foes) | falling)
    safe_right = empty & ~(up_left(foes) | rising)
    out[SAFE] += sign * (_count(down_left(men) & safe_left) + _count(down_right(men) & safe_right))
    movers = uint32((up_right(uint32(safe_left)) | up_left(uint32(safe_right))) & own)
    if kings != 0:
        safe_up_left = empty & ~(down_right(foe_kings) | rising)
        safe_up_right = empty & ~(down_left(foe_kings) | falling)
        out[KING_MOVES] += sign * (
            _count(down_left(kings) & safe_left)
            + _count(down_right(kings) & safe_right)
            + _count(up_left(kings) & safe_up_left)
            + _count(up_right(kings) & safe_up_right)
        )
        movers = uint32(movers | ((down_right(uint32(safe_up_left)) | down_left(uint32(safe_up_right))) & kings))
        out[TRAPPED] += sign * _count(kings & ~movers)
    free = _back(empty)
    out[BLOCKED] += sign * _count(men & ~free)
    out[HELD] += sign * _count(men & free & ~movers)
    if movers == 0:
        out[STUCK] += sign

    passable = uint32(empty & ~(_back(foes) | by_king_left | by_king_right))
    before = _back(uint32(empty & _ROW_8))
    out[RUN_1] += sign * _count(men & _ROW_7 & before)
    before = _back(uint32(passable & _ROW_7 & before))
    out[RUN_2] += sign * _count(men & _ROW_6 & before)
    before = _back(uint32(passable & _ROW_6 & before))
    out[RUN_3] += sign * _count(men & _ROW_5 & before)
    before = _back(uint32(passable & _ROW_5 & before))
    far = men & _ROW_4 & before
    before = _back(uint32(passable & _ROW_4 & before))
    out[RUN_4] += sign * _count(far | (men & _ROW_3 & before))

    jumpers = (
        (own & up_right(uint32(foes & up_right(empty))))
        | (own & up_left(uint32(foes & up_left(empty))))
        | (kings & down_right(uint32(foes & down_right(empty))))
        | (kings & down_left(uint32(foes & down_left(empty))))
    )
    if jumpers != 0:
        out[THREATS] += sign
        out[MORE_THREATS] += sign * (_count(jumpers) - float32(1.0))


@helper
def _turned_terms(own: Any, opp: Any, kings: Any, foes: Any, owns: Any, turned_kings: Any, out: Any) -> Any:
    """All terms; ``own, opp, kings`` as own sees the board, ``foes, owns, turned_kings`` the same boards turned."""
    for i in range(COUNT):
        out[i] = float32(0.0)
    men, royal = uint32(own & ~kings), uint32(own & kings)
    foe_men, foe_royal = uint32(opp & ~kings), uint32(opp & kings)
    _structure_terms(men, royal, foe_men, foe_royal, out, float32(1.0))
    _movement_terms(men, royal, foe_men, foe_royal, out, float32(1.0))
    men, royal = uint32(owns & ~turned_kings), uint32(owns & turned_kings)
    foe_men, foe_royal = uint32(foes & ~turned_kings), uint32(foes & turned_kings)
    before = out[RUN_1]
    _structure_terms(foe_men, foe_royal, men, royal, out, float32(-1.0))
    _movement_terms(foe_men, foe_royal, men, royal, out, float32(-1.0))
    if out[RUN_1] < before:
        out[CROWNING] = float32(-1.0)
    out[TEMPO] = float32(1.0)
    own_pieces, opp_pieces = popcount(own), popcount(opp)
    out[MAJORITY] = float32(8 * (own_pieces - opp_pieces)) / float32(own_pieces + opp_pieces + 1e-9)
    if own_pieces == opp_pieces:
        # the side to move has the move when the pieces on the files that begin at its king row's end are odd in number
        odd = popcount(uint32((foes | owns) & EVEN_ROWS)) & 1
        out[THE_MOVE] = float32(-1.0) if odd == 1 else float32(1.0)


@helper
def reference_terms(own: Any, opp: Any, kings: Any, side: Any, out: Any) -> Any:
    """Fill ``out[:COUNT]`` (float32) with the terms of own less those of opp; ``side`` is own's colour."""
    turned = half_turn(own), half_turn(opp), half_turn(kings)
    if side == 0:
        _turned_terms(own, opp, kings, turned[1], turned[0], turned[2], out)
    else:
        _turned_terms(turned[0], turned[1], turned[2], opp, own, kings, out)


@helper
def opening_share(own: Any, opp: Any) -> Any:
    """How much of the opening's weights counts, 0 to 1; the rest is one of the endings'."""
    pieces = popcount(uint32(own | opp))
    share = float32(pieces - FEWEST_PIECES) * float32(1.0 / (MOST_PIECES - FEWEST_PIECES))
    return min(max(share, float32(0.0)), float32(1.0))


@helper
def _square_sum(weights: Any, row: Any, board: Any) -> Any:
    """Sum of a board's squares, from four rows of sums by byte."""
    return (
        weights[row, int64(board & U(255))]
        + weights[row + 1, int64((board >> U(8)) & U(255))]
        + weights[row + 2, int64((board >> U(16)) & U(255))]
        + weights[row + 3, int64(board >> U(24))]
    )


@helper
def reference_value(weights: Any, own: Any, opp: Any, kings: Any, side: Any, out: Any) -> Any:
    """The value in men for own, the side (colour ``side``) that has just moved.

    ``weights`` float32 (ROWS, WIDTH) as :func:`checkers.reference_weights.kernel_table` makes them, ``out`` float32
    scratch for the terms.
    """
    turned_own, turned_opp, turned_kings = half_turn(own), half_turn(opp), half_turn(kings)
    if side == 0:
        _turned_terms(own, opp, kings, turned_opp, turned_own, turned_kings, out)
        mine, theirs = uint32(own & ~kings), uint32(turned_opp & ~turned_kings)
        my_kings, their_kings = uint32(own & kings), uint32(turned_opp & turned_kings)
    else:
        _turned_terms(turned_own, turned_opp, turned_kings, opp, own, kings, out)
        mine, theirs = uint32(turned_own & ~turned_kings), uint32(opp & ~kings)
        my_kings, their_kings = uint32(turned_own & turned_kings), uint32(opp & kings)
    late = 1 if (my_kings | their_kings) == 0 else 2
    opening, ending = float32(0.0), float32(0.0)
    for i in range(COUNT):
        opening += weights[0, i] * out[i]
        ending += weights[late, i] * out[i]
    opening += _square_sum(weights, 3, mine) - _square_sum(weights, 3, theirs)
    ending += _square_sum(weights, 3 + 8 * late, mine) - _square_sum(weights, 3 + 8 * late, theirs)
    if late == 2:
        opening += _square_sum(weights, 7, my_kings) - _square_sum(weights, 7, their_kings)
        ending += _square_sum(weights, 7 + 8 * late, my_kings) - _square_sum(weights, 7 + 8 * late, their_kings)
    share = opening_share(own, opp)
    return share * opening + (float32(1.0) - share) * ending


@helper
def _add_squares(men: Any, kings: Any, row: Any, sign: Any) -> Any:
    """Add a side's squares and its back rank to a row of parameters."""
    at = COUNT
    for square in range(SQUARES):
        row[at + square] += sign * float32((men >> uint32(square)) & U(1))
        row[at + SQUARES + square] += sign * float32((kings >> uint32(square)) & U(1))
    row[at + 2 * SQUARES + int64(men & U(15))] += sign


@kernel(types.void(types.uint32[:, ::1], types.float32[:, ::1], types.float32[:, ::1]))
def parameter_rows(positions: Any, out: Any, shares: Any) -> Any:
    """What every weight of a phase is multiplied by, for many positions, each for the side that has just moved.

    Args:
        positions: uint32 (positions, 4): black, white, kings, side to move.
        out: float32 (positions, PARAMETERS), filled: terms, men's squares, kings' squares, back rank patterns.
        shares: float32 (positions, 3), filled: the share of each phase.
    """
    for i in range(positions.shape[0]):
        side = 1 - int64(positions[i, 3])
        own = positions[i, 0] if side == 0 else positions[i, 1]
        opp = positions[i, 1] if side == 0 else positions[i, 0]
        kings = positions[i, 2]
        row = out[i]
        row[:] = float32(0.0)
        reference_terms(own, opp, kings, side, row)
        if side == 0:
            opp, foe_kings = half_turn(opp), half_turn(kings)
        else:
            own, foe_kings, kings = half_turn(own), kings, half_turn(kings)
        _add_squares(uint32(own & ~kings), uint32(own & kings), row, float32(1.0))
        _add_squares(uint32(opp & ~foe_kings), uint32(opp & foe_kings), row, float32(-1.0))
        share = opening_share(positions[i, 0], positions[i, 1])
        shares[i, 0] = share
        shares[i, 1] = float32(1.0) - share if positions[i, 2] == 0 else float32(0.0)
        shares[i, 2] = float32(1.0) - share if positions[i, 2] != 0 else float32(0.0)
