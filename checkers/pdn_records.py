"""What a PDN reader yields: records of games, accepted or rejected (theory.md 7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from checkers import draws
from checkers.game import Game, Result
from checkers.moves import Move
from checkers.pdn_warnings import PdnWarning, WarningKind
from checkers.position import Position

if TYPE_CHECKING:
    from checkers.draws import DrawPolicy

NOT_ENGLISH = "not English checkers"


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One accepted game, every move replayed.

    Attributes:
        file: the file's path as given.
        number: its number among the games of the file, from 1, rejected games counted.
        line: the line on which it begins, from 1.
        tags: the tags as they stand; names in their usual spelling (``SetUp``, ``FEN``).
        start: the position it starts from.
        codes: move codes (:mod:`checkers.movegen`), shape (plies,).
        positions: black, white, kings, side before each move and after the last, shape (plies + 1, 4).
        result: the board's where the final position has no move, otherwise the tag's or the one behind the moves.
        warnings: what was read in spite of an error, and what contradicts itself.
        finished: whether the side to move in the last position has no move, so that the board says the result.
    """

    file: str
    number: int
    line: int
    tags: dict[str, str]
    start: Position
    codes: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    result: Result
    warnings: tuple[PdnWarning, ...]
    finished: bool = False

    def warned(self, kind: WarningKind) -> bool:
        """Whether there is a warning of this kind."""
        return any(warning.kind is kind for warning in self.warnings)

    def game(self, policy: DrawPolicy = draws.NONE) -> Game:
        """The record as a game, finished with its result unless that is open."""
        game = Game(self.start, policy=policy, tags=self.tags)
        for code in self.codes.tolist():
            game.play(Move.from_code(code))
        if self.result is not Result.UNFINISHED:
            game.finish(self.result, "result of the record")
        return game


@dataclass(frozen=True, slots=True)
class Rejection:
    """One game that was not accepted.

    Attributes:
        file: the file's path as given.
        number: its number among the games of the file, from 1.
        line: where the fault is, from 1; column likewise.
        column: see line.
        ply: the move at fault, from 1; 0 when it is not a move.
        reason: ``kind: details``, one line.
        text: the game as it stands in the file.
    """

    file: str
    number: int
    line: int
    column: int
    ply: int
    reason: str
    text: str

    @property
    def kind(self) -> str:
        """The reason without its details, to count by."""
        return self.reason.partition(": ")[0]

    @property
    def other_game(self) -> str | None:
        """The game of the family that this is, if it is not English checkers."""
        return self.kind.removesuffix(f", {NOT_ENGLISH}") if self.kind.endswith(NOT_ENGLISH) else None
