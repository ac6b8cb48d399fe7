"""Kernels that play training games and matches between networks, without a Python object per move (theory.md 4.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, int64, types, uint64
from numpy.typing import NDArray

from checkers.alphabeta import alphabeta
from checkers.chance import random_below, random_float
from checkers.draw_tracking import MOST_PLIES, STATE, is_drawn, start_tracking, track
from checkers.evaluation import EVALUATION_TYPE
from checkers.features import pack_features
from checkers.jit import helper, kernel, tuple_type
from checkers.movegen import generate
from checkers.search_memory import INFINITY, WORKSPACE_TYPE
from checkers.zobrist import key_after, zobrist_key
from learners.network import fill_table, forward_backward


class Learner(NamedTuple):
    """A network in training and all that TD(λ) keeps for it.

    Shapes: ``parameters``, ``gradient``, ``momentum`` float64 (parameters,), ``rates`` float64 (parameters,): the
    learning rate of each; ``traces`` float64 (2, parameters): one per colour; ``bits`` int64 (features,);
    ``activation`` float64 (hidden,). ``settings`` float64 (8,): gamma, lambda, momentum, exploration, reward of a win,
    of a loss, of a draw, and 1 to learn from both colours' moves (0: from the learner's alone).
    """

    parameters: NDArray[np.float64]
    traces: NDArray[np.float64]
    gradient: NDArray[np.float64]
    momentum: NDArray[np.float64]
    rates: NDArray[np.float64]
    bits: NDArray[np.int64]
    activation: NDArray[np.float64]
    settings: NDArray[np.float64]


_FLOATS = types.float64[::1]
LEARNER_TYPE = tuple_type(
    [_FLOATS, types.float64[:, ::1], _FLOATS, _FLOATS, _FLOATS, types.int64[::1], _FLOATS, _FLOATS], Learner
)


@helper
def best_move(
    own: Any, opp: Any, kings: Any, side: Any, count: Any, depth: Any, salt: Any, evaluation: Any, work: Any
) -> Any:
    """Index of the best of ``count`` moves in ``work.moves``; the first of equals.

    ``salt`` is mixed into the keys: change it when the evaluation changes, and old table entries are strangers.
    """
    if count == 1:
        return int64(0)
    key = uint64(zobrist_key(own, opp, kings, side) ^ salt)
    choice = int64(0)
    for iteration in range(1 if depth <= 2 else depth - 1, depth + 1):
        best = float32(-INFINITY)
        previous = choice
        for turn in range(-1, count):
            # the move that was best one ply shallower goes first
            i = previous if turn == -1 else int64(turn)
            if turn == previous:
                continue
            new_own, new_opp, new_kings = work.moves[i, 0], work.moves[i, 1], work.moves[i, 2]
            child = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
            value = float32(
                -alphabeta(
                    new_opp, new_own, new_kings, 1 - side, iteration - 1, 1, float32(-INFINITY), float32(-best),
                    child, count, evaluation, work,
                )
            )  # fmt: skip
            if value > best:
                best = value
                choice = int64(i)
    return choice


@helper
def _learn(learner: Any, side: Any, error: Any) -> Any:
    """Move the parameters along a colour's eligibility trace; momentum counts only where it has the step's sign."""
    momentum = learner.settings[2]
    if momentum == 0.0:
        for k in range(learner.parameters.shape[0]):
            learner.parameters[k] += learner.rates[k] * error * learner.traces[side, k]
        return
    for k in range(learner.parameters.shape[0]):
        step = learner.rates[k] * error * learner.traces[side, k]
        if step * learner.momentum[k] > 0.0:
            step += momentum * learner.momentum[k]
        learner.momentum[k] = step
        learner.parameters[k] += step


@helper
def _refresh(learner: Any, evaluation: Any, salts: Any) -> Any:
    """Bring the evaluation up to the parameters."""
    fill_table(learner.parameters, learner.bits, evaluation.weights, learner.activation.shape[0])
    salts[0] = uint64(salts[0] + uint64(0x9E3779B97F4A7C15))


@kernel(
    types.int64(
        types.uint32[::1], types.int64, types.int64, LEARNER_TYPE, EVALUATION_TYPE, EVALUATION_TYPE, types.int64[::1],
        types.uint64[::1], types.uint64[::1], WORKSPACE_TYPE,
    )
)  # fmt: skip
def training_game(
    opening: Any, learner_side: Any, depth: Any, learner: Any, evaluation: Any, rival: Any, limits: Any, salts: Any,
    chance: Any, work: Any,
) -> Any:  # fmt: skip
    """Play one game of the learner against a frozen rival and learn from it; return +1, 0 or -1 for the learner.

    After each own move: delta = gamma P(x) - P_old; parameters along the trace; trace = lambda trace + gradient; P_old
    is valued again. The last step is reward - P_old. ``evaluation`` is the learner's table, kept up with its
    parameters; ``salts`` uint64 (2,) keeps table entries of the learner's versions and of the rival apart.
    When both colours' moves are learned from, each has its own trace and its own reward.
    """
    side = int64(opening[3])
    own = opening[1] if side == 1 else opening[0]
    opp = opening[0] if side == 1 else opening[1]
    kings = opening[2]
    hidden = learner.activation.shape[0]
    gamma, decay, exploration = learner.settings[0], learner.settings[1], learner.settings[3]
    state = np.empty(STATE, np.int64)
    keys = np.empty(MOST_PLIES, np.uint64)
    key = zobrist_key(own, opp, kings, side)
    start_tracking(state, keys, key)
    learner.traces[:] = 0.0
    learner.momentum[:] = 0.0
    both = learner.settings[7] != 0.0
    moved = np.zeros(2, np.bool_)
    old = np.zeros(2, np.float64)
    result = 0
    while True:
        count = generate(own, opp, kings, side, work.moves, 0)
        if count == 0:
            result = -1 if side == learner_side else 1
            break
        if is_drawn(state, keys, limits):
            break
        mine = side == learner_side
        if exploration > 0.0 and random_float(chance) < exploration:
            i = random_below(chance, count)
        elif mine:
            i = best_move(own, opp, kings, side, count, depth, salts[0], evaluation, work)
        else:
            i = best_move(own, opp, kings, side, count, depth, salts[1], rival, work)
        new_own, new_opp, new_kings, code = work.moves[i, 0], work.moves[i, 1], work.moves[i, 2], work.moves[i, 3]
        key = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
        track(state, keys, side, kings, code, key)
        if mine or both:
            packed = pack_features(new_own, new_opp, new_kings, side, evaluation.selection)
            value = forward_backward(
                learner.parameters, learner.bits, packed, hidden, learner.activation, learner.gradient
            )
            if moved[side]:
                _learn(learner, side, gamma * value - old[side])
                value = forward_backward(
                    learner.parameters, learner.bits, packed, hidden, learner.activation, learner.gradient
                )
                _refresh(learner, evaluation, salts)
            for k in range(learner.gradient.shape[0]):
                learner.traces[side, k] = decay * learner.traces[side, k] + learner.gradient[k]
            old[side] = value
            moved[side] = True
        own, opp, kings, side = new_opp, new_own, new_kings, 1 - side
    for colour in range(2):
        if moved[colour]:
            outcome = result if colour == learner_side else -result
            reward = learner.settings[4] if outcome > 0 else learner.settings[5] if outcome < 0 else learner.settings[6]
            _learn(learner, colour, reward - old[colour])
            _refresh(learner, evaluation, salts)
    return result


@kernel(
    types.void(
        types.uint32[:, ::1], types.int64, LEARNER_TYPE, EVALUATION_TYPE, EVALUATION_TYPE, types.int64[::1],
        types.uint64[::1], types.uint64[::1], WORKSPACE_TYPE, types.int8[::1],
    )
)  # fmt: skip
def training_games(
    openings: Any, depth: Any, learner: Any, evaluation: Any, rival: Any, limits: Any, salts: Any, chance: Any,
    work: Any, results: Any,
) -> Any:  # fmt: skip
    """Play ``len(results)`` training games, colours in turn, openings drawn from ``openings`` uint32 (openings, 4).

    ``results`` int8 gets +1, 0 or -1 for the learner.
    """
    for game in range(results.shape[0]):
        opening = openings[random_below(chance, openings.shape[0])]
        results[game] = training_game(
            opening, int64(game & 1), depth, learner, evaluation, rival, limits, salts, chance, work
        )


@kernel(
    types.void(
        types.uint32[:, ::1], types.int64[::1], EVALUATION_TYPE, EVALUATION_TYPE, types.int64[::1], types.uint64,
        WORKSPACE_TYPE, types.int8[::1],
    )
)  # fmt: skip
def match_games(
    openings: Any, depths: Any, first: Any, second: Any, limits: Any, salt: Any, work: Any, results: Any
) -> Any:
    """Play every opening twice, ``first`` as Black and then as White; no chance is involved.

    ``openings`` uint32 (openings, 4), ``depths`` int64 (2,), ``results`` int8 (2 * openings,): +1, 0, -1 for ``first``.
    """
    state = np.empty(STATE, np.int64)
    keys = np.empty(MOST_PLIES, np.uint64)
    for game in range(results.shape[0]):
        opening = openings[game >> 1]
        first_side = int64(game & 1)
        side = int64(opening[3])
        own = opening[1] if side == 1 else opening[0]
        opp = opening[0] if side == 1 else opening[1]
        kings = opening[2]
        key = zobrist_key(own, opp, kings, side)
        start_tracking(state, keys, key)
        result = 0
        while True:
            count = generate(own, opp, kings, side, work.moves, 0)
            if count == 0:
                result = -1 if side == first_side else 1
                break
            if is_drawn(state, keys, limits):
                break
            if side == first_side:
                i = best_move(own, opp, kings, side, count, depths[0], salt, first, work)
            else:
                i = best_move(own, opp, kings, side, count, depths[1], uint64(~salt), second, work)
            new_own, new_opp, new_kings = work.moves[i, 0], work.moves[i, 1], work.moves[i, 2]
            key = key_after(key, own, opp, kings, side, new_own, new_opp, new_kings)
            track(state, keys, side, kings, work.moves[i, 3], key)
            own, opp, kings, side = new_opp, new_own, new_kings, 1 - side
        results[game] = result
