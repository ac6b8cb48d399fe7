"""Longer patterns: consecutive sequences of k plies, frequent and closed, and plans, moves in order with gaps.

Consecutive sequences are counted level by level over batches of games: one of k plies can be frequent only if both of
k - 1 plies in it are. Plans come from the PrefixSpan package, whose patterns may have gaps, over the moves of one side.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from prefixspan import PrefixSpan

from checkers.moves import Move
from mining.cbss import turn_codes
from mining.errors import MiningError
from mining.sequences import Batch, Ids


@dataclass(frozen=True, slots=True)
class FrequentLine:
    """States that follow each other in several games.

    Attributes:
        states: their numbers, one more than moves.
        actions: codes of the moves between them; of several paths with one result the lowest code.
        count: how often the line occurs.
        wins, draws, losses: how it went for the side that moves first.
        closed: whether no longer line, within the limit of plies, holds it and occurs as often.
    """

    states: tuple[int, ...]
    actions: tuple[int, ...]
    count: int
    wins: int
    draws: int
    losses: int
    closed: bool

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves."""
        return tuple(map(Move.from_code, self.actions))


@dataclass(slots=True)
class _Level:
    """The frequent lines of one length; ``keys`` are in order, a line's label is its row."""

    keys: Ids  # label of the line less its last ply, times 2^32, plus the last state
    suffixes: Ids  # label of the line less its first ply, -1 for none
    actions: NDArray[np.uint32]  # the last move
    outcomes: Ids  # (lines, 3)

    @property
    def counts(self) -> Ids:
        sums: Ids = self.outcomes.sum(axis=1)
        return sums


def frequent_lines(
    batches: Callable[[], Iterable[Batch]],
    *,
    min_count: int = 10,
    min_plies: int = 2,
    max_plies: int = 12,
    closed: bool = True,
    top: int | None = 1000,
) -> list[FrequentLine]:
    """Consecutive sequences that occur at least ``min_count`` times, longest first, then the most frequent.

    One pass over the games is made per ply; memory grows with the lines whose parts are frequent.

    Args:
        batches: gives the games, called once per pass.
        min_count: the least number of occurrences.
        min_plies: the least number of plies.
        max_plies: the greatest.
        closed: only lines that no longer line, up to ``max_plies``, explains; see :class:`FrequentLine`.
        top: at most so many lines; None for all.

    Raises:
        MiningError: a limit is wrong.
    """
    if min_count < 1:
        raise MiningError(f"min_count is {min_count}; right would be 1 or more")
    if not 1 <= min_plies <= max_plies:
        raise MiningError(f"plies {min_plies} to {max_plies} hold no line; right would be a range from 1 on")
    levels: list[_Level] = []
    for _ in range(max_plies):
        level = _next_level(batches(), levels, min_count)
        if not len(level.keys):
            break
        levels.append(level)
    found: list[FrequentLine] = []
    for plies in range(len(levels), min_plies - 1, -1):
        flags = _closed(levels, plies)
        counts = levels[plies - 1].counts
        rows = np.flatnonzero(flags) if closed else np.arange(len(flags))
        for row in rows[np.argsort(-counts[rows], kind="stable")].tolist():
            if top is not None and len(found) >= top:
                return found
            found.append(_line(levels, plies, row, bool(flags[row])))
    return found


def _next_level(batches: Iterable[Batch], levels: list[_Level], min_count: int) -> _Level:
    """The frequent lines that are one ply longer than those of the last level."""
    keys, outcomes = np.zeros(0, np.int64), np.zeros((0, 3), np.int64)
    suffixes, actions = np.zeros(0, np.int64), np.zeros(0, np.uint32)
    for batch in batches:
        key, suffix, action, outcome = _candidates(batch, levels)
        all_keys = np.concatenate((keys, key))
        merged, first, at = np.unique(all_keys, return_index=True, return_inverse=True)
        sums = np.zeros((len(merged), 3), np.int64)
        np.add.at(sums, (at[len(keys) :], outcome), 1)
        sums[at[: len(keys)]] += outcomes
        lowest = np.full(len(merged), np.iinfo(np.uint32).max, np.uint32)
        np.minimum.at(lowest, at, np.concatenate((actions, action)))
        suffixes = np.concatenate((suffixes, suffix))[first]  # a line's suffix is always the same
        keys, outcomes, actions = merged, sums, lowest
    kept = outcomes.sum(axis=1) >= min_count
    return _Level(keys[kept], suffixes[kept], actions[kept], outcomes[kept])


def _candidates(batch: Batch, levels: list[_Level]) -> tuple[Ids, Ids, NDArray[np.uint32], Ids]:
    """Key, suffix label, last action and outcome (0 won, 1 drawn, 2 lost) of every line whose parts are frequent."""
    numbers = np.abs(batch.ids)
    game = np.repeat(np.arange(len(batch)), np.diff(batch.bounds))
    ends = batch.bounds[1:][game]  # where the game of each element ends
    place = np.arange(len(numbers))
    labels = numbers.copy()  # of the line that begins at each element; at first the state itself
    for plies, level in enumerate(levels, 1):
        inside = (place + plies < ends) & (labels >= 0)
        at = np.flatnonzero(inside)
        key = labels[at] << 32 | numbers[at + plies]
        row = np.minimum(np.searchsorted(level.keys, key), len(level.keys) - 1)
        labels = np.full(len(numbers), -1, np.int64)
        labels[at] = np.where(level.keys[row] == key, row, -1)
    plies = len(levels) + 1
    at = np.flatnonzero((place + plies < ends) & (labels >= 0))
    suffix = labels[at + 1] if levels else np.full(len(at), -1, np.int64)
    if levels:
        at, suffix = at[suffix >= 0], suffix[suffix >= 0]
    outcome = np.where(batch.drawn[game[at]], 1, np.where(batch.ids[at + 1] < 0, 2, 0))
    return labels[at] << 32 | numbers[at + plies], suffix, batch.codes[at + plies], outcome


def _closed(levels: list[_Level], plies: int) -> NDArray[np.bool_]:
    """Which lines of so many plies no line of one ply more, with the same count, holds."""
    level = levels[plies - 1]
    flags = np.ones(len(level.keys), bool)
    if plies < len(levels):
        longer = levels[plies]
        for part in (longer.keys >> 32, longer.suffixes):
            flags[part[longer.counts == level.counts[part]]] = False
    return flags


def _line(levels: list[_Level], plies: int, row: int, closed: bool) -> FrequentLine:
    wins, draws, losses = levels[plies - 1].outcomes[row].tolist()
    states: list[int] = []
    actions: list[int] = []
    for level in reversed(levels[:plies]):
        actions.append(int(level.actions[row]))
        row, state = divmod(int(level.keys[row]), 1 << 32)
        states.append(state)
    states.append(row)
    return FrequentLine(tuple(states[::-1]), tuple(actions[::-1]), wins + draws + losses, wins, draws, losses, closed)


@dataclass(frozen=True, slots=True)
class Plan:
    """Moves that one side makes in this order in many games, with others between them.

    Attributes:
        actions: codes of the moves; where colours are merged, as Black would make them.
        games: in how many sequences (a game has one per side) they occur.
    """

    actions: tuple[int, ...]
    games: int

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves."""
        return tuple(map(Move.from_code, self.actions))


@dataclass(frozen=True, slots=True)
class Plans:
    """What a search for plans found.

    Attributes:
        plans: the most frequent first.
        sequences: sequences looked at.
        complete: whether the search ended before its time was over and saw all games.
    """

    plans: tuple[Plan, ...]
    sequences: int
    complete: bool


class _OutOfTimeError(Exception):
    """The time for a search is over."""


def plans(
    batches: Iterable[Batch],
    sides: Callable[[Batch], NDArray[np.uint32]],
    *,
    top: int = 20,
    side: int | None = None,
    merge_colours: bool = False,
    min_moves: int = 3,
    max_moves: int = 5,
    closed: bool = False,
    max_sequences: int = 20_000,
    seconds: float = 60.0,
) -> Plans:
    """The most frequent plans, found by PrefixSpan's top-k search.

    Args:
        batches: games; their limit of plies is that of the plans.
        sides: gives the side to move at the start of each game of a batch, shape (games,).
        top: how many plans.
        side: only the moves of this side (0 Black, 1 White); None for both.
        merge_colours: turn White's moves by half and count them with Black's.
        min_moves: moves of a plan, at least.
        max_moves: moves of a plan, at most.
        closed: only plans that no longer one explains.
        max_sequences: at most so many sequences, which bounds memory.
        seconds: the search ends then, with what it has found.

    Raises:
        MiningError: a limit is wrong.
    """
    if min(top, max_sequences) < 1 or not 1 <= min_moves <= max_moves:
        raise MiningError(f"plans of {min_moves} to {max_moves} moves, top {top}: right would be numbers from 1 on")
    items: dict[int, int] = {}
    sequences: list[list[int]] = []
    complete = True
    for sequence in _own_moves(batches, sides, side, merge_colours):
        if len(sequences) == max_sequences:
            complete = False
            break
        sequences.append([items.setdefault(code, code) for code in sequence])  # one object per move, not per ply
    end = time.monotonic() + seconds

    def in_time(pattern: list[int], matches: list[tuple[int, int]]) -> bool:
        if time.monotonic() > end:
            raise _OutOfTimeError
        return True

    miner = PrefixSpan(sequences)
    miner.minlen, miner.maxlen = min_moves, max_moves
    try:
        found = miner.topk(top, closed=closed, filter=in_time)
    except _OutOfTimeError:
        complete = False
        found = [(count, pattern) for count, pattern, *_ in miner._results]
    best = sorted(found, key=lambda one: (-one[0], one[1]))
    return Plans(tuple(Plan(tuple(pattern), count) for count, pattern in best), len(sequences), complete)


def _own_moves(
    batches: Iterable[Batch], sides: Callable[[Batch], NDArray[np.uint32]], only: int | None, merge: bool
) -> Iterator[list[int]]:
    """The moves of each side in each game."""
    for batch in batches:
        turned = turn_codes(batch.codes) if merge else batch.codes
        bounds = batch.bounds.tolist()
        for game, first in enumerate(sides(batch).tolist()):
            begin, end = bounds[game] + 1, bounds[game + 1]
            for side in (0, 1):
                if only is None or side == only:
                    codes = turned if side else batch.codes
                    yield codes[begin + (side != first) : end : 2].tolist()
