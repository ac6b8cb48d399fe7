from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prefixspan import PrefixSpan

from checkers.game import Result
from checkers.moves import Move
from checkers.pdn import Record
from mining.cbss import Pairs, count_pairs, mine, prefix_span
from mining.errors import MiningError
from mining.sequences import Sequences, extract
from mining.tree import ers_mining
from tests.reference.brute_force_rules import outcomes, played, random_record

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW

START = "B:W21-32:B1-12"
KINGS = "B:WK32,K31:BK1"
CORNER = "W:WK29:BK5"


def three_games() -> Sequences:
    """States 1 2 -3 4, 1 -2 3 -4 5 and 1 2 6 7."""
    records = [
        played("11-15 23-19 8-11", BLACK),
        played("11-15 23-19 8-11 22-17", WHITE),
        played("11-15 22-18 15x22", DRAW),
    ]
    return extract(records, plies=None, unique=False)


def counts(pairs: Pairs) -> dict[tuple[int, int], tuple[int, int, int]]:
    columns = (pairs.state, pairs.next_state, pairs.wins, pairs.draws, pairs.losses)
    return {(x, y): (w, d, lost) for x, y, w, d, lost in zip(*(c.tolist() for c in columns), strict=True)}


def test_hand_worked_pairs() -> None:
    pairs = count_pairs(three_games())
    assert counts(pairs) == {
        (1, 2): (1, 1, 1),
        (2, 3): (1, 0, 1),
        (2, 6): (0, 1, 0),
        (3, 4): (1, 0, 1),
        (4, 5): (1, 0, 0),
        (6, 7): (0, 1, 0),
    }
    assert [str(Move.from_code(code)) for code in pairs.action.tolist()] == [
        "11-15", "23-19", "22-18", "8-11", "22-17", "15x22",
    ]  # fmt: skip


def test_hand_worked_rules() -> None:
    (rule,) = mine(three_games())
    assert (rule.state, rule.next_state, rule.count, rule.weight) == (1, 2, 3, 1)
    assert (rule.support, rule.confidence, rule.rating) == (1.0, 1.0, 0.5)
    once = {(rule.state, rule.next_state): rule for rule in mine(three_games(), min_count=1)}
    assert list(once) == [(1, 2), (2, 6), (4, 5), (6, 7)]
    assert once[2, 6].confidence == pytest.approx(1 / 3)
    assert once[2, 6].support == pytest.approx(1 / 3)
    assert once[4, 5].rating == 1.0
    assert [(rule.state, rule.weight) for rule in mine(three_games(), min_count=1, sign="w-l")] == [(4, 1)]


def test_pairs_within_a_game_count_each_time_and_distant_ones_never() -> None:
    one = played("1-6 32-27 6-1 27-32 1-6", DRAW, fen="B:WK32:BK1")
    sequences = extract([one], plies=None, unique=False, remove_cycles=False)
    assert sequences.ids.tolist() == [1, 2, 3, 4, 1, 2]
    assert counts(count_pairs(sequences)) == {
        (1, 2): (0, 2, 0),
        (2, 3): (0, 1, 0),
        (3, 4): (0, 1, 0),
        (4, 1): (0, 1, 0),
    }
    # why whole games are not what PrefixSpan is given
    whole = PrefixSpan([[1, 2, 3, 4, 1, 2]])
    whole.minlen = whole.maxlen = 2
    found = whole.frequent(1)
    assert (1, [1, 3]) in found
    assert (1, [1, 2]) in found


def test_paths_with_one_result_are_one_pair() -> None:
    # a king may capture around the square either way
    fen = "B:W7,8,15,16:BK3"
    paths = [played(text, DRAW, fen=fen) for text in ("3x12x19x10x3", "3x10x19x12x3")]
    (pattern,) = mine(extract(paths, plies=None, unique=False))
    assert pattern.count == 2
    assert pattern.action == min(int(path.codes[0]) for path in paths)


@pytest.mark.parametrize("batch", [1, 2, 7, 1000])
def test_batches_do_not_matter(batch: int) -> None:
    rng = np.random.default_rng(3)
    windows = rng.integers(1, 6, (60, 2))
    windows = windows[windows[:, 0] != windows[:, 1]]
    found, number = prefix_span(windows, batch=batch)
    table: dict[tuple[int, ...], int] = {}
    for pair, count in zip(found.tolist(), number.tolist(), strict=True):
        table[tuple(pair)] = table.get(tuple(pair), 0) + count
    assert table == {
        pair: windows.tolist().count(list(pair))
        for pair in itertools.product(range(1, 6), repeat=2)
        if list(pair) in windows.tolist()
    }


def test_no_windows() -> None:
    found, number = prefix_span(np.zeros((0, 2), np.int64))
    assert (found.shape, number.shape) == ((0, 2), (0,))
    one = played("1-6 32-27 6-1 27-32", DRAW, fen="B:WK32:BK1")
    assert len(count_pairs(extract([one], plies=None, unique=False))) == 0


def test_sequence_tree_merges_nodes() -> None:
    # state 3 is reached through 2 and through 4; both ways lead on to 5
    assert ers_mining([[1, 2, -3, 5], [1, 4, 3, -5], [1, 2, -3, 6]]) == {
        0: {1: 3},
        1: {2: 2, 4: 1},
        2: {3: -2},
        4: {3: 1},
        3: {5: 0, 6: 1},
    }


@st.composite
def archives(draw: st.DrawFn) -> list[Record]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    fen = draw(st.sampled_from([START, KINGS, CORNER]))
    plies = draw(st.integers(1, 30))
    return [random_record(rng, fen=fen, plies=plies, number=n + 1) for n in range(draw(st.integers(1, 8)))]


@given(archives(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_three_ways_to_count_agree(records: list[Record], remove_cycles: bool) -> None:
    sequences = extract(records, plies=None, unique=False, remove_cycles=remove_cycles)
    pairs = count_pairs(sequences, batch=16)
    expected = {
        pair: (number["w"], number["d"], number["l"])
        for pair, number in outcomes(records, remove_cycles=remove_cycles).items()
    }
    assert {(sequences.position(x), sequences.position(y)): wdl for (x, y), wdl in counts(pairs).items()} == expected
    tree = ers_mining(sequences)
    tree.pop(0)
    weights = {(x, y): weight for x, branches in tree.items() for y, weight in branches.items()}
    assert weights == {pair: w + d - lost for pair, (w, d, lost) in counts(pairs).items()}
    for pattern in pairs.patterns():
        before, after = sequences.position(pattern.state), sequences.position(pattern.next_state)
        (move,) = [move for move in before.legal_moves() if move.code == pattern.action]
        assert before.play(move) == after


@given(archives())
@settings(max_examples=20, deadline=None)
def test_confidences_of_a_state_sum_to_one(records: list[Record]) -> None:
    pairs = count_pairs(extract(records, plies=None, unique=False))
    sums = np.bincount(pairs.state, weights=pairs.confidence)
    np.testing.assert_allclose(sums[np.unique(pairs.state)], 1)


def test_wrong_options() -> None:
    with pytest.raises(MiningError, match="min_count is 0"):
        mine(three_games(), min_count=0)
    with pytest.raises(MiningError, match="sign 'w' is unknown"):
        mine(three_games(), sign="w")  # type: ignore[arg-type]
