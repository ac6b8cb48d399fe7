"""Comments, NAGs, strength marks and variations: read, kept as a tree, written, read again."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers import Game, Position, Result, draws
from checkers.pdn import (
    AnnotatedGame,
    AnnotatedMove,
    Line,
    Rejection,
    WarningKind,
    read_annotated_text,
    read_pdn_text,
    write_pdn,
)


def annotated(text: str) -> AnnotatedGame:
    (game,) = read_annotated_text(text)
    assert isinstance(game, AnnotatedGame), game
    return game


def shown(line: Line) -> str:
    """A line of play in short: what stands behind each move, variations in brackets."""
    words = [f"{{{comment}}}" for comment in line.comments]
    for move in line.moves:
        words.append(f"{move.move}{move.strength}")
        words += [f"${nag}" for nag in move.nags] + [f"{{{comment}}}" for comment in move.comments]
        words += [f"({shown(variation)})" for variation in move.variations]
    return " ".join(words)


def test_everything_stays_where_it_stood() -> None:
    game = annotated(
        '{before} [Event "x"] {between}\n1. 11-15! {[%clk 0:05:30]} {a {nested} one} 23-19?? $2 $150\n'
        "( 22-17 (23-18 $1 8-11 {deep}) {back} 8-11(?!) 1-0) (24-20)\n2. 8-11 ; to the end\n% not this\n22-17 1-0"
    )
    assert shown(game.line) == (
        "{between} 11-15! {[%clk 0:05:30]} {a (nested) one} "
        "23-19?? $2 $150 (22-17 {back} (23-18 $1 8-11 {deep}) 8-11(?!)) (24-20) 8-11 {to the end} 22-17"
    )
    assert game.line.moves[0].clock == 330.0
    assert game.line.moves[1].clock is None
    assert [move.move for move in game.line.moves] == game.game().moves
    assert game.record.warnings == ()


def test_what_is_written() -> None:
    text = write_pdn(
        annotated(
            "[Note] {c} 11-15! {one} 23-19 $2 (23-18 {no} 8-11 (9-14! 18x9)) 8-11 {[%clk 0:01:00]} 22-17 0-1 {e}"
        ),
        width=40,
    )
    assert text == (
        '[Result "0-1"]\n[GameType "21"]\n\n'
        "{c} 1. 11-15! {one} 23-19 $2 (1... 23-18\n"
        "{no} 2. 8-11 (2. 9-14! 18x9)) 2. 8-11\n{[%clk 0:01:00]} 22-17 {e} *\n"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("11-15 23-19Redoverstepped. 8-11", "11-15 23-19 {Redoverstepped.} 8-11"),
        ("11-15 Red may, 3. perhaps, do better 23-19", "11-15 {Red may, 3. perhaps, do better} 23-19"),
        ("11-15 words {comment} words 23-19", "11-15 {words} {comment} {words} 23-19"),
        ("11-15 23-19* 8-11", "11-15 23-19 $7 8-11"),
        ("11-15 ! ? 23-19(!)?", "11-15!? 23-19(!?)"),
        ("11-15 {} { } 23-19", "11-15 23-19"),
        ("11-15 {over\n two\r\n lines} 23-19", "11-15 {over two lines} 23-19"),
        ("11-15 (12-16 24-20 16-19 8-11) 23-19", "11-15 (12-16 24-20 16-19 {8-11}) 23-19"),
        ("11-15 (12-17 24-20 {x}) 23-19", "11-15 {(12-17 24-20 (x))} 23-19"),
        ("11-15 (12-16 etc.) 23-19", "11-15 (12-16 {etc.}) 23-19"),
        ("11-15 (12-16 a3-b4 24-20) 23-19", "11-15 (12-16 {a3-b4 24-20}) 23-19"),
        ("[Note] (12-16) {x} 11-15", "{x} {(12-16)} 11-15"),
        ("11-15 23-19 1-0 {White} {resigned}\n", "11-15 23-19 {White} {resigned}"),
        ("11-15 (12-16 (9-13) 24-20 (23-18 (1-5) 16-20)) *", "11-15 (12-16 (9-13) 24-20 (23-18 {(1-5)} 16-20))"),
        ("11-15 $3 $99999999999999999999 $ 23-19", "11-15 $3 {$} 23-19"),
        ('[FEN "B:W14,15,22,23,32:B1,10"] 10x26 ( 1-5 ) 15-11', "10x17x26 {( 1-5 )} 15-11"),
        ('[FEN "B:W14,15,22,23,32:B1,10"] 10x19x26 ( 10x26 15-11 ) *', "10x19x26 (10x17x26 15-11)"),
        ('[FEN "B:W32:BK5"] 5-1 {x} 32-28 {y} 1-60-1', "5-1 {x} 32-28 {y} 1-6"),
    ],
)
def test_lines_as_they_are_read_and_read_again(text: str, line: str) -> None:
    game = annotated(text)
    assert shown(game.line) == line
    again = annotated(write_pdn(game))
    assert again.line == game.line
    assert again.record.result is game.record.result


def test_illegal_variations_are_told() -> None:
    game = annotated("11-15 (12-16 24-20 16-19 8-11) 23-19 *")
    assert game.record.warned(WarningKind.VARIATION)
    assert "'8-11)" in next(w.text for w in game.record.warnings if w.kind is WarningKind.VARIATION)
    assert not annotated(write_pdn(game)).record.warned(WarningKind.VARIATION)


def test_algebraic_variations() -> None:
    game = annotated('[GameType "21,B,8,8,A0,0"] c3-b4 {x} f6-g5 (f6-e5 b4-c5 (d2-c3)) *')
    assert shown(game.line) == "11-16 {x} 22-17 (22-18 16-19 (7-11))"


def test_deep_nesting_ends() -> None:
    depth = 45
    text = "11-15 " + "(12-16 " * depth + ")" * depth + " 23-19 *"
    assert isinstance(annotated(text), AnnotatedGame)
    (rejection,) = read_annotated_text("11-15 " + "(12-16 " * 5000 + ")" * 5000 + " 23-19 *")
    assert isinstance(rejection, Rejection)


def test_comments_cannot_break_out() -> None:
    game = Game(policy=draws.NONE, tags={"a b": 'x\r\n"y"', "1st": "z", "Blank": " \n "})
    game.play(game.position.move("11-15"))
    evil = {0: '} 9-13 {\n\n[Event "no"]\n%clk\x1a 1-0 ;'}
    text = write_pdn(game, comments=evil, width=10)
    again = annotated(text)
    assert shown(again.line) == '11-15 {) 9-13 ( [Event "no"] %clk 1-0 ;}'
    assert again.record.tags == {"Result": "*", "GameType": "21", "A_b": 'x "y"', "X1st": "z"}
    assert not any(line.startswith("%") for line in text.splitlines())


_comments = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            ["[%clk 1:02:03]", "%", "}{", "1-0", "(", ")", ";", "* 1. 11-15", '[Event "x"]', 'a\n\n[A ""]']
        ),
    ),
    max_size=2,
).map(tuple)


@st.composite
def lines(draw: st.DrawFn, position: Position, depth: int = 0) -> Line:
    """A line of legal moves from a position, annotated, with variations up to three deep."""
    moves = []
    for _ in range(draw(st.integers(1, 6 if depth == 0 else 3))):
        legal = position.legal_moves()
        if not legal:
            break
        move = legal[draw(st.integers(0, len(legal) - 1))]
        variations = []
        if depth < 3:
            variations = [draw(lines(position, depth + 1)) for _ in range(draw(st.integers(0, 3)) // 3)]
        moves.append(
            AnnotatedMove(
                move,
                draw(st.sampled_from(["", "", "!", "?", "!?", "(?)", "(!!)"])),
                tuple(draw(st.lists(st.integers(0, 255), max_size=2))),
                draw(_comments),
                tuple(variations),
            )
        )
        position = position.play(move)
    return Line(draw(_comments), tuple(moves))


_starts = st.sampled_from(
    [Position.start(), Position.from_fen("W:WK2,K31,21,22:BK7,15,23,1"), Position.from_fen("B:W14,15,22,23,32:B1,10")]
)


@settings(max_examples=80, deadline=None)
@given(st.data(), st.sampled_from([20, 80]), st.sampled_from(list(Result)))
def test_reading_writing_and_reading_again(data: st.DataObject, width: int, result: Result) -> None:
    start = data.draw(_starts)
    line = data.draw(lines(start))
    game = Game(start, policy=draws.NONE, tags={"Event": data.draw(st.text(max_size=9)), "Note": "n\\"})
    for move in line.moves:
        game.play(move.move)
    game.finish(result, "")
    seed = next(r for r in read_pdn_text(write_pdn(game)) if not isinstance(r, Rejection))
    text = write_pdn(AnnotatedGame(seed, line), width=width)
    parts = strict_parts(text)
    tags = parts.count("tag")
    assert tags >= 2
    assert (parts[:tags], parts[-1]) == (["tag"] * tags, "end")
    assert not {"tag", "end"} & set(parts[tags:-1])
    assert parts.count("open") == parts.count("close")
    first = annotated(text)
    assert [move.move for move in first.line.moves] == [move.move for move in line.moves]
    assert _bones(first.line) == _bones(line)
    again = annotated(write_pdn(first, width=width))
    assert again.line == first.line
    assert again.record.tags == first.record.tags
    assert (again.record.start, again.record.result) == (start, first.record.result)
    assert first.record.result is result or first.record.finished


_STRICT = re.compile(
    r"""
      (?P<tag>\[[A-Z][A-Za-z0-9_]*[ ]"(?:[^"\\\n]|\\["\\])*"\]\n)
    | (?P<open>\() | (?P<close>\))
    | (?P<number>[1-9]\d*\.(?:\.\.)?)
    | (?P<move>[1-9]\d?(?:-[1-9]\d?|(?:x[1-9]\d?)+)(?:[!?]+|\([!?]+\))?)(?=[ \n)])
    | (?P<about>\$\d+|\{[^{}]*\})(?=[ \n)])
    | (?P<end>\*\n$)
    | [ \n]""",
    re.VERBOSE,
)


def strict_parts(text: str) -> list[str]:
    """The kinds of the tokens of a text that follows the strict grammar of PDN 3.0."""
    kinds, at = [], 0
    while at < len(text):
        match = _STRICT.match(text, at)
        assert match, text[at : at + 60]
        kinds += [match.lastgroup] if match.lastgroup else []
        at = match.end()
    return kinds


def _bones(line: Line) -> object:
    """The line without its comments, which lose white space and braces on the way."""
    return [(m.move, m.strength, m.nags, [_bones(v) for v in m.variations]) for m in line.moves]


def test_a_game_of_ours_replays_in_pydraughts() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draughts = pytest.importorskip("draughts", reason="pydraughts is not installed")
        pdn = pytest.importorskip("draughts.PDN", reason="pydraughts is not installed")
    rng = np.random.default_rng(7)
    for _ in range(25):  # from the start alone: it takes the first moves behind a FEN for two of one number
        game = Game(policy=draws.NONE, tags={"Event": "e"})
        while len(game.moves) < 99 and game.legal_moves():
            game.play(game.legal_moves()[int(rng.integers(len(game.legal_moves())))])
        comments = {i: f"comment {i}" for i in range(0, 99, 7)}
        (read,) = pdn.PDNReader(pdn_text=write_pdn(game, comments=comments)).games
        assert read.variant == "english"
        assert len(read.moves) == len(game.moves)
        board = draughts.Board(variant="english", fen="startpos")
        for text, after in zip(read.moves, game.positions[1:], strict=True):
            board.push(draughts.Move(board, pdn_move=text))
            assert Position.from_fen(board.fen) == after
