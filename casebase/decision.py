"""MoveDecision: the dynamic module, the experience rules, the static identity (theory.md 2.1, 2.3, 2.9)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from casebase.elicitation import Candidate, Library, OwnGame, consult
from checkers.errors import SpecificationError
from checkers.game import Game, Result
from checkers.moves import Move
from checkers.players import Decision, Why
from checkers.position import Colour, Position

if TYPE_CHECKING:
    import numpy as np

#: What a rule must offer: ``action`` (a move's code) and ``rating``.
RuleLike = Candidate


class Identity(Protocol):
    """A static player's opinion of the moves of a position."""

    def clear(self) -> None:
        """Forget what earlier games left behind, so that a game does not depend on them."""

    def root_scores(self, game: Game) -> Mapping[int, float]:
        """Move code to score, from the mover's side, of every legal move."""


class Rules(Protocol):
    """Experience rules."""

    def rules(self, position: Position) -> Sequence[RuleLike]:
        """The rules of a position, best first."""


class AceRlPlayer:
    """ACE-RL-Checkers' player (theory.md 2.9): cases, then rules in the opening, then the identity's good moves.

    The plain identity is this player without library and rules and with ``delta=0``.

    Args:
        library: cases against the opponent; None to play without.
        identity: scores moves, which guides exploration.
        rules: experience rules; None to play without.
        opening_moves: rules are asked for the agent's first so many moves of the game, its number counted on the board.
        delta: how far below the best score an explored move may be.
        temperature: of the choice among those moves; 0 takes the best.
        learn: whether finished games are retained.
        name: the player's name.

    Raises:
        SpecificationError: a number is negative or not finite.
    """

    def __init__(
        self,
        library: Library | None,
        identity: Identity,
        *,
        rules: Rules | None = None,
        opening_moves: int = 10,
        delta: float = 0.05,
        temperature: float = 0.05,
        learn: bool = True,
        name: str = "ace-rl",
    ) -> None:
        for key, value in (("opening_moves", opening_moves), ("delta", delta), ("temperature", temperature)):
            if not (math.isfinite(value) and value >= 0):
                raise SpecificationError(f"ace-rl: {key} is {value}; right would be a number, 0 or more")
        self.name = name
        self.learn = learn
        self._library = library
        self._identity = identity
        self._rules = rules
        self._opening_moves = opening_moves
        self._delta = delta
        self._temperature = temperature
        self._own = OwnGame()

    @property
    def counts(self) -> Counter[Why]:
        """This game's moves by source; they stay until the next game begins."""
        return self._own.counts

    def begin(self, colour: Colour, rng: np.random.Generator) -> None:
        """A game starts."""
        self._own.begin(colour, rng)
        self._identity.clear()

    def choose(self, game: Game) -> Decision:
        """The move; ``details`` holds the cases and rules that were thought of and the identity's candidates."""
        return self._own.note(game, self._decide(game))

    def observe(self, result: Result) -> None:
        """The game has ended: its cases are made and rated."""
        self._own.end(result, self._library if self.learn else None)

    def _decide(self, game: Game) -> Decision:
        moves = game.legal_moves()
        if len(moves) == 1:
            return Decision(moves[0], Why.FORCED)
        legal = {move.code: move for move in moves}
        details: dict[str, object] = {"own_move": len(game.moves) // 2 + 1}
        cases = self._library.retrieve(game.position) if self._library is not None else []
        if self._library is not None:
            accepted, details["cases"] = consult(cases, legal, self._own.rng)
            if accepted is not None:
                return Decision(accepted, Why.CASE, details=details)
        if self._rules is not None and len(game.moves) // 2 < self._opening_moves:
            accepted, details["rules"] = consult(self._rules.rules(game.position), legal, self._own.rng)
            if accepted is not None:
                return Decision(accepted, Why.RULE, details=details)
        return self._by_identity(game, legal, {case.action for case in cases}, details)

    def _by_identity(
        self, game: Game, legal: Mapping[int, Move], tried: set[int], details: dict[str, object]
    ) -> Decision:
        """One of the untried moves that the identity finds good, or its best move when there is none."""
        given = self._identity.root_scores(game)
        scores = {code: float(given[code]) for code in sorted(legal)}
        best = max(scores.values())
        good = {code: score for code, score in scores.items() if code not in tried and score >= best - self._delta}
        if not good:
            good = {_argmax(scores): best}
        chances = softmax(list(good.values()), self._temperature)
        code = _draw(list(good), chances, self._own.rng)
        details["identity"] = [
            {"move": str(legal[key]), "score": scores[key], "chance": chance}
            for key, chance in zip(good, chances, strict=True)
        ]
        return Decision(legal[code], Why.IDENTITY, score=scores[code], pv=(legal[code],), details=details)


def softmax(scores: Sequence[float], temperature: float) -> list[float]:
    """Chances in proportion to exp(score / temperature); with temperature 0, all on the first of the best."""
    best = max(scores)
    if temperature == 0:
        first = scores.index(best)
        return [float(i == first) for i in range(len(scores))]
    weights = [math.exp((score - best) / temperature) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def _argmax(scores: Mapping[int, float]) -> int:
    """The action with the best score, the lowest of equals."""
    return min(scores, key=lambda code: (-scores[code], code))


def _draw(actions: Sequence[int], chances: Sequence[float], rng: np.random.Generator) -> int:
    """An action by chance; none is drawn where one is certain."""
    certain = [action for action, chance in zip(actions, chances, strict=True) if chance == 1.0]
    if certain:
        return certain[0]
    left = rng.random()
    for action, chance in zip(actions, chances, strict=True):
        left -= chance
        if left < 0:
            return action
    return actions[chances.index(max(chances))]  # the chances' sum fell short of 1 by rounding
