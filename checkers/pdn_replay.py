"""From the squares of a line of play to its moves; ambiguous captures settled by what follows (theory.md 7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.moves import Move
from checkers.pdn_tokens import squares_of
from checkers.position import Colour, Position

#: Ways of reading one line's ambiguous captures that are tried before it is given up.
MAX_READINGS = 500


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of a line of play.

    Attributes:
        codes: move codes, shape (plies,).
        positions: black, white, kings, side; shape (plies + 1, 4).
        moves_left: legal moves in the final position.
        made: plies that could be made; all of them unless the next is illegal.
        ambiguous: index of the move that the rest of the line leaves open, -1 if there is none.
        rivals: the ways to read that move; empty when there were too many readings to try.
    """

    codes: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    moves_left: int
    made: int
    ambiguous: int = -1
    rivals: tuple[Move, ...] = ()


class Replayer:
    """Replays lines of play; holds the kernel's buffer."""

    def __init__(self) -> None:
        from checkers.movegen import new_buffer
        from checkers.replay import replay

        self._replay, self._buffer = replay, new_buffer()

    def read(self, start: Position, moves: Sequence[str]) -> Reading:
        """The one reading of the moves that replays to the end, or how far it goes.

        Squares that allow several results are settled by the rest of the line: every reading is tried, and exactly one
        may replay to the end.
        """
        plies = len(moves)
        record = np.frombuffer(bytearray().join(map(squares_of, moves)), np.uint8)
        codes, positions = np.empty(plies, np.uint32), np.empty((plies + 1, 4), np.uint32)
        positions[0] = start
        readings, deepest, first_ambiguous = [np.zeros(plies, np.uint8)], 0, -1
        complete: list[Reading] = []
        for _ in range(MAX_READINGS):
            choices = readings.pop()
            made, status, number = self._replay(record, plies, choices, codes, positions, self._buffer)
            if status == 0:
                complete.append(Reading(codes, positions, number, plies))
                if first_ambiguous >= 0:
                    codes, positions = codes.copy(), positions.copy()
            elif status == 1:
                deepest = max(deepest, made)
            else:
                first_ambiguous = made if first_ambiguous < 0 else min(made, first_ambiguous)
                readings += _choices(choices, made, number)
            if not readings or len(complete) > 1:
                break
        if len(complete) == 1 and not readings:
            return complete[0]
        if complete or readings:
            return self._open(complete, codes, positions, first_ambiguous)
        return Reading(codes, positions, 0, deepest)

    @staticmethod
    def _open(complete: list[Reading], codes: NDArray[np.uint32], positions: NDArray[np.uint32], first: int) -> Reading:
        """A line with several readings, with the first move in which they differ."""
        if len(complete) < 2:
            return Reading(codes, positions, 0, 0, first)
        one, other = complete[0], complete[1]
        ply = int(np.flatnonzero(one.codes != other.codes)[0])
        rivals = tuple(Move.from_code(int(reading.codes[ply])) for reading in complete)
        return Reading(one.codes, one.positions, one.moves_left, one.made, ply, rivals)

    def position_before(self, start: Position, moves: Sequence[str], plies: int) -> Position:
        """The position after so many plies, ambiguous captures read the first way that goes so far."""
        return self.first_way(start, moves[:plies])[1]

    def first_way(self, start: Position, moves: Sequence[str]) -> tuple[NDArray[np.uint32], Position]:
        """Codes and final position of the moves, ambiguous captures read the first way that replays to the end."""
        plies = len(moves)
        record = np.frombuffer(bytearray().join(map(squares_of, moves)), np.uint8)
        codes, positions = np.empty(plies, np.uint32), np.empty((plies + 1, 4), np.uint32)
        positions[0] = start
        readings = [np.zeros(plies, np.uint8)]
        for _ in range(MAX_READINGS):
            choices = readings.pop()
            made, status, number = self._replay(record, plies, choices, codes, positions, self._buffer)
            if status == 0 or (status == 1 and not readings):
                break
            if status != 1:
                readings += _choices(choices, made, number)
        black, white, kings, side = positions[plies].tolist()
        return codes, Position(black, white, kings, Colour(side))


def _choices(choices: NDArray[np.uint8], ply: int, number: int) -> list[NDArray[np.uint8]]:
    """The same choices with each of so many at one ply, the first of them last."""
    further = [choices.copy() for _ in range(number)]
    for i, choice in enumerate(range(number, 0, -1)):
        further[i][ply] = choice
    return further
