from __future__ import annotations

import gzip
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from checkers.errors import DatabaseError, FileFormatError
from checkers.pdn import read_pdn
from mining import archive as archive_module
from mining import files as files_module
from mining import reading
from mining.archive import AddReport, Archive
from mining.duplicates import difference
from mining.errors import MiningError
from mining.files import pdn_files
from mining.filters import GameFilter, date_range
from mining.miner import MiningOptions, mine_archive, mine_files
from mining.reading import Head
from mining.rules import RuleBase
from mining.sequences import extract
from tests.mining.archives import dump, execute, game_text, random_games

ROOT = Path(__file__).resolve().parents[2]

LINE = "1. 11-15 23-19 2. 8-11 22-17 3. 4-8 17-13"


def test_adding_twice_changes_nothing(url: str, tmp_path: Path) -> None:
    path = random_games(tmp_path / "games.pdn", 30)
    with Archive(url) as archive:
        report = archive.add([path])
        assert (report.files, report.known, report.records, report.games) == (1, 0, 30, 30)
        before = dump(url)
        again = archive.add([path])
        assert (again.known, again.records, again.games) == (1, 0, 0)
        copy = tmp_path / "copy.pdn"
        copy.write_bytes(path.read_bytes())
        assert archive.add([copy]).known == 1
        assert len(archive) == 30
    assert dump(url) == before


def test_folders_gzip_and_several_processes_give_the_same(
    tmp_path: Path, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = new_database(), new_database()
    monkeypatch.setattr(reading, "BLOCK", 4)
    folder = tmp_path / "games"
    (folder / "below").mkdir(parents=True)
    first = random_games(folder / "a.pdn", 10)
    second = random_games(folder / "below" / "b.pdn", 9, seed=2)
    (folder / "c.pdn.gz").write_bytes(gzip.compress(random_games(tmp_path / "c.pdn", 5, seed=3).read_bytes()))
    (folder / "notes.txt").write_text("not an archive")
    assert pdn_files([folder]) == [first, second, folder / "c.pdn.gz"]
    told: list[tuple[str, int, int]] = []
    with Archive(one) as archive:
        report = archive.add([folder], progress=lambda *what: told.append(what))
        assert (report.files, report.games) == (3, 24)
    assert told[-1][1] == told[-1][2] > 0
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    with Archive(two) as archive:
        archive.add([folder], parallel=lambda function, tasks: [function(task) for task in tasks])
    assert dump(one) == dump(two)


@pytest.mark.slow
def test_processes(tmp_path: Path, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    databases = {workers: new_database() for workers in (1, 2)}
    monkeypatch.setattr(files_module, "SMALL", 0)
    files = [random_games(tmp_path / f"{seed}.pdn", 6, seed=seed) for seed in range(3)]
    for workers, url in databases.items():
        with Archive(url) as archive:
            assert archive.add(files, workers=workers).games == 18
    assert dump(databases[1]) == dump(databases[2])


def test_a_stopped_addition_goes_on(new_database: Callable[[], str], tmp_path: Path) -> None:
    url, whole = new_database(), new_database()
    path = random_games(tmp_path / "games.pdn", 2500, plies=8)
    with Archive(whole) as archive:
        archive.add([path])
    program = (
        "import os, signal, sys\n"
        "from mining import archive\n"
        "write, calls = archive.write_block, []\n"
        "def stop(session, source, block):\n"
        "    added = write(session, source, block)\n"
        "    calls.append(1)\n"
        "    if len(calls) == 2: session.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return added\n"
        "archive.write_block = stop\n"
        "archive.Archive(sys.argv[1]).add([sys.argv[2]])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", program, url, str(path)], env=environment, cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    with Archive(url) as archive:
        assert len(archive) == 1000
        report = archive.add([path])
        assert (report.records, report.games) == (1500, 1500)
    assert dump(url) == dump(whole)


def test_two_programs_add_at_once(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BLOCK", 5)
    files = [random_games(tmp_path / f"{seed}.pdn", 30, seed=seed, plies=8) for seed in (1, 2)]
    Archive(url).close()
    reports: list[AddReport] = []

    def add(order: list[Path]) -> None:
        with Archive(url) as archive:
            reports.append(archive.add(order))

    threads = [threading.Thread(target=add, args=(order,)) for order in (files, files[::-1], files)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(report.games for report in reports) == 60
    with Archive(url) as archive:
        assert len(archive) == 60
        assert len(reports) == 3
        assert mine_archive(archive, MiningOptions()).report.pairs == mine_files(files, MiningOptions()).report.pairs


def test_batches_are_the_sequences_of_the_files(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "GAMES", 7)
    path = random_games(tmp_path / "games.pdn", 20)
    with path.open("a") as stream:  # an unfinished one, one without moves, and copies
        stream.write(game_text("1. 11-15", "*") + game_text("", "1-0", FEN=r"B:W32:B1") + path.read_text())
    with Archive(url) as archive:
        archive.add([path])
        for plies, unique, cycles in itertools.product((5, None), (False, True), (False, True)):
            expected = extract(read_pdn(path), plies=plies, unique=unique, remove_cycles=cycles)
            batches = list(archive.batches(plies=plies, unique=unique, remove_cycles=cycles))
            ids = np.concatenate([batch.ids for batch in batches])
            states = archive.states(np.abs(ids))
            np.testing.assert_array_equal(states, expected.states[np.abs(expected.ids) - 1])
            np.testing.assert_array_equal(np.sign(ids), np.sign(expected.ids))
            assert [len(one) for batch in batches for one in batch] == [len(one) for one in expected]
            np.testing.assert_array_equal(np.concatenate([batch.codes for batch in batches]), expected.codes)
            np.testing.assert_array_equal(np.concatenate([batch.sources for batch in batches]), expected.sources)
            mined = mine_archive(archive, MiningOptions(2, plies, unique, cycles))
            base, other = RuleBase.of(mined), RuleBase.mine(
                read_pdn(path), plies=plies, unique=unique, remove_cycles=cycles
            )  # fmt: skip
            assert dict.fromkeys(base) == dict.fromkeys(other)
            assert all(base.rules(position) == other.rules(position) for position in base)
            assert base.report.states == other.report.states


def test_exact_and_near_duplicates(url: str, tmp_path: Path) -> None:
    tags = {"Black": "Tinsley, M. F.", "White": "Lowder, E.", "Date": "1957-??-??"}
    one, other = tmp_path / "one.pdn", tmp_path / "other.pdn"
    one.write_text(game_text(LINE, "1/2-1/2", **tags))
    other.write_text(
        game_text(LINE, "1-0", Black="?", White="?")  # same moves, whatever the tags
        + game_text(LINE.replace("17-13", "25-22"), "1/2-1/2", **{**tags, "Black": "tinsley ,M.F."})  # one ply
        + game_text(LINE.replace("17-13", "25-22"), "1/2-1/2", **{**tags, "Date": "1958-??-??"})  # the same, exactly
        + game_text("1. 9-13 22-18 2. 13-17 21x14 3. 10x17 25-21", "1/2-1/2", **tags)
    )
    with Archive(url) as archive:
        report = archive.add([one, other])
        assert (report.exact, report.near) == (2, 1)
        found = [(game.number, game.original_number, game.difference) for game in archive.duplicates()]
        assert found == [(1, 1, 0), (2, 1, 1), (3, 2, 0)]
        assert [game.original_file for game in archive.duplicates(near=True)] == [str(one)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("abcdef", "abcdef", 0), ("abcdef", "abcxef", 1), ("abcdef", "abef", 2), ("abcdef", "bacdef", 2), ("ab", "xy", 2)],
)
def test_difference(one: str, other: str, expected: int) -> None:
    assert difference([*map(ord, one)], [*map(ord, other)], 5) == expected
    assert difference([*map(ord, other)], [*map(ord, one)], 5) == expected
    assert difference([*map(ord, one)], [*map(ord, "zzzzzzzzz")], 5) == 5


FILTERS = [
    GameFilter(),
    GameFilter(since="1905"),
    GameFilter(until="1903-05"),
    GameFilter(since="1902", until="1904"),
    GameFilter(player="a"),
    GameFilter(event="match 1"),
    GameFilter(results=("1-0", "1/2-1/2")),
    GameFilter(min_plies=10, max_plies=20),
    GameFilter(min_rating=2000),
    GameFilter(ballots=(1, 2, 7)),
    GameFilter(player="B", results=("0-1",), since="1903"),
]


@pytest.mark.parametrize("wanted", FILTERS, ids=lambda wanted: wanted.text())
def test_filters_agree_before_and_after_adding(
    tmp_path: Path, new_database: Callable[[], str], wanted: GameFilter
) -> None:
    path = random_games(tmp_path / "games.pdn", 12)
    with path.open("a") as stream:
        stream.write(
            game_text("1. 9-13 21-17 2. 5-9", "1-0", BlackElo="2100", WhiteElo="2050", Date="?")
            + game_text(LINE, "0-1", BlackElo="2100", WhiteElo="1900", Date="11.05.1902")
        )
    with Archive(new_database()) as archive, Archive(new_database()) as some:
        archive.add([path])
        report = some.add([path], filters=wanted)
        assert report.games + report.filtered == 14
        kept = [source for batch in archive.batches(filters=wanted) for source in batch.sources.tolist()]
        assert [source for batch in some.batches() for source in batch.sources.tolist()] == kept
        # without the filter the rest follows, and nothing comes twice
        assert some.add([path]).games == 14 - len(kept)
        assert len(some) == 14
    if kept:
        direct = mine_files([path], MiningOptions(1), filters=wanted)
        assert (direct.report.sequences, direct.report.skipped) == (len(kept), 14 - len(kept))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1905-??-??", (19050101, 19051231)),
        ("1905.3.7", (19050307, 19050307)),
        ("1905-03-??", (19050301, 19050331)),
        ("1990/1991", (19900101, 19911231)),
        ("11.05.2002", (20020511, 20020511)),
        ("", None),
        ("????.??.??", None),
    ],
)
def test_dates(text: str, expected: tuple[int, int] | None) -> None:
    assert date_range(text) == expected


def test_games_without_a_date_are_not_in_a_range() -> None:
    head = Head("a", 1, None, "A", "B", "", "", 3)  # type: ignore[arg-type]
    assert GameFilter(player="a").accepts(head)
    assert not GameFilter(since="1900").accepts(head)


@pytest.mark.parametrize(
    "options",
    [{"since": "x"}, {"since": "1950", "until": "1940"}, {"results": ("2",)}, {"ballots": (175,)}, {"player": "?"},
     {"min_plies": 9, "max_plies": 3}],
)  # fmt: skip
def test_wrong_filters(options: dict[str, object]) -> None:
    with pytest.raises(MiningError, match=r"right would be|there are"):
        GameFilter(**options)  # type: ignore[arg-type]


def test_what_cannot_be_read(url: str, tmp_path: Path) -> None:
    good, bad = random_games(tmp_path / "good.pdn", 3), tmp_path / "bad.pdn"
    bad.write_bytes(bytes(range(256)))
    with Archive(url) as archive:
        with pytest.raises(FileFormatError, match="binary"):
            archive.add([bad])
        report = archive.add([bad, good])
        assert report.games == 3
        assert [name for name, _ in report.failures] == [str(bad)]
        with pytest.raises(FileFormatError, match="no such file"):
            archive.add([tmp_path / "none.pdn"])
        (tmp_path / "empty").mkdir()
        with pytest.raises(FileFormatError, match="holds no"):
            archive.add([tmp_path / "empty"])


def test_refused_archives(url: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError):
        Archive(url, create=False)
    with Archive(url) as archive:
        with pytest.raises(MiningError, match="no game to mine"):
            mine_archive(archive, MiningOptions())
        archive.add([random_games(tmp_path / "games.pdn", 3)])
        with pytest.raises(MiningError, match="min_count is 0"):
            mine_archive(archive, MiningOptions(min_count=0))
    execute(url, "UPDATE archive_sequence SET sequence = '1:2' WHERE game_id = 2")
    with Archive(url) as archive, pytest.raises(DatabaseError, match="game 2 does not fit"):
        list(archive.batches())
