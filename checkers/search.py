"""Fail-soft alpha-beta with transposition table and iterative deepening, one kernel for all evaluations (theory.md 5).

A node is one call of :func:`alphabeta`, quiescence included. Below depth 0 the search goes on while the side to move
must capture; a quiet position is evaluated. Scores are the side to move's: a proven win is 1000 minus its plies.

Transposition table: one entry (two uint64) per slot, addressed by the low bits of the Zobrist key. A lookup compares
the 64-bit key and a 16-bit verification key; a new entry always replaces the old one. Positions with one ply to search
are not kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, int64, types, uint32, uint64
from numpy.typing import NDArray

from checkers.bitboard import bits_float, down_left, down_right, float_bits, up_left, up_right
from checkers.errors import SpecificationError
from checkers.evaluation import EVALUATION_TYPE, Evaluation, evaluate
from checkers.jit import helper, kernel, tuple_type
from checkers.movegen import (
    LINE_ROWS,
    MAX_MOVES,
    generate,
    generate_captures,
    generate_quiet,
    jumpers,
    legal_move_codes,
    new_buffer,
    ways,
)
from checkers.moves import Move, play
from checkers.position import Position
from checkers.zobrist import key_after, verification_key, zobrist_key

#: A win on the board; a win in n plies scores WIN - n.
WIN = 1000.0
#: Scores beyond this are proven wins or losses.
PROVEN = 900.0
INFINITY = 2000.0

#: Deepest search: the move buffer has room for the line, captures after it included.
MOST_DEPTH = 64

#: Least depth that the table keeps: to look a position up costs more than to search it one ply deep.
TABLE_DEPTH = 2

EXACT, LOWER, UPPER = 0, 1, 2
NO_MOVE = 63

#: Slots of ``Workspace.counters``.
NODES, LEAVES, NODE_LIMIT, STOPPED, EQUAL_DEPTH = range(5)


class Workspace(NamedTuple):
    """The memory of one searching thread.

    Shapes: ``moves`` uint32 (rows, 4), ``table`` uint64 (slots, 2), ``hidden`` float32 (hidden,), ``counters`` int64
    (5,).
    """

    moves: NDArray[np.uint32]
    table: NDArray[np.uint64]
    hidden: NDArray[np.float32]
    counters: NDArray[np.int64]


WORKSPACE_TYPE = tuple_type(
    [types.uint32[:, ::1], types.uint64[:, ::1], types.float32[::1], types.int64[::1]], Workspace
)


def new_workspace(evaluation: Evaluation, table_bits: int = 18) -> Workspace:
    """A workspace with 2 ** ``table_bits`` table slots (16 bytes each)."""
    return Workspace(
        new_buffer(LINE_ROWS),
        np.zeros((1 << table_bits, 2), np.uint64),
        np.zeros(evaluation.weights.shape[1], np.float32),
        np.zeros(5, np.int64),
    )


@helper
def _can_step(own: Any, opp: Any, kings: Any, side: Any) -> Any:
    """Whether the side to move has a quiet move."""
    empty = uint32(~(own | opp))
    down, up = ways(own, kings, side)
    return ((down & (up_right(empty) | up_left(empty))) | (up & (down_right(empty) | down_left(empty)))) != 0


@helper
def _stored(value: Any, ply: Any) -> Any:
    """A score as the table keeps it: proven scores count from the node, not from the root."""
    if value > float32(PROVEN):
        return float32(value + float32(ply))
    if value < float32(-PROVEN):
        return float32(value - float32(ply))
    return value


@helper
def _recalled(value: Any, ply: Any) -> Any:
    """The inverse of :func:`_stored`."""
    if value > float32(PROVEN):
        return float32(value - float32(ply))
    if value < float32(-PROVEN):
        return float32(value + float32(ply))
    return value


@kernel(
    types.float32(
        types.uint32, types.uint32, types.uint32, types.int64, types.int64, types.int64, types.float32, types.float32,
        types.uint64, types.int64, EVALUATION_TYPE, WORKSPACE_TYPE,
    )
)  # fmt: skip
def alphabeta(
    own: Any, opp: Any, kings: Any, side: Any, depth: Any, ply: Any, alpha: Any, beta: Any, key: Any, base: Any,
    evaluation: Any, work: Any,
) -> Any:  # fmt: skip
    """Fail-soft value of a position for the side to move.

    ``depth`` plies are left, ``ply`` have been made from the root, ``key`` is the Zobrist key (needed from TABLE_DEPTH
    up), ``base`` the first free row of the move buffer.
    """
    work.counters[NODES] += 1
    who = jumpers(own, opp, kings, side)
    if who == 0:
        if not _can_step(own, opp, kings, side):
            return float32(float32(ply) - float32(WIN))
        if depth <= 0:
            work.counters[LEAVES] += 1
            return float32(-evaluate(evaluation, opp, own, kings, 1 - side, work.hidden))
    if work.counters[STOPPED] != 0:
        return float32(0.0)
    if work.counters[NODES] >= work.counters[NODE_LIMIT]:
        work.counters[STOPPED] = 1
        return float32(0.0)

    slot = int64(0)
    first = int64(NO_MOVE)
    check = uint64(0)
    if depth >= TABLE_DEPTH:
        slot = int64(key & uint64(work.table.shape[0] - 1))
        check = verification_key(own, opp, kings)
        entry = work.table[slot, 1]
        if work.table[slot, 0] == key and (entry >> uint64(16)) & uint64(0xFFFF) == check:
            stored_depth = int64(entry & uint64(0xFF))
            first = int64((entry >> uint64(10)) & uint64(63))
            if stored_depth == depth or (stored_depth > depth and work.counters[EQUAL_DEPTH] == 0):
                bound = int64((entry >> uint64(8)) & uint64(3))
                value = _recalled(bits_float(uint32(entry >> uint64(32))), ply)
                if bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha):
                    return value

    moves = work.moves
    if who != 0:
        count = generate_captures(own, opp, kings, side, who, moves, base)
    else:
        count = generate_quiet(own, opp, kings, side, moves, base)
    best = float32(-INFINITY)
    best_move: Any = int64(0)
    lower = alpha
    # the table's move is tried first, then the generator's order
    for turn in range(-1, count):
        i: Any = turn
        if turn == -1:
            if first >= count:
                continue
            i = first
        elif turn == first:
            continue
        new_own, new_opp, new_kings = moves[base + i, 0], moves[base + i, 1], moves[base + i, 2]
        if depth <= 1 and jumpers(new_opp, new_own, new_kings, 1 - side) == 0:
            # a quiet leaf is valued here: it saves the call, and leaves are the most frequent nodes
            work.counters[NODES] += 1
            work.counters[LEAVES] += 1
            if _can_step(new_opp, new_own, new_kings, 1 - side):
                value = evaluate(evaluation, new_own, new_opp, new_kings, side, work.hidden)
            else:
                value = float32(float32(WIN) - float32(ply + 1))
        else:
            child = uint64(0)
            if depth > TABLE_DEPTH:
                child = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
            value = float32(
                -alphabeta(
                    new_opp, new_own, new_kings, 1 - side, depth - 1, ply + 1, float32(-beta), float32(-lower), child,
                    base + count, evaluation, work,
                )
            )  # fmt: skip
        if value > best:
            best = value
            best_move = i
            if value > lower:
                lower = value
                if value >= beta:
                    break
    if depth >= TABLE_DEPTH and work.counters[STOPPED] == 0:
        kind = EXACT
        if best <= alpha:
            kind = UPPER
        elif best >= beta:
            kind = LOWER
        packed = (
            uint64(depth)
            | (uint64(kind) << uint64(8))
            | (uint64(min(best_move, int64(NO_MOVE))) << uint64(10))
            | (check << uint64(16))
            | (uint64(float_bits(_stored(best, ply))) << uint64(32))
        )
        work.table[slot, 0] = key
        work.table[slot, 1] = packed
    return best


@kernel(
    types.int64(
        types.uint32, types.uint32, types.uint32, types.int64, types.int64, types.float32, EVALUATION_TYPE,
        WORKSPACE_TYPE, types.float32[::1],
    )
)  # fmt: skip
def search_root(
    own: Any, opp: Any, kings: Any, side: Any, max_depth: Any, window: Any, evaluation: Any, work: Any, scores: Any
) -> Any:
    """Deepen from 1 to ``max_depth`` plies; return the last depth that was finished (0 if none).

    The legal moves are left in ``work.moves``. ``scores`` float32 (moves + 1,) gets the mover's score of each move at
    that depth, and at the end the index of the best. Scores above best - ``window`` are exact, the others are upper
    bounds. Equal moves keep the generator's order.
    """
    count = generate(own, opp, kings, side, work.moves, 0)
    key = zobrist_key(own, opp, kings, side)
    order = np.arange(count)
    current = np.empty(count, np.float32)
    finished = int64(0)
    for depth in range(1, max_depth + 1):
        best = float32(-INFINITY)
        best_turn = 0
        for turn in range(count):
            i = order[turn]
            new_own, new_opp, new_kings = work.moves[i, 0], work.moves[i, 1], work.moves[i, 2]
            child = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
            lower = float32(max(best - window, float32(-INFINITY)))
            value = float32(
                -alphabeta(
                    new_opp, new_own, new_kings, 1 - side, depth - 1, 1, float32(-INFINITY), float32(-lower), child,
                    count, evaluation, work,
                )
            )  # fmt: skip
            current[i] = value
            if value > best:
                best = value
                best_turn = turn
        if work.counters[STOPPED] != 0:
            break
        finished = int64(depth)
        best_move = order[best_turn]
        for turn in range(best_turn, 0, -1):
            order[turn] = order[turn - 1]
        order[0] = best_move
        for i in range(count):
            scores[i] = current[i]
        scores[count] = float32(best_move)
        if best > float32(PROVEN) or best < float32(-PROVEN):
            break
    return finished


@kernel(types.int64(types.uint32, types.uint32, types.uint32, types.int64, WORKSPACE_TYPE))
def table_move(own: Any, opp: Any, kings: Any, side: Any, work: Any) -> Any:
    """Code of the best move that the table holds for a position, or -1."""
    key = zobrist_key(own, opp, kings, side)
    slot = int64(key & uint64(work.table.shape[0] - 1))
    entry = work.table[slot, 1]
    check = verification_key(own, opp, kings)
    if work.table[slot, 0] != key or (entry >> uint64(16)) & uint64(0xFFFF) != check:
        return int64(-1)
    first = int64((entry >> uint64(10)) & uint64(63))
    if first >= generate(own, opp, kings, side, work.moves, 0):
        return int64(-1)
    return int64(work.moves[first, 3])


class SearchResult(NamedTuple):
    """What a search found.

    ``scores`` maps every legal move's code to its score from the mover's side; those above best - window are exact, the
    others upper bounds, one that equals best - window too. ``pv`` starts with the best move and may be cut where the
    table was overwritten.
    """

    move: Move
    score: float
    depth: int
    nodes: int
    pv: tuple[Move, ...]
    scores: dict[int, float]


class Searcher:
    """A search with its memory; one object serves one thread.

    Args:
        evaluation: what leaves are valued with.
        depth: plies to search, 1 or more.
        node_limit: stop after about so many nodes (the last finished depth counts).
        table_bits: the transposition table has 2 ** table_bits entries of 16 bytes.
        equal_depth: use table entries of equal depth only, so that the value is that of plain minimax.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        depth: int,
        *,
        node_limit: int | None = None,
        table_bits: int = 18,
        equal_depth: bool = False,
    ) -> None:
        if depth < 1:
            raise SpecificationError(f"search depth {depth} is too small; right would be 1 or more")
        if depth > MOST_DEPTH:
            raise SpecificationError(f"search depth {depth} is too large; right would be at most {MOST_DEPTH}")
        self.evaluation = evaluation
        self.depth = depth
        self.node_limit = node_limit
        self._work = new_workspace(evaluation, table_bits)
        self._work.counters[EQUAL_DEPTH] = int(equal_depth)
        self._scores = np.zeros(MAX_MOVES + 1, np.float32)

    def clear(self) -> None:
        """Forget all positions, so that the next search depends on nothing before it."""
        self._work.table.fill(0)

    def search(self, position: Position, *, window: float = 0.0, line: bool = True) -> SearchResult:
        """Search a position that has a legal move; scores within ``window`` of the best are exact.

        Without ``line`` the principal variation is the best move alone.
        """
        work = self._work
        board = (position.own, position.opponent, position.kings, int(position.side))
        work.counters[NODES] = work.counters[LEAVES] = work.counters[STOPPED] = 0
        work.counters[NODE_LIMIT] = self.node_limit or np.iinfo(np.int64).max
        scores = self._scores
        finished = search_root(*board, self.depth, window, self.evaluation, work, scores)
        codes: list[int] = legal_move_codes(*board).tolist()
        count = len(codes)
        if finished == 0:  # not even one ply within the limit: the first move, unvalued
            scores[: count + 1] = 0
        best = int(scores[count])
        move = Move.from_code(codes[best])
        return SearchResult(
            move,
            float(scores[best]) + 0.0,
            int(finished),
            int(work.counters[NODES]),
            (move, *(self._line(play(position, move), int(finished) - 1) if line else ())),
            dict(zip(codes, scores[:count].tolist(), strict=True)),
        )

    def _line(self, position: Position, plies: int) -> list[Move]:
        line: list[Move] = []
        for _ in range(plies):
            code = table_move(position.own, position.opponent, position.kings, int(position.side), self._work)
            if code < 0:
                break
            line.append(Move.from_code(int(code)))
            position = play(position, line[-1])
        return line
