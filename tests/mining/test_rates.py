from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mining.rates import Rate, difference, rate


@pytest.mark.parametrize(("hits", "of"), [(0, 7), (7, 7), (3, 11), (500, 1200)])
def test_with_one_observation_per_game_it_is_wilsons_interval(hits: int, of: int) -> None:
    found = rate(np.arange(of), np.arange(of) < hits)
    expected = stats.binomtest(hits, of).proportion_ci(method="wilson")
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert (found.hits, found.of, found.share) == (hits, of, hits / of)


def test_nothing_counted_claims_nothing() -> None:
    none = np.zeros(0, np.int64)
    assert rate(none, none > 0) == Rate(0, 0, None, None)
    assert rate(none, none > 0).share is None
    assert difference(none, none > 0, none > 0) is None


def games(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Observations of games that each have a chance of their own, 0.6 on average."""
    lengths = rng.integers(1, 12, number)
    game = np.repeat(np.arange(number), lengths)
    return game, rng.random(len(game)) < np.repeat(rng.beta(3, 2, number), lengths)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    held = plain = 0
    for _ in range(1000):
        game, hit = games(rng, 60)
        found = rate(game, hit)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.6 <= found.high
        alone = rate(np.arange(len(hit)), hit)  # as if moves were independent
        assert alone.low is not None
        assert alone.high is not None
        plain += alone.low <= 0.6 <= alone.high
    assert 0.93 <= held / 1000 <= 0.97
    assert plain / 1000 < 0.9


def test_a_paired_difference() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(1000):
        game, hit = games(rng, 80)
        other = hit & (rng.random(len(hit)) < 0.9)  # 0.06 less
        found = difference(game, hit, other)
        assert found is not None
        held += found.low <= 0.06 <= found.high
    assert 0.93 <= held / 1000 <= 0.97
