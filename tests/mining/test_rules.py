from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from checkers.database import open_database, transaction
from checkers.errors import DatabaseError
from checkers.game import Result
from checkers.pdn import Record, Rejection
from checkers.position import Position
from mining import rule_store
from mining.cbss import count_pairs
from mining.errors import MiningError
from mining.rules import MiningOptions, RuleBase
from mining.schema import KIND, VERSION, AvoidedRow, Base, BoardState, RuleRow
from mining.sequences import extract
from tests.mining.archives import execute
from tests.reference.brute_force_rules import played, random_record

ROOT = Path(__file__).resolve().parents[2]

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def records() -> list[Record | Rejection]:
    """From the start, 11-15 has 1 win and 2 draws, 9-13 two wins, 10-14 two draws and 12-16 two losses."""
    games = [
        ("11-15 23-19 8-11", BLACK),
        ("11-15 23-19 8-11 22-17", DRAW),
        ("11-15 22-18 15x22", DRAW),
        ("9-13 22-18", BLACK),
        ("9-13 24-20", BLACK),
        ("10-14 22-18", DRAW),
        ("10-14 24-20", DRAW),
        ("12-16 24-20", WHITE),
        ("12-16 24-20", WHITE),
        ("12-16 24-20", Result.UNFINISHED),
    ]
    return [
        *(played(text, result, number=n + 1) for n, (text, result) in enumerate(games)),
        Rejection(file="test.pdn", number=11, line=1, column=1, ply=0, reason="illegal", text=""),
    ]


def test_rules_of_a_position_best_first() -> None:
    base = RuleBase.mine(records())
    start = Position.start()
    found = base.rules(start)
    assert [str(rule.move) for rule in found] == ["9-13", "11-15", "10-14"]
    assert [rule.rating for rule in found] == pytest.approx([1, 2 / 3, 1 / 2])
    second = found[1]
    assert (second.count, second.wins, second.draws, second.losses, second.weight) == (3, 1, 2, 0, 3)
    assert (second.support, second.confidence) == pytest.approx((3 / 9, 3 / 9))
    after = start.play(start.move("12-16"))
    assert [str(rule.move) for rule in base.rules(after)] == ["24-20"]
    assert base.rules(start.half_turn()) == ()
    assert len(base) == sum(len(base.rules(position)) for position in base)


def test_equal_ratings_go_by_count_then_action() -> None:
    games = ["9-13", "9-13", "11-15", "11-15", "11-15", "10-14", "10-14"]
    base = RuleBase.mine(played(text, DRAW) for text in games)
    found = base.rules(Position.start())
    assert str(found[0].move) == "11-15"
    assert [rule.action for rule in found[1:]] == sorted(rule.action for rule in found[1:])


def test_report() -> None:
    report = RuleBase.build(records(), None)
    assert (report.games, report.rejected, report.skipped, report.sequences) == (10, 1, 1, 9)
    sequences = extract(records(), plies=24, unique=False)
    pairs = count_pairs(sequences)
    assert (report.states, report.pairs) == (len(sequences.states), len(pairs))
    assert report.sources == len(np.unique(pairs.state))
    assert report.rules == len(RuleBase.mine(records()))
    assert RuleBase.build(records(), None, unique=True).skipped == 2


def test_stored_and_loaded_rules_are_those_mined(url: str) -> None:
    rng = np.random.default_rng(5)
    games = [random_record(rng, fen="B:W21-32:B1-12", plies=30, number=n) for n in range(200)]
    report = RuleBase.build(games, url, min_count=1, plies=None, unique=True, remove_cycles=False, sign="w-l")
    loaded, mined = RuleBase.open(url), RuleBase.mine(games, min_count=1, plies=None, unique=True, sign="w-l")
    assert loaded.report == report
    assert loaded.options == MiningOptions(1, None, True, False, "w-l")
    assert dict.fromkeys(loaded) == dict.fromkeys(mined)
    assert all(loaded.rules(position) == mined.rules(position) for position in mined)


def test_what_is_stored(url: str) -> None:
    RuleBase.build(records(), url)
    engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=False)
    with transaction(engine) as session:
        first = session.get(BoardState, 1)
        assert first is not None
        assert (first.black, first.white, first.kings, first.side) == (0xFFF, 0xFFF00000, 0, 0)
        assert session.query(RuleRow).filter_by(state_id=1).count() == 3
        avoided = session.query(AvoidedRow).filter_by(state_id=1).one()
        assert (avoided.count, avoided.weight, avoided.examples) == (2, -2, "1:8 1:9")
    engine.dispose()


def test_many_rows(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_store, "CHUNK", 3)
    report = RuleBase.build(records(), url, min_count=1)
    assert report.rules > 6
    assert len(RuleBase.open(url)) == report.rules


def test_building_again_replaces(url: str) -> None:
    RuleBase.build(records(), url)
    RuleBase.build([played("11-16", DRAW), played("11-16", DRAW)], url)
    base = RuleBase.open(url)
    assert list(base) == [Position.start()]
    assert [str(rule.move) for rule in base.rules(Position.start())] == ["11-16"]


def test_an_archive_without_rules_is_an_empty_base(url: str) -> None:
    assert RuleBase.build([played("11-15", DRAW)], url).rules == 0
    base = RuleBase.open(url)
    assert len(base) == 0
    assert base.rules(Position.start()) == ()


def test_a_failure_leaves_the_old_rules(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    RuleBase.build(records(), url)
    old = RuleBase.open(url)

    def fail(*args: object) -> None:
        raise RuntimeError("stopped")

    monkeypatch.setattr(rule_store, "_archive_row", fail)
    with pytest.raises(RuntimeError, match="stopped"):
        RuleBase.build([played("11-16", DRAW), played("11-16", DRAW)], url)
    assert RuleBase.open(url).rules(Position.start()) == old.rules(Position.start())


def test_two_programs_build_at_once(url: str) -> None:
    RuleBase.build(records(), url)
    games = [played("11-16 24-20 8-11 22-17", DRAW, number=number) for number in (1, 2)]
    threads = [
        threading.Thread(target=RuleBase.build, args=(some, url)) for some in (games, records(), games, records())
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(RuleBase.open(url)) in (len(RuleBase.mine(games)), len(RuleBase.mine(records())))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize("built", [True, False])
def test_a_kill_leaves_the_old_rules_or_none(url: str, built: bool) -> None:
    if built:
        RuleBase.build(records(), url)
    program = (
        "import os, signal, sys\n"
        "from mining import rule_store, rules\n"
        "from tests.mining.test_rules import DRAW, played\n"
        "rule_store._archive_row = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "rules.RuleBase.build([played('11-16', DRAW), played('11-16', DRAW)], sys.argv[1])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", program, url], env=environment, cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    if built:
        assert [str(rule.move) for rule in RuleBase.open(url).rules(Position.start())] == ["9-13", "11-15", "10-14"]
    else:
        with pytest.raises(DatabaseError, match="no archive is mined into it"):
            RuleBase.open(url)


def test_nothing_usable_leaves_the_database_alone(url: str) -> None:
    with pytest.raises(MiningError, match="no game to mine: 1 records rejected"):
        RuleBase.build(records()[-1:], url)
    assert not Path(url).exists()
    RuleBase.build(records(), url)
    for options in ({"min_count": 0}, {"plies": 0}, {"sign": "l"}):
        with pytest.raises(MiningError):
            RuleBase.build(records(), url, **options)
    assert len(RuleBase.open(url)) == len(RuleBase.mine(records()))


def test_missing_file_and_other_version(url: str) -> None:
    with pytest.raises(DatabaseError):
        RuleBase.open(url)
    assert not Path(url).exists()
    open_database(url, Base.metadata, kind=KIND, version=VERSION + 1).dispose()
    with pytest.raises(DatabaseError):
        RuleBase.open(url)
    with pytest.raises(DatabaseError):
        RuleBase.build(records(), url)


def test_another_kind_of_database(url: str) -> None:
    open_database(url, Base.metadata, kind="cases", version=VERSION).dispose()
    with pytest.raises(DatabaseError):
        RuleBase.open(url)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE rule SET action = 12 WHERE state_id = 1 AND next_id = 2", "move code 12 is not legal in B:W21,22"),
        ("UPDATE rule SET action = -1", "is no rule"),
        ("UPDATE board_state SET black = 4294967296 WHERE id = 1", "is no rule"),
        ("UPDATE board_state SET side = 2 WHERE id = 1", "is no rule"),
        ("UPDATE board_state SET white = 4095 WHERE id = 1", "is no rule"),
        ("UPDATE rule SET rating = 'high'", "is no rule"),  # SQLite alone would take it
        ("UPDATE rule SET examples = '9:1'", "names no games"),
        ("UPDATE avoided SET action = 12", "move code 12 is not legal"),
        ("DELETE FROM rule WHERE state_id = 1 AND next_id = 2", "right would be"),
    ],
)
def test_a_damaged_base_is_refused(url: str, statement: str, message: str) -> None:
    RuleBase.build(records(), url)
    if "high" in statement and "postgresql" in url:
        pytest.skip("PostgreSQL holds no text in a column of numbers")
    execute(url, statement)
    with pytest.raises(DatabaseError, match=message):
        RuleBase.open(url)
