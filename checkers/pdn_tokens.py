"""From PDN text to raw games: tags, move texts and their places, nothing replayed yet (theory.md 7.5).

Lenient on purpose: whatever can only mean one thing is read, whatever might be read wrongly is a fault of its game and
of no other. A blank line followed by a tag always begins a new game, so a comment that is never closed ends there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from checkers.pdn_squares import Squares, algebraic_corner, numeric_move
from checkers.pdn_warnings import PdnWarning, WarningKind

_SQUARE = r"(?:0?[1-9]|[1-9]\d)"
_END = r"(?:1-0|0-1|0-0|1/2-1/2|½-½)(?!\d)"
# behind 26-23* a game goes on: the star was once the mark of a forced move
_GOES_ON = r"\s++(?!1\.)\d+(?:\.|[-x]\d)(?![-/])"
_COORDINATE = r"[a-jA-J](?:10|[1-9])"

# a move may have its number before it and a result glued behind it: 12.26-23, 26-231-0, 5-11/2-1/2
TOKEN = re.compile(
    rf"""\s*+(?:
      (?:\d{{1,3}}\.++\s*+)?(?!1-1(?!\d))
        ({_SQUARE}[ ]?([-xX:×–])[ ]{{0,2}}{_SQUARE}(?:\2{_SQUARE})*)(?:(?={_END})|(?![\d/]|[-xX]\d))
    | (1/2-1/2(?!\d)|½-½|1/2(?![\d-])|(?:1-0|0-1|0-0|2-0|0-2|1-1)(?![\d/])|(?<!\d)\*|\*(?!{_GOES_ON}))
    | \[\s*([A-Za-z]\w*)\s*"([^"\\\n]*(?:\\.[^"\\\n]*)*)"\s*\]
    | (\d{{1,3}}(?:\.+|(?=\s|$))|\{{[^{{}}]*\}}|;[^\n]*|^%[^\n]*|\$\d+|[!?]+|\([!?]+\)|[.,*]+)
    | (\{{)
    | (\()
    | ({_COORDINATE}[ ]?[-xX:]?[ ]?{_COORDINATE}(?:[-xX:]?{_COORDINATE})*)(?!\w)
    | (/FEN\s*"[^"\n]*"/)
    | (\[(?:[^\[\n]*\](?=[ \t]*$)|[^\]\n]*\]|[^\n]*))
    | ([^\s\[\](){{}};*]+)
    | (\S)
    )""",
    re.VERBOSE | re.MULTILINE,
)
#: Groups of the expression; the last that matched is the kind of the token.
MOVE, RESULT, TAG, MARK, BRACE, PAREN, COORDINATES, SETUP, BAD_TAG, WORD, OTHER = 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13

_LOOSE_TAG = re.compile(r"\[\s*([A-Za-z]\w*)")
_TAG_LINE = re.compile(r'\n[ \t]*(?=\[[A-Za-z]\w*[ \t]*")')
_LIKE_A_MOVE = re.compile(r"\d[-xX:/]|[-xX:]\d|^\d{4,}")
_ALGEBRAIC_MOVE = re.compile(rf"{_COORDINATE}[ ]?[-xX:]?[ ]?{_COORDINATE}")
_NUMBERS = re.compile(r"\d+")
_GLUED = re.compile(r"(\d+-\d*[1-9]\d*)(0-1)$")
_COMMENTS_BEHIND = re.compile(r"(?:[ \t]*\{[^{}\n]*\})+")  # of a result, on its line: they belong to its game
_IN_VARIATION = re.compile(r"[(){;]")
_BRACES = re.compile(r"[{}]")

_TAG_NAMES = {
    name.lower(): name
    for name in (
        *("Event", "Site", "Date", "Round", "White", "Black", "Result", "GameType", "SetUp", "FEN", "PlyCount"),
        *("Termination", "TimeControl", "WhiteRating", "BlackRating", "WhiteType", "BlackType", "Annotator"),
        *("ECO", "Opening", "ResultFormat"),
    )
} | {"red": "Black"}
#: Squares that no legal move names.
_IMPOSSIBLE = b"\x02\x00\x00"

#: Warnings of one game about its text that are kept.
MAX_WARNINGS = 20
_ABOUT_TEXT = frozenset({WarningKind.TEXT, WarningKind.TAG_FORM, WarningKind.TAG_TWICE})
#: Comments and variations inside each other that are read; what is deeper never closes.
MAX_COMMENTS, MAX_VARIATIONS = 20, 50

ALGEBRAIC = "algebraic squares"
NOT_A_MOVE = "not a move"


@dataclass(slots=True)
class RawGame:
    """One game as it stands in a text.

    Attributes:
        source: the text it stands in, from offset ``begin`` to ``end``.
        begin: see source.
        line: the line of the file on which it begins.
        end: see source.
        tags: the tags, names in their usual spelling.
        moves: the move texts up to the first fault.
        places: the offset of each move.
        terminator: the result behind the moves, if any.
        fault: offset and reason of the first thing that cannot be read.
        warnings: what was read although it is not PDN.
    """

    source: str
    begin: int
    line: int
    end: int = 0
    tags: dict[str, str] = field(default_factory=dict)
    moves: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    terminator: str | None = None
    fault: tuple[int, str] | None = None
    warnings: list[PdnWarning] = field(default_factory=list)
    _last_tag: int = 0

    @property
    def text(self) -> str:
        """The game's own text."""
        return self.source[self.begin : self.end].strip()

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of an offset in the game."""
        line_start = self.source.rfind("\n", 0, offset) + 1
        return self.line + self.source.count("\n", self.begin, offset), offset - line_start + 1

    def add_fault(self, offset: int, reason: str) -> None:
        """Keep the first fault."""
        if self.fault is None:
            self.fault = offset, reason

    def warn(self, kind: WarningKind, text: str) -> None:
        """Keep a warning, unless it is one of many about the text."""
        if len(self.warnings) < MAX_WARNINGS or kind not in _ABOUT_TEXT:
            self.warnings.append(PdnWarning(kind, text))

    def add_tag(self, name: str, value: str) -> None:
        """Keep a tag; the first of two with one name stands."""
        name = _TAG_NAMES.get(name.lower(), name)
        if name in self.tags:
            self.warn(WarningKind.TAG_TWICE, f"tag {name} stands twice; the first is kept")
        else:
            self.tags[name] = value

    def begins_again(self, name: str, offset: int) -> bool:
        """Whether a tag with this name, at this offset, can only belong to another game."""
        if self.moves or self.fault:
            return True
        name = _TAG_NAMES.get(name.lower(), name)
        if name not in self.tags:
            return False
        return name == next(iter(self.tags)) or self.source.count("\n", self._last_tag, offset) > 1

    def close(self, end: int) -> RawGame:
        """The game, which ends at this offset of the source."""
        self.end = end
        if self.terminator is None and self.moves and not self.fault:
            glued = _GLUED.match(self.moves[-1])  # 5-10-1 at the very end is 5-1 and 0-1
            if glued:
                self.moves[-1], self.terminator = glued[1], glued[2]
        return self


@lru_cache(maxsize=1 << 14)
def squares_of(move: str) -> bytes:
    """How many squares a move text names, then the squares: the kernel's record of a move."""
    squares = [int(number) for number in _NUMBERS.findall(move)]
    return bytes((len(squares), *squares)) if len(squares) < 16 else _IMPOSSIBLE


def end_of_comment(text: str, start: int) -> int:
    """Offset behind the comment that opens at ``start``, -1 if it never closes; nested braces count if they balance."""
    depth, first = 0, -1
    for brace in _BRACES.finditer(text, start):
        if brace[0] == "{":
            depth += 1
            if depth > MAX_COMMENTS:
                break
            continue
        depth -= 1
        if first < 0:
            first = brace.end()
        if depth == 0:
            return brace.end()
    return first


def end_of_variation(text: str, start: int) -> int:
    """Offset behind the variation that opens at ``start``, -1 if it never closes; its comments may hold brackets."""
    depth, offset = 0, start
    while mark := _IN_VARIATION.search(text, offset):
        offset = mark.end()
        if mark[0] == "(":
            depth += 1
            if depth > MAX_VARIATIONS:
                return -1
        elif mark[0] == ")":
            depth -= 1
            if depth == 0:
                return offset
        else:
            offset = end_of_comment(text, mark.start()) if mark[0] == "{" else text.find("\n", offset)
            if offset < 0:
                return -1
    return -1


def like_a_move(text: str) -> bool:
    """Whether a text is, or was perhaps meant to be, a move."""
    return bool(_LIKE_A_MOVE.search(text) or _ALGEBRAIC_MOVE.match(text))


def _loose_value(text: str) -> str:
    """The value of a tag that lacks a quote or a bracket."""
    text = text.strip().removesuffix("]").rstrip()
    return text.removeprefix('"').removesuffix('"')


def _start(match: re.Match[str]) -> int:
    """Where a token begins, behind the white space before it."""
    return match.end() - len(match[0].lstrip())


class _Scanner:
    """Reads one stretch of text into raw games."""

    def __init__(self, text: str, first_line: int, squares: Squares) -> None:
        self.text, self.squares = text, squares
        self.line, self.counted = first_line, 0  # the line at the offset up to which lines are counted
        self.game: RawGame | None = None
        self.prose = False  # words stood where only a game may stand

    def games(self) -> Iterator[RawGame]:
        """The games, in order."""
        offset, end = 0, len(self.text.rstrip())  # a token may have white space before it, none may stand alone
        while offset < end:
            resume = end
            for match in TOKEN.finditer(self.text, offset, end):
                kind = match.lastindex
                if kind == MARK:
                    continue
                if kind == MOVE:
                    self._move(match)
                elif kind == RESULT:
                    if self.game:
                        self.game.terminator = match[RESULT]
                        behind = _COMMENTS_BEHIND.match(self.text, match.end())
                        yield self._close(behind.end() if behind else match.end())
                elif kind in (TAG, BAD_TAG):
                    name, value = self._tag(match)
                    if name and self.game and self.game.begins_again(name, match.start()):
                        yield self._close(match.start())
                    self._add_tag(name, value, match)
                elif kind in (BRACE, PAREN):
                    resume = self._skip(match.start(kind))
                    break
                else:
                    self._oddity(match)
            offset = resume
        if self.game:
            yield self._close(len(self.text))

    def _open(self, match: re.Match[str]) -> RawGame:
        """The game at hand, or a new one that begins at the match."""
        if self.game is None:
            begin = _start(match)
            self.line += self.text.count("\n", self.counted, begin)
            self.counted = begin
            self.game = RawGame(self.text, begin, self.line)
            if self.prose:
                self.game.add_fault(self.game.begin, "text outside braces: a game without tags must begin with a move")
        return self.game

    def _close(self, end: int) -> RawGame:
        game = self.game
        assert game is not None  # noqa: S101
        self.game, self.prose = None, False
        return game.close(end)

    def _move(self, match: re.Match[str]) -> None:
        game = self.game or self._open(match)
        if game.fault is None:
            game.moves.append(match[MOVE])
            game.places.append(match.start(MOVE))

    def _tag(self, match: re.Match[str]) -> tuple[str, str]:
        """Name and value; both empty if it is no tag."""
        if match.lastindex == TAG:
            value = match[TAG]
            return match[TAG - 1], value.replace('\\"', '"').replace("\\\\", "\\") if "\\" in value else value
        text = match[BAD_TAG].strip()
        loose = _LOOSE_TAG.match(text)
        return (loose[1], _loose_value(text[loose.end() :])) if loose else ("", "")

    def _add_tag(self, name: str, value: str, match: re.Match[str]) -> None:
        if not name:
            if self.game:
                self.game.warn(WarningKind.TAG_FORM, f"{match[BAD_TAG].strip()[:60]!r} is not a tag and was skipped")
            return
        self.prose = False
        game = self._open(match)
        if match.lastindex == BAD_TAG:
            text = f'tag {name[:60]} is not written [{name[:60]} "value"] and was read as {value[:60]!r}'
            game.warn(WarningKind.TAG_FORM, text)
        game.add_tag(name, value)
        game._last_tag = match.end()

    def _skip(self, start: int) -> int:
        """Offset behind a nested comment or a variation; behind the game if it never closes."""
        comment = self.text[start] == "{"
        end = (end_of_comment if comment else end_of_variation)(self.text, start)
        if end >= 0:
            return end
        if self.game:
            self.game.add_fault(start, f"{'comment' if comment else 'variation'} is never closed")
        following = _TAG_LINE.search(self.text, start)
        return following.end() if following else len(self.text)

    def _oddity(self, match: re.Match[str]) -> None:
        """Something that is not PDN: a fault when it may be part of the moves, otherwise skipped with a warning."""
        kind = match.lastindex
        start = _start(match)
        text = self.text[start : match.end()]
        if kind == COORDINATES:
            self._algebraic(match, start, text)
        elif kind == SETUP:
            self._open(match).add_fault(start, f"set-up among the moves: {text}")
        elif kind == WORD and _LIKE_A_MOVE.search(text):
            self._open(match).add_fault(start, f"{NOT_A_MOVE}: {text[:60]!r}; right would be 11-15 or 22x15")
        elif self.game is None:
            self.prose = True
        elif len(self.game.warnings) < MAX_WARNINGS:
            line, column = self.game.place(start)
            self.game.warn(WarningKind.TEXT, f"{text[:60]!r} outside braces skipped (line {line}, column {column})")

    def _algebraic(self, match: re.Match[str], start: int, text: str) -> None:
        """A move with algebraic squares: read where a tag or the option says so."""
        game = self._open(match)
        corner = algebraic_corner(game.tags, self.squares)
        move = None if corner is None else numeric_move(text, corner)
        if corner is None:
            game.add_fault(start, f"{ALGEBRAIC}: {text[:60]}")
        elif move is None:
            game.add_fault(start, f"square not on the board: {text[:60]!r}; squares are the dark ones from a1 to h8")
        elif game.fault is None:
            game.moves.append(move)
            game.places.append(start)


def raw_games(text: str, first_line: int = 1, squares: Squares = "numeric") -> Iterator[RawGame]:
    """The games of a text, in order; ``first_line`` is the number of the text's first line in its file."""
    return _Scanner(text, first_line, squares).games()
