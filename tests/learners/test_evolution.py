"""Evolution of feature sets: equal seeds, global randomness, breeding, tournament figures, what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from checkers.errors import InputError
from checkers.openings import two_move_ballots
from learners.evolution import FeatureEvolution, FeatureSet, breeding, repair
from learners.network import LYNCH_FEATURES
from learners.td import TDLearner, play_match, position_rows

OPENINGS = [ballot.position() for ballot in two_move_ballots()[:10]]


def small(**settings: Any) -> FeatureEvolution:
    learner = TDLearner(games=30, hidden=3, clone_after=30, test_openings=2)
    return FeatureEvolution(**{"population": 4, "generations": 2, "learner": learner, **settings})


def run(seed: int = 0, parallel: Any = map, **settings: Any) -> FeatureEvolution:
    return small(**settings).run(OPENINGS, np.random.SeedSequence(seed), parallel=parallel)


def outcome(evolution: FeatureEvolution) -> list[Any]:
    """Everything a run finds."""
    people = [
        (list(one), one.fitness.values, one.network.parameters.tolist()) for one in evolution.population_ if one.network
    ]
    return [*people, evolution.logbook_, evolution.survival()]


def bred(action: Callable[[], Any], seed: int = 0) -> Any:
    with breeding(np.random.SeedSequence(seed)):
        return action()


def parents(*genes: Iterable[int], points: Iterable[float] | None = None) -> list[FeatureSet]:
    individuals = [FeatureSet(one) for one in genes]
    for individual, share in zip(individuals, points or [1.0] * len(individuals), strict=True):
        individual.fitness.values = (share,)
    return individuals


def test_equal_seeds_equal_results_in_one_thread_or_two() -> None:
    alone = outcome(run(1))
    with ThreadPoolExecutor(2) as pool:
        assert outcome(run(1, pool.map)) == alone
    assert outcome(run(1)) == alone
    assert outcome(run(2)) != alone


def test_python_global_randomness_is_given_back() -> None:
    random.seed(5)
    state = random.getstate()
    run()
    assert random.getstate() == state
    with pytest.raises(ZeroDivisionError):
        bred(lambda: random.random() / 0)
    assert random.getstate() == state
    random.seed(6)  # nor does it matter what it was
    assert outcome(run()) == outcome(run())


def test_breeding_repeats_and_differs_by_seed() -> None:
    draws = [bred(random.random, seed) for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]


def test_figures_of_a_run() -> None:
    trained: list[int] = []
    evolution = small()
    assert evolution.run(OPENINGS, np.random.SeedSequence(3), progress=trained.append) is evolution
    assert sum(trained) == 4 + 4 + 4
    assert [entry.generation for entry in evolution.logbook_] == [0, 1, 2]
    assert [entry.evaluations for entry in evolution.logbook_] == [4, 4, 4]
    for entry in evolution.logbook_:
        # every point that one wins another loses
        assert entry.mean == pytest.approx(0.5)
        assert 0 <= entry.best <= 1
        assert entry.std >= 0
    shares = [one.fitness.values[0] for one in evolution.population_]
    assert len(shares) == 4
    assert shares == sorted(shares, reverse=True)
    assert evolution.best_ is evolution.population_[0]
    assert evolution.logbook_[-1].best == shares[0]
    for one in evolution.population_:
        assert one.network is not None
        assert tuple(feature.name for feature in one.network.features) == evolution.names(one)
        assert one.network.hidden == 3
        assert one.network.history["games"] == 30


def test_points_are_those_of_the_matches() -> None:
    # one generation, all openings: the tournament can be played again
    evolution = run(4, generations=0, match_openings=99, match_depth=1)
    evaluations = [one.network.evaluation() for one in evolution.population_ if one.network]
    rows = position_rows(OPENINGS)
    for i, one in enumerate(evolution.population_):
        won = sum(
            int((play_match(evaluations[i], rival, rows, depth=1) + 1).sum())
            for j, rival in enumerate(evaluations)
            if j != i
        )
        assert one.fitness.values[0] == pytest.approx(won / (2 * 3 * 2 * len(rows)))
    assert evolution.logbook_[0].evaluations == 4
    assert len(evolution.logbook_) == 1


def test_survival_is_the_share_of_the_last_generation() -> None:
    evolution = small(pool=("Exposure", "PieceThreat", "PieceTake"))
    evolution.population_ = parents([1, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 1])
    assert evolution.survival() == {"Exposure": 1.0, "PieceThreat": 0.0, "PieceTake": 0.75}
    assert evolution.names(evolution.population_[0]) == ("Exposure", "PieceTake")
    survivors = run(5)
    for i, share in enumerate(survivors.survival().values()):
        assert share == sum(one[i] for one in survivors.population_) / 4


def test_a_run_leaves_the_learner_as_it_was() -> None:
    learner = TDLearner(games=20, hidden=3, features=("Exposure",)).fit(OPENINGS, np.random.SeedSequence(0))
    before = dict(vars(learner))
    run(learner=learner, generations=0)
    assert vars(learner) == before


def test_a_pool_of_one_feature() -> None:
    evolution = run(6, pool=("PieceAdvantage",), population=2)
    assert [list(one) for one in evolution.population_] == [[1], [1]]
    assert evolution.survival() == {"PieceAdvantage": 1.0}


def test_the_pool_may_be_in_any_order() -> None:
    evolution = run(7, pool=LYNCH_FEATURES[::-1], generations=1)
    for one in evolution.population_:
        assert one.network is not None
        assert {feature.name for feature in one.network.features} == set(evolution.names(one))


def test_repair_gives_an_empty_set_one_feature() -> None:
    seen = set()
    for seed in range(40):
        individual = FeatureSet([0] * 5)
        bred(lambda one=individual: repair(one), seed)
        assert sum(individual) == 1
        seen.add(individual.index(1))
    assert seen == set(range(5))
    full = FeatureSet([0, 1, 0])
    bred(lambda: repair(full))
    assert full == [0, 1, 0]


def test_no_child_is_empty() -> None:
    # every gene of every child is flipped to 0
    children = bred(lambda: small(mutation=1.0, pool=LYNCH_FEATURES[:3])._breed(parents(*[[1, 1, 1]] * 4)))
    assert [sum(child) for child in children] == [1] * 4


def test_crossover_exchanges_what_lies_behind_one_point() -> None:
    evolution = small(mutation=0.0, population=2, pool=LYNCH_FEATURES[:6])
    everyone = parents([1] * 6, [0, 0, 0, 0, 0, 1], points=[1.0, 1.0])
    crossed = 0
    for seed in range(30):
        children = bred(lambda: evolution._breed(everyone), seed)
        assert len(children) == 2
        assert [child.fitness.valid for child in children] == [False, False]
        for child in children:
            assert child[5] == 1
            assert sum(a != b for a, b in pairwise(child[:5])) <= 1
        crossed += any(0 < sum(child[:5]) < 5 for child in children)
    assert crossed > 5
    assert everyone == [[1] * 6, [0, 0, 0, 0, 0, 1]]  # children are copies


def test_mutation_rate() -> None:
    evolution = small(mutation=0.3, population=200, pool=LYNCH_FEATURES)
    children = bred(lambda: evolution._breed(parents(*[[1] * 12] * 200)))
    assert np.mean(children) == pytest.approx(0.7, abs=0.04)


def test_roulette_follows_the_points() -> None:
    evolution = small(mutation=0.0, population=400, pool=LYNCH_FEATURES[:2])
    everyone = parents([1, 1], [0, 1], points=[0.75, 0.25])
    children = bred(lambda: evolution._breed(everyone))
    assert np.mean([child[0] for child in children]) == pytest.approx(0.75, abs=0.08)


def test_roulette_without_a_point_draws_evenly() -> None:
    evolution = small(mutation=0.0, population=400, pool=LYNCH_FEATURES[:2])
    children = bred(lambda: evolution._breed(parents([1, 1], [0, 1], points=[0.0, 0.0])))
    assert len(children) == 400
    assert np.mean([child[0] for child in children]) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population": 5}, "population is 5; right would be an even number, 2 or more"),
        ({"population": 0}, "population is 0"),
        ({"generations": -1}, "generations is -1; right would be 0 or more"),
        ({"mutation": 1.5}, "mutation is 1.5; right would be from 0 to 1"),
        ({"mutation": float("nan")}, "mutation is nan"),
        ({"match_openings": 0}, "match_openings is 0; right would be 1 or more"),
        ({"match_depth": 0}, "match_depth is 0; right would be 1 or more"),
        ({"pool": ()}, "at least one feature"),
        ({"pool": ("Exposure", "Mobility")}, "'Mobility' is unknown"),
        ({"pool": ("Exposure", "Exposure")}, "named twice"),
    ],
)
def test_refuses_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        small(**settings)
    assert "\n" not in str(caught.value)


def test_refuses_no_openings() -> None:
    with pytest.raises(InputError, match="opening"):
        small().run([], np.random.SeedSequence(0))
