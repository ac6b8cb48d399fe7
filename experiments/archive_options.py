"""Options that several commands on archives share: which games are wanted, and how they are mined.

A command takes them as one value each: ``@with_options(wanted=filter_of)`` gives it the options of :func:`filter_of`
in place of its parameter ``wanted``, and calls it with what they make.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mining.filters import GameFilter
    from mining.miner import MiningOptions

Paths = Annotated[list[Path], typer.Argument(help="PDN files and folders, gzip included.", show_default=False)]
Db = Annotated[str, typer.Option(help="Database of the archive: a file or a URL.")]

_PANEL = "Which games"


def _option(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_PANEL, show_default=False, **more)


def filter_of(
    since: Annotated[str | None, _option("Played then or later: 1954 or 1954-08-21.")] = None,
    until: Annotated[str | None, _option("Played then or before.")] = None,
    player: Annotated[str | None, _option("Part of a player's name.")] = None,
    event: Annotated[str | None, _option("Part of the event's name.")] = None,
    result: Annotated[
        list[str] | None, _option("A result: 1-0 (Black won), 0-1, 1/2-1/2; may be repeated.", "--result")
    ] = None,
    min_plies: Annotated[int | None, _option("At least so many plies.")] = None,
    max_plies: Annotated[int | None, _option("At most so many plies.")] = None,
    min_rating: Annotated[int | None, _option("Both players' rating tags say at least this.")] = None,
    ballot: Annotated[list[int] | None, _option("Number of a three-move ballot; may be repeated.", "--ballot")] = None,
) -> GameFilter:
    """The filter that the options describe."""
    from mining.filters import GameFilter

    return GameFilter(
        since, until, player, event, tuple(result or ()), min_plies, max_plies, min_rating, tuple(ballot or ())
    )


def mining_of(
    min_count: Annotated[int, typer.Option(max=1_000_000_000, help="A move must occur so often.")] = 2,
    plies: Annotated[int, typer.Option(min=1, max=10_000, help="Only the first so many plies of a game.")] = 24,
    cycles: Annotated[
        bool, typer.Option("--cycles/--no-cycles", help="Delete what lies between two visits of a state.")
    ] = True,
    sign: Annotated[str, typer.Option(help="Net weight of a move: w+d-l, or w-l.")] = "w+d-l",
    merge_colours: Annotated[bool, typer.Option("--merge-colours", help="Count White's moves as Black's.")] = False,
) -> MiningOptions:
    """How games are mined; that games come once, and which are wanted, is said elsewhere."""
    from mining.miner import options_of

    return options_of(min_count, plies, False, cycles, sign, merge_colours, None)


def with_options(**groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command, for each of its parameters named, the options of a function that makes its value.

    The options come last but for ``--json``; two groups may not share a name.
    """

    def change(command: Callable[..., None]) -> Callable[..., None]:
        own = [one for one in inspect.signature(command).parameters.values() if one.name not in groups]
        evaluated = _evaluated(command, own)
        options = {name: _evaluated(make, inspect.signature(make).parameters.values()) for name, make in groups.items()}
        added = [one for group in options.values() for one in group]
        last = [one for one in evaluated if one.name == "as_json"]
        parameters = [*(one for one in evaluated if one.name != "as_json"), *added, *last]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            made = {
                name: groups[name](**{one.name: values.pop(one.name) for one in group})
                for name, group in options.items()
            }
            command(**values, **made)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return change


def _evaluated(function: Any, parameters: typing.Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """Parameters to be given by name, their annotations as values."""
    kept = {one.name: one for one in parameters}
    hints = typing.get_type_hints(
        SimpleNamespace(__annotations__={name: one.annotation for name, one in kept.items()}),
        function.__globals__,
        include_extras=True,
    )
    return [one.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY) for name, one in kept.items()]
