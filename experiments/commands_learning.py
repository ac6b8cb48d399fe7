"""Commands that train, evolve and elicit, the demo, and the shipped archive (design, section 4)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from checkers.errors import InputError
from experiments.console import Bars, Json, Seed, Workers, counting, match_table, show


def demo(
    archive: Annotated[list[Path] | None, typer.Option(help="PDN files to mine; default: the shipped games.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report and all that the run makes.")] = Path("demo-out"),
    seed: Seed = 1,
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """The main job on a small scale: mine, evolve, train, elicit, tournament, report."""
    from experiments.demo import SHIPPED_ARCHIVE, Demo, DemoConfig, archive_names

    files = archive or [SHIPPED_ARCHIVE]
    bars = Bars()
    try:
        results = Demo(
            DemoConfig(seed=seed, archive=archive_names(files)), files, out, workers=workers, progress=bars
        ).run()
    finally:
        bars.close()
    summary = {
        "report": results["report"],
        "rules": results["rules"]["rules"],
        "cases": {m["players"][0]: m["cases"] for m in results["matches"] if m["cases"] is not None},
        "archive": results["archive"],
        "features": results["training"]["features"],
        "matches": results["matches"],
        "comparisons": results["comparisons"],
        "ratings": results["ratings"],
        "seed": seed,
        "seconds": results["seconds"],
    }
    show(summary, match_table(results["matches"]) + f"\n\nreport: {results['report']}", as_json)


def train(
    out: Annotated[Path, typer.Option(help="The network's file (npz).")],
    games: Annotated[int, typer.Option(min=1, help="Training games.")] = 20_000,
    depth: Annotated[int, typer.Option(min=1, max=12, help="Plies of the search that plays them.")] = 1,
    hidden: Annotated[int, typer.Option(min=1, max=1024, help="Hidden units.")] = 20,
    feature: Annotated[list[str] | None, typer.Option(help="A feature's name; default: Lynch's twelve.")] = None,
    decay: Annotated[float, typer.Option(help="λ of the eligibility trace.")] = 0.8,
    gamma: Annotated[float, typer.Option(help="Discount of the next value.")] = 1.0,
    learning_rate: Annotated[float, typer.Option(help="Factor on the rates 1/inputs and 1/hidden.")] = 0.05,
    openings: Annotated[str, typer.Option(help="Openings of the games.")] = "three-move",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Train a network by TD(λ) self-play."""
    import numpy as np

    from checkers.openings import openings_named
    from learners.network import LYNCH_FEATURES
    from learners.td import TDLearner

    learner = TDLearner(
        features=feature or LYNCH_FEATURES,
        hidden=hidden,
        games=games,
        depth=depth,
        decay=decay,
        gamma=gamma,
        learning_rate=learning_rate,
    )
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise InputError(f"--out {out} cannot be written; right would be a file in a folder that exists")
    positions = [ballot.position() for ballot in openings_named(openings)]
    started = time.perf_counter()
    with counting("training games", games) as played:
        learner.fit(positions, np.random.SeedSequence(seed), progress=played)
    learner.network_.save(out)
    clones = learner.curve_[-1].clones
    data = {"network": str(out), "games": games, "clones": clones, "seconds": time.perf_counter() - started}
    show(data, f"{out}: {games} games, {clones} clones, {data['seconds']:.1f} s", as_json)


def evolve_features(
    out: Annotated[Path, typer.Option(help="Folder for the best network.")],
    population: Annotated[int, typer.Option(help="Individuals, an even number.")] = 10,
    generations: Annotated[int, typer.Option(min=0, help="Generations after the first.")] = 5,
    games: Annotated[int, typer.Option(min=1, help="Training games of an individual.")] = 2_000,
    seed: Seed = 1,
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """Evolve feature sets; each is rated by the network that TD(λ) trains on it."""
    import numpy as np

    from checkers.openings import openings_named
    from experiments.parallel import thread_map
    from learners.evolution import FeatureEvolution
    from learners.td import TDLearner

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; right would be a folder for the network")
    evolution = FeatureEvolution(population=population, generations=generations, learner=TDLearner(games=games))
    out.mkdir(parents=True, exist_ok=True)
    positions = [ballot.position() for ballot in openings_named("three-move")]
    started = time.perf_counter()
    with counting("individuals", population * (generations + 1)) as trained:
        evolution.run(positions, np.random.SeedSequence(seed), parallel=thread_map(workers), progress=trained)
    network = evolution.best_.network
    if network is not None:
        network.save(out / "evolved.npz")
    names = list(evolution.names(evolution.best_))
    data = {
        "best": {"features": names, "points": evolution.best_.fitness.values[0], "network": str(out / "evolved.npz")},
        "generations": [row._asdict() for row in evolution.logbook_],
        "survival": evolution.survival(),
        "evaluations": sum(row.evaluations for row in evolution.logbook_),
        "seconds": time.perf_counter() - started,
    }
    show(data, f"{', '.join(names)}\n{out / 'evolved.npz'}: {data['seconds']:.1f} s", as_json)


def cases_stats(
    db: Annotated[str, typer.Option(help="Database of the case library: a file or a URL.")], as_json: Json = False
) -> None:
    """Opponents, cases, games, and where the cases came from."""
    from casebase.library import library_statistics

    data = library_statistics(db)
    profiles: Any = data["opponents"]
    lines = [
        f"{profile['opponent']}: {profile['cases']} cases, {profile['games']} games "
        f"+{profile['wins']} ={profile['draws']} -{profile['losses']}"
        for profile in profiles
    ]
    show(data, "\n".join(lines) or "no opponent yet", as_json)


def archive_make(
    out: Annotated[Path, typer.Option(help="The PDN file; .gz is compressed.")],
    depth: Annotated[int, typer.Option(min=1, max=20, help="Plies of the search that plays.")] = 9,
    networks: Annotated[int, typer.Option(min=2, help="Networks that are trained and play each other.")] = 3,
    training_games: Annotated[int, typer.Option(min=1, help="Training games of each network.")] = 60_000,
    seed: Seed = 2016,
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """Make an archive of our own games from the three-move ballots; the shipped one is made with the defaults."""
    from experiments.archive_making import make_archive

    bars = Bars()
    started = time.perf_counter()
    try:
        made = make_archive(
            out,
            depth=depth,
            networks=networks,
            training_games=training_games,
            seed=seed,
            workers=workers,
            progress=bars,
        )
    finally:
        bars.close()
    data = {"file": str(out), "games": made, "seconds": time.perf_counter() - started}
    show(data, f"{out}: {made} games, {data['seconds']:.0f} s", as_json)
