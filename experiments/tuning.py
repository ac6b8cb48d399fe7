"""Tunes the reference evaluation's weights by logistic regression on the results of games (theory.md 4.2).

First on the archives' games alone. Their players rarely play on a man down, so material counts little there; therefore
the evaluation then plays games against itself, from ballots with some random plies and from random endings, and is
tuned again on all of them, in rounds. An endgame database says how a game ends that comes down to its pieces.

A position counts when the side to move has no capture, as where a search evaluates; its label is the game's result for
the side that has just moved, a draw being half a win and half a loss.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.draws import ACF
from checkers.errors import InputError
from checkers.game import Result
from checkers.openings import openings_named
from checkers.pdn import Record, read_pdn
from checkers.position import Colour, Position
from experiments.parallel import run_tasks

if TYPE_CHECKING:
    from checkers.endgame import EndgameDatabase

Progress = Callable[[str, int, int], None]

#: Games of training in one unit of work.
_BATCH = 50
#: What a man ahead adds to the term ``majority`` at 12 against 11.
_MAJORITY_OF_ONE = 8 / 23
#: The same at 4 against 3.
_MAJORITY_OF_ONE_IN_SEVEN = 8 / 7


class TuningOptions(NamedTuple):
    """How the weights are tuned.

    ``samples`` positions are taken of each game, from ply ``first_ply`` on. There are ``rounds`` of ``games`` training
    games each, searched to ``depth`` plies and to ``ending_depth`` in endings; ``set_ups`` of them begin with a random
    ending, the others with a ballot and up to ``random_plies`` random plies. ``strength`` is the inverse of the L2
    penalty; ``held_out`` of the games serve for the log loss alone. ``trade_down`` is what a man more weighs at 4
    against 3 in either ending, in men of the opening: players draw many endings that a search wins, so results alone
    would have the side ahead keep its pieces. It is our choice, between 1.25 and 1.8,
    which did no clearly better or worse in short matches.
    """

    seed: int = 1
    samples: int = 8
    first_ply: int = 6
    rounds: int = 2
    games: int = 5000
    set_ups: float = 0.3
    depth: int = 5
    ending_depth: int = 5
    random_plies: int = 10
    strength: float = 0.01
    held_out: float = 0.1
    trade_down: float = 1.5


class Samples(NamedTuple):
    """Positions uint32 (n, 4), points float64 (n,) of the side that has just moved, the game of each int64 (n,)."""

    positions: NDArray[np.uint32]
    points: NDArray[np.float64]
    games: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Samples]) -> Samples:
        """Samples one after the other, games numbered anew."""
        firsts = itertools.accumulate((int(part.games.max(initial=-1)) + 1 for part in parts), initial=0)
        return cls(
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.games + first for part, first in zip(parts, firsts, strict=False)]),
        )


class Tuned(NamedTuple):
    """Weights float64 (3, PARAMETERS) in men, how many positions they come from, log loss on held-out games.

    ``even_loss`` is the loss of a guess of one half for every position; ``man`` the log-odds that one man stands for.
    """

    weights: NDArray[np.float64]
    positions: int
    log_loss: float
    even_loss: float
    man: float

    def figures(self) -> dict[str, float]:
        """All but the weights, as JSON values of four decimals."""
        return {name: round(value, 4) for name, value in self._asdict().items() if name != "weights"}


def archive_games(files: Iterable[str | Path]) -> list[Record]:
    """The games of the archives that have a result, each sequence of moves once."""
    games: dict[tuple[Position, bytes], Record] = {}
    for file in files:
        for game in read_pdn(file):
            if isinstance(game, Record) and game.result is not Result.UNFINISHED and len(game.codes):
                games.setdefault((game.start, game.codes.tobytes()), game)
    if not games:
        raise InputError("the archives hold no game with a result; right would be PDN files of English checkers")
    return list(games.values())


def _sample(
    positions: NDArray[np.uint32], black_points: float, samples: int, rng: np.random.Generator
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Some quiet positions of a game and their labels."""
    from experiments.tuning_games import quiet_rows

    candidates = np.ascontiguousarray(positions)
    quiet = np.zeros(len(candidates), np.bool_)
    quiet_rows(candidates, quiet)
    chosen = np.flatnonzero(quiet)
    if len(chosen) > samples:
        chosen = np.sort(rng.choice(chosen, samples, replace=False))
    found = candidates[chosen]
    return found, np.where(found[:, 3] == Colour.WHITE, black_points, 1.0 - black_points)


def _gather(games: Iterable[tuple[NDArray[np.uint32], NDArray[np.float64]]]) -> Samples:
    rows = list(games)
    numbers = np.repeat(np.arange(len(rows)), [len(points) for _, points in rows])
    return Samples(np.concatenate([p for p, _ in rows]), np.concatenate([p for _, p in rows]), numbers)


def archive_samples(games: Sequence[Record], options: TuningOptions, seed: np.random.SeedSequence) -> Samples:
    """Positions of archived games."""
    seeds = seed.spawn(len(games))
    return _gather(
        _sample(
            game.positions[options.first_ply :],
            game.result.points(Colour.BLACK),
            options.samples,
            np.random.default_rng(each),
        )
        for game, each in zip(games, seeds, strict=True)
    )


def training_samples(
    weights: NDArray[np.float64],
    database: EndgameDatabase,
    options: TuningOptions,
    seed: np.random.SeedSequence,
    workers: int,
    progress: Progress,
) -> Samples:
    """Positions of games that the evaluation plays against itself."""
    sizes = [min(_BATCH, options.games - start) for start in range(0, options.games, _BATCH)]
    batches = seed.spawn(len(sizes))

    def play(task: tuple[np.random.SeedSequence, int]) -> list[tuple[NDArray[np.uint32], NDArray[np.float64]]]:
        return _play_batch(weights, database, options, *task)

    found = []
    for batch in run_tasks(play, zip(batches, sizes, strict=True), workers=workers):
        found += batch
        progress("training games", len(found), options.games)
    return _gather(found)


def _play_batch(
    weights: NDArray[np.float64],
    database: EndgameDatabase,
    options: TuningOptions,
    seed: np.random.SeedSequence,
    size: int,
) -> list[tuple[NDArray[np.uint32], NDArray[np.float64]]]:
    from checkers.chance import chance_state
    from checkers.draw_tracking import MOST_PLIES, limits_of
    from checkers.evaluation import reference
    from checkers.movegen import new_buffer
    from experiments.tuning_games import OPEN, training_game

    evaluation, limits, moves = reference(weights), limits_of(ACF), new_buffer()
    positions = np.zeros((MOST_PLIES, 4), np.uint32)
    hidden = np.zeros(evaluation.weights.shape[1], np.float32)
    depths, ending = np.array([options.depth, options.ending_depth], np.int64), np.zeros(1, np.int64)
    found = []
    for each in seed.spawn(size):
        rng = np.random.default_rng(each)
        opening, random_plies = _opening(options, database.pieces, rng)
        plies = training_game(
            np.array(opening, np.uint32), random_plies, depths, database.pieces, evaluation, limits, chance_state(rng),
            moves, positions, hidden, ending,
        )  # fmt: skip
        opened = ending[0] == OPEN
        points = _database_points(database, positions[plies]) if opened else (int(ending[0]) + 1) / 2
        found.append(_sample(positions[random_plies : plies + 1], points, options.samples, rng))
    return found


def _opening(options: TuningOptions, pieces: int, rng: np.random.Generator) -> tuple[Position, int]:
    """Where a training game begins, and how many random plies come first."""
    if rng.random() < options.set_ups:
        return random_ending(pieces + 1, rng), 0
    ballots = openings_named("three-move-all")
    return ballots[int(rng.integers(len(ballots)))].position(), int(rng.integers(options.random_plies + 1))


def random_ending(fewest: int, rng: np.random.Generator, most: int = 10) -> Position:
    """A random set-up of ``fewest`` to ``most`` pieces, sides equal or one ahead, up to a half of them kings."""
    total = int(rng.integers(fewest, most + 1))
    black = (total + int(rng.integers(2))) // 2
    kings_share = rng.random() / 2
    boards = [0, 0, 0]
    for number, square in enumerate(rng.permutation(32)[:total].tolist()):
        colour = int(number >= black)
        boards[colour] |= 1 << square
        king_row = square >= 28 if colour == 0 else square < 4
        if king_row or rng.random() < kings_share:
            boards[2] |= 1 << square
    return Position(boards[0], boards[1], boards[2], Colour(int(rng.integers(2))))


def _database_points(database: EndgameDatabase, row: NDArray[np.uint32]) -> float:
    """Black's points with best play."""
    black, white, kings, side = row.tolist()
    probe = database.probe(Position(black, white, kings, Colour(side)))
    if probe is None:
        raise RuntimeError(f"the database lacks {row.tolist()}")
    mover = {"win": 1.0, "draw": 0.5, "loss": 0.0}[probe.outcome.value]
    return 1.0 - mover if side else mover


def fit(samples: Samples, options: TuningOptions, seed: np.random.SeedSequence) -> Tuned:
    """Weights by logistic regression, in men.

    Raises:
        InputError: the samples hold only one result.
    """
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    design = _design(samples.positions)
    points = samples.points
    last = int(samples.games.max(initial=0)) + 1
    held_games = np.random.default_rng(seed).random(last) < options.held_out
    held = held_games[samples.games]
    won, lost = np.flatnonzero(~held & (points > 0)), np.flatnonzero(~held & (points < 1))
    if not len(won) or not len(lost) or not held.any():
        raise InputError("the games are too few to tune on; right would be some hundreds with different results")
    model = LogisticRegression(C=options.strength, fit_intercept=False, max_iter=1000, tol=1e-5)
    labels = np.repeat([1, 0], [len(won), len(lost)])
    shares = np.concatenate([points[won], 1.0 - points[lost]])
    model.fit(sparse.vstack([design[won], design[lost]]).tocsr(), labels, sample_weight=shares)
    expected = model.predict_proba(design[held])[:, 1]
    truth, n = points[held], int(held.sum())
    loss = log_loss(
        np.repeat([1, 0], n), np.tile(expected, 2), sample_weight=np.concatenate([truth, 1 - truth]), labels=[0, 1]
    )
    weights, man = _in_men(model.coef_.reshape(3, -1), samples.positions)
    return Tuned(_traded_down(weights, options.trade_down), len(points), float(loss), float(np.log(2)), man)


def _parameters(positions: NDArray[np.uint32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    from checkers.reference import PARAMETERS, parameter_rows

    rows, shares = np.zeros((len(positions), PARAMETERS), np.float32), np.zeros((len(positions), 3), np.float32)
    parameter_rows(np.ascontiguousarray(positions), rows, shares)
    return rows, shares


def _design(positions: NDArray[np.uint32], block: int = 20_000) -> Any:
    """Sparse (positions, 3 × PARAMETERS): each phase's parameters times the phase's share."""
    from scipy import sparse

    parts = []
    for start in range(0, len(positions), block):
        rows, shares = _parameters(positions[start : start + block])
        phases = [sparse.csr_matrix(rows * shares[:, p : p + 1], dtype=np.float64) for p in range(3)]
        parts.append(sparse.hstack(phases).tocsr())
    return sparse.vstack(parts).tocsr()


def _in_men(weights: NDArray[np.float64], positions: NDArray[np.uint32]) -> tuple[NDArray[np.float64], float]:
    """The same evaluation with tables of mean 0, divided by what a man more is worth at 12 against 11; and that.

    A mean is over the pieces that stood there, of both sides, as one can put it into the weight of a man or king.
    """
    from checkers.reference import COUNT, KING, MAJORITY, MAN, SQUARES

    counts = np.zeros((3, weights.shape[1]))
    for start in range(0, len(positions), 20_000):
        part = positions[start : start + 20_000]
        # alone on the board a side's pieces are all counted, not less the other's
        for black, white in ((part[:, 0], 0), (0, part[:, 1])):
            lone = np.stack([black | 0 * part[:, 0], white | 0 * part[:, 0], part[:, 2], part[:, 3]], axis=1)
            rows, _ = _parameters(lone)
            _, shares = _parameters(part)
            counts += shares.astype(np.float64).T @ np.abs(rows)
    weights = weights.copy()
    men, kings = slice(COUNT, COUNT + SQUARES), slice(COUNT + SQUARES, COUNT + 2 * SQUARES)
    for phase in range(3):
        for term, table in ((MAN, men), (KING, kings)):
            seen = counts[phase, table]
            mean = float(seen @ weights[phase, table] / max(seen.sum(), 1.0))
            weights[phase, table] -= np.where(seen > 0, mean, 0.0)
            weights[phase, term] += mean
        patterns = slice(COUNT + 2 * SQUARES, None)
        weights[phase, patterns] -= weights[phase, COUNT + 2 * SQUARES]
    man = float(weights[0, MAN] + weights[0, MAJORITY] * _MAJORITY_OF_ONE)
    if man <= 0:
        raise InputError("by these games a man is worth nothing; right would be more games")
    return weights / man, man


def _traded_down(weights: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """The endings' weights multiplied so that a man more at 4 against 3 weighs ``unit`` in each."""
    from checkers.reference import MAJORITY, MAN

    scaled = weights.copy()
    for phase in (1, 2):
        man = weights[phase, MAN] + weights[phase, MAJORITY] * _MAJORITY_OF_ONE_IN_SEVEN
        if man <= 0:
            raise InputError("by these games a man in the ending is worth nothing; right would be more games")
        scaled[phase] *= unit / man
    return scaled


def tune(
    files: Sequence[str | Path],
    database: EndgameDatabase,
    options: TuningOptions,
    *,
    workers: int = 1,
    progress: Progress = lambda *_: None,
) -> list[Tuned]:
    """The weights of the first stage, by the archives alone, and those after each round of training games."""
    sampling, playing, splitting = np.random.SeedSequence(options.seed).spawn(3)
    samples = [archive_samples(archive_games(files), options, sampling)]
    tuned = [fit(samples[0], options, splitting)]
    for seed in playing.spawn(options.rounds):
        samples.append(training_samples(tuned[-1].weights, database, options, seed, workers, progress))
        tuned.append(fit(Samples.of(samples), options, splitting))
    return tuned
