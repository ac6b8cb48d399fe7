from __future__ import annotations

import subprocess
import sys

from checkers.position import Colour, Position

START = Position(0x00000FFF, 0xFFF00000, 0, Colour.BLACK)


def board(*squares: int) -> int:
    return sum(2 ** (square - 1) for square in squares)


def test_colours() -> None:
    assert Colour.BLACK.other is Colour.WHITE
    assert Colour.WHITE.other is Colour.BLACK


def test_start() -> None:
    assert Position.start() == START
    assert START.pieces == 24
    assert START.own == board(*range(1, 13))
    assert START.opponent == board(*range(21, 33))


def test_own_and_opponent_follow_the_side_to_move() -> None:
    position = Position(board(1), board(32), 0, Colour.WHITE)
    assert (position.own, position.opponent) == (board(32), board(1))


def test_half_turn() -> None:
    position = Position(board(1, 11), board(30), board(11), Colour.BLACK)
    assert position.half_turn() == Position(board(3), board(32, 22), board(22), Colour.WHITE)
    assert START.half_turn() == START._replace(side=Colour.WHITE)


def test_reading_and_showing_a_position_compiles_nothing() -> None:
    code = (
        "import sys; from checkers import Game, Position; p = Position.from_fen('B:W21-32:B1-12');"
        "p.fen(), p.board(unicode=True), p.svg(), p.half_turn(); Game();"
        "print(sorted({'numba', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
