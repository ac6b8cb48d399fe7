"""Games for held-out tests: different ones, in folds that keep near duplicates together, counted over any choice.

All windows of two states are listed once with their game; the pairs of any set of games are then one count of the list
(theory.md 3.11), so that tenths, sizes and options can be tried one by one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mining.cbss import Sign, turn_boards, turn_codes
from mining.duplicates import NEAR_PLIES, difference, meeting_of
from mining.errors import MiningError
from mining.files import Failure, LineMeter, Progress, Task, pdn_files, read_blocks
from mining.filters import GameFilter
from mining.reading import Block
from mining.sequences import Batch, Ids, Sequences, acyclic_batch, extract_blocks, number_rows

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GameSet:
    """Different games, the first plies of each.

    Attributes:
        sequences: their states and moves, cycles and all; of games with the same moves the first.
        groups: int64 (games,): a number that games share which are nearly the same: of the same players and date, with
            at most ``NEAR_PLIES`` plies that differ.
        failures: why files could not be read to their end.
    """

    sequences: Sequences
    groups: Ids
    failures: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Number of games."""
        return len(self.sequences)

    def folds(self, count: int, rng: np.random.Generator) -> Ids:
        """A fold from 0 for each game, at random and of nearly equal sizes; a group stays together.

        Raises:
            MiningError: ``count`` is below 2, or there are fewer groups.
        """
        groups, at = np.unique(self.groups, return_inverse=True)
        if count < 2:
            raise MiningError(f"folds is {count}; right would be 2 or more")
        if len(groups) < count:
            raise MiningError(
                f"{len(groups)} different games are too few for {count} folds; right would be fewer folds"
            )
        found: Ids = (rng.permutation(len(groups)) % count)[at]
        return found


def game_set(blocks: Iterable[Block], *, plies: int | None = 24) -> GameSet:
    """The different games of blocks of games.

    Raises:
        MiningError: ``plies`` is below 1, or no game can be used.
    """
    meetings: dict[tuple[str, int], tuple[str, list[int]]] = {}

    def noted() -> Iterator[Block]:
        for block in blocks:
            for head, codes, _ in block.games():
                meeting = meeting_of(head)
                if meeting:
                    meetings[head.file, head.number] = (meeting, codes.tolist())
            yield block

    sequences = extract_blocks(noted(), plies=plies, unique=True, remove_cycles=False)
    groups = np.arange(len(sequences))
    met: dict[str, list[tuple[int, list[int]]]] = {}
    for game, head in enumerate(sequences.headings):
        meeting, codes = meetings.get((head.file, head.number), ("", []))
        if not meeting:
            continue
        for other, other_codes in met.setdefault(meeting, []):
            if difference(codes, other_codes, NEAR_PLIES + 1) <= NEAR_PLIES:
                groups[game] = groups[other]
                break
        met[meeting].append((game, codes))
    return GameSet(sequences, groups)


def read_games(
    paths: Iterable[str | Path],
    *,
    plies: int | None = 24,
    filters: GameFilter | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> GameSet:
    """The different games of PDN files and of the archives in folders.

    Raises:
        FileFormatError: there is no such file, or none of them can be read.
        MiningError: ``plies`` is below 1, or no game can be used.
    """
    files = pdn_files(paths)
    meter, failures = LineMeter(progress, files), list[Failure]()
    read = 0

    def blocks() -> Iterator[Block]:
        nonlocal read
        for task, block in read_blocks([Task(path) for path in files], wanted=filters, workers=workers):
            if isinstance(block, Failure):
                failures.append(block)
                continue
            read += 1
            yield block
            meter.tell(task.path, block.line)
        meter.done()
        if failures and not read:
            raise failures[0].error

    games = game_set(blocks(), plies=plies)
    return dataclasses.replace(games, failures=tuple(str(failure.error) for failure in failures))


def colours_merged(sequences: Sequences) -> Sequences:
    """The sequences with White's positions turned by half, so that Black is to move in every state (theory.md 9.10)."""
    states = sequences.states
    white = states[:, 3] == 1
    turned = states.copy()
    turned[white, 0], turned[white, 1] = turn_boards(states[white, 1]), turn_boards(states[white, 0])
    turned[white, 2], turned[white, 3] = turn_boards(states[white, 2]), 0
    numbers, first = number_rows(turned)
    after_white = np.zeros(len(sequences.ids), bool)
    after_white[1:] = white[np.abs(sequences.ids[:-1]) - 1]
    after_white[sequences.bounds[:-1]] = False
    counts = np.bincount(numbers - 1, sequences.counts, len(first)).astype(np.int64)
    return dataclasses.replace(
        sequences,
        ids=numbers[np.abs(sequences.ids) - 1] * np.sign(sequences.ids),
        codes=np.where(after_white, turn_codes(sequences.codes), sequences.codes),
        states=turned[first],
        counts=counts,
    )


@dataclass(frozen=True, slots=True)
class Positions:
    """What was played in the positions of games: arrays of equal length, game by game and ply by ply.

    Attributes:
        game: its number from 0; ply: from 1; state, next_state: state numbers before and after the move.
        outcome: how it went for the mover: 0 won, 1 drawn, 2 lost.
        action: code of the move.
    """

    game: Ids
    ply: Ids
    state: Ids
    next_state: Ids
    outcome: Ids
    action: NDArray[np.uint32]

    @classmethod
    def of(cls, games: Batch) -> Positions:
        """The positions of sequences."""
        lengths = np.diff(games.bounds)
        inner = np.ones(len(games.ids), bool)
        inner[games.bounds[:-1]] = False
        at = np.flatnonzero(inner)
        game = np.repeat(np.arange(len(games)), lengths)[at]
        outcome = np.where(games.drawn[game], 1, np.where(games.ids[at] < 0, 2, 0))
        numbers = np.abs(games.ids)
        return cls(game, at - games.bounds[game], numbers[at - 1], numbers[at], outcome, games.codes[at])

    @property
    def key(self) -> Ids:
        """One number per pair of state and next state."""
        return self.state << 32 | self.next_state


@dataclass(frozen=True, slots=True)
class Windows:
    """The pairs of all games, to be counted over some of them.

    Attributes:
        played: every window, with its game.
        pair: its pair's place in the columns below.
        keys: the different pairs, in order: state times 2^32 plus next state.
        action: code of the move; of several paths with one result the lowest.
    """

    played: Positions
    pair: Ids
    keys: Ids
    action: NDArray[np.uint32]

    @classmethod
    def of(cls, games: Sequences, *, remove_cycles: bool = True) -> Windows:
        """The windows of sequences, their cycles removed on request."""
        played = Positions.of(acyclic_batch(games) if remove_cycles else games)
        keys, pair = np.unique(played.key, return_inverse=True)
        action = np.full(len(keys), np.iinfo(np.uint32).max, np.uint32)
        np.minimum.at(action, pair, played.action)
        return cls(played, pair, keys, action)

    def outcomes(self, games: Flags) -> Ids:
        """Wins, draws and losses of each pair in the marked games, int64 (pairs, 3)."""
        marked = games[self.played.game]
        cells = self.pair[marked] * 3 + self.played.outcome[marked]
        return np.bincount(cells, minlength=3 * len(self.keys)).reshape(-1, 3)

    def places(self, positions: Positions) -> Ids:
        """The place of the pair played in each position, -1 where no window has it."""
        at = np.minimum(np.searchsorted(self.keys, positions.key), len(self.keys) - 1)
        return np.where(self.keys[at] == positions.key, at, -1)

    def rules(self, outcomes: Ids, *, min_count: int, sign: Sign) -> Flags:
        """Which pairs become rules when their outcomes are these (theory.md 3.11)."""
        weight = outcomes[:, 0] - outcomes[:, 2] + (outcomes[:, 1] if sign == "w+d-l" else 0)
        found: Flags = (outcomes.sum(axis=1) >= min_count) & (weight > 0)
        return found

    def best(self, outcomes: Ids, marked: Flags, states: int) -> Ids:
        """The next state that the first of the marked rules of each state leads to, 0 for none; (states + 1,).

        Rules are in the order in which players ask them: by rating, count and code.
        """
        count = outcomes.sum(axis=1)
        rating = (outcomes[:, 0] + 0.5 * outcomes[:, 1]) / np.maximum(count, 1)
        return self._first(marked, (self.action, -count, -rating), states)

    def most_frequent(self, outcomes: Ids, states: int) -> Ids:
        """The next state reached most often from each state, of equal ones by the lowest code; (states + 1,)."""
        count = outcomes.sum(axis=1)
        return self._first(count > 0, (self.action, -count), states)

    def _first(self, marked: Flags, order: tuple[NDArray[np.generic], ...], states: int) -> Ids:
        at = np.flatnonzero(marked)
        state, next_state = self.keys[at] >> 32, self.keys[at] & 0xFFFFFFFF
        place = np.lexsort((*(key[at] for key in order), state))
        state, next_state = state[place], next_state[place]
        first = np.ones(len(state), bool)
        first[1:] = state[1:] != state[:-1]
        found = np.zeros(states + 1, np.int64)
        found[state[first]] = next_state[first]
        return found


def several_moves(states: NDArray[np.uint32]) -> Flags:
    """Which of the states (black, white, kings, side) have more than one legal move."""
    from checkers.movegen import legal_move_codes

    found = np.zeros(len(states), bool)
    for row, (black, white, kings, side) in enumerate(states.tolist()):
        own, opponent = (white, black) if side else (black, white)
        found[row] = len(legal_move_codes(own, opponent, kings, side)) > 1
    return found
