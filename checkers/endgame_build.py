"""Retrograde analysis of endgame slices: win, draw or loss, and its distance in plies (theory.md 7.3).

A slice and its mirror (the same material, the other side to move) are solved together, after all slices that captures
and promotions lead to. Distances are final in increasing order: a lost position makes its predecessors won, one ply
longer; a won position is one way less for its predecessors to get away, and when none is left they are lost. What is
never reached is drawn. No move is a loss in 0 plies, so won distances are odd and lost ones even.
"""

from __future__ import annotations

from typing import Any

from numba import int64, types, uint8, uint32

from checkers.bitboard import (
    down_left,
    down_right,
    half_turn,
    lowest,
    popcount,
    up_left,
    up_right,
    without_lowest,
)
from checkers.endgame_index import MOST, numbered_position, position_number, slice_size
from checkers.jit import helper, kernel
from checkers.movegen import generate, jumpers

#: A value is the distance in plies: odd won, even lost; DRAWN where the game never ends, NONE where no position is.
DRAWN, NONE = 255, 254
#: Slices are found by ``slice_code``.
CODES = (MOST + 1) ** 4


@helper
def slice_code(own_men: Any, own_kings: Any, opp_men: Any, opp_kings: Any) -> Any:
    """The slice as one number."""
    return ((own_men * (MOST + 1) + own_kings) * (MOST + 1) + opp_men) * (MOST + 1) + opp_kings


@helper
def look_up(own: Any, opp: Any, kings: Any, values: Any, offsets: Any) -> Any:
    """The value of a position seen by its side to move, which moves up in number; -1 where its slice is not there.

    ``values`` uint8 holds all slices, ``offsets`` int64 (CODES,) where each begins, or -1. Without own pieces the
    position is lost, without opp pieces it cannot be asked for.
    """
    if own == 0:
        return int64(0)
    code = slice_code(
        popcount(uint32(own & ~kings)),
        popcount(uint32(own & kings)),
        popcount(uint32(opp & ~kings)),
        popcount(uint32(opp & kings)),
    )
    if offsets[code] < 0:
        return int64(-1)
    return int64(values[offsets[code] + position_number(own, opp, kings)])


@kernel(
    types.int64(
        types.int64, types.int64, types.int64, types.int64, types.uint8[::1], types.uint8[::1], types.uint8[::1],
        types.uint8[::1], types.int64[::1], types.uint32[:, ::1],
    )
)  # fmt: skip
def start_slice(
    own_men: Any, own_kings: Any, opp_men: Any, opp_kings: Any, due: Any, ways: Any, latest: Any, values: Any,
    offsets: Any, moves: Any,
) -> Any:  # fmt: skip
    """First pass over a slice: what captures, promotions and lack of moves decide.

    Per position: ``due`` the distance at which it is known to be final so far (DRAWN: none), ``ways`` its quiet moves
    that stay in the slice pair and are not yet known to lose, ``latest`` the longest loss by the other moves (DRAWN:
    one of them does not lose). Returns -1 when a slice that it needs is missing.
    """
    for number in range(slice_size(own_men, own_kings, opp_men, opp_kings)):
        own, opp, kings = numbered_position(number, own_men, own_kings, opp_men, opp_kings)
        due[number], ways[number], latest[number] = uint8(DRAWN), uint8(0), uint8(0)
        if own == 0:
            due[number] = uint8(NONE)
            continue
        count = generate(own, opp, kings, 0, moves, 0)
        if count == 0:
            due[number] = uint8(0)
            continue
        best = int64(DRAWN)
        longest = int64(0)
        inside = 0
        saved = False
        for i in range(count):
            new_own, new_opp, new_kings = moves[i, 0], moves[i, 1], moves[i, 2]
            if new_opp == opp and popcount(new_kings) == popcount(kings):
                inside += 1
                continue
            value = look_up(half_turn(new_opp), half_turn(new_own), half_turn(new_kings), values, offsets)
            if value < 0:
                return int64(-1)
            if value == DRAWN:
                saved = True
            elif value & 1 == 0:
                best = min(best, value + 1)
            else:
                longest = max(longest, value)
        ways[number] = uint8(inside)
        latest[number] = uint8(DRAWN) if saved else uint8(longest)
        if best != DRAWN:
            due[number] = uint8(best)
        elif inside == 0 and not saved:
            due[number] = uint8(longest + 1)
    return int64(0)


@helper
def _reach(
    own: Any, opp: Any, kings: Any, at: Any, source: Any, distance: Any, due: Any, ways: Any, latest: Any
) -> Any:
    """The piece on ``at`` (of ``opp``, which has just moved) came from ``source``: tell the position before it."""
    before_own = uint32((opp & ~at) | source)
    before_kings = uint32((kings & ~at) | source) if (kings & at) != 0 else kings
    # seen by the side that moved, which moves down in number here
    if jumpers(before_own, own, before_kings, 1) != 0:
        return  # it had to capture, so it did not make this move
    number = position_number(half_turn(before_own), half_turn(own), half_turn(before_kings))
    if distance & 1 == 0:
        if due[number] == DRAWN or due[number] > distance + 1:
            due[number] = uint8(distance + 1)
    else:
        ways[number] -= uint8(1)
        if ways[number] == 0 and due[number] == DRAWN and latest[number] != DRAWN:
            due[number] = uint8(max(int64(latest[number]), distance) + 1)


@kernel(
    types.int64(
        types.int64, types.int64, types.int64, types.int64, types.int64, types.uint8[::1], types.uint8[::1],
        types.uint8[::1], types.uint8[::1],
    )
)  # fmt: skip
def finish_distance(
    own_men: Any, own_kings: Any, opp_men: Any, opp_kings: Any, distance: Any, done: Any, due: Any, ways: Any,
    latest: Any,
) -> Any:  # fmt: skip
    """Positions of a slice that are final at ``distance`` tell their predecessors, in the mirror; return how many.

    ``done`` is the slice's own ``due``; ``due``, ``ways`` and ``latest`` are the mirror's.
    """
    found = int64(0)
    for number in range(done.shape[0]):
        if done[number] != distance:
            continue
        found += 1
        own, opp, kings = numbered_position(number, own_men, own_kings, opp_men, opp_kings)
        empty = uint32(~(own | opp))
        movers = opp
        while movers != 0:
            at = lowest(movers)
            movers = without_lowest(movers)
            royal = (kings & at) != 0
            # opp moves up the diagram, to lower numbers: its men came from below
            sources = down_left(at) | down_right(at)
            if royal:
                sources |= up_left(at) | up_right(at)
            sources = uint32(sources & empty)
            while sources != 0:
                source = lowest(sources)
                sources = without_lowest(sources)
                _reach(own, opp, kings, at, source, distance, due, ways, latest)
    return found
