"""The PDN writer: strict PDN 3.0 (theory.md 7.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checkers.game import Game
from checkers.moves import Move, answers_to
from checkers.pdn_games import ENGLISH
from checkers.position import Colour, Position

_RECOMMENDED = ("Event", "Site", "Date", "Round", "White", "Black", "Result")


def write_pdn(game: Game, *, width: int = 80, comments: Mapping[int, str] | None = None) -> str:
    """The game as one PDN 3.0 record that ends with its result and a line end.

    ``comments`` are written behind the moves with these indices (from 0), without any braces in them.

    Tags without a value are left out; captures are written with their ends alone where no other legal move has the same
    ends, otherwise with their path. Lines of moves have at most ``width`` characters.
    """
    tags = _tags_to_write(game)
    lines = [f'[{name} "{_escaped(value)}"]' for name, value in tags.items()]
    words, position, number = [], game.start, 1
    if game.moves and game.start.side is Colour.WHITE:
        words.append("1...")
    for i, (move, after) in enumerate(zip(game.moves, game.positions[1:], strict=True)):
        if position.side is Colour.BLACK:
            words.append(f"{number}.")
        else:
            number += 1
        words.append(_move_text(position, move))
        if comments and i in comments:
            words.append("{" + comments[i].replace("{", "(").replace("}", ")") + "}")
        position = after
    words.append(game.result.value)
    return "\n".join([*lines, "", *_wrapped(words, width)]) + "\n"


def _tags_to_write(game: Game) -> dict[str, str]:
    """Tags in the order of the standard, those that follow from the game set anew."""
    tags = {name: value for name, value in game.tags.items() if value.strip()}
    for name in ("SetUp", "FEN", "GameType"):
        tags.pop(name, None)
    tags["Result"] = game.result.value
    ordered = {name: tags.pop(name) for name in _RECOMMENDED if name in tags}
    ordered["GameType"] = str(ENGLISH)
    if game.start != Position.start():
        ordered |= {"SetUp": "1", "FEN": game.start.fen()}
    return ordered | {name[:1].upper() + name[1:]: value for name, value in tags.items()}


def _escaped(value: str) -> str:
    return " ".join(value.split("\n")).replace("\\", "\\\\").replace('"', '\\"')


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
