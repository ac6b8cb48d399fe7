"""The win rate of ACE-RL-Checkers by the number of games its rules were mined from (theory.md 2.9, 3.11).

The agent's library stays empty and it does not learn, so that rules and identity alone decide: this is the cold start
that rules are to cure. Every agent plays the plain identity over the same openings with both colours; the sets of games
are chosen at random, a larger one holds the smaller ones. Each match is a unit of work in the run store of the output
folder, so that a curve that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from checkers.errors import InputError
from checkers.openings import openings_named
from experiments.demo import REPORTED_VERSIONS, archive_names, only_one
from experiments.matches import MatchTask, play_task
from experiments.pages import Section, Table, plot, write_page
from experiments.parallel import run_tasks
from experiments.report import number, p_value, percent, span
from experiments.statistics import holm, wilcoxon_paired
from experiments.store import GameRecord, RunStore
from learners.network import Network
from learners.td import TDLearner
from mining.files import pdn_files
from mining.holdout import GameSet, read_games
from mining.miner import MiningOptions, mine_sequences
from mining.rules import RuleBase

Progress = Callable[[str, int, int], None]


class CurveConfig(BaseModel):
    """Everything that a curve depends on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(default=1, ge=0)
    archive: tuple[str, ...] = Field(description="PDN files, by name and hash")
    identity: str = Field(description="the identity's file, by hash; empty: one is trained")
    filters: str = Field(default="{}", description="the games that were wanted")
    sizes: tuple[int, ...] = (100, 500, 1000, 3000, 7000)
    min_count: int = Field(default=2, ge=1)
    plies: int = Field(default=24, ge=1)
    remove_cycles: bool = True
    sign: str = "w+d-l"
    merge_colours: bool = False
    training_games: int = Field(default=20_000, ge=1)
    depth: int = Field(default=4, ge=1, le=30)
    opening_moves: int = Field(default=10, ge=0)
    openings: int = Field(default=100, ge=1)

    def options(self) -> MiningOptions:
        """How rules are mined."""
        how = self.model_dump(include={"min_count", "plies", "remove_cycles", "sign", "merge_colours", "filters"})
        return MiningOptions(unique=True, **how)


class LearningCurve:
    """One curve in an output folder.

    Args:
        config: what is run.
        games: the different games of the archive.
        identity: the file of the network that decides where no rule does; None trains one.
        out: the folder for rules, network, run store and report.
        workers: matches at the same time.
        progress: called with a stage's name, how much of it is done, and how much there is.
    """

    def __init__(
        self,
        config: CurveConfig,
        games: GameSet,
        identity: Path | None,
        out: Path,
        *,
        workers: int = 1,
        progress: Progress = lambda *_: None,
    ) -> None:
        if any(size < 1 for size in config.sizes):
            raise InputError(f"sizes are {config.sizes}; right would be numbers of games from 1 on")
        self.config = config
        self.games = games
        self.identity = identity
        self.out = out
        self.workers = workers
        self.progress = progress
        self.sizes = sorted({min(size, len(games)) for size in config.sizes})
        self.folder = out  # set when the run is known: runs may share ``out``, not their files

    def run(self) -> dict[str, Any]:
        """Do what is not done yet; write the report; return the results."""
        started = time.perf_counter()
        if self.out.exists() and not self.out.is_dir():
            raise InputError(f"--out {self.out} is a file; right would be a folder")
        self.config.options().check()
        self.out.mkdir(parents=True, exist_ok=True)
        versions = {name: version(name) for name in REPORTED_VERSIONS}
        config = self.config.model_dump(mode="json")
        with only_one(self.out), RunStore(f"sqlite:///{self.out / 'runs.db'}") as store:
            run_id = store.find_resumable("rule learning curve", config, versions)
            if run_id is None:
                run_id = store.create("rule learning curve", self.config.seed, config, versions)
            self.folder = self.out / f"run-{run_id}"
            self.folder.mkdir(exist_ok=True)
            rules = self._stage(store, run_id, "rules", self._mine)
            self._stage(store, run_id, "identity", self._train)
            points = self._points(rules, self._matches(store, run_id))
            page = self.out / "report.html"
            results = {"points": points, "config": config, "games": len(self.games), "report": str(page)}
            write_page(page, "Win rate by the number of games mined", sections(results))
            store.finish(run_id, results)
        return {**results, "seconds": time.perf_counter() - started}

    def _stage(self, store: RunStore, run_id: int, key: str, work: Callable[[], Any]) -> Any:
        payload = store.unit(run_id, key)
        if payload is None:
            payload = work()
            store.finish_unit(run_id, key, payload)
        return payload

    def _seed(self, key: str) -> np.random.SeedSequence:
        return np.random.SeedSequence([self.config.seed, *key.encode()])

    def _mine(self) -> dict[str, int]:
        """Rule bases of the sizes; how many rules each holds."""
        order = np.random.default_rng(self._seed("games")).permutation(len(self.games))
        rules: dict[str, int] = {}
        for done, size in enumerate(self.sizes):
            self.progress("mine the rules", done, len(self.sizes))
            chosen = np.zeros(len(self.games), bool)
            chosen[order[:size]] = True
            mined = mine_sequences(self.games.sequences, self.config.options(), chosen)
            rules[str(size)] = RuleBase.write(mined, str(self._rules(size))).rules
        self.progress("mine the rules", len(self.sizes), len(self.sizes))
        return rules

    def _train(self) -> dict[str, Any]:
        """The identity as a file of the run."""
        path = self.folder / "identity.npz"
        if self.identity is not None:
            Network.load(self.identity).save(path)
            return {"trained": 0}
        learner, done = TDLearner(games=self.config.training_games), 0

        def played(games: int) -> None:
            nonlocal done
            done += games
            self.progress("train the identity", done, learner.games)

        positions = [ballot.position() for ballot in openings_named("three-move")]
        learner.fit(positions, self._seed("identity"), progress=played).network_.save(path)
        return {"trained": learner.games}

    def _rules(self, size: int) -> Path:
        return self.folder / f"rules-{size}.db"

    def _task(self, size: int) -> MatchTask:
        """The match of the agent with rules from so many games, 0 for none, against the plain identity."""
        config, network = self.config, self.folder / "identity.npz"
        rules = f',rules="{self._rules(size)}"' if size else ""
        agent = (
            f'ace-rl:identity="{network}"{rules},depth={config.depth},opening_moves={config.opening_moves},'
            f'learn=false,name="{_name(size)}"'
        )
        identity = f'network:file="{network}",depth={config.depth},name=identity'
        return MatchTask(agent, identity, config.seed, config.openings, 2 * config.openings)

    def _matches(self, store: RunStore, run_id: int) -> dict[int, dict[str, Any]]:
        tasks = {size: self._task(size) for size in (0, *self.sizes)}
        finished = store.units(run_id)
        todo = [task for task in tasks.values() if task.key not in finished]
        done = len(tasks) - len(todo)
        self.progress("play the matches", done, len(tasks))
        outcomes = run_tasks(play_task, todo, workers=min(self.workers, max(len(todo), 1)), prefer="processes")
        for task, outcome in zip(todo, outcomes, strict=True):
            store.finish_unit(run_id, task.key, outcome.matches, [GameRecord(*game) for game in outcome.games])
            done += 1
            self.progress("play the matches", done, len(tasks))
        finished = store.units(run_id)
        return {size: finished[task.key][0] for size, task in tasks.items()}

    def _points(self, rules: dict[str, int], matches: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
        """One row per size; those with rules are compared with the one without, opening by opening."""
        without = matches[0]["opening_points"]
        tests = {size: wilcoxon_paired(matches[size]["opening_points"], without) for size in self.sizes}
        adjusted = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
        points = []
        for size, match in matches.items():
            row: dict[str, Any] = {"games_mined": size, "rules": rules.get(str(size), 0)}
            row |= {key: match[key] for key in ("games", "wins", "draws", "losses", "score", "score_interval")}
            row["rule_moves"] = match["decisions"].get("rule", 0) / match["games"]
            row |= {"p_holm": adjusted.get(size), "effect": tests[size].effect if size in tests else None}
            points.append(row)
        return points


def _name(size: int) -> str:
    return f"rules of {size} games" if size else "no rules"


def config_of(files: Sequence[Path], identity: Path | None, options: MiningOptions, **settings: Any) -> CurveConfig:
    """The configuration of a curve; files are told apart by their bytes.

    Raises:
        InputError: the identity's file is not a network.
    """
    digest = ""
    if identity is not None:
        Network.load(identity)
        digest = hashlib.sha256(identity.read_bytes()).hexdigest()[:16]
    return CurveConfig(
        archive=archive_names(pdn_files(files)),
        identity=digest,
        filters=options.filters,
        min_count=options.min_count,
        plies=options.plies or 10_000,
        remove_cycles=options.remove_cycles,
        sign=options.sign,
        merge_colours=options.merge_colours,
        **settings,
    )


def run_curve(
    config: CurveConfig,
    files: Sequence[Path],
    identity: Path | None,
    out: Path,
    *,
    workers: int = 1,
    progress: Progress = lambda *_: None,
    **reading: Any,
) -> dict[str, Any]:
    """Read the archive and run the curve; ``reading`` goes to :func:`mining.holdout.read_games`.

    Raises:
        InputError: a file or an option is wrong.
    """
    games = read_games(files, plies=config.plies, workers=workers, progress=progress, **reading)
    return LearningCurve(config, games, identity, out, workers=workers, progress=progress).run()


def table(points: Sequence[dict[str, Any]]) -> Table:
    """The curve as a table."""
    header = ["games mined", "rules", "played", "+", "=", "-", "score", "95%", "rule moves a game", "p (Holm)"]
    rows = [
        [
            number(point["games_mined"]),
            number(point["rules"]),
            *(number(point[key]) for key in ("games", "wins", "draws", "losses")),
            percent(point["score"]),
            span(*point["score_interval"]),
            f"{point['rule_moves']:.2f}",
            p_value(point["p_holm"]),
        ]
        for point in points
    ]
    caption = "Score against the plain identity; p of the paired Wilcoxon test over openings against no rules"
    return Table(caption, header, rows)


def sections(results: dict[str, Any]) -> list[Section]:
    """The report's sections."""
    points = results["points"]
    how = (
        "Every agent has an empty library and does not learn; it plays the plain identity, its own network, over the "
        "same openings with both colours. Intervals resample openings; the games that were mined are one random "
        "choice, and how much another choice would change is not in them."
    )
    whose = (
        "MoveDecision and the rules' rating are our own reading (theory.md 2.9, 3.11): no published result is claimed."
    )
    return [Section("Curve", [how, whose], [_drawing(points)], [table(points)])]


def _drawing(points: Sequence[dict[str, Any]]) -> Any:
    from matplotlib.ticker import PercentFormatter

    from experiments.plots import COLOURS

    def paint(axes: Any) -> None:
        x = range(len(points))
        scores = [point["score"] for point in points]
        below = [point["score"] - point["score_interval"][0] for point in points]
        above = [point["score_interval"][1] - point["score"] for point in points]
        axes.axhline(0.5, color="#555555", linestyle="--", linewidth=1)
        axes.errorbar(x, scores, (below, above), color=COLOURS[0], marker="o", capsize=3)
        axes.set_xticks(x, [number(point["games_mined"]) for point in points])
        axes.set(xlabel="games mined", ylabel="score", ylim=(-0.02, 1.02))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))

    text = "Score against the plain identity with its 95% interval, by the number of games mined."
    return plot("Score by games mined", text, "curve", paint)
