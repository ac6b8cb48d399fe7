"""RuleBase: experience rules mined, stored and loaded; what the players ask in a position (theory.md 3.11, 3.12)."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from sqlalchemy import delete, insert, select

from checkers.database import open_database, transaction
from checkers.errors import DatabaseError
from checkers.moves import Move
from checkers.pdn import Record, Rejection
from checkers.position import FULL, Colour, Position
from mining.archive import Sequences, extract
from mining.cbss import Pairs, SequentialPattern, Sign, check_options, count_pairs
from mining.schema import KIND, VERSION, Base, BoardState, BoardStateSequence, MinedArchive, RuleRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

#: Rows written at a time.
CHUNK = 10_000


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """What experts' games say of a move in a position (theory.md 3.11); ``action`` is the move's code in the kernels.

    Counts are from the mover's side; ``weight`` is their net weight, ``support`` the count per game of the archive,
    ``confidence`` the share among all moves seen in the position, ``rating`` the points per game.
    """

    action: int
    rating: float
    count: int
    wins: int
    draws: int
    losses: int
    weight: int
    support: float
    confidence: float

    @property
    def move(self) -> Move:
        """The move."""
        return Move.from_code(self.action)


RULE_FIELDS = tuple(field.name for field in dataclasses.fields(Rule))
PATTERN_FIELDS = tuple(field.name for field in dataclasses.fields(SequentialPattern))


@dataclasses.dataclass(frozen=True, slots=True)
class MiningOptions:
    """How an archive is mined.

    Attributes:
        min_count: a pair becomes a rule when it occurs at least so often.
        plies: only the first so many plies of each game; None for all.
        unique: a game whose moves were seen before is skipped.
        remove_cycles: what lies between two occurrences of a state is deleted.
        sign: how the net weight follows from wins, draws and losses.
    """

    min_count: int = 2
    plies: int | None = 24
    unique: bool = False
    remove_cycles: bool = True
    sign: Sign = "w+d-l"


@dataclasses.dataclass(frozen=True, slots=True)
class MiningReport:
    """What came of an archive.

    Attributes:
        games: records read, used or not.
        rejected: records that the reader refused; not among ``games``.
        skipped: games left out: unfinished, without moves, or seen before.
        sequences: games mined, the |D| of theory.md 3.11.
        states: different states in them.
        sources: states that a pair leads from.
        pairs: different consecutive pairs.
        rules: pairs that became rules.
        seconds: time taken, reading included.
    """

    games: int
    rejected: int
    skipped: int
    sequences: int
    states: int
    sources: int
    pairs: int
    rules: int
    seconds: float


class RuleBase:
    """Experience rules in memory, by position.

    Attributes:
        report: what came of the archive when it was mined.
        options: how it was mined.
    """

    def __init__(
        self, rules: Mapping[Position, tuple[Rule, ...]], report: MiningReport, options: MiningOptions
    ) -> None:
        self._rules = dict(rules)
        self.report = report
        self.options = options

    def __len__(self) -> int:
        """Number of rules."""
        return sum(map(len, self._rules.values()))

    def __iter__(self) -> Iterator[Position]:
        """The positions that have rules."""
        return iter(self._rules)

    def rules(self, position: Position) -> tuple[Rule, ...]:
        """The rules of a position, best first: by rating, then count, then action; empty when there is none."""
        return self._rules.get(position, ())

    @classmethod
    def mine(
        cls,
        records: Iterable[Record | Rejection],
        *,
        min_count: int = 2,
        plies: int | None = 24,
        unique: bool = False,
        remove_cycles: bool = True,
        sign: Sign = "w+d-l",
    ) -> RuleBase:
        """Mine records into a rule base that is in memory only; see :class:`MiningOptions`.

        Raises:
            MiningError: an option is wrong, or no record can be used.
        """
        options = MiningOptions(min_count, plies, unique, remove_cycles, sign)
        sequences, pairs, report = _mine(records, options)
        found = ((sequences.position(pattern.state), _rule(pattern)) for pattern in pairs.patterns(sign))
        return cls(_by_position(found), report, options)

    @classmethod
    def build(
        cls,
        records: Iterable[Record | Rejection],
        url: str | None,
        *,
        min_count: int = 2,
        plies: int | None = 24,
        unique: bool = False,
        remove_cycles: bool = True,
        sign: Sign = "w+d-l",
    ) -> MiningReport:
        """Mine records into the database at ``url``; see :class:`MiningOptions`.

        What was there before is replaced in one transaction: whoever interrupts this leaves the old rules, or none.
        Without a URL nothing is written.

        Raises:
            MiningError: an option is wrong, or no record can be used; the database is not touched.
            DatabaseError: there is another kind of database at ``url``.
        """
        options = MiningOptions(min_count, plies, unique, remove_cycles, sign)
        started = time.perf_counter()
        sequences, pairs, report = _mine(records, options)
        if url is None:
            return report
        engine = open_database(url, Base.metadata, kind=KIND, version=VERSION)
        try:
            with transaction(engine) as session:
                for table in reversed(Base.metadata.sorted_tables):
                    session.execute(delete(table))
                _write(session, sequences, pairs, options)
                report = dataclasses.replace(report, seconds=time.perf_counter() - started)
                session.add(_archive_row(sequences, report, options))
        finally:
            engine.dispose()
        return report

    @classmethod
    def open(cls, url: str) -> RuleBase:
        """Load the rules of the database at ``url``.

        Raises:
            DatabaseError: there is no rule base of this version, nothing has been mined into it, or it is damaged.
        """
        engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=False)
        url = str(engine.url)  # for messages: without a password
        try:
            with transaction(engine) as session:
                archive = session.get(MinedArchive, 1)
                if archive is None:
                    raise DatabaseError(
                        f"rule base {url}: no archive is mined into it; right would be one that is built"
                    )
                report, options = _from_archive_row(archive)
                rules = _by_position(_stored(session, url))
        finally:
            engine.dispose()
        base = cls(rules, report, options)
        if len(base) != report.rules:
            raise DatabaseError(f"rule base {url}: it holds {len(base)} rules; right would be {report.rules}")
        _check_legal(rules, url)
        return base


def _mine(records: Iterable[Record | Rejection], options: MiningOptions) -> tuple[Sequences, Pairs, MiningReport]:
    """The sequences of an archive, the pairs that become rules, and the report."""
    check_options(options.min_count, options.sign)
    started = time.perf_counter()
    sequences = extract(records, plies=options.plies, unique=options.unique, remove_cycles=options.remove_cycles)
    pairs = count_pairs(sequences)
    kept = pairs.kept(min_count=options.min_count, sign=options.sign)
    report = MiningReport(
        games=sequences.read,
        rejected=sequences.rejected,
        skipped=sequences.unfinished + sequences.empty + sequences.duplicates,
        sequences=len(sequences),
        states=len(sequences.states),
        sources=len(np.unique(pairs.state)),
        pairs=len(pairs),
        rules=len(kept),
        seconds=time.perf_counter() - started,
    )
    return sequences, kept, report


def _rule(pattern: SequentialPattern) -> Rule:
    return Rule(*(getattr(pattern, name) for name in RULE_FIELDS))


def _by_position(found: Iterable[tuple[Position, Rule]]) -> dict[Position, tuple[Rule, ...]]:
    """Rules grouped by position, best first."""
    groups: dict[Position, list[Rule]] = {}
    for position, rule in found:
        groups.setdefault(position, []).append(rule)
    return {
        position: tuple(sorted(rules, key=lambda rule: (-rule.rating, -rule.count, rule.action)))
        for position, rules in groups.items()
    }


def _write(session: Session, sequences: Sequences, pairs: Pairs, options: MiningOptions) -> None:
    """Insert states, sequences and rules."""
    boards = np.column_stack((np.arange(1, len(sequences.states) + 1), sequences.states, sequences.counts))
    _insert(session, BoardState, ("id", "black", "white", "kings", "side", "count"), boards.tolist())
    games = (
        (heading.file, heading.number, heading.black, heading.white, heading.event, heading.date, heading.result.value,
         ":".join(map(str, ids.tolist())))
        for heading, ids in zip(sequences.headings, sequences, strict=True)
    )  # fmt: skip
    _insert(
        session,
        BoardStateSequence,
        ("file", "number", "black", "white", "event", "date", "result", "sequence"),
        games,
    )
    columns = {"state": "state_id", "next_state": "next_id"}
    names = tuple(columns.get(name, name) for name in PATTERN_FIELDS)
    _insert(session, RuleRow, names, pairs.rows(options.sign))


def _insert(session: Session, table: type[Base], names: tuple[str, ...], rows: Iterable[Iterable[object]]) -> None:
    """Insert rows in chunks, so that memory does not grow with the archive."""
    waiting = iter(rows)
    while chunk := [dict(zip(names, row, strict=True)) for row in itertools.islice(waiting, CHUNK)]:
        session.execute(insert(table), chunk)


def _archive_row(sequences: Sequences, report: MiningReport, options: MiningOptions) -> MinedArchive:
    files = dict.fromkeys(heading.file for heading in sequences.headings)
    return MinedArchive(
        id=1,
        files="\n".join(files),
        plies=options.plies,
        min_count=options.min_count,
        unique_games=options.unique,
        remove_cycles=options.remove_cycles,
        sign=options.sign,
        **dataclasses.asdict(report),
    )


def _from_archive_row(row: MinedArchive) -> tuple[MiningReport, MiningOptions]:
    report = MiningReport(**{field.name: getattr(row, field.name) for field in dataclasses.fields(MiningReport)})
    sign = cast("Sign", row.sign)
    return report, MiningOptions(row.min_count, row.plies, row.unique_games, row.remove_cycles, sign)


def _stored(session: Session, url: str) -> Iterator[tuple[Position, Rule]]:
    """The stored rules as values."""
    columns = [getattr(RuleRow, name) for name in RULE_FIELDS]
    statement = (
        select(BoardState.black, BoardState.white, BoardState.kings, BoardState.side, *columns)
        .join(BoardState, RuleRow.state_id == BoardState.id)
        .order_by(RuleRow.state_id, RuleRow.next_id)
    )
    for row in session.execute(statement):
        black, white, kings, side, *rule = row
        integers = all(isinstance(board, int) and 0 <= board <= FULL for board in (black, white, kings, rule[0]))
        numbers = all(isinstance(value, int | float) for value in rule)
        if side not in (0, 1) or not integers or not numbers or black & white:
            raise DatabaseError(
                f"rule base {url}: {tuple(row)} is no rule; right would be 32-bit boards, side and move"
            )
        yield Position(black, white, kings, Colour(side)), Rule(*rule)


def _check_legal(rules: Mapping[Position, tuple[Rule, ...]], url: str) -> None:
    """Raise :class:`~checkers.errors.DatabaseError` when a rule's move is not legal in its position."""
    from checkers.movegen import legal_move_codes

    for position, found in rules.items():
        codes = legal_move_codes(position.own, position.opponent, position.kings, int(position.side)).tolist()
        for rule in found:
            if rule.action not in codes:
                legal = ", ".join(map(str, position.legal_moves())) or "none"
                raise DatabaseError(
                    f"rule base {url}: move code {rule.action} is not legal in {position.fen()}; legal moves: {legal}"
                )
