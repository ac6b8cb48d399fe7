from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from checkers import features
from checkers.errors import SpecificationError
from checkers.position import FULL, Position
from tests.reference import feature_definitions as reference
from tests.strategies import positions, random_game, random_setup, to_position

NAMES = list(reference.FEATURES)


def ours(position: Position, mover: int) -> list[int]:
    values = features.feature_values(position.black, position.white, position.kings, mover)
    assert values.dtype == np.uint8
    return [int(value) for value in values[:12]]


def assert_same_values(position: Position) -> None:
    for mover in (0, 1):
        expected = reference.feature_values(position, mover)
        assert dict(zip(NAMES, ours(position, mover), strict=True)) == dict(zip(NAMES, expected, strict=True)), (
            position.fen(),
            mover,
        )


def both(fen: str, name: str, mover: int = 0) -> int:
    """The value of a feature, on which the kernel and the reference agree."""
    position = Position.from_fen(fen)
    assert_same_values(position)
    return ours(position, mover)[NAMES.index(name)]


def test_names_and_bits() -> None:
    first = features.FEATURES[:12]
    assert [(feature.key, feature.name, feature.bits) for feature in first] == [
        (key, name, bits) for key, (name, (bits, _)) in enumerate(reference.FEATURES.items(), 1)
    ]
    assert sum(feature.bits for feature in first) == 38


def test_after_the_first_move() -> None:
    # by hand: men 9, 10, 12, 15 on rows 3-4; 1, 5, 6, 9, 10, 15 on the double diagonals; 10, 15 in the centre;
    # White reaches 17-20, 22 and 23 hold White's men; 15 alone has both neighbours empty along a diagonal (11, 18)
    position = Position.start().play(Position.start().move("11-15"))
    assert ours(position, 0) == [0, 0, 0, 0, 0, 6, 1, 2, 4, 4, 1, 0]
    assert_same_values(position)


def test_the_same_seen_by_white() -> None:
    turned = Position.start().play(Position.start().move("11-15")).half_turn()
    assert ours(turned, 1) == [0, 0, 0, 0, 0, 6, 1, 2, 4, 4, 1, 0]


@pytest.mark.parametrize(
    ("fen", "mover", "name", "value"),
    [
        ("W:W32:B1,2,K3", 0, "PieceAdvantage", 5),  # 2 + 2 + 3 against 2
        ("W:W32:B1,2,K3", 0, "PieceDisadvantage", 0),
        ("W:W32:B1,2,K3", 1, "PieceDisadvantage", 5),
        ("W:W32:B1-12", 0, "PieceAdvantage", 15),  # 22, clamped
        ("W:W23:B18", 0, "PieceThreat", 1),  # over 18 to 14
        ("W:W23:B18,19", 0, "PieceThreat", 2),  # two ways
        ("W:WK23:B18,19,26", 0, "PieceThreat", 2),  # three ways still count 2
        ("W:W23,22:B18", 0, "PieceThreat", 2),  # two pieces
        ("W:W14:B18", 0, "PieceThreat", 0),  # a man does not jump backwards
        ("W:W23:B18,14,19,16", 0, "PieceThreat", 0),  # nothing behind to land on
        ("W:W23:B18", 0, "PieceTake", 1),
        ("W:W22,23:B18", 0, "PieceTake", 2),
        ("W:W22,27:B18", 0, "PieceTake", 1),
        ("W:W32:B17,18,19", 0, "Advancement", 7),
        ("W:W32:B9,10,11,12,13", 0, "Advancement", 0),  # -1, clamped
        ("W:W32:B9,17,K18,K10,1,25", 0, "Advancement", 4),  # even; kings do not count
        ("W:W32:B1,K5,4", 0, "DoubleDiagonal", 2),
        ("W:W31:B1,3", 0, "BackrowBridge", 1),
        ("W:WK31:B1,3", 0, "BackrowBridge", 0),
        ("W:W31:B1,K3", 0, "BackrowBridge", 0),
        ("W:W30,32:B2", 1, "BackrowBridge", 1),
        ("W:W32:B10,11,K14,9", 0, "CentreControl", 2),
        ("W:W32:B10,11,K14,9", 0, "KingCentreControl", 1),
        ("W:W32:B10,11,14,15,18,19,22,23", 0, "CentreControl", 7),  # 8, clamped
        ("W:W18,26:B1", 0, "XCentreControl", 5),  # 18 held; 14, 15, 22, 23 within reach
        ("W:WK18:B1", 0, "XCentreControl", 4),  # 14, 15, 22, 23; a king holds none
        ("W:W26:B22", 0, "XCentreControl", 1),  # 23; 22 is not empty
        ("W:W18,K19:B1", 0, "TotalMobility", 5),  # 14, 15, 16, 23, 24: 15 is within reach of both and counts once
        ("W:W18:B14,32", 0, "TotalMobility", 1),  # 15, although a capture is compulsory
        ("W:W32:B18,1,5", 0, "Exposure", 1),  # never on the edge
        ("W:W22,23:B18", 0, "Exposure", 0),
        ("W:W22:B18", 0, "Exposure", 1),  # along the other diagonal
    ],
)
def test_values_worked_by_hand(fen: str, mover: int, name: str, value: int) -> None:
    assert both(fen, name, mover) == value


def test_positions_of_random_games() -> None:
    rng = np.random.default_rng(5)
    for _ in range(8):
        for board in random_game(rng):
            assert_same_values(to_position(board))


def test_random_set_ups() -> None:
    rng = np.random.default_rng(6)
    for _ in range(600):
        assert_same_values(random_setup(rng))


@settings(max_examples=100)
@given(positions())
def test_any_position(position: Position) -> None:
    assert_same_values(position)


@settings(max_examples=60)
@given(positions())
def test_the_turned_board_has_the_same_values(position: Position) -> None:
    for mover in (0, 1):
        values = features.feature_values(position.black, position.white, position.kings, mover)
        turned = position.half_turn()
        assert (values == features.feature_values(turned.black, turned.white, turned.kings, 1 - mover)).all()


@pytest.mark.parametrize("boards", [(0, 0, 0), (FULL, 0, 0), (FULL, 0, FULL), (0, FULL, FULL), (0xFFF, 0, 0)])
def test_extreme_boards(boards: tuple[int, int, int]) -> None:
    assert_same_values(Position(*boards, Position.start().side))


def test_rows_of_selected_features() -> None:
    rng = np.random.default_rng(8)
    chosen = features.select(["Exposure", "PieceThreat", "TotalMobility"])
    by_key = sorted(chosen, key=lambda feature: feature.key)
    boards = [random_setup(rng) for _ in range(50)]
    out = np.zeros((50, 3), np.uint8)
    features.feature_rows(np.array(boards, np.uint32), features.selection_mask(chosen), out)
    for position, row in zip(boards, out.tolist(), strict=True):
        values = reference.feature_values(position, 1 - position.side)
        assert row == [values[feature.key - 1] for feature in by_key]


def test_bits_come_least_significant_first() -> None:
    assert reference.feature_bits([5, 0, 1, 6, 4, 6, 1, 2, 4, 4, 1, 0]) == [
        *(1, 0, 1, 0),
        *(0, 0, 0, 0),
        *(1, 0, 0),
        *(0, 1, 1),
        *(0, 0, 1),
        *(0, 1, 1, 0),
        1,
        *(0, 1, 0),
        *(0, 0, 1),
        *(0, 0, 1, 0),
        *(1, 0, 0),
        *(0, 0, 0),
    ]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["PieceThreat", "Piecethreat"], "'Piecethreat' is unknown; there are PieceAdvantage, "),
        (["Exposure", "Exposure"], "Exposure is named twice"),
        ([], "at least one feature"),
    ],
)
def test_wrong_selection(names: list[str], told: str) -> None:
    with pytest.raises(SpecificationError, match=told):
        features.select(names)
