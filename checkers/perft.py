"""Perft of positions: counts of move sequences, for proving a move generator (theory.md 7.1).

Two counts are usual. One counts every capture path; the other counts moves of a position that have the same result
once. From the start position they differ from depth 12 on.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from checkers.jit import helper, kernel
from checkers.movegen import count_quiet, generate, generate_captures, jumpers, new_buffer
from checkers.movegen import perft as perft_kernel
from checkers.position import Position


@helper
def drop_same_results(moves: Any, base: Any, count: Any) -> Any:
    """Keep the first of the moves ``moves[base:base + count]`` with each result; return how many are left."""
    end = base
    for i in range(base, base + count):
        new = True
        for j in range(base, end):
            if moves[i, 0] == moves[j, 0] and moves[i, 1] == moves[j, 1] and moves[i, 2] == moves[j, 2]:
                new = False
                break
        if new:
            for column in range(4):
                moves[end, column] = moves[i, column]
            end += 1
    return end - base


@kernel("int64(uint32,uint32,uint32,int64,int64,uint32[:,::1],int64)")
def distinct_perft(own: Any, opp: Any, kings: Any, side: Any, depth: Any, moves: Any, base: Any) -> Any:
    """Number of sequences of ``depth`` plies, moves of a position with the same result counted once.

    Quiet moves never have the same result, so only captures are compared.
    """
    who = jumpers(own, opp, kings, side)
    if who != 0:
        count = generate_captures(own, opp, kings, side, who, moves, base)
        count = drop_same_results(moves, base, count)
        if depth == 1:
            return count
    else:
        if depth == 1:
            return count_quiet(own, opp, kings, side)
        count = generate(own, opp, kings, side, moves, base)
    nodes = int64(0)
    for i in range(base, base + count):
        nodes += distinct_perft(moves[i, 1], moves[i, 0], moves[i, 2], 1 - side, depth - 1, moves, base + count)
    return nodes


def perft_count(position: Position, depth: int, *, distinct: bool = False) -> int:
    """Number of move sequences of ``depth`` plies; 1 at depth 0.

    Every capture path is counted, or, if ``distinct``, moves of a position with the same result once.
    """
    if depth == 0:
        return 1
    count = distinct_perft if distinct else perft_kernel
    board = (position.own, position.opponent, position.kings, int(position.side))
    return int(count(*board, depth, new_buffer(), 0))


def divide_perft(position: Position, depth: int, *, distinct: bool = False) -> dict[str, int]:
    """The count under each move, in the generator's order; if ``distinct``, one move of those with the same result."""
    counts: dict[str, int] = {}
    seen: set[Position] = set()
    for move in position.legal_moves():
        after = position.play(move)
        if not (distinct and after in seen):
            counts[str(move)] = perft_count(after, depth - 1, distinct=distinct)
        seen.add(after)
    return counts
