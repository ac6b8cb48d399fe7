"""PDN archives of English checkers: a lenient reader that replays every move, a strict writer (theory.md 7.5).

read_pdn        the games of a file, accepted (:class:`Record`) or rejected (:class:`Rejection`)
read_pdn_text   the same for a text
write_pdn       a game as PDN 3.0
check           what an archive holds, counted

``1-0`` is a win of Black, the side that starts; ``one_zero`` says otherwise for archives that mean White.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from checkers import draws
from checkers.errors import FenError, FileFormatError
from checkers.game import Game, Result
from checkers.moves import Move, legal_moves
from checkers.pdn_games import ALGEBRAIC as ALGEBRAIC_GAME
from checkers.pdn_games import ENGLISH, game_type, other_game, other_game_by_squares
from checkers.pdn_source import check_file, split_text, stretches
from checkers.pdn_tokens import ALGEBRAIC, RawGame, raw_games, squares_of
from checkers.pdn_write import write_pdn
from checkers.position import Colour, Position

if TYPE_CHECKING:
    from checkers.draws import DrawPolicy

__all__ = ["PdnSummary", "Record", "Rejection", "check", "read_pdn", "read_pdn_text", "write_pdn"]

#: Ways of reading one game's ambiguous captures that are tried before the game is given up as ambiguous.
MAX_READINGS = 500
NOT_ENGLISH = "not English checkers"

_RESULTS = {
    "1-0": Result.BLACK_WINS,
    "2-0": Result.BLACK_WINS,
    "0-1": Result.WHITE_WINS,
    "0-2": Result.WHITE_WINS,
    "1/2-1/2": Result.DRAW,
    "1/2": Result.DRAW,
    "½-½": Result.DRAW,
    "1-1": Result.DRAW,
    "0-0": Result.UNFINISHED,
    "*": Result.UNFINISHED,
}
_TURNED = {Result.BLACK_WINS: Result.WHITE_WINS, Result.WHITE_WINS: Result.BLACK_WINS}
_BLACK_CROWN, _WHITE_CROWN = 0xF0000000, 0x0000000F


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One accepted game, every move replayed.

    Attributes:
        file: the file's path as given.
        number: its number among the games of the file, from 1, rejected games counted.
        line: the line on which it begins, from 1.
        tags: the tags as they stand; names in their usual spelling (``SetUp``, ``FEN``).
        start: the position it starts from.
        codes: move codes (:mod:`checkers.movegen`), shape (plies,).
        positions: black, white, kings, side before each move and after the last, shape (plies + 1, 4).
        result: the board's where the final position has no move, otherwise the tag's or the one behind the moves.
        warnings: what was read in spite of an error, and what contradicts itself.
    """

    file: str
    number: int
    line: int
    tags: dict[str, str]
    start: Position
    codes: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    result: Result
    warnings: tuple[str, ...]

    def game(self, policy: DrawPolicy = draws.NONE) -> Game:
        """The record as a game, finished with its result unless that is open."""
        game = Game(self.start, policy=policy, tags=self.tags)
        for code in self.codes.tolist():
            game.play(Move.from_code(code))
        if self.result is not Result.UNFINISHED:
            game.finish(self.result, "result of the record")
        return game


@dataclass(frozen=True, slots=True)
class Rejection:
    """One game that was not accepted.

    Attributes:
        file: the file's path as given.
        number: its number among the games of the file, from 1.
        line: where the fault is, from 1; column likewise.
        column: see line.
        ply: the move at fault, from 1; 0 when it is not a move.
        reason: ``kind: details``, one line.
        text: the game as it stands in the file.
    """

    file: str
    number: int
    line: int
    column: int
    ply: int
    reason: str
    text: str

    @property
    def kind(self) -> str:
        """The reason without its details, to count by."""
        return self.reason.partition(": ")[0]

    @property
    def other_game(self) -> str | None:
        """The game of the family that this is, if it is not English checkers."""
        return self.kind.removesuffix(f", {NOT_ENGLISH}") if self.kind.endswith(NOT_ENGLISH) else None


@dataclass(slots=True)
class PdnSummary:
    """What a check of archives found.

    Attributes:
        files: number of files.
        games: number of games, accepted or rejected.
        accepted: games accepted.
        rejected: games rejected.
        plies: moves of the accepted games.
        warnings: accepted games with a warning.
        seconds: time taken.
        reasons: rejected games by the kind of reason.
        other_games: files whose every game is of one other game: path to the name of that game.
    """

    files: int = 0
    games: int = 0
    accepted: int = 0
    rejected: int = 0
    plies: int = 0
    warnings: int = 0
    seconds: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)
    other_games: dict[str, str] = field(default_factory=dict)


#: Codes, positions, number of legal moves at the end.
_Reading = tuple[NDArray[np.uint32], NDArray[np.uint32], int]


class _FaultError(Exception):
    """Why a game is rejected, and the offset in its source and the ply at which."""

    def __init__(self, reason: str, offset: int, ply: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.offset, self.ply = reason, offset, ply


def read_pdn(path: str | Path, *, one_zero: Colour = Colour.BLACK) -> Iterator[Record | Rejection]:
    """The games of a PDN file, read as they are asked for; ``one_zero`` is the side that wins with ``1-0``.

    Raises:
        FileFormatError: the file is missing, a directory, empty, binary, or holds no game; the first three at once, the
            others while it is read.
    """
    check_file(Path(path))
    return _read_file(Path(path), str(path), one_zero)


def read_pdn_text(text: str, file: str = "<text>", *, one_zero: Colour = Colour.BLACK) -> Iterator[Record | Rejection]:
    """The games of a text; ``file`` is the name they are given. A text without a game has none."""
    return _read(split_text(text), file, one_zero)


def _read_file(path: Path, file: str, one_zero: Colour) -> Iterator[Record | Rejection]:
    found = False
    for game in _read(stretches(path), file, one_zero):
        found = True
        yield game
    if not found:
        raise FileFormatError(f'{path}: holds no PDN game; right would be tags such as [Event "…"] and moves 1. 11-15')


def _read(texts: Iterable[tuple[int, str]], file: str, one_zero: Colour) -> Iterator[Record | Rejection]:
    reader = _Reader(file, one_zero)
    for first_line, text in texts:
        for raw in raw_games(text, first_line):
            yield reader.read(raw)


class _Reader:
    """Replays raw games; holds the kernel's buffer and the place in the file."""

    def __init__(self, file: str, one_zero: Colour) -> None:
        from checkers.movegen import new_buffer
        from checkers.replay import replay

        self._replay, self._buffer = replay, new_buffer()
        self._file, self._one_zero = file, one_zero
        self._number = 0
        self._other_game = ""  # the last other game met in this file

    def read(self, raw: RawGame) -> Record | Rejection:
        """The game, accepted or rejected."""
        self._number += 1
        try:
            return self._accept(raw)
        except _FaultError as fault:
            line, column = raw.place(fault.offset)
            return Rejection(self._file, self._number, line, column, fault.ply, fault.reason, raw.text)

    def _accept(self, raw: RawGame) -> Record:
        other = other_game(raw.tags)
        if other:
            raise self._other(*other, raw.begin)
        if raw.fault and raw.fault[1].startswith(ALGEBRAIC) and game_type(raw.tags) != ENGLISH:
            raise self._other(ALGEBRAIC_GAME, raw.fault[1], raw.fault[0], len(raw.moves) + 1)
        if not raw.moves and not raw.fault and "FEN" not in raw.tags:
            if self._other_game:
                raise self._other(self._other_game, "no moves, in a file of that game", raw.begin)
            raise _FaultError("no moves: a game has moves or a FEN", raw.begin)
        start = _start(raw)
        codes, positions, moves_left = self._moves(raw, start)
        if raw.fault:
            raise _FaultError(raw.fault[1], raw.fault[0], len(raw.moves) + 1)
        result = self._result(raw, Colour(int(positions[-1, 3])) if moves_left == 0 else None)
        return Record(
            self._file, self._number, raw.line, raw.tags, start, codes, positions, result, tuple(raw.warnings)
        )

    def _other(self, game: str, how: str, offset: int, ply: int = 0) -> _FaultError:
        """The fault of a record of another game."""
        self._other_game = game
        return _FaultError(f"{game}, {NOT_ENGLISH}: {how}", offset, ply)

    def _moves(self, raw: RawGame, start: Position) -> _Reading:
        """Codes, positions and the number of legal moves at the end.

        Squares that allow several results are settled by the rest of the game: every reading is tried, and exactly one
        may replay to the end.
        """
        plies = len(raw.moves)
        record = np.frombuffer(bytearray().join(map(squares_of, raw.moves)), np.uint8)
        codes, positions = np.empty(plies, np.uint32), np.empty((plies + 1, 4), np.uint32)
        positions[0] = start
        none = np.zeros(plies, np.uint8)
        readings, deepest, first_ambiguous = [none], 0, -1
        complete: list[_Reading] = []
        for _ in range(MAX_READINGS):
            choices = readings.pop()
            made, status, number = self._replay(record, plies, choices, codes, positions, self._buffer)
            if status == 0:
                complete.append((codes, positions, number))
                if first_ambiguous >= 0:
                    codes, positions = codes.copy(), positions.copy()
            elif status == 1:
                deepest = max(deepest, made)
            else:
                first_ambiguous = made if first_ambiguous < 0 else min(made, first_ambiguous)
                for choice in range(number, 0, -1):
                    readings.append(choices.copy())
                    readings[-1][made] = choice
            if not readings or len(complete) > 1:
                break
        if len(complete) == 1 and not readings:
            return complete[0]
        if complete or readings:
            raise self._ambiguous(raw, complete, first_ambiguous)
        raise self._illegal(raw, start, record, deepest)

    def _ambiguous(self, raw: RawGame, complete: list[_Reading], first: int) -> _FaultError:
        """The fault of a game with several readings, at the first move in which they differ."""
        ply = first
        if len(complete) > 1:
            ply = int(np.flatnonzero(complete[0][0] != complete[1][0])[0])
            paths = " or ".join(str(Move.from_code(int(codes[ply]))) for codes, *_ in complete)
            detail = f"may be {paths}, and the rest of the game allows both"
        else:
            detail = f"more than {MAX_READINGS} ways of reading the game"
        return _FaultError(f"ambiguous capture: {raw.moves[ply]!r} {detail}", raw.places[ply], ply + 1)

    def _illegal(self, raw: RawGame, start: Position, record: NDArray[np.uint8], made: int) -> _FaultError:
        """The fault of a game with an illegal move, or of another game."""
        ply, offset, text = made + 1, raw.places[made], raw.moves[made]
        if game_type(raw.tags) != ENGLISH:
            other = other_game_by_squares(start, ply, [squares_of(move) for move in raw.moves])
            if other:
                return self._other(*other, offset, ply)
        if max(squares_of(text)[1:]) > 32:
            return _FaultError(f"square not on the board: {text!r}; squares are 1 to 32", offset, ply)
        position = self._position_before(start, record, made)
        legal = legal_moves(position)
        shown = ", ".join(map(str, legal[:12])) + (", …" if len(legal) > 12 else "")
        reason = f"illegal move: {text!r} in {position.fen()}; legal moves: {shown or 'none'}"
        return _FaultError(reason, offset, ply)

    def _position_before(self, start: Position, record: NDArray[np.uint8], plies: int) -> Position:
        """The position after so many plies, ambiguous captures read the first way that goes so far."""
        codes, positions = np.empty(plies, np.uint32), np.empty((plies + 1, 4), np.uint32)
        positions[0] = start
        readings = [np.zeros(plies, np.uint8)]
        while readings:
            choices = readings.pop()
            made, status, number = self._replay(record, plies, choices, codes, positions, self._buffer)
            if status == 0:
                break
            for choice in range(number, 0, -1):
                readings.append(choices.copy())
                readings[-1][made] = choice
        black, white, kings, side = positions[plies].tolist()
        return Position(black, white, kings, Colour(side))

    def _result(self, raw: RawGame, loser: Colour | None) -> Result:
        """The result; ``loser`` is the side to move in a final position without a legal move."""
        stated = self._stated(raw)
        if loser is None:
            return stated
        result = Result.win(loser.other)
        if stated not in (result, Result.UNFINISHED):
            raw.warnings.append(
                f"the record says {stated.value}, but {loser.name.title()} has no move left: read as {result.value}"
            )
        return result

    def _stated(self, raw: RawGame) -> Result:
        """What the tag says, or the result behind the moves when it says nothing."""
        tag, terminator = raw.tags.get("Result", "").strip(), raw.terminator
        by_tag, by_terminator = _RESULTS.get(tag), _RESULTS.get(terminator or "")
        if by_tag is None and tag not in ("", "?"):
            raw.warnings.append(f"tag Result {tag!r} is not a result")
        if by_terminator is None and raw.moves:
            raw.warnings.append("no result behind the moves")
        if None not in (by_tag, by_terminator) and by_tag is not by_terminator:
            raw.warnings.append(f"tag Result {tag!r}, but {terminator!r} behind the moves")
        candidates = [result for result in (by_tag, by_terminator) if result not in (None, Result.UNFINISHED)]
        result = candidates[0] if candidates else Result.UNFINISHED
        assert result is not None  # noqa: S101
        return result if self._one_zero is Colour.BLACK else _TURNED.get(result, result)


def _start(raw: RawGame) -> Position:
    """The position a game starts from."""
    fen = raw.tags.get("FEN")
    if fen is None:
        if raw.tags.get("SetUp", "0").strip() not in ("0", ""):
            raw.warnings.append("SetUp without a FEN; read from the start position")
        return Position.start()
    try:
        start = Position.from_fen(fen)
    except FenError as error:
        offset = raw.source.find(fen, raw.begin, raw.end)
        raise _FaultError(f"wrong FEN: {error}", max(offset, raw.begin)) from None
    men = ~start.kings
    if start.black & men & _BLACK_CROWN or start.white & men & _WHITE_CROWN:
        raw.warnings.append("a man stands on its king row")
    return start


def check(paths: Iterable[str | Path], on_rejection: Callable[[Rejection], None] | None = None) -> PdnSummary:
    """Read and replay archives; ``on_rejection`` is called with each rejected game.

    Raises:
        FileFormatError: one of the files cannot be read or holds no game.
    """
    summary, begin, reasons = PdnSummary(), time.perf_counter(), Counter[str]()
    for path in paths:
        summary.files += 1
        others: set[str | None] = set()
        for game in read_pdn(path):
            summary.games += 1
            if isinstance(game, Record):
                summary.accepted += 1
                summary.plies += len(game.codes)
                summary.warnings += bool(game.warnings)
                others.add(None)
                continue
            summary.rejected += 1
            reasons[game.kind] += 1
            others.add(game.other_game)
            if on_rejection:
                on_rejection(game)
        name = others.pop() if len(others) == 1 else None
        if name:
            summary.other_games[str(path)] = name
    summary.reasons = dict(reasons.most_common())
    summary.seconds = time.perf_counter() - begin
    return summary
