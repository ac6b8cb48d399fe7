"""The run store: values come back, units are written whole and once, also when the process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from checkers.errors import InputError
from experiments.store import GameRecord, RunError, RunStore, Status

ROOT = Path(__file__).resolve().parents[2]
CONFIG = {"games": 4, "players": ("a", "b"), "nested": {"x": 0.1}}
VERSIONS = {"numpy": "2.0"}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


def games(count: int) -> list[GameRecord]:
    return [
        GameRecord(n, ("a", "b"), "1/2-1/2", "repetition", 40 + n, f'[Black "a"]\n\n1. 11-15 {n}') for n in range(count)
    ]


def test_a_run_comes_back(url: str) -> None:
    with RunStore(url) as store:
        run_id = store.create("demo", 2**70, CONFIG, VERSIONS)
        run = store.get(run_id)
        assert (run.name, run.status, run.seed, run.versions) == ("demo", Status.RUNNING, 2**70, VERSIONS)
        assert run.config == {"games": 4, "players": ["a", "b"], "nested": {"x": 0.1}}
        assert (run.finished, run.results, run.failure) == (None, None, "")
        store.finish(run_id, {"matches": [1]})
    with RunStore(url, create=False) as again:
        run = again.get(run_id)
        assert (run.status, run.results) == (Status.DONE, {"matches": [1]})
        assert run.finished is not None
        assert run.started <= run.finished
        assert again.list() == [run]


def test_units_and_games_come_back_in_order(url: str) -> None:
    with RunStore(url) as store:
        run_id = store.create("demo", 1, {}, {})
        assert store.unit(run_id, "match/0") is None
        assert store.finish_unit(run_id, "match/1", {"score": 0.5}, games(3))
        assert store.finish_unit(run_id, "match/0", [1, 2], games(1))
        assert store.unit(run_id, "match/1") == {"score": 0.5}
        assert list(store.units(run_id).items()) == [("match/1", {"score": 0.5}), ("match/0", [1, 2])]
        assert store.games(run_id) == games(3) + games(1)
        assert store.games(run_id, "match/0") == games(1)


def test_a_unit_is_kept_once(url: str) -> None:
    with RunStore(url) as store:
        first, second = (store.create("demo", 1, {}, {}) for _ in range(2))
        assert store.finish_unit(first, "u", 0, games(2))
        assert not store.finish_unit(first, "u", 1, games(5))
        assert store.unit(first, "u") == 0
        assert store.games(first) == games(2)
        assert store.finish_unit(second, "u", 1)  # keys are a run's own
        with pytest.raises(ValueError, match="may not be None"):
            store.finish_unit(first, "v", None)


def test_a_unit_whose_games_fail_leaves_nothing(url: str) -> None:
    with RunStore(url) as store:
        run_id = store.create("demo", 1, {}, {})
        with pytest.raises(Exception, match=r"(?i)unique"):
            store.finish_unit(run_id, "u", 1, games(2) + games(1))  # number 0 twice
        assert store.unit(run_id, "u") is None
        assert store.games(run_id) == []
        assert store.finish_unit(run_id, "u", 1, games(2))


def test_two_writers_keep_a_unit_once(url: str) -> None:
    with RunStore(url) as store:
        run_id = store.create("demo", 1, {}, {})

    def work(_: int) -> int:
        with RunStore(url) as mine:
            return sum(mine.finish_unit(run_id, f"u{n}", n, games(2)) for n in range(25))

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(work, range(3))) == 25
    with RunStore(url) as store:
        assert len(store.units(run_id)) == 25
        assert len(store.games(run_id)) == 50


def test_find_resumable(url: str) -> None:
    with RunStore(url) as store:
        assert store.find_resumable("demo", CONFIG, VERSIONS) is None
        old = store.create("demo", 1, CONFIG, VERSIONS)
        new = store.create("demo", 1, CONFIG, VERSIONS)
        assert store.find_resumable("demo", CONFIG, VERSIONS) == new
        assert store.find_resumable("other", CONFIG, VERSIONS) is None
        assert store.find_resumable("demo", {**CONFIG, "games": 5}, VERSIONS) is None
        assert store.find_resumable("demo", CONFIG, {"numpy": "3.0"}) is None
        store.finish(new, {})
        assert store.find_resumable("demo", CONFIG, VERSIONS) == old
        store.fail(old, "disk full")
        assert (store.get(old).status, store.get(old).failure) == (Status.FAILED, "disk full")
        assert store.find_resumable("demo", CONFIG, VERSIONS) == old
        resumed = store.resume(old)
        assert (resumed.status, resumed.failure, resumed.finished) == (Status.RUNNING, "", None)
        with pytest.raises(RunError, match=f"run {new} is done"):
            store.resume(new)


def test_an_unknown_run_is_named(url: str) -> None:
    with RunStore(url) as store:
        with pytest.raises(RunError, match=r"no run 7 in .*the latest are \(none\)"):
            store.get(7)
        run_id = store.create("demo", 1, {}, {})
        for call in (store.resume, store.fail, store.delete, store.units, store.games):
            with pytest.raises(InputError, match=f"no run 7 .* {run_id}"):
                call(7)
        with pytest.raises(RunError):
            store.finish(7, {})
        with pytest.raises(RunError):
            store.finish_unit(7, "u", 1)


def test_delete_takes_units_and_games_along(url: str) -> None:
    with RunStore(url) as store:
        first, second = (store.create("demo", 1, {}, {}) for _ in range(2))
        for run_id in (first, second):
            store.finish_unit(run_id, "u", 1, games(2))
        store.delete(first)
        assert [run.id for run in store.list()] == [second]
        assert store.games(second) == games(2)
        assert store.unit(first, "u") is None
        store.delete(second)
        assert store.create("demo", 1, {}, {}) > second


WORKER = """
import sys
from experiments.store import GameRecord, RunStore
store = RunStore(sys.argv[1])
run_id = store.find_resumable("kill", {}, {}) or store.create("kill", 1, {}, {})
for n in range(int(sys.argv[2])):
    if store.unit(run_id, f"u{n}") is None:
        records = [GameRecord(i, ("a", "b"), "1-0", "", n, "x" * 5000) for i in range(n % 40)]
        store.finish_unit(run_id, f"u{n}", {"games": n % 40}, records)
        print(n, flush=True)
store.finish(run_id, {})
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_leaves_whole_units_only(url: str) -> None:
    command = [sys.executable, "-c", WORKER, url]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    last = -1
    for pause in (0.0, 0.013, 0.031):
        with subprocess.Popen([*command, "100000"], stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            for _ in range(15):  # whatever was announced must be there
                last = int(process.stdout.readline())
            time.sleep(pause)
            process.kill()
        with RunStore(url) as store:
            (run,) = store.list()
            units = store.units(run.id)
            assert run.status is Status.RUNNING
            assert list(units) == [f"u{n}" for n in range(len(units))]
            assert len(units) > last
            for key, payload in units.items():
                assert len(store.games(run.id, key)) == payload["games"]
            assert len(store.games(run.id)) == sum(payload["games"] for payload in units.values())
    total = len(units) + 5
    subprocess.run([*command, str(total)], check=True, env=environment, stdout=subprocess.DEVNULL)
    with RunStore(url) as store:
        (run,) = store.list()
        assert run.status is Status.DONE
        assert len(store.units(run.id)) == total
        assert len(store.games(run.id)) == sum(n % 40 for n in range(total))
