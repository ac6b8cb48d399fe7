"""A game: start, moves, result and tags; it knows when it is over (theory.md 7.5, 10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum

from checkers.draws import THESIS, DrawPolicy
from checkers.errors import InputError
from checkers.moves import Move, play
from checkers.position import Colour, Position


class Result(Enum):
    """How a game ended; the value is its PDN text, where ``1-0`` is a win of the side that starts, Black."""

    BLACK_WINS = "1-0"
    WHITE_WINS = "0-1"
    DRAW = "1/2-1/2"
    UNFINISHED = "*"

    @classmethod
    def win(cls, colour: Colour) -> Result:
        """The result in which ``colour`` wins."""
        return cls.WHITE_WINS if colour else cls.BLACK_WINS

    def points(self, colour: Colour) -> float:
        """1 for a win of ``colour``, 0.5 for a draw, 0 for a loss."""
        if self is Result.UNFINISHED:
            raise ValueError("an unfinished game has no points")
        return 0.5 if self is Result.DRAW else float(self is Result.win(colour))


class Game:
    """A game in progress or on record.

    Attributes:
        start: the position it starts from.
        policy: the draw policy it is played under.
        tags: PDN tags, in order.
        moves: the moves made.
        positions: the positions, the start first; one more than moves.
    """

    def __init__(
        self, start: Position | None = None, *, policy: DrawPolicy = THESIS, tags: dict[str, str] | None = None
    ) -> None:
        self.start = start or Position.start()
        self.policy = policy
        self.tags = dict(tags or {})
        self.moves: list[Move] = []
        self.positions: list[Position] = [self.start]
        self._result = Result.UNFINISHED
        self._reason = ""
        self._seen = Counter((self.start,))
        self._quiet_plies = 0
        self._undone = [0, 0]  # moves in a row by which each side took back its move before
        self._legal: list[Move] | None = None

    @classmethod
    def of(cls, moves: Iterable[Move], start: Position | None = None, policy: DrawPolicy = THESIS) -> Game:
        """A game with these moves made."""
        game = cls(start, policy=policy)
        for move in moves:
            game.play(move)
        return game

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self.positions[-1]

    @property
    def side(self) -> Colour:
        """The side to move."""
        return self.position.side

    @property
    def quiet_plies(self) -> int:
        """Plies since the last capture or advance of a man."""
        return self._quiet_plies

    def legal_moves(self) -> list[Move]:
        """The legal moves on the board, found once per position."""
        if self._legal is None:
            self._legal = self.position.legal_moves()
        return self._legal

    def play(self, move: Move) -> None:
        """Make a legal move."""
        position = play(self.position, move)
        side = self.side
        man = not self.position.kings >> (move.origin - 1) & 1
        self._quiet_plies = 0 if man or move.captures else self._quiet_plies + 1
        before = self.moves[-2] if len(self.moves) > 1 else None
        undoes = before is not None and not move.captures and move.path == before.path[::-1]
        self._undone[side] = self._undone[side] + 1 if undoes else 0
        self.moves.append(move)
        self.positions.append(position)
        self._seen[position] += 1
        self._legal = None

    def finish(self, result: Result, reason: str) -> None:
        """End the game from outside, with a record's own result for example; an earlier result is replaced."""
        self._result, self._reason = result, reason

    def resign(self, colour: Colour) -> None:
        """``colour`` gives up; raise :class:`InputError` when the game is over."""
        self._close(Result.win(colour.other), f"{colour.name.capitalize()} resigned")

    def agree_draw(self) -> None:
        """Both sides agree to a draw; raise :class:`InputError` when the game is over."""
        self._close(Result.DRAW, "draw agreed")

    def adjudicate(self, result: Result) -> None:
        """A third party decides; raise :class:`InputError` when the game is over or ``result`` decides nothing."""
        if result is Result.UNFINISHED:
            raise InputError("an adjudication to '*' decides nothing; right would be 1-0, 0-1 or 1/2-1/2")
        self._close(result, "adjudicated")

    def _close(self, result: Result, reason: str) -> None:
        if self.is_over:
            raise InputError(f"the game is over: {self.result.value}, {self.reason}; it cannot end again ({reason})")
        self.finish(result, reason)

    @property
    def result(self) -> Result:
        """The result, from outside (:meth:`finish` and its kin), by the rules, or by the draw policy."""
        if self._result is Result.UNFINISHED:
            self._result, self._reason = self._outcome()
        return self._result

    @property
    def reason(self) -> str:
        """Why the game has ended, in a few words; empty while it goes on."""
        return self._reason if self.result is not Result.UNFINISHED else ""

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.result is not Result.UNFINISHED

    def _outcome(self) -> tuple[Result, str]:
        if not self.legal_moves():
            return Result.win(self.side.other), "no move left"
        policy = self.policy
        if policy.shuttle and min(self._undone) >= policy.shuttle - 1:
            return Result.DRAW, f"both sides' last {policy.shuttle} moves go back and forth"
        if policy.repetition and self._seen[self.position] >= policy.repetition:
            return Result.DRAW, f"position repeated {policy.repetition} times"
        if policy.quiet_moves and self._quiet_plies >= 2 * policy.quiet_moves:
            return Result.DRAW, f"{policy.quiet_moves} moves of each side without progress"
        if policy.max_moves and len(self.moves) > 2 * policy.max_moves:
            return Result.DRAW, f"more than {policy.max_moves} moves of each side"
        return Result.UNFINISHED, ""
