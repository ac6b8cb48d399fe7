"""Players: the protocol, decisions and their reasons, the random and the searching player (design, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from checkers.game import Game, Result
from checkers.moves import Move
from checkers.position import Colour

if TYPE_CHECKING:
    import numpy as np

    from checkers.evaluation import Evaluation


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


class SearchPlayer:
    """Plays the best move of a fixed-depth search: predictable, the same move for the same board (theory.md 2.2).

    Its search forgets everything at the start of a game, so that a game does not depend on those before it.
    """

    def __init__(self, name: str, evaluation: Evaluation, depth: int) -> None:
        from checkers.search import Searcher

        self.name = name
        self._searcher = Searcher(evaluation, depth, table_bits=table_bits_for(depth))

    def begin(self, colour: Colour, rng: np.random.Generator) -> None:
        """A game starts."""
        self._searcher.clear()

    def choose(self, game: Game) -> Decision:
        """The best move; a forced one is not searched."""
        moves = game.legal_moves()
        if len(moves) == 1:
            return Decision(moves[0], Why.FORCED)
        found = self._searcher.search(game.position, game=game)
        return Decision(found.move, Why.SEARCHED, found.score, found.depth, found.nodes, found.pv)

    def observe(self, result: Result) -> None:
        """Nothing is learned."""


class SearchIdentity:
    """The static module of ACE-RL-Checkers: scores of all moves by a fixed-depth search (theory.md 2.9).

    Scores within ``window`` of the best are exact, the others upper bounds; ``window`` should be the agent's delta.
    """

    def __init__(self, evaluation: Evaluation, depth: int, window: float = 0.05) -> None:
        from checkers.search import Searcher

        self._searcher = Searcher(evaluation, depth, table_bits=table_bits_for(depth))
        # a little wider, so that a mere bound never equals the lowest score that the agent accepts
        self._window = window + 1e-4 * max(1.0, window)

    def clear(self) -> None:
        """Forget all positions, at the start of a game."""
        self._searcher.clear()

    def root_scores(self, game: Game) -> dict[int, float]:
        """Score of every legal move, by code, from the mover's side."""
        return self._searcher.search(game.position, window=self._window, game=game).scores


def table_bits_for(depth: int) -> int:
    """A transposition table large enough for searches of this depth, and quickly cleared for shallow ones."""
    return min(max(10 + depth, 12), 20)
