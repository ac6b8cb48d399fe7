"""The PDN reader: every game of an archive replayed, accepted or rejected with its reason (theory.md 7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from checkers.errors import FenError, FileFormatError
from checkers.game import Result
from checkers.moves import legal_moves
from checkers.pdn_games import ALGEBRAIC as ALGEBRAIC_GAME
from checkers.pdn_games import ENGLISH, game_type, other_game, other_game_by_squares
from checkers.pdn_records import NOT_ENGLISH, Record, Rejection
from checkers.pdn_replay import MAX_READINGS, Reading, Replayer
from checkers.pdn_source import check_file, split_text, stretches
from checkers.pdn_squares import Squares, algebraic_corner, numeric_fen, positions_of
from checkers.pdn_tokens import ALGEBRAIC, RawGame, raw_games, squares_of
from checkers.pdn_tree import AnnotatedGame, annotate
from checkers.pdn_warnings import WarningKind
from checkers.position import Colour, Position

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


class _FaultError(Exception):
    """Why a game is rejected, and the offset in its source and the ply at which."""

    def __init__(self, reason: str, offset: int, ply: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.offset, self.ply = reason, offset, ply


def read_pdn(
    path: str | Path,
    *,
    one_zero: Colour = Colour.BLACK,
    squares: Squares = "numeric",
    part: tuple[int, int] | None = None,
) -> Iterator[Record | Rejection]:
    """The games of a PDN file, read as they are asked for.

    Args:
        path: plain text or gzip.
        one_zero: the side that wins with ``1-0``.
        squares: ``algebraic`` reads squares such as a3 as English checkers where no tag GameType says otherwise, a1 at
            Black's left hand.
        part: one of :func:`checkers.pdn_source.parts_of`, whose games and lines are numbered from 1; None for all.

    Raises:
        FileFormatError: the file is missing, a directory, empty, binary, or holds no game; the first three at once, the
            others while it is read.
    """
    check_file(Path(path))
    return (game for _, game in _read_file(_Reader(str(path), one_zero, squares), Path(path), part))


def read_pdn_text(
    text: str, file: str = "<text>", *, one_zero: Colour = Colour.BLACK, squares: Squares = "numeric"
) -> Iterator[Record | Rejection]:
    """The games of a text; ``file`` is the name they are given. A text without a game has none."""
    return (game for _, game in _read(_Reader(file, one_zero, squares), split_text(text)))


def read_annotated(
    path: str | Path, *, one_zero: Colour = Colour.BLACK, squares: Squares = "numeric"
) -> Iterator[AnnotatedGame | Rejection]:
    """As :func:`read_pdn`, with comments, NAGs, strength marks and variations; several times slower."""
    check_file(Path(path))
    reader = _Reader(str(path), one_zero, squares)
    return _annotated(reader, _read_file(reader, Path(path)))


def read_annotated_text(
    text: str, file: str = "<text>", *, one_zero: Colour = Colour.BLACK, squares: Squares = "numeric"
) -> Iterator[AnnotatedGame | Rejection]:
    """As :func:`read_pdn_text`, with comments, NAGs, strength marks and variations."""
    reader = _Reader(file, one_zero, squares)
    return _annotated(reader, _read(reader, split_text(text)))


def _annotated(
    reader: _Reader, games: Iterable[tuple[RawGame, Record | Rejection]]
) -> Iterator[AnnotatedGame | Rejection]:
    for raw, game in games:
        if isinstance(game, Rejection):
            yield game
        else:
            yield annotate(raw, game, reader.replayer, algebraic_corner(raw.tags, reader.squares))


def _read_file(
    reader: _Reader, path: Path, part: tuple[int, int] | None = None
) -> Iterator[tuple[RawGame, Record | Rejection]]:
    found = False
    for pair in _read(reader, stretches(path, part)):
        found = True
        yield pair
    if not found and part is None:
        raise FileFormatError(f'{path}: holds no PDN game; right would be tags such as [Event "…"] and moves 1. 11-15')


def _read(reader: _Reader, texts: Iterable[tuple[int, str]]) -> Iterator[tuple[RawGame, Record | Rejection]]:
    for first_line, text in texts:
        for raw in raw_games(text, first_line, reader.squares):
            yield raw, reader.read(raw)


class _Reader:
    """Replays raw games and knows the place in the file."""

    def __init__(self, file: str, one_zero: Colour, squares: Squares) -> None:
        self.replayer, self.squares = Replayer(), squares
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
        asked = self.squares != "numeric" or "GameType" in raw.tags
        corner = algebraic_corner(raw.tags, self.squares) if asked else None
        tags = raw.tags if corner is None else {**raw.tags, "FEN": numeric_fen(raw.tags.get("FEN", ""), corner)}
        other = other_game(tags)
        if other:
            raise self._other(*other, raw.begin)
        if raw.fault and raw.fault[1].startswith(ALGEBRAIC) and game_type(raw.tags) != ENGLISH:
            raise self._other(ALGEBRAIC_GAME, raw.fault[1], raw.fault[0], len(raw.moves) + 1)
        if not raw.moves and not raw.fault and "FEN" not in raw.tags:
            if self._other_game:
                raise self._other(self._other_game, "no moves, in a file of that game", raw.begin)
            raise _FaultError("no moves: a game has moves or a FEN", raw.begin)
        start, reading = self._replayed(raw, tags.get("FEN") if "FEN" in raw.tags else None)
        if raw.fault:
            raise _FaultError(raw.fault[1], raw.fault[0], len(raw.moves) + 1)
        last = Position(*reading.positions[-1].tolist())
        finished = not reading.moves_left and last.pieces > 0
        result = self._result(raw, Colour(last.side) if finished else None)
        return Record(
            self._file,
            self._number,
            raw.line,
            raw.tags,
            start,
            reading.codes,
            reading.positions,
            result,
            tuple(raw.warnings),
            finished,
        )

    def _other(self, game: str, how: str, offset: int, ply: int = 0) -> _FaultError:
        """The fault of a record of another game."""
        self._other_game = game
        return _FaultError(f"{game}, {NOT_ENGLISH}: {how}", offset, ply)

    def _replayed(self, raw: RawGame, fen: str | None) -> tuple[Position, Reading]:
        """The start position and the reading of the moves; of two start positions the first that suits the moves."""
        starts = _starts(raw, fen)
        for start in starts:
            reading = self.replayer.read(start, raw.moves)
            if reading.ambiguous < 0 and reading.made == len(raw.moves):
                return start, reading
        reading = self.replayer.read(starts[0], raw.moves)
        if reading.ambiguous >= 0:
            raise self._ambiguous(raw, reading)
        raise self._illegal(raw, starts[0], reading.made)

    @staticmethod
    def _ambiguous(raw: RawGame, reading: Reading) -> _FaultError:
        """The fault of a game with several readings, at the first move in which they differ."""
        ply = reading.ambiguous
        if reading.rivals:
            detail = f"may be {' or '.join(map(str, reading.rivals))}, and the rest of the game allows both"
        else:
            detail = f"more than {MAX_READINGS} ways of reading the game"
        return _FaultError(f"ambiguous capture: {raw.moves[ply][:60]!r} {detail}", raw.places[ply], ply + 1)

    def _illegal(self, raw: RawGame, start: Position, made: int) -> _FaultError:
        """The fault of a game with an illegal move, or of another game."""
        ply, offset, text = made + 1, raw.places[made], raw.moves[made]
        if game_type(raw.tags) != ENGLISH:
            other = other_game_by_squares(start, ply, [squares_of(move) for move in raw.moves])
            if other:
                return self._other(*other, offset, ply)
        if max(squares_of(text)[1:]) > 32:
            return _FaultError(f"square not on the board: {text[:60]!r}; squares are 1 to 32", offset, ply)
        position = self.replayer.position_before(start, raw.moves, made)
        legal = legal_moves(position)
        shown = ", ".join(map(str, legal[:12])) + (", …" if len(legal) > 12 else "")
        reason = f"illegal move: {text[:60]!r} in {position.fen()}; legal moves: {shown or 'none'}"
        return _FaultError(reason, offset, ply)

    def _result(self, raw: RawGame, loser: Colour | None) -> Result:
        """The result; ``loser`` is the side to move in a final position without a legal move."""
        stated = self._stated(raw)
        if loser is None:
            return stated
        result = Result.win(loser.other)
        if stated not in (result, Result.UNFINISHED):
            text = f"the record says {stated.value}, but {loser.name.title()} has no move left: read as {result.value}"
            raw.warn(WarningKind.RESULT_AGAINST_BOARD, text)
        return result

    def _stated(self, raw: RawGame) -> Result:
        """What the tag says, or the result behind the moves when it says nothing; ``*`` there only ends the game."""
        tag, terminator = raw.tags.get("Result", "").strip(), raw.terminator
        by_tag, by_terminator = _RESULTS.get(tag), _RESULTS.get(terminator or "")
        if by_tag is None and tag not in ("", "?"):
            raw.warn(WarningKind.RESULT_UNKNOWN, f"tag Result {tag[:60]!r} is not a result")
        if by_terminator is None and raw.moves:
            raw.warn(WarningKind.NO_RESULT, "no result behind the moves")
        if None not in (by_tag, by_terminator) and by_tag is not by_terminator and terminator != "*":
            raw.warn(WarningKind.RESULTS_DIFFER, f"tag Result {tag!r}, but {terminator!r} behind the moves")
        candidates = (result for result in (by_tag, by_terminator) if result)
        result = next((result for result in candidates if result is not Result.UNFINISHED), Result.UNFINISHED)
        return result if self._one_zero is Colour.BLACK else _TURNED.get(result, result)


def _starts(raw: RawGame, fen: str | None) -> list[Position]:
    """The positions a game may start from."""
    if fen is None:
        if raw.tags.get("SetUp", "0").strip() not in ("0", ""):
            raw.warn(WarningKind.NO_FEN, "SetUp without a FEN; read from the start position")
        return [Position.start()]
    try:
        positions, warnings = positions_of(fen)
    except FenError as error:
        offset = raw.source.find(raw.tags["FEN"], raw.begin, raw.end)
        raise _FaultError(f"wrong FEN: {error}", max(offset, raw.begin)) from None
    for warning in warnings:
        raw.warn(*warning)
    return positions
