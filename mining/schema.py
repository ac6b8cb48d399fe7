"""Tables of a rule base (theory.md 3.12)."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: What a database of this schema is registered as, see :func:`checkers.database.open_database`.
KIND = "rules"
VERSION = 1


class Base(DeclarativeBase):
    """Tables of a rule base."""


class MinedArchive(Base):
    """What was mined, how, and what came of it; the one row has id 1.

    The counts are those of :class:`mining.rules.MiningReport`; ``files`` are the archives' names, one a line; ``plies``
    is null for whole games.
    """

    __tablename__ = "mined_archive"

    id: Mapped[int] = mapped_column(CheckConstraint("id = 1"), primary_key=True)
    files: Mapped[str]
    plies: Mapped[int | None]
    min_count: Mapped[int]
    unique_games: Mapped[bool]
    remove_cycles: Mapped[bool]
    sign: Mapped[str]
    games: Mapped[int]
    rejected: Mapped[int]
    skipped: Mapped[int]
    sequences: Mapped[int]
    states: Mapped[int]
    sources: Mapped[int]
    pairs: Mapped[int]
    rules: Mapped[int]
    seconds: Mapped[float]


class BoardState(Base):
    """A state: three 32-bit boards, the side to move (0 Black, 1 White), and how often games came to it."""

    __tablename__ = "board_state"

    id: Mapped[int] = mapped_column(primary_key=True)
    black: Mapped[int]
    white: Mapped[int]
    kings: Mapped[int]
    side: Mapped[int]
    count: Mapped[int]

    __table_args__ = (UniqueConstraint("black", "white", "kings", "side"),)


class BoardStateSequence(Base):
    """A game: where it is from, and its signed states as text, ``1:17:-18:...``."""

    __tablename__ = "board_state_sequence"

    id: Mapped[int] = mapped_column(primary_key=True)
    file: Mapped[str]
    number: Mapped[int]
    black: Mapped[str]
    white: Mapped[str]
    event: Mapped[str]
    date: Mapped[str]
    result: Mapped[str]
    sequence: Mapped[str]


class RuleRow(Base):
    """An experience rule: in this state, this move (a kernel's code) leads to that state; see theory.md 3.11."""

    __tablename__ = "rule"

    state_id: Mapped[int] = mapped_column(ForeignKey(BoardState.id), primary_key=True)
    next_id: Mapped[int] = mapped_column(ForeignKey(BoardState.id), primary_key=True)
    action: Mapped[int]
    count: Mapped[int]
    wins: Mapped[int]
    draws: Mapped[int]
    losses: Mapped[int]
    weight: Mapped[int]
    support: Mapped[float]
    confidence: Mapped[float]
    rating: Mapped[float]
