"""NetFeatureMap: the inputs of theory.md 4.1, scikit-learn's conventions, and what it refuses."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import unittest
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
)
from sklearn.utils.validation import validate_data

from checkers.errors import InputError, SpecificationError
from checkers.position import Colour, Position
from learners.featuremap import NetFeatureMap
from learners.network import LYNCH_FEATURES, Network
from learners.td import position_rows
from tests.reference.feature_definitions import FEATURES, feature_bits, feature_values
from tests.strategies import positions, random_setup

START = position_rows([Position.start()])
SOME = position_rows([random_setup(np.random.default_rng(seed)) for seed in range(60)])

WIDTH = "fits random numbers in other than 4 columns, and a position is 4 whole numbers"
#: Checks that no transformer of positions can pass; TestWidened runs each of them on data that it may have.
EXPECTED_FAILURES = {
    "check_fit_score_takes_y": WIDTH,
    "check_estimators_overwrite_params": WIDTH,
    "check_dont_overwrite_parameters": WIDTH,
    "check_estimators_fit_returns_self": WIDTH,
    "check_readonly_memmap_input": WIDTH,
    "check_n_features_in_after_fitting": "fits 4 columns of random fractions, and boards are whole numbers",
    "check_positive_only_tag_during_fit": "expects its own words for a negative input; its data has 3 columns",
    "check_estimators_dtypes": WIDTH,
    "check_dtype_object": WIDTH,
    "check_pipeline_consistency": WIDTH,
    "check_estimators_nan_inf": WIDTH,
    "check_estimators_pickle": WIDTH,
    "check_f_contiguous_array_estimator": WIDTH,
    "check_transformer_data_not_an_array": WIDTH,
    "check_transformer_general": WIDTH,
    "check_methods_sample_order_invariance": WIDTH,
    "check_methods_subset_invariance": WIDTH,
    "check_fit2d_1sample": "expects one row of 10 columns to be fitted, or refused for being one row",
    "check_dict_unchanged": WIDTH,
    "check_fit_idempotent": WIDTH,
    "check_fit_check_is_fitted": WIDTH,
    "check_n_features_in": WIDTH,
    "check_fit2d_predict1d": WIDTH,
}


class Widened(NetFeatureMap):  # type: ignore[misc]
    """Takes rows of any numbers and width for positions, so that every check can run on all that is behind."""

    def _positions(self, X: ArrayLike, *, reset: bool) -> NDArray[np.uint32]:
        rows = np.asarray(validate_data(self, X, reset=reset), np.float64)
        boards = np.array([[zlib.crc32(row.tobytes(), n) for n in range(4)] for row in rows], np.uint32)
        boards[:, 1] &= ~boards[:, 0]
        boards[:, 2] &= boards[:, 0] | boards[:, 1]
        boards[:, 3] &= 1
        return boards

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags


def checked(estimator: NetFeatureMap, expected_failures: dict[str, str]) -> dict[str, set[str]]:
    """Run scikit-learn's checks; the names of those that passed, failed, failed as expected, were skipped."""
    names: dict[str, set[str]] = {"passed": set(), "failed": set(), "xfail": set(), "skipped": set()}

    def note(*, check_name: str, status: str, **_: object) -> None:
        names[status].add(check_name)

    check_estimator(estimator, expected_failed_checks=expected_failures, on_fail=None, on_skip=None, callback=note)
    return names


@pytest.mark.parametrize("encoding", ["binary", "count"])
def test_scikit_learn_checks(encoding: str) -> None:
    names = checked(NetFeatureMap(encoding=encoding), EXPECTED_FAILURES)
    assert names["failed"] == set()
    assert names["xfail"] == set(EXPECTED_FAILURES)  # none of those passes unnoticed
    assert names["skipped"] <= {"check_array_api_input"}  # needs SciPy's switch for other array libraries
    assert len(names["passed"]) > 15


@pytest.mark.parametrize("estimator", [Widened(), Widened(("Exposure",), "count")])
def test_scikit_learn_checks_with_positions_of_any_width(estimator: Widened) -> None:
    names = checked(estimator, {})
    assert names["failed"] == set()
    assert set(EXPECTED_FAILURES) <= names["passed"]


@settings(max_examples=60)
@given(positions())
def test_inputs_are_those_of_the_definitions(position: Position) -> None:
    inputs = NetFeatureMap().fit_transform(position_rows([position]))
    expected = feature_bits(feature_values(tuple(map(int, position)), int(position.side.other)))
    assert inputs.shape == (1, 38)
    assert inputs.dtype == np.float64
    assert inputs[0].tolist() == expected


@settings(max_examples=30)
@given(positions(), st.lists(st.sampled_from(LYNCH_FEATURES), min_size=1, unique=True))
def test_columns_follow_the_keys_whatever_the_order(position: Position, names: list[str]) -> None:
    rows = position_rows([position])
    every = NetFeatureMap().fit(rows)
    some = NetFeatureMap(tuple(names)).fit(rows)
    kept = [i for i, column in enumerate(every.get_feature_names_out()) if column.split("_")[0] in names]
    assert some.transform(rows).tolist() == every.transform(rows)[:, kept].tolist()
    assert some.get_feature_names_out().tolist() == every.get_feature_names_out()[kept].tolist()


def test_known_inputs() -> None:
    rows = position_rows([Position.from_fen("W:W21,22:BK1,2,3,15")])
    mapped = NetFeatureMap(("PieceAdvantage", "PieceDisadvantage", "CentreControl")).fit(rows)
    # 3 men and a king (9) against 2 men (4): 5 = 1010, low bits first; one man on the centre
    assert mapped.transform(rows).tolist() == [[1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0]]
    assert mapped.get_feature_names_out()[:5].tolist() == [
        "PieceAdvantage_0",
        "PieceAdvantage_1",
        "PieceAdvantage_2",
        "PieceAdvantage_3",
        "PieceDisadvantage_0",
    ]
    assert mapped.get_feature_names_out()[-1] == "CentreControl_2"


def test_count_encoding_is_value_by_maximum() -> None:
    counted = NetFeatureMap(encoding="count").fit(SOME)
    tops = [2**bits - 1 for bits, _ in FEATURES.values()]
    expected = [
        [v / top for v, top in zip(feature_values(tuple(row), 1 - row[3]), tops, strict=True)] for row in SOME.tolist()
    ]
    np.testing.assert_allclose(counted.transform(SOME), expected, rtol=1e-15)
    assert counted.get_feature_names_out().tolist() == list(FEATURES)


def test_a_network_on_these_inputs_is_the_network_of_the_search() -> None:
    network = Network.initial(("Exposure", "TotalMobility"), np.random.default_rng(0), hidden=3)
    inputs = NetFeatureMap([feature.name for feature in network.features]).fit_transform(SOME)
    first = network.parameters[: network.inputs * 3].reshape(-1, 3)
    rest = network.parameters[network.inputs * 3 :]
    values = np.tanh(np.tanh(inputs @ first + rest[:3]) @ rest[3:6] + rest[6])
    np.testing.assert_allclose(network.predict(SOME), values, atol=1e-5)


def test_half_turned_positions_have_the_same_inputs() -> None:
    turned = [Position(b, w, k, Colour(s)).half_turn() for b, w, k, s in SOME.tolist()]
    mapped = NetFeatureMap().fit(SOME)
    np.testing.assert_array_equal(mapped.transform(SOME), mapped.transform(position_rows(turned)))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64, np.int64, np.float64, object])
def test_whole_numbers_of_every_type_that_holds_a_board(dtype: Any) -> None:
    mapped = NetFeatureMap().fit(SOME)
    np.testing.assert_array_equal(mapped.transform(SOME.astype(dtype)), mapped.transform(SOME))
    np.testing.assert_array_equal(mapped.transform(np.asfortranarray(SOME)), mapped.transform(SOME))
    np.testing.assert_array_equal(mapped.transform(SOME.tolist()), mapped.transform(SOME))
    np.testing.assert_array_equal(mapped.transform(SOME[::2]), mapped.transform(SOME)[::2])


def test_clone_parameters_and_pickle() -> None:
    names = ("Exposure", "PieceThreat")
    mapped = NetFeatureMap(names).fit(START)
    assert clone(mapped).get_params() == {"features": names, "encoding": "binary"}
    assert not hasattr(clone(mapped), "features_")
    assert mapped.n_features_in_ == 4
    again = pickle.loads(pickle.dumps(mapped))
    np.testing.assert_array_equal(again.transform(SOME), mapped.transform(SOME))
    mapped.set_params(features=None)
    assert mapped.transform(START).shape == (1, 6)  # what was fitted stays until the next fit
    assert mapped.fit(START).transform(START).shape == (1, 38)


def test_pipeline_learns() -> None:
    targets = np.array([feature_values(tuple(row), 1 - row[3])[9] for row in SOME.tolist()])  # TotalMobility
    pipeline = make_pipeline(NetFeatureMap(), Ridge(alpha=1e-3))
    assert pipeline.fit(SOME, targets).score(SOME, targets) > 0.99
    pipeline.set_params(netfeaturemap__features=("BackrowBridge",))
    assert pipeline.fit(SOME, targets).score(SOME, targets) < 0.9


@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform,
        check_transformer_get_feature_names_out,
        check_set_output_transform_pandas,
        check_transformer_get_feature_names_out_pandas,
        check_set_output_transform_polars,
    ],
)
def test_scikit_learn_checks_of_output(check: Callable[[str, Any], None]) -> None:
    try:
        check("Widened", Widened())
    except unittest.SkipTest as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 2, 0, 0, 0]], "5"),
        ([*START.tolist(), [6, 4, 0, 0]], "position 1: square 3 holds two pieces"),
        ([[1, 2, 8, 0]], "position 0: square 4 holds a king of neither colour"),
        ([[1.5, 2, 0, 0]], "position 0: black is 1.5; right would be a whole number from 0 to 4294967295"),
        ([[1, 2, 0, 2]], "position 0: side to move is 2; right would be a whole number from 0 to 1"),
        ([[1, -2, 0, 0]], "position 0: white is -2"),
        ([[1, 2**32, 0, 0]], "position 0: white is 4294967296"),
        (START.astype(np.float32), "float32 numbers, which cannot hold boards"),
        (START.astype(bool), "bool numbers"),
        ([[1, np.nan, 0, 0]], "NaN"),
        (np.empty((0, 4), np.uint32), "0 sample"),
        ([], "Expected 2D array"),
        (START[0], "Expected 2D array"),
        ([["a", "b", "c", "d"]], "not compatible with arrays of bytes/strings"),
    ],
)
def test_refuses_what_is_no_position(rows: Any, message: str) -> None:
    for call in (NetFeatureMap().fit, NetFeatureMap().fit(START).transform):
        with pytest.raises(InputError, match=re.escape(message)) as caught:
            call(rows)
        assert "\n" not in str(caught.value)


def test_refuses_other_widths_by_name() -> None:
    fields = "right would be whole numbers in 4 columns: black, white, kings, side to move"
    with pytest.raises(InputError, match=f"^positions have n_features=3; {fields}$"):
        NetFeatureMap().fit([[1, 2, 0]])
    with pytest.raises(InputError, match=f"^X has 3 features, but NetFeatureMap is expecting 4 .*; {fields}$"):
        NetFeatureMap().fit(START).transform([[1, 2, 0]])


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"features": ("Mobility",)}, "feature 'Mobility' is unknown"),
        ({"features": "Exposur"}, "feature 'Exposur' is unknown"),
        ({"features": ()}, "at least one feature"),
        ({"features": ("Exposure", "Exposure")}, "named twice"),
        ({"encoding": "gray"}, "encoding 'gray' is unknown; there are binary, count"),
    ],
)
def test_refuses_wrong_settings_when_fitted(settings_: dict[str, Any], message: str) -> None:
    mapped = NetFeatureMap(**settings_)
    with pytest.raises(InputError, match=message) as caught:
        mapped.fit(START)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, SpecificationError) or "encoding" in settings_
    assert not hasattr(mapped, "n_features_in_")


def test_must_be_fitted() -> None:
    with pytest.raises(NotFittedError):
        NetFeatureMap().transform(START)
    with pytest.raises(NotFittedError):
        NetFeatureMap().get_feature_names_out()


def test_only_the_map_itself_needs_scikit_learn() -> None:
    code = (
        "import sys, learners; assert not {'numba', 'sklearn'} & set(sys.modules)\n"
        "import learners.network, learners.td, learners.evolution; assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
