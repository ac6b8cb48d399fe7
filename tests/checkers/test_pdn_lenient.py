"""What people's PDN files have in them: one test for each thing, and files of any size."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from checkers import Colour, Position, Result
from checkers.moves import Move
from checkers.pdn import Record, Rejection, WarningKind, read_pdn, read_pdn_text


def one(text: str, **options: object) -> Record:
    (game,) = read_pdn_text(text, **options)  # type: ignore[arg-type]
    assert isinstance(game, Record), game
    return game


def moves(record: Record) -> str:
    return " ".join(str(Move.from_code(code)) for code in record.codes.tolist())


def kinds(record: Record) -> list[WarningKind]:
    return [warning.kind for warning in record.warnings]


def test_duplicate_tags() -> None:
    record = one('[Event "a"]\n[Black "b"]\n[black "c"]\n11-15 *')
    assert record.tags["Black"] == "b"
    assert kinds(record) == [WarningKind.TAG_TWICE]


def test_red_is_black() -> None:
    record = one('[RED "a"]\n[white "b"]\n11-15 *')
    assert (record.tags, record.warnings) == ({"Black": "a", "White": "b"}, ())


@pytest.mark.parametrize("tag", ['[Black "x y]', '[Black "x y', '[Black x y"]', "[Black x y]", '[ Black  x y"  ]'])
def test_missing_quotes_and_brackets(tag: str) -> None:
    record = one(f'[Event "e"]\n{tag}\n[White "w"]\n11-15 *')
    assert record.tags == {"Event": "e", "Black": "x y", "White": "w"}
    assert kinds(record) == [WarningKind.TAG_FORM]


def test_a_broken_tag_does_not_eat_the_moves() -> None:
    record = one("[Black x] [White w] 11-15 23-19 *")
    assert (record.tags, moves(record)) == ({"Black": "x", "White": "w"}, "11-15 23-19")


def test_text_left_without_braces() -> None:
    record = one('[Event "e"]\n11-15 Black is better here 23-19! and so on *')
    assert moves(record) == "11-15 23-19"
    assert set(kinds(record)) == {WarningKind.TEXT}
    assert len(one('[Event "e"]\n11-15 ' + "word " * 1000 + "*").warnings) == 20
    finished = one('[FEN "B:W14:B9,1"]\n[Result "0-1"]\n9x18 ' + "word " * 1000 + "*")
    assert finished.warned(WarningKind.RESULT_AGAINST_BOARD)  # however much text there is


def test_several_games_in_one_paragraph() -> None:
    games = list(read_pdn_text('11-15 1-0 9-13 22-18 * [Event "c"] 9-14 0-1 10-15 1/2-1/2 1. 11-16*1. 9-13*'))
    assert [moves(game) for game in games if isinstance(game, Record)] == [
        *("11-15", "9-13 22-18", "9-14", "10-15", "11-16", "9-13")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1.11-15 23-19 2.8-11 22-17*",
        "1.11-15 1...23-19 2.8-11 2...22-17*",
        "1.11-15,23-19;c\n2.8-11,22-17",
        "1.11-15{c}23-19{c}2.8-11(8-12)22-17 1-0",
        "1.11-15!23-19?2.8-11$1 22-17",
        "7. 11-15 7. 23-19 7. 8-11 9. 22-17",
        "1) 11-15 23-19 2) 8-11 22-17",
    ],
)
def test_numbers_glued_repeated_or_wrong(text: str) -> None:
    (game,) = read_pdn_text('[Event "e"]\n' + text)
    assert isinstance(game, Record)
    assert moves(game) == "11-15 23-19 8-11 22-17"


@pytest.mark.parametrize("move", ["11- 15", "11 - 15", "11 -15", "11-  15", "11-15", "11x 15"])
def test_spaces_inside_a_move(move: str) -> None:
    assert moves(one(f"1. {move} 23-19 *")) == "11-15 23-19"


def test_carriage_returns_alone(tmp_path: Path) -> None:
    path = tmp_path / "mac.pdn"
    path.write_bytes(b'[Event "a"]\r\r1. 11-15\r23-19 ; c\r2. 8-11 *\r\r[Event "b"]\r\r9-13 *\r')
    first, second = read_pdn(path)
    assert isinstance(first, Record)
    assert (moves(first), second.line) == ("11-15 23-19 8-11", 7)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_pieces_of_a_file_end_with_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    text = b"".join(b'[Event "%d \xc3\xbc"]\n\n1. 11-15 23-19\n*\n\n' % n for n in range(30))
    path = tmp_path / "games.pdn"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", end))
    for chunk in (3, 5, 16, 50, 1 << 20):
        monkeypatch.setattr("checkers.pdn_source.CHUNK", chunk)
        games = list(read_pdn(path))
        assert [game.line for game in games] == list(range(1, 150, 5))
        assert all(isinstance(game, Record) and game.tags["Event"].endswith("ü") for game in games)


@pytest.mark.parametrize(
    "unit",
    ["11-15 23-19 *\n", "1. 11-15 23-19 1-0 ", '[FEN "B:W32:B1"] *\n', "1. 11-15\r1-0\r", '[Event "e"]\n11-15 *\n'],
)
def test_games_that_nothing_divides_are_cut_when_they_are_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    path = tmp_path / "games.pdn"
    path.write_bytes(unit.encode() * 2000)
    monkeypatch.setattr("checkers.pdn_source.CHUNK", 1000)
    monkeypatch.setattr("checkers.pdn_source.LONGEST_LINE", 2500)
    monkeypatch.setattr("checkers.pdn_source.LONGEST_GAME", 4000)
    games = list(read_pdn(path))
    assert len(games) == 2000
    assert all(isinstance(game, Record) for game in games)
    line_ends = unit.count("\n") + unit.count("\r")
    assert games[-1].line == 1 + 1999 * line_ends


def test_a_file_without_any_place_to_cut_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkers.pdn_source.CHUNK", 100)
    monkeypatch.setattr("checkers.pdn_source.LONGEST_LINE", 300)
    monkeypatch.setattr("checkers.pdn_source.LONGEST_GAME", 300)
    path = tmp_path / "one.pdn"
    for text in ('[Event "e"] 11-15 {' + "ü" * 5000, '[Event "e"]\n11-15 ' + "23-19\n" * 999):
        path.write_text(text, encoding="utf-8")
        assert all(isinstance(game, Rejection) or game.codes.size for game in read_pdn(path))


def test_algebraic_squares_only_on_demand() -> None:
    text = "1. c3-b4 f6-g5 2. d2-c3 *"
    (game,) = read_pdn_text(text)
    assert isinstance(game, Rejection)
    assert game.other_game == "Czech, Russian or another game with algebraic squares"
    expected = "11-16 22-17 7-11"
    assert moves(one(text, squares="algebraic")) == expected
    for tag in ("21,B,8,8,A0,0", "21,W,8,8,A,0", "21, B, 8, 8, A0"):
        assert moves(one(f'[GameType "{tag}"] {text}')) == expected
    (game,) = read_pdn_text(f'[GameType "25,W,8,8,A0,0"] {text}', squares="algebraic")
    assert isinstance(game, Rejection)
    assert game.other_game == "Russian draughts"
    (game,) = read_pdn_text(f'[GameType "21,B,8,8,N1,0"] {text}', squares="algebraic")
    assert isinstance(game, Rejection)


def test_algebraic_corners_and_positions() -> None:
    assert one('[FEN "B:Wh8:Ba1,Kd4"] *', squares="algebraic").start == Position.from_fen("B:W29:B4,K15")
    assert one('[GameType "21,B,8,8,A3,0"] [FEN "B:Wh8:Ba1"] *').start == Position.from_fen("B:W4:B29")
    assert moves(one('[GameType "21,B,8,8,A1,0"] 1. f3g4 *')) == "11-16"
    assert moves(one("1. C3:B4 11-15 *".replace("11-15", "22-17"), squares="algebraic")) == "11-16 22-17"
    (game,) = read_pdn_text("1. c3-c4 *", squares="algebraic")
    assert isinstance(game, Rejection)
    assert game.kind == "square not on the board"


@pytest.mark.parametrize("fen", ["W::.", "W::", "B:W:B", "W:W:B.", "w : : ", "B:"])
def test_an_empty_board(fen: str) -> None:
    record = one(f'[Result "1/2-1/2"]\n[FEN "{fen}"]\n1/2-1/2')
    assert (record.start[:3], record.result) == ((0, 0, 0), Result.DRAW)
    assert kinds(record) == [WarningKind.EMPTY_BOARD]


@pytest.mark.parametrize("fen", ["B:W1:B5", "B:W27:B31", "W:W27,2:BK30"])
def test_men_on_their_own_king_row(fen: str) -> None:
    record = one(f'[Result "1-0"]\n[FEN "{fen}"]\n*')
    assert kinds(record)[0] is WarningKind.MAN_ON_KING_ROW


def test_an_unknown_side_to_move() -> None:
    assert one('[FEN "?:W32:B1"] 32-28 1-5 *').start.side is Colour.WHITE
    record = one('[FEN "?:W32:B1"] 1-5 32-28 *')
    assert (record.start.side, kinds(record)) == (Colour.BLACK, [WarningKind.SIDE_UNKNOWN])
    (game,) = read_pdn_text('[FEN "?:W32:B1"] 1-5 9-13 *')
    assert isinstance(game, Rejection)
    assert (game.kind, game.ply) == ("illegal move", 2)


def test_the_star_ends_a_game_and_says_nothing() -> None:
    record = one('[Result "0-1"]\n11-15 *')
    assert (record.result, record.warnings) == (Result.WHITE_WINS, ())
    assert kinds(one('[Result "0-1"]\n11-15 1-0')) == [WarningKind.RESULTS_DIFFER]
    assert kinds(one('[Result "won"]\n11-15')) == [WarningKind.RESULT_UNKNOWN, WarningKind.NO_RESULT]


@pytest.mark.parametrize(("result", "winner"), [("1-0", "0-1"), ("2-0", "0-1"), ("0-1", "1-0"), ("1-1", "1/2-1/2")])
def test_result_orientation(result: str, winner: str) -> None:
    text = f'[Result "{result}"]\n11-15 *'
    assert one(text, one_zero=Colour.WHITE).result.value == winner
    assert one(text, one_zero=Colour.BLACK).result in (Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW)


HOSTILE = [
    "[A" + " " * 50_000 + "x",
    '{\n[A ""]\n' * 20_000,
    '(\n[A ""]\n' * 20_000,
    "{{}" * 50_000,
    "11-15 " + "(" * 100_000,
    "a1" * 100_000 + "x",
    "11-15" * 40_000,
    "1-" * 100_000,
    '[A "\\' * 30_000,
    " \n" * 100_000,
    '[FEN "' + "1" * 100_000 + '"] *',
    "11-15 23-19 8-11 22-17 " * 20_000,
    "11-15 " + "word " * 50_000,
    "11-15 " + "word 1. " * 30_000,
    "11-15 (" + "12-16 " * 20_000 + ")" + "(12-16)" * 2000,
    "1." * 100_000 + "$1" * 50_000 + "*!" * 20_000,
]
READ_THEM = """
import json, sys, time
from checkers.pdn import read_annotated_text
list(read_annotated_text("11-15 *"))
for text in json.load(sys.stdin):
    begin = time.perf_counter()
    for game in read_annotated_text(text):
        pass
    print((time.perf_counter() - begin) / len(text) * 1e6)
"""


def test_no_text_takes_long() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_THEM],
        input=json.dumps(HOSTILE),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    seconds = [float(word) for word in done.stdout.split()]  # per megabyte
    assert len(seconds) == len(HOSTILE)
    assert max(seconds) < 40  # ten, and a busy machine; what grows with the square is far above


MEASURE = """
import resource, sys
from checkers.pdn import read_pdn
grown = []
for number, game in enumerate(read_pdn(sys.argv[1]), 1):
    if number % 20_000 == 0:
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(number, *grown)
"""


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["records", "paragraph"])
def test_memory_is_flat(tmp_path: Path, layout: str) -> None:
    choice, path = random.Random(3), tmp_path / "many.pdn.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(200_000):
            body = choice.choice(["11-15 23-19 8-11 22-17", "9-14 22-18 5-9", "10-15 21-17 6-10 17-13 1-6"])
            file.write(f'[Event "{number}"]\n\n1. {body} *\n\n' if layout == "records" else f"1. {body} 1-0 ")
    out = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True).stdout
    number, *sizes = map(int, out.split())
    assert number == 200_000
    assert sizes[-1] - sizes[1] < 20_000  # kilobytes
