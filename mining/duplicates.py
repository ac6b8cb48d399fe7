"""How much two games differ, in plies: to find games that stand twice in archives with small changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mining.filters import date_range, name_key

if TYPE_CHECKING:
    from mining.reading import Head

#: Games that differ in at most so many plies are reported as near duplicates.
NEAR_PLIES = 4


def meeting_of(head: Head) -> str | None:
    """Both players and the date, equal where these are; None unless all are known."""
    players = sorted((name_key(head.black), name_key(head.white)))
    return "\n".join((*players, head.date)) if all(players) and date_range(head.date) else None


def difference(one: Sequence[int], other: Sequence[int], limit: int) -> int:
    """The least number of plies to insert, delete or change that makes one game the other; ``limit`` if not fewer.

    >>> difference([1, 2, 3, 4], [1, 3, 4], 5)
    1
    """
    if abs(len(one) - len(other)) >= limit:
        return limit
    begin, end = 0, 0
    shorter = min(len(one), len(other))
    while begin < shorter and one[begin] == other[begin]:
        begin += 1
    while end < shorter - begin and one[-1 - end] == other[-1 - end]:
        end += 1
    a, b = one[begin : len(one) - end], other[begin : len(other) - end]
    if not a or not b:
        return min(len(a) + len(b), limit)
    first, second = set(a), set(b)
    if max(len(first - second), len(second - first)) >= limit:
        return limit
    return _distance(a, b, limit)


def _distance(a: Sequence[int], b: Sequence[int], limit: int) -> int:
    """Levenshtein's distance within a band of ``limit`` diagonals on both sides."""
    above = list(range(len(b) + 1))
    for i, move in enumerate(a, 1):
        low, high = max(1, i - limit), min(len(b), i + limit)
        row = [limit] * (len(b) + 1)
        row[0] = i
        for j in range(low, high + 1):
            row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (move != b[j - 1]))
        if min(row[low - 1 : high + 1]) >= limit:
            return limit
        above = row
    return min(above[-1], limit)
