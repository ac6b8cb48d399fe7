from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from checkers.movegen import generate, new_buffer
from checkers.perft import divide_perft, perft_count
from checkers.position import Colour, Position
from tests.reference import mailbox
from tests.strategies import positions, random_game, random_setup, setup_positions, to_position

#: theory.md 7.1, depths 1 to 11.
PERFT = [7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680, 18391564, 85242128]

SUITE: list[dict[str, Any]] = json.loads((Path(__file__).parent / "perft_positions.json").read_text())
suite = pytest.mark.parametrize("entry", SUITE, ids=[entry["fen"] for entry in SUITE])

Outcome = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def reference_moves(position: Position) -> list[Outcome]:
    """Path, captures and resulting boards of every legal move, by the reference."""
    board = mailbox.Mailbox.from_boards(*position)
    return sorted((m.path, m.captures, mailbox.play(board, m).boards()) for m in mailbox.legal_moves(board))


def our_moves(position: Position) -> list[Outcome]:
    return sorted((m.path, m.captures, tuple(position.play(m))) for m in position.legal_moves())


def assert_same_moves(position: Position) -> None:
    assert our_moves(position) == reference_moves(position), position.fen()


def reachable(rng: np.random.Generator, least: int) -> list[Position]:
    """At least so many different positions of random games."""
    found: set[mailbox.Mailbox] = set()
    while len(found) < least:
        found.update(random_game(rng))
    return [to_position(board) for board in sorted(found, key=lambda board: board.boards())]


def distinct_perft(position: Position, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(distinct_perft(after, depth - 1) for after in {position.play(m) for m in position.legal_moves()})


# --- the reference itself, by hand -------------------------------------------------------------------------------


def paths(fen: str) -> list[tuple[int, ...]]:
    board = mailbox.Mailbox.from_boards(*Position.from_fen(fen))
    return sorted(move.path for move in mailbox.legal_moves(board))


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("B:W18:B14,1", [(14, 23)]),  # a capture must be made
        ("B:W18,26,27:B14", [(14, 23, 30), (14, 23, 32)]),  # and carried on to its end
        ("B:W18:BK23", [(23, 14)]),  # a king captures backwards
        ("B:W18:B23", [(23, 26), (23, 27)]),  # a man does not
        ("B:W26,27,18:B22", [(22, 31)]),  # a man stops on the king row
        ("B:W26,27,18:BK22", [(22, 15), (22, 31, 24)]),  # a king does not
        ("W:WK14:BK10,11,15,K18,19,20", [(14, 7, 16, 23, 14), (14, 23, 16, 7, 14)]),  # its start is empty for it
        ("W:W5:BK1", []),  # blocked
        ("B:W1:B", []),  # nothing left
        ("B:W21:B29,30,5", [(5, 9)]),  # a man on its own king row stands still
    ],
)
def test_reference_and_product_by_hand(fen: str, expected: list[tuple[int, ...]]) -> None:
    assert paths(fen) == expected
    assert sorted(move.path for move in Position.from_fen(fen).legal_moves()) == expected


def test_no_piece_is_captured_twice() -> None:
    # all nine pieces within reach, each jumped once
    for move in Position.from_fen("B:W6,7,8,14,15,16,22,23,24:BK1").legal_moves():
        assert len(set(move.captures)) == len(move.captures)
    longest = max(Position.from_fen("B:W6,7,8,14,15,16,22,23,24:BK1").legal_moves(), key=lambda m: len(m.captures))
    assert len(longest.captures) == 9
    assert longest.target == 28


def test_reference_perft_of_the_start() -> None:
    known: dict[tuple[mailbox.Mailbox, int], int] = {}
    start = mailbox.Mailbox.start()
    assert [mailbox.perft(start, depth, known) for depth in range(1, 7)] == PERFT[:6]
    assert [mailbox.perft_distinct(start, depth) for depth in range(1, 6)] == PERFT[:5]


# --- the kernels against it --------------------------------------------------------------------------------------


def test_moves_of_positions_reached_by_random_play() -> None:
    for position in reachable(np.random.default_rng(1), 4000):
        assert_same_moves(position)


def test_moves_of_random_set_ups() -> None:
    rng = np.random.default_rng(2)
    for _ in range(4000):
        assert_same_moves(random_setup(rng, most=int(rng.integers(1, 16))))


def test_moves_with_men_on_their_own_king_row() -> None:
    rng = np.random.default_rng(3)
    for _ in range(1000):
        position = random_setup(rng)
        assert_same_moves(position._replace(kings=position.kings & int(rng.integers(1 << 32))))


@pytest.mark.slow
def test_moves_of_many_positions() -> None:
    rng = np.random.default_rng(4)
    for position in reachable(rng, 60_000):
        assert_same_moves(position)
    for _ in range(60_000):
        assert_same_moves(random_setup(rng, most=int(rng.integers(1, 16))))


@settings(max_examples=150)
@given(positions())
def test_moves_of_any_position(position: Position) -> None:
    assert_same_moves(position)


@settings(max_examples=100)
@given(setup_positions())
def test_the_turned_board_has_the_same_moves(position: Position) -> None:
    turned = position.half_turn()
    board = mailbox.Mailbox.from_boards(*position)
    assert tuple(turned) == mailbox.half_turn(board).boards()
    assert turned.half_turn() == position
    mirrored = sorted(tuple(33 - square for square in move.path) for move in turned.legal_moves())
    assert mirrored == sorted(move.path for move in position.legal_moves())


@settings(max_examples=100)
@given(positions())
def test_generate_writes_the_positions_after_the_moves(position: Position) -> None:
    buffer = new_buffer()
    count = generate(position.own, position.opponent, position.kings, int(position.side), buffer, 5)
    moves = position.legal_moves()
    assert count == len(moves)
    for row, move in zip(buffer[5 : 5 + count].tolist(), moves, strict=True):
        after = position.play(move)
        # a row is still seen by the mover
        assert row == [after.opponent, after.own, after.kings, move.code]
    assert not buffer[:5].any()
    assert not buffer[5 + count :].any()


# --- perft -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "expected"), [(0, 1), *enumerate(PERFT, 1)])
def test_perft_of_the_start(depth: int, expected: int) -> None:
    assert perft_count(Position.start(), depth) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "expected"), [(12, 388623673), (13, 1766623630)])
def test_deep_perft_of_the_start(depth: int, expected: int) -> None:
    assert perft_count(Position.start(), depth) == expected


def test_perft_of_the_start_for_white() -> None:
    mirrored = Position.start().half_turn()
    assert mirrored.side is Colour.WHITE
    assert [perft_count(mirrored, depth) for depth in range(1, 9)] == PERFT[:8]


def test_three_ply_lines() -> None:
    # theory.md 7.1: 302 lines, 216 positions, 205 of them with all pieces
    ends = [Position.start()]
    for _ in range(3):
        ends = [position.play(move) for position in ends for move in position.legal_moves()]
    assert len(ends) == 302
    assert len(set(ends)) == 216
    assert sum(position.pieces == 24 for position in set(ends)) == 205


def test_divide_adds_up() -> None:
    divided = divide_perft(Position.start(), 6)
    assert list(divided) == [str(move) for move in Position.start().legal_moves()]
    assert sum(divided.values()) == PERFT[5]


def test_the_suite_is_large_and_varied() -> None:
    assert len(SUITE) >= 30
    assert len({entry["fen"] for entry in SUITE}) == len(SUITE)
    assert sum(entry["paths"] != entry["results"] for entry in SUITE) >= 10


@suite
def test_perft_of_the_suite(entry: dict[str, Any]) -> None:
    position = Position.from_fen(entry["fen"])
    assert position.fen() == entry["fen"]
    counts = [perft_count(position, depth) for depth in range(1, len(entry["paths"]) + 1)]
    assert counts == entry["paths"]
    assert_same_moves(position)


@suite
def test_distinct_results_of_the_suite(entry: dict[str, Any]) -> None:
    position = Position.from_fen(entry["fen"])
    shallow = entry["results"][:3]
    assert [distinct_perft(position, depth) for depth in range(1, len(shallow) + 1)] == shallow


@pytest.mark.slow
@suite
def test_the_suite_is_what_the_reference_says(entry: dict[str, Any]) -> None:
    board = mailbox.Mailbox.from_boards(*Position.from_fen(entry["fen"]))
    depths = range(1, len(entry["paths"]) + 1)
    assert [mailbox.perft(board, depth) for depth in depths] == entry["paths"]
    assert [mailbox.perft_distinct(board, depth) for depth in depths] == entry["results"]
