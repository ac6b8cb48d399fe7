"""Which game of the draughts family a PDN record is when it is not English checkers (theory.md 7.5).

PDN serves them all, and a record of another game may replay for a while as if it were English: tags and squares are
asked before legality.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from checkers.position import Position

ENGLISH = 21
#: GameType numbers of PDN 3.0.
GAME_TYPES = {
    0: "chess",
    1: "Chinese chess",
    20: "international draughts (10x10)",
    21: "English checkers",
    22: "Italian draughts",
    23: "American pool checkers",
    24: "Spanish draughts",
    25: "Russian draughts",
    26: "Brazilian draughts",
    27: "Canadian draughts (12x12)",
    28: "Portuguese draughts",
    29: "Czech draughts",
    30: "Turkish draughts",
    31: "Thai draughts",
    40: "Frisian draughts",
    41: "Spantsiretti draughts",
    50: "Othello",
}
INTERNATIONAL, ITALIAN, CANADIAN = GAME_TYPES[20], GAME_TYPES[22], GAME_TYPES[27]
ALGEBRAIC = "Czech, Russian or another game with algebraic squares"

_ITALIAN_TAGS = {"bianco", "nero", "risultato"}
_TYPE_NUMBER = re.compile(r"\s*(\d+)")
_NUMBERS = re.compile(r"\d+")
_ALGEBRAIC_FEN = re.compile(r"[ac-h][1-8]")


def game_type(tags: Mapping[str, str]) -> int | None:
    """The number in the tag GameType, None if there is none."""
    match = _TYPE_NUMBER.match(tags.get("GameType", ""))
    return int(match[1][:9]) if match else None


def other_game(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """The other game that the tags name and how they tell; None if it may be English checkers."""
    number = game_type(tags)
    if number is not None and number != ENGLISH:
        return GAME_TYPES.get(number, "another game"), f"GameType {tags['GameType']!r}"
    if number == ENGLISH:
        return None
    fen = tags.get("FEN", "")
    if _ALGEBRAIC_FEN.search(fen):
        return ALGEBRAIC, f"FEN {fen!r}"
    highest = max(map(int, _NUMBERS.findall(fen[:2000])), default=0)
    if 32 < highest <= 72:
        return _larger_board(highest), f"square {highest} in the FEN"
    for name in tags:
        if name.lower() in _ITALIAN_TAGS:
            return ITALIAN, f"tag {name}"
    return None


def other_game_by_squares(start: Position, ply: int, moves: Sequence[bytes]) -> tuple[str, str] | None:
    """The other game that the moves tell of, when the one at ``ply`` (from 1) is illegal in English checkers.

    In Italian and international draughts White begins, from squares 21-24 and 31-35; Black's men cannot stand there.

    Args:
        start: the position at the start.
        ply: the first illegal ply.
        moves: each move's record as the replay kernel takes it, the number of squares first.
    """
    if ply == 1 and start == Position.start():
        origin, target = moves[0][1], moves[0][-1]
        if 21 <= origin <= 24 and 17 <= target <= 20:
            return ITALIAN, f"White moves first from the start position, {origin}-{target}"
        if 31 <= origin <= 35 and 26 <= target <= 30:
            return INTERNATIONAL, f"White moves first from the start position, {origin}-{target}"
    highest = max(max(move[1:]) for move in moves)
    if ply <= 2 and 32 < highest <= 72:
        return _larger_board(highest), f"square {highest}"
    return None


def _larger_board(highest: int) -> str:
    return INTERNATIONAL if highest <= 50 else CANADIAN
