"""What PDN archives hold, counted, and what comes of it written to folders (theory.md 7.5)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from checkers.errors import FileFormatError
from checkers.pdn_mend import CannotWriteError, Mender
from checkers.pdn_reader import read_annotated, read_pdn
from checkers.pdn_records import Record, Rejection
from checkers.pdn_replay import Replayer
from checkers.pdn_squares import Squares
from checkers.pdn_tree import AnnotatedGame
from checkers.pdn_warnings import WarningKind
from checkers.position import Colour


@dataclass(slots=True)
class PdnSummary:
    """What a check of archives found.

    Attributes:
        files: number of files read to the end.
        games: number of games, accepted or rejected.
        accepted: games accepted.
        rejected: games rejected.
        plies: moves of the accepted games.
        warnings: accepted games with a warning.
        finished: accepted games whose last position has no move left.
        contradicted: those of them whose record says another result than the board; where that is most of them, the
            archive means White by ``1-0``, or ``one_zero`` was wrong.
        seconds: time taken.
        reasons: rejected games by the kind of reason.
        warning_kinds: accepted games by the kind of warning.
        other_games: files whose every game is of one other game: path to the name of that game.
        unreadable: files that cannot be read, with the reason.
        written: files written.
    """

    files: int = 0
    games: int = 0
    accepted: int = 0
    rejected: int = 0
    plies: int = 0
    warnings: int = 0
    finished: int = 0
    contradicted: int = 0
    seconds: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)
    warning_kinds: dict[str, int] = field(default_factory=dict)
    other_games: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    written: list[Path] = field(default_factory=list)


def check(
    paths: Iterable[str | Path],
    on_rejection: Callable[[Rejection], None] | None = None,
    *,
    one_zero: Colour = Colour.BLACK,
    squares: Squares = "numeric",
    rejects: str | Path | None = None,
    fix: str | Path | None = None,
    on_unreadable: Callable[[str, FileFormatError], None] | None = None,
) -> PdnSummary:
    """Read and replay archives.

    Args:
        paths: the archives.
        on_rejection: called with each rejected game.
        one_zero: see :func:`checkers.pdn.read_pdn`; squares likewise.
        squares: see one_zero.
        rejects: folder to which the rejected games are written, ``<name>.rejected.pdn``.
        fix: folder to which the accepted games are written as clean PDN, ``<name>.clean.pdn``.
        on_unreadable: called with each archive that cannot be read and why; the next is read then.

    Raises:
        FileFormatError: one of the files cannot be read or holds no game, and ``on_unreadable`` is not given; or a
            folder cannot be written.
    """
    Replayer()  # loads the kernels, so that the time is the reading's
    count, mender, begin = _Count(on_rejection), Mender(rejects, fix), time.perf_counter()
    read = read_annotated if fix else read_pdn
    for path in map(str, paths):
        try:
            with mender.archive(path):
                count.archive(path, read(path, one_zero=one_zero, squares=squares), mender)
        except CannotWriteError:
            raise
        except FileFormatError as error:
            if on_unreadable is None:
                raise
            count.summary.unreadable[path] = str(error)
            on_unreadable(path, error)
    summary = count.finish()
    summary.written, summary.seconds = mender.written, time.perf_counter() - begin
    return summary


class _Count:
    """Counts what archives hold."""

    def __init__(self, on_rejection: Callable[[Rejection], None] | None) -> None:
        self.summary, self._on_rejection = PdnSummary(), on_rejection
        self._reasons, self._warnings = Counter[str](), Counter[str]()

    def archive(self, path: str, games: Iterable[Record | AnnotatedGame | Rejection], mender: Mender) -> None:
        """Count one archive."""
        others: set[str | None] = set()
        for game in games:
            if isinstance(game, Rejection):
                self._rejected(game)
                others.add(game.other_game)
                mender.add(game)
            elif isinstance(game, AnnotatedGame):
                self._accepted(game.record)
                others.add(None)
                mender.add(game)
            else:
                self._accepted(game)
                others.add(None)
        self.summary.files += 1
        name = others.pop() if len(others) == 1 else None
        if name:
            self.summary.other_games[path] = name

    def _rejected(self, game: Rejection) -> None:
        self.summary.rejected += 1
        self._reasons[game.kind] += 1
        if self._on_rejection:
            self._on_rejection(game)

    def _accepted(self, game: Record) -> None:
        summary = self.summary
        summary.accepted += 1
        summary.plies += len(game.codes)
        summary.finished += game.finished
        if game.warnings:
            summary.warnings += 1
            self._warnings.update({warning.kind for warning in game.warnings})
            summary.contradicted += game.warned(WarningKind.RESULT_AGAINST_BOARD)

    def finish(self) -> PdnSummary:
        """The summary, complete but for time and files."""
        summary = self.summary
        summary.games = summary.accepted + summary.rejected
        summary.reasons = dict(self._reasons.most_common())
        summary.warning_kinds = {str(kind): number for kind, number in self._warnings.most_common()}
        return summary
