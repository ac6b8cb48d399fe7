from __future__ import annotations

import json
import os
from collections import Counter
from itertools import count, islice
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

HERE = Path(__file__).parent
#: theory.md 7.1, depths 1 to 12: all paths, and moves with the same result once.
START: list[dict[str, int]] = json.loads((HERE / "perft_start.json").read_text())
PERFT = [row["paths"] for row in START]

#: How many positions the slow differential test compares, half of them reached by play: millions take some minutes.
MANY = int(os.environ.get("DIFFERENTIAL_POSITIONS", "120000"))
#: They are compared in so many parts, which xdist shares out.
PARTS = 8

SUITE: list[dict[str, Any]] = json.loads((HERE / "perft_positions.json").read_text())
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
@pytest.mark.parametrize("part", range(PARTS))
def test_moves_of_many_positions(part: int) -> None:
    rng = np.random.default_rng([4, part])
    half = -(-MANY // (2 * PARTS))
    played = (to_position(board) for _ in count() for board in random_game(rng))
    for position in islice(played, half):
        assert_same_moves(position)
    for number in range(half):
        position = random_setup(rng, most=int(rng.integers(1, 16)))
        if number % 4 == 0:  # with men where kings should be
            position = position._replace(kings=position.kings & int(rng.integers(1 << 32)))
        assert_same_moves(position)


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
    written = generate(position.own, position.opponent, position.kings, int(position.side), buffer, 5)
    moves = position.legal_moves()
    assert written == len(moves)
    for row, move in zip(buffer[5 : 5 + written].tolist(), moves, strict=True):
        after = position.play(move)
        # a row is still seen by the mover
        assert row == [after.opponent, after.own, after.kings, move.code]
    assert not buffer[:5].any()
    assert not buffer[5 + written :].any()


# --- perft -------------------------------------------------------------------------------------------------------


def test_the_file_has_twelve_depths_of_the_start() -> None:
    assert [row["depth"] for row in START] == list(range(1, 13))
    assert (START[11]["paths"], START[11]["results"]) == (388_623_673, 388_617_999)
    assert all(row["paths"] == row["results"] for row in START[:11])  # depth 12 is the first that tells them apart


@pytest.mark.parametrize("row", START[:10], ids=lambda row: str(row["depth"]))
def test_perft_of_the_start(row: dict[str, int]) -> None:
    assert perft_count(Position.start(), row["depth"]) == row["paths"]
    assert perft_count(Position.start(), row["depth"], distinct=True) == row["results"]


@pytest.mark.slow
@pytest.mark.parametrize("row", START[10:], ids=lambda row: str(row["depth"]))
def test_deep_perft_of_the_start(row: dict[str, int]) -> None:
    test_perft_of_the_start(row)


@pytest.mark.slow
def test_perft_of_the_start_at_depth_13() -> None:
    assert perft_count(Position.start(), 13) == 1_766_623_630
    assert perft_count(Position.start(), 13, distinct=True) == 1_766_564_893


def test_perft_of_depth_0() -> None:
    assert perft_count(Position.start(), 0) == perft_count(Position.start(), 0, distinct=True) == 1


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


def test_divide_of_distinct_results() -> None:
    # both ways round the same four men; the first path stands for both
    position = Position.from_fen("W:WK14:BK10,11,15,K18,19,20")
    first, second = position.legal_moves()
    assert position.play(first) == position.play(second)
    assert divide_perft(position, 3) == {str(first): 9, str(second): 9}
    assert divide_perft(position, 3, distinct=True) == {str(first): 9}


def traits(position: Position) -> set[str]:
    """What the legal moves of a position are rich in, by the reference."""
    board = mailbox.Mailbox.from_boards(*position)
    pieces = dict(board.pieces)
    found = set() if mailbox.legal_moves(board) else {"blocked"}
    for move in mailbox.legal_moves(board):
        colour, kind = pieces[move.path[0]]
        if kind == mailbox.KING:
            found.add("king captures" if move.captures else "king moves")
        if move.captures:
            found |= {"ends where it began"} if move.path[0] == move.path[-1] else set()
            found |= {"passes its start"} if move.path[0] in move.path[1:-1] else set()
            found |= {"long capture"} if len(move.captures) >= 4 else set()
        if kind == mailbox.MAN and move.captures and mailbox.is_king_row(move.path[-1], colour):
            found.add("promotion by a capture")
            others = {square: piece for square, piece in pieces.items() if square != move.path[0]}
            further = mailbox.jumps_on(others, (colour, mailbox.KING), move.path[-1:], move.captures)
            found |= {"a king could go on"} if any(len(way.path) > 1 for way in further) else set()
    return found


def test_the_suite_is_large_and_varied() -> None:
    assert len(SUITE) >= 30
    assert len({entry["fen"] for entry in SUITE}) == len(SUITE)
    assert sum(entry["paths"] != entry["results"] for entry in SUITE) >= 10
    counts: Counter[str] = Counter()
    for entry in SUITE:
        position = Position.from_fen(entry["fen"])
        nearby = [position, *(position.play(move) for move in position.legal_moves())]
        counts.update(set().union(*map(traits, nearby)))
        counts[position.side.name] += 1
        counts["crowded with kings"] += position.kings.bit_count() >= 6
    assert counts["king moves"] >= 15
    assert counts["king captures"] >= 15
    assert counts["ends where it began"] >= 5
    assert counts["passes its start"] >= 2
    assert counts["long capture"] >= 8
    assert counts["promotion by a capture"] >= 6
    assert counts["a king could go on"] >= 4
    assert counts["blocked"] >= 5
    assert counts["crowded with kings"] >= 10
    assert min(counts["BLACK"], counts["WHITE"]) >= 15


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
    depths = range(1, len(entry["results"]) + 1)
    assert [perft_count(position, depth, distinct=True) for depth in depths] == entry["results"]
    assert len(divide_perft(position, 1, distinct=True)) == entry["results"][0]


@pytest.mark.slow
@suite
def test_the_suite_is_what_the_reference_says(entry: dict[str, Any]) -> None:
    board = mailbox.Mailbox.from_boards(*Position.from_fen(entry["fen"]))
    depths = range(1, len(entry["paths"]) + 1)
    assert [mailbox.perft(board, depth) for depth in depths] == entry["paths"]
    assert [mailbox.perft_distinct(board, depth) for depth in depths] == entry["results"]
