"""Tables of an archive: files, games, states, sequences, duplicates (theory.md 3.4, 3.12)."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Connection,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    UniqueConstraint,
    event,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: What a database of this schema is registered as, see :func:`checkers.database.open_database`.
KIND = "archive"
VERSION = 1


class Base(DeclarativeBase):
    """Tables of an archive."""


class Numbers(Base):
    """The highest numbers given to games and states; whoever adds holds this one row."""

    __tablename__ = "archive_numbers"

    id: Mapped[int] = mapped_column(CheckConstraint("id = 1"), primary_key=True)
    games: Mapped[int]
    states: Mapped[int]


@event.listens_for(Numbers.__table__, "after_create")
def _begin_numbers(table: Table, connection: Connection, **_: object) -> None:
    """Make the row with the table: two programs that find none would both make one."""
    connection.execute(table.insert().values(id=1, games=0, states=0))


class Source(Base):
    """A PDN file, known by its bytes.

    ``records`` is how many of its records have been dealt with under ``filters`` (JSON); ``complete`` whether all were.
    ``rejections`` counts the refused ones by kind (JSON), ``filtered`` those that were not wanted.
    """

    __tablename__ = "archive_source"

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    records: Mapped[int] = mapped_column(default=0)
    filters: Mapped[str] = mapped_column(default="{}")
    rejections: Mapped[str] = mapped_column(default="{}")
    filtered: Mapped[int] = mapped_column(default=0)
    complete: Mapped[bool] = mapped_column(default=False)


class ArchivedGame(Base):
    """A game: where it is from, who played, and its moves.

    ``date_from`` and ``date_to`` are the days it may have been played on, as YYYYMMDD; ``rating`` the lower of both
    ratings; ``ballot`` the three-move ballot, 0 for none; ``fen`` the start where it is not the usual one; ``codes``
    move codes, four bytes each, the lowest first; ``moves_key`` tells start and moves apart; the keys are names to
    compare by; ``meeting`` is both players and the date, null unless all are known.
    """

    __tablename__ = "archive_game"

    id: Mapped[int] = mapped_column(primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey(Source.id))
    number: Mapped[int]
    event: Mapped[str]
    date: Mapped[str]
    year: Mapped[int | None]
    date_from: Mapped[int | None]
    date_to: Mapped[int | None]
    black: Mapped[str]
    white: Mapped[str]
    result: Mapped[str]
    rating: Mapped[int | None]
    ballot: Mapped[int]
    plies: Mapped[int]
    fen: Mapped[str | None]
    codes: Mapped[bytes] = mapped_column(LargeBinary)
    moves_key: Mapped[bytes] = mapped_column(LargeBinary, index=True)
    black_key: Mapped[str]
    white_key: Mapped[str]
    event_key: Mapped[str]
    meeting: Mapped[str | None] = mapped_column(index=True)

    __table_args__ = (UniqueConstraint("source_id", "number"),)


class BoardState(Base):
    """A state: three 32-bit boards, the side to move (0 Black, 1 White), and how often games came to it.

    ``key`` is a hash of them, by which they are found.
    """

    __tablename__ = "archive_state"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[int] = mapped_column(BigInteger)
    black: Mapped[int] = mapped_column(BigInteger)
    white: Mapped[int] = mapped_column(BigInteger)
    kings: Mapped[int] = mapped_column(BigInteger)
    side: Mapped[int]
    count: Mapped[int]

    __table_args__ = (Index("archive_state_key", "key"),)


class BoardStateSequence(Base):
    """A game's signed states as text, ``1:17:-18:...``, cycles and all."""

    __tablename__ = "archive_sequence"

    game_id: Mapped[int] = mapped_column(ForeignKey(ArchivedGame.id), primary_key=True)
    sequence: Mapped[str]


class Duplicate(Base):
    """A game that repeats an earlier one.

    ``difference`` is 0 for the same moves; otherwise the players and the date are the same, and so many plies differ.
    """

    __tablename__ = "archive_duplicate"

    game_id: Mapped[int] = mapped_column(ForeignKey(ArchivedGame.id), primary_key=True)
    original_id: Mapped[int] = mapped_column(ForeignKey(ArchivedGame.id))
    difference: Mapped[int]
