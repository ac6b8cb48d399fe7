"""What a match shows and how surely: scores with intervals, Elo, paired tests (theory.md 2.10).

Points are those of one player, game by game: 1 a win, 0.5 a draw, 0 a loss. A score is their mean, in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

Interval = tuple[float, float]

ELO_PER_NAT = 400.0 / math.log(10.0)
RESAMPLES = 9999


class MatchScore(NamedTuple):
    """Wins, draws and losses of one player in a match."""

    wins: int
    draws: int
    losses: int

    @classmethod
    def of(cls, points: Sequence[float]) -> MatchScore:
        """The count of game points, each 1, 0.5 or 0."""
        counts = [sum(point == value for point in points) for value in (1.0, 0.5, 0.0)]
        if sum(counts) != len(points):
            raise ValueError("points of a game are 1, 0.5 or 0")
        return cls(*counts)

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Mean points per game; 0.5 when there was no game, so that nothing is claimed."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    def interval(self, confidence: float = 0.95) -> Interval:
        """Interval of the score when the games are independent.

        Half a win and half a loss are added to the counts (Jeffreys' prior on the decided games, a Dirichlet posterior)
        and the score's posterior is taken as the beta distribution with its mean and variance. Without draws this is
        exactly Jeffreys' interval for a proportion; with draws it is narrower, as it should be; a match of one kind of
        result keeps a width above zero. At 0% and 100% the outer end is the score itself (Brown, Cai, DasGupta 2001).
        """
        return _pseudo_count_interval([1.0, 0.5, 0.0], self, confidence)


def _pseudo_count_interval(values: Sequence[float], counts: Sequence[float], confidence: float) -> Interval:
    """Interval of the mean of ``values`` seen ``counts`` times; see :meth:`MatchScore.interval`."""
    n = float(sum(counts))
    if n == 0:
        return 0.0, 1.0
    x = np.array([*values, 1.0, 0.0])
    weights = np.array([*counts, 0.5, 0.5])
    mean = float(weights @ x) / (n + 1)
    variance = (float(weights @ x**2) / (n + 1) - mean**2) / (n + 2)
    size = mean * (1 - mean) / variance - 1
    tail = (1 - confidence) / 2
    low, high = stats.beta.ppf([tail, 1 - tail], mean * size, (1 - mean) * size)
    score = float(np.dot(values, counts)) / n
    return (0.0 if score == 0 else min(float(low), score)), (1.0 if score == 1 else max(float(high), score))


def pair_points(points: Sequence[float]) -> NDArray[np.float64]:
    """Mean points of each opening pair, shape (games / 2,).

    Games 1 and 2, 3 and 4, … are the pairs: one opening, colours swapped.

    Raises:
        ValueError: the number of games is odd.
    """
    if len(points) % 2:
        raise ValueError(f"{len(points)} games are not pairs")
    pairs: NDArray[np.float64] = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return np.asarray(pairs.mean(axis=1))


def score_interval(pair_points: ArrayLike, rng: np.random.Generator, confidence: float = 0.95) -> Interval:
    """Interval of the score by bootstrap over opening pairs.

    The two games of a pair share their opening and are not independent; pairs are. Percentile bootstrap, its tails
    widened for few pairs as Hesterberg (2015) does (Student's t and n - 1). When all pairs gave the same there is
    nothing to resample, and the pairs are treated as :meth:`MatchScore.interval` treats games.

    Args:
        pair_points: mean points per game of each pair, shape (pairs,), or its games' points, shape (pairs, games).
        rng: source of the resampling.
        confidence: share of intervals that should hold the true score.
    """
    pairs = np.asarray(pair_points, dtype=np.float64)
    if pairs.ndim == 2:
        pairs = pairs.mean(axis=1)
    n = len(pairs)
    if n < 2 or np.ptp(pairs) == 0:
        return _pseudo_count_interval(pairs.tolist(), [1.0] * n, confidence)
    quantile = math.sqrt(n / (n - 1)) * stats.t.isf((1 - confidence) / 2, n - 1)
    level = 1 - 2 * float(stats.norm.sf(quantile))
    batch = max(1, 1_000_000 // n)
    result = stats.bootstrap(
        (pairs,), np.mean, n_resamples=RESAMPLES, batch=batch, confidence_level=level, method="percentile", rng=rng
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def elo_difference(score: float) -> float:
    """Elo difference that a score stands for; -inf at 0 and inf at 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return ELO_PER_NAT * (math.log(score) - math.log1p(-score))


def elo_interval(interval: Interval) -> Interval:
    """Elo differences at the ends of a score interval; an end may be infinite."""
    return elo_difference(interval[0]), elo_difference(interval[1])


def finite(value: float) -> float | None:
    """The number, or None when it is infinite or not a number, as JSON wants it."""
    return float(value) if math.isfinite(value) else None


def difference_interval(first: MatchScore, second: MatchScore, confidence: float = 0.95) -> Interval:
    """Interval of the second score minus the first, of independent games, from their two intervals.

    Newcombe's (1998) square-and-add method: as sane near 0% and 100% as the intervals it is made of.
    """
    (low1, high1), (low2, high2) = first.interval(confidence), second.interval(confidence)
    difference = second.score - first.score
    below = math.hypot(second.score - low2, high1 - first.score)
    above = math.hypot(high2 - second.score, first.score - low1)
    return difference - below, difference + above


def match_figures(points: Sequence[float], rng: np.random.Generator | None = None) -> dict[str, Any]:
    """Everything a report says of one match, as JSON values, from the points of one player game by game.

    With ``rng`` and an even number of games the interval is bootstrapped over pairs (games 1 and 2, 3 and 4, …), else
    the games are taken as independent.
    """
    match = MatchScore.of(points)
    paired = rng is not None and match.games > 0 and match.games % 2 == 0
    interval = score_interval(pair_points(points), rng) if paired and rng is not None else match.interval()
    return {**score_figures(match, interval), "points": [float(point) for point in points]}


def score_figures(match: MatchScore, interval: Interval) -> dict[str, Any]:
    """Counts, score and Elo of a match with their intervals, as JSON values; an infinite Elo is None."""
    return {
        "games": match.games,
        "wins": match.wins,
        "losses": match.losses,
        "draws": match.draws,
        "score": match.score,
        "score_interval": list(interval),
        "elo": finite(elo_difference(match.score)),
        "elo_interval": [finite(end) for end in elo_interval(interval)],
    }


class PairedTest(NamedTuple):
    """Outcome of a paired test: the smaller rank sum, two-sided p, number of non-zero differences, effect size."""

    statistic: float
    p: float
    n: int
    effect: float


def wilcoxon_paired(a: ArrayLike, b: ArrayLike) -> PairedTest:
    """Two-sided Wilcoxon signed-rank test of paired values, shapes (n,) and (n,); zero differences are dropped.

    The effect is the matched-pairs rank-biserial correlation (Kerby 2014): the share of rank sum in favour of ``a``
    minus the share in favour of ``b``, in [-1, 1]. When all differences are zero, p is 1 and the effect 0.

    Raises:
        ValueError: the shapes differ, or a value is not finite.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"paired values need one length, not shapes {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("paired values must be finite")
    difference = np.round(x - y, 12)  # 0.6 - 0.5 and 0.1 are one rank
    difference = difference[difference != 0]
    if not len(difference):
        return PairedTest(0.0, 1.0, 0, 0.0)
    ranks = stats.rankdata(np.abs(difference))
    effect = float(ranks @ np.sign(difference) / ranks.sum())
    result = stats.wilcoxon(difference)
    return PairedTest(float(result.statistic), float(result.pvalue), len(difference), effect)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return [float(value) for value in adjusted]


class Rating(NamedTuple):
    """A player's Elo relative to the mean of the pool, and its interval."""

    elo: float
    interval: Interval


def bradley_terry(wins: ArrayLike, *, confidence: float = 0.95, prior_elo: float = 1000.0) -> list[Rating]:
    """Ratings of a pool by the Bradley-Terry model, the mean of the pool at 0.

    A normal prior of standard deviation ``prior_elo`` on each rating keeps scores of 0% and 100%, and players who never
    met, finite. Intervals come from the Hessian at the mode, relative to the pool's mean. A draw counts as half a win
    for each, which makes the intervals of drawish matches wider than they need be.

    Args:
        wins: shape (players, players); entry [i, j] is the points that i made against j. The diagonal is ignored.
        confidence: of the intervals.
        prior_elo: standard deviation of the prior, in Elo.
    """
    points = np.array(wins, dtype=np.float64)
    if points.ndim != 2 or points.shape[0] != points.shape[1]:
        raise ValueError(f"points of a pool form a square, not shape {points.shape}")
    np.fill_diagonal(points, 0.0)
    games, players = points + points.T, len(points)
    precision = (ELO_PER_NAT / prior_elo) ** 2

    def loss(r: NDArray[np.float64]) -> float:
        return float(-(points * special.log_expit(r[:, None] - r)).sum() + precision * (r @ r) / 2)

    def gradient(r: NDArray[np.float64]) -> NDArray[np.float64]:
        expected = games * special.expit(r[:, None] - r)
        return np.asarray(expected.sum(axis=1) - points.sum(axis=1) + precision * r)

    def hessian(r: NDArray[np.float64]) -> NDArray[np.float64]:
        p = special.expit(r[:, None] - r)
        information = games * p * (1 - p)
        return np.asarray(np.diag(information.sum(axis=1) + precision) - information)

    if not players:
        return []
    mode = optimize.minimize(loss, np.zeros(players), jac=gradient, hess=hessian, method="trust-exact", tol=1e-8).x
    centre = np.eye(players) - 1 / players
    variance = np.diag(centre @ np.linalg.inv(hessian(mode)) @ centre)
    elo = ELO_PER_NAT * (mode - mode.mean())
    margin = ELO_PER_NAT * stats.norm.isf((1 - confidence) / 2) * np.sqrt(np.maximum(variance, 0.0))
    return [Rating(float(e), (float(e - m), float(e + m))) for e, m in zip(elo, margin, strict=True)]
