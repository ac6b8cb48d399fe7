"""Players: the protocol, decisions and their reasons, and the random player (design, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from checkers.game import Game, Result
from checkers.moves import Move
from checkers.position import Colour

if TYPE_CHECKING:
    import numpy as np


class Why(StrEnum):
    """Where a move came from (theory.md 2.9)."""

    FORCED = "forced"  # the only legal move
    SEARCHED = "searched"  # a search's best move
    CASE = "case"  # a case of the library was accepted
    RULE = "rule"  # an experience rule was accepted
    IDENTITY = "identity"  # chosen among the identity's good moves
    EXPLORED = "explored"  # an untried move, at random
    RANDOM = "random"  # a random player's move


@dataclass(frozen=True, slots=True)
class Decision:
    """A chosen move and how it came about.

    ``score`` is from the mover's side in the unit of the evaluation; ``pv`` starts with the move; ``details`` holds
    what the player wants to tell (candidates, ratings), as JSON values.
    """

    move: Move
    why: Why
    score: float | None = None
    depth: int = 0
    nodes: int = 0
    pv: tuple[Move, ...] = ()
    details: dict[str, object] = field(default_factory=dict)


class Player(Protocol):
    """Whoever plays. One object plays one game at a time."""

    name: str

    def begin(self, colour: Colour, rng: np.random.Generator) -> None:
        """A game starts; all chance in it comes from ``rng``."""

    def choose(self, game: Game) -> Decision:
        """The move for the side to move; the game is not over."""

    def observe(self, result: Result) -> None:
        """The game has ended."""


class RandomPlayer:
    """Plays every legal move with equal chance."""

    def __init__(self, name: str = "random") -> None:
        self.name = name
        self._rng: np.random.Generator | None = None

    def begin(self, colour: Colour, rng: np.random.Generator) -> None:
        """A game starts."""
        self._rng = rng

    def choose(self, game: Game) -> Decision:
        """A legal move."""
        moves = game.legal_moves()
        if len(moves) == 1:
            return Decision(moves[0], Why.FORCED)
        if self._rng is None:
            raise RuntimeError("begin() was not called")
        return Decision(moves[int(self._rng.integers(len(moves)))], Why.RANDOM)

    def observe(self, result: Result) -> None:
        """Nothing is learned."""
