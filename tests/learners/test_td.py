"""TDLearner: equal seeds, learning, clones, the tournament among them, the curve, and what it refuses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checkers.draws import NEURODRAUGHTS, DrawPolicy
from checkers.errors import InputError, SpecificationError
from checkers.openings import three_move_ballots
from checkers.position import Position
from learners.network import LYNCH_FEATURES, Network
from learners.td import CLONES_KEPT, TDLearner, play_match, position_rows, round_robin

OPENINGS = [ballot.position() for ballot in three_move_ballots() if ballot.playable]
SMALL: dict[str, Any] = {"hidden": 4, "games": 60, "clone_after": 20, "test_openings": 4}


def fitted(seed: int = 0, **settings: Any) -> TDLearner:
    return TDLearner(**{**SMALL, **settings}).fit(OPENINGS, np.random.SeedSequence(seed))


def score_against_untrained(seed: int) -> float:
    """Share of the points of 40 games at depth 2 that a network gets from what it was before 3,000 games."""
    learner = TDLearner(games=3000).fit(OPENINGS, np.random.SeedSequence(seed))
    rng = np.random.default_rng(seed)
    rows = position_rows(OPENINGS)[rng.choice(len(OPENINGS), 20, replace=False)]
    results = play_match(learner.network_.evaluation(), learner.initial_.evaluation(), rows, depth=2)
    return float(results.mean() + 1) / 2


def test_learns() -> None:
    # ten seeds gave 0.90 to 1.00
    assert score_against_untrained(0) >= 0.7


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_learns_whatever_the_seed(seed: int) -> None:
    assert score_against_untrained(seed) >= 0.7


def test_equal_seeds_equal_networks() -> None:
    first, again, other = fitted(1), fitted(1), fitted(2)
    np.testing.assert_array_equal(first.network_.parameters, again.network_.parameters)
    assert first.curve_ == again.curve_
    assert first.network_.history == again.network_.history
    assert not np.array_equal(first.network_.parameters, other.network_.parameters)
    np.testing.assert_array_equal(first.initial_.parameters, again.initial_.parameters)
    assert not np.array_equal(first.initial_.parameters, other.initial_.parameters)


def test_threads_do_not_disturb_each_other_nor_numpy() -> None:
    state = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]  # noqa: NPY002
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(fitted, range(4)))
    for seed, learner in enumerate(together):
        np.testing.assert_array_equal(learner.network_.parameters, fitted(seed).network_.parameters)
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index, union-attr]  # noqa: NPY002


@pytest.mark.parametrize(
    "settings",
    [
        {"depth": 2},
        {"exploration": 0.0},
        {"exploration": 1.0},
        {"both_colours": False},
        {"momentum": 0.9},
        {"gamma": 0.98, "decay": 0.1, "learning_rate": 1.0},
        {"rewards": (1.0, -1.0, -0.5)},
        {"policy": NEURODRAUGHTS},
        {"features": ("Exposure",)},
        {"hidden": 9},
    ],
)
def test_every_setting_tells(settings: dict[str, Any]) -> None:
    changed = fitted(3, **settings).network_
    usual = fitted(3).network_
    assert np.all(np.isfinite(changed.parameters))
    assert not np.array_equal(changed.parameters, usual.parameters)


def test_curve_and_progress() -> None:
    calls: list[int] = []
    learner = TDLearner(**{**SMALL, "games": 50})
    assert learner.fit(OPENINGS, np.random.SeedSequence(0), progress=calls.append) is learner
    assert calls == [20, 20, 10]
    assert [point.games for point in learner.curve_] == [20, 40, 50]
    clones = 0
    for point in learner.curve_:
        assert 0 <= point.score <= 1
        clones += point.test_score >= learner.clone_points
        assert point.clones == clones
    history = learner.network_.history
    assert history["games"] == 50
    assert history["depth"] == 1
    assert history["clones"] == clones
    assert history["curve"] == [list(point) for point in learner.curve_]


def test_the_network_can_be_kept(tmp_path: Path) -> None:
    network = fitted().network_
    network.save(tmp_path / "net.npz")
    loaded = Network.load(tmp_path / "net.npz")
    assert loaded.history == network.history
    np.testing.assert_array_equal(loaded.parameters, network.parameters)


def test_the_latest_clones_are_kept() -> None:
    learner = fitted(games=200, clone_after=10, clone_points=0.0)
    assert learner.curve_[-1].clones == 20
    assert len(learner.clones_) == CLONES_KEPT
    assert len({clone.parameters.tobytes() for clone in learner.clones_}) == CLONES_KEPT


def test_without_a_clone_the_learner_itself_is_the_result() -> None:
    learner = fitted(clone_points=1.01)
    assert learner.curve_[-1].clones == 0
    assert len(learner.clones_) == 1
    np.testing.assert_array_equal(learner.network_.parameters, learner.clones_[0].parameters)
    assert not np.array_equal(learner.network_.parameters, learner.initial_.parameters)


def test_the_clone_with_most_points_is_kept() -> None:
    # all openings enter the tournament, and at depth 1 their order plays no part
    some = OPENINGS[::20]
    learner = TDLearner(**{**SMALL, "games": 120, "clone_points": 0.0, "test_openings": len(some)})
    learner.fit(some, np.random.SeedSequence(4))
    rows = position_rows(some)
    evaluations = [clone.evaluation() for clone in learner.clones_]
    points = round_robin(evaluations, rows, learner.depth)
    assert len(set(points.tolist())) > 1
    best = max(range(len(points)), key=lambda i: (points[i], i))
    np.testing.assert_array_equal(learner.network_.parameters, learner.clones_[best].parameters)


def test_round_robin_points() -> None:
    evaluations = [fitted(seed, games=20).network_.evaluation() for seed in range(3)]
    rows = position_rows(OPENINGS[:5])
    points = round_robin(evaluations, rows, 1)
    expected = [0, 0, 0]
    for i in range(3):
        for j in range(i + 1, 3):
            for result in play_match(evaluations[i], evaluations[j], rows, depth=1).tolist():
                expected[i] += {1: 2, 0: 1, -1: 0}[result]
                expected[j] += {1: 0, 0: 1, -1: 2}[result]
    assert points.tolist() == expected
    assert points.sum() == 2 * 3 * 10


def test_starts_from_a_network_and_leaves_it_alone() -> None:
    start = fitted(5).network_
    before = start.parameters.copy()
    idle = TDLearner(**{**SMALL, "learning_rate": 0.0}).fit(OPENINGS, np.random.SeedSequence(6), start=start)
    np.testing.assert_array_equal(idle.network_.parameters, before)
    busy = TDLearner(**SMALL).fit(OPENINGS, np.random.SeedSequence(6), start=start)
    assert not np.array_equal(busy.network_.parameters, before)
    np.testing.assert_array_equal(start.parameters, before)
    assert busy.network_.history["games"] == SMALL["games"]


def test_a_start_of_another_shape_is_refused() -> None:
    start = fitted().network_
    for settings in ({"hidden": 5}, {"features": ("Exposure",)}):
        with pytest.raises(InputError, match="other features or hidden units"):
            TDLearner(**{**SMALL, **settings}).fit(OPENINGS, np.random.SeedSequence(0), start=start)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"games": 0}, "games is 0; right would be 1 or more"),
        ({"depth": 0}, "depth is 0"),
        ({"hidden": 0}, "hidden is 0"),
        ({"clone_after": -1}, "clone_after is -1"),
        ({"test_openings": 0}, "test_openings is 0"),
        ({"gamma": 1.1}, "gamma is 1.1; right would be from 0 to 1"),
        ({"decay": -0.1}, "decay is -0.1"),
        ({"exploration": 2}, "exploration is 2"),
        ({"momentum": float("nan")}, "momentum is nan"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0"),
        ({"rewards": (1.0, float("inf"), 0.0)}, "rewards"),
        ({"rewards": (1.0, -1.0)}, "rewards"),
    ],
)
def test_refuses_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        TDLearner(**settings)
    assert "\n" not in str(caught.value)


def test_refuses_unknown_features_and_no_openings() -> None:
    with pytest.raises(SpecificationError, match="'Mobility' is unknown"):
        fitted(features=("Exposure", "Mobility"))
    with pytest.raises(InputError, match="opening"):
        TDLearner(**SMALL).fit([], np.random.SeedSequence(0))


def test_position_rows() -> None:
    rows = position_rows([Position.start(), Position.from_fen("W:WK32:B1")])
    assert rows.dtype == np.uint32
    assert rows.tolist() == [[0xFFF, 0xFFF00000, 0, 0], [1, 1 << 31, 1 << 31, 1]]
    assert position_rows([]).shape == (0, 4)


def test_play_match_takes_networks_of_two_sizes() -> None:
    rng = np.random.default_rng(0)
    narrow, wide = (Network.initial(LYNCH_FEATURES, rng, hidden=n).evaluation() for n in (3, 30))
    rows = position_rows(OPENINGS[:4])
    ahead = play_match(narrow, wide, rows, depth=(1, 2))
    behind = play_match(wide, narrow, rows, depth=(2, 1)).reshape(-1, 2)
    assert ahead.tolist() == (-behind[:, ::-1].ravel()).tolist()
    assert len(play_match(narrow, wide, rows, depth=1, policy=DrawPolicy("none"))) == 8
