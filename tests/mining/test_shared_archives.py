"""Known figures of the shared archives, plies 1-24, and all ways to count compared on every file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from checkers.errors import FileFormatError
from checkers.pdn import Record, Rejection, read_pdn
from checkers.position import Position
from mining.archive import Archive
from mining.cbss import PairCounter, Pairs, count_pairs
from mining.errors import MiningError
from mining.evaluation import RULE, HeldOut
from mining.holdout import read_games
from mining.miner import MiningOptions, mine_archive, mine_files
from mining.rules import RuleBase
from mining.sequences import extract
from mining.tree import ers_mining
from tests.mining.archives import ACF, DATA, OCA, needs_acf, needs_oca
from tests.reference.brute_force_rules import outcomes

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path for path in DATA.rglob("*.pdn") if path.stat().st_size < 400_000) if DATA.is_dir() else []

#: Games, different pairs, states they lead from, pairs that occur twice or more, and those of positive net weight.
KNOWN = {
    ("acf", False): (7000, 68_077, 60_400, 17_713, 14_098),
    ("acf", True): (6808, None, None, 16_402, 13_013),
    ("oca", False): (17_450, 123_407, 107_611, 34_387, 27_950),
    ("both", True): (21_140, 147_928, 128_467, 40_950, 33_037),
}
PATHS = {"acf": [ACF], "oca": [OCA], "both": [ACF, OCA]}


def cut(records: Iterable[Record | Rejection], plies: int) -> Iterator[Record]:
    """The first plies of the records."""
    for one in records:
        if isinstance(one, Record):
            yield Record(
                one.file, one.number, one.line, one.tags, one.start, one.codes[:plies], one.positions[: plies + 1],
                one.result, one.warnings,
            )  # fmt: skip


def check(pairs: Pairs, known: tuple[int | None, ...]) -> None:
    frequent = pairs.where(pairs.count >= 2)
    found = (pairs.games, len(pairs), len(np.unique(pairs.state)), len(frequent), int((frequent.weight() > 0).sum()))
    assert [one for one, other in zip(found, known, strict=True) if other is not None and one != other] == []


@needs_acf
def test_acf_as_it_is() -> None:
    sequences = extract(read_pdn(ACF), plies=24, unique=False, remove_cycles=False)
    check(count_pairs(sequences), KNOWN["acf", False])


@pytest.mark.slow
@needs_acf
@needs_oca
@pytest.mark.parametrize(("name", "unique"), list(KNOWN))
def test_known_figures(name: str, unique: bool) -> None:
    _, pairs, sources, _, rules = KNOWN[name, unique]
    report = mine_files(PATHS[name], MiningOptions(2, 24, unique, remove_cycles=False)).report
    assert (report.sequences, report.rules) == (KNOWN[name, unique][0], rules)
    assert pairs in (None, report.pairs)
    assert sources in (None, report.sources)


@pytest.mark.slow
@needs_acf
@needs_oca
def test_known_figures_of_tables(tmp_path: Path) -> None:
    with Archive(str(tmp_path / "archive.db")) as archive:
        report = archive.add([ACF, OCA], workers=2)
        assert (report.games, report.exact) == (24_450, 24_450 - 21_140)
        counter = PairCounter()
        for batch in archive.batches(unique=True, remove_cycles=False):
            counter.add(batch)
        check(counter.pairs(), KNOWN["both", True])
        tables = RuleBase.of(mine_archive(archive, MiningOptions(unique=True)))
    files = RuleBase.of(mine_files([ACF, OCA], MiningOptions(unique=True)))
    assert dict.fromkeys(tables) == dict.fromkeys(files)
    assert all(tables.rules(position) == files.rules(position) for position in files)
    assert all(tables.avoided(position) == files.avoided(position) for position in files.avoided_positions())


@pytest.mark.slow
@needs_acf
def test_brute_force_gives_the_same_for_every_min_count() -> None:
    records = [one for one in read_pdn(ACF) if isinstance(one, Record)]
    expected = outcomes(cut(records, 24), remove_cycles=False)
    sequences = extract(records, plies=24, unique=False, remove_cycles=False)
    pairs = count_pairs(sequences)
    positions = [Position(*row) for row in sequences.states.tolist()]  # type: ignore[arg-type]
    for min_count in range(1, 21):
        kept = pairs.kept(min_count=min_count)
        columns = (kept.state, kept.next_state, kept.wins, kept.draws, kept.losses)
        found = {
            (positions[x - 1], positions[y - 1]): Counter(w=w, d=d, l=lost)
            for x, y, w, d, lost in zip(*(column.tolist() for column in columns), strict=True)
        }
        assert found == {
            pair: number
            for pair, number in expected.items()
            if number.total() >= min_count and number["w"] + number["d"] > number["l"]
        }


@pytest.mark.slow
@pytest.mark.parametrize("path", [*FILES, ACF, OCA], ids=lambda path: path.name)
@pytest.mark.parametrize("remove_cycles", [True, False])
def test_the_sequence_tree_gives_the_same_on_every_file(path: Path, remove_cycles: bool) -> None:
    if not path.is_file():
        pytest.skip("the shared archive is not here")
    try:
        # the tree of whole games of the large archives would need gigabytes
        plies = 24 if path in (ACF, OCA) else None
        sequences = extract(read_pdn(path), plies=plies, unique=False, remove_cycles=remove_cycles)
    except (MiningError, FileFormatError):
        return  # another game, or problems without moves
    pairs = count_pairs(sequences)
    tree = ers_mining(sequences)
    tree.pop(0)
    weights = {(x, y): weight for x, branches in tree.items() for y, weight in branches.items()}
    columns = (pairs.state, pairs.next_state, pairs.weight())
    assert weights == {(x, y): weight for x, y, weight in zip(*(c.tolist() for c in columns), strict=True)}


@pytest.mark.slow
@needs_acf
@needs_oca
@pytest.mark.parametrize(("name", "seconds", "megabytes"), [("acf", 15, 500), ("both", 50, 1200)])
def test_processor_time_and_memory(tmp_path: Path, name: str, seconds: float, megabytes: float) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from mining.miner import MiningOptions, mine_files\n"
        "from mining.rules import RuleBase\n"
        "RuleBase.write(mine_files(sys.argv[2:], MiningOptions()), sys.argv[1])\n"
        # the peak of this program alone: ru_maxrss keeps that of the process it was forked from
        "print(int(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0]) / 1024)\n"
    )
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "rules.db"), *map(str, PATHS[name])],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    assert used < seconds
    assert float(done.stdout) < megabytes


@pytest.mark.slow
@needs_acf
def test_held_out_tenths_by_ply() -> None:
    found = HeldOut(read_games([ACF]), folds=10, seed=np.random.SeedSequence(1)).evaluate()
    assert (found.games, found.folds) == (6808, 10)
    assert [row.ply for row in found.plies] == [*range(1, 25)]
    for row in (*found.plies, found.total):
        for rate in (row.coverage, row.known, row.listed, *row.hits.values()):
            assert rate.share is not None
            assert rate.low is not None
            assert rate.high is not None
            assert 0 <= rate.low <= rate.share <= rate.high <= 1
            assert rate.high - rate.low < 0.08
        assert row.coverage.hits <= row.known.hits <= row.choices <= row.positions
        assert row.hits[RULE].hits <= row.listed.hits
    assert found.plies[0].coverage.share == 1
    assert found.plies[0].positions == 6808
    shares = [row.coverage.hits / row.choices for row in found.plies]
    assert shares[23] < shares[11] < shares[5] < shares[0]


@needs_acf
def test_a_look_at_a_rule_takes_microseconds() -> None:
    games = (one for one, _ in zip(read_pdn(ACF), range(500), strict=False))
    base = RuleBase.mine(games)
    positions = list(base)
    best = 1.0
    for _ in range(5):
        begin = time.perf_counter()
        for position in positions:
            base.rules(position)
        best = min(best, (time.perf_counter() - begin) / len(positions))
    assert best < 5e-6
