"""Performance figures of the kernels, one thread, median of several rounds, beside other programs' in the same run.

A program to compare with (a peer) prints one JSON object whose keys are figures of the same names; it is run in turn
with ours, so that both meet the same machine.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from checkers.errors import InputError
from checkers.evaluation import Evaluation, evaluate_rows, material
from checkers.openings import openings_named
from checkers.perft import perft_count
from checkers.position import Position
from checkers.search import Searcher
from learners.network import LYNCH_FEATURES, Network
from learners.td import TDLearner

SEARCH_DEPTH = 13


def bench_network() -> Network:
    """A 38-20-1 network with random weights, made to prefer material so that its search is a real one."""
    rng = np.random.default_rng(1)
    network = Network.initial(LYNCH_FEATURES, rng)
    inputs, hidden = network.inputs, network.hidden
    parameters = network.parameters.copy()
    weights = parameters[: inputs * hidden].reshape(inputs, hidden)
    weights[0:4] = np.array([0.1, 0.2, 0.4, 0.8])[:, None]  # the bits of PieceAdvantage
    weights[4:8] = -weights[0:4]  # of PieceDisadvantage
    outputs = parameters[(inputs + 1) * hidden : (inputs + 2) * hidden]
    outputs[:] = np.abs(outputs)
    return network.with_parameters(parameters)


def perft_rate() -> float:
    """Perft nodes per second, depth 10 from the start, counted in bulk."""
    started = time.perf_counter()
    nodes = perft_count(Position.start(), 10)
    return nodes / (time.perf_counter() - started)


def search_rate(evaluation: Evaluation) -> float:
    """Search nodes per second, from the start to depths 1 to 13 with one table of 2^20 entries."""
    searcher = Searcher(evaluation, SEARCH_DEPTH, table_bits=20)
    started = time.perf_counter()
    found = searcher.search(Position.start())
    return found.nodes / (time.perf_counter() - started)


def evaluation_rate(evaluation: Evaluation) -> float:
    """Evaluations per second: features and network, on positions that differ in Black's men."""
    count = 1 << 20
    men = np.arange(count, dtype=np.uint32)
    rows = np.zeros((count, 4), np.uint32)
    rows[:, 0] = 0xFFF ^ (men & 4095)
    rows[:, 1] = 0xFFF00000
    rows[:, 3] = men & 1
    out = np.zeros(count, np.float32)
    started = time.perf_counter()
    evaluate_rows(rows, evaluation, out)
    return count / (time.perf_counter() - started)


def training_rate(depth: int, games: int) -> float:
    """TD(λ) training games per second, learning from the learner's own moves only, as the originals do."""
    learner = TDLearner(games=games, depth=depth, clone_after=games, test_openings=1, both_colours=False)
    positions = [ballot.position() for ballot in openings_named("three-move")]
    started = time.perf_counter()
    learner.fit(positions, np.random.SeedSequence(1))
    return games / (time.perf_counter() - started)


def figures() -> dict[str, Callable[[], float]]:
    """Every figure by name, in operations per second."""
    network = bench_network().evaluation()
    return {
        "perft_nodes_per_second": perft_rate,
        "search_nodes_per_second": lambda: search_rate(network),
        "material_search_nodes_per_second": lambda: search_rate(material()),
        "evaluations_per_second": lambda: evaluation_rate(network),
        "training_games_per_second": lambda: training_rate(1, 4_000),
        "training_games_per_second_depth_4": lambda: training_rate(4, 100),
    }


class Figure(NamedTuple):
    """A figure, ours and each peer's: operations per second, medians of the rounds."""

    ours: float
    peers: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """The figure with the ratio of ours to each peer's."""
        peers = {name: {"value": value, "ratio": self.ours / value} for name, value in self.peers.items()}
        return {"ours": self.ours, "peers": peers}


def run_benchmarks(
    rounds: int, beside: Sequence[str] = (), progress: Callable[[int], None] = lambda _: None
) -> dict[str, Figure]:
    """Measure in so many rounds; peers are the C program, where gcc is, and the command lines ``beside``.

    A command line is named by its last word; each is run once in every round.
    """
    measured = figures()
    for measure in measured.values():
        measure()  # loads the kernels and warms the caches
    ours: dict[str, list[float]] = {name: [] for name in measured}
    theirs: dict[str, dict[str, list[float]]] = {name: {} for name in measured}
    with tempfile.TemporaryDirectory() as folder:
        peers = {words[-1]: words for words in map(_words, beside) if words}
        program = build_c_peer(Path(folder))
        if program is not None:
            peers["C"] = [str(program)]
        for _ in range(rounds):
            for name, measure in measured.items():
                ours[name].append(measure())
            for peer, command in peers.items():
                for name, value in _other_program(command).items():
                    if name in measured and isinstance(value, int | float) and value > 0:
                        theirs[name].setdefault(peer, []).append(float(value))
            progress(1)
    return {
        name: Figure(float(np.median(values)), {peer: float(np.median(v)) for peer, v in theirs[name].items()})
        for name, values in ours.items()
    }


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise InputError(f"--beside {command!r} is not a command line: {error}") from None


def build_c_peer(folder: Path) -> Path | None:
    """Build benchmarks/perft.c of a source checkout with gcc; None where either is missing."""
    source = Path(__file__).parent.parent / "benchmarks" / "perft.c"
    compiler = shutil.which("gcc")
    if compiler is None or not source.is_file():
        return None
    program = folder / "perft"
    built = subprocess.run([compiler, "-O3", "-march=native", "-o", program, source], check=False)  # noqa: S603
    return program if built.returncode == 0 else None


def _other_program(command: Sequence[str]) -> dict[str, Any]:
    text = shlex.join(command)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)  # noqa: S603
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise InputError(f"{text!r} did not print a JSON object: {str(error).splitlines()[0]}") from None
    if not isinstance(found, dict):
        raise InputError(f"{text!r} printed no JSON object as its last line")
    return found
