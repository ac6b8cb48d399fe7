"""Checking archives: counts, rejected games written out, clean PDN written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from checkers import Colour
from checkers.errors import FileFormatError
from checkers.pdn import Record, Rejection, check, read_pdn

GOOD = '[Event "good"]\n\n1. 11-15! {c} 23-19 (23-18) 2. 8-11 1-0\n\n'
BAD = '[Event "bad"]\n\n1. 11-15\n23-14 0-1\n\n'


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "mixed.pdn"
    path.parent.mkdir()
    path.write_text(GOOD + BAD + GOOD)
    return path


def test_rejects_say_where_and_why_and_can_be_mended(mixed: Path, tmp_path: Path) -> None:
    summary = check([mixed], rejects=tmp_path / "out")
    (written,) = summary.written
    assert written == tmp_path / "out" / "mixed.rejected.pdn"
    text = written.read_text()
    first, second, rest = text.split("\n", 2)
    assert first == f"% {mixed}: game 2, line 8, column 1, ply 2"
    assert second.startswith("% illegal move: '23-14' in W:")
    assert rest == BAD
    assert [(type(game), game.line) for game in read_pdn(written)] == [(Rejection, 6)]
    written.write_text(text.replace("23-14", "23-19"))
    assert [type(game) for game in read_pdn(written)] == [Record]


def test_fix_writes_what_was_read(mixed: Path, tmp_path: Path) -> None:
    summary = check([mixed], fix=tmp_path / "out")
    (written,) = summary.written
    record = '[Event "good"]\n[Result "1-0"]\n[GameType "21"]\n\n1. 11-15! {c} 23-19 (1... 23-18) 2. 8-11 *\n\n'
    assert written.name == "mixed.clean.pdn"
    assert written.read_text() == record * 2
    again = check([written])
    assert (again.accepted, again.rejected, again.warnings) == (2, 0, 0)


def test_nothing_to_write_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "good.pdn.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    summary = check([path], rejects=tmp_path / "rejects", fix=tmp_path / "fix")
    assert [file.name for file in summary.written] == ["good.clean.pdn"]
    assert not (tmp_path / "rejects").exists()


def test_archives_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    paths = [tmp_path / name / "games.pdn" for name in "abc"]
    for path in paths:
        path.parent.mkdir()
        path.write_text(GOOD)
    summary = check(paths, fix=tmp_path)
    assert [file.name for file in summary.written] == ["games.clean.pdn", "games-2.clean.pdn", "games-3.clean.pdn"]


def test_a_damaged_archive_leaves_no_half_file(mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = tmp_path / "half.pdn.gz"
    monkeypatch.setattr("checkers.pdn_source.CHUNK", 1000)
    half.write_bytes(gzip.compress((GOOD + BAD).encode() * 1500)[:-100])
    out = tmp_path / "out"
    with pytest.raises(FileFormatError, match="damaged gzip"):
        check([half], rejects=out, fix=out)
    assert list(out.iterdir()) == []
    told: list[str] = []
    summary = check([half, mixed], rejects=out, fix=out, on_unreadable=lambda path, _: told.append(path))
    assert told == [str(half)] == list(summary.unreadable)
    assert sorted(file.name for file in out.iterdir()) == ["mixed.clean.pdn", "mixed.rejected.pdn"]


def test_a_folder_that_cannot_be_written(mixed: Path) -> None:
    with pytest.raises(FileFormatError, match=r"cannot be written .*right would be a folder"):
        check([mixed], fix=mixed, on_unreadable=lambda *_: None)


def test_finished_boards_tell_the_orientation(tmp_path: Path) -> None:
    path = tmp_path / "won.pdn"
    path.write_text('[FEN "B:W14:B9,1"]\n[Result "0-1"]\n9x18 *\n\n' * 3)
    summary = check([path])
    assert (summary.finished, summary.contradicted) == (3, 3)
    assert summary.warning_kinds == {"result against the board": 3}
    summary = check([path], one_zero=Colour.WHITE)
    assert (summary.finished, summary.contradicted) == (3, 0)
