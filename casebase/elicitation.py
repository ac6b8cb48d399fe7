"""The cycle of Automatic Case Elicitation and the CHEBR player (theory.md 1.6, 1.7, 1.11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from casebase.library import RetrievedCase, Step
from checkers.game import Game, Result
from checkers.moves import Move
from checkers.players import Decision, Why
from checkers.position import Colour, Position

if TYPE_CHECKING:
    import numpy as np


class Library(Protocol):
    """What the players ask of a :class:`casebase.library.CaseLibrary`."""

    def retrieve(self, position: Position) -> list[RetrievedCase]:
        """The cases of a position, best first."""

    def retain(self, steps: Sequence[Step], points: float, *, colour: Colour, plies: int = 0) -> int:
        """Learn from a finished game."""


class Candidate(Protocol):
    """A case or an experience rule: an action (a move's code) and its rating."""

    @property
    def action(self) -> int:
        """Code of the move."""

    @property
    def rating(self) -> float:
        """How well it has done; its part in [0, 1] is the chance that it is accepted."""


def consult(
    candidates: Iterable[Candidate], legal: Mapping[int, Move], rng: np.random.Generator
) -> tuple[Move | None, list[dict[str, object]]]:
    """Try the candidates in turn, each accepted with the chance min(1, rating) (theory.md 1.11, 2.9).

    A candidate whose action is not legal is passed over.

    Returns:
        The accepted move or None, and for every candidate its move, rating, counts where it has them, and the verdict:
        accepted, refused, illegal, or not tried.
    """
    accepted: Move | None = None
    told: list[dict[str, object]] = []
    for candidate in candidates:
        move = legal.get(candidate.action)
        if move is None:
            verdict = "illegal"
        elif accepted is not None:
            verdict = "not tried"
        elif rng.random() < min(1.0, candidate.rating):
            accepted, verdict = move, "accepted"
        else:
            verdict = "refused"
        counts = {key: getattr(candidate, key) for key in ("wins", "draws", "losses") if hasattr(candidate, key)}
        shown = str(move or Move.from_code(candidate.action))
        told.append({"move": shown, "rating": candidate.rating, **counts, "verdict": verdict})
    return accepted, told


class OwnGame:
    """What an agent did in the game it plays: its moves, where each came from, and the chance it draws on.

    Attributes:
        counts: the agent's moves by source; they stay until the next game begins.
    """

    def __init__(self) -> None:
        self.counts: Counter[Why] = Counter()
        self._colour: Colour | None = None
        self._rng: np.random.Generator | None = None
        self._steps: dict[int, Step] = {}
        self._game: Game | None = None

    def begin(self, colour: Colour, rng: np.random.Generator) -> None:
        """A game starts."""
        self._colour, self._rng = colour, rng
        self._steps, self._game = {}, None
        self.counts = Counter()

    @property
    def rng(self) -> np.random.Generator:
        """The game's generator."""
        if self._rng is None:
            raise RuntimeError("begin() was not called")
        return self._rng

    def note(self, game: Game, decision: Decision) -> Decision:
        """Write down the decision on the position of ``game``; a second one there replaces the first."""
        self._game = game
        self._steps[len(game.moves)] = (game.position, decision.move.code, decision.why)
        self.counts = Counter(why for _, _, why in self._steps.values())
        return decision

    def end(self, result: Result, library: Library | None) -> None:
        """The game has ended; the library, if any, learns from it. An unfinished game teaches nothing."""
        if library is not None and result is not Result.UNFINISHED and self._colour is not None:
            plies = len(self._game.moves) if self._game is not None else 0
            library.retain(list(self._steps.values()), result.points(self._colour), colour=self._colour, plies=plies)
        self._steps, self._game, self._colour = {}, None, None


class ChebrPlayer:
    """CHEBR (theory.md 1.11): reuses the cases of the position, explores untried moves where none is accepted.

    Args:
        library: where cases come from and go to.
        learn: whether finished games are retained.
        name: the player's name.
    """

    def __init__(self, library: Library, *, learn: bool = True, name: str = "chebr") -> None:
        self.name = name
        self.learn = learn
        self._library = library
        self._own = OwnGame()

    @property
    def counts(self) -> Counter[Why]:
        """This game's moves by source; they stay until the next game begins."""
        return self._own.counts

    def begin(self, colour: Colour, rng: np.random.Generator) -> None:
        """A game starts."""
        self._own.begin(colour, rng)

    def choose(self, game: Game) -> Decision:
        """A case's action, or an untried move at random; ``details["cases"]`` tells what was thought of."""
        return self._own.note(game, self._decide(game))

    def _decide(self, game: Game) -> Decision:
        moves = game.legal_moves()
        if len(moves) == 1:
            return Decision(moves[0], Why.FORCED)
        cases = self._library.retrieve(game.position)
        accepted, told = consult(cases, {move.code: move for move in moves}, self._own.rng)
        details: dict[str, object] = {"cases": told}
        if accepted is not None:
            return Decision(accepted, Why.CASE, details=details)
        tried = {case.action for case in cases}
        open_moves = [move for move in moves if move.code not in tried] or moves
        return Decision(open_moves[int(self._own.rng.integers(len(open_moves)))], Why.EXPLORED, details=details)

    def observe(self, result: Result) -> None:
        """The game has ended: its cases are made and rated."""
        self._own.end(result, self._library if self.learn else None)
