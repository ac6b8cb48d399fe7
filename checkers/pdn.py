"""PDN archives of English checkers: a lenient reader that replays every move, a strict writer (theory.md 7.5).

read_pdn        the games of a file, accepted (:class:`Record`) or rejected (:class:`Rejection`)
read_pdn_text   the same for a text
read_annotated  the same with comments and variations (:class:`AnnotatedGame`); read_annotated_text for a text
write_pdn       a game as PDN 3.0
check           what archives hold, counted; what was rejected, and clean PDN of the rest, written to folders

``1-0`` is a win of Black, the side that starts; ``one_zero`` says otherwise for archives that mean White.
"""

from checkers.pdn_check import PdnSummary, check
from checkers.pdn_reader import read_annotated, read_annotated_text, read_pdn, read_pdn_text
from checkers.pdn_records import Record, Rejection
from checkers.pdn_tree import AnnotatedGame, AnnotatedMove, Line
from checkers.pdn_warnings import PdnWarning, WarningKind
from checkers.pdn_write import write_pdn

__all__ = [
    "AnnotatedGame",
    "AnnotatedMove",
    "Line",
    "PdnSummary",
    "PdnWarning",
    "Record",
    "Rejection",
    "WarningKind",
    "check",
    "read_annotated",
    "read_annotated_text",
    "read_pdn",
    "read_pdn_text",
    "write_pdn",
]
