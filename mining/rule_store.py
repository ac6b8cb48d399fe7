"""Rule bases written to and read from a database; a damaged one is refused (theory.md 3.12)."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sqlalchemy import delete, func, insert, select

from checkers.database import made_whole, open_database, transaction
from checkers.errors import DatabaseError
from checkers.position import FULL, Colour, Position
from mining.cbss import Pairs, Sign
from mining.miner import Example, Mined, MiningOptions, MiningReport, Rule, Rules, by_position
from mining.schema import KIND, VERSION, AvoidedRow, Base, BoardState, MinedArchive, MinedFile, RuleRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

#: Rows written at a time.
CHUNK = 10_000

#: PostgreSQL's lock of whoever replaces the rules of a database; any number of our own.
_LOCK = 0x72756C6573

_FIGURES = ("rating", "count", "wins", "draws", "losses", "weight", "support", "confidence")
_COLUMNS = (
    "state_id", "next_id", "action", "count", "wins", "draws", "losses", "weight", "support", "confidence", "rating",
    "last_year", "examples",
)  # fmt: skip


def write_rules(url: str, mined: Mined) -> MiningReport:
    """Replace what the database holds in one transaction; the report comes back with the time that this took added.

    Raises:
        DatabaseError: there is another kind of database at ``url``.
    """
    started = time.perf_counter()
    with made_whole(url):
        engine = open_database(url, Base.metadata, kind=KIND, version=VERSION)
        try:
            with transaction(engine) as session:
                report = _replace(session, mined, started)
        finally:
            engine.dispose()
    return report


def _replace(session: Session, mined: Mined, started: float) -> MiningReport:
    if session.get_bind().dialect.name == "postgresql":  # SQLite lets one write at a time by itself
        session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
    for table in reversed(Base.metadata.sorted_tables):
        session.execute(delete(table))
    boards = np.column_stack((np.arange(1, len(mined.states) + 1), mined.states))
    _insert(session, BoardState, ("id", "black", "white", "kings", "side"), boards.tolist())
    _insert(session, MinedFile, ("id", "name"), mined.files.items())
    _insert(session, RuleRow, _COLUMNS, _rows(mined.rules, mined.options.sign))
    _insert(session, AvoidedRow, _COLUMNS, _rows(mined.avoided, mined.options.sign))
    seconds = mined.report.seconds + time.perf_counter() - started
    report = dataclasses.replace(mined.report, seconds=seconds)
    session.add(_archive_row(report, mined.options))
    return report


def read_rules(url: str) -> tuple[Rules, Rules, MiningReport, MiningOptions]:
    """The rules and the avoided moves of a database, with how they were mined.

    Raises:
        DatabaseError: there is no rule base of this version, nothing has been mined into it, or it is damaged.
    """
    engine = open_database(url, Base.metadata, kind=KIND, version=VERSION, create=False)
    url = str(engine.url)  # for messages: without a password
    try:
        with transaction(engine) as session:
            archive = session.get(MinedArchive, 1)
            if archive is None:
                raise DatabaseError(f"rule base {url}: no archive is mined into it; right would be one that is built")
            report, options = _from_archive_row(archive)
            files = {row.id: row.name for row in session.execute(select(MinedFile.id, MinedFile.name))}
            rules = by_position(_stored(session, RuleRow, files, url))
            avoided = by_position(_stored(session, AvoidedRow, files, url), worst=True)
    finally:
        engine.dispose()
    found = sum(map(len, rules.values()))
    if found != report.rules:
        raise DatabaseError(f"rule base {url}: it holds {found} rules; right would be {report.rules}")
    _check_legal(rules, url)
    _check_legal(avoided, url)
    return rules, avoided, report, options


def _rows(pairs: Pairs, sign: Sign) -> Iterator[tuple[Any, ...]]:
    for *figures, last_year, sources in pairs.rows(sign):
        examples = " ".join(f"{source >> 32}:{source & 0xFFFFFFFF}" for source in sources if source)
        yield (*figures, last_year or None, examples)


def _insert(session: Session, table: type[Base], names: tuple[str, ...], rows: Iterable[Iterable[object]]) -> None:
    """Insert rows in chunks, so that memory does not grow with the rules."""
    waiting = iter(rows)
    while chunk := [dict(zip(names, row, strict=True)) for row in itertools.islice(waiting, CHUNK)]:
        session.execute(insert(table), chunk)


def _archive_row(report: MiningReport, options: MiningOptions) -> MinedArchive:
    how = dataclasses.asdict(options)
    return MinedArchive(id=1, unique_games=how.pop("unique"), **how, **dataclasses.asdict(report))


def _from_archive_row(row: MinedArchive) -> tuple[MiningReport, MiningOptions]:
    report = MiningReport(**{field.name: getattr(row, field.name) for field in dataclasses.fields(MiningReport)})
    sign = cast("Sign", row.sign)
    options = MiningOptions(
        row.min_count, row.plies, row.unique_games, row.remove_cycles, sign, row.merge_colours, row.filters
    )
    return report, options


def _stored(
    session: Session, table: type[RuleRow | AvoidedRow], files: Mapping[int, str], url: str
) -> Iterator[tuple[Position, Rule]]:
    """The stored rules as values."""
    columns = [getattr(table, name) for name in ("action", *_FIGURES, "last_year", "examples")]
    statement = (
        select(BoardState.black, BoardState.white, BoardState.kings, BoardState.side, *columns)
        .join(BoardState, table.state_id == BoardState.id)
        .order_by(table.state_id, table.next_id)
    )
    for row in session.execute(statement):
        black, white, kings, side, *rule, last_year, examples = cast("Any", row)
        integers = all(isinstance(board, int) and 0 <= board <= FULL for board in (black, white, kings, rule[0]))
        numbers = all(isinstance(value, int | float) for value in rule)
        if side not in (0, 1) or not integers or not numbers or black & white:
            raise DatabaseError(
                f"rule base {url}: {tuple(row)} is no rule; right would be 32-bit boards, side and move"
            )
        try:
            named = [text.split(":") for text in examples.split()]
            games = tuple(Example(files[int(file)], int(number)) for file, number in named)
        except (AttributeError, KeyError, ValueError):
            raise DatabaseError(
                f"rule base {url}: {examples!r} names no games; right would be numbers of its files and games"
            ) from None
        yield (
            Position(black, white, kings, Colour(side)),
            dataclasses.replace(Rule(*rule), last_year=last_year, examples=games),
        )


def _check_legal(rules: Rules, url: str) -> None:
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
