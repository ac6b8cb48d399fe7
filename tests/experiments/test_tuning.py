"""Tuning the reference evaluation: what is sampled, how it is labelled, and that it depends on the seed alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from checkers.endgame import EndgameDatabase
from checkers.errors import InputError
from checkers.game import Result
from checkers.moves import legal_moves
from checkers.pdn import Record, read_pdn_text
from checkers.position import Colour, Position
from checkers.reference import FEWEST_PIECES, MAJORITY, MAN
from checkers.reference_weights import read_weights
from experiments import commands_endgame
from experiments.cli import run
from experiments.tuning import TuningOptions, archive_games, archive_samples, fit, random_ending, training_samples, tune

SHIPPED_ARCHIVE = Path(__file__).parents[2] / "experiments" / "data" / "ballots.pdn.gz"
SMALL = TuningOptions(games=120, rounds=1, depth=2, ending_depth=2)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> EndgameDatabase:
    return EndgameDatabase.build(tmp_path_factory.mktemp("endgames") / "3.egdb", 3)


@pytest.fixture(scope="module")
def games() -> list[Record]:
    return archive_games([SHIPPED_ARCHIVE])


def test_games_with_the_same_moves_count_once(tmp_path: Path) -> None:
    path = tmp_path / "games.pdn"
    path.write_text(
        '[Result "1-0"]\n1. 11-15 22-18 1-0\n\n[Event "again"]\n[Result "1-0"]\n1. 11-15 22-18 1-0\n\n'
        '[Result "*"]\n1. 11-15 *\n\n[Result "0-1"]\n1. 11-16 0-1\n'
    )
    assert [(len(game.codes), game.result) for game in archive_games([path])] == [
        (2, Result.BLACK_WINS),
        (1, Result.WHITE_WINS),
    ]


def test_archives_without_results_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.pdn"
    path.write_text('[Result "*"]\n1. 11-15 *\n')
    with pytest.raises(InputError, match="no game with a result"):
        archive_games([path])


def test_samples_are_quiet_and_labelled_for_the_side_that_has_moved(games: list[Record]) -> None:
    some = games[:60]
    samples = archive_samples(some, SMALL, np.random.SeedSequence(1))
    assert np.bincount(samples.games).max() <= SMALL.samples
    assert len({*samples.points.tolist()}) == 3
    for row, points, number in zip(
        samples.positions.tolist(), samples.points.tolist(), samples.games.tolist(), strict=True
    ):
        position = Position(row[0], row[1], row[2], Colour(row[3]))
        assert not any(move.captures for move in legal_moves(position))
        assert points == some[number].result.points(position.side.other)
        assert row in some[number].positions[SMALL.first_ply :].tolist()


def test_another_seed_takes_other_positions(games: list[Record]) -> None:
    first, again, other = (archive_samples(games[:20], SMALL, np.random.SeedSequence(n)) for n in (1, 1, 2))
    assert np.array_equal(first.positions, again.positions)
    assert not np.array_equal(first.positions, other.positions)


def test_training_games_do_not_depend_on_workers(database: EndgameDatabase) -> None:
    weights = read_weights()
    steps: list[tuple[str, int, int]] = []
    one, two = (
        training_samples(weights, database, SMALL, np.random.SeedSequence(3), workers, lambda *step: steps.append(step))
        for workers in (1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert steps[-1] == ("training games", 120, 120)
    assert int(one.games.max()) == 119
    assert {*one.points.tolist()} == {0.0, 0.5, 1.0}
    pieces = [int(row[0] | row[1]).bit_count() for row in one.positions.tolist()]
    assert min(pieces) <= FEWEST_PIECES < max(pieces)


def test_games_that_come_down_to_the_database_end_as_it_says(database: EndgameDatabase) -> None:
    options = SMALL._replace(set_ups=1.0, samples=1000)
    samples = training_samples(read_weights(), database, options, np.random.SeedSequence(5), 1, lambda *_: None)
    known = 0
    for row, points in zip(samples.positions.tolist(), samples.points.tolist(), strict=True):
        position = Position(row[0], row[1], row[2], Colour(row[3]))
        probe = database.probe(position)
        if probe is not None:
            known += 1
            assert points == {"win": 0.0, "draw": 0.5, "loss": 1.0}[probe.outcome.value]
    assert known > 10


def test_random_endings() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        position = random_ending(6, rng)
        black, white = position.black.bit_count(), position.white.bit_count()
        assert 6 <= black + white <= 10
        assert abs(black - white) <= 1
        assert not position.black & position.white
        assert not position.black & ~position.kings & 0xF0000000
        assert not position.white & ~position.kings & 0x0000000F


def test_tuning_finds_that_pieces_matter(database: EndgameDatabase, games: list[Record]) -> None:
    stages = tune([SHIPPED_ARCHIVE], database, SMALL)
    assert len(stages) == 2
    assert stages[0].positions < stages[1].positions
    for stage in stages:
        assert stage.log_loss < stage.even_loss
        one_ahead = stage.weights[:, MAN] + stage.weights[:, MAJORITY] * np.array([8 / 23, 8 / 7, 8 / 7])
        assert one_ahead == pytest.approx([1, SMALL.trade_down, SMALL.trade_down])
    again = tune([SHIPPED_ARCHIVE], database, SMALL, workers=2)
    assert np.array_equal(stages[1].weights, again[1].weights)


def test_too_few_games_are_refused() -> None:
    records = [
        game for game in read_pdn_text("1. 11-15 22-18 15x22 25x18 8-11 29-25 4-8 1-0") if isinstance(game, Record)
    ]
    samples = archive_samples(records, SMALL, np.random.SeedSequence(1))
    with pytest.raises(InputError, match="too few"):
        fit(samples, SMALL, np.random.SeedSequence(1))


def test_the_command_refuses_a_place_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "reference", str(SHIPPED_ARCHIVE), "--out", str(tmp_path)]) == 2
    assert "right would be a file in a folder that exists" in capsys.readouterr().err


def test_the_command_writes_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands_endgame, "default_file", lambda pieces: tmp_path / f"{pieces}.egdb")
    out = tmp_path / "weights.json"
    arguments = ["--games", "20", "--rounds", "1", "--depth", "1", "--pieces", "2", "--out", str(out), "--json"]
    assert run(["tune", "reference", str(SHIPPED_ARCHIVE), *arguments]) == 0
    assert '"games": 20' in capsys.readouterr().out
    assert read_weights(out).shape == read_weights().shape
