"""Rules written for other programs: JSON, CSV, the text of an opening book, PDN with figures in comments."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from checkers.draws import NONE
from checkers.game import Game, Result
from checkers.moves import Move, play
from checkers.pdn import write_pdn
from checkers.position import Position
from mining.errors import MiningError
from mining.rules import Rule, RuleBase

#: Weight of a position's best move in a book, as in Polyglot's 16 bits.
FULL_WEIGHT = 65535


def rows(base: RuleBase, *, avoided: bool = False) -> Iterator[dict[str, Any]]:
    """The rules, or what was avoided, one flat row each, in the order of their FEN."""
    ask = base.avoided if avoided else base.rules
    positions = base.avoided_positions() if avoided else base
    for fen, position in sorted((position.fen(), position) for position in positions):
        for rule in ask(position):
            examples = [[example.file, example.number] for example in rule.examples]
            figures = {name: getattr(rule, name) for name in _FIGURES}
            yield {"fen": fen, "move": str(rule.move), **figures, "last_year": rule.last_year, "examples": examples}


_FIGURES = ("count", "wins", "draws", "losses", "weight", "support", "confidence", "rating")


def to_json(base: RuleBase) -> str:
    """One object: how the base was mined, its rules, and what was avoided."""
    data = {
        "options": dataclasses.asdict(base.options),
        "report": dataclasses.asdict(base.report),
        "rules": list(rows(base)),
        "avoided": list(rows(base, avoided=True)),
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def to_csv(base: RuleBase) -> str:
    """A table of rules with a header; examples as ``file#number``, divided by semicolons."""
    text = io.StringIO()
    table = csv.DictWriter(text, ("fen", "move", *_FIGURES, "last_year", "examples"), lineterminator="\n")
    table.writeheader()
    for row in rows(base):
        row["examples"] = ";".join(f"{file}#{number}" for file, number in row["examples"])
        table.writerow(row)
    return text.getvalue()


def to_book(base: RuleBase) -> str:
    """An opening book as text, in the manner of Polyglot's entries: FEN, move, weight, games; tabs between them.

    The weight is the move's points in its position, 65535 for the most.
    """
    lines = ["fen\tmove\tweight\tgames"]
    for fen, position in sorted((position.fen(), position) for position in base):
        found = base.rules(position)
        most = max(rule.rating * rule.count for rule in found)
        for rule in found:
            weight = round(FULL_WEIGHT * rule.rating * rule.count / most) if most else 0
            lines.append(f"{fen}\t{rule.move}\t{max(weight, 1)}\t{rule.count}")
    return "\n".join(lines) + "\n"


def to_pdn(base: RuleBase) -> str:
    """Lines of play with the figures of each rule in a comment; every rule is commented once.

    Lines begin at the start of the game where rules lead to them from there, otherwise from a FEN.
    """
    return "\n".join(write_pdn(game, comments=comments) for game, comments in _games(base))


def _games(base: RuleBase) -> Iterator[tuple[Game, dict[int, str]]]:
    waiting = {position: list(base.rules(position)) for position in base}
    by_count = sorted(waiting, key=lambda position: -max(rule.count for rule in waiting[position]))
    start = Position.start()
    for root in [start, *by_count]:
        reached: dict[Position, tuple[Move, ...]] = {root: ()}
        open_positions = [root]
        while open_positions:  # the last branch first, so that lines stand near those that they leave
            position = open_positions[-1]
            if not waiting.get(position):
                open_positions.pop()
                continue
            moves, comments = list(reached[position]), dict[int, str]()
            while waiting.get(position):
                rule = waiting[position].pop(0)
                comments[len(moves)] = figures(rule)
                moves.append(rule.move)
                position = play(position, rule.move)
                if position not in reached:
                    reached[position] = tuple(moves)
                    open_positions.append(position)
            game = Game.of(moves, root, NONE)
            game.tags["Event"] = "Experience rules"
            game.finish(Result.UNFINISHED, "")
            yield game, comments


def figures(rule: Rule) -> str:
    """A rule's figures in a line."""
    year = f", last {rule.last_year}" if rule.last_year else ""
    return f"{rule.count} games +{rule.wins} ={rule.draws} -{rule.losses}, rating {rule.rating:.2f}{year}"


#: How rules can be written, by name.
FORMATS: dict[str, Callable[[RuleBase], str]] = {"json": to_json, "csv": to_csv, "book": to_book, "pdn": to_pdn}


def export(base: RuleBase, form: str) -> str:
    """The rules as text: ``json``, ``csv``, ``book`` or ``pdn``.

    Raises:
        MiningError: there is no such form.
    """
    if form not in FORMATS:
        raise MiningError(f"form {form!r} is unknown; there are {', '.join(FORMATS)}")
    return FORMATS[form](base)
