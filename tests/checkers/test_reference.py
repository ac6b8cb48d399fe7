"""The reference evaluation: its terms against the slow definitions, its value against the sum, its file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from checkers.errors import FileFormatError
from checkers.evaluation import REFERENCE, evaluate_rows, reference
from checkers.position import Colour, Position
from checkers.reference import COUNT, PARAMETERS, PATTERNS, ROWS, SQUARES, TERMS, WIDTH, parameter_rows
from checkers.reference_weights import SHIPPED, kernel_table, read_weights, weights_text
from tests.reference import reference_terms as slow
from tests.reference.feature_definitions import squares_of, view
from tests.strategies import positions, random_game, random_setup, to_position

NAMES = list(TERMS)
RANDOM_WEIGHTS = np.random.default_rng(1).normal(size=(3, PARAMETERS))


def rows_of(*boards: Position) -> NDArray[np.uint32]:
    return np.array([[*board[:3], int(board.side)] for board in boards], np.uint32).reshape(-1, 4)


def parameters(position: Position) -> tuple[list[float], list[float]]:
    row, shares = np.full((1, PARAMETERS), np.nan, np.float32), np.full((1, 3), np.nan, np.float32)
    parameter_rows(rows_of(position), row, shares)
    return row[0].tolist(), shares[0].tolist()


def terms(position: Position) -> dict[str, float]:
    return dict(zip(NAMES, parameters(position)[0][:COUNT], strict=True))


def value(position: Position, weights: NDArray[np.float64] | None = None) -> float:
    out = np.full(1, np.nan, np.float32)
    evaluate_rows(rows_of(position), reference(weights), out)
    return float(out[0])


def assert_same_terms(position: Position) -> None:
    for seen in (position, position._replace(side=position.side.other)):
        expected = slow.reference_terms(seen, 1 - seen.side)
        assert terms(seen) == pytest.approx(expected, abs=1e-6), seen.fen()


def slow_value(position: Position, weights: NDArray[np.float64]) -> float:
    """The weighted sum, square by square."""
    mover = 1 - int(position.side)
    boards = [squares_of(board) for board in position[:3]]
    own, opp = view(*boards, mover), view(*boards, 1 - mover)
    pieces = len(own.own | own.opp)
    opening = min(max((pieces - 6) / 18, 0), 1)
    late = 2 if position.kings else 1
    seen = slow.reference_terms(position, mover)
    total = 0.0
    for phase, share in ((0, opening), (late, 1 - opening)):
        row = weights[phase].tolist()
        total += share * sum(row[i] * seen[name] for i, name in enumerate(NAMES))
        for v, sign in ((own, 1), (opp, -1)):
            men = sum(row[COUNT + square - 1] for square in v.own_men)
            kings = sum(row[COUNT + SQUARES + square - 1] for square in v.own & v.kings)
            pattern = sum(2 ** (square - 1) for square in v.own_men & {1, 2, 3, 4})
            total += sign * share * (men + kings + row[COUNT + 2 * SQUARES + pattern])
    return total


def test_terms_in_random_games() -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        for board in random_game(rng):
            assert_same_terms(to_position(board))


def test_terms_of_random_set_ups() -> None:
    rng = np.random.default_rng(6)
    for _ in range(300):
        assert_same_terms(random_setup(rng))


@given(positions())
@settings(max_examples=50)
def test_terms_of_any_position(position: Position) -> None:
    assert_same_terms(position)


@pytest.mark.parametrize(
    ("fen", "name", "expected"),  # Black has just moved
    [
        ("W:W21-32:B1-12", "majority", 0.0),
        ("W:W21,22:BK1", "majority", -8 / 3),
        ("W:W21-32:B1-12", "safe moves", 0.0),
        ("W:W29:B9", "safe moves", 1.0),  # 13, 14 against 25
        ("W:W30:BK6", "king moves", 4.0),
        ("W:W22:B14", "safe moves", 0.0),  # 17 and 18 are next to 22, which could jump to 13 and 15
        ("W:W22:B13", "safe moves", -1.0),  # White may go to 18; on 17 either can be jumped
        ("W:W32:B28", "dog hole", 1.0),
        ("W:W5:B1", "dog hole", -1.0),
        ("W:WK32:B28", "dog hole", 0.0),
        ("W:W17,21,22,25:B9,13", "cramp", 1.0),
        ("W:W32:B25", "runaway 1", 1.0),
        ("W:W29,30:B25", "runaway 1", 0.0),
        ("W:W32:B21", "runaway 2", 1.0),
        ("W:W29:B21", "runaway 2", 0.0),  # 25 is next to 29
        ("W:W7:B12", "crowning next", -1.0),
        ("W:W22:B26", "crowning next", 0.0),
        ("W:WK29,K30:BK1", "refuge", 1.0),
        ("W:W23:B15", "the move", 1.0),  # face to face, and White has to step aside
        ("W:W23:B11", "the move", -1.0),
        ("W:W18:B9,14", "threats", 1.0),
        ("W:W18:B14", "threats", 0.0),
        ("W:W30:BK5", "first king", 1.0),
    ],
)
def test_terms_worked_by_hand(fen: str, name: str, expected: float) -> None:
    position = Position.from_fen(fen)
    assert terms(position)[name] == pytest.approx(expected)
    assert_same_terms(position)


@given(positions())
@settings(max_examples=60)
def test_the_value_is_the_weighted_sum(position: Position) -> None:
    assert value(position, RANDOM_WEIGHTS) == pytest.approx(slow_value(position, RANDOM_WEIGHTS), abs=1e-4)


@given(positions())
@settings(max_examples=60)
def test_parameters_and_shares_give_the_value(position: Position) -> None:
    row, shares = parameters(position)
    assert sum(shares) == pytest.approx(1)
    total = float(np.array(shares) @ (RANDOM_WEIGHTS @ np.array(row)))
    assert value(position, RANDOM_WEIGHTS) == pytest.approx(total, abs=1e-4)


@given(positions())
@settings(max_examples=60)
def test_the_value_is_the_same_after_a_half_turn(position: Position) -> None:
    assert value(position) == value(position.half_turn())


@given(positions())
@settings(max_examples=60)
def test_the_value_changes_sign_with_the_mover_apart_from_the_turn_s_own_terms(position: Position) -> None:
    weights = RANDOM_WEIGHTS.copy()
    weights[:, [NAMES.index("tempo"), NAMES.index("crowning next"), NAMES.index("the move")]] = 0
    other = position._replace(side=position.side.other)
    assert value(position, weights) == pytest.approx(-value(other, weights), abs=1e-4)


@pytest.mark.parametrize(
    ("fen", "shares"),
    [
        ("B:W21-32:B1-12", [1, 0, 0]),
        ("B:W21-32:B1-11,K20", [1, 0, 0]),
        ("B:W31,32:B1", [0, 1, 0]),
        ("B:W31,K7:B1", [0, 0, 1]),
        ("B:W24-32:B1-6", [0.5, 0.5, 0]),
    ],
)
def test_phases(fen: str, shares: list[float]) -> None:
    assert parameters(Position.from_fen(fen))[1] == pytest.approx(shares)


def test_extreme_boards() -> None:
    full = 0xFFFFFFFF
    for boards in ((0, 0, 0), (full, 0, 0), (0, full, full), (0xFFFF, 0xFFFF0000, full)):
        assert_same_terms(Position(*boards, Colour.BLACK))


def test_the_shipped_weights_are_in_men() -> None:
    weights = read_weights()
    assert weights.shape == (3, PARAMETERS)
    assert np.isfinite(weights).all()
    one_ahead = weights[0, NAMES.index("man")] + 8 / 23 * weights[0, NAMES.index("majority")]
    assert one_ahead == pytest.approx(1, abs=2e-3)
    assert abs(value(Position.start())) < 0.3


@pytest.mark.parametrize(
    ("better", "worse"),  # for Black, who has just moved
    [
        ("W:W21-31:B1-12", "W:W21-32:B1-12"),
        ("W:W32:BK14,K15,K18", "W:WK32:B5,6,7"),
        ("W:W31,32,24:B2,3,25", "W:W31,32,24:B2,3,17"),
        ("W:WK14,K15,K19:BK1,K5,K10,K6", "W:WK14,K15,K18,K19:BK1,K5,K10,K6"),
    ],
)
def test_what_everybody_prefers(better: str, worse: str) -> None:
    assert value(Position.from_fen(better)) > value(Position.from_fen(worse))


def test_the_table_that_kernels_take() -> None:
    evaluation = reference()
    assert evaluation.kind == REFERENCE
    assert evaluation.weights.shape == (ROWS, WIDTH)
    assert evaluation.weights.dtype == np.float32
    with pytest.raises(ValueError, match="right would be"):
        kernel_table(np.zeros((2, PARAMETERS)))


def test_a_file_comes_back_rounded(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(weights_text(RANDOM_WEIGHTS, {"seed": 1}), encoding="utf-8")
    assert np.array_equal(read_weights(path), np.round(RANDOM_WEIGHTS, 3))
    assert json.loads(path.read_text())["source"] == {"seed": 1}
    assert weights_text(read_weights(), json.loads(SHIPPED.read_text())["source"]) == SHIPPED.read_text()


def broken(**changes: object) -> str:
    data = json.loads(SHIPPED.read_text())
    return json.dumps({**data, **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no JSON", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[1]", "right would be format"),
        ('{"format": "other"}', "right would be format"),
        (broken(terms={}), "'man' should be a list of 3 numbers"),
        (broken(men=None), "'opening' should be a list of 32 numbers"),
        (broken(**{"back rank": {p: [0.0] * 15 for p in ("opening", "ending", "kings")}}), "list of 16 numbers"),
        (broken(kings={p: [0.0] * 31 + ["x"] for p in ("opening", "ending", "kings")}), "holds 'x'"),
        (broken(kings={p: [float("nan")] * SQUARES for p in ("opening", "ending", "kings")}), "32 finite numbers"),
    ],
)
def test_files_that_are_not_weights(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read_weights(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="does not exist"):
        read_weights(tmp_path / "none.json")


def test_back_rank_patterns_are_part_of_the_table() -> None:
    weights = np.zeros((3, PARAMETERS))
    weights[1, COUNT + 2 * SQUARES : COUNT + 2 * SQUARES + PATTERNS] = np.arange(PATTERNS)
    assert value(Position.from_fen("W:W21:B1,3,9"), weights) == 5
    assert value(Position.from_fen("B:W30,32,21:B12"), weights) == 5
