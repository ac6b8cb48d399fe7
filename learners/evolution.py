"""Genetic choice of features with DEAP: LS-Draughts' way to an identity (theory.md 5).

An individual has one gene per feature of the pool; it stands for a network over the features whose genes are 1, trained
by TD(λ). Fitness comes from tournaments among parents and children together, 2 points for a win and 1 for a draw, so
everybody is rated anew in every generation. One-point crossover makes two children; each gene mutates with chance 0.3;
an empty set gets one gene at random.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from deap import base, tools

from checkers.errors import InputError
from checkers.features import select
from checkers.position import Position
from learners.network import LYNCH_FEATURES, Network
from learners.td import TDLearner, play_match, position_rows

Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Points(base.Fitness):  # type: ignore[misc]
    """Tournament points, to be maximised."""

    weights = (1.0,)


class FeatureSet(list[int]):
    """Genes (0 or 1 per feature of the pool), their fitness, and the network trained on them."""

    def __init__(self, genes: Iterable[int]) -> None:
        super().__init__(genes)
        self.fitness = Points()
        self.network: Network | None = None


class Generation(NamedTuple):
    """Figures of one generation: points as a share of the points that could be won."""

    generation: int
    best: float
    mean: float
    std: float
    evaluations: int


@contextlib.contextmanager
def breeding(seed: np.random.SeedSequence) -> Iterator[None]:
    """DEAP's operators draw from Python's global generator: seed it for this block and give it back as it was."""
    state = random.getstate()
    random.seed(int(seed.generate_state(1, np.uint64)[0]))
    try:
        yield
    finally:
        random.setstate(state)


class FeatureEvolution:
    """Evolves feature sets.

    Args:
        pool: names of the features, one gene each.
        population: individuals that survive a generation (2 or more, even).
        generations: generations after the first.
        mutation: chance that a gene flips.
        learner: TD settings of every individual; its ``features`` are replaced.
        match_openings: openings of each pairing, played with both colours.
        match_depth: search depth in the tournaments.

    Attributes:
        best_: the individual with most points at the end.
        population_: the last generation, best first.
        logbook_: one :class:`Generation` per generation.
    """

    def __init__(
        self,
        *,
        pool: Sequence[str] = LYNCH_FEATURES,
        population: int = 6,
        generations: int = 2,
        mutation: float = 0.3,
        learner: TDLearner | None = None,
        match_openings: int = 2,
        match_depth: int = 2,
    ) -> None:
        if population < 2 or population % 2:
            raise InputError(f"population is {population}; right would be an even number, 2 or more")
        if generations < 0:
            raise InputError(f"generations is {generations}; right would be 0 or more")
        if not 0.0 <= mutation <= 1.0:
            raise InputError(f"mutation is {mutation}; right would be from 0 to 1")
        for name, value in (("match_openings", match_openings), ("match_depth", match_depth)):
            if value < 1:
                raise InputError(f"{name} is {value}; right would be 1 or more")
        self.pool = tuple(feature.name for feature in select(pool))
        self.population = population
        self.generations = generations
        self.mutation = mutation
        self.learner = learner or TDLearner(games=1000)
        self.match_openings = match_openings
        self.match_depth = match_depth

    def run(
        self,
        openings: Sequence[Position],
        seed: np.random.SeedSequence,
        *,
        parallel: Mapper = map,
        progress: Callable[[int], None] | None = None,
    ) -> FeatureEvolution:
        """Evolve; ``parallel`` is a map that may run its calls at the same time and keeps their order.

        ``progress`` is called with the number of individuals trained since the last call.
        """
        if not openings:
            raise InputError("there is no opening to train on; right would be one position or more")
        self._openings = openings
        self.logbook_: list[Generation] = []
        first_seed, *seeds = seed.spawn(self.generations + 1)
        with breeding(first_seed):
            parents = [FeatureSet(random.getrandbits(1) for _ in self.pool) for _ in range(self.population)]
            for individual in parents:
                repair(individual)
        self._rate(parents, parents, first_seed, parallel, progress)
        for generation_seed in seeds:
            with breeding(generation_seed):
                children = self._breed(parents)
            self._rate([*parents, *children], children, generation_seed, parallel, progress)
            parents = tools.selBest([*parents, *children], self.population)
        self.population_ = sorted(parents, key=lambda individual: individual.fitness, reverse=True)
        self.best_ = self.population_[0]
        return self

    def survival(self) -> dict[str, float]:
        """Share of the last generation that has each feature."""
        return {name: float(np.mean([ind[i] for ind in self.population_])) for i, name in enumerate(self.pool)}

    def names(self, individual: FeatureSet) -> tuple[str, ...]:
        """The features whose genes are 1."""
        return tuple(name for name, gene in zip(self.pool, individual, strict=True) if gene)

    def _breed(self, parents: list[FeatureSet]) -> list[FeatureSet]:
        # roulette needs a positive sum: a generation without a point is drawn evenly
        everyone = sum(individual.fitness.values[0] for individual in parents) > 0
        chosen = tools.selRoulette(parents, self.population) if everyone else random.choices(parents, k=self.population)
        children = []
        for mother, father in zip(chosen[::2], chosen[1::2], strict=True):
            pair = FeatureSet(mother), FeatureSet(father)
            if len(self.pool) > 1:
                tools.cxOnePoint(*pair)
            for child in pair:
                tools.mutFlipBit(child, self.mutation)
                repair(child)
                children.append(child)
        return children

    def _rate(
        self,
        everyone: list[FeatureSet],
        newcomers: list[FeatureSet],
        seed: np.random.SeedSequence,
        parallel: Mapper,
        progress: Callable[[int], None] | None,
    ) -> None:
        training_seed, match_seed = seed.spawn(2)
        tasks = zip(newcomers, training_seed.spawn(len(newcomers)), strict=True)
        for individual, network in zip(newcomers, parallel(self._train, list(tasks)), strict=True):
            individual.network = network
            if progress:
                progress(1)
        rows = position_rows(self._openings)
        rng = np.random.default_rng(match_seed)
        rows = rows[rng.choice(len(rows), min(self.match_openings, len(rows)), replace=False)]
        players = [individual.network.evaluation() for individual in everyone if individual.network]

        def pairing(pair: tuple[int, int]) -> int:
            results = play_match(players[pair[0]], players[pair[1]], rows, depth=self.match_depth)
            return int((results + 1).sum())

        pairs = list(combinations(range(len(everyone)), 2))
        games = 2 * len(rows)
        points = np.zeros(len(everyone))
        for (i, j), won in zip(pairs, parallel(pairing, pairs), strict=True):
            points[i] += won
            points[j] += 2 * games - won
        shares = points / (2 * games * (len(everyone) - 1))
        for individual, share in zip(everyone, shares, strict=True):
            individual.fitness.values = (float(share),)
        self.logbook_.append(
            Generation(
                len(self.logbook_), float(shares.max()), float(shares.mean()), float(shares.std()), len(newcomers)
            )
        )

    def _train(self, task: tuple[FeatureSet, np.random.SeedSequence]) -> Network:
        individual, seed = task
        settings = {**vars(self.learner), "features": self.names(individual)}
        settings = {name: value for name, value in settings.items() if not name.endswith("_")}
        return TDLearner(**settings).fit(self._openings, seed).network_


def repair(individual: FeatureSet) -> None:
    """Give an empty set one feature at random."""
    if not any(individual):
        individual[random.randrange(len(individual))] = 1
