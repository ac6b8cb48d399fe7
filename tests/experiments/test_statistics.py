"""Intervals, Elo, paired tests and ratings against published examples, closed forms and simulation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from experiments.statistics import (
    MatchScore,
    bradley_terry,
    difference_interval,
    elo_difference,
    elo_interval,
    finite,
    holm,
    match_figures,
    pair_points,
    score_interval,
    wilcoxon_paired,
)

counts = st.integers(0, 60)


def test_match_score_counts() -> None:
    match = MatchScore.of([1, 0.5, 0, 1])
    assert match == (2, 1, 1)
    assert match.games == 4
    assert match.score == 0.625
    with pytest.raises(ValueError, match=r"1, 0\.5 or 0"):
        MatchScore.of([0.25])


def test_interval_without_draws_is_jeffreys() -> None:
    low, high = MatchScore(7, 0, 13).interval()
    assert (low, high) == pytest.approx(stats.beta.ppf([0.025, 0.975], 7.5, 13.5), abs=1e-9)


def test_interval_at_the_edges() -> None:
    low, high = MatchScore(0, 0, 10).interval()
    assert low == 0
    assert 0.15 < high < 0.35  # Clopper-Pearson: 0.308; rule of three: 0.3
    low, high = MatchScore(10, 0, 0).interval()
    assert high == 1
    assert 0.65 < low < 0.85
    assert MatchScore(0, 0, 0).interval() == (0.0, 1.0)
    low, high = MatchScore(0, 30, 0).interval()
    assert 0.4 < low < 0.5 < high < 0.6


@given(counts, counts, counts)
@settings(max_examples=60, deadline=None)
def test_interval_holds_the_score_and_mirrors(wins: int, draws: int, losses: int) -> None:
    low, high = MatchScore(wins, draws, losses).interval()
    assert 0 <= low <= MatchScore(wins, draws, losses).score <= high <= 1
    assert low < high
    assert MatchScore(losses, draws, wins).interval() == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_draws_narrow_the_interval() -> None:
    decided, drawn = MatchScore(50, 0, 50).interval(), MatchScore(10, 80, 10).interval()
    assert drawn[1] - drawn[0] < 0.6 * (decided[1] - decided[0])


@pytest.mark.parametrize("chances", [(0.5, 0.0, 0.5), (0.4, 0.3, 0.3), (0.15, 0.7, 0.15), (0.7, 0.2, 0.1)])
def test_interval_covers(chances: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(5)
    truth = chances[0] + chances[1] / 2
    matches, times = np.unique(rng.multinomial(100, chances, size=20_000), axis=0, return_counts=True)
    hits = 0
    for match, many in zip(matches.tolist(), times.tolist(), strict=True):
        low, high = MatchScore(*match).interval()
        hits += many * (low <= truth <= high)
    assert 0.93 <= hits / 20_000 <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [10, 60])
def test_bootstrap_covers_paired_games(pairs: int) -> None:
    """Openings favour a side, so the two games of a pair hang together."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(1000):
        strength = rng.normal(0.55, 0.2, pairs).clip(0, 1)
        points = (rng.random((pairs, 2)) < strength[:, None]).astype(float)
        low, high = score_interval(points, rng)
        hits += low <= _mean_clipped(0.55, 0.2) <= high
    assert 0.93 <= hits / 1000 <= 0.97


def _mean_clipped(mean: float, deviation: float) -> float:
    """Mean of a normal variable clipped to [0, 1]."""
    normal = stats.norm(mean, deviation)
    inside = stats.truncnorm(-mean / deviation, (1 - mean) / deviation, mean, deviation).mean()
    return float(normal.sf(1) + inside * (normal.cdf(1) - normal.cdf(0)))


def test_bootstrap_is_near_the_normal_interval_and_seeded() -> None:
    pairs = np.random.default_rng(1).choice([0.0, 0.25, 0.5, 0.75, 1.0], 200)
    low, high = score_interval(pairs, np.random.default_rng(2))
    margin = 1.96 * pairs.std(ddof=1) / math.sqrt(200)
    assert (low, high) == pytest.approx((pairs.mean() - margin, pairs.mean() + margin), abs=0.005)
    assert (low, high) == score_interval(pairs, np.random.default_rng(2))


def test_bootstrap_over_pairs_sees_that_colours_cancel() -> None:
    """One win each in every pair but two: far less spread than 40 independent games have."""
    points = [1.0, 0.0] * 18 + [1.0, 1.0, 0.5, 0.0]
    low, high = score_interval(pair_points(points), np.random.default_rng(3))
    alone = MatchScore.of(points).interval()
    assert high - low < 0.5 * (alone[1] - alone[0])
    assert low <= 0.5 <= high


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_bootstrap_of_equal_pairs_has_width(value: float) -> None:
    low, high = score_interval([value] * 8, np.random.default_rng(4))
    assert low <= value <= high
    assert 0.03 < high - low < 0.5


def test_pair_points() -> None:
    assert pair_points([1, 0, 0.5, 1]).tolist() == [0.5, 0.75]
    with pytest.raises(ValueError, match="3 games are not pairs"):
        pair_points([1, 0, 1])


def test_difference_of_two_scores() -> None:
    """Newcombe (1998), table II: 56/70 - 48/80 is 0.2 with (0.0524, 0.3339) from Wilson's intervals, near Jeffreys'."""
    low, high = difference_interval(MatchScore(48, 0, 32), MatchScore(56, 0, 14))
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=0.01)
    assert difference_interval(MatchScore(56, 0, 14), MatchScore(48, 0, 32)) == pytest.approx((-high, -low))


def test_elo() -> None:
    assert elo_difference(0.5) == 0
    assert elo_difference(10 / 11) == pytest.approx(400)
    assert elo_difference(0.76) == pytest.approx(200, abs=0.3)  # the tables' 200 points
    assert elo_difference(0.0) == -math.inf
    assert elo_difference(1.0) == math.inf
    assert [finite(x) for x in (1.5, math.inf, -math.inf, math.nan)] == [1.5, None, None, None]


def test_elo_of_a_self_match_holds_zero() -> None:
    rng = np.random.default_rng(6)
    points = rng.choice([0.0, 0.5, 1.0], 100, p=[0.3, 0.4, 0.3]).tolist()
    low, high = elo_interval(score_interval(pair_points(points), rng))
    assert low < 0 < high


def test_match_figures_are_json() -> None:
    won = match_figures([1.0] * 16, np.random.default_rng(7))
    assert won["elo"] is None
    assert won["elo_interval"][1] is None
    assert won["elo_interval"][0] > 0
    assert json.loads(json.dumps(won, allow_nan=False)) == won
    odd = match_figures([1, 0.5, 0], np.random.default_rng(7))
    assert odd["score_interval"] == list(MatchScore(1, 1, 1).interval())
    assert match_figures([])["games"] == 0


def test_wilcoxon_darwins_maize() -> None:
    """Cross- and self-fertilised maize (Darwin 1876), as scipy's documentation works it."""
    difference = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    result = wilcoxon_paired(difference, [0] * 15)
    assert result[:3] == pytest.approx((24.0, 0.041259765625, 15))
    assert result.effect == pytest.approx((96 - 24) / 120)


def test_wilcoxon_with_a_zero_and_ties() -> None:
    """The worked example of many textbooks: W+ = 27, W- = 18, nine non-zero differences."""
    after = [125, 115, 130, 140, 140, 115, 140, 125, 140, 135]
    before = [110, 122, 125, 120, 140, 124, 123, 137, 135, 145]
    result = wilcoxon_paired(after, before)
    assert (result.statistic, result.n) == (18.0, 9)
    assert result.effect == pytest.approx((27 - 18) / 45)
    assert 0.5 < result.p < 0.75


def test_wilcoxon_edges() -> None:
    assert wilcoxon_paired([0.5, 1], [0.5, 1]) == (0.0, 1.0, 0, 0.0)
    assert wilcoxon_paired([], []) == (0.0, 1.0, 0, 0.0)
    assert wilcoxon_paired([1] * 6, [0] * 6)[1:] == (0.03125, 6, 1.0)
    assert wilcoxon_paired([0.6, 0.0], [0.5, 0.1]).effect == 0  # float noise makes no rank
    with pytest.raises(ValueError, match="one length"):
        wilcoxon_paired([1, 2], [1])
    with pytest.raises(ValueError, match="finite"):
        wilcoxon_paired([1, math.nan], [1, 2])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30))
@settings(max_examples=15, deadline=None)
def test_wilcoxon_mirrors(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    there, back = wilcoxon_paired(a, b), wilcoxon_paired(b, a)
    assert there.p == pytest.approx(back.p)
    assert there.effect == pytest.approx(-back.effect)
    assert 0 <= there.p <= 1


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # R: p.adjust
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_two_players_rate_as_their_score() -> None:
    first, second = bradley_terry([[0, 750], [250, 0]])
    assert first.elo - second.elo == pytest.approx(elo_difference(0.75), abs=1)
    assert first.elo + second.elo == pytest.approx(0, abs=1e-6)
    margin = 1.96 * 400 / math.log(10) / math.sqrt(1000 * 0.75 * 0.25)  # of the difference
    assert first.interval[1] - first.elo == pytest.approx(margin / 2, rel=0.01)


def test_ratings_are_a_stationary_point_of_the_model() -> None:
    """Expected points are the points made, but for the weak prior."""
    wins = np.array([[0, 6.5, 9], [3.5, 0, 7], [1, 3, 0]])
    elo = np.array([r.elo for r in bradley_terry(wins, prior_elo=1e5)])
    expected = (wins + wins.T) / (1 + 10 ** ((elo - elo[:, None]) / 400))
    assert expected.sum(axis=1) == pytest.approx(wins.sum(axis=1), abs=1e-3)


def test_ratings_stay_finite() -> None:
    perfect = bradley_terry([[0, 50, 0], [0, 0, 0], [0, 0, 0]])
    assert 300 < perfect[0].elo - perfect[1].elo < 1500
    assert perfect[2].interval[0] < -1000  # never played: anything may be true
    assert bradley_terry(np.zeros((0, 0))) == []
    with pytest.raises(ValueError, match="square"):
        bradley_terry([[1, 2]])


def test_ratings_cover_the_truth() -> None:
    rng = np.random.default_rng(9)
    truth = np.array([-150.0, -50.0, 0.0, 200.0])
    chance = 1 / (1 + 10 ** ((truth - truth[:, None]) / 400))
    hits = 0
    for _ in range(600):
        upper = np.triu(rng.binomial(40, chance), 1)
        wins = upper + np.tril(40 - upper.T, -1)
        hits += sum(r.interval[0] <= t <= r.interval[1] for r, t in zip(bradley_terry(wins), truth, strict=True))
    assert 0.93 <= hits / 2400 <= 0.97
