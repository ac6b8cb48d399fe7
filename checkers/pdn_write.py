"""The PDN writer: strict PDN 3.0 (theory.md 7.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from checkers.game import Game, Result
from checkers.moves import Move, answers_to, play
from checkers.pdn_games import ENGLISH
from checkers.pdn_tree import AnnotatedGame, AnnotatedMove, Line, plain_comment
from checkers.position import Colour, Position

_RECOMMENDED = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")
_NOT_IN_VALUES = re.compile("[\r\n\x1a\ufeff]+")


def write_pdn(game: Game | AnnotatedGame, *, width: int = 80, comments: Mapping[int, str] | None = None) -> str:
    """The game as one PDN 3.0 record that ends with ``*``, the only end of a game in strict PDN, and a line end.

    The result stands in its tag, ``1-0`` for a win of Black. Tags without a value are left out; captures are written
    with their ends alone where no other legal move has the same ends, otherwise with their path. A game without moves
    is written as a set-up, for the standard allows no empty game.

    Args:
        game: the game; an annotated one is written with its comments, NAGs, strength marks and variations.
        width: of the lines of moves; a longer word has a line of its own.
        comments: written behind the moves with these indices (from 0), of a game that is not annotated.
    """
    if isinstance(game, AnnotatedGame):
        start, result, given, line = game.record.start, game.record.result, game.record.tags, game.line
    else:
        start, result, given, line = game.start, game.result, game.tags, _bare(game, comments or {})
    tags = _tags_to_write(given, result, None if start == Position.start() and line.moves else start)
    lines = [f'[{name} "{_escaped(value)}"]' for name, value in tags.items()]
    return "\n".join([*lines, "", *_wrapped([*_words(line, start, 1), "*"], width)]) + "\n"


def _bare(game: Game, comments: Mapping[int, str]) -> Line:
    """A game's moves as a line with these comments."""
    moves = (AnnotatedMove(move, comments=(comments[i],) if i in comments else ()) for i, move in enumerate(game.moves))
    return Line((), tuple(moves))


def _tags_to_write(given: Mapping[str, str], result: Result, start: Position | None) -> dict[str, str]:
    """Tags in the order of the standard, those that follow from the game set anew."""
    tags = {_tag_name(name): value for name, value in given.items() if _NOT_IN_VALUES.sub(" ", value).strip()}
    for name in ("SetUp", "FEN", "GameType"):
        tags.pop(name, None)
    tags["Result"] = result.value
    ordered = {name: tags.pop(name) for name in _RECOMMENDED if name in tags}
    ordered["GameType"] = str(ENGLISH)
    if start is not None:
        ordered |= {"SetUp": "1", "FEN": start.fen()}
    return ordered | tags


def _tag_name(name: str) -> str:
    """A name as the standard wants it: a capital, then letters, digits and underscores."""
    name = _NOT_IN_NAMES.sub("_", name)
    return name[:1].upper() + name[1:] if name[:1].isalpha() else f"X{name}"


def _escaped(value: str) -> str:
    return _NOT_IN_VALUES.sub(" ", value).replace("\\", "\\\\").replace('"', '\\"')


def _words(line: Line, position: Position, number: int) -> Iterator[str]:
    """The words of a line of play; every comment is one or more, and no line must be broken anywhere else."""
    yield from _comments(line.comments)
    numbered = False  # whether White's move would stand without a number to belong to
    for annotated in line.moves:
        if position.side is Colour.BLACK:
            yield f"{number}."
        elif not numbered:
            yield f"{number}..."
        yield _move_text(position, annotated.move) + annotated.strength
        yield from (f"${nag}" for nag in annotated.nags)
        yield from _comments(annotated.comments)
        for variation in annotated.variations:
            yield from _variation(variation, position, number)
        numbered = not annotated.variations
        number += position.side is Colour.WHITE
        position = play(position, annotated.move)


def _comments(comments: tuple[str, ...]) -> Iterator[str]:
    yield from (word for comment in comments if plain_comment(comment) for word in _braced(comment))


def _braced(comment: str) -> list[str]:
    """The words of a comment; a line that began with % would be lost."""
    return re.split(r" (?!%)", "{" + plain_comment(comment) + "}")


def _variation(line: Line, position: Position, number: int) -> Iterator[str]:
    words = list(_words(line, position, number))
    if words:
        words[0], words[-1] = "(" + words[0], words[-1] + ")"
    yield from words


def _move_text(position: Position, move: Move) -> str:
    """The shortest text that names this move and no other legal move."""
    if not move.is_capture:
        return str(move)
    ends = [move.origin, move.target]
    rivals = sum(answers_to(other, ends) for other in position.legal_moves())
    return f"{move.origin}x{move.target}" if rivals == 1 else str(move)


def _wrapped(words: list[str], width: int) -> Iterator[str]:
    line = words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line += " " + word
    yield line
