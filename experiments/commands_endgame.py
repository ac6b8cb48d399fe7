"""Commands about endgame databases (design, section 4)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.console import Json, counting, show

if TYPE_CHECKING:
    from checkers.endgame import EndgameDatabase

Pieces = Annotated[int, typer.Option(help="Most pieces on the board, 2 to 5.")]
Database = Annotated[Path | None, typer.Option("--file", help="The database's file; default: in the user's cache.")]


def default_file(pieces: int) -> Path:
    """Where a database stands when no file is named."""
    from checkers.jit import cache_root

    return cache_root() / f"endgames-{pieces}.egdb"


def egdb_build(pieces: Pieces = 4, file: Database = None, as_json: Json = False) -> None:
    """Build the database of all positions with few pieces."""
    from checkers.endgame import EndgameDatabase, slices_up_to

    path = file or default_file(pieces)
    started = time.perf_counter()
    with counting("endgame slices", len(slices_up_to(pieces))) as built:
        database = EndgameDatabase.build(path, pieces, progress=built)
    data = {
        "file": str(path),
        "pieces": pieces,
        "positions": sum(row.total for row in database.statistics()),
        "bytes": path.stat().st_size,
        "seconds": time.perf_counter() - started,
    }
    show(data, f"{path}: {data['positions']} positions, {data['bytes']} bytes, {data['seconds']:.1f} s", as_json)


def egdb_stats(pieces: Pieces = 4, file: Database = None, as_json: Json = False) -> None:
    """Counts of every slice; builds the database when it is missing."""
    rows = [row._asdict() for row in open_database(pieces, file).statistics()]
    lines = [
        "{slice:<12}{total:>12}{wins:>12}{draws:>12}{losses:>12}{longest_win:>6}{longest_loss:>6}".format(**row)
        for row in rows
    ]
    show({"slices": rows}, "\n".join(lines), as_json)


def egdb_probe(
    fen: Annotated[str, typer.Argument(help="Position, for example W:WK32:BK5.")],
    pieces: Pieces = 4,
    file: Database = None,
    as_json: Json = False,
) -> None:
    """Outcome and distance of a position; builds the database when it is missing."""
    from checkers.errors import InputError
    from checkers.position import Position

    position = Position.from_fen(fen)
    database = open_database(pieces, file)
    found = database.probe(position)
    if found is None:
        raise InputError(
            f"{fen} is not in the database; right would be both colours and at most {database.pieces} pieces"
        )
    data = {"fen": position.fen(), "value": found.outcome.value, "plies": found.plies, "score": found.score}
    show(data, found.outcome.value + ("" if found.plies is None else f" in {found.plies} plies"), as_json)


def open_database(pieces: int, file: Path | None) -> EndgameDatabase:
    """The database of that file, or the one in the user's cache, built when it is missing."""
    from checkers.endgame import EndgameDatabase, slices_up_to

    path = file or default_file(pieces)
    if file is not None or path.exists():
        return EndgameDatabase.open(path)
    with counting("endgame slices", len(slices_up_to(pieces))) as built:
        return EndgameDatabase.build(path, pieces, progress=built)
