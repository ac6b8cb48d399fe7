"""English checkers: rules, notations, search, endgame databases, players.

Position    a position, its FEN, its legal moves
Move        a move: squares passed and captured
Game        moves, result, draw policy
Colour      Black and White
Result      how a game ended

Importing this package compiles nothing; kernels load when the first of them is needed.

>>> game = Game()
>>> [str(move) for move in game.legal_moves()]
['9-13', '10-14', '11-15', '12-16', '9-14', '10-15', '11-16']
"""

from checkers.draws import ACF, NEURODRAUGHTS, THESIS, DrawPolicy
from checkers.errors import InputError
from checkers.game import Game, Result
from checkers.moves import Move
from checkers.position import Colour, Position

__all__ = [
    "ACF",
    "NEURODRAUGHTS",
    "THESIS",
    "Colour",
    "DrawPolicy",
    "Game",
    "InputError",
    "Move",
    "Position",
    "Result",
]
