"""Experience rules counted the slow and obvious way (theory.md 3.7, 3.11), and the records to count them in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from checkers.draws import NONE
from checkers.game import Game, Result
from checkers.pdn import Record
from checkers.position import Colour, Position


def record(game: Game, result: Result, *, number: int = 1, file: str = "test.pdn") -> Record:
    """A game as the PDN reader gives it."""
    return Record(
        file=file,
        number=number,
        line=1,
        tags=dict(game.tags),
        start=game.start,
        codes=np.array([move.code for move in game.moves], np.uint32),
        positions=np.array([tuple(map(int, position)) for position in game.positions], np.uint32),
        result=result,
        warnings=(),
    )


def played(text: str, result: Result, *, fen: str | None = None, **options: object) -> Record:
    """The record of a game whose moves are given as text."""
    game = Game(Position.from_fen(fen) if fen else None, policy=NONE)
    for move in text.split():
        game.play(game.position.move(move))
    return record(game, result, **options)  # type: ignore[arg-type]


def random_record(rng: np.random.Generator, *, fen: str, plies: int, number: int = 1) -> Record:
    """A game of random legal moves with a random result."""
    game = Game(Position.from_fen(fen), policy=NONE)
    while len(game.moves) < plies and (moves := game.legal_moves()):
        game.play(moves[rng.integers(len(moves))])
    results = [Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW]
    return record(game, results[rng.integers(3)], number=number)


def states(one: Record) -> list[Position]:
    """The states of a game."""
    return [Position(b, w, k, Colour(side)) for b, w, k, side in one.positions.tolist()]


def without_cycles(sequence: list[Position]) -> list[Position]:
    """From the end backwards: the same state at distance 2, 4, ... deletes what lies between the two."""
    sequence = list(sequence)
    end = len(sequence) - 1
    while end > 0:
        for distance in range(2, end + 1, 2):
            if sequence[end - distance] == sequence[end]:
                del sequence[end - distance : end]
                end -= distance
                break
        else:
            end -= 1
    return sequence


def outcomes(records: Iterable[Record], *, remove_cycles: bool) -> dict[tuple[Position, Position], Counter[str]]:
    """Wins, draws and losses ("w", "d", "l") of the mover for every pair of consecutive states."""
    table: dict[tuple[Position, Position], Counter[str]] = {}
    for one in records:
        sequence = states(one)
        if remove_cycles:
            sequence = without_cycles(sequence)
        for before, after in pairwise(sequence):
            points = one.result.points(before.side)
            table.setdefault((before, after), Counter())["w" if points == 1 else "l" if points == 0 else "d"] += 1
    return table
