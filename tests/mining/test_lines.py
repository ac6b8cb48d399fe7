from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from checkers.game import Result
from mining.errors import MiningError
from mining.lines import FrequentLine, Plans, frequent_lines, plans
from mining.sequences import Batch, Sequences, extract
from tests.mining.archives import START, played
from tests.reference.brute_force_rules import random_record

KINGS = "B:WK32,K31:BK1"


def archive(seed: int, *, fen: str = KINGS, games: int = 60, plies: int = 14) -> Sequences:
    rng = np.random.default_rng(seed)
    records = [random_record(rng, fen=fen, plies=plies, number=n + 1) for n in range(games)]
    return extract(records, plies=None, unique=False, remove_cycles=False)


def brute_force(sequences: Sequences, *, min_count: int, max_plies: int) -> dict[tuple[int, ...], Counter[str]]:
    found: dict[tuple[int, ...], Counter[str]] = {}
    for ids, drawn in zip(sequences, sequences.drawn.tolist(), strict=True):
        signed = ids.tolist()
        for begin, plies in itertools.product(range(len(signed)), range(1, max_plies + 1)):
            states = tuple(map(abs, signed[begin : begin + plies + 1]))
            if len(states) == plies + 1:
                outcome = "d" if drawn else "l" if signed[begin + 1] < 0 else "w"
                found.setdefault(states, Counter())[outcome] += 1
    return {states: number for states, number in found.items() if number.total() >= min_count}


def thirds(sequences: Sequences) -> list[Batch]:
    """The same games in three batches."""
    batches = []
    for some in np.array_split(np.arange(len(sequences)), 3):
        begin, end = sequences.bounds[some[0]], sequences.bounds[some[-1] + 1]
        bounds = sequences.bounds[some[0] : some[-1] + 2] - begin
        batches.append(
            Batch(sequences.ids[begin:end], sequences.codes[begin:end], bounds, sequences.drawn[some],
                  sequences.years[some], sequences.sources[some])
        )  # fmt: skip
    return batches


@pytest.mark.parametrize(("seed", "fen"), [(1, KINGS), (2, START), (3, "B:WK32:BK1")])
@pytest.mark.parametrize("min_count", [1, 2, 4])
def test_frequent_lines_are_those_of_brute_force(seed: int, fen: str, min_count: int) -> None:
    sequences = archive(seed, fen=fen)
    expected = brute_force(sequences, min_count=min_count, max_plies=6)
    found = frequent_lines(
        lambda: thirds(sequences), min_count=min_count, min_plies=1, max_plies=6, closed=False, top=None
    )
    assert {line.states: (line.wins, line.draws, line.losses) for line in found} == {
        states: (number["w"], number["d"], number["l"]) for states, number in expected.items()
    }
    assert len(found) == len(expected)
    for line in found:
        position = sequences.position(line.states[0])
        for move, state in zip(line.moves, line.states[1:], strict=True):
            position = position.play(move)
            assert position == sequences.position(state)
        longer = [
            other
            for other, number in expected.items()
            if len(other) == len(line.states) + 1 and number.total() == line.count
            and line.states in (other[1:], other[:-1])
        ]  # fmt: skip
        assert line.closed is not bool(longer)
    closed = frequent_lines(lambda: [sequences], min_count=min_count, min_plies=1, max_plies=6, top=None)
    assert closed == [line for line in found if line.closed]


def test_order_and_limit() -> None:
    sequences = archive(4)
    found = frequent_lines(lambda: [sequences], min_count=2, max_plies=5, top=20)
    assert len(found) == 20
    keys = [(len(line.states), line.count) for line in found]
    assert keys == sorted(keys, reverse=True)
    assert all(isinstance(line, FrequentLine) and len(line.states) > 2 for line in found)
    assert frequent_lines(lambda: [sequences], min_count=10**6) == []


def test_wrong_limits_of_lines() -> None:
    for options in ({"min_count": 0}, {"min_plies": 0}, {"min_plies": 4, "max_plies": 3}):
        with pytest.raises(MiningError, match="right would be"):
            frequent_lines(list, **options)  # type: ignore[arg-type]


def sides(batch: Batch) -> NDArray[np.uint32]:
    return np.zeros(len(batch), np.uint32)


def found_moves(found: Plans) -> dict[tuple[str, ...], int]:
    return {tuple(map(str, plan.moves)): plan.games for plan in found.plans}


def test_plans_of_one_side_with_gaps() -> None:
    records = [
        played("12-16 24-20 8-12 22-18 4-8", Result.DRAW),
        played("12-16 24-20 8-12 22-18 9-13 25-22 4-8", Result.DRAW),
    ]
    sequences = extract(records, plies=None, unique=False)
    found = plans([sequences], sides, top=1, side=0, min_moves=3, max_moves=3)
    assert found_moves(found) == {("12-16", "8-12", "4-8"): 2}
    assert (found.sequences, found.complete) == (2, True)
    assert found_moves(plans([sequences], sides, top=1, side=1, min_moves=2, max_moves=2)) == {("24-20", "22-18"): 2}


def test_plans_are_those_of_brute_force() -> None:
    sequences = archive(5, fen=START, games=40, plies=10)
    expected = Counter[tuple[int, ...]]()
    for begin, end in itertools.pairwise(sequences.bounds.tolist()):
        codes = sequences.codes[begin + 1 : end].tolist()
        for own in (codes[0::2], codes[1::2]):
            expected.update(set(itertools.combinations(own, 3)))
    found = plans([sequences], sides, top=10, min_moves=3, max_moves=3)
    assert [plan.games for plan in found.plans] == sorted(expected.values(), reverse=True)[:10]
    assert all(expected[plan.actions] == plan.games for plan in found.plans)


def test_plans_of_both_colours_and_limits() -> None:
    # 22-18 is Black's 11-15 after a half-turn
    sequences = extract([played("11-15 22-18 15x22 25x18", Result.DRAW)], plies=2, unique=False)
    found = plans([sequences], sides, merge_colours=True, min_moves=1, max_moves=1, top=2)
    assert found_moves(found) == {("11-15",): 2}
    cut = plans([sequences], sides, min_moves=1, max_moves=1, max_sequences=1)
    assert (cut.sequences, cut.complete) == (1, False)
    many = archive(6, games=40)
    assert not plans([many], sides, top=50, max_moves=6, seconds=0).complete
    with pytest.raises(MiningError):
        plans([], sides, top=0)
