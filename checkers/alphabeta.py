"""Fail-soft alpha-beta kernels, one search for all evaluations (theory.md 5).

A node is one call of :func:`alphabeta`, quiescence included; a quiet leaf that its parent values counts too. Below
depth 0 the search goes on while the side to move must capture; a quiet position is evaluated. Scores are the side to
move's; a proven win is 1000 minus its plies from the root.

Moves are ordered: the table's, captures by how many pieces they take, the killers of the ply, then by history; equals
keep the generator's order. The first move of a node with an open window is searched with it, the others with the least
window there is, and again with the open one if they turn out better (principal variation search). Nodes with an open
window take no values from the table, so the line they leave is complete.

A repetition in the line or of the game counts as a draw, from the depth at which positions have keys (TABLE_DEPTH).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int32, int64, types, uint32, uint64

from checkers.bitboard import (
    bits_float,
    down_left,
    down_right,
    float_bits,
    half_turn,
    popcount,
    up_left,
    up_right,
)
from checkers.evaluation import EVALUATION_TYPE, evaluate
from checkers.jit import helper, kernel
from checkers.movegen import generate, generate_captures, generate_quiet, jumpers, ways
from checkers.search_memory import (
    ENDGAME_PIECES,
    EQUAL_DEPTH,
    EXACT,
    FINISHED,
    GENERATION,
    INFINITY,
    LEAVES,
    LINE_LENGTH,
    LOWER,
    NO_ENTRY,
    NO_MOVE,
    NODE_LIMIT,
    NODES,
    ORDERING,
    PLY_LIMIT,
    PROVEN,
    QUIESCENCE,
    QUIET_LIMIT,
    REDUCE,
    REPETITION,
    ROOT,
    STOPPED,
    TABLE,
    TABLE_DEPTH,
    UPPER,
    WIN,
    WORKSPACE_TYPE,
    bucket_of,
    endgame_value,
    entry_bound,
    entry_depth,
    entry_move,
    entry_value,
    find_entry,
    store_entry,
)
from checkers.zobrist import key_after, verification_key, zobrist_key

#: A move that has been tried sorts below all others.
_TRIED = -(1 << 30)
#: History scores are halved when one reaches this; killers and captures stand above.
_MOST_HISTORY = 1 << 20
#: Moves of a node that are searched at full depth before late ones are reduced (only where reductions are on).
_FULL_MOVES = 3


@helper
def can_step(own: Any, opp: Any, kings: Any, side: Any) -> Any:
    """Whether the side to move has a quiet move."""
    empty = uint32(~(own | opp))
    down, up = ways(own, kings, side)
    return ((down & (up_right(empty) | up_left(empty))) | (up & (down_right(empty) | down_left(empty)))) != 0


@helper
def _above(value: Any) -> Any:
    """The next larger float32."""
    if value == float32(0.0):
        return float32(1e-30)
    bits = float_bits(value)
    return bits_float(uint32(bits + uint32(1))) if value > float32(0.0) else bits_float(uint32(bits - uint32(1)))


@helper
def _history_slot(code: Any) -> Any:
    """Starting square and first direction of a move, as an index."""
    return int64(code & uint32(31)) | (int64((code >> uint32(9)) & uint32(3)) << 5)


@helper
def _probed(own: Any, opp: Any, kings: Any, side: Any, ply: Any, work: Any) -> Any:
    """Value of a position with few enough pieces, from the database."""
    if side == 1:
        return endgame_value(half_turn(own), half_turn(opp), half_turn(kings), ply, work)
    return endgame_value(own, opp, kings, ply, work)


@helper
def _is_draw(key: Any, place: Any, memory: Any) -> Any:
    """Whether the position at this place of the path is a draw by repetition or by a limit of the policy."""
    quiet = memory.quiet[place]
    if memory.counters[REPETITION] != 0:
        for i in range(place - 4, place - quiet - 1, -2):
            if memory.path[i] == key:
                return True
    if memory.counters[QUIET_LIMIT] != 0 and quiet >= memory.counters[QUIET_LIMIT]:
        return True
    return memory.counters[PLY_LIMIT] != 0 and place > memory.counters[PLY_LIMIT]


@helper
def _rank_moves(moves: Any, base: Any, count: Any, captures: Any, side: Any, ply: Any, first: Any, memory: Any) -> Any:
    """Give every move its ordering score; the table's move has been tried already."""
    for i in range(base, base + count):
        code = moves[i, 3]
        if captures:
            memory.order[i] = int32((code >> uint32(5)) & uint32(15))
        elif code == memory.killers[ply, 0]:
            memory.order[i] = int32(2 * _MOST_HISTORY + 1)
        elif code == memory.killers[ply, 1]:
            memory.order[i] = int32(2 * _MOST_HISTORY)
        else:
            memory.order[i] = memory.history[side, _history_slot(code)]
    if first < count:
        memory.order[base + first] = int32(_TRIED)


@helper
def _best_ranked(base: Any, count: Any, memory: Any) -> Any:
    """Index of the untried move with the highest ordering score, the first of equals; it counts as tried now."""
    best = int64(0)
    for i in range(1, count):
        if memory.order[base + i] > memory.order[base + best]:
            best = int64(i)
    memory.order[base + best] = int32(_TRIED)
    return best


@helper
def _reward(code: Any, side: Any, ply: Any, depth: Any, memory: Any) -> Any:
    """A quiet move cut off: remember it for the ordering."""
    if memory.killers[ply, 0] != code:
        memory.killers[ply, 1] = memory.killers[ply, 0]
        memory.killers[ply, 0] = code
    slot = _history_slot(code)
    memory.history[side, slot] += int32(depth * depth)
    if memory.history[side, slot] > _MOST_HISTORY:
        for colour in range(2):
            for i in range(128):
                memory.history[colour, i] >>= 1


@helper
def _keep_line(code: Any, ply: Any, memory: Any) -> Any:
    """The best line from this ply is this move and the best line after it."""
    memory.pv[ply, ply] = code
    length = memory.pv_length[ply + 1]
    for i in range(ply + 1, length):
        memory.pv[ply, i] = memory.pv[ply + 1, i]
    memory.pv_length[ply] = max(length, ply + 1)


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
    memory = work.memory
    memory.counters[NODES] += 1
    memory.pv_length[ply] = ply
    who = jumpers(own, opp, kings, side)
    if who == 0 and not can_step(own, opp, kings, side):
        return float32(float32(ply) - float32(WIN))
    if popcount(uint32(own | opp)) <= memory.counters[ENDGAME_PIECES]:
        return _probed(own, opp, kings, side, ply, work)
    if depth <= 0 and (who == 0 or memory.counters[QUIESCENCE] == 0):
        memory.counters[LEAVES] += 1
        return float32(-evaluate(evaluation, opp, own, kings, 1 - side, memory.hidden))
    if memory.counters[STOPPED] != 0:
        return float32(0.0)
    if memory.counters[NODES] >= memory.counters[NODE_LIMIT]:
        memory.counters[STOPPED] = 1
        return float32(0.0)

    open_window = _above(alpha) < beta
    bucket = int64(0)
    first = int64(NO_MOVE)
    check = uint64(0)
    place = memory.counters[ROOT] + ply
    if depth >= TABLE_DEPTH:
        memory.path[place] = key
        if _is_draw(key, place, memory):
            return float32(0.0)
        entry = uint64(NO_ENTRY)
        if memory.counters[TABLE] != 0:
            bucket = bucket_of(work.table, key)
            check = verification_key(own, opp, kings)
            entry = find_entry(work.table, bucket, key, check)
        if entry != uint64(NO_ENTRY):
            first = entry_move(entry)
            value = entry_value(entry, ply)
            stored = entry_depth(entry)
            any_depth = memory.counters[EQUAL_DEPTH] == 0
            if (not open_window) and (
                stored == depth
                or (any_depth and (stored > depth or value > float32(PROVEN) or value < float32(-PROVEN)))
            ):
                bound = entry_bound(entry)
                if (value >= beta and bound != UPPER) or (value <= alpha and bound != LOWER):
                    return value

    moves = work.moves
    if who != 0:
        count = generate_captures(own, opp, kings, side, who, moves, base)
    else:
        count = generate_quiet(own, opp, kings, side, moves, base)
    best = float32(-INFINITY)
    best_move: Any = int64(0)
    lower = alpha
    ranked = False
    tried = 0
    for turn in range(-1, count):
        i: Any = turn
        if turn == -1:
            if first >= count:
                continue
            i = first
        elif depth >= TABLE_DEPTH and memory.counters[ORDERING] != 0:
            if not ranked:
                _rank_moves(moves, base, count, who != 0, side, ply, first, memory)
                ranked = True
                if first < count:
                    tried = 1
            if tried == count:
                break
            i = _best_ranked(base, count, memory)
            tried += 1
        elif turn == first:
            continue
        new_own, new_opp, new_kings = moves[base + i, 0], moves[base + i, 1], moves[base + i, 2]
        if (
            depth <= 1
            and (jumpers(new_opp, new_own, new_kings, 1 - side) == 0 or memory.counters[QUIESCENCE] == 0)
            and popcount(uint32(new_own | new_opp)) > memory.counters[ENDGAME_PIECES]
        ):
            # a quiet leaf is valued here: it saves the call, and leaves are the most frequent nodes
            memory.counters[NODES] += 1
            memory.counters[LEAVES] += 1
            memory.pv_length[ply + 1] = ply + 1
            if can_step(new_opp, new_own, new_kings, 1 - side) or jumpers(new_opp, new_own, new_kings, 1 - side) != 0:
                value = evaluate(evaluation, new_own, new_opp, new_kings, side, memory.hidden)
            else:
                value = float32(float32(WIN) - float32(ply + 1))
        else:
            child = uint64(0)
            if depth > TABLE_DEPTH:
                child = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
                progress = who != 0 or (own & ~new_own & kings) == 0
                memory.quiet[place + 1] = 0 if progress else memory.quiet[place] + 1
            less = int64(depth - 1)
            if memory.counters[REDUCE] != 0 and depth >= 4 and tried > _FULL_MOVES and who == 0 and not open_window:
                less = int64(depth - 2)
            upper = _above(lower) if open_window and best > float32(-INFINITY) else beta
            while True:
                value = float32(
                    -alphabeta(
                        new_opp, new_own, new_kings, 1 - side, less, ply + 1, float32(-upper), float32(-lower), child,
                        base + count, evaluation, work,
                    )
                )  # fmt: skip
                if value <= lower or memory.counters[STOPPED] != 0:
                    break
                if less < depth - 1:
                    less = int64(depth - 1)
                elif upper < beta:
                    upper = beta
                else:
                    break
        if value > best:
            best = value
            best_move = i
            if value > lower:
                lower = value
                if open_window:
                    _keep_line(moves[base + i, 3], ply, memory)
                if value >= beta:
                    if who == 0 and depth >= TABLE_DEPTH:
                        _reward(moves[base + i, 3], side, ply, depth, memory)
                    break
    if depth >= TABLE_DEPTH and memory.counters[TABLE] != 0 and memory.counters[STOPPED] == 0:
        bound = EXACT
        if best <= alpha:
            bound = UPPER
        elif best >= beta:
            bound = LOWER
        store_entry(work.table, bucket, key, check, memory.counters[GENERATION], depth, bound, best_move, best, ply)
    return best


@helper
def _search_moves(
    own: Any, opp: Any, kings: Any, side: Any, depth: Any, key: Any, count: Any, alpha: Any, beta: Any, window: Any,
    order: Any, current: Any, evaluation: Any, work: Any,
) -> Any:  # fmt: skip
    """Search the root's moves in ``order`` to ``depth``; fill ``current`` and return the turn of the best."""
    memory = work.memory
    best = float32(-INFINITY)
    best_turn = int64(0)
    for turn in range(count):
        i = order[turn]
        new_own, new_opp, new_kings = work.moves[i, 0], work.moves[i, 1], work.moves[i, 2]
        child = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
        progress = opp != new_opp or (own & ~new_own & kings) == 0
        memory.quiet[memory.counters[ROOT] + 1] = 0 if progress else memory.quiet[memory.counters[ROOT]] + 1
        lower = float32(max(best - window, alpha))
        # with a window every score near the best must be exact, so it is searched with an open one
        upper = _above(lower) if turn > 0 and window == float32(0.0) else beta
        value = float32(
            -alphabeta(
                new_opp, new_own, new_kings, 1 - side, depth - 1, 1, float32(-upper), float32(-lower), child, count,
                evaluation, work,
            )
        )  # fmt: skip
        if value > lower and upper < beta and memory.counters[STOPPED] == 0:
            value = float32(
                -alphabeta(
                    new_opp, new_own, new_kings, 1 - side, depth - 1, 1, float32(-beta), float32(-lower), child, count,
                    evaluation, work,
                )
            )  # fmt: skip
        if memory.counters[STOPPED] != 0:
            break
        current[i] = value
        if value > best:
            best = value
            best_turn = int64(turn)
            _keep_line(work.moves[i, 3], 0, memory)
            if value >= beta:
                break
    return best_turn


@kernel(
    types.int64(
        types.uint32, types.uint32, types.uint32, types.int64, types.int64, types.float32, types.float32,
        EVALUATION_TYPE, WORKSPACE_TYPE, types.float32[::1],
    )
)  # fmt: skip
def search_root(
    own: Any, opp: Any, kings: Any, side: Any, max_depth: Any, window: Any, aspiration: Any, evaluation: Any,
    work: Any, scores: Any,
) -> Any:  # fmt: skip
    """Deepen from 1 to ``max_depth`` plies; return the last depth that was finished (0 if none).

    The legal moves are left in ``work.moves``. ``scores`` float32 (moves + 1,) gets the mover's score of each move at
    that depth, and at the end the index of the best. Scores above best - ``window`` are exact, the others upper bounds.
    Equal moves keep the generator's order. Without a window, each depth is first searched within ``aspiration`` of the
    score before (0: off). The finished depth's line is left in the record's ``line``.
    """
    memory = work.memory
    memory.counters[FINISHED] = 0
    memory.counters[LINE_LENGTH] = 0
    memory.counters[GENERATION] = (memory.counters[GENERATION] + 1) & 3
    memory.killers[:] = uint32(0xFFFFFFFF)
    memory.history[:] = int32(0)
    count = generate(own, opp, kings, side, work.moves, 0)
    key = zobrist_key(own, opp, kings, side)
    memory.path[memory.counters[ROOT]] = key
    order = np.arange(count)
    current = np.empty(count, np.float32)
    for depth in range(1, max_depth + 1):
        alpha, beta = float32(-INFINITY), float32(INFINITY)
        if window == float32(0.0) and aspiration > float32(0.0) and depth > 3:
            alpha, beta = float32(scores[order[0]] - aspiration), float32(scores[order[0]] + aspiration)
        while True:
            turn = _search_moves(
                own, opp, kings, side, depth, key, count, alpha, beta, window, order, current, evaluation, work
            )
            best = current[order[turn]]
            if memory.counters[STOPPED] != 0 or (alpha < best < beta):
                break
            # outside the window its score is a bound only: open that side
            if best <= alpha:
                alpha = float32(-INFINITY)
            else:
                beta = float32(INFINITY)
        if memory.counters[STOPPED] != 0:
            break
        best_move = order[turn]
        for later in range(turn, 0, -1):
            order[later] = order[later - 1]
        order[0] = best_move
        for i in range(count):
            scores[i] = current[i]
        scores[count] = float32(best_move)
        memory.counters[FINISHED] = depth
        memory.counters[LINE_LENGTH] = memory.pv_length[0]
        for i in range(memory.pv_length[0]):
            memory.line[i] = memory.pv[0, i]
        if best > float32(PROVEN) or best < float32(-PROVEN):
            break
    return memory.counters[FINISHED]
