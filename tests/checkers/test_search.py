"""The search against plain minimax, and what its results promise."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

from checkers.errors import SpecificationError
from checkers.evaluation import Evaluation, material
from checkers.perft import perft_count
from checkers.position import Colour, Position
from checkers.search import PROVEN, WIN, Searcher, SearchResult
from learners.network import LYNCH_FEATURES, Network
from tests.reference.minimax import minimax, move_values, static_value
from tests.strategies import random_game, random_setup, to_position

#: Minimax adds up a network's hidden units in another order than the search's kernel.
NETWORK_ERROR = 2e-6
KINDS = ["material", "network"]


@cache
def evaluation_named(kind: str) -> Evaluation:
    if kind == "material":
        return material()
    return Network.initial(LYNCH_FEATURES, np.random.default_rng(17), bound=0.5).evaluation()


def error_of(kind: str) -> float:
    return 0.0 if kind == "material" else NETWORK_ERROR


def sample_positions(seed: int) -> Iterator[Position]:
    """Positions with a move: set-ups, and every eighth of random games, in turns."""
    rng = np.random.default_rng(seed)
    while True:
        setup = random_setup(rng, int(rng.integers(1, 10)))
        if setup.legal_moves():
            yield setup
        for board in list(random_game(rng, 100))[int(rng.integers(8)) :: 8]:
            position = to_position(board)
            if position.legal_moves():
                yield position


def small_positions(seed: int, depth: int, count: int, most: int) -> list[Position]:
    """Positions whose tree of this depth has up to ``most`` lines, and enough of them to be of interest."""
    found: list[Position] = []
    for position in sample_positions(seed):
        if most // 20 <= perft_count(position, depth) <= most:
            found.append(position)
        if len(found) == count:
            break
    return found


def check_against_minimax(position: Position, depth: int, kind: str, table_bits: int = 12) -> None:
    """The value is that of minimax at the depth that was finished, and proven when that is less than was asked for."""
    found = Searcher(evaluation_named(kind), depth, table_bits=table_bits, equal_depth=True).search(position)
    expected = minimax(position, found.depth, evaluation_named(kind))
    assert found.score == pytest.approx(expected, abs=error_of(kind), rel=0), position.fen()
    assert found.depth == depth or abs(found.score) > PROVEN, position.fen()


def value_at_the_end(position: Position, found: SearchResult, mover: Colour) -> float:
    """What the position at the end of the line is worth to the side that moves at the root."""
    if not position.legal_moves():
        plies = len(found.pv)
        return WIN - plies if position.side is not mover else plies - WIN
    value = static_value(position, evaluation_named("network"))
    return value if position.side is mover else -value


def ten_searches(seed: int) -> list[SearchResult]:
    searcher = Searcher(evaluation_named("network"), 6)
    positions = sample_positions(seed)
    return [searcher.search(next(positions), window=0.1) for _ in range(10)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
def test_value_is_that_of_minimax(kind: str, depth: int) -> None:
    for position in small_positions(100 + depth, depth, 25, 100 * depth):
        check_against_minimax(position, depth, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
def test_value_is_that_of_minimax_in_larger_trees(kind: str, depth: int) -> None:
    for position in small_positions(200 + depth, depth, 40, min(20**depth, 4_000)):
        check_against_minimax(position, depth, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table_bits", [0, 1, 4])
def test_tiny_tables_give_the_same_value(kind: str, table_bits: int) -> None:
    for position in small_positions(7, 5, 15, 500):
        check_against_minimax(position, 5, kind, table_bits)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_all_sizes_give_the_same_scores_in_deep_searches(kind: str) -> None:
    """Where minimax is too slow: with entries of equal depth only, the table changes no value."""
    positions = sample_positions(8)
    for position in (next(positions) for _ in range(12)):
        small, large = (
            Searcher(evaluation_named(kind), 8, table_bits=bits, equal_depth=True).search(position) for bits in (4, 18)
        )
        assert small.score == large.score, position.fen()
        assert small.depth == large.depth


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_deeper_entries_cannot_be_met_up_to_depth_4(kind: str, depth: int) -> None:
    """Without ``equal_depth`` the value is still minimax's here.

    A deeper entry of a position with the same side to move stems from at least two plies nearer to the root, from ply 1
    at most, so it has a depth of ``depth - 1`` and meets a search of ``depth - 3`` at ply 3. That is less than 2, the
    least depth that is looked up, as long as ``depth`` is at most 4.
    """
    for position in small_positions(300 + depth, depth, 25, 100 * depth):
        found = Searcher(evaluation_named(kind), depth).search(position)
        expected = minimax(position, found.depth, evaluation_named(kind))
        assert found.score == pytest.approx(expected, abs=error_of(kind), rel=0), position.fen()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [0.0, 0.05, 0.5, 2.0, 3000.0])
def test_scores_above_the_window_are_exact_and_others_upper_bounds(kind: str, window: float) -> None:
    for position in small_positions(9, 3, 25, 400):
        found = Searcher(evaluation_named(kind), 3, equal_depth=True).search(position, window=window)
        values = move_values(position, found.depth, evaluation_named(kind))
        error = error_of(kind)
        assert list(found.scores) == [move.code for move in position.legal_moves()]
        assert found.score == max(found.scores.values()) == found.scores[found.move.code]
        for code, score in found.scores.items():
            if score > found.score - window + NETWORK_ERROR or code == found.move.code:
                assert score == pytest.approx(values[code], abs=error, rel=0), (position.fen(), code)
            assert values[code] <= score + error, (position.fen(), code)


def test_equal_moves_keep_the_order_of_the_generator() -> None:
    found = Searcher(material(), 1).search(Position.start(), window=1.0)
    assert set(found.scores.values()) == {0.0}
    assert found.move == Position.start().legal_moves()[0]


@pytest.mark.parametrize("equal_depth", [True, False])
@pytest.mark.parametrize("table_bits", [4, 18])
def test_the_line_is_legal_and_starts_with_the_move(equal_depth: bool, table_bits: int) -> None:
    positions = sample_positions(10)
    for position in (next(positions) for _ in range(30)):
        searcher = Searcher(evaluation_named("network"), 6, table_bits=table_bits, equal_depth=equal_depth)
        found = searcher.search(position)
        assert found.pv[0] == found.move
        mover = position.side
        for move in found.pv:
            assert move in position.legal_moves()
            position = position.play(move)
        assert value_at_the_end(position, found, mover) == pytest.approx(found.score, abs=NETWORK_ERROR, rel=0)
        assert len(found.pv) >= found.depth or not position.legal_moves()


@pytest.mark.parametrize("limit", [1, 10, 1_000, 20_000])
def test_node_limit_holds(limit: int) -> None:
    """Each ply on the way out may still look at its moves once, hence the margin."""
    positions = sample_positions(11)
    for position in (next(positions) for _ in range(20)):
        found = Searcher(evaluation_named("network"), 20, node_limit=limit).search(position)
        assert found.nodes <= limit + 20 * 60, position.fen()
        assert found.move in position.legal_moves()


def test_a_search_that_hits_its_limit_has_the_result_of_the_last_finished_depth() -> None:
    depths = set()
    positions = sample_positions(12)
    for position in (next(positions) for _ in range(20)):
        limited = Searcher(material(), 20, node_limit=5_000).search(position, window=0.25)
        depths.add(limited.depth)
        whole = Searcher(material(), limited.depth).search(position, window=0.25)
        assert (limited.move, limited.score, limited.scores) == (whole.move, whole.score, whole.scores)
    assert len(depths) > 3


def test_a_search_that_finishes_no_depth_has_no_scores_of_an_earlier_one() -> None:
    searcher = Searcher(material(), 6)
    searcher.search(Position.from_fen("B:W18:B14"))
    searcher.node_limit = 1
    position = Position.from_fen("B:W19,20:B11,12")  # 11-15 and 12-16 are answered by captures
    found = searcher.search(position)
    assert (found.move, found.score, found.depth) == (position.legal_moves()[0], 0.0, 0)
    assert set(found.scores.values()) == {0.0}


def test_two_searches_in_two_threads_are_those_of_one_after_the_other() -> None:
    one_by_one = [ten_searches(seed) for seed in (21, 22)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ten_searches, (21, 22))) == one_by_one


def test_after_clear_a_search_depends_on_nothing_before_it() -> None:
    searcher = Searcher(evaluation_named("network"), 6)
    positions = sample_positions(13)
    for position in (next(positions) for _ in range(10)):
        searcher.clear()
        first = searcher.search(position, window=0.05)
        searcher.search(position.play(first.move)) if position.play(first.move).legal_moves() else None
        searcher.clear()
        assert searcher.search(position, window=0.05) == first
        assert Searcher(evaluation_named("network"), 6).search(position, window=0.05) == first


@pytest.mark.parametrize("kind", KINDS)
def test_colours_are_treated_alike(kind: str) -> None:
    positions = sample_positions(14)
    for position in (next(positions) for _ in range(20)):
        scores = [
            Searcher(evaluation_named(kind), 5, equal_depth=True).search(board).score
            for board in (position, position.half_turn())
        ]
        assert scores[0] == pytest.approx(scores[1], abs=error_of(kind), rel=0), position.fen()


@pytest.mark.parametrize(
    ("fen", "score"),
    [
        ("B:W18:B14", WIN - 1),  # takes the last piece
        ("B:W5:BK6,17", WIN - 1),  # 6-1 leaves no move
        ("B:W11:B3", 2 - WIN),  # both moves are answered by a capture
        ("B:W14:B1", WIN - 3),  # gets behind the man
        ("B:WK7:B8", 4 - WIN),
        ("B:W22:BK2,5", WIN - 7),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_wins_and_losses_score_a_thousand_less_their_plies(fen: str, score: float, kind: str) -> None:
    position = Position.from_fen(fen)
    found = Searcher(evaluation_named(kind), 8).search(position)
    assert found.score == score
    assert abs(minimax(position, 7, material())) == abs(score)


def test_a_proven_line_is_played_to_the_end() -> None:
    """The winner's move and the loser's are searched in turn; each ply the score is one ply nearer to 1000."""
    position, searcher = Position.from_fen("B:W22:BK2,5"), Searcher(material(), 8)
    for left in range(7, 0, -1):
        found = searcher.search(position)
        assert abs(found.score) == WIN - left
        position = position.play(found.move)
    assert position.legal_moves() == []


def test_deepening_ends_when_the_game_is_decided() -> None:
    assert Searcher(material(), 20).search(Position.from_fen("B:W18:B14")).depth == 1


def test_captures_are_followed_below_depth_0() -> None:
    """11-15 gives a man, which one ply deep shows only when the capture is looked at."""
    position = Position.from_fen("B:W18,27,32:B1,2,11")
    scores = Searcher(material(), 1).search(position, window=100.0).scores
    named = {str(move): scores[move.code] for move in position.legal_moves()}
    assert named["11-15"] == -1.0
    assert named["11-16"] == named["1-5"] == 0.0


def test_a_position_with_one_move() -> None:
    position = Position.from_fen("W:W32:B1,28")
    (move,) = position.legal_moves()
    found = Searcher(evaluation_named("network"), 4, equal_depth=True).search(position)
    assert found.move == move
    assert found.pv[0] == move
    assert found.scores == {move.code: found.score}
    assert found.depth == 4
    assert found.score == pytest.approx(minimax(position, 4, evaluation_named("network")), abs=NETWORK_ERROR)


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_below_1_is_refused(depth: int) -> None:
    with pytest.raises(SpecificationError, match=f"search depth {depth} is too small; right would be 1 or more"):
        Searcher(material(), depth)


def test_a_depth_that_table_entries_cannot_hold_is_refused() -> None:
    with pytest.raises(SpecificationError, match="search depth 61 is too large; right would be at most 60"):
        Searcher(material(), 61)
