"""Tables of a rule base (theory.md 3.12)."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: What a database of this schema is registered as, see :func:`checkers.database.open_database`.
KIND = "rules"
VERSION = 2


class Base(DeclarativeBase):
    """Tables of a rule base."""


class MinedArchive(Base):
    """What was mined, how, and what came of it; the one row has id 1.

    The counts are those of :class:`mining.rules.MiningReport`; ``plies`` is null for whole games; ``filters`` is JSON.
    """

    __tablename__ = "mined_archive"

    id: Mapped[int] = mapped_column(CheckConstraint("id = 1"), primary_key=True)
    plies: Mapped[int | None]
    min_count: Mapped[int]
    unique_games: Mapped[bool]
    remove_cycles: Mapped[bool]
    sign: Mapped[str]
    merge_colours: Mapped[bool]
    filters: Mapped[str]
    games: Mapped[int]
    rejected: Mapped[int]
    skipped: Mapped[int]
    sequences: Mapped[int]
    states: Mapped[int]
    sources: Mapped[int]
    pairs: Mapped[int]
    rules: Mapped[int]
    avoided: Mapped[int]
    seconds: Mapped[float]


class MinedFile(Base):
    """A file that was mined."""

    __tablename__ = "mined_file"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class BoardState(Base):
    """A state that a rule speaks of: three 32-bit boards and the side to move (0 Black, 1 White)."""

    __tablename__ = "board_state"

    id: Mapped[int] = mapped_column(primary_key=True)
    black: Mapped[int] = mapped_column(BigInteger)
    white: Mapped[int] = mapped_column(BigInteger)
    kings: Mapped[int] = mapped_column(BigInteger)
    side: Mapped[int]

    __table_args__ = (UniqueConstraint("black", "white", "kings", "side"),)


class _Pattern:
    """Columns of a sequential pattern, see theory.md 3.11.

    ``examples`` names games as ``file:number``, divided by blanks.
    """

    state_id: Mapped[int] = mapped_column(ForeignKey("board_state.id"), primary_key=True)
    next_id: Mapped[int] = mapped_column(ForeignKey("board_state.id"), primary_key=True)
    action: Mapped[int] = mapped_column(BigInteger)
    count: Mapped[int]
    wins: Mapped[int]
    draws: Mapped[int]
    losses: Mapped[int]
    weight: Mapped[int]
    support: Mapped[float]
    confidence: Mapped[float]
    rating: Mapped[float]
    last_year: Mapped[int | None]
    examples: Mapped[str]


class RuleRow(_Pattern, Base):
    """An experience rule: in this state, this move (a kernel's code) leads to that state."""

    __tablename__ = "rule"


class AvoidedRow(_Pattern, Base):
    """A move that went wrong more often than not: kept for reports in a table of its own, so that nobody plays it."""

    __tablename__ = "avoided"
