"""A game with all that is written about it: comments, NAGs, strength marks, nested variations (theory.md 7.5).

Every move of the tree is legal. What stands in a variation and is not legal is kept, as a comment in its place; words
that stand among the moves without braces are comments too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from checkers.moves import Move, play
from checkers.pdn_squares import numeric_move
from checkers.pdn_tokens import (
    BRACE,
    COORDINATES,
    MARK,
    MOVE,
    OTHER,
    PAREN,
    SETUP,
    TOKEN,
    WORD,
    RawGame,
    end_of_comment,
    end_of_variation,
    like_a_move,
)
from checkers.pdn_warnings import PdnWarning, WarningKind
from checkers.position import Position

if TYPE_CHECKING:
    from checkers.game import Game
    from checkers.pdn_records import Record
    from checkers.pdn_replay import Replayer

#: The NAG of a forced move, once written as a star.
FORCED = 7
_CLOCK = re.compile(r"\[%clk\s+(\d{1,3}):(\d{1,2}):(\d{1,2}(?:\.\d{1,6})?)\s*\]")


@dataclass(frozen=True, slots=True)
class AnnotatedMove:
    """A move and what is written about it.

    Attributes:
        move: the move.
        strength: its strength mark: ``!``, ``?!``, ``(?)``; empty if there is none.
        nags: the numbers of its NAGs.
        comments: the comments behind it, each on one line and without braces.
        variations: other lines of play in its place.
    """

    move: Move
    strength: str = ""
    nags: tuple[int, ...] = ()
    comments: tuple[str, ...] = ()
    variations: tuple[Line, ...] = ()

    @property
    def clock(self) -> float | None:
        """Seconds that the player has left, from ``[%clk h:mm:ss]``; None if no comment says it."""
        found = next(filter(None, map(_CLOCK.search, self.comments)), None)
        return int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3]) if found else None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of play: the comments before its first move, and its moves."""

    comments: tuple[str, ...] = ()
    moves: tuple[AnnotatedMove, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedGame:
    """An accepted record and its tree; the moves of ``line`` are those of the record."""

    record: Record
    line: Line

    def game(self) -> Game:
        """The game alone; see :meth:`checkers.pdn.Record.game`."""
        return self.record.game()


def plain_comment(text: str) -> str:
    """A comment as it can be written: one line, no braces."""
    return " ".join(text.translate(_NOT_IN_COMMENTS).split())


_NOT_IN_COMMENTS = str.maketrans({"{": "(", "}": ")", "\ufeff": None, "\x1a": " "})


def annotate(raw: RawGame, record: Record, replayer: Replayer, corner: int | None) -> AnnotatedGame:
    """The tree of an accepted game; ``corner`` as in :func:`checkers.pdn_squares.algebraic_corner`."""
    builder = _Builder(raw.source, replayer, corner)
    places = set(raw.places)
    found = builder.collect(raw.begin, raw.end, lambda offset, _: offset in places)
    line = builder.line(record.start, [Move.from_code(code) for code in record.codes.tolist()], found)
    if builder.faults:
        detail = f"not legal, kept as a comment: {builder.faults[0][:60]!r}"
        record = replace(record, warnings=(*record.warnings, PdnWarning(WarningKind.VARIATION, detail)))
    return AnnotatedGame(record, line)


@dataclass(slots=True)
class _Item:
    """A move as it stands in the text, with what stands behind it; the first of a line stands for no move."""

    offset: int = -1
    text: str = ""
    strength: str = ""
    nags: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    variations: list[tuple[int, int]] = field(default_factory=list)

    def comment(self, text: str) -> None:
        """Keep a comment unless it is empty."""
        text = plain_comment(text)
        if text:
            self.comments.append(text)

    def mark(self, text: str) -> None:
        """Keep a NAG, a strength mark, a comment in one piece, or a star; numbers and dots say nothing."""
        sign = text[0]
        if sign in "{;":
            self.comment(text[1:-1] if sign == "{" else text[1:])
        elif sign == "$" and len(text) <= 9:
            self.nags.append(int(text[1:]))
        elif sign in "!?(":
            old, new = self.strength, text.strip("()")
            self.strength = f"({old.strip('()')}{new})" if (old or text).startswith("(") else old + new
        elif "*" in text and sign in ".,*":
            self.nags.append(FORCED)


class _Builder:
    """Builds lines of play from a text."""

    def __init__(self, source: str, replayer: Replayer, corner: int | None) -> None:
        self._source, self._replayer, self._corner = source, replayer, corner
        self.faults: list[str] = []

    def collect(self, begin: int, end: int, is_move: Callable[[int, str], bool]) -> list[_Item]:
        """The moves between two offsets, the first item being what stands before them.

        ``is_move`` says of an offset and a text whether a move stands there; a text that looks like a move and is none
        becomes an item without text.
        """
        items = [_Item()]
        words: tuple[int, int] | None = None  # begin and end of the words without braces that were met last
        for kind, text, start, stop in _tokens(self._source, begin, end):
            moved = kind in (MOVE, COORDINATES, WORD, SETUP) and is_move(start, text)
            loose = kind in (WORD, OTHER) and not moved
            if words and not loose and (kind != MARK or text[0] in "{;$%"):
                items[-1].comment(self._source[slice(*words)])
                words = None
            if moved:
                items.append(_Item(start, self._numeric(text) if kind in (MOVE, COORDINATES) else ""))
            elif loose:
                words = (words[0] if words else start, stop)
            elif kind == PAREN:
                items[-1].variations.append((start, stop))
            elif kind == BRACE:
                items[-1].comment(text[1:-1])
            elif kind == MARK and not words:
                items[-1].mark(text)
        if words:
            items[-1].comment(self._source[slice(*words)])
        return items

    def line(self, start: Position, moves: Sequence[Move], items: list[_Item]) -> Line:
        """The line of these legal moves, annotated by the items."""
        annotated, position = [], start
        first = items[0]
        for variation in first.variations:  # of which move?
            first.comment(self._source[slice(*variation)])
        for move, item in zip(moves, items[1:], strict=False):
            variations = tuple(filter(None, [self._variation(position, item, *place) for place in item.variations]))
            annotated.append(AnnotatedMove(move, item.strength, tuple(item.nags), tuple(item.comments), variations))
            position = play(position, move)
        return Line(tuple(first.comments), tuple(annotated))

    def _variation(self, position: Position, parent: _Item, begin: int, end: int) -> Line | None:
        """The variation between two offsets, as far as it is legal; the rest is a comment."""
        items = self.collect(begin + 1, end - 1, lambda _, text: like_a_move(text))
        readable = next((i for i, item in enumerate(items[1:]) if not item.text), len(items) - 1)
        texts = [item.text for item in items[1 : readable + 1]]
        reading = self._replayer.read(position, texts)
        made = len(texts) if reading.ambiguous >= 0 else reading.made
        if made < len(items) - 1:
            self.faults.append(self._source[items[made + 1].offset : end])
        if made == 0:
            parent.comment(self._source[begin:end])
            return None
        if made < len(items) - 1:
            items[made].comment(self._source[items[made + 1].offset : end - 1])
        codes, _ = self._replayer.first_way(position, texts[:made])
        return self.line(position, [Move.from_code(code) for code in codes.tolist()], items)

    def _numeric(self, text: str) -> str:
        """The text of a move with numbers for squares; empty if that cannot be."""
        if text[0].isdigit():
            return text
        return (numeric_move(text, self._corner) or "") if self._corner is not None else ""


def _tokens(source: str, begin: int, end: int) -> Iterator[tuple[int, str, int, int]]:
    """Kind, text, begin and end of the tokens between two offsets, without tags and results."""
    offset = begin
    while offset < end:
        resume = end
        for match in TOKEN.finditer(source, offset, end):
            kind = match.lastindex or OTHER
            if kind in (MOVE, MARK, COORDINATES, WORD, OTHER, SETUP):
                start = match.start(MOVE) if kind == MOVE else match.end() - len(match[0].lstrip())
                yield kind, source[start : match.end(MOVE if kind == MOVE else 0)], start, match.end()
            elif kind in (BRACE, PAREN):
                start = match.start(kind)
                resume = (end_of_comment if kind == BRACE else end_of_variation)(source, start)
                if not start < resume <= end:
                    resume = end
                yield kind, source[start:resume], start, resume
                break
        offset = resume
