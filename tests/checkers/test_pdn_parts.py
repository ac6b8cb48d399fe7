from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.pdn import Record, Rejection, read_pdn
from checkers.pdn_source import parts_of, stretches

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "pdn"
FILES = sorted(path for path in DATA.rglob("*.pdn") if path.stat().st_size < 300_000) if DATA.is_dir() else []

PIECES = [
    '[Event "a"]', '[White "]"]', '[ Result "1-0" ]', "1. 11-15 23-19", "{ a comment\n\n[Event \"b\"] }", "1-0", "*",
    "", "\n", " \t", "]", "] ", "%", "é", "\x1a",
]  # fmt: skip


def check_parts(path: Path, size: int) -> int:
    """The stretches of the parts are those of the file; how many parts there are."""
    parts = parts_of(path, size)
    assert [begin for begin, _ in parts][1:] == [end for _, end in parts][:-1]
    assert parts[0][0] == 0
    assert parts[-1][1] == path.stat().st_size
    whole = [text for _, text in stretches(path)]
    assert [text for part in parts for _, text in stretches(path, part)] == whole
    return len(parts)


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=60),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 200),
)
def test_parts_of_any_text(tmp_path_factory: pytest.TempPathFactory, pieces: list[str], end: str, size: int) -> None:
    path = tmp_path_factory.mktemp("parts") / "text.pdn"
    for encoding in ("utf-8", "latin-1"):
        path.write_bytes(("x\n" + "\n".join(pieces)).replace("\n", end).encode(encoding))
        check_parts(path, size)


def test_games_are_those_of_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "games.pdn"
    game = '[Event "{}"]\r\n\r\n1. 11-15 23-19 2. {} *\r\n\r\n'
    path.write_bytes("".join(game.format(n, "8-11" if n % 5 else "8-12") for n in range(200)).encode())
    assert check_parts(path, 700) > 10
    found = [one for part in parts_of(path, 700) for one in read_pdn(path, part=part)]
    for one, other in zip(found, read_pdn(path), strict=True):
        assert type(one) is type(other)
        if isinstance(one, Record) and isinstance(other, Record):
            assert (one.tags, one.codes.tolist()) == (other.tags, other.codes.tolist())
        if isinstance(one, Rejection) and isinstance(other, Rejection):
            assert (one.reason, one.text) == (other.reason, other.text)
    for part in itertools.islice(parts_of(path, 700), 3):
        assert next(read_pdn(path, part=part)).number == 1


def test_what_has_no_parts(tmp_path: Path) -> None:
    path = tmp_path / "games.pdn"
    text = b'[Event "x"]\n\n1. 11-15 *\n\n' * 50
    path.write_bytes(gzip.compress(text))
    assert len(parts_of(path, 10)) == 1
    path.write_bytes(text.replace(b"\n", b"\r"))  # such line ends are not looked for
    assert len(parts_of(path, 10)) == 1
    assert parts_of(tmp_path / "none.pdn", 10) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_parts_of_the_shared_files(path: Path) -> None:
    check_parts(path, 5000)
