from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.game import Result
from checkers.pdn import Record, Rejection
from checkers.position import Position
from mining.errors import MiningError
from mining.sequences import acyclic, extract
from tests.reference.brute_force_rules import played, states, without_cycles

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW

#: Two lone kings that step out and back: states 1 2 3 4 1 5.
SHUTTLE = {"text": "1-6 32-27 6-1 27-32 1-5", "fen": "B:WK32:BK1"}


def test_hand_worked_sequences() -> None:
    sequences = extract(
        [
            played("11-15 23-19 8-11", BLACK),
            played("11-15 23-19 8-11 22-17", WHITE),
            played("11-15 22-18 15x22", DRAW),
        ],
        plies=None,
        unique=False,
    )
    assert [ids.tolist() for ids in sequences] == [[1, 2, -3, 4], [1, -2, 3, -4, 5], [1, 2, 6, 7]]
    assert sequences.counts.tolist() == [3, 3, 2, 2, 1, 1, 1]
    assert sequences.position(1) == Position.start()
    assert sequences.position(-2) == Position.start().play(Position.start().move("11-15"))


def test_numbers_follow_first_appearance_and_name_the_state() -> None:
    records = [played("9-13 22-18", DRAW), played("11-15 22-18", DRAW), played("9-13 24-20", DRAW)]
    sequences = extract(records, plies=None, unique=False)
    assert np.abs(sequences.ids).tolist() == [1, 2, 3, 1, 4, 5, 1, 2, 6]
    for one, ids in zip(records, sequences, strict=True):
        assert [sequences.position(number) for number in ids.tolist()] == states(one)


def test_signs_when_white_starts() -> None:
    one = played("32-27 1-6 27-23", WHITE, fen="W:WK32:BK1")
    assert [ids.tolist() for ids in extract([one], plies=None, unique=False)] == [[1, 2, -3, 4]]


def test_cycles_are_removed_and_the_move_stays_with_its_state() -> None:
    one = played(SHUTTLE["text"], BLACK, fen=SHUTTLE["fen"])
    whole = extract([one], plies=None, unique=False, remove_cycles=False)
    # the start is nobody's at first, and the loser's when White comes back to it
    assert whole.ids.tolist() == [1, 2, -3, 4, -1, 5]
    short = extract([one], plies=None, unique=False)
    assert short.ids.tolist() == [1, 5]
    assert short.codes[1] == Position.from_fen(SHUTTLE["fen"]).move("1-5").code
    assert short.bounds.tolist() == [0, 2]
    assert len(short.states) == 5


def test_cycles_are_looked_for_within_the_plies_that_are_kept() -> None:
    one = played(SHUTTLE["text"], DRAW, fen=SHUTTLE["fen"])
    assert extract([one], plies=3, unique=False).ids.tolist() == [1, 2, 3, 4]
    assert extract([one], plies=4, unique=False).ids.tolist() == [1]


@given(st.lists(st.integers(0, 3), max_size=12))
@settings(max_examples=200, deadline=None)
def test_acyclic_is_the_literal_algorithm(kinds: list[int]) -> None:
    # states of even and odd plies differ, as the side to move is part of them
    sequence = [2 * kind + ply % 2 for ply, kind in enumerate(kinds)]
    assert [sequence[i] for i in acyclic(sequence)] == without_cycles(sequence)  # type: ignore[arg-type]


def test_plies_limit() -> None:
    one = played("11-15 23-19 8-11 22-17", BLACK)
    assert extract([one], plies=2, unique=False).ids.tolist() == [1, 2, -3]
    assert len(extract([one], plies=99, unique=False).ids) == 5


def test_what_is_left_out_is_counted() -> None:
    one = played("11-15 23-19", BLACK)
    records: list[Record | Rejection] = [
        one,
        played("11-15 23-19", DRAW),
        played("11-15 23-19 8-11", BLACK),
        played("11-15", Result.UNFINISHED),
        played("", BLACK),
        Rejection(file="test.pdn", number=6, line=1, column=1, ply=0, reason="not English checkers", text=""),
    ]
    sequences = extract(records, plies=2, unique=True)
    assert (sequences.read, sequences.rejected) == (5, 1)
    assert (sequences.unfinished, sequences.empty, sequences.duplicates) == (1, 1, 1)
    # games are told apart by all their moves, not by the plies that are kept
    assert [ids.tolist() for ids in sequences] == [[1, 2, -3], [1, 2, -3]]
    assert extract(records, plies=2, unique=False).duplicates == 0


def test_headings() -> None:
    one = played("11-15", DRAW, number=7, file="a.pdn")
    one.tags.update(Black="A", White="B", Event="Match", Date="1905-??-??")
    assert extract([one], plies=None, unique=False).headings == (
        ("a.pdn", 7, DRAW, "A", "B", "Match", "1905-??-??", 1, None, 0),
    )


def test_nothing_to_mine() -> None:
    with pytest.raises(MiningError, match="no game to mine: 0 records rejected, 1 unfinished, 0 without moves"):
        extract([played("11-15", Result.UNFINISHED)], plies=None, unique=False)
    with pytest.raises(MiningError, match="no game to mine"):
        extract([], plies=None, unique=False)
    with pytest.raises(MiningError, match="plies is 0"):
        extract([], plies=0, unique=False)
