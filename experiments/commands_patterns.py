"""Commands on what games of an archive have in common: lines, plans, and where a game is new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from checkers.errors import InputError
from experiments.archive_options import Db, Paths, filter_of, with_options
from experiments.console import Json, show

if TYPE_CHECKING:
    from mining.filters import GameFilter

Plies = Annotated[int, typer.Option(min=1, max=10_000, help="Only the first so many plies of a game.")]
Unique = Annotated[bool, typer.Option("--unique", help="Games with the same moves count once.")]
_SIDES = {"black": 0, "white": 1}


@with_options(wanted=filter_of)
def archive_lines(
    *,
    db: Db,
    min_count: Annotated[int, typer.Option(help="A line must occur so often.")] = 10,
    min_plies_of_line: Annotated[int, typer.Option("--shortest", help="Plies of a line, at least.")] = 4,
    max_plies_of_line: Annotated[int, typer.Option("--longest", max=200, help="Plies of a line, at most.")] = 12,
    every: Annotated[bool, typer.Option("--all", help="Those too that a longer line explains.")] = False,
    top: Annotated[int, typer.Option(min=1, help="At most so many lines.")] = 20,
    plies: Plies = 24,
    unique: Unique = False,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """Frequent lines: positions that follow each other in many games, the longest first."""
    import numpy as np

    from mining.archive import Archive
    from mining.lines import frequent_lines
    from mining.sequences import position_of

    with Archive(db, create=False) as archive:
        found = frequent_lines(
            lambda: archive.batches(plies=plies, unique=unique, filters=wanted),
            min_count=min_count,
            min_plies=min_plies_of_line,
            max_plies=max_plies_of_line,
            closed=not every,
            top=top,
        )
        starts = archive.states(np.array([line.states[0] for line in found], np.int64))
    rows: list[dict[str, Any]] = [
        {
            "fen": position_of(start).fen(),
            "moves": [str(move) for move in line.moves],
            "count": line.count,
            "wins": line.wins,
            "draws": line.draws,
            "losses": line.losses,
            "closed": line.closed,
        }
        for line, start in zip(found, starts, strict=True)
    ]
    lines = [
        f"{row['count']:>6} times  +{row['wins']} ={row['draws']} -{row['losses']}  {' '.join(row['moves'])}"
        f"  from {row['fen']}"
        for row in rows
    ]
    show({"lines": rows}, "\n".join(lines) or "no line occurs so often", as_json)


@with_options(wanted=filter_of)
def archive_plans(
    *,
    db: Db,
    top: Annotated[int, typer.Option(help="How many plans.")] = 20,
    side: Annotated[str | None, typer.Option(help="Only the moves of black, or of white.")] = None,
    merge_colours: Annotated[bool, typer.Option("--merge-colours", help="Count White's moves as Black's.")] = False,
    min_moves: Annotated[int, typer.Option(help="Moves of a plan, at least.")] = 3,
    max_moves: Annotated[int, typer.Option(help="Moves of a plan, at most.")] = 5,
    closed: Annotated[bool, typer.Option("--closed", help="Only plans that no longer one explains.")] = False,
    plies: Plies = 24,
    unique: Unique = False,
    max_sequences: Annotated[int, typer.Option(help="Look at so many sequences at most; a game has two.")] = 100_000,
    seconds: Annotated[float, typer.Option(min=0.0, help="The search ends then, with what it has.")] = 60.0,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """Plans: moves that one side makes in order, with others between them (PrefixSpan)."""
    from mining.archive import Archive
    from mining.lines import plans

    if side is not None and side not in _SIDES:
        raise InputError(f"--side {side} is unknown; there are {', '.join(_SIDES)}")
    with Archive(db, create=False) as archive:
        found = plans(
            archive.batches(plies=plies, unique=unique, remove_cycles=False, filters=wanted),
            archive.sides,
            top=top,
            side=None if side is None else _SIDES[side],
            merge_colours=merge_colours,
            min_moves=min_moves,
            max_moves=max_moves,
            closed=closed,
            max_sequences=max_sequences,
            seconds=seconds,
        )
    rows: list[dict[str, Any]] = [
        {"moves": [str(move) for move in plan.moves], "games": plan.games} for plan in found.plans
    ]
    data = {"plans": rows, "sequences": found.sequences, "complete": found.complete}
    lines = [f"{row['games']:>6}  {' '.join(row['moves'])}" for row in rows]
    end = "" if found.complete else "; the limits of time or sequences ended the search"
    lines.append(f"in {found.sequences} sequences of one side's moves{end}")
    show(data, "\n".join(lines), as_json)


def archive_novelty(
    files: Paths,
    db: Db,
    as_json: Json = False,
) -> None:
    """Where games leave an archive: the first ply whose position no other game of it has."""
    from checkers.pdn import Rejection, read_pdn
    from mining.archive import Archive
    from mining.files import pdn_files
    from mining.statistics import novelty

    rows: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    with Archive(db, create=False) as archive:
        for path in pdn_files(files):
            for record in read_pdn(path):
                if isinstance(record, Rejection):
                    rejected.append({"file": record.file, "number": record.number, "reason": record.reason})
                    continue
                found = novelty(archive, record)
                rows.append(
                    {
                        "file": record.file,
                        "number": record.number,
                        "plies": len(record.codes),
                        "ply": found.ply,
                        "move": None if found.move is None else str(found.move),
                        "before": found.before,
                    }
                )
    if not rows:
        reason = f" ({rejected[0]['reason']})" if rejected else ""
        raise InputError(f"no game can be used{reason}; right would be a game of English checkers")
    lines = [
        f"{row['file']} {row['number']}: "
        + (
            f"new at ply {row['ply']}, {row['move']}; other visits of the position before it: {row['before']}"
            if row["ply"]
            else f"all {row['plies']} plies are known"
        )
        for row in rows
    ]
    lines += [f"{row['file']} {row['number']}: rejected, {row['reason']}" for row in rejected]
    show({"games": rows, "rejected": rejected}, "\n".join(lines), as_json)
