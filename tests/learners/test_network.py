"""Networks: the table that play uses against plain NumPy, the gradient, files and what is refused as one."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.errors import FileFormatError, InputError, SpecificationError
from checkers.evaluation import LANES
from checkers.features import FEATURES, select
from checkers.position import Position
from learners.network import (
    FORMAT,
    LYNCH_FEATURES,
    VERSION,
    Network,
    encode,
    padded,
    parameter_count,
    value_and_gradient,
)
from learners.td import position_rows
from tests.reference import feature_definitions, numpy_network
from tests.strategies import random_setup

feature_sets = st.lists(st.sampled_from(LYNCH_FEATURES), min_size=1, unique=True)
seeds = st.integers(0, 2**32 - 1)


def small(seed: int = 0, *, features: tuple[str, ...] = ("Exposure", "BackrowBridge"), hidden: int = 3) -> Network:
    return Network.initial(features, np.random.default_rng(seed), hidden=hidden)


def names_of(network: Network) -> list[str]:
    return [feature.name for feature in network.features]


def packed(position: Position, names: list[str]) -> np.uint64:
    """Feature values as the kernels take them: four bits each, in key order, the first one lowest."""
    values = feature_definitions.feature_values(tuple(map(int, position)), int(position.side.other))  # type: ignore[arg-type]
    chosen = [v for name, v in zip(LYNCH_FEATURES, values, strict=True) if name in names]
    return np.uint64(sum(v << 4 * i for i, v in enumerate(chosen)))


@settings(max_examples=60)
@given(seeds, feature_sets, st.integers(1, 41), st.sampled_from([0.2, 1.0]))
def test_value_is_that_of_plain_numpy(seed: int, names: list[str], hidden: int, bound: float) -> None:
    rng = np.random.default_rng(seed)
    network = Network.initial(names, rng, hidden=hidden, bound=bound)
    positions = [random_setup(rng) for _ in range(8)]
    expected = [
        numpy_network.value(network.parameters, numpy_network.inputs_of(position, names), hidden)
        for position in positions
    ]
    found = network.predict(position_rows(positions))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_value_is_for_the_side_that_has_just_moved() -> None:
    # only the two material features, and weights that tell who is ahead
    features = select(("PieceAdvantage", "PieceDisadvantage"))
    parameters = np.zeros(parameter_count(features, 1))
    parameters[:8] = [0.1, 0.2, 0.4, 0.8, -0.1, -0.2, -0.4, -0.8]
    parameters[9] = 1.0
    network = Network(features, 1, parameters)
    ahead = [Position.from_fen(f"{side}:W21:B1,2,3") for side in "WB"]  # Black has moved, then White
    value = np.tanh(np.tanh(0.4))  # four points of material: bit 2
    np.testing.assert_allclose(network.predict(position_rows(ahead)), [value, -value], atol=1e-6)


def test_half_turn_changes_no_value() -> None:
    rng = np.random.default_rng(5)
    positions = [random_setup(rng) for _ in range(100)]
    network = Network.initial(LYNCH_FEATURES, rng, bound=1.0)
    turned = [position.half_turn() for position in positions]
    np.testing.assert_array_equal(network.predict(position_rows(positions)), network.predict(position_rows(turned)))


def test_saturated_networks_stay_within_one() -> None:
    rng = np.random.default_rng(6)
    network = Network.initial(LYNCH_FEATURES, rng, bound=50.0)
    values = network.predict(position_rows([random_setup(rng) for _ in range(200)]))
    assert np.all(np.abs(values) <= 1)
    assert np.abs(values).max() > 0.99


@settings(max_examples=30)
@given(seeds, feature_sets, st.integers(1, 12))
def test_gradient_is_that_of_finite_differences(seed: int, names: list[str], hidden: int) -> None:
    rng = np.random.default_rng(seed)
    network = Network.initial(names, rng, hidden=hidden, bound=0.7)
    position = random_setup(rng)
    inputs = numpy_network.inputs_of(position, names)
    gradient = np.full(len(network.parameters), 9.0)  # what was there before must not matter
    value = value_and_gradient(network.parameters, network.bits, packed(position, names), hidden, gradient)
    assert value == pytest.approx(numpy_network.value(network.parameters, inputs, hidden), abs=1e-12)
    np.testing.assert_allclose(
        gradient, numpy_network.differences(network.parameters, inputs, hidden), rtol=1e-5, atol=1e-8
    )
    np.testing.assert_allclose(
        gradient, numpy_network.gradient(network.parameters, inputs, hidden), rtol=1e-9, atol=1e-12
    )


def test_encode_writes_low_bits_first() -> None:
    features = select(("PieceAdvantage", "BackrowBridge", "Exposure"))
    values = np.array([[6, 1, 5], [15, 0, 0]], np.uint8)
    found = encode(values, features)
    assert found.dtype == np.uint8
    assert found.tolist() == [[0, 1, 1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 0, 0, 0]]


def test_encode_is_the_reference_for_all_features() -> None:
    rng = np.random.default_rng(1)
    tops = [1 << feature.bits for feature in FEATURES]
    values = rng.integers(0, tops, (50, len(tops))).astype(np.uint8)
    assert encode(values, FEATURES).tolist() == [feature_definitions.feature_bits(row) for row in values.tolist()]


def test_sizes() -> None:
    network = Network.initial(LYNCH_FEATURES, np.random.default_rng(0))
    assert network.inputs == 38
    assert len(network.parameters) == 38 * 20 + 20 + 20 + 1 == parameter_count(network.features, 20)
    assert [padded(n) for n in (1, LANES, LANES + 1)] == [LANES, LANES, 2 * LANES]
    assert small().bits.tolist() == [1, 3]


def test_initial_weights_and_order() -> None:
    first, again, other = small(1), small(1), small(2)
    assert names_of(first) == ["BackrowBridge", "Exposure"]  # key order
    np.testing.assert_array_equal(first.parameters, again.parameters)
    assert not np.array_equal(first.parameters, other.parameters)
    wide = Network.initial(LYNCH_FEATURES, np.random.default_rng(0)).parameters
    assert -0.2 <= wide.min() < -0.19 < 0.19 < wide.max() <= 0.2


def test_with_parameters_copies_and_adds_history() -> None:
    first = small().with_parameters(np.zeros(19), games=1)
    parameters = np.ones(19)
    second = first.with_parameters(parameters, clones=2)
    parameters[:] = 7
    assert second.history == {"games": 1, "clones": 2}
    assert first.history == {"games": 1}
    assert second.parameters.max() == 1


@pytest.mark.parametrize("hidden", [0, -3])
def test_refuses_no_hidden_units(hidden: int) -> None:
    with pytest.raises(InputError, match=f"{hidden} were asked for, right would be 20"):
        small(hidden=hidden)


def test_refuses_unknown_features_and_wrong_shapes() -> None:
    with pytest.raises(SpecificationError, match="'Mobility' is unknown"):
        small(features=("Mobility",))
    with pytest.raises(ValueError, match="not what 3 hidden units need"):
        small().with_parameters(np.zeros(18))


def test_refuses_features_out_of_key_order() -> None:
    # the kernels hand out features in key order: any other order would read them as one another
    features = select(("Exposure", "PieceThreat"))
    with pytest.raises(ValueError, match="key order"):
        Network(features, 2, np.zeros(parameter_count(features, 2)))


# files


@settings(max_examples=15)
@given(seeds, feature_sets, st.integers(1, 30))
def test_file_round_trip(tmp_path_factory: pytest.TempPathFactory, seed: int, names: list[str], hidden: int) -> None:
    network = Network.initial(names, np.random.default_rng(seed), hidden=hidden)
    network = network.with_parameters(network.parameters, games=12, curve=[[1, 0.5, None]], name="λ")
    path = tmp_path_factory.mktemp("network") / "net.npz"
    network.save(path)
    loaded = Network.load(str(path))
    assert loaded.features == network.features
    assert loaded.hidden == hidden
    assert loaded.history == network.history
    np.testing.assert_array_equal(loaded.parameters, network.parameters)
    assert [entry.name for entry in path.parent.iterdir()] == ["net.npz"]


def test_saving_replaces_the_old_file_or_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    small(1).save(path)
    small(2).save(path)
    np.testing.assert_array_equal(Network.load(path).parameters, small(2).parameters)
    hopeless = small(3).with_parameters(small(3).parameters, thing=object())
    with pytest.raises(TypeError):
        hopeless.save(path)
    np.testing.assert_array_equal(Network.load(path).parameters, small(2).parameters)
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.npz"]


def fields(**changes: Any) -> dict[str, Any]:
    """What a network file holds, with changes; None leaves a field out."""
    network = small()
    whole = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "features": np.array(names_of(network)),
        "hidden": np.array(network.hidden),
        "parameters": network.parameters,
        "history": np.array("{}"),
    }
    return {name: value for name, value in {**whole, **changes}.items() if value is not None}


def refused(path: Path, message: str = "is not a network|does not exist|is a folder") -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        Network.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": np.array("somebody's network")}, "is not a network of this program"),
        ({"version": np.array(VERSION + 1)}, f"has network version {VERSION + 1}; this is {VERSION}"),
        ({"format": None}, "is not a network file"),
        ({"history": None}, "is not a network file"),
        ({"features": np.array(["Exposure", "Mobility"])}, "feature 'Mobility' is unknown"),
        ({"features": np.array(["Exposure", "BackrowBridge"])}, "key order"),
        ({"features": np.array([], dtype=str)}, "at least one feature"),
        ({"hidden": np.array(4)}, "not what 4 hidden units need"),
        ({"hidden": np.array(0), "parameters": np.zeros(1)}, "hidden units"),
        ({"hidden": np.array([3, 3])}, "is not a network file"),
        ({"hidden": np.array(np.inf)}, "is not a network file"),
        ({"parameters": np.zeros((19, 1))}, "parameters have shape"),
        ({"parameters": np.array(["x"] * 19)}, "is not a network file"),
        ({"parameters": np.full(19, np.nan)}, "holds weights that are not finite numbers"),
        ({"parameters": np.full(19, np.inf)}, "holds weights that are not finite numbers"),
        ({"parameters": np.array([{}] * 19, object)}, "allow_pickle=False"),
        ({"history": np.array("{")}, "is not a network file"),
        ({"history": np.array("[1]")}, "is not a network file"),
        ({"history": np.array("[" * 100_000)}, "is not a network file"),
    ],
)
def test_refuses_files_with_other_content(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "net.npz"
    np.savez(path, allow_pickle=True, **fields(**changes))
    refused(path, message)


def write_truncated(path: Path) -> None:
    small().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def write_other_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("format.npy", "not an array")


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text("a text\nof two lines\n"),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text(json.dumps({"format": FORMAT})),
        lambda path: np.savez(path, weights=np.zeros(3)),
        lambda path: path.mkdir(),
        lambda path: None,
        write_truncated,
        write_other_array,
        write_zip,
    ],
    ids=["text", "empty", "json", "other npz", "folder", "absent", "truncated", "npy", "other zip"],
)
def test_refuses_other_files(tmp_path: Path, write: Callable[[Path], object]) -> None:
    path = tmp_path / "net.npz"
    write(path)
    refused(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_files_load_whole_or_are_refused(tmp_path: Path, save: Callable[..., None]) -> None:
    path = tmp_path / "net.npz"
    save(path, **fields())
    whole = path.read_bytes()
    network = Network.load(path)
    rng = np.random.default_rng(0)
    messages = []
    for _ in range(300):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), int(rng.integers(1, 4))):
            damaged[at] = int(rng.integers(256))
        path.write_bytes(damaged[: int(rng.integers(1, len(whole)))] if rng.random() < 0.2 else damaged)
        try:
            loaded = Network.load(path)
        except FileFormatError as error:
            messages.append(str(error))
        else:  # the damage hit what nothing reads, such as a date
            np.testing.assert_array_equal(loaded.parameters, network.parameters)
    assert len(messages) > 100
    assert not any("\n" in message for message in messages)
