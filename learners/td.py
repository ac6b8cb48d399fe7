"""TD(λ) self-play against a clone, with cloning and a tournament among the clones (theory.md 4.3).

Two departures from the originals are our own, [P], and both can be switched off. By default the learner learns from
both colours' moves: with the rival's moves left out, and a rival that is hard to replace, values sink to -1 and stop
moving, because everything that was tried lost. And both sides play a random move now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.chance import chance_state
from checkers.draw_tracking import limits_of
from checkers.draws import THESIS, DrawPolicy
from checkers.errors import InputError
from checkers.evaluation import Evaluation
from checkers.position import Position
from checkers.search_memory import Workspace, new_workspace
from learners.network import LYNCH_FEATURES, Network
from learners.selfplay import Learner, match_games, training_games

#: Table slots (as a power of two) for searches of training games.
TABLE_BITS = 14
#: Larger learning rates only run away.
MOST_RATE = 100.0
#: At most so many of the latest clones enter the final tournament.
CLONES_KEPT = 8


class CurvePoint(NamedTuple):
    """One point of the learning curve.

    ``games`` played so far, ``score`` of the learner in these training games, ``test_score`` in the test games against
    the clone (points shared 1, 1/2, 0, as a mean), ``clones`` made so far.
    """

    games: int
    score: float
    test_score: float
    clones: int


def position_rows(positions: Sequence[Position]) -> NDArray[np.uint32]:
    """Positions as the kernels take them: uint32 (positions, 4), black, white, kings, side to move."""
    return np.array([(p.black, p.white, p.kings, int(p.side)) for p in positions], np.uint32).reshape(-1, 4)


def play_match(
    first: Evaluation,
    second: Evaluation,
    openings: NDArray[np.uint32],
    *,
    depth: int | tuple[int, int],
    policy: DrawPolicy = THESIS,
    work: Workspace | None = None,
) -> NDArray[np.int8]:
    """Play every opening with both colours; +1, 0, -1 for ``first``, int8 (2 * openings,), Black's game first.

    The result depends on the arguments alone: it starts from an empty table.
    """
    work = work or new_workspace(TABLE_BITS)
    work.forget()
    results = np.zeros(2 * len(openings), np.int8)
    depths = np.array(depth if isinstance(depth, tuple) else (depth, depth), np.int64)
    match_games(openings, depths, first, second, limits_of(policy), np.uint64(0), work, results)
    return results


class TDLearner:
    """Trains a network by self-play. Parameters are kept as given; what is learned ends in an underscore.

    Args:
        features: names of the features the network sees.
        hidden: hidden units.
        games: training games.
        depth: plies of the search that plays them.
        gamma: discount of the next value; 1 by default, 0.98 in the originals.
        decay: λ of the eligibility trace.
        learning_rate: factor on the originals' rates, 1 / inputs and 1 / hidden. 1 is theirs; ours is smaller.
        momentum: share of the step before that is added where the signs agree.
        exploration: chance of a random move, for both sides.
        both_colours: learn from the rival's moves too, seen from its side.
        rewards: for a win, a loss, a draw.
        clone_after: training games between two tests against the clone.
        clone_points: share of the test's points (2 for a win, 1 for a draw) that makes the learner the new clone.
        test_openings: openings of a test, each played with both colours.
        policy: draw policy of all games.

    Attributes:
        network_: the best clone.
        initial_: the network before training.
        clones_: the clones kept, oldest first.
        curve_: the learning curve.
    """

    def __init__(
        self,
        *,
        features: Sequence[str] = LYNCH_FEATURES,
        hidden: int = 20,
        games: int = 20_000,
        depth: int = 1,
        gamma: float = 1.0,
        decay: float = 0.8,
        learning_rate: float = 0.05,
        momentum: float = 0.0,
        exploration: float = 0.05,
        both_colours: bool = True,
        rewards: tuple[float, float, float] = (1.0, -1.0, 0.0),
        clone_after: int = 200,
        clone_points: float = 0.5,
        test_openings: int = 10,
        policy: DrawPolicy = THESIS,
    ) -> None:
        counts = {"games": games, "depth": depth, "hidden": hidden, "clone_after": clone_after}
        for name, value in (counts | {"test_openings": test_openings}).items():
            if value < 1:
                raise InputError(f"{name} is {value}; right would be 1 or more")
        for name, share in (("gamma", gamma), ("decay", decay), ("exploration", exploration), ("momentum", momentum)):
            if not 0.0 <= share <= 1.0:
                raise InputError(f"{name} is {share}; right would be from 0 to 1")
        if not 0.0 <= learning_rate <= MOST_RATE:
            raise InputError(f"learning_rate is {learning_rate}; right would be from 0 to {MOST_RATE:g}")
        if len(rewards) != 3 or not all(math.isfinite(reward) for reward in rewards):
            raise InputError(f"rewards are {rewards}; right would be three numbers, for a win, a loss and a draw")
        self.features = tuple(features)
        self.hidden = hidden
        self.games = games
        self.depth = depth
        self.gamma = gamma
        self.decay = decay
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.exploration = exploration
        self.both_colours = both_colours
        self.rewards = rewards
        self.clone_after = clone_after
        self.clone_points = clone_points
        self.test_openings = test_openings
        self.policy = policy

    def fit(
        self,
        openings: Sequence[Position],
        seed: np.random.SeedSequence,
        *,
        start: Network | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> TDLearner:
        """Train on these openings; from ``start`` if given, else from small random weights.

        ``progress`` is called with the number of games since the last call.
        """
        if not openings:
            raise InputError("there is no opening to train on; right would be one position or more")
        rng = np.random.default_rng(seed)
        rows = position_rows(openings)
        self.initial_ = Network.initial(self.features, rng, hidden=self.hidden)
        network = start or self.initial_
        if start and (start.features != self.initial_.features or start.hidden != self.hidden):
            raise InputError("the network to start from has other features or hidden units than the learner")
        learner = self._learner(network)
        evaluation, rival = network.evaluation(), network.evaluation()
        work = new_workspace(TABLE_BITS)
        chance, salts = chance_state(rng), np.array([1, 1 << 63], np.uint64)
        limits = limits_of(self.policy)
        self.curve_: list[CurvePoint] = []
        clones: list[Network] = []
        played = made = 0
        while played < self.games:
            block = min(self.clone_after, self.games - played)
            results = np.zeros(block, np.int8)
            training_games(rows, self.depth, learner, evaluation, rival, limits, salts, chance, work, results)
            played += block
            tests = rows[rng.choice(len(rows), min(self.test_openings, len(rows)), replace=False)]
            test = play_match(evaluation, rival, tests, depth=self.depth, policy=self.policy, work=work)
            test_score = float(test.mean() + 1) / 2
            if test_score >= self.clone_points:
                rival.weights[:] = evaluation.weights
                salts[1] += np.uint64(1)
                made += 1
                clones = [*clones, network.with_parameters(learner.parameters)][-CLONES_KEPT:]
            self.curve_.append(CurvePoint(played, float(results.mean() + 1) / 2, test_score, made))
            if progress:
                progress(block)
        self.clones_ = clones or [network.with_parameters(learner.parameters)]
        best = self._best_clone(rows, rng)
        history = {"games": played, "depth": self.depth, "clones": made, "curve": [list(p) for p in self.curve_]}
        self.network_ = best.with_parameters(best.parameters, **history)
        return self

    def _learner(self, network: Network) -> Learner:
        size, inputs, hidden = len(network.parameters), network.inputs, network.hidden
        rates = np.full(size, self.learning_rate / inputs)
        rates[(inputs + 1) * hidden :] = self.learning_rate / hidden
        settings = [self.gamma, self.decay, self.momentum, self.exploration, *self.rewards, float(self.both_colours)]
        return Learner(
            parameters=network.parameters.copy(),
            traces=np.zeros((2, size)),
            gradient=np.zeros(size),
            momentum=np.zeros(size),
            rates=rates,
            bits=network.bits,
            activation=np.zeros(hidden),
            settings=np.array(settings, np.float64),
        )

    def _best_clone(self, rows: NDArray[np.uint32], rng: np.random.Generator) -> Network:
        """The clone with most points in a round robin; of equals the youngest."""
        if len(self.clones_) == 1:
            return self.clones_[0]
        tests = rows[rng.choice(len(rows), min(self.test_openings, len(rows)), replace=False)]
        points = round_robin([clone.evaluation() for clone in self.clones_], tests, self.depth, self.policy)
        return self.clones_[int(np.flatnonzero(points == points.max())[-1])]


def round_robin(
    evaluations: Sequence[Evaluation], openings: NDArray[np.uint32], depth: int, policy: DrawPolicy = THESIS
) -> NDArray[np.int64]:
    """Points (2 a win, 1 a draw) of each evaluation in matches of all pairs over the openings, int64 (players,)."""
    points = np.zeros(len(evaluations), np.int64)
    for i, first in enumerate(evaluations):
        for j in range(i + 1, len(evaluations)):
            results = play_match(first, evaluations[j], openings, depth=depth, policy=policy)
            points[i] += int((results + 1).sum())
            points[j] += int((1 - results).sum())
    return points
