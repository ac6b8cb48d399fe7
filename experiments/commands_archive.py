"""Commands on archives of games in a database: add, stats, openings, player."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.archive_options import Db, Paths, filter_of, with_options
from experiments.console import Bars, Json, Workers, show
from experiments.pages import check_page

if TYPE_CHECKING:
    from mining.filters import GameFilter
    from mining.statistics import OpeningNode, Score


@with_options(wanted=filter_of)
def archive_add(
    *,
    files: Paths,
    db: Db,
    workers: Workers = 1,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """Add PDN files to an archive; one that is there already changes nothing, one that was interrupted goes on."""
    from mining.archive import Archive

    bars = Bars()
    with Archive(db) as archive:
        try:
            report = archive.add(files, workers=workers, filters=wanted, progress=bars)
        finally:
            bars.close()
        data: dict[str, Any] = {**dataclasses.asdict(report), "total": len(archive)}
    lines = [
        f"{report.games} games added from {report.files} files ({report.known} known already), {data['total']} in all",
        f"{report.rejected} records rejected, {report.filtered} games not wanted",
        f"{report.exact} games repeat an earlier one, {report.near} nearly",
        *(f"not read to its end: {message}" for _, message in report.failures),
    ]
    show(data, "\n".join(lines), as_json)


@with_options(wanted=filter_of)
def archive_stats(
    *,
    db: Db,
    shared_by: Annotated[int, typer.Option(min=2, help="The longest line that so many games share.")] = 2,
    top: Annotated[int, typer.Option(min=1, help="Rows of the table of ballots.")] = 10,
    near: Annotated[bool, typer.Option("--near", help="List the games that nearly repeat earlier ones.")] = False,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """Games, results, years, duplicates, most played ballots and the longest shared line."""
    from mining.archive import Archive
    from mining.errors import MiningError
    from mining.statistics import archive_statistics, ballots, longest_shared_line

    with Archive(db, create=False) as archive:
        data = archive_statistics(archive, wanted)
        data["ballots"] = [
            {"ballot": number, **_score(score)} for number, score in ballots(archive, filters=wanted)[:top]
        ]
        try:
            line = longest_shared_line(archive, games=shared_by, filters=wanted)
            data["shared_line"] = {"moves": [str(move) for move in line.moves], "games": [list(g) for g in line.games]}
        except MiningError:  # too few games for one
            data["shared_line"] = None
        repeated = [dataclasses.asdict(game) for game in archive.duplicates(near=True)] if near else []
        data["near_duplicates"] = repeated
    years = "-".join(str(year) for year in data["years"] if year is not None) or "no dates"
    copies, shared = data["duplicates"], data["shared_line"]
    lines = [
        f"{data['games']} games, {data['plies']} plies, {data['states']} states, {data['players']} players, {years}",
        "results: " + ", ".join(f"{count} {name}" for name, count in sorted(data["results"].items())),
        f"{copies['exact']} games repeat an earlier one, {copies['near']} nearly; {data['rejected']} records rejected",
        *(f"ballot {row['ballot']:>3}  {_figures(row)}" for row in data["ballots"]),
        f"longest line that {shared_by} games share: {len(shared['moves'])} plies" if shared else "no shared line",
        *(
            f"{row['file']} {row['number']} is {row['original_file']} {row['original_number']} "
            f"but for {row['difference']} plies"
            for row in repeated
        ),
    ]
    show(data, "\n".join(lines), as_json)


@with_options(wanted=filter_of)
def archive_openings(
    *,
    db: Db,
    plies: Annotated[int, typer.Option(min=1, max=40, help="Depth of the tree.")] = 3,
    min_games: Annotated[int, typer.Option(min=1, help="A line must be in so many games.")] = 10,
    unique: Annotated[bool, typer.Option("--unique", help="Games with the same moves count once.")] = False,
    years: Annotated[bool, typer.Option("--years", help="Print results by year as well.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with a picture of the tree to this file (HTML).")
    ] = None,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """The tree of openings with results, by year on request."""
    from mining.archive import Archive
    from mining.errors import MiningError
    from mining.statistics import ballots, longest_shared_line, opening_tree

    check_page(report)
    with Archive(db, create=False) as archive:
        root = opening_tree(archive, plies=plies, min_games=min_games, filters=wanted, unique=unique)
        if report is not None:
            from experiments.opening_picture import write_openings

            try:
                shared = longest_shared_line(archive, filters=wanted)
            except MiningError:  # too few games for one
                shared = None
            write_openings(report, root, ballots=ballots(archive, filters=wanted), shared=shared)
    show(_tree(root), "\n".join(_branches(root, "", years)) or "no opening with so many games", as_json)


@with_options(wanted=filter_of)
def archive_player(
    *,
    name: Annotated[str, typer.Argument(help="Part of the player's name.", show_default=False)],
    db: Db,
    top: Annotated[int, typer.Option(min=1, help="Rows of each table.")] = 10,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """A player's score, openings, years and opponents."""
    from mining.archive import Archive
    from mining.statistics import player_profile

    with Archive(db, create=False) as archive:
        profile = player_profile(archive, name, filters=wanted)
    openings = [{"colour": colour, "opening": opening, **_score(score)} for colour, opening, score in profile.openings]
    data = {
        "names": profile.names,
        "games": profile.games,
        "score": profile.score,
        "black": _score(profile.black),
        "white": _score(profile.white),
        "openings": openings,
        "years": {str(year): list(results) for year, results in profile.years.items()},
        "opponents": profile.opponents,
    }
    lines = [
        f"{', '.join(profile.names)}: {profile.games} games, {profile.score:.1%}",
        f"with Black  {_figures(data['black'])}",
        f"with White  {_figures(data['white'])}",
        *(f"{row['colour']:>5}  {row['opening']:<24}  {_figures(row)}" for row in openings[:top]),
        *(f"{year}  +{wins} ={draws} -{losses}" for year, (wins, draws, losses) in profile.years.items()),
        *(f"{count:>5} games against {other}" for other, count in list(profile.opponents.items())[:top]),
    ]
    show(data, "\n".join(lines), as_json)


def _score(score: Score) -> dict[str, int]:
    return {"games": score.games, **dataclasses.asdict(score)}


def _figures(row: Any) -> str:
    """Results in words: wins of Black, draws, wins of White."""
    return f"{row['games']:>6} games  {row['black_wins']} Black, {row['draws']} drawn, {row['white_wins']} White"


def _tree(node: OpeningNode) -> dict[str, Any]:
    return {
        "move": None if node.move is None else str(node.move),
        **_score(node.score),
        "years": {str(year): _score(score) for year, score in sorted(node.years.items())},
        "next": [_tree(child) for child in node.best_first()],
    }


def _branches(node: OpeningNode, indent: str, years: bool) -> Iterator[str]:
    for child in node.best_first():
        yield f"{indent}{child.move!s:<8}{_figures(_score(child.score))}"
        if years:
            yield from (f"{indent}    {year}  {_figures(_score(score))}" for year, score in sorted(child.years.items()))
        yield from _branches(child, indent + "  ", years)
