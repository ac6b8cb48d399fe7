"""Ratings against sums done by hand, and against a recount of long histories."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from casebase.ratings import (
    CaseStatistics,
    DecayingMemory,
    GeneralPositiveMemory,
    Rating,
    UpperConfidenceMemory,
    outcome,
    rating_named,
)
from checkers.errors import SpecificationError

WIN, DRAW, LOSS = 1.0, 0.5, 0.0


def after(history: Sequence[float], memory: DecayingMemory | None = None) -> CaseStatistics:
    statistics = CaseStatistics()
    for points in history:
        statistics.add(points, memory or DecayingMemory())
    return statistics


def test_decaying_memory_by_hand() -> None:
    rate = DecayingMemory()
    ratings = [rate.rating(after([WIN, LOSS, DRAW, WIN][:n]), 99) for n in range(1, 5)]
    # 1;  0.5 * 1 + 0.5 * 0 = 0.5;  0.5 * 0.5 + 0.5 * 0.5 = 0.5;  0.5 * 0.5 + 0.5 * 1 = 0.75
    assert ratings == [1.0, 0.5, 0.5, 0.75]
    quick = DecayingMemory(alpha=0.25, draw=0.0)
    # 0 (a draw counts 0);  0.75 * 0 + 0.25 * 1 = 0.25;  0.75 * 0.25 + 0.25 * 1 = 0.4375;  0.75 * 0.4375 = 0.328125
    assert quick.rating(after([DRAW, WIN, WIN, DRAW], quick), 99) == 0.328125
    last_only = DecayingMemory(alpha=1.0)
    assert last_only.rating(after([WIN, WIN, LOSS], last_only), 99) == 0.0


def test_general_positive_memory_by_hand() -> None:
    statistics = after([WIN, DRAW, LOSS, WIN, DRAW])
    assert GeneralPositiveMemory().rating(statistics, 99) == 3 / 5  # (2 + 0.5 * 2) / 5
    assert GeneralPositiveMemory(draw=0.0).rating(statistics, 99) == 2 / 5
    assert GeneralPositiveMemory(smoothing=True).rating(statistics, 99) == 4 / 7  # (2 + 0.5 * 2 + 1) / (5 + 2)
    assert GeneralPositiveMemory(smoothing=True).rating(after([LOSS]), 99) == 1 / 3


def test_upper_confidence_memory_by_hand() -> None:
    # 1 win and 1 loss in a position whose cases were used 8 times: 1 / 2 + 0.5 sqrt(ln 8 / 2)
    #   ln 8 = 2.0794415, halved 1.0397208, root 1.0196670, halved 0.5098335
    assert UpperConfidenceMemory().rating(after([WIN, LOSS]), 8) == pytest.approx(1.0098335, abs=1e-7)
    # 1 draw of 3 uses there: 0.5 / 1 + sqrt(2) sqrt(ln 3) = 0.5 + 1.4142136 * 1.0481471
    assert UpperConfidenceMemory(c=math.sqrt(2)).rating(after([DRAW]), 3) == pytest.approx(1.9823038, abs=1e-6)
    assert UpperConfidenceMemory().rating(after([LOSS]), 1) == 0.0  # ln 1 = 0


def test_upper_confidence_without_confidence_is_general_positive() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        statistics = after(rng.choice([WIN, DRAW, LOSS], int(rng.integers(1, 30))).tolist())
        uses = statistics.uses + int(rng.integers(50))
        for draw in (0.0, 0.3, 0.5, 1.0):
            ucm, gpm = UpperConfidenceMemory(c=0.0, draw=draw), GeneralPositiveMemory(draw=draw)
            assert ucm.rating(statistics, uses) == gpm.rating(statistics, uses)


@pytest.mark.parametrize("memory", [DecayingMemory(), DecayingMemory(alpha=0.1, draw=0.3), DecayingMemory(alpha=1.0)])
def test_incremental_equals_recount_after_ten_thousand_updates(memory: DecayingMemory) -> None:
    rng = np.random.default_rng(3)
    histories: list[list[float]] = [[] for _ in range(40)]
    cases = [CaseStatistics() for _ in histories]
    for _ in range(10_000):
        which, points = int(rng.integers(40)), float(rng.choice([WIN, DRAW, LOSS]))
        histories[which].append(points)
        cases[which].add(points, memory)
    total = sum(case.uses for case in cases)
    assert total == 10_000
    for case, history in zip(cases, histories, strict=True):
        n = len(history)
        counts = tuple(history.count(points) for points in (WIN, DRAW, LOSS))
        assert (case.wins, case.draws, case.losses) == counts
        # the closed form: alpha (1 - alpha)^k for the outcome k games ago, (1 - alpha)^(n - 1) for the first
        values = [memory.draw if points == DRAW else points for points in history]
        weights = [memory.alpha * (1 - memory.alpha) ** (n - 1 - i) for i in range(n)]
        weights[0] = (1 - memory.alpha) ** (n - 1)
        assert sum(weights) == pytest.approx(1)
        recount = sum(weight * value for weight, value in zip(weights, values, strict=True))
        assert memory.rating(case, total) == pytest.approx(recount, abs=1e-12)
        share = sum(0.5 if points == DRAW else points for points in history) / n
        assert GeneralPositiveMemory().rating(case, total) == pytest.approx(share)
        upper = share + 0.5 * math.sqrt(math.log(total) / n)
        assert UpperConfidenceMemory().rating(case, total) == pytest.approx(upper)


def test_outcome() -> None:
    assert [outcome(points) for points in (1.0, 0.5, 0.0)] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    with pytest.raises(ValueError, match=r"1, 0\.5 or 0"):
        outcome(0.7)


def test_ratings_by_name() -> None:
    assert rating_named("dm") == DecayingMemory(0.5, 0.5)
    assert rating_named("dm", alpha=0.2) == DecayingMemory(alpha=0.2)
    assert rating_named("gpm", draw=0.0, smoothing=True) == GeneralPositiveMemory(0.0, smoothing=True)
    assert rating_named("ucm", c=1.5) == UpperConfidenceMemory(c=1.5)
    ratings: list[Rating] = [DecayingMemory(), GeneralPositiveMemory(), UpperConfidenceMemory()]
    assert [rating_named(rating.name) for rating in ratings] == ratings


@pytest.mark.parametrize(
    ("name", "constants", "message"),
    [
        ("elo", {}, "'elo' is unknown; right would be dm, gpm, ucm"),
        ("GPM", {}, "unknown"),
        ("gpm", {"alpha": 0.5}, "gpm has no constant 'alpha'; right would be draw, smoothing"),
        ("gpm", {"name": 1}, "no constant 'name'"),
        ("gpm", {"smoothing": 0.5}, "smoothing is 0.5; right would be true or false"),
        ("dm", {"alpha": 0.0}, "alpha is 0.0; right would be a number, more than 0 and at most 1"),
        ("dm", {"alpha": 1.5}, "alpha is 1.5"),
        ("dm", {"alpha": math.nan}, "alpha is nan"),
        ("dm", {"draw": -0.1}, "draw is -0.1; right would be a number, 0 or more and at most 1"),
        ("dm", {"draw": True}, "draw is True"),
        ("ucm", {"c": -1.0}, "c is -1.0; right would be a number, 0 or more"),
        ("ucm", {"c": math.inf}, "c is inf"),
        ("ucm", {"c": "much"}, "c is 'much'"),
    ],
)
def test_wrong_specifications(name: str, constants: dict[str, float], message: str) -> None:
    with pytest.raises(SpecificationError, match=message):
        rating_named(name, **constants)
