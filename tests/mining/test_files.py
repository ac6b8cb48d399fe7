from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from checkers.errors import FileFormatError
from mining import files, reading
from mining.files import Failure, Task, read_blocks
from mining.filters import GameFilter
from mining.miner import MiningOptions, mine_files
from mining.reading import Block
from tests.mining.archives import ACF, game_text, needs_acf, random_games


def one_by_one(function, tasks):  # type: ignore[no-untyped-def]
    return [function(task) for task in tasks]


def games_of(blocks: Iterator[tuple[Task, Block | Failure]]) -> tuple[list[object], dict[str, int], int]:
    """Games with their heads and moves, rejections by kind, games not wanted."""
    found: list[object] = []
    rejected: dict[str, int] = {}
    filtered = 0
    for _, block in blocks:
        assert isinstance(block, Block)
        found += [(head, codes.tolist(), positions.tolist()) for head, codes, positions in block.games()]
        filtered += block.filtered
        for kind, count in block.rejected.items():
            rejected[kind] = rejected.get(kind, 0) + count
        assert block.last >= max((head.number for head in block.heads), default=0)
    return found, rejected, filtered


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PART", 2000)
    monkeypatch.setattr(reading, "BLOCK", 7)


@pytest.mark.usefixtures("small_parts")
def test_a_file_in_parts_gives_the_same_games(tmp_path: Path) -> None:
    path = random_games(tmp_path / "games.pdn", 60)
    pieces: list[object] = []

    def watched(function, tasks):  # type: ignore[no-untyped-def]
        pieces.extend(tasks)
        return one_by_one(function, pieces)

    wanted = GameFilter(until="1940")
    for filters in (None, wanted):
        whole = games_of(read_blocks([Task(path)], wanted=filters))
        pieces.clear()
        assert games_of(read_blocks([Task(path)], wanted=filters, parallel=watched)) == whole
        assert len(pieces) > 5
    other = random_games(tmp_path / "other.pdn", 20, seed=2)
    tasks = [Task(path), Task(other), Task(path)]
    assert games_of(read_blocks(tasks, parallel=one_by_one)) == games_of(read_blocks(tasks))
    rest = games_of(read_blocks([Task(path, 30)], parallel=one_by_one))
    assert rest == games_of(read_blocks([Task(path, 30)]))
    assert len(rest[0]) == 30


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("order", range(4))
def test_what_a_game_is_rejected_for_may_depend_on_those_before_it(tmp_path: Path, order: int) -> None:
    """A record without moves is another game's where one stood before, in this part or in an earlier one."""
    empty = game_text("", "*", Event="nothing") * 3
    games = random_games(tmp_path / "good.pdn", 12).read_text() + "\n\n"
    russian = game_text("1. c3-d4", "*", GameType="25")
    italian = game_text("1. 22-18", "*", GameType="22")
    orders = (
        (empty, games, russian, games, empty, games, empty),
        (russian, games, empty, italian, empty, games, empty),
        (games, empty, games, empty),
        (games, italian, games, games, empty, russian, empty, games, empty),
    )
    path = tmp_path / "mixed.pdn"
    path.write_text("".join(orders[order]))
    whole = games_of(read_blocks([Task(path)]))
    assert sum(whole[1].values()) >= 6
    assert games_of(read_blocks([Task(path), Task(path)], parallel=one_by_one))[1] == {
        kind: 2 * count for kind, count in whole[1].items()
    }
    assert games_of(read_blocks([Task(path)], parallel=one_by_one)) == whole


def test_a_part_that_fails_ends_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PART", 2000)
    path, other = random_games(tmp_path / "games.pdn", 30), random_games(tmp_path / "other.pdn", 30)
    read = files.read_pdn

    def broken(name, *, part):  # type: ignore[no-untyped-def]
        if name == path and part[0]:
            raise FileFormatError(f"{name}: cannot be read")
        return read(name, part=part)

    monkeypatch.setattr(files, "read_pdn", broken)
    found = list(read_blocks([Task(path), Task(other)], parallel=one_by_one))
    failures = [block for _, block in found if isinstance(block, Failure)]
    assert [str(failure.error) for failure in failures] == [f"{path}: cannot be read"]
    numbers = [head.number for task, block in found if task.path == other for head in block.heads]  # type: ignore[union-attr]
    assert numbers == [*range(1, 31)]


@pytest.mark.slow
@needs_acf
def test_two_processes_mine_one_file_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SMALL", 0)
    alone, together = (mine_files([ACF], MiningOptions(), workers=workers) for workers in (1, 2))
    np.testing.assert_array_equal(alone.states, together.states)
    for name in ("state", "next_state", "action", "wins", "draws", "losses", "last_year", "examples"):
        np.testing.assert_array_equal(getattr(alone.rules, name), getattr(together.rules, name))
    assert alone.files == together.files
