"""The main job on a small scale: mine, evolve, train, elicit, tournament, report (theory.md 2.10).

Each stage is a unit of work in the run store of the output folder, with a seed of its own derived from the run's: a
demo that was killed goes on with the first unit that is missing, and the result does not depend on the workers.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from checkers.errors import InputError
from checkers.openings import openings_named
from checkers.pdn import Record, Rejection, check, read_pdn
from experiments.matches import RATINGS, MatchTask, play_task
from experiments.parallel import run_tasks, thread_map
from experiments.report import write_report
from experiments.statistics import bradley_terry, holm, wilcoxon_paired
from experiments.store import GameRecord, RunStore
from learners.evolution import FeatureEvolution
from learners.network import LYNCH_FEATURES, Network
from learners.td import TDLearner
from mining.rules import RuleBase

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]

SHIPPED_ARCHIVE = Path(__file__).parent / "data" / "ballots.pdn.gz"
REPORTED_VERSIONS = ("ace-rl-checkers", "deap", "numba", "numpy", "prefixspan", "scipy", "sqlalchemy")

Progress = Callable[[str, int, int], None]


class DemoConfig(BaseModel):
    """Everything that a demo's result depends on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(default=1, ge=0)
    archive: tuple[str, ...] = Field(description="PDN files, by name and hash")
    min_count: int = Field(default=2, ge=1)
    rule_plies: int = Field(default=24, ge=1)
    population: int = Field(default=6, ge=2)
    generations: int = Field(default=2, ge=0)
    individual_games: int = Field(default=1_500, ge=1)
    training_games: int = Field(default=20_000, ge=1)
    depth: int = Field(default=4, ge=1)
    opening_moves: int = Field(default=10, ge=0)
    elicitation_openings: int = Field(default=25, ge=1)
    elicitation_games: int = Field(default=400, ge=2)
    tournament_games: int = Field(default=100, ge=2)


def archive_names(files: Sequence[Path]) -> tuple[str, ...]:
    """What tells archives apart: names of the files and a hash of their bytes; a missing file has none."""
    return tuple(
        f"{file.name} sha256:{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}" if file.is_file() else file.name
        for file in files
    )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; whoever comes second is refused. A killed process holds nothing."""
    with (folder / ".lock").open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"{folder}: another demo is at work there; right would be another --out") from None
        yield


class Demo:
    """One demo in an output folder.

    Args:
        config: what is run.
        files: the archive's files.
        out: the folder for the report, the run store, networks, rules and case libraries.
        workers: tasks at the same time.
        progress: called with a stage's name, how much of it is done, and how much there is.
    """

    def __init__(
        self, config: DemoConfig, files: Sequence[Path], out: Path, *, workers: int, progress: Progress
    ) -> None:
        self.config = config
        self.files = files
        self.out = out
        self.workers = workers
        self.progress = progress
        self.openings = openings_named("three-move")
        self.files_of_run = out  # set when the run is known: runs may share ``out``, not their files
        self.positions = [ballot.position() for ballot in self.openings]

    def run(self) -> dict[str, Any]:
        """Do what is not done yet; write the report; return the results."""
        started = time.perf_counter()
        if self.out.exists() and not self.out.is_dir():
            raise InputError(f"{self.out} is a file; right would be a folder for the report")
        archive = self._check_archive()  # before anything is made: a bad archive leaves nothing behind
        self.out.mkdir(parents=True, exist_ok=True)
        versions = {name: version(name) for name in REPORTED_VERSIONS}
        config = self.config.model_dump(mode="json")
        with only_one(self.out), RunStore(f"sqlite:///{self.out / 'runs.db'}") as store:
            run_id = store.find_resumable("demo", config, versions)
            if run_id is None:
                run_id = store.create("demo", self.config.seed, config, versions)
            self.files_of_run = self.out / f"run-{run_id}"
            self.files_of_run.mkdir(exist_ok=True)
            results: dict[str, Any] = {
                "title": "ACE-RL-Checkers: demo",
                "command": self._command(),
                "seed": self.config.seed,
                "config": config,
                "versions": versions,
                "archive": archive,
                "rules": self._stage(store, run_id, "rules", self._mine),
                "evolution": self._stage(store, run_id, "evolution", self._evolve),
                "training": self._stage(store, run_id, "training", self._train),
            }
            results["matches"] = self._matches(store, run_id)
            results["comparisons"] = comparisons(results["matches"])
            results["ratings"] = ratings(results["matches"])
            results["seconds"] = time.perf_counter() - started
            results["report"] = str(write_report(results, self.out))
            store.finish(run_id, results)
        return results

    def _command(self) -> str:
        files = "" if self.files == [SHIPPED_ARCHIVE] else "".join(f" --archive {file}" for file in self.files)
        return f"ace-checkers demo{files} --seed {self.config.seed}"

    def _seed(self, key: str) -> np.random.SeedSequence:
        """The seed of a unit: it depends on the run's seed and the unit's key alone."""
        return np.random.SeedSequence([self.config.seed, *key.encode()])

    def _stage(self, store: RunStore, run_id: int, key: str, work: Callable[[np.random.SeedSequence], Any]) -> Any:
        payload = store.unit(run_id, key)
        if payload is None:
            payload = work(self._seed(key))
            store.finish_unit(run_id, key, payload)
        return payload

    def _records(self) -> Iterator[Record | Rejection]:
        for file in self.files:
            yield from read_pdn(file)

    def _check_archive(self) -> dict[str, Any]:
        summary = check(self.files)
        if not summary.accepted:
            reasons = "; ".join(summary.reasons) or "no game found"
            raise InputError(f"no game of the archive can be used ({reasons}); right would be English checkers in PDN")
        self.progress("read the archive", 1, 1)
        return {
            "files": [file.name for file in self.files],
            "games": summary.games,
            "accepted": summary.accepted,
            "rejected": summary.rejected,
            "reasons": dict(summary.reasons),
            "plies": summary.plies,
        }

    def _mine(self, seed: np.random.SeedSequence) -> dict[str, Any]:
        self.progress("mine experience rules", 0, 1)
        config, url = self.config, f"sqlite:///{self.files_of_run / 'rules.db'}"
        report = RuleBase.build(self._records(), url, min_count=config.min_count, plies=config.rule_plies)
        top = top_rules(RuleBase.open(url), 10)
        self.progress("mine experience rules", 1, 1)
        return {
            "sequences": report.sequences,
            "states": report.states,
            "pairs": report.pairs,
            "rules": report.rules,
            "min_count": config.min_count,
            "plies": config.rule_plies,
            "top": top,
            "seconds": report.seconds,
        }

    def _evolve(self, seed: np.random.SeedSequence) -> dict[str, Any]:
        started = time.perf_counter()
        config = self.config
        total = config.population * (config.generations + 1)
        done = 0

        def trained(count: int) -> None:
            nonlocal done
            done += count
            self.progress("evolve feature sets", done, total)

        self.progress("evolve feature sets", 0, total)
        evolution = FeatureEvolution(
            pool=LYNCH_FEATURES,
            population=config.population,
            generations=config.generations,
            learner=TDLearner(games=config.individual_games),
        ).run(self.positions, seed, parallel=thread_map(self.workers), progress=trained)
        network = evolution.best_.network
        if network is None:
            raise RuntimeError("the best individual was not trained")
        network.save(self.files_of_run / "evolved.npz")
        return {
            "generations": [generation._asdict() for generation in evolution.logbook_],
            "best_features": list(evolution.names(evolution.best_)),
            "survival": evolution.survival(),
            "seconds": time.perf_counter() - started,
        }

    def _train(self, seed: np.random.SeedSequence) -> dict[str, Any]:
        started = time.perf_counter()
        evolved = Network.load(self.files_of_run / "evolved.npz")
        names = [feature.name for feature in evolved.features]
        learner = TDLearner(features=names, games=self.config.training_games)
        done = 0

        def played(games: int) -> None:
            nonlocal done
            done += games
            self.progress("train the identity", done, learner.games)

        self.progress("train the identity", 0, learner.games)
        learner.fit(self.positions, seed, start=evolved, progress=played)
        learner.network_.save(self.files_of_run / "identity.npz")
        learner.initial_.save(self.files_of_run / "untrained.npz")
        return {
            "curve": [point._asdict() for point in learner.curve_],
            "games": learner.games,
            "clones": learner.curve_[-1].clones,
            "features": names,
            "seconds": time.perf_counter() - started,
        }

    def _matches(self, store: RunStore, run_id: int) -> list[dict[str, Any]]:
        finished = store.units(run_id)
        tasks = [task for task in self._tasks() if task.key not in finished]
        total = sum(task.games for task in self._tasks())
        done = total - sum(task.games for task in tasks)
        self.progress("play the matches", done, total)
        outcomes = run_tasks(play_task, tasks, workers=min(self.workers, max(len(tasks), 1)), prefer="processes")
        for task, outcome in zip(tasks, outcomes, strict=True):
            games = [GameRecord(*game) for game in outcome.games]
            store.finish_unit(run_id, task.key, outcome.matches, games)
            done += task.games
            self.progress("play the matches", done, total)
        finished = store.units(run_id)
        return [match for task in self._tasks() for match in finished[task.key]]

    def _tasks(self) -> list[MatchTask]:
        config, out = self.config, self.files_of_run
        identity = f'network:file="{out / "identity.npz"}",depth={config.depth},name=identity'
        learners = []
        for rating in RATINGS:
            for rules in (True, False):
                name = f"ace-rl {rating}{' + rules' if rules else ''}"
                with_rules = f',rules="{out / "rules.db"}"' if rules else ""
                learners.append(
                    f'ace-rl:identity="{out / "identity.npz"}",rating={rating}{with_rules},depth={config.depth},'
                    f'opening_moves={config.opening_moves},library="{self._library(name)}",opponent=identity,name="{name}"'
                )
        learners.append(f'chebr:rating=gpm,library="{self._library("chebr")}",opponent=identity,name=chebr')
        untrained = f'network:file="{out / "untrained.npz"}",depth={config.depth},name=untrained'
        tasks = [
            MatchTask(
                player,
                identity,
                config.seed,
                config.elicitation_openings,
                config.tournament_games,
                config.elicitation_games,
            )
            for player in learners
        ]
        tasks += [
            MatchTask(identity, rival, config.seed, config.tournament_games // 2, config.tournament_games)
            for rival in ("random", untrained)
        ]
        return tasks

    def _library(self, name: str) -> Path:
        return self.files_of_run / f"cases-{name.replace(' + ', '-').replace(' ', '-')}.db"


def top_rules(base: RuleBase, count: int) -> list[dict[str, Any]]:
    """The rules that were seen most often."""
    found = [(position, rule) for position in base for rule in base.rules(position)]
    found.sort(key=lambda item: (-item[1].count, item[0], item[1].action))
    return [
        {
            "fen": position.fen(),
            "move": str(rule.move),
            "count": rule.count,
            "wins": rule.wins,
            "draws": rule.draws,
            "losses": rule.losses,
            "rating": rule.rating,
        }
        for position, rule in found[:count]
    ]


def comparisons(matches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Paired Wilcoxon tests over the openings of the tournaments, p-values adjusted after Holm."""
    tournaments = {match["players"][0]: match for match in matches if match["phase"] == "tournament"}
    pairs = [(f"ace-rl {rating} + rules", f"ace-rl {rating}", "effect of the rules") for rating in RATINGS]
    pairs += [("ace-rl gpm + rules", f"ace-rl {rating} + rules", "effect of the rating") for rating in ("dm", "ucm")]
    pairs.append(("ace-rl gpm + rules", "chebr", "effect of the identity"))
    rows: list[dict[str, Any]] = []
    for a, b, what in pairs:
        test = wilcoxon_paired(tournaments[a]["opening_points"], tournaments[b]["opening_points"])
        rows.append(
            {"a": a, "b": b, "what": what, "n": test.n, "statistic": test.statistic, "p": test.p, "effect": test.effect}
        )
    for row, adjusted in zip(rows, holm([float(row["p"]) for row in rows]), strict=True):
        row["p_holm"] = adjusted
    return rows


def ratings(matches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Bradley-Terry ratings of everybody who played in the tournaments, best first."""
    played = [match for match in matches if match["phase"] == "tournament"]
    names = list(dict.fromkeys(name for match in played for name in match["players"]))
    wins = np.zeros((len(names), len(names)))
    for match in played:
        first, second = (names.index(name) for name in match["players"])
        wins[first, second] += match["wins"] + match["draws"] / 2
        wins[second, first] += match["losses"] + match["draws"] / 2
    rows = [
        {"player": name, "elo": rating.elo, "interval": list(rating.interval)}
        for name, rating in zip(names, bradley_terry(wins), strict=True)
    ]
    return sorted(rows, key=lambda row: -row["elo"])
