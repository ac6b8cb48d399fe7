"""How good rules are on games they were not mined from: coverage and hit rate by ply, effects of options, sizes.

The literature names no such test; this one is ours. Games are different ones and divided by game, so that no game is
asked about what it has taught. A position counts where it has more than one legal move; it is covered where the rules
of the other folds have one for it; a hit is a move that leads where the game's did.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from checkers.moves import Move
from checkers.position import Position
from mining.errors import MiningError
from mining.files import Progress
from mining.holdout import Flags, GameSet, Positions, Windows, colours_merged, several_moves
from mining.miner import MiningOptions
from mining.rates import Difference, Rate, difference, rate
from mining.sequences import Ids, Sequences, position_of

#: Who is asked for a move, as its code.
Judge: TypeAlias = Callable[[Position], int]

#: Names of the two predictions that need no judge: the first rule, and the move played most often.
RULE, FREQUENT = "rule", "most frequent"


@dataclass(frozen=True, slots=True)
class PlyRow:
    """What was found at a ply, or over several.

    Attributes:
        ply: from 1; 0 for all.
        positions: positions of held-out games.
        choices: those with more than one legal move; all rates are among them.
        coverage: where there is a rule.
        known: where the other games came to the position at all.
        listed: covered ones in which the game's move is among the rules.
        hits: covered ones in which a prediction was the game's move, by name.
    """

    ply: int
    positions: int
    choices: int
    coverage: Rate
    known: Rate
    listed: Rate
    hits: dict[str, Rate]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What held-out games say of the rules.

    Attributes:
        games: different games.
        folds: number of folds; each was held out once.
        rules: rules mined from the other folds, on average.
        plies: one row per ply.
        total: the row of all plies.
        differences: hit rate of the first rule less that of another, over positions in which both were asked.
        judged: games in which the judges were asked.
    """

    games: int
    folds: int
    rules: float
    plies: tuple[PlyRow, ...]
    total: PlyRow
    differences: dict[str, Difference]
    judged: int


@dataclass(frozen=True, slots=True)
class Effect:
    """One option at one value, the others as they were; rates as in :class:`PlyRow`, over all plies."""

    option: str
    value: str
    rules: float
    coverage: Rate
    hit: Rate
    frequent: Rate


@dataclass(frozen=True, slots=True)
class SizePoint:
    """Rules mined from so many games; rates as in :class:`PlyRow`, over all plies."""

    games: int
    rules: float
    coverage: Rate
    hit: Rate
    frequent: Rate


class _Prediction(NamedTuple):
    """The next state predicted in each position, 0 for none, and what else was found there."""

    rule: Ids
    frequent: Ids
    listed: Flags
    rules: float


class HeldOut:
    """Rules on held-out games: each fold once, against the rules of the others.

    Args:
        games: different games; they hold as many plies as are looked at.
        folds: number of folds.
        seed: drives the division and the choice of games.

    Raises:
        MiningError: there are too few games for so many folds.
    """

    def __init__(self, games: GameSet, *, folds: int = 10, seed: np.random.SeedSequence) -> None:
        fold_seed, self._size_seed, self._judge_seed = seed.spawn(3)
        self.games = games
        self.folds = folds
        self._fold = games.folds(folds, np.random.default_rng(fold_seed))
        self._asked = Positions.of(games.sequences)
        several = several_moves(games.sequences.states)
        self._choice = several[self._asked.state - 1]
        self._views: dict[tuple[bool, bool], tuple[Sequences, Positions, Windows]] = {}

    def evaluate(
        self,
        options: MiningOptions | None = None,
        *,
        judges: Mapping[str, Judge] | None = None,
        judge_games: int | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Coverage and hit rates by ply.

        Args:
            options: how rules are mined.
            judges: whoever else predicts moves, by name; asked in covered positions.
            judge_games: ask judges in so many games only, chosen at random; None for all.
            progress: told how many positions of how many the judges have seen.

        Raises:
            MiningError: an option is wrong.
        """
        options = options or MiningOptions()
        found = self._predicted(options)
        covered = self._choice & (found.rule > 0)
        truth = self._view(options)[1].next_state
        hits = {RULE: _answers(found.rule > 0, found.rule == truth)}
        hits[FREQUENT] = _answers(found.frequent > 0, found.frequent == truth)
        chosen = self._judged(judge_games) if judges else np.zeros(len(self.games), bool)
        where = covered & chosen[self._asked.game]
        hits.update(self._judge(judges or {}, where, progress))
        last = int(self._asked.ply.max())
        rows = [self._row(ply, self._asked.ply == ply, covered, found, hits) for ply in range(1, last + 1)]
        total = self._row(0, np.ones(len(covered), bool), covered, found, hits)
        differences: dict[str, Difference] = {}
        for name in list(hits)[1:]:
            both = covered & (hits[name] >= 0)
            compared = difference(self._asked.game[both], hits[RULE][both] > 0, hits[name][both] > 0)
            if compared:
                differences[name] = compared
        judged = int(chosen.sum())
        return Evaluation(len(self.games), self.folds, found.rules, tuple(rows), total, differences, judged)

    def effects(
        self,
        options: MiningOptions | None = None,
        *,
        min_counts: Sequence[int] = (1, 2, 3, 5, 10, 20),
        opening_moves: Sequence[int] = (2, 4, 6, 8, 10, 12),
    ) -> Iterator[Effect]:
        """What changes when one option does: least count, sign rule, cycles, colours, own moves of the opening.

        Rules are asked in the first so many own moves of a side only, as MoveDecision does (theory.md 2.9); its other
        positions count as not covered.

        Raises:
            MiningError: an option is wrong.
        """
        options = options or MiningOptions()
        for value in min_counts:
            yield self._effect("min_count", str(value), dataclasses.replace(options, min_count=value))
        for sign in ("w+d-l", "w-l"):
            yield self._effect("sign", sign, dataclasses.replace(options, sign=sign))
        for flag in (True, False):
            yield self._effect("cycles removed", str(flag), dataclasses.replace(options, remove_cycles=flag))
        for flag in (False, True):
            yield self._effect("colours merged", str(flag), dataclasses.replace(options, merge_colours=flag))
        for moves in opening_moves:
            yield self._effect("opening moves", str(moves), options, last=2 * moves)

    def sizes(self, sizes: Iterable[int], options: MiningOptions | None = None) -> Iterator[SizePoint]:
        """The rules of so many of the other games, chosen at random; a larger choice holds the smaller ones.

        Where there are fewer games all are taken, once.

        Raises:
            MiningError: an option is wrong, or a size is below 1.
        """
        options = options or MiningOptions()
        most = int(min((self._fold != fold).sum() for fold in range(self.folds)))
        order = np.random.default_rng(self._size_seed).permutation(len(self.games))
        for size in sorted({min(size, most) for size in sizes}):
            if size < 1:
                raise MiningError(f"a learning curve of {size} games: right would be 1 or more")
            found = self._predicted(options, order=order, size=size)
            yield SizePoint(size, found.rules, *self._rates(options, found, np.ones(len(self._choice), bool)))

    def _effect(self, option: str, value: str, options: MiningOptions, *, last: int | None = None) -> Effect:
        found = self._predicted(options)
        asked = self._asked.ply <= last if last else np.ones(len(self._choice), bool)
        return Effect(option, value, found.rules, *self._rates(options, found, asked))

    def _rates(self, options: MiningOptions, found: _Prediction, asked: Flags) -> tuple[Rate, Rate, Rate]:
        """Coverage, hit rate of the first rule, and that of the most frequent move in the same positions."""
        truth, game = self._view(options)[1].next_state, self._asked.game
        ruled = asked & (found.rule > 0)
        covered = self._choice & ruled
        return (
            rate(game[self._choice], ruled[self._choice]),
            rate(game[covered], (found.rule == truth)[covered]),
            rate(game[covered], (found.frequent == truth)[covered]),
        )

    def _view(self, options: MiningOptions) -> tuple[Sequences, Positions, Windows]:
        """The sequences, positions and windows as the options say."""
        key = (options.merge_colours, options.remove_cycles)
        if key not in self._views:
            raw = self.games.sequences
            sequences = colours_merged(raw) if options.merge_colours else raw
            windows = Windows.of(sequences, remove_cycles=options.remove_cycles)
            self._views[key] = (sequences, Positions.of(sequences), windows)
        return self._views[key]

    def _predicted(self, options: MiningOptions, *, order: Ids | None = None, size: int = 0) -> _Prediction:
        """What the rules of the other folds, or of the first ``size`` games of them in an order, say everywhere."""
        options.check()
        sequences, asked, windows = self._view(options)
        rule, frequent = np.zeros(len(asked.game), np.int64), np.zeros(len(asked.game), np.int64)
        listed = np.zeros(len(asked.game), bool)
        places, numbers = windows.places(asked), list[int]()
        for fold in range(self.folds):
            taught = self._fold != fold
            if order is not None:
                taught = np.zeros(len(taught), bool)
                taught[order[self._fold[order] != fold][:size]] = True
            outcomes = windows.outcomes(taught)
            rules = windows.rules(outcomes, min_count=options.min_count, sign=options.sign)
            numbers.append(int(rules.sum()))
            mine = self._fold[asked.game] == fold
            states = asked.state[mine]
            rule[mine] = windows.best(outcomes, rules, len(sequences.states))[states]
            frequent[mine] = windows.most_frequent(outcomes, len(sequences.states))[states]
            listed[mine] = (places[mine] >= 0) & rules[places[mine]]
        return _Prediction(rule, frequent, listed, float(np.mean(numbers)))

    def _row(
        self, ply: int, where: Flags, covered: Flags, found: _Prediction, hits: Mapping[str, NDArray[np.int8]]
    ) -> PlyRow:
        game, choice, ruled = self._asked.game, self._choice & where, covered & where
        rates = {name: rate(game[at], hit[at] > 0) for name, hit in hits.items() for at in (ruled & (hit >= 0),)}
        return PlyRow(
            ply,
            int(where.sum()),
            int(choice.sum()),
            rate(game[choice], covered[choice]),
            rate(game[choice], found.frequent[choice] > 0),
            rate(game[ruled], found.listed[ruled]),
            rates,
        )

    def _judged(self, number: int | None) -> Flags:
        """The games in which judges are asked."""
        chosen = np.zeros(len(self.games), bool)
        order = np.random.default_rng(self._judge_seed).permutation(len(self.games))
        chosen[order[:number]] = True
        return chosen

    def _judge(
        self, judges: Mapping[str, Judge], where: Flags, progress: Progress | None
    ) -> Iterator[tuple[str, NDArray[np.int8]]]:
        """Each judge's hits in the marked positions; every state is asked once."""
        states = self.games.sequences.states
        at = np.flatnonzero(where)
        distinct, place = np.unique(self._asked.state[at], return_inverse=True)
        results = [position_of(states[number - 1]) for number in self._asked.next_state[at].tolist()]
        total, done = len(judges) * len(distinct), 0
        for name, judge in judges.items():
            answers: list[Position] = []
            for number in distinct.tolist():
                position = position_of(states[number - 1])
                answers.append(position.play(Move.from_code(judge(position))))
                done += 1
                if progress:
                    progress("ask the judges", done, total)
            hit = np.full(len(where), -1, np.int8)
            hit[at] = [answers[p] == result for p, result in zip(place.tolist(), results, strict=True)]
            yield name, hit


def _answers(given: Flags, right: Flags) -> NDArray[np.int8]:
    """1 for a hit, 0 for a miss, -1 where nothing was predicted."""
    return np.where(given, right, -1).astype(np.int8)


def as_json(found: Any) -> Any:
    """Rates, rows and what holds them as JSON values; a share is added to each rate."""
    if isinstance(found, Rate):
        return {"share": found.share, **dataclasses.asdict(found)}
    if dataclasses.is_dataclass(found):
        return {field.name: as_json(getattr(found, field.name)) for field in dataclasses.fields(found)}
    if isinstance(found, Mapping):
        return {name: as_json(value) for name, value in found.items()}
    return [as_json(value) for value in found] if isinstance(found, list | tuple) else found
