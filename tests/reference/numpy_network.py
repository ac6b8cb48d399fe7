"""A network and its TD(λ) game written from theory.md 4.3 in plain NumPy and Python: of the kernels only the moves.

A flat parameter vector holds the input-hidden weights (inputs, hidden), the hidden biases, the output weights and the
output bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from checkers.draws import THESIS, DrawPolicy
from checkers.game import Game, Result
from checkers.position import Colour, Position
from tests.reference import feature_definitions

Floats = NDArray[np.float64]
WIN = 1000.0


def inputs_of(position: Position, features: Sequence[str]) -> Floats:
    """The inputs of a position, low bits first, seen by the side that has just moved."""
    mover = int(position.side.other)
    every = feature_definitions.feature_values(tuple(map(int, position)), mover)  # type: ignore[arg-type]
    bits = []
    for name, value in zip(feature_definitions.FEATURES, every, strict=True):
        if name in features:
            width = feature_definitions.FEATURES[name][0]
            bits += [value // 2**bit % 2 for bit in range(width)]
    return np.array(bits, np.float64)


def split(parameters: Floats, inputs: int, hidden: int) -> tuple[Floats, Floats, Floats, float]:
    """The four parts of a parameter vector."""
    first, biases, second, last = np.split(parameters, np.cumsum([inputs * hidden, hidden, hidden]))
    return first.reshape(inputs, hidden), biases, second, float(last[0])


def value(parameters: Floats, inputs: Floats, hidden: int) -> float:
    """The network's output."""
    first, biases, second, bias = split(parameters, len(inputs), hidden)
    return float(np.tanh(np.tanh(inputs @ first + biases) @ second + bias))


def gradient(parameters: Floats, inputs: Floats, hidden: int) -> Floats:
    """The gradient of the output by the parameters: back-propagation in matrices."""
    first, biases, second, bias = split(parameters, len(inputs), hidden)
    activation = np.tanh(inputs @ first + biases)
    slope = 1 - np.tanh(activation @ second + bias) ** 2
    by_sum = slope * second * (1 - activation**2)
    return np.concatenate([np.outer(inputs, by_sum).ravel(), by_sum, slope * activation, [slope]])


def differences(parameters: Floats, inputs: Floats, hidden: int, step: float = 1e-6) -> Floats:
    """The gradient by central finite differences."""
    result = np.empty(len(parameters))
    for k in range(len(parameters)):
        shift = np.zeros(len(parameters))
        shift[k] = step
        after, before = (value(parameters + sign * shift, inputs, hidden) for sign in (1, -1))
        result[k] = (after - before) / (2 * step)
    return result


@dataclass
class TDGame:
    """One training game: the fields are the settings, and :meth:`play` changes the parameters."""

    features: Sequence[str]
    hidden: int
    parameters: Floats
    rival: Floats
    learner_side: Colour
    rates: Floats
    depth: int = 1
    gamma: float = 1.0
    decay: float = 0.8
    momentum: float = 0.0
    rewards: tuple[float, float, float] = (1.0, -1.0, 0.0)
    both_colours: bool = False
    policy: DrawPolicy = THESIS
    last_step: Floats = field(init=False)

    def play(self, opening: Position) -> Game:
        """Play from a position, leave what was learned in ``parameters``."""
        self.parameters = self.parameters.copy()
        self.last_step = np.zeros(len(self.parameters))
        traces: dict[Colour, Floats] = {}
        old: dict[Colour, float] = {}
        game = Game(opening, policy=self.policy)
        while not game.is_over:
            side = game.side
            chooser = self.parameters if side == self.learner_side else self.rival
            game.play(game.legal_moves()[self.choose(game.position, chooser)])
            if side != self.learner_side and not self.both_colours:
                continue
            inputs = inputs_of(game.position, self.features)
            if side in old:
                delta = self.gamma * value(self.parameters, inputs, self.hidden) - old[side]
                self.learn(delta, traces[side])
            else:
                traces[side] = np.zeros(len(self.parameters))
            traces[side] = self.decay * traces[side] + gradient(self.parameters, inputs, self.hidden)
            old[side] = value(self.parameters, inputs, self.hidden)
        for side in Colour:
            if side in old:
                self.learn(self.reward(game.result, side) - old[side], traces[side])
        return game

    def learn(self, delta: float, trace: Floats) -> None:
        """One step along the trace, with momentum where the two terms have one sign."""
        for k in range(len(self.parameters)):
            step = self.rates[k] * delta * trace[k]
            if (step > 0 and self.last_step[k] > 0) or (step < 0 and self.last_step[k] < 0):
                step += self.momentum * self.last_step[k]
            self.last_step[k] = step
            self.parameters[k] += step

    def reward(self, result: Result, side: Colour) -> float:
        """The reward of a colour."""
        win, loss, draw = self.rewards
        return draw if result is Result.DRAW else win if result is Result.win(side) else loss

    def choose(self, position: Position, parameters: Floats) -> int:
        """Index of the best legal move, the first of equals."""
        scores = [-self.minimax(position.play(move), self.depth - 1, 1, parameters) for move in position.legal_moves()]
        return scores.index(max(scores))

    def minimax(self, position: Position, depth: int, ply: int, parameters: Floats) -> float:
        """Value for the side to move; captures are played out below depth 0."""
        moves = position.legal_moves()
        if not moves:
            return ply - WIN
        if depth <= 0 and not moves[0].is_capture:
            return -value(parameters, inputs_of(position, self.features), self.hidden)
        return max(-self.minimax(position.play(move), depth - 1, ply + 1, parameters) for move in moves)
