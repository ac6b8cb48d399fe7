"""The command that tunes the reference evaluation."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from checkers.errors import InputError
from experiments.commands_endgame import open_database
from experiments.console import Bars, Files, Json, Seed, Workers, show


def tune_reference(
    files: Files,
    out: Annotated[Path, typer.Option(help="The weights' file (JSON).")],
    games: Annotated[int, typer.Option(min=0, max=1_000_000, help="Training games of a round.")] = 5000,
    rounds: Annotated[int, typer.Option(min=0, max=100, help="Rounds of training games.")] = 2,
    depth: Annotated[int, typer.Option(min=1, max=12, help="Plies of the search that plays them.")] = 5,
    pieces: Annotated[int, typer.Option(help="Pieces of the endgame database that ends them, 2 to 5.")] = 5,
    seed: Seed = 1,
    workers: Workers = 1,
    as_json: Json = False,
) -> None:
    """Tune the reference evaluation on archives and training games."""
    from checkers.reference_weights import weights_text
    from experiments.tuning import TuningOptions, tune

    if out.is_dir() or not out.absolute().parent.is_dir():
        raise InputError(f"--out {out} cannot be written; right would be a file in a folder that exists")
    options = TuningOptions(seed=seed, rounds=rounds if games else 0, games=games, depth=depth, ending_depth=depth)
    started, bars = time.perf_counter(), Bars()
    try:
        stages = tune(files, open_database(pieces, None), options, workers=workers, progress=bars)
    finally:
        bars.close()
    figures = [stage.figures() for stage in stages]
    source = {"archives": [file.name for file in files], "pieces": pieces, **options._asdict(), "stages": figures}
    out.write_text(weights_text(stages[-1].weights, source), encoding="utf-8")
    lines = ["{positions} positions, log loss {log_loss} (even: {even_loss})".format(**stage) for stage in figures]
    seconds = time.perf_counter() - started
    show({"weights": str(out), **source, "seconds": seconds}, "\n".join([*lines, f"{out}: {seconds:.1f} s"]), as_json)
