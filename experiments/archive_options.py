"""Options that say which games of an archive are wanted; several commands share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mining.filters import GameFilter

_PANEL = "Which games"


def _option(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_PANEL, show_default=False, **more)


Since = Annotated[str | None, _option("Played then or later: 1954 or 1954-08-21.")]
Until = Annotated[str | None, _option("Played then or before.")]
PlayedBy = Annotated[str | None, _option("Part of a player's name.", "--player")]
Event = Annotated[str | None, _option("Part of the event's name.")]
Results = Annotated[list[str] | None, _option("A result: 1-0 (Black won), 0-1, 1/2-1/2; may be repeated.", "--result")]
MinPlies = Annotated[int | None, _option("At least so many plies.")]
MaxPlies = Annotated[int | None, _option("At most so many plies.")]
MinRating = Annotated[int | None, _option("Both players' rating tags say at least this.")]
Ballots = Annotated[list[int] | None, _option("Number of a three-move ballot; may be repeated.", "--ballot")]


def filter_of(
    since: str | None,
    until: str | None,
    player: str | None,
    event: str | None,
    result: list[str] | None,
    min_plies: int | None,
    max_plies: int | None,
    min_rating: int | None,
    ballot: list[int] | None,
) -> GameFilter:
    """The filter that the options describe."""
    from mining.filters import GameFilter

    return GameFilter(
        since, until, player, event, tuple(result or ()), min_plies, max_plies, min_rating, tuple(ballot or ())
    )
