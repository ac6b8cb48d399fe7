"""How blocks of games come into an archive's tables: games, states and their numbers, sequences, duplicates."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from checkers.errors import DatabaseError
from checkers.position import Position
from mining.archive_schema import ArchivedGame, BoardState, BoardStateSequence, Duplicate, Numbers, Source
from mining.duplicates import NEAR_PLIES, difference, meeting_of
from mining.filters import date_range, name_key
from mining.reading import Block, Head
from mining.sequences import moves_key, number_rows, position_of, signs

#: Values in one ``IN (...)``; SQLite takes 32,766 parameters.
IN_LIST = 10_000


@dataclass(slots=True)
class Added:
    """What came of a block, or of several."""

    records: int = 0
    games: int = 0
    filtered: int = 0
    exact: int = 0
    near: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    def include(self, other: Added) -> None:
        """Add the counts of another."""
        self.records += other.records
        self.games += other.games
        self.filtered += other.filtered
        self.exact += other.exact
        self.near += other.near
        self.rejected.update(other.rejected)


def begin_source(session: Session, digest: str, name: str, filters: str) -> tuple[int, int | None]:
    """The number of a file, made when new, and how many of its records to skip; None when all have been dealt with."""
    hold_numbers(session)  # two programs may begin with one file
    source = session.scalar(select(Source).where(Source.digest == digest))
    if source is None:
        source = Source(digest=digest, name=name, filters=filters)
        session.add(source)
        session.flush()
    elif source.filters != filters:
        source.filters, source.records, source.complete = filters, 0, False
        source.rejections, source.filtered = "{}", 0
    return source.id, None if source.complete else source.records


def write_block(session: Session, source_id: int, block: Block) -> Added:
    """Write the games of a block that are not there yet."""
    numbers = hold_numbers(session)
    source = session.get_one(Source, source_id, with_for_update=True)
    added = Added(filtered=block.filtered, rejected=block.rejected)
    added.records = len(block.heads) + block.filtered + block.rejected.total()
    games = _new_games(session, source_id, block)
    if games:
        heads, _, positions = zip(*games, strict=True)
        lengths = np.array([len(rows) for rows in positions], np.int64)
        table = np.concatenate(positions)
        states = _number_states(session, numbers, table)
        signed = states * signs(table[:, 3], lengths, [head.result for head in heads])
        rows = [_row(*game, source_id, numbers.games + n) for n, game in enumerate(games, 1)]
        session.execute(insert(ArchivedGame), rows)
        session.execute(insert(BoardStateSequence), list(_sequences(rows, signed, lengths)))
        repeated = _duplicates(session, rows)
        if repeated:
            session.execute(insert(Duplicate), repeated)
        numbers.games += len(games)
        added.games = len(games)
        added.exact = sum(not row["difference"] for row in repeated)
        added.near = len(repeated) - added.exact
    if block.last > source.records:  # another program may have added the same file in the meantime
        source.records = block.last
        source.filtered += block.filtered
        source.rejections = json.dumps(Counter(json.loads(source.rejections)) + block.rejected)
    return added


def hold_numbers(session: Session) -> Numbers:
    """The numbers given so far; who has asked for them is the only one to add until its transaction ends."""
    numbers = session.get(Numbers, 1, with_for_update=True)
    if numbers is None:
        raise DatabaseError("the archive is damaged: its row of numbers is missing; right would be a new archive")
    return numbers


def _new_games(
    session: Session, source_id: int, block: Block
) -> list[tuple[Head, NDArray[np.uint32], NDArray[np.uint32]]]:
    """The games of a block that the archive does not hold yet."""
    if not block.heads:
        return []
    game, first = ArchivedGame, block.heads[0].number
    there = select(game.number).where(game.source_id == source_id, game.number.between(first, block.last))
    known = set(session.scalars(there))
    return [one for one in block.games() if one[0].number not in known]


def _row(
    head: Head, codes: NDArray[np.uint32], positions: NDArray[np.uint32], source_id: int, number: int
) -> dict[str, Any]:
    """A game as a row of its table."""
    start = position_of(positions[0])
    days = date_range(head.date)
    return {
        "id": number,
        "source_id": source_id,
        "number": head.number,
        "event": head.event,
        "date": head.date,
        "year": days[0] // 10000 if days else None,
        "date_from": days[0] if days else None,
        "date_to": days[1] if days else None,
        "black": head.black,
        "white": head.white,
        "result": head.result.value,
        "rating": head.rating,
        "ballot": head.ballot,
        "plies": head.plies,
        "fen": None if start == Position.start() else start.fen(),
        "codes": codes.astype("<u4").tobytes(),
        "moves_key": moves_key(positions[0], codes),
        "black_key": name_key(head.black),
        "white_key": name_key(head.white),
        "event_key": name_key(head.event),
        "meeting": meeting_of(head),
    }


def _sequences(rows: list[dict[str, Any]], signed: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[Any]:
    begin = 0
    for row, length in zip(rows, lengths.tolist(), strict=True):
        yield {"game_id": row["id"], "sequence": ":".join(map(str, signed[begin : begin + length].tolist()))}
        begin += length


def state_keys(rows: NDArray[np.uint32]) -> NDArray[np.int64]:
    """A 64-bit hash of each row of black, white, kings, side; int64, as databases have no unsigned numbers."""
    wide = rows.astype(np.uint64)
    mixed = (wide[:, 0] << np.uint64(32) | wide[:, 1]) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(29)) + (wide[:, 2] << np.uint64(1) | wide[:, 3]) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ mixed >> np.uint64(32)) * np.uint64(0xBF58476D1CE4E5B9)
    keys: NDArray[np.int64] = (mixed ^ mixed >> np.uint64(29)).view(np.int64)
    return keys


def find_states(session: Session, rows: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The numbers of different states, 0 for those that the archive does not hold."""
    keys = state_keys(rows)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    numbers = np.zeros(len(rows), np.int64)
    state = BoardState
    for begin in range(0, len(rows), IN_LIST):
        some = np.unique(ordered[begin : begin + IN_LIST]).tolist()
        columns = (state.id, state.key, state.black, state.white, state.kings, state.side)
        for number, key, *boards in session.execute(select(*columns).where(state.key.in_(some))):
            at = int(np.searchsorted(ordered, key))
            while at < len(ordered) and ordered[at] == key:  # a hash may be that of several states
                if rows[order[at]].tolist() == boards:
                    numbers[order[at]] = number
                at += 1
    return numbers


def _number_states(session: Session, numbers: Numbers, table: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The number of each row; new states get the next numbers, in order of first appearance."""
    group, first = number_rows(table)
    distinct, times = table[first], np.bincount(group)[1:]
    found = find_states(session, distinct)
    old = np.flatnonzero(found)
    new = np.flatnonzero(found == 0)
    if len(old):
        more = [{"number": n, "more": m} for n, m in zip(found[old].tolist(), times[old].tolist(), strict=True)]
        state = BoardState
        statement = update(state).where(state.id == bindparam("number"))
        session.connection().execute(statement.values(count=state.count + bindparam("more")), more)
    if len(new):
        found[new] = np.arange(numbers.states + 1, numbers.states + len(new) + 1)
        columns = (found[new], state_keys(distinct[new]), *distinct[new].T, times[new])
        names = ("id", "key", "black", "white", "kings", "side", "count")
        values = zip(*(column.tolist() for column in columns), strict=True)
        session.execute(insert(BoardState), [dict(zip(names, row, strict=True)) for row in values])
        numbers.states += len(new)
    return found[group - 1]


def _duplicates(session: Session, rows: list[dict[str, Any]]) -> list[dict[str, int]]:
    """The games among ``rows`` that repeat earlier ones; they are in the table already."""
    repeated: list[dict[str, int]] = []
    originals = _originals(session, sorted({row["moves_key"] for row in rows}))
    exact = {row["id"] for row in rows if originals[row["moves_key"]] != row["id"]}
    for row in rows:
        if row["id"] in exact:
            repeated.append({"game_id": row["id"], "original_id": originals[row["moves_key"]], "difference": 0})
    fresh = [row for row in rows if row["meeting"] and row["id"] not in exact]
    meetings = _meetings(session, sorted({row["meeting"] for row in fresh}), exact)
    for row in fresh:
        codes = np.frombuffer(row["codes"], "<u4").tolist()
        best = (NEAR_PLIES + 1, 0)
        for number, fen, other in meetings[row["meeting"]]:
            if number < row["id"] and fen == row["fen"]:
                best = min(best, (difference(codes, other, best[0]), number))
        if best[0] <= NEAR_PLIES:
            repeated.append({"game_id": row["id"], "original_id": best[1], "difference": best[0]})
    return sorted(repeated, key=lambda row: row["game_id"])


def _originals(session: Session, keys: Sequence[bytes]) -> dict[bytes, int]:
    """The first game with each of these moves."""
    game, first = ArchivedGame, dict[bytes, int]()
    for begin in range(0, len(keys), IN_LIST):
        statement = select(game.moves_key, func.min(game.id)).where(game.moves_key.in_(keys[begin : begin + IN_LIST]))
        for key, number in session.execute(statement.group_by(game.moves_key)):
            first[key] = number
    return first


def _meetings(
    session: Session, meetings: Sequence[str], exact: set[int]
) -> dict[str, list[tuple[int, str | None, list[int]]]]:
    """Number, start and moves of the games of these players and dates, exact duplicates left out."""
    game = ArchivedGame
    found: dict[str, list[tuple[int, str | None, list[int]]]] = defaultdict(list)
    for begin in range(0, len(meetings), IN_LIST):
        statement = (
            select(game.meeting, game.id, game.fen, game.codes)
            .outerjoin(Duplicate, (Duplicate.game_id == game.id) & (Duplicate.difference == 0))
            .where(game.meeting.in_(meetings[begin : begin + IN_LIST]), Duplicate.game_id.is_(None))
        )
        for meeting, number, fen, codes in session.execute(statement.order_by(game.id)):
            if number not in exact:
                found[meeting or ""].append((number, fen, np.frombuffer(codes, "<u4").tolist()))
    return found
