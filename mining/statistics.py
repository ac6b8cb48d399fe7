"""What an archive says of openings, players and games: opening tree, repertoire, ballots, shared lines, novelties."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, func, select, union

from checkers.game import Result
from checkers.moves import Move
from checkers.pdn import Record
from mining.archive import Archive, minable
from mining.archive_schema import ArchivedGame, BoardState, BoardStateSequence, Duplicate, Source
from mining.archive_write import find_states
from mining.errors import MiningError
from mining.filters import GameFilter, name_key
from mining.sequences import moves_key, number_rows

_PLACE = {Result.BLACK_WINS.value: 0, Result.DRAW.value: 1, Result.WHITE_WINS.value: 2}


@dataclass(slots=True)
class Score:
    """Games and how they ended."""

    black_wins: int = 0
    draws: int = 0
    white_wins: int = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return self.black_wins + self.draws + self.white_wins

    @property
    def black_score(self) -> float:
        """Black's points per game, 0.5 without games."""
        return (self.black_wins + 0.5 * self.draws) / self.games if self.games else 0.5

    def add(self, result: str, times: int = 1) -> None:
        """Count games with this result."""
        place = _PLACE[result]
        self.black_wins += times * (place == 0)
        self.draws += times * (place == 1)
        self.white_wins += times * (place == 2)


@dataclass(slots=True)
class OpeningNode:
    """A node of an opening tree: the move that leads to it, results in all and by year, and what was played next.

    The root has no move; ``code`` is the move's code in the kernels; years that are not known are not in ``years``.
    """

    code: int | None = None
    score: Score = field(default_factory=Score)
    years: dict[int, Score] = field(default_factory=dict)
    children: dict[int, OpeningNode] = field(default_factory=dict)

    @property
    def move(self) -> Move | None:
        """The move that leads here."""
        return None if self.code is None else Move.from_code(self.code)

    def best_first(self) -> list[OpeningNode]:
        """What was played next, the most frequent first."""
        return sorted(self.children.values(), key=lambda node: (-node.score.games, node.code))

    def _count(self, result: str, year: int | None) -> None:
        self.score.add(result)
        if year is not None:
            self.years.setdefault(year, Score()).add(result)


@dataclass(frozen=True, slots=True)
class PlayerProfile:
    """A player's games in an archive.

    Attributes:
        names: spellings of the name, with games.
        black: games with Black; ``black_wins`` are the player's.
        white: games with White; ``white_wins`` are the player's.
        openings: the player's colour, ballot or first moves, and results, the most frequent first.
        years: results by year, from the player's side: wins, draws, losses.
        opponents: opponents, with games, the most frequent first.
    """

    names: dict[str, int]
    black: Score
    white: Score
    openings: list[tuple[str, str, Score]]
    years: dict[int, tuple[int, int, int]]
    opponents: dict[str, int]

    @property
    def games(self) -> int:
        """Number of games."""
        return self.black.games + self.white.games

    @property
    def score(self) -> float:
        """Points per game."""
        points = self.black.black_wins + self.white.white_wins + 0.5 * (self.black.draws + self.white.draws)
        return points / self.games


@dataclass(frozen=True, slots=True)
class SharedLine:
    """Moves from the usual start that several different games share, and games (file, number) that do."""

    codes: tuple[int, ...]
    games: tuple[tuple[str, int], ...]

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves."""
        return tuple(map(Move.from_code, self.codes))


@dataclass(frozen=True, slots=True)
class Novelty:
    """Where a game leaves an archive.

    Attributes:
        ply: the first ply, from 1, whose position no other game has; None when all are known.
        move: the move made there.
        before: how many games' visits the position before it has, this game's own and its copies' left out.
    """

    ply: int | None
    move: Move | None
    before: int


def archive_statistics(archive: Archive, filters: GameFilter | None = None) -> dict[str, Any]:
    """Counts of files, games, states and duplicates, results, years and lengths; ready for JSON."""
    game = ArchivedGame
    wanted = filters.where(game) if filters else []
    with archive.session() as session:
        results = session.execute(select(game.result, func.count()).where(*wanted).group_by(game.result)).all()
        first, last = session.execute(select(func.min(game.year), func.max(game.year)).where(*wanted)).one()
        plies, longest = session.execute(select(func.sum(game.plies), func.max(game.plies)).where(*wanted)).one()
        repeated = select(Duplicate.difference, func.count()).join(game, Duplicate.game_id == game.id)
        copies = session.execute(repeated.where(*wanted).group_by(Duplicate.difference)).all()
        files = session.execute(select(Source.name, Source.records, Source.complete).order_by(Source.id)).all()
        states = session.scalar(select(func.count()).select_from(BoardState)) or 0
        names = union(select(game.black_key).where(*wanted), select(game.white_key).where(*wanted)).subquery()
        players = session.scalar(select(func.count()).select_from(names).where(names.c[0] != "")) or 0
    games = sum(count for _, count in results)
    records, rejected = archive.totals()
    return {
        "files": [{"name": name, "records": read, "complete": complete} for name, read, complete in files],
        "records": records,
        "rejected": rejected,
        "games": games,
        "results": {str(result): count for result, count in results},
        "plies": int(plies or 0),
        "longest": longest or 0,
        "years": [first, last],
        "players": players,
        "states": states,
        "duplicates": {
            "exact": sum(count for difference, count in copies if difference == 0),
            "near": sum(count for difference, count in copies if difference),
        },
    }


def opening_tree(
    archive: Archive,
    *,
    plies: int = 6,
    min_games: int = 10,
    filters: GameFilter | None = None,
    unique: bool = False,
) -> OpeningNode:
    """The first plies of the games from the usual start, as a tree with results by year.

    Args:
        archive: the archive.
        plies: depth of the tree.
        min_games: nodes with fewer games are left out.
        filters: which games; None for all.
        unique: games with the same moves count once.

    Raises:
        MiningError: ``plies`` or ``min_games`` is below 1.
    """
    if plies < 1 or min_games < 1:
        raise MiningError(f"plies is {plies} and min_games {min_games}; right would be 1 or more")
    root = OpeningNode()
    game = ArchivedGame
    statement = select(game.result, game.year, func.substr(game.codes, 1, 4 * plies))
    for result, year, codes in _rows(archive, statement, [*minable(filters), game.fen.is_(None)], unique):
        node = root
        node._count(result, year)
        for code in np.frombuffer(codes, "<u4").tolist():
            node = node.children.setdefault(code, OpeningNode(code))
            node._count(result, year)
    _prune(root, min_games)
    return root


def _prune(node: OpeningNode, min_games: int) -> None:
    node.children = {code: child for code, child in node.children.items() if child.score.games >= min_games}
    for child in node.children.values():
        _prune(child, min_games)


def _rows(archive: Archive, statement: Any, clauses: list[ColumnElement[bool]], unique: bool) -> Iterator[Any]:
    """Rows of games in the order in which they were added, fetched some at a time."""
    game = ArchivedGame
    if unique:
        clauses = [game.id.in_(select(func.min(game.id)).where(*clauses).group_by(game.moves_key))]
    with archive.session() as session:
        rows = session.execute(statement.where(*clauses).order_by(game.id).execution_options(yield_per=5000))
        yield from rows


def player_profile(
    archive: Archive, player: str, *, first_plies: int = 3, filters: GameFilter | None = None
) -> PlayerProfile:
    """A player's repertoire and score.

    Openings are three-move ballots, otherwise the first moves.

    Args:
        archive: the archive.
        player: part of the name.
        first_plies: plies that name an opening which is no ballot.
        filters: which games; None for all.

    Raises:
        MiningError: nobody in the archive has such a name.
    """
    key = name_key(player)
    if not key:
        raise MiningError(f"player is {player!r}; right would be part of a name")
    game = ArchivedGame
    clauses = minable(filters)
    clauses.append(game.black_key.contains(key, autoescape=True) | game.white_key.contains(key, autoescape=True))
    names, opponents = Counter[str](), Counter[str]()
    scores = (Score(), Score())
    openings: dict[tuple[str, str], Score] = {}
    years: dict[int, list[int]] = {}
    statement = select(game.black, game.white, game.black_key, game.result, game.year, game.ballot, game.codes)
    for black, white, black_key, result, year, ballot, codes in _rows(archive, statement, clauses, unique=False):
        side = 0 if key in black_key else 1
        names[(black, white)[side]] += 1
        opponents[(white, black)[side]] += 1
        scores[side].add(result)
        opening = f"ballot {ballot}" if ballot else _moves_text(codes, first_plies)
        openings.setdefault((("black", "white")[side], opening), Score()).add(result)
        if year is not None:
            place = _PLACE[result]
            years.setdefault(year, [0, 0, 0])[2 - place if side else place] += 1
    if not names:
        raise MiningError(f"no player of the archive is named like {player!r}; right would be part of a name in it")
    ordered = sorted(openings.items(), key=lambda item: (-item[1].games, item[0]))
    return PlayerProfile(
        dict(names.most_common()),
        *scores,
        [(colour, opening, score) for (colour, opening), score in ordered],
        {year: (wins, draws, losses) for year, (wins, draws, losses) in sorted(years.items())},
        dict(opponents.most_common()),
    )


def _moves_text(codes: bytes, plies: int) -> str:
    return " ".join(str(Move.from_code(code)) for code in np.frombuffer(codes[: 4 * plies], "<u4").tolist())


def ballots(archive: Archive, *, filters: GameFilter | None = None) -> list[tuple[int, Score]]:
    """The three-move ballots played, with results, the most played first."""
    game, found = ArchivedGame, dict[int, Score]()
    statement = select(game.ballot, game.result, func.count()).where(*minable(filters), game.ballot > 0)
    with archive.session() as session:
        for ballot, result, count in session.execute(statement.group_by(game.ballot, game.result)):
            found.setdefault(ballot, Score()).add(result, count)
    return sorted(found.items(), key=lambda item: (-item[1].games, item[0]))


def longest_shared_line(archive: Archive, *, games: int = 2, filters: GameFilter | None = None) -> SharedLine:
    """The longest sequence of moves from the usual start that so many different games share.

    The games are looked at in the order of their moves, where those that share a line stand together.

    Raises:
        MiningError: ``games`` is below 2, or there are fewer.
    """
    if games < 2:
        raise MiningError(f"games is {games}; right would be 2 or more")
    game = ArchivedGame
    clauses = [*minable(filters), game.fen.is_(None)]
    first = select(func.min(game.id)).where(*clauses).group_by(game.moves_key)
    statement = select(game.codes, game.source_id, game.number).where(game.id.in_(first)).order_by(game.codes)
    window: deque[Any] = deque(maxlen=games)
    best, sharers = b"", list[Any]()
    with archive.session() as session:
        for row in session.execute(statement.execution_options(yield_per=5000)):
            window.append(row)
            if len(window) == games:
                shared = _common(window[0].codes, row.codes)
                if shared > len(best):
                    best, sharers = row.codes[:shared], list(window)
    if len(window) < games:
        raise MiningError(f"the archive has only {len(window)} different games; right would be {games} or more")
    files = archive.files()
    return SharedLine(
        tuple(np.frombuffer(best, "<u4").tolist()), tuple((files[row.source_id], row.number) for row in sharers)
    )


def _common(one: bytes, other: bytes) -> int:
    """Bytes of the moves that both begin with."""
    length = min(len(one), len(other)) // 4
    equal = np.frombuffer(one, "<u4", length) == np.frombuffer(other, "<u4", length)
    return 4 * (length if equal.all() else int(equal.argmin()))


def novelty(archive: Archive, record: Record) -> Novelty:
    """Where a game leaves the archive; if it is in there, itself and its exact copies do not count.

    Positions are compared, so that a known position reached in another order is not new.
    """
    group, first = number_rows(record.positions)
    distinct = record.positions[first]
    game = ArchivedGame
    with archive.session() as session:
        numbers = find_states(session, distinct)
        wanted = numbers[numbers > 0].tolist()
        visits = {
            row.id: row.count
            for row in session.execute(select(BoardState.id, BoardState.count).where(BoardState.id.in_(wanted)))
        }
        key = moves_key(record.positions[0], record.codes)
        same = select(func.count()).select_from(game).join(BoardStateSequence, BoardStateSequence.game_id == game.id)
        copies = session.scalar(same.where(game.moves_key == key)) or 0
    own = np.bincount(group)[1:] * copies
    others = np.array([visits.get(number, 0) for number in numbers.tolist()], np.int64) - own
    for ply in range(1, len(group)):
        if others[group[ply] - 1] <= 0:
            before = int(max(others[group[ply - 1] - 1], 0))
            return Novelty(ply, Move.from_code(int(record.codes[ply - 1])), before)
    return Novelty(None, None, int(others[group[-1] - 1]))
