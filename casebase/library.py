"""The case library of one opponent: exact retrieval in memory, durable writes (theory.md 1.5-1.7, 1.10, 2.4).

A library keeps its cases in a dictionary by position and, when it has a URL, in a database as well. A finished game is
written in one transaction that adds to the counters there, so several processes may learn into one database; each goes
on with what it read when it was opened and what it learned since, until :meth:`CaseLibrary.reload`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, cast

from sqlalchemy import Row, Table, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from casebase.ratings import CaseStatistics, DecayingMemory, Rating, outcome
from casebase.schema import KIND, VERSION, Base, Case, GamePlayed, Opponent
from checkers.database import open_database, transaction
from checkers.errors import DatabaseError, SpecificationError
from checkers.moves import Move
from checkers.players import Why
from checkers.position import FULL, Colour, Position

#: A move of the agent: the position, the move's code, where it came from.
Step: TypeAlias = tuple[Position, int, Why]

RESULTS = ("win", "draw", "loss")


class RetrievedCase(NamedTuple):
    """A case of a position as it stands now."""

    action: int
    rating: float
    wins: int
    draws: int
    losses: int
    source: str

    @property
    def move(self) -> Move:
        """The action as a move."""
        return Move.from_code(self.action)


@dataclass(slots=True)
class StoredCase(CaseStatistics):
    """A case's statistics, the numbers of its first and last game, and where it came from."""

    first_game: int = 0
    last_game: int = 0
    source: str = ""


@dataclass(slots=True)
class Tally:
    """Games learned from: by result, their plies, the agent's moves by their source."""

    results: Counter[str] = field(default_factory=Counter)
    plies: int = 0
    moves: Counter[Why] = field(default_factory=Counter)

    @property
    def games(self) -> int:
        """Number of games."""
        return self.results.total()


class CaseLibrary:
    """Cases gathered against one opponent.

    Args:
        url: database URL or SQLite file; None keeps the cases in memory only.
        opponent: any text.
        rating: how cases are rated.
        create: make the database and the opponent when absent; otherwise their absence is an error.

    Raises:
        DatabaseError: the database cannot be used, or with ``create=False`` it or the opponent is not there.
        SpecificationError: a Decaying Memory with other constants than the running values were kept with.
    """

    def __init__(self, url: str | None, opponent: str, rating: Rating, *, create: bool = True) -> None:
        if any(0xD800 <= ord(character) <= 0xDFFF for character in opponent):
            raise SpecificationError(f"opponent {opponent!r} is not Unicode text; right would be a name in UTF-8")
        self.opponent = opponent
        self.rating = rating
        self._url = url
        self._memory = rating if isinstance(rating, DecayingMemory) else DecayingMemory()
        self._cases: dict[Position, dict[int, StoredCase]] = {}
        self._tally = Tally()
        self._engine: Engine | None = None
        if url is not None:
            self._engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=create)
            try:
                self.reload(create=create)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Close the connections; what was learned is in the database already."""
        if self._engine is not None:
            self._engine.dispose()

    def __enter__(self) -> CaseLibrary:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of cases."""
        return sum(map(len, self._cases.values()))

    def __iter__(self) -> Iterator[Position]:
        """The positions that have cases."""
        return iter(self._cases)

    @property
    def games(self) -> int:
        """Number of games learned from."""
        return self._tally.games

    def retrieve(self, position: Position) -> list[RetrievedCase]:
        """The cases of a position, best rating first, equal ones by action."""
        cases = self._cases.get(position)
        if not cases:
            return []
        uses = sum(case.uses for case in cases.values())
        found = [
            RetrievedCase(action, self.rating.rating(case, uses), case.wins, case.draws, case.losses, case.source)
            for action, case in cases.items()
        ]
        return sorted(found, key=lambda case: (-case.rating, case.action))

    def stored(self, position: Position, action: int) -> StoredCase | None:
        """Everything that is known of a case, or None."""
        return self._cases.get(position, {}).get(action)

    def retain(self, steps: Sequence[Step], points: float, *, colour: Colour, plies: int = 0) -> int:
        """Learn from a finished game; return its number.

        Each pair of position and action counts once, however often it occurred; forced moves make no case. Memory
        follows once the database has it all.

        Args:
            steps: the agent's moves, in order.
            points: 1, 0.5 or 0 for the agent's win, draw or loss.
            colour: the agent's.
            plies: length of the whole game.
        """
        played: dict[tuple[Position, int], Why] = {}
        for position, action, why in steps:
            if why is not Why.FORCED:
                played.setdefault((position, action), why)
        sources = {key: self._source(*key, why) for key, why in played.items()}
        moves = Counter(why for _, _, why in steps)
        result = RESULTS[outcome(points).index(1)]
        number = self.games + 1
        if self._engine is not None:
            with transaction(self._engine) as session:
                row = self._opponent(session)
                latest = select(func.max(GamePlayed.number)).where(GamePlayed.opponent_id == row.id)
                number = (session.scalar(latest) or 0) + 1
                self._write_cases(session, row, sources, points, number)
                game = GamePlayed(
                    opponent_id=row.id, number=number, result=result, colour=int(colour), plies=plies,
                    retained=len(played), **{why.value: count for why, count in moves.items()},
                )  # fmt: skip
                session.add(game)
        for (position, action), source in sources.items():
            cases = self._cases.setdefault(position, {})
            case = cases.setdefault(action, StoredCase(first_game=number, source=source))
            case.add(points, self._memory)
            case.last_game = number
        self._tally.results[result] += 1
        self._tally.plies += plies
        self._tally.moves += moves
        return number

    def reset(self) -> None:
        """Forget the opponent: cases and games, in the database too."""
        if self._engine is not None:
            with transaction(self._engine) as session:
                ids = select(Opponent.id).where(Opponent.name == self.opponent)
                session.execute(delete(Case).where(Case.opponent_id.in_(ids)))
                session.execute(delete(GamePlayed).where(GamePlayed.opponent_id.in_(ids)))
                session.execute(delete(Opponent).where(Opponent.name == self.opponent))
        self._cases, self._tally = {}, Tally()
        self._memory = self.rating if isinstance(self.rating, DecayingMemory) else DecayingMemory()

    def reload(self, *, create: bool = True) -> None:
        """Read the opponent's cases from the database again, with what other processes have learned."""
        if self._engine is None:
            return
        cases: dict[Position, dict[int, StoredCase]] = {}
        with transaction(self._engine) as session:
            row = session.scalar(select(Opponent).where(Opponent.name == self.opponent))
            if row is None and not create:
                raise DatabaseError(self._unknown(session))
            if row is not None:
                self._memory = self._memory_of(row)
                for case in session.execute(_cases_of(row.id)):
                    position, action, statistics = self._checked(case)
                    cases.setdefault(position, {})[action] = statistics
            self._tally = _tally(session, row.id) if row is not None else Tally()
        self._cases = cases

    def statistics(self) -> dict[str, object]:
        """Figures as JSON values: cases by source, positions, games by result, the agent's moves by source."""
        by_source = Counter(case.source for cases in self._cases.values() for case in cases.values())
        return {
            "opponent": self.opponent,
            "cases": len(self),
            "positions": len(self._cases),
            "by_source": dict(sorted(by_source.items())),
            "uses": sum(case.uses for cases in self._cases.values() for case in cases.values()),
            **_told(self._tally),
        }

    def _source(self, position: Position, action: int, why: Why) -> str:
        known = self.stored(position, action)
        return known.source if known else why.value

    def _opponent(self, session: Session) -> Opponent:
        """The opponent's row, made when it is new, locked until the end of the transaction."""
        values = {"name": self.opponent, "alpha": self._memory.alpha, "draw": self._memory.draw}
        session.execute(_insert(session, Opponent).on_conflict_do_nothing(index_elements=["name"]), values)
        row = session.scalars(select(Opponent).where(Opponent.name == self.opponent).with_for_update()).one()
        self._memory = self._memory_of(row)
        return row

    def _memory_of(self, row: Opponent) -> DecayingMemory:
        """The Decaying Memory that the stored running values are kept with."""
        stored = DecayingMemory(row.alpha, row.draw)
        if isinstance(self.rating, DecayingMemory) and self.rating != stored:
            raise SpecificationError(
                f"rating dm: alpha is {self.rating.alpha:g} and draw {self.rating.draw:g}; right would be "
                f"{stored.alpha:g} and {stored.draw:g}, with which the library against {_short(self.opponent)} is kept"
            )
        return stored

    def _write_cases(
        self, session: Session, opponent: Opponent, sources: dict[tuple[Position, int], str], points: float, number: int
    ) -> None:
        """Make the cases, or add a game to them; the database does the sums, on what other processes have written."""
        if not sources:
            return
        statement = _insert(session, Case)
        new, memory = statement.excluded, self._memory
        statement = statement.on_conflict_do_update(
            index_elements=["opponent_id", "black", "white", "kings", "side", "action"],
            set_={
                "wins": Case.wins + new.wins,
                "draws": Case.draws + new.draws,
                "losses": Case.losses + new.losses,
                "memory": Case.memory * (1.0 - memory.alpha) + memory.alpha * new.memory,
                "last_game": new.last_game,
            },
        )
        wins, draws, losses = outcome(points)
        shared = {"opponent_id": opponent.id, "wins": wins, "draws": draws, "losses": losses,
                  "memory": memory.value(points), "first_game": number, "last_game": number}  # fmt: skip
        rows = [
            {**position._asdict(), **shared, "side": int(position.side), "action": action, "source": source}
            for (position, action), source in sources.items()
        ]
        session.execute(statement, rows)

    def _checked(self, row: Row[Any]) -> tuple[Position, int, StoredCase]:
        """A stored case as values."""
        black, white, kings, side, action, wins, draws, losses, memory, first, last, source = tuple(row)
        boards = all(isinstance(board, int) and 0 <= board <= FULL for board in (black, white, kings, action))
        counts = all(isinstance(count, int) and count >= 0 for count in (wins, draws, losses, first, last))
        sound = boards and counts and side in (0, 1) and isinstance(memory, float) and isinstance(source, str)
        if not sound or black & white or not wins + draws + losses:
            raise DatabaseError(
                f"library {self._url}: {tuple(row)} is no case; right would be boards, a move and counts"
            )
        position = Position(black, white, kings, Colour(side))
        return position, action, StoredCase(wins, draws, losses, memory, first, last, source)

    def _unknown(self, session: Session) -> str:
        names = session.scalars(select(Opponent.name).order_by(Opponent.id).limit(10)).all()
        known = ", ".join(map(_short, names)) or "(none)"
        return f"library {self._url}: there is no opponent {_short(self.opponent)}; right would be one of {known}"


def opponents(url: str) -> list[str]:
    """The opponents that the library at ``url`` has cases against, in the order they came.

    Raises:
        DatabaseError: there is no library.
    """
    engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=False)
    try:
        with transaction(engine) as session:
            return list(session.scalars(select(Opponent.name).order_by(Opponent.id)))
    finally:
        engine.dispose()


def library_statistics(url: str) -> dict[str, object]:
    """Figures of the library at ``url`` as JSON values: of every opponent, and cases and games of all together.

    Raises:
        DatabaseError: there is no library.
    """
    engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=False)
    try:
        with transaction(engine) as session:
            found = [_figures(session, row) for row in session.scalars(select(Opponent).order_by(Opponent.id)).all()]
            sources = select(Case.source, func.count()).group_by(Case.source).order_by(Case.source)
            by_source = {str(source): int(count) for source, count in session.execute(sources)}
    finally:
        engine.dispose()
    games = sum(tally.games for _, _, tally in found)
    each = [{"opponent": name, "cases": cases, **_told(tally)} for name, cases, tally in found]
    return {"opponents": each, "cases": sum(by_source.values()), "games": games, "by_source": by_source}


def _figures(session: Session, row: Opponent) -> tuple[str, int, Tally]:
    """An opponent's name, number of cases, and games."""
    count = select(func.count()).select_from(Case).where(Case.opponent_id == row.id)
    return row.name, session.scalar(count) or 0, _tally(session, row.id)


def _told(tally: Tally) -> dict[str, object]:
    """A tally as JSON values; random moves are those of theory.md 2.9."""
    return {
        "games": tally.games,
        **{key: tally.results[result] for key, result in zip(("wins", "draws", "losses"), RESULTS, strict=True)},
        "plies": tally.plies,
        "moves": {why.value: tally.moves[why] for why in Why if tally.moves[why]},
        "random_moves": tally.moves[Why.EXPLORED] + tally.moves[Why.IDENTITY],
    }


def _cases_of(opponent_id: int) -> Any:
    columns = ("black", "white", "kings", "side", "action", "wins", "draws", "losses", "memory", "first_game",
               "last_game", "source")  # fmt: skip
    return select(*(getattr(Case, name) for name in columns)).where(Case.opponent_id == opponent_id).order_by(Case.id)


def _tally(session: Session, opponent_id: int) -> Tally:
    """The sums over the opponent's games."""
    sums = [func.coalesce(func.sum(getattr(GamePlayed, why.value)), 0) for why in Why]
    mine = GamePlayed.opponent_id == opponent_id
    plies, *moves = session.execute(select(func.coalesce(func.sum(GamePlayed.plies), 0), *sums).where(mine)).one()
    results = session.execute(select(GamePlayed.result, func.count()).where(mine).group_by(GamePlayed.result)).all()
    return Tally(
        Counter({str(result): int(count) for result, count in results}),
        int(plies),
        +Counter({why: int(count) for why, count in zip(Why, moves, strict=True)}),
    )


def _insert(session: Session, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that can say what to do when the row is there already."""
    dialect = session.get_bind().dialect.name
    target = cast("Table", table.__table__)
    if dialect == "sqlite":
        return sqlite.insert(target)
    if dialect == "postgresql":
        return postgresql.insert(target)
    raise DatabaseError(f"a case library cannot live in {dialect}; right would be sqlite or postgresql")


def _short(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:57] + "...")
