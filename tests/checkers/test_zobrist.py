"""Keys of positions: made step by step as from scratch, different for what is different, fixed for ever."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import int64
from numpy.typing import NDArray

from checkers.jit import kernel
from checkers.movegen import generate, new_buffer
from checkers.position import Colour, Position
from checkers.zobrist import KEYS, WHITE_TO_MOVE, key_after, verification_key, zobrist_key
from tests.strategies import positions, random_game, random_setup, to_position


@kernel("void(uint32[:,::1],uint64[:,::1])")
def keys_of(rows: Any, out: Any) -> Any:
    """Both keys of positions (n, 4): black, white, kings, side."""
    for i in range(rows.shape[0]):
        side = int64(rows[i, 3])
        own = rows[i, 1] if side == 1 else rows[i, 0]
        opp = rows[i, 0] if side == 1 else rows[i, 1]
        out[i, 0] = zobrist_key(own, opp, rows[i, 2], side)
        out[i, 1] = verification_key(own, opp, rows[i, 2])


@kernel("int64(uint32,uint32,uint32,int64,int64,uint32[:,::1],int64)")
def wrong_keys(own: Any, opp: Any, kings: Any, side: Any, depth: Any, moves: Any, base: Any) -> Any:
    """Moves in a tree after which the key is not the one from scratch."""
    key = zobrist_key(own, opp, kings, side)
    count = generate(own, opp, kings, side, moves, base)
    wrong = int64(0)
    for i in range(base, base + count):
        after = key_after(key, own, opp, kings, side, moves[i, 0], moves[i, 1], moves[i, 2])
        if after != zobrist_key(moves[i, 1], moves[i, 0], moves[i, 2], 1 - side):
            wrong += 1
        if depth > 1:
            wrong += wrong_keys(moves[i, 1], moves[i, 0], moves[i, 2], 1 - side, depth - 1, moves, base + count)
    return wrong


def keys(*boards: Position) -> NDArray[np.uint64]:
    rows = np.array([[*board[:3], int(board.side)] for board in boards], np.uint32)
    out = np.zeros((len(boards), 2), np.uint64)
    keys_of(rows, out)
    return out


def wrong_in_tree(position: Position, depth: int) -> int:
    board = (position.own, position.opponent, position.kings, int(position.side))
    return int(wrong_keys(*board, depth, new_buffer(), 0))


def slow_key(position: Position) -> int:
    """From the numbers, square by square."""
    key = int(WHITE_TO_MOVE) if position.side is Colour.WHITE else 0
    for square in range(32):
        royal = position.kings >> square & 1
        for colour, board in enumerate((position.black, position.white)):
            if board >> square & 1:
                key ^= int(KEYS[2 * colour + royal, square])
    return key


def test_the_numbers_are_130_different_ones() -> None:
    assert KEYS.shape == (4, 32)
    assert KEYS.dtype == np.uint64
    assert len({0, int(WHITE_TO_MOVE), *KEYS.flatten().tolist()}) == 130


@given(positions())
@settings(max_examples=80)
def test_a_key_is_the_sum_of_the_pieces_numbers(position: Position) -> None:
    assert int(keys(position)[0, 0]) == slow_key(position)


def test_keys_step_by_step_are_those_from_scratch_along_games() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        for board in random_game(rng):
            assert wrong_in_tree(to_position(board), 2) == 0


def test_keys_step_by_step_are_those_from_scratch_in_trees() -> None:
    rng = np.random.default_rng(2)
    assert wrong_in_tree(Position.start(), 7) == 0
    for _ in range(100):
        position = random_setup(rng, 6)
        assert wrong_in_tree(position, 3) == 0, position.fen()


def test_a_key_that_is_kept_wrong_would_be_noticed() -> None:
    """Crowning, captures of kings and of men each have a number in it, so the tree above has to have met them all."""
    for fen in ("B:W5:B27", "W:W14:BK10,19", "B:WK18:BK14", "W:W6,30:B10"):
        position = Position.from_fen(fen)
        for move in position.legal_moves():
            before, after = (int(key) for key in keys(position, position.play(move))[:, 0])
            assert before != after
            assert after == slow_key(position.play(move))


@given(positions(), st.integers(0, 31))
@settings(max_examples=80)
def test_side_kind_and_colour_are_in_the_key(position: Position, square: int) -> None:
    bit = 1 << square
    black, white, kings, side = position
    man = Position(black | bit, white & ~bit, kings & ~bit, side)
    variants = [
        man,
        man._replace(kings=kings | bit),
        man._replace(black=black & ~bit, white=white | bit),
        man._replace(black=black & ~bit, white=white | bit, kings=kings | bit),
        man._replace(black=black & ~bit),
        man._replace(side=side.other),
    ]
    assert len(set(keys(*variants)[:, 0].tolist())) == len(variants)


def test_no_two_of_many_positions_share_a_key() -> None:
    rng = np.random.default_rng(3)
    boards = {to_position(board) for _ in range(60) for board in random_game(rng)}
    boards |= {random_setup(rng) for _ in range(20_000)}
    found = keys(*boards)
    assert len(set(found[:, 0].tolist())) == len(boards)


def test_verification_keys_have_16_bits_and_are_spread_evenly() -> None:
    rng = np.random.default_rng(4)
    boards = sorted({random_setup(rng) for _ in range(20_000)})
    check = keys(*boards)[:, 1]
    assert int(check.max()) < 1 << 16
    top = Counter((check >> np.uint64(8)).tolist())
    low = Counter((check & np.uint64(255)).tolist())
    for counts in (top, low):
        assert len(counts) == 256
        # 256 drawers of about 78: chi-square with 255 degrees of freedom stays below 350 but once in 10,000 times
        mean = len(boards) / 256
        assert sum((count - mean) ** 2 / mean for count in counts.values()) < 350


def test_verification_keys_share_nothing_with_the_slots() -> None:
    """Positions that meet in one slot of a small table still have different verification keys."""
    rng = np.random.default_rng(5)
    found = keys(*{random_setup(rng) for _ in range(20_000)})
    slots = (found[:, 0] & np.uint64(15)).tolist()
    for slot in range(16):
        check = [key for key, at in zip(found[:, 1].tolist(), slots, strict=True) if at == slot]
        assert len(set(check)) > 0.98 * len(check)


def test_keys_never_change() -> None:
    """They may be stored; other numbers would make stored keys worthless."""
    found = keys(Position.start(), Position.from_fen("W:WK1:B31"))[:, 0].tolist()
    assert found == [0xB25D8B0EF85E8A61, 0xFC3CC33E0F2B944D]
