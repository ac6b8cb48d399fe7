"""The reference evaluation's terms on sets of squares, read off their descriptions; nothing of the kernels."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tests.reference.feature_definitions import (
    DOWN_IN_NUMBER,
    UP_IN_NUMBER,
    View,
    is_exposed,
    jump_directions,
    squares_of,
    view,
    ways,
)
from tests.reference.mailbox import ahead, place

Neighbour = int | None


def can_be_jumped(v: View, square: int) -> bool:
    """Whether a piece of opp's can jump own's piece on a square."""
    return any(ahead(foe, *way) == square and ahead(square, *way) in v.empty for foe in v.opp for way in ways(v, foe))


def moved(v: View, start: int, end: int) -> View:
    """The view after a quiet move of own's; a man stays one."""
    kings = v.kings - {start} | ({end} if start in v.kings else set())
    return replace(v, own=v.own - {start} | {end}, kings=frozenset(kings))


def quiet_ends(v: View, square: int) -> list[int]:
    return [end for way in ways(v, square) if (end := ahead(square, *way)) in v.empty and end is not None]


def safe_ends(v: View, square: int) -> list[int]:
    return [end for end in quiet_ends(v, square) if not can_be_jumped(moved(v, square, end), end)]


def steps(square: int) -> list[int]:
    """The squares that a man steps to on an empty board."""
    return [end for way in UP_IN_NUMBER if (end := ahead(square, *way)) is not None]


def may_pass(v: View, square: int) -> bool:
    """Whether a man can stand there, as things are now: no foe before it, no king about to jump it from behind."""
    if square not in v.empty or any(ahead(square, *way) in v.opp for way in UP_IN_NUMBER):
        return False
    return not any(
        ahead(square, *way) in v.opp & v.kings and ahead(square, -way[0], -way[1]) in v.empty for way in DOWN_IN_NUMBER
    )


def runs_home(v: View, square: int) -> bool:
    """Whether there is a way from the square to an empty one of the king row, all squares between passable."""
    if place(square)[0] == 6:
        return any(end in v.empty for end in steps(square))
    return any(may_pass(v, end) and runs_home(v, end) for end in steps(square))


def runaways(v: View, *rows: int) -> int:
    return sum(place(man)[0] in rows and runs_home(v, man) for man in v.own_men)


def in_dog_hole(v: View) -> bool:
    return 28 in v.own_men and 32 in v.opp_men


def cramps(v: View) -> bool:
    return 13 in v.own and bool({9, 14} & v.own) and {17, 21, 22, 25} <= v.opp_men


def is_backed(v: View, man: int) -> bool:
    return all(ahead(man, *way) in v.own for way in DOWN_IN_NUMBER)


def jumping(v: View) -> int:
    return sum(jump_directions(v, piece) > 0 for piece in v.own)


def side_terms(v: View) -> dict[str, Fraction | int]:
    """What own counts for."""
    men, kings = v.own_men, v.own & v.kings
    alone = not v.opp & v.kings
    return {
        "man": len(men),
        "king": len(kings),
        "majority": Fraction(8 * len(v.own), max(len(v.own | v.opp), 1)),
        "first king": int(bool(kings) and alone),
        "safe moves": sum(len(safe_ends(v, man)) for man in men),
        "king moves": sum(len(safe_ends(v, king)) for king in kings),
        "blocked men": sum(not quiet_ends(v, man) for man in men),
        "held men": sum(bool(quiet_ends(v, man)) and not safe_ends(v, man) for man in men),
        "trapped kings": sum(not safe_ends(v, king) for king in kings),
        "stuck": int(not any(safe_ends(v, piece) for piece in v.own)),
        "exposed": sum(is_exposed(v, man) for man in men),
        "pairs": sum(ahead(piece, *way) in v.own for piece in v.own for way in UP_IN_NUMBER),
        "centre": sum(is_backed(v, man) for man in men & {14, 15, 18, 19}),
        "runaway 1": runaways(v, 6),
        "runaway 2": runaways(v, 5),
        "runaway 3": runaways(v, 4),
        "runaway 4": runaways(v, 2, 3),
        "dog hole": int(in_dog_hole(v)),
        "cramp": int(cramps(v)),
        "oreo": int({2, 3, 7} <= men and alone),
        "refuge": int(bool(kings & {1, 5, 28, 32}) and len(v.own) < len(v.opp)),
        "threats": int(jumping(v) > 0),
        "more threats": max(jumping(v) - 1, 0),
    }


def has_the_move(pieces: set[int]) -> bool:
    """Whether the side to move has the move: its system's pieces are odd in number; it moves up in number."""
    return sum(place(piece)[0] % 2 == 0 for piece in pieces) % 2 == 1


def reference_terms(position: tuple[int, int, int, int], mover: int) -> dict[str, float]:
    """All terms of a position (boards of Black, White and the kings, side), seen by ``mover``, who has just moved."""
    boards = [squares_of(board) for board in position[:3]]
    own, opp = view(*boards, mover), view(*boards, 1 - mover)
    mine, theirs = side_terms(own), side_terms(opp)
    values = {name: float(mine[name] - theirs[name]) for name in mine}
    even = len(own.own) == len(opp.own)
    values["the move"] = (-1.0 if has_the_move(set(opp.own | opp.opp)) else 1.0) if even else 0.0
    values["tempo"] = 1.0
    values["crowning next"] = -float(theirs["runaway 1"] > 0)
    return values
