"""Which games of an archive are wanted: dates, players, events, results, length, ratings, ballots."""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkers.game import Result
from mining.errors import MiningError

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from mining.archive_schema import ArchivedGame
    from mining.reading import Head

_YEAR_FIRST = re.compile(r"(\d{4})(?:[-./](\d{1,2}|\?+|x+)(?:[-./](\d{1,2}|\?+|x+))?)?", re.IGNORECASE)
_YEAR_LAST = re.compile(r"(\d{1,2})[-./](\d{1,2})[-./](\d{4})")
_YEARS = re.compile(r"(\d{4})\s*[-/]\s*(\d{4})$")


def date_range(text: str) -> tuple[int, int] | None:
    """The first and last day, as numbers YYYYMMDD, that a date may mean; None when it has no year.

    >>> date_range("1905-??-??"), date_range("11.05.2002"), date_range("?")
    ((19050101, 19051231), (20020511, 20020511), None)
    """
    text = text.strip()
    if years := _YEARS.match(text):
        return int(years[1]) * 10000 + 101, int(years[2]) * 10000 + 1231
    if last := _YEAR_LAST.match(text):
        day, month, year = (int(part) for part in last.groups())
        parts: tuple[int, int, int] = (year, month, day)
    elif first := _YEAR_FIRST.search(text):
        parts = (int(first[1]), *(int(part) if part and part.isdigit() else 0 for part in first.groups()[1:]))  # type: ignore[assignment]
    else:
        return None
    year, month, day = parts
    if not 1 <= month <= 12:
        return year * 10000 + 101, year * 10000 + 1231
    if not 1 <= day <= 31:
        return year * 10000 + month * 100 + 1, year * 10000 + month * 100 + 31
    return year * 10000 + month * 100 + day, year * 10000 + month * 100 + day


def name_key(name: str) -> str:
    """A name to compare by: without accents, case and punctuation; empty when it is not known.

    >>> name_key("Tinsley ,M. F."), name_key("?")
    ('tinsley m f', '')
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    letters = (char if char.isalnum() else " " for char in plain if not unicodedata.combining(char))
    return " ".join("".join(letters).split())


@dataclasses.dataclass(frozen=True, slots=True)
class GameFilter:
    """Conditions that a game must meet, all of them; None and empty ones are met by every game.

    Attributes:
        since: a date or year; a game counts when it may have been played then or later. One without a date does not.
        until: a date or year, likewise.
        player: part of the name of one of the players, whatever its case.
        event: part of the name of the event.
        results: PDN results, for example ``1-0``.
        min_plies: the least number of plies.
        max_plies: the greatest.
        min_rating: both players have a rating tag that says at least so much.
        ballots: numbers of three-move ballots (1-174).
    """

    since: str | None = None
    until: str | None = None
    player: str | None = None
    event: str | None = None
    results: Sequence[str] = ()
    min_plies: int | None = None
    max_plies: int | None = None
    min_rating: int | None = None
    ballots: Sequence[int] = ()

    def __post_init__(self) -> None:
        for name, text in (("since", self.since), ("until", self.until)):
            if text is not None and date_range(text) is None:
                raise MiningError(f"{name} is {text!r}; right would be a year or a date such as 1954 or 1954-08-21")
        since, until = self.days
        if since is not None and until is not None and since > until:
            raise MiningError(
                f"since {self.since} is later than until {self.until}; right would be the other way round"
            )
        known = [result.value for result in Result]
        for result in self.results:
            if result not in known:
                raise MiningError(f"result {result!r} is unknown; there are {', '.join(known)}")
        for number in self.ballots:
            if not 1 <= number <= 174:
                raise MiningError(f"ballot {number} is unknown; there are 1 to 174")
        for name in ("player", "event"):
            value = getattr(self, name)
            if value is not None and not name_key(value):
                raise MiningError(f"{name} is {value!r}; right would be part of a name")
        low, high = self.min_plies, self.max_plies
        if (low is not None and low < 0) or (high is not None and high < (low or 0)):
            raise MiningError(f"lengths {low} to {high} hold no game; right would be a range such as 20 to 200")

    @property
    def days(self) -> tuple[int | None, int | None]:
        """First and last day wanted, as numbers YYYYMMDD."""
        since = date_range(self.since) if self.since else None
        until = date_range(self.until) if self.until else None
        return since[0] if since else None, until[1] if until else None

    def __bool__(self) -> bool:
        """Whether there is any condition."""
        return self != GameFilter()

    def text(self) -> str:
        """The conditions as one line of JSON, equal for equal filters."""
        return json.dumps({k: v for k, v in dataclasses.asdict(self).items() if v}, sort_keys=True, default=list)

    def accepts(self, head: Head) -> bool:
        """Whether a game meets the conditions."""
        since, until = self.days
        days = date_range(head.date)
        names = (name_key(head.black), name_key(head.white))
        return not (
            (since is not None and (days is None or days[1] < since))
            or (until is not None and (days is None or days[0] > until))
            or (self.player and not any(name_key(self.player) in name for name in names))
            or (self.event and name_key(self.event) not in name_key(head.event))
            or (self.results and head.result.value not in self.results)
            or (self.min_plies is not None and head.plies < self.min_plies)
            or (self.max_plies is not None and head.plies > self.max_plies)
            or (self.min_rating is not None and (head.rating is None or head.rating < self.min_rating))
            or (self.ballots and head.ballot not in self.ballots)
        )

    def where(self, game: type[ArchivedGame]) -> list[ColumnElement[bool]]:
        """The same conditions in SQL."""
        since, until = self.days
        clauses: list[ColumnElement[bool]] = []
        if since is not None:
            clauses.append(game.date_to >= since)
        if until is not None:
            clauses.append(game.date_from <= until)
        if self.player:
            key = name_key(self.player)
            clauses.append(
                game.black_key.contains(key, autoescape=True) | game.white_key.contains(key, autoescape=True)
            )
        if self.event:
            clauses.append(game.event_key.contains(name_key(self.event), autoescape=True))
        if self.results:
            clauses.append(game.result.in_(list(self.results)))
        if self.min_plies is not None:
            clauses.append(game.plies >= self.min_plies)
        if self.max_plies is not None:
            clauses.append(game.plies <= self.max_plies)
        if self.min_rating is not None:
            clauses.append(game.rating >= self.min_rating)
        if self.ballots:
            clauses.append(game.ballot.in_(list(self.ballots)))
        return clauses
