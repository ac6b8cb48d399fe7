"""The PDN reader and writer on hand-made records."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers import Colour, Game, Position, Result, draws
from checkers.errors import FileFormatError
from checkers.moves import Move
from checkers.pdn import Record, Rejection, WarningKind, read_pdn, read_pdn_text, write_pdn

# 10x17x26 takes 14 and 22, 10x19x26 takes 15 and 23
TWO_WAYS = '[FEN "B:W14,15,22,23,32:B1,10"]\n'


def read(text: str) -> list[Record | Rejection]:
    return list(read_pdn_text(text))


def one(text: str) -> Record:
    (game,) = read(text)
    assert isinstance(game, Record), game
    return game


def rejected(text: str) -> Rejection:
    (game,) = read(text)
    assert isinstance(game, Rejection), game
    return game


def moves(record: Record) -> str:
    return " ".join(str(Move.from_code(code)) for code in record.codes.tolist())


def test_one_game_from_text_to_game() -> None:
    record = one('[Event "x"]\n[Black "A"]\n[Result "1-0"]\n\n1. 11-15 23-19 2. 8-11 22-17 1-0\n')
    assert (record.number, record.line, record.file) == (1, 1, "<text>")
    assert record.codes.shape == (4,)
    assert record.codes.dtype == record.positions.dtype == np.uint32
    assert record.positions.shape == (5, 4)
    assert record.result is Result.BLACK_WINS
    assert record.warnings == ()
    game = record.game()
    assert game.tags == {"Event": "x", "Black": "A", "Result": "1-0"}
    assert [str(move) for move in game.moves] == ["11-15", "23-19", "8-11", "22-17"]
    assert game.result is Result.BLACK_WINS
    assert [tuple(row) for row in record.positions.tolist()] == [tuple(position) for position in game.positions]


@pytest.mark.parametrize(
    "text",
    [
        "1. 11-15 23-19 2. 8-11 22-17 *",
        "1.11-15 23-19 2.8-11 22-17*",
        "11-15 23-19 8-11 22-17",
        "1 11-15 23-19 2 8-11 22-17 *",
        "1. 11-15 1... 23-19 2. 8-11 2... 22-17 *",
        "1. 11x15 23x19 2. 08-11 22X17 *",
        "1. 11-15 {a {nested} comment 9-14} 23-19 2. 8-11 {over\nlines [Tag]} 22-17 *",
        "1. 11-15 23-19 ; 8-12\n% 9-13\n2. 8-11 22-17 *",
        "1. 11-15 23-19 (23-18 (24-20 { ) ; }) 8-11) 2. 8-11 $1 $22 22-17 *",
        "1. 11-15! 23-19?? 2. 8-11!? (!?) 22-17(?) *",
        "1. 11-15 23-19 2. 8-11* 22-17 *",
        "\ufeff1. 11- 15 23 - 19\r\n2. 8-11 22-17\r\n",
        "% a header\n; another\n1. 11–15 23–19 2. 8–11 22–17 *\x1a",
    ],
)
def test_spellings_of_one_game(text: str) -> None:
    assert moves(one(text)) == "11-15 23-19 8-11 22-17"


@pytest.mark.parametrize("capture", ["15x22", "15-22", "15:22", "15×22"])
def test_captures_are_found_by_their_squares(capture: str) -> None:
    assert moves(one(f"1. 11-15 22-18 2. {capture} *")) == "11-15 22-18 15x22"


@pytest.mark.parametrize("path", ["2x27", "2x11x27", "2x18x27", "2x11x18x27", "2-11-18-27", "02x27"])
def test_paths_may_be_short_partial_or_full(path: str) -> None:
    fen = '[FEN "W:WK2,21:B7,15,23,1"]'
    assert moves(one(f"{fen} {path} *")) == "2x11x18x27"
    assert rejected(f"{fen} 2x18x11x27 *").kind == "illegal move"


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("11-151-0", "11-15", Result.BLACK_WINS),
        ("11-15 23-190-1", "11-15 23-19", Result.WHITE_WINS),
        ("11-15 23-191/2-1/2", "11-15 23-19", Result.DRAW),
        ("11-15 ½-½", "11-15", Result.DRAW),
        ("11-15 1-1", "11-15", Result.DRAW),
        ("11-15 2-0", "11-15", Result.BLACK_WINS),
        ("11-15*", "11-15", Result.UNFINISHED),
        ('[FEN "B:W32:BK5"] 5-11/2-1/2', "5-1", Result.DRAW),
        ('[FEN "B:W32:BK5"] 5-11-0', "5-1", Result.BLACK_WINS),
        ('[FEN "B:W32:BK5"] 5-10-1', "5-1", Result.WHITE_WINS),
        ('[FEN "B:W32:BK5"] 5-1 0-1', "5-1", Result.WHITE_WINS),
    ],
)
def test_results_glued_or_not(text: str, path: str, result: Result) -> None:
    record = one(text)
    assert (moves(record), record.result) == (path, result)


def test_moves_are_not_results_and_results_not_moves() -> None:
    assert moves(one('[FEN "B:W32:BK1,K2"] 1-6 32-28 1. 2-7 *')) == "1-6 32-28 2-7"
    assert moves(one('[FEN "B:W32:BK1"] 01-05 32-28 1-0')) == "1-5 32-28"
    assert moves(one('[FEN "W:WK1:B32,9"] 1-6 9-13 6-1 0-1')) == "1-6 9-13 6-1"


def test_tags_in_any_case_order_and_state() -> None:
    text = (
        '[result "0-1"]\n[SETUP "1"]\n[fen "W:W32,27:B20,15."]\n[Event "say \\"hi\\""]\n[Annotator "the "Old" one"]\n'
        '[Note what]\n[Date ""]\n32-28 0-1'
    )
    record = one(text)
    assert list(record.tags) == ["Result", "SetUp", "FEN", "Event", "Annotator", "Note", "Date"]
    assert record.tags["Event"] == 'say "hi"'
    assert record.tags["Annotator"] == 'the "Old" one'
    assert record.tags["Date"] == ""
    assert record.start == Position.from_fen("W:W32,27:B20,15")
    assert len(record.warnings) == 2


def test_where_games_begin_and_end() -> None:
    text = (
        "11-15 *\n9-13 22-18 1-0 *\n"
        '[Event "c"]\n9-14\n'  # no result
        '[Event "d"]\n\n[Black "D"]\n9-14 0-1[Event "e"]\n9-13 *\n\n'
        '[FEN "B:W32:B1"] *\n[FEN "B:W32:B2"]\n[FEN "B:W32:B3"] *\n\n'
        '[Event "i"]\n11-15 1-0\n'
    )
    games = read(text)
    assert all(isinstance(game, Record) for game in games)
    assert [game.number for game in games] == list(range(1, 10))
    assert [len(game.codes) for game in games if isinstance(game, Record)] == [1, 2, 1, 1, 1, 0, 0, 0, 1]
    assert [game.line for game in games] == [1, 2, 3, 5, 8, 11, 12, 13, 15]
    assert isinstance(games[3], Record)
    assert games[3].tags == {"Event": "d", "Black": "D"}


def test_a_bad_game_spoils_no_other() -> None:
    good = '[Event "g"]\n\n1. 11-15 23-19 *\n\n'
    for bad in (
        '[Event "b"]\n1. 11-15 { never closed 23-19 *\n\n',
        '[Event "b"]\n1. 11-15 ( 23-19 *\n\n',
        '[Event "b"]\n1. 11-15 23-1z9-4 *\n\n',
        '[Event "b"]\n1. 11-15 23-155 *\n\n',
        '[Event "b"]\n1. 11-15 2319 *\n\n',
        '[FEN "B:W33x:B1"]\n1. 11-15 *\n\n',
        '[Event "b"]\n1. 11-15 /FEN "B:W32:B1"/ 1-5 *\n\n',
        '[Event "b"]\n1. 11-16 23-19 2. 16-24 *\n\n',
        '[Event "b"]\n1-0\n\n',
    ):
        before, middle, after = read(good + bad + good)
        assert isinstance(middle, Rejection), bad
        assert isinstance(before, Record)
        assert isinstance(after, Record), bad
        assert (before.line, after.line) == (1, 5 + bad.count("\n"))
        assert "\n" not in middle.reason


def test_a_rejection_says_where() -> None:
    rejection = rejected('[Event "x"]\n\n1. 11-15 23-19\n2. 8-11 22x99 3. 4-8 *\n')
    assert (rejection.line, rejection.column, rejection.ply) == (4, 9, 4)
    assert rejection.reason == "square not on the board: '22x99'; squares are 1 to 32"
    assert rejection.text.startswith('[Event "x"]')
    rejection = rejected("1. 11-15 23-19 2. 15-19 *")
    assert (rejection.line, rejection.column, rejection.ply) == (1, 19, 3)
    assert rejection.kind == "illegal move"
    position = one("11-15 23-19").game().position
    assert position.fen() in rejection.reason
    assert "15-18" in rejection.reason
    wrong = rejected('[Event "x"]\n[FEN "W:WK99:B1"] 1-5 *')
    assert wrong.reason == "wrong FEN: FEN 'W:WK99:B1': square 99 is not on the board; squares are 1 to 32"
    assert (wrong.line, wrong.column, wrong.ply) == (2, 7, 0)


def test_ambiguous_captures_are_settled_by_what_follows() -> None:
    paths = {str(m): m for m in Position.from_fen("B:W14,15,22,23,32:B1,10").legal_moves() if m.target == 26}
    assert set(paths) == {"10x17x26", "10x19x26"}
    rejection = rejected(TWO_WAYS + "10x26 32-28 *")
    assert (rejection.kind, rejection.ply) == ("ambiguous capture", 1)
    assert "10x17x26 or 10x19x26" in rejection.reason
    assert moves(one(TWO_WAYS + "10x26 15-11 *")) == "10x17x26 15-11"
    assert moves(one(TWO_WAYS + "10x26 14-10 *")) == "10x19x26 14-10"
    assert moves(one(TWO_WAYS + "10x19x26 32-28 *")) == "10x19x26 32-28"
    rejection = rejected(TWO_WAYS + "10x26 32-28 26-31 28-32 *")
    assert (rejection.kind, rejection.ply) == ("illegal move", 4)


def test_paths_with_one_result_are_one_move() -> None:
    fen = "B:W14,15,22,23,32:B1,K10"  # round the four men either way
    ways = [move for move in Position.from_fen(fen).legal_moves() if move.target == move.origin]
    assert len(ways) == 2
    record = one(f'[FEN "{fen}"] 10x10 *')
    assert record.codes[0] == ways[0].code
    assert moves(one(f'[FEN "{fen}"] {ways[1]} *')) == str(ways[1])


def test_results_that_contradict() -> None:
    record = one('[Result "1-0"]\n11-15 0-1')
    assert record.result is Result.BLACK_WINS
    assert record.warnings
    lost = '[FEN "B:W14:B9,1"]\n[Result "0-1"]\n9x18 0-1'  # White has nothing left
    record = one(lost)
    assert record.result is Result.BLACK_WINS
    (warning,) = record.warnings
    assert warning.kind is WarningKind.RESULT_AGAINST_BOARD
    assert "White has no move left" in warning.text
    assert record.finished
    assert record.tags["Result"] == "0-1"
    assert record.game().result is Result.BLACK_WINS
    assert one(lost.replace("0-1", "1-0")).warnings == ()
    (turned,) = read_pdn_text(lost, one_zero=Colour.WHITE)
    assert isinstance(turned, Record)
    assert (turned.result, turned.warnings) == (Result.BLACK_WINS, ())


def test_stray_words_are_skipped_with_a_warning() -> None:
    record = one('[Event "x"]\n11-15 23-19Redoverstepped. 8-11 22-17 1-0')
    assert moves(record) == "11-15 23-19 8-11 22-17"
    assert record.warnings == ((WarningKind.TEXT, "'Redoverstepped.' outside braces skipped (line 2, column 12)"),)
    assert rejected("see the games 11-15 and so on").kind == "text outside braces"


@pytest.mark.parametrize(
    ("text", "game"),
    [
        ('[GameType "20"]\n1. 32-28 *', "international draughts (10x10)"),
        ('[GameType "25,W,8,8,A0,0"]\n1. A3-B4 *', "Russian draughts"),
        ('[GameType "22"]\n11-15 *', "Italian draughts"),
        ('[GameType "77"]\n11-15 *', "another game"),
        ('[Event "x"]\nc3-d4 d6-c5 *', "Czech, Russian or another game with algebraic squares"),
        ("1. A3-B4 *", "Czech, Russian or another game with algebraic squares"),
        ('[FEN "W:Wa1,Kc3:Bh8"] *', "Czech, Russian or another game with algebraic squares"),
        ('[FEN "W:W48:B1"] *', "international draughts (10x10)"),
        ('[FEN "W:W72:B1"] *', "Canadian draughts (12x12)"),
        ("1. 33-29 19-23 2. 39-33 *", "international draughts (10x10)"),
        ('[Bianco "x"] 11-15 *', "Italian draughts"),
        ("1. 23-19 11-15 *", "Italian draughts"),
    ],
)
def test_other_games_are_named(text: str, game: str) -> None:
    rejection = rejected(text)
    assert rejection.other_game == game
    assert rejection.kind == f"{game}, not English checkers"


@pytest.mark.parametrize("text", ['[GameType "21"]\n23-19 *', "11-15 23-19 8-11 22x45 *", "11-15 24-15 *"])
def test_mistakes_are_not_other_games(text: str) -> None:
    assert rejected(text).other_game is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.pdn", b"", "is empty"),
        ("empty.pdn.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("binary.pdn", bytes(range(256)), "is a binary file"),
        ("sixteen.pdn", "[Event]".encode("utf-16"), "is UTF-16"),
        ("half.pdn.gz", gzip.compress(b"11-15 *" * 1000, mtime=0)[:40], "damaged gzip"),
        ("prose.pdn", b"nothing to see here, (really) *\n", "holds no PDN game"),
    ],
)
def test_files_that_are_no_archives(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        list(read_pdn(path))
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_missing_files_and_directories_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no such file"):
        read_pdn(tmp_path / "none.pdn")
    with pytest.raises(FileFormatError, match="is a directory"):
        read_pdn(str(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_line_ends_and_gzip(tmp_path: Path, encoding: str, end: str, packed: bool) -> None:
    text = '[Event "Müller – 2"]\n[White "Ó"]\n\n1. 11-15 23-19 {é}\n2. 8-11 *\n\n[Event "b"]\n\n9-14 1-0\n'
    if encoding == "latin-1":
        text = text.replace("–", "-").replace("Ó", "\x81")  # not in CP1252
    content = text.replace("\n", end).encode(encoding)
    path = tmp_path / "games"
    path.write_bytes(gzip.compress(content) if packed else content)
    first, second = read_pdn(path)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert first.tags["Event"] == ("Müller - 2" if encoding == "latin-1" else "Müller – 2")
    assert (moves(first), second.line) == ("11-15 23-19 8-11", 7)


def test_chunks_cut_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f'[Event "{n}"]\n\n[Black "B"]\n1. 11-15 {{\n\nx}} 23-19\n1-0\n\n' for n in range(50))
    path = tmp_path / "games.pdn"
    path.write_text(text, encoding="utf-8")
    expected = [(game.number, game.line) for game in read(text)]
    assert len(expected) == 50
    for chunk in (1, 7, 64, 1000):
        monkeypatch.setattr("checkers.pdn_source.CHUNK", chunk)
        games = list(read_pdn(path))
        assert [(game.number, game.line) for game in games] == expected
        assert all(isinstance(game, Record) and len(game.codes) == 2 and len(game.tags) == 2 for game in games)


def test_what_is_written() -> None:
    game = Game(tags={"Black": "B", "ECO": "", "Note": 'a "b" \\', "Event": "E", "GameType": "20"})
    for text in ("11-15", "22-18", "15x22", "25x18"):
        game.play(game.position.move(text))
    game.finish(Result.DRAW, "agreed")
    assert write_pdn(game, width=30) == (
        '[Event "E"]\n[Black "B"]\n[Result "1/2-1/2"]\n[GameType "21"]\n[Note "a \\"b\\" \\\\"]\n\n'
        "1. 11-15 22-18 2. 15x22 25x18\n*\n"
    )


def test_a_set_up_is_written_and_paths_only_where_needed() -> None:
    position = Position.from_fen("B:W14,15,22,23,32:B1,10")
    game = Game(position, policy=draws.NONE)
    game.play(position.move("10x19x26"))
    text = write_pdn(game)
    assert '[SetUp "1"]\n[FEN "B:W14,15,22,23,32:B1,10"]' in text
    assert "1. 10x19x26 *" in text
    white = Position.from_fen("W:WK2,21:B7,15,23,1")
    game = Game(white, policy=draws.NONE)
    game.play(white.move("2x27"))
    game.play(game.position.move("1-5"))
    assert "1... 2x27 2. 1-5 *" in write_pdn(game)
    empty = write_pdn(Game())
    assert empty.startswith('[Result "*"]\n[GameType "21"]\n[SetUp "1"]\n[FEN "B:W')
    assert one(empty).start == Position.start()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 120), st.sampled_from([40, 80]))
def test_what_is_written_is_read_again(seed: int, plies: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    fens = [None, "W:WK2,K31,21,22:BK7,15,23,1", "B:W14,15,22,23,32:B1,10"]
    fen = fens[int(rng.integers(3))]
    game = Game(Position.from_fen(fen) if fen else None, policy=draws.NONE, tags={"Event": 'q"\\', "Black": "ñ"})
    while len(game.moves) < plies and game.legal_moves():
        game.play(game.legal_moves()[int(rng.integers(len(game.legal_moves())))])
    text = write_pdn(game, width=width)
    record = one(text)
    again = record.game()
    assert again.moves == game.moves
    assert again.positions == game.positions
    assert again.result is game.result
    assert record.warnings == ()
    assert again.tags["Event"] == 'q"\\'
    assert write_pdn(again, width=width) == text
    assert all(len(line) <= width for line in text.splitlines())


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *'[]{}();%"\\*',
                "\n",
                "\n\n",
                " ",
                "11-15",
                "23-19",
                "1.",
                "1-0",
                '[Event "e"]',
                "a3-b4",
                "word",
                "½",
                "$3",
                "10x26",
                '[FEN "B:W14,15,22,23,32:B1,10"]',
                "[FEN ",
                "5-10-1",
                "99x1",
                "8",
                "/",
                "-",
                "x",
            ]
        )
    )
)
def test_no_text_breaks_the_reader(parts: list[str]) -> None:
    games = read("".join(parts))
    assert [game.number for game in games] == list(range(1, len(games) + 1))
    for game in games:
        if isinstance(game, Record):
            assert len(game.game().moves) == len(game.codes)
        else:
            assert game.reason
            assert "\n" not in game.reason
