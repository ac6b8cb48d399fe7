"""The PDN reader on real archives: the counts their publishers' pages give, and a slow reading of the same games."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkers import Position, Result
from checkers.errors import MoveError
from checkers.moves import Move
from checkers.pdn import (
    Record,
    Rejection,
    WarningKind,
    check,
    read_annotated,
    read_pdn,
    read_pdn_text,
)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "pdn"
real = pytest.mark.skipif(not DATA.is_dir(), reason="the shared PDN archives are not here")


def slow_reading(text: str) -> list[Position]:
    """The positions of a game, move by move with the move parser; ends before the first move that fails."""
    body = re.sub(r"\{[^}]*\}|\[[^]]*\]", " ", text)
    fen = re.search(r'\[FEN "([^"]*)"', text)
    positions = [Position.from_fen(fen[1]) if fen else Position.start()]
    for token in re.findall(r"\b\d+(?:[-x]\d+)+", body):
        if token in ("1-0", "0-1"):
            break
        try:
            positions.append(positions[-1].play(positions[-1].move(token)))
        except MoveError:
            break
    return positions


@real
@pytest.mark.parametrize(
    ("name", "games", "accepted", "plies"),
    [
        ("games/acf_7000.pdn", 7000, 7000, 343_213),
        ("games/oca_43.pdn", 43, 43, None),
        ("games/inferno.pdn", 68, 68, None),
        ("games/tricks_traps_and_shots.pdn", 91, 91, None),
        ("games/tinsley.pdn", 724, 723, None),
        ("raven/german_open_2004.pdn", 1, 1, None),
        ("games_checkers/british_test.pdn", 1, 1, 4),
        ("checkerboard/11_man_english.pdn", 2400, 2400, 0),
        ("problems/goulds.pdn", 262, 262, 0),
        ("problems/bridges.pdn", 267, 267, 0),
        ("problems/beginner.pdn", 58, 58, 0),
    ],
)
def test_archives(name: str, games: int, accepted: int, plies: int | None) -> None:
    summary = check([DATA / name])
    assert (summary.games, summary.accepted, summary.rejected) == (games, accepted, games - accepted)
    assert plies in (None, summary.plies)
    assert sum(summary.reasons.values()) == summary.rejected


@real
@pytest.mark.slow
def test_open_checkers_archive() -> None:
    summary = check([DATA / "oca" / "OCA_2.0_1841-1979.pdn"])
    assert (summary.accepted, summary.rejected, summary.plies) == (17_450, 0, 911_081)


@real
def test_the_tinsley_archive_case_by_case() -> None:
    rejections: list[Rejection] = []
    summary = check([DATA / "games" / "tinsley.pdn"], rejections.append)
    assert summary.warnings == 2
    (rejection,) = rejections
    assert (rejection.ply, rejection.kind) == (123, "illegal move")
    assert "Petal 1981" in rejection.text
    line = (DATA / "games" / "tinsley.pdn").read_text().splitlines()[rejection.line - 1]
    assert line[rejection.column - 1 :].startswith("32-28")


@real
def test_the_ambiguous_captures_of_the_tricks() -> None:
    records = list(read_pdn(DATA / "games" / "tricks_traps_and_shots.pdn"))
    for number, ply, short in ((57, 37, "10x26"), (90, 22, "32x7")):
        record = records[number - 1]
        assert isinstance(record, Record)
        move = Move.from_code(int(record.codes[ply - 1]))
        assert f"{move.origin}x{move.target}" == short
        before = record.game().positions[ply - 1]
        rivals = [m for m in before.legal_moves() if (m.origin, m.target) == (move.origin, move.target)]
        assert len({before.play(m) for m in rivals}) == 2


@real
def test_the_fast_reading_is_the_slow_one() -> None:
    for name in ("oca_43", "inferno", "tricks_traps_and_shots"):
        text = (DATA / "games" / f"{name}.pdn").read_text().replace("\r", "")
        records = list(read_pdn_text(text))
        bodies = re.split(r'(?=\[Event ")', text)[1:]
        assert len(bodies) == len(records)
        for record, body in zip(records[:45], bodies[:45], strict=True):
            assert isinstance(record, Record)
            assert [tuple(row) for row in record.positions.tolist()] == slow_reading(body)


@real
def test_the_result_that_the_board_contradicts() -> None:
    (record,) = read_pdn(DATA / "checkers_engine" / "kingsrow_2.pdn")
    assert isinstance(record, Record)
    assert record.result is Result.BLACK_WINS
    assert [warning.kind for warning in record.warnings] == [WarningKind.RESULT_AGAINST_BOARD]
    summary = check([DATA / "checkers_engine" / "kingsrow_2.pdn"])
    assert (summary.finished, summary.contradicted) == (1, 1)


OTHERS = {
    "other_games/PROF2.pdn": (16, "international draughts (10x10)"),
    "other_games/kurnik.pdn": (4, "international draughts (10x10)"),
    "other_games/PWCP_2.pdn": (51, "international draughts (10x10)"),
    "other_games/mrcd2006.pdn": (44, "Czech, Russian or another game with algebraic squares"),
    "other_games/italian_2005.pdn": (53, "Italian draughts"),
    "pdn3/candidate95.pdn": (8, "international draughts (10x10)"),
    "pdn3/Cat.B1.pdn": (37, "international draughts (10x10)"),
    "pdn3/mrdrcd08.pdn": (40, "Czech, Russian or another game with algebraic squares"),
    "pdn3/italian_2005_latin1.pdn": (53, "Italian draughts"),
    "hcheckers/draw1.pdn": (1, "Russian draughts"),
    "games_checkers/ci98-fero.pdn": (17, "Italian draughts"),
}


@real
@pytest.mark.parametrize("name", OTHERS)
def test_archives_of_other_games(name: str) -> None:
    games, game = OTHERS[name]
    path = DATA / name
    summary = check([path])
    assert (summary.games, summary.accepted) == (games, 0)
    assert summary.other_games == {str(path): game}
    assert list(summary.reasons) == [f"{game}, not English checkers"]


INTERNATIONAL = "international draughts (10x10), not English checkers"


@real
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fen", ["B:W11,13,29:B2,4,22", "W:WK15,29,31:B9,12,13,14", INTERNATIONAL]),
        ("gameterminator", [INTERNATIONAL]),
        ("linecomment", [INTERNATIONAL]),
        ("movestrength", [INTERNATIONAL]),
        ("nested_comment", [INTERNATIONAL]),
        ("string", [INTERNATIONAL]),
        ("unicode", [INTERNATIONAL]),
        ("variation", [INTERNATIONAL]),
    ],
)
def test_odd_files(name: str, expected: list[str]) -> None:
    games = list(read_pdn(DATA / "odd" / f"{name}.pdn"))
    found = [game.start if isinstance(game, Record) else game.kind for game in games]
    assert found == [Position.from_fen(text) if ":" in text else text for text in expected]
    if name == "fen":
        assert isinstance(games[0], Record)
        assert games[0].warned(WarningKind.SIDE_UNKNOWN)


@real
def test_problems_that_no_game_reaches() -> None:
    odd = {
        (name, record.number, kind)
        for name in ("goulds", "bridges", "beginner")
        for record in read_pdn(DATA / "problems" / f"{name}.pdn")
        if isinstance(record, Record)
        for kind, _ in record.warnings
    }
    assert odd == {
        ("goulds", 93, WarningKind.MAN_ON_KING_ROW),
        ("beginner", 10, WarningKind.MAN_ON_KING_ROW),
        ("bridges", 14, WarningKind.EMPTY_BOARD),
    }


@real
@pytest.mark.parametrize(("name", "legal"), [("other_games/mrcd2006.pdn", 15), ("pdn3/mrdrcd08.pdn", 11)])
def test_algebraic_squares_are_english_only_on_demand(name: str, legal: int) -> None:
    assert check([DATA / name]).accepted == 0
    assert check([DATA / name], squares="algebraic").accepted == legal


@real
def test_comments_of_the_archives_are_kept_and_written(tmp_path: Path) -> None:
    path = DATA / "games" / "tricks_traps_and_shots.pdn"
    games = [game for game in read_annotated(path) if not isinstance(game, Rejection)]
    lines = [game.line for game in games]
    comments = [c for line in lines for c in (*line.comments, *(c for move in line.moves for c in move.comments))]
    assert len(comments) == 161
    summary = check([path], fix=tmp_path)
    (written,) = summary.written
    again = [game for game in read_annotated(written) if not isinstance(game, Rejection)]
    assert [game.line for game in again] == lines
    assert [game.record.start for game in again] == [game.record.start for game in games]
    assert not any(game.record.warnings for game in again)


@real
@pytest.mark.slow
def test_speed() -> None:
    path = DATA / "games" / "acf_7000.pdn"
    check([path])
    summary = check([path])
    assert summary.games / summary.seconds > 4000
