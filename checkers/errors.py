"""Errors that a person's input can cause, each with a one-line message that says what would be right.

Everything here is a :class:`InputError`; the command line prints the message and exits with status 2.
"""

from __future__ import annotations


class InputError(ValueError):
    """Input from outside is wrong; the message names the thing, the place and what would be right."""


class FenError(InputError):
    """A FEN text is not a position."""


class MoveError(InputError):
    """A text is not a move that can be made in a position."""


class InvalidMoveError(MoveError):
    """The text has not the form of a move."""


class IllegalMoveError(MoveError):
    """The text has the form of a move, and no legal move answers to it."""


class AmbiguousMoveError(MoveError):
    """Several legal moves with different results answer to the text."""


class SpecificationError(InputError):
    """A player specification names an unknown player or key, or a value that does not fit."""


class DatabaseError(InputError):
    """A database cannot be used: wrong version, damaged, or not ours."""


class FileFormatError(InputError):
    """A file is not of the kind or version that was asked for."""
