"""Tables of a case library (theory.md 1.5, 2.9)."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: What a database of this schema is registered as, see :func:`checkers.database.open_database`.
KIND = "cases"
VERSION = 1


class Base(DeclarativeBase):
    """Tables of a case library."""


class Opponent(Base):
    """Whom the cases were gathered against, and the constants that Decaying Memory's running values are kept with."""

    __tablename__ = "opponent"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    alpha: Mapped[float]
    draw: Mapped[float]


class Case(Base):
    """A case: in this position, this action (a kernel's move code), and what came of the games it was applied in.

    Attributes:
        black, white, kings: 32-bit boards; side: 0 Black, 1 White.
        memory: Decaying Memory's running value.
        first_game, last_game: numbers of the games it was made and last applied in.
        source: where it came from: explored, rule or identity.
    """

    __tablename__ = "elicited_case"

    id: Mapped[int] = mapped_column(primary_key=True)
    opponent_id: Mapped[int] = mapped_column(ForeignKey(Opponent.id))
    black: Mapped[int] = mapped_column(BigInteger)
    white: Mapped[int] = mapped_column(BigInteger)
    kings: Mapped[int] = mapped_column(BigInteger)
    side: Mapped[int]
    action: Mapped[int] = mapped_column(BigInteger)
    wins: Mapped[int]
    draws: Mapped[int]
    losses: Mapped[int]
    memory: Mapped[float]
    first_game: Mapped[int]
    last_game: Mapped[int]
    source: Mapped[str] = mapped_column(String(10))

    __table_args__ = (
        UniqueConstraint("opponent_id", "black", "white", "kings", "side", "action"),
        CheckConstraint("wins + draws + losses > 0"),
    )


class GamePlayed(Base):
    """A game that was learned from.

    Attributes:
        number: from 1 for each opponent.
        result: win, draw or loss of the agent.
        colour: the agent's, 0 Black, 1 White.
        plies: length of the whole game.
        retained: number of cases made or updated.
        forced ... random: number of the agent's moves by :class:`checkers.players.Why`.
    """

    __tablename__ = "game_played"

    opponent_id: Mapped[int] = mapped_column(ForeignKey(Opponent.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    result: Mapped[str] = mapped_column(String(4))
    colour: Mapped[int]
    plies: Mapped[int]
    retained: Mapped[int]
    forced: Mapped[int] = mapped_column(default=0)
    searched: Mapped[int] = mapped_column(default=0)
    case: Mapped[int] = mapped_column(default=0)
    rule: Mapped[int] = mapped_column(default=0)
    identity: Mapped[int] = mapped_column(default=0)
    explored: Mapped[int] = mapped_column(default=0)
    random: Mapped[int] = mapped_column(default=0)
