"""Commands on experience rules: mine them, look at them, export them (design, section 4)."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from checkers.errors import InputError
from experiments.archive_options import Paths, filter_of, mining_of, with_options
from experiments.console import Bars, Fen, Json, Seed, Workers, show
from experiments.pages import check_page

if TYPE_CHECKING:
    from mining.filters import GameFilter
    from mining.miner import MiningOptions
    from mining.rules import Rule, RuleBase


@with_options(options=mining_of, wanted=filter_of)
def mine(
    *,
    db: Annotated[str, typer.Option(help="Database of the rules: a file or a URL.")],
    files: Annotated[list[Path] | None, typer.Argument(help="PDN files and folders, gzip included.")] = None,
    archive: Annotated[
        str | None, typer.Option(help="Database of an archive: files are added to it, all its games are mined.")
    ] = None,
    unique: Annotated[bool, typer.Option("--unique", help="Games with the same moves count once.")] = False,
    workers: Workers = 1,
    options: MiningOptions,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """Mine an archive for experience rules (CBSS)."""
    from mining.archive import Archive
    from mining.miner import mine_archive, mine_files
    from mining.rules import RuleBase

    if not files and archive is None:
        raise InputError("there is nothing to mine; right would be PDN files, or --archive with a database")
    options = dataclasses.replace(options, unique=unique, filters=wanted.text())
    started, bars = time.perf_counter(), Bars()
    try:
        if archive is None:
            mined = mine_files(files or [], options, filters=wanted, workers=workers, progress=bars)
        else:
            with Archive(archive, create=bool(files)) as opened:
                added = opened.add(files, workers=workers, progress=bars) if files else None
                mined = mine_archive(opened, options, wanted, progress=bars)
                if added:
                    mined = dataclasses.replace(mined, failures=tuple(text for _, text in added.failures))
    finally:
        bars.close()
    report = RuleBase.write(mined, db, seconds=time.perf_counter() - started)
    data = {
        "games": report.games,
        "rejected": report.rejected,
        "skipped": report.skipped,
        "sequences": report.sequences,
        "states": report.states,
        "rules": report.rules,
        "seconds": report.seconds,
        "avoided": report.avoided,
        "failures": list(mined.failures),
    }
    for failure in mined.failures:
        print(f"ace-checkers: not read to its end: {failure}", file=sys.stderr)
    text = f"{report.rules} rules from {report.sequences} games ({report.rejected} rejected) in {report.seconds:.1f} s"
    show(data, text, as_json)


def rules(
    context: typer.Context,
    db: Annotated[str | None, typer.Option(help="Database of the rules: a file or a URL.")] = None,
    fen: Fen = None,
    export: Annotated[str | None, typer.Option(help="Write all rules instead: json, csv, book or pdn.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for --export; default: standard output.")] = None,
    as_json: Json = False,
) -> None:
    """What the experts did in a position, and what they avoided; or all rules for other programs."""
    if context.invoked_subcommand is not None:
        if db is not None or fen is not None or export is not None or out is not None or as_json:
            raise InputError(f"options of rules stand before {context.invoked_subcommand}; right would be behind it")
        return
    if db is None:
        raise InputError("rules needs --db; right would be the database of the rules, a file or a URL")
    from checkers.position import Position
    from mining.rules import RuleBase

    if export is not None:
        _export_rules(RuleBase.open(db), export, out, as_json)
        return
    position = Position.from_fen(fen) if fen is not None else Position.start()
    base = RuleBase.open(db)
    found, avoided = _rule_rows(base.rules(position)), _rule_rows(base.avoided(position))
    text = "{move:>10}  {count:>6} games  +{wins} ={draws} -{losses}  {rating:.2f}"
    lines = [text.format(**row) + (f"  last {row['last_year']}" if row["last_year"] else "") for row in found]
    lines += [text.format(**row) + "  avoided" for row in avoided]
    data = {"fen": position.fen(), "rules": found, "avoided": avoided}
    show(data, "\n".join(lines) or "no rule for this position", as_json)


def _rule_rows(found: Iterable[Rule]) -> list[dict[str, Any]]:
    return [
        {
            "move": str(rule.move),
            "count": rule.count,
            "wins": rule.wins,
            "draws": rule.draws,
            "losses": rule.losses,
            "weight": rule.weight,
            "rating": rule.rating,
            "support": rule.support,
            "confidence": rule.confidence,
            "last_year": rule.last_year,
            "examples": [list(example) for example in rule.examples],
        }
        for rule in found
    ]


def _export_rules(base: RuleBase, form: str, out: Path | None, as_json: bool) -> None:
    from mining.rule_export import export

    text = export(base, form)
    if out is None:
        print(text, end="")
        return
    out.write_text(text, encoding="utf-8")
    show({"file": str(out), "form": form, "rules": len(base)}, f"{out}: {len(base)} rules as {form}", as_json)


@with_options(options=mining_of, wanted=filter_of)
def rules_evaluate(
    *,
    files: Paths,
    folds: Annotated[int, typer.Option(help="Parts of the games; each is held out once.")] = 10,
    judge: Annotated[
        list[str] | None, typer.Option(help="A player whose moves are compared as well; may be repeated.")
    ] = None,
    judge_games: Annotated[int, typer.Option(min=1, help="Games in which judges are asked.")] = 200,
    size: Annotated[
        list[int] | None, typer.Option(help="Games of a point of the learning curve; may be repeated.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with plots to this file (HTML).")] = None,
    seed: Seed = 1,
    workers: Workers = 1,
    options: MiningOptions,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """How good rules are on games that they were not mined from."""
    from experiments.rule_evaluation import SIZES, RuleReport, judge_of
    from mining.holdout import read_games

    check_page(report)
    judges = {specification: judge_of(specification, seed) for specification in judge or ()}
    options = dataclasses.replace(options, unique=True, filters=wanted.text())
    started, bars = time.perf_counter(), Bars()
    try:
        games = read_games(files, plies=options.plies, filters=wanted, workers=workers, progress=bars)
        found = RuleReport.of(
            games, options, folds=folds, seed=seed, judges=judges, judge_games=judge_games,
            sizes=size or SIZES, progress=bars,
        )  # fmt: skip
    finally:
        bars.close()
    if report is not None:
        found.write(report)
    for failure in games.failures:
        print(f"ace-checkers: not read to its end: {failure}", file=sys.stderr)
    data = {
        "options": dataclasses.asdict(options),
        "seed": seed,
        **found.data(),
        "duplicates": games.sequences.duplicates,
        "rejected": games.sequences.rejected,
        "failures": list(games.failures),
        "report": str(report) if report else None,
        "seconds": time.perf_counter() - started,
    }
    show(data, found.text() + (f"\n\nreport: {report}" if report else ""), as_json)


@with_options(options=mining_of, wanted=filter_of)
def rules_curve(
    *,
    files: Paths,
    out: Annotated[Path, typer.Option(help="Folder for the report and all that the run makes.")],
    identity: Annotated[
        Path | None, typer.Option(help="The identity's network (npz); default: one is trained.")
    ] = None,
    training_games: Annotated[int, typer.Option(min=1, help="Games that train the identity.")] = 20_000,
    size: Annotated[list[int] | None, typer.Option(help="Games to mine for a point; may be repeated.")] = None,
    openings: Annotated[int, typer.Option(min=1, max=156, help="Ballots that each match plays twice.")] = 100,
    depth: Annotated[int, typer.Option(min=1, max=30, help="Plies of the identity's search.")] = 4,
    opening_moves: Annotated[int, typer.Option(min=0, help="Own moves in which rules are asked.")] = 10,
    seed: Seed = 1,
    workers: Workers = 2,
    options: MiningOptions,
    wanted: GameFilter,
    as_json: Json = False,
) -> None:
    """The win rate of ACE-RL-Checkers by the number of games its rules come from."""
    from experiments.rule_evaluation import SIZES
    from experiments.rule_learning_curve import config_of, run_curve, table

    options = dataclasses.replace(options, unique=True, filters=wanted.text())
    settings = {"training_games": training_games, "depth": depth, "opening_moves": opening_moves, "openings": openings}
    config = config_of(files, identity, options, sizes=tuple(size or SIZES), seed=seed, **settings)
    bars = Bars()
    try:
        found = run_curve(config, files, identity, out, workers=workers, progress=bars, filters=wanted)
    finally:
        bars.close()
    show(found, f"{table(found['points']).text()}\n\nreport: {found['report']}", as_json)
