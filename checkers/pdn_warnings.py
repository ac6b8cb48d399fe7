"""What a PDN reader accepts although something is wrong, as kinds that a program can act on (theory.md 7.5)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class WarningKind(StrEnum):
    """Why an accepted record deserves a second look."""

    #: The finished board says another result than the record; the board's is taken.
    RESULT_AGAINST_BOARD = "result against the board"
    #: The tag and the result behind the moves differ.
    RESULTS_DIFFER = "results differ"
    #: The tag Result is not a result.
    RESULT_UNKNOWN = "result unknown"
    #: Nothing closes the moves.
    NO_RESULT = "no result behind the moves"
    #: A tag is not written ``[Name "value"]``.
    TAG_FORM = "tag form"
    #: A tag stands twice; the first is kept.
    TAG_TWICE = "tag twice"
    #: Words stand among the moves without braces.
    TEXT = "text outside braces"
    #: A man stands on the row where it should have been crowned.
    MAN_ON_KING_ROW = "man on king row"
    #: No piece is on the board.
    EMPTY_BOARD = "empty board"
    #: The FEN does not say who moves.
    SIDE_UNKNOWN = "side to move unknown"
    #: The tag SetUp stands without a FEN.
    NO_FEN = "set-up without FEN"
    #: A variation is not legal, or not to be understood; what cannot be read is kept as a comment.
    VARIATION = "variation"


class PdnWarning(NamedTuple):
    """One warning: its kind, and a line of text for a person."""

    kind: WarningKind
    text: str

    def __str__(self) -> str:
        """The text with its kind before it."""
        return f"{self.kind}: {self.text}"
