"""Shares with intervals when games, not moves, are independent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mining.sequences import Ids

#: The normal quantile of a 95% interval.
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Rate:
    """A share and its 95% interval; None for both where nothing was counted.

    Attributes:
        hits: how often it was so.
        of: how often it might have been.
        low, high: the interval.
    """

    hits: int
    of: int
    low: float | None
    high: float | None

    @property
    def share(self) -> float | None:
        """Hits of all, None for none."""
        return self.hits / self.of if self.of else None


def rate(game: Ids, hit: NDArray[np.bool_]) -> Rate:
    """The share of hits among observations of games, (observations,) each.

    Wilson's (1927) interval with an effective number of observations, as Korn and Graubard (1998) do with Clopper and
    Pearson's: the number that would give independent observations the variance of the ratio of the games' sums. With
    one observation per game it is Wilson's interval as it stands.
    """
    of, hits = len(hit), int(hit.sum())
    if not of:
        return Rate(0, 0, None, None)
    share = hits / of
    sums = _by_game(game, hit - share)
    variance = float(sums @ sums) / of**2
    games = len(sums)
    # where all observations agree nothing shows how they hang together, so each game is counted once
    effective = min(share * (1 - share) / variance, of) if variance > 0 else games
    centre = (share + Z**2 / (2 * effective)) / (1 + Z**2 / effective)
    half = Z / (1 + Z**2 / effective) * math.sqrt(share * (1 - share) / effective + (Z / (2 * effective)) ** 2)
    return Rate(hits, of, min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share))


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two shares over the same observations, and its 95% interval."""

    value: float
    low: float
    high: float


def difference(game: Ids, hit: NDArray[np.bool_], other: NDArray[np.bool_]) -> Difference | None:
    """Share of ``hit`` less share of ``other``, paired, games independent; None without observations.

    The interval is the normal one of the ratio of the games' sums (Cochran 1977, chapter 6).
    """
    of = len(hit)
    if not of:
        return None
    paired = hit.astype(np.float64) - other
    value = float(paired.mean())
    sums = _by_game(game, paired - value)
    half = Z * math.sqrt(float(sums @ sums)) / of
    return Difference(value, value - half, value + half)


def _by_game(game: Ids, values: NDArray[Any]) -> NDArray[np.float64]:
    """The sum of each game's values."""
    return np.asarray(np.bincount(np.unique(game, return_inverse=True)[1], values), np.float64)
