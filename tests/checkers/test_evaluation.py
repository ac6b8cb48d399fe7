"""Leaf values: the rational tanh, material, networks over packed features, the shapes of tables of values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from checkers.evaluation import MATERIAL, NETWORK, VALUES, Evaluation, evaluate_rows, material, tanh
from checkers.features import FEATURES, feature_values
from checkers.jit import kernel
from checkers.position import Colour, Position
from learners.network import LYNCH_FEATURES, Network
from tests.strategies import positions, random_setup


@kernel("void(float32[::1],float32[::1])")
def tanh_of(values: Any, out: Any) -> Any:
    """The helper, element by element."""
    for i in range(values.shape[0]):
        out[i] = tanh(values[i])


def tanh_values(values: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.zeros(len(values), np.float32)
    tanh_of(values, out)
    return out


def rows_of(*boards: Position) -> NDArray[np.uint32]:
    return np.array([[*board[:3], int(board.side)] for board in boards], np.uint32).reshape(-1, 4)


def values_of(evaluation: Evaluation, *boards: Position) -> NDArray[np.float32]:
    out = np.full(len(boards), np.nan, np.float32)
    evaluate_rows(rows_of(*boards), evaluation, out)
    return out


def slow_network_value(network: Network, position: Position) -> float:
    """From the flat parameters, in Python's floats, for the side that has just moved."""
    seen = feature_values(*position[:3], 1 - int(position.side))
    bits = [int(seen[f.key - 1]) >> bit & 1 for f in network.features for bit in range(f.bits)]
    weights = network.parameters.tolist()
    size = network.hidden
    hidden = [
        math.tanh(weights[len(bits) * size + j] + sum(weights[i * size + j] for i, bit in enumerate(bits) if bit))
        for j in range(size)
    ]
    after = weights[(len(bits) + 1) * size :]
    return math.tanh(after[size] + sum(w * h for w, h in zip(after, hidden, strict=False)))


def test_tanh_is_within_a_millionth() -> None:
    values = np.linspace(-10, 10, 400_001).astype(np.float32)
    expected = np.array([math.tanh(value) for value in values.tolist()])
    assert float(np.abs(tanh_values(values) - expected).max()) < 1e-6


def test_tanh_is_odd_bounded_and_rises() -> None:
    values = np.linspace(0, 10, 200_001).astype(np.float32)
    out = tanh_values(values)
    assert out[0] == 0
    assert np.array_equal(tanh_values(-values), -out)
    # neighbours may change places by the rounding of a few operations
    assert float(np.diff(out).min()) >= -6e-7
    assert float(out.max()) <= 1 + 3e-7


def test_tanh_of_what_is_far_out() -> None:
    far = np.array([1e3, 1e30, np.inf, -1e3, -1e30, -np.inf], np.float32)
    assert tanh_values(far) == pytest.approx([1, 1, 1, -1, -1, -1], abs=1e-6)


@pytest.mark.parametrize(
    ("fen", "white_is_ahead"),
    [
        ("B:W21-32:B1-12", 0.0),
        ("B:W21,22:B1", 1.0),
        ("W:W21,22:B1", 1.0),
        ("B:WK21:B1", 0.5),
        ("B:WK21,22:BK1,K2,3", -1.5),
        ("W:W21:B", 1.0),
        ("W:W:BK1,K2,K3,4", -5.5),
    ],
)
def test_material_counts_men_as_1_and_kings_as_a_half_more(fen: str, white_is_ahead: float) -> None:
    position = Position.from_fen(fen)
    for_the_last_mover = white_is_ahead if position.side is Colour.BLACK else -white_is_ahead
    assert values_of(material(), position).tolist() == [for_the_last_mover]


@given(positions())
@settings(max_examples=60)
def test_material_changes_sign_with_the_mover_and_not_with_the_half_turn(position: Position) -> None:
    other = position._replace(side=position.side.other)
    here, there, turned = values_of(material(), position, other, position.half_turn()).tolist()
    assert here == -there == turned


@pytest.mark.parametrize("count", [0, 1, 2, 57])
def test_one_value_for_each_row(count: int) -> None:
    rng = np.random.default_rng(count)
    boards = [random_setup(rng) for _ in range(count)]
    network = Network.initial(LYNCH_FEATURES, rng).evaluation()
    for evaluation in (material(), network):
        together = values_of(evaluation, *boards)
        assert together.shape == (count,)
        assert together.dtype == np.float32
        assert together.tolist() == [values_of(evaluation, board)[0] for board in boards]


def test_only_arrays_of_the_right_type_are_taken() -> None:
    with pytest.raises(TypeError):
        evaluate_rows(rows_of(Position.start()).astype(np.int64), material(), np.zeros(1, np.float32))
    with pytest.raises(TypeError):
        evaluate_rows(rows_of(Position.start()), material(), np.zeros(1, np.float64))


@pytest.mark.parametrize("hidden", [1, 7, 8, 9, 20])
@pytest.mark.parametrize("names", [LYNCH_FEATURES, ("PieceThreat",), ("Exposure", "PieceAdvantage", "TotalMobility")])
def test_a_network_is_the_sum_over_its_inputs(names: tuple[str, ...], hidden: int) -> None:
    rng = np.random.default_rng(hidden)
    network = Network.initial(names, rng, hidden=hidden, bound=0.7)
    evaluation = network.evaluation()
    assert evaluation.kind == NETWORK
    assert evaluation.features == len(names)
    assert evaluation.weights.shape[0] == VALUES * len(names) + 3
    assert evaluation.weights.shape[1] % 8 == 0
    assert evaluation.weights.dtype == np.float32
    boards = [random_setup(rng) for _ in range(20)]
    expected = [slow_network_value(network, board) for board in boards]
    assert values_of(evaluation, *boards) == pytest.approx(expected, abs=3e-6)


@given(positions())
@settings(max_examples=60)
def test_a_network_sees_the_same_after_a_half_turn(position: Position) -> None:
    network = Network.initial([feature.name for feature in FEATURES], np.random.default_rng(4)).evaluation()
    here, turned = values_of(network, position, position.half_turn()).tolist()
    assert here == turned
    assert -1 <= here <= 1


def test_the_material_evaluation_is_small() -> None:
    evaluation = material()
    assert evaluation.kind == MATERIAL
    assert evaluation.weights.size < 100
