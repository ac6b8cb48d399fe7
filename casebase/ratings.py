"""Ratings of cases: Decaying Memory, General Positive Memory, Upper Confidence Memory (theory.md 1.10)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol

from checkers.errors import SpecificationError


@dataclass(slots=True)
class CaseStatistics:
    """What came of the games a case was applied in: their number by result, and Decaying Memory's running value."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    memory: float = 0.0

    @property
    def uses(self) -> int:
        """Number of games the case was applied in, n of theory.md 1.10."""
        return self.wins + self.draws + self.losses

    def add(self, points: float, memory: DecayingMemory) -> None:
        """Count one more game: 1 point for a win, 0.5 for a draw, 0 for a loss."""
        self.memory = memory.remember(self.memory if self.uses else None, points)
        wins, draws, losses = outcome(points)
        self.wins += wins
        self.draws += draws
        self.losses += losses


def outcome(points: float) -> tuple[int, int, int]:
    """A game's points as a count of wins, draws and losses."""
    if points not in (0.0, 0.5, 1.0):
        raise ValueError(f"a game gives 1, 0.5 or 0 points, not {points!r}")
    return int(points == 1.0), int(points == 0.5), int(points == 0.0)


class Rating(Protocol):
    """How well a case has done, as a number whose part in [0, 1] is the chance that the case is accepted."""

    name: ClassVar[str]

    def rating(self, statistics: CaseStatistics, position_uses: int) -> float:
        """The rating of a case with at least one use; ``position_uses`` is N(s), the uses of all cases there."""


@dataclass(frozen=True, slots=True)
class DecayingMemory:
    """DM (theory.md 1.10): R = (1 - alpha) R + alpha s; the first game's outcome is the first rating.

    Attributes:
        alpha: weight of the latest game, in (0, 1].
        draw: what a draw counts, in [0, 1].
    """

    name: ClassVar[str] = "dm"
    alpha: float = 0.5
    draw: float = 0.5

    def __post_init__(self) -> None:
        _check("dm", "alpha", self.alpha, above=0.0)
        _check("dm", "draw", self.draw)

    def value(self, points: float) -> float:
        """What a game with these points counts."""
        return self.draw if points == 0.5 else points

    def remember(self, memory: float | None, points: float) -> float:
        """The running value after one more game; None before the first."""
        value = self.value(points)
        return value if memory is None else memory * (1.0 - self.alpha) + self.alpha * value

    def rating(self, statistics: CaseStatistics, position_uses: int) -> float:
        """The running value."""
        return statistics.memory


@dataclass(frozen=True, slots=True)
class GeneralPositiveMemory:
    """GPM (theory.md 1.10): the share of positive results in all games, (w + draw d) / n.

    Attributes:
        draw: what a draw counts, in [0, 1]; 0 for wins only.
        smoothing: Laplace's, (w + draw d + 1) / (n + 2).
    """

    name: ClassVar[str] = "gpm"
    draw: float = 0.5
    smoothing: bool = False

    def __post_init__(self) -> None:
        _check("gpm", "draw", self.draw)
        if not isinstance(self.smoothing, bool):
            raise SpecificationError(f"gpm: smoothing is {self.smoothing!r}; right would be true or false")

    def rating(self, statistics: CaseStatistics, position_uses: int) -> float:
        """The share of positive results."""
        positive = statistics.wins + self.draw * statistics.draws
        return (positive + 1.0) / (statistics.uses + 2) if self.smoothing else positive / statistics.uses


@dataclass(frozen=True, slots=True)
class UpperConfidenceMemory:
    """UCM (theory.md 1.10): GPM's share and c sqrt(ln N(s) / n); may exceed 1.

    Attributes:
        c: weight of the confidence term, 0 or more; sqrt(2) is UCB1.
        draw: what a draw counts, in [0, 1].
    """

    name: ClassVar[str] = "ucm"
    c: float = 0.5
    draw: float = 0.5

    def __post_init__(self) -> None:
        _check("ucm", "c", self.c, most=math.inf)
        _check("ucm", "draw", self.draw)

    def rating(self, statistics: CaseStatistics, position_uses: int) -> float:
        """The share of positive results and its confidence term."""
        uses = statistics.uses
        positive = statistics.wins + self.draw * statistics.draws
        return positive / uses + self.c * math.sqrt(math.log(position_uses) / uses)


RatingClass = type[DecayingMemory] | type[GeneralPositiveMemory] | type[UpperConfidenceMemory]
RATINGS: dict[str, RatingClass] = {
    kind.name: kind for kind in (DecayingMemory, GeneralPositiveMemory, UpperConfidenceMemory)
}


def rating_named(name: str, /, **constants: float | bool) -> Rating:
    """The rating ``dm``, ``gpm`` or ``ucm`` with these constants.

    Raises:
        SpecificationError: the name, a constant's name or its value is wrong.
    """
    kind = RATINGS.get(name)
    if kind is None:
        raise SpecificationError(f"rating {name!r} is unknown; right would be {', '.join(RATINGS)}")
    known = [field.name for field in fields(kind)]
    for key in constants:
        if key not in known:
            raise SpecificationError(f"rating {name} has no constant {key!r}; right would be {', '.join(known)}")
    make: type = kind
    rating: Rating = make(**constants)
    return rating


def _check(rating: str, key: str, value: float, *, above: float | None = None, most: float = 1.0) -> None:
    """Refuse a constant outside [0, most], or outside (above, most]."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not 0.0 <= value <= most or (above is not None and value <= above):
        least = "0 or more" if above is None else f"more than {above:g}"
        limit = "" if math.isinf(most) else f" and at most {most:g}"
        raise SpecificationError(f"{rating}: {key} is {value!r}; right would be a number, {least}{limit}")
