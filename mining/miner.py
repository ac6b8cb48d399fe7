"""Blocks of games or an archive to rules: what is mined, how, and what came of it (theory.md 3.11)."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from checkers.moves import Move
from checkers.position import Position
from mining.cbss import PairCounter, Pairs, Sign, check_options, merge_colours, turn_codes
from mining.errors import MiningError
from mining.files import Failure, LineMeter, Progress, Task, pdn_files, read_blocks
from mining.filters import GameFilter
from mining.reading import Block
from mining.sequences import Batch, Extraction, Sequences, acyclic_batch, check_plies, position_of, some_games

if TYPE_CHECKING:
    from mining.archive import Archive


class Example(NamedTuple):
    """A game in which a move was played: its file, and its number there."""

    file: str
    number: int


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """What experts' games say of a move in a position (theory.md 3.11); ``action`` is the move's code in the kernels.

    Counts are from the mover's side; ``weight`` is their net weight, ``support`` the count per game of the archive,
    ``confidence`` the share among all moves seen in the position, ``rating`` the points per game, ``last_year`` when it
    was last played, None when no date says, ``examples`` the first games in which it was.
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
    last_year: int | None = None
    examples: tuple[Example, ...] = ()

    @property
    def move(self) -> Move:
        """The move."""
        return Move.from_code(self.action)


#: Rules by position.
Rules: TypeAlias = Mapping[Position, tuple[Rule, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class MiningOptions:
    """How an archive is mined.

    Attributes:
        min_count: a pair becomes a rule when it occurs at least so often.
        plies: only the first so many plies of each game; None for all.
        unique: a game whose moves were seen before is skipped.
        remove_cycles: what lies between two occurrences of a state is deleted.
        sign: how the net weight follows from wins, draws and losses.
        merge_colours: White's positions are turned by half and counted with Black's.
        filters: the games that were wanted, as :meth:`mining.filters.GameFilter.text` says it.
    """

    min_count: int = 2
    plies: int | None = 24
    unique: bool = False
    remove_cycles: bool = True
    sign: Sign = "w+d-l"
    merge_colours: bool = False
    filters: str = "{}"

    def check(self) -> None:
        """Raise :class:`~mining.errors.MiningError` when an option is wrong."""
        check_options(self.min_count, self.sign)
        check_plies(self.plies)


@dataclasses.dataclass(frozen=True, slots=True)
class MiningReport:
    """What came of an archive.

    Attributes:
        games: records read, used or not.
        rejected: records that the reader refused; not among ``games``.
        skipped: games left out: unfinished, without moves, seen before, or not wanted.
        sequences: games mined, the |D| of theory.md 3.11.
        states: different states in them.
        sources: states that a pair leads from.
        pairs: different consecutive pairs.
        rules: pairs that became rules.
        seconds: time taken, reading included.
        avoided: frequent pairs of negative net weight, kept for reports.
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
    avoided: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Mined:
    """What mining gives: the pairs that became rules and those avoided, the states in them, and the files.

    ``states`` is uint32 (states, 4), its rows have the numbers from 1 that the pairs speak of; ``failures`` says why
    files could not be read to their end.
    """

    rules: Pairs
    avoided: Pairs
    states: NDArray[np.uint32]
    files: Mapping[int, str]
    report: MiningReport
    options: MiningOptions
    failures: tuple[str, ...] = ()


def options_of(
    min_count: int,
    plies: int | None,
    unique: bool,
    remove_cycles: bool,
    sign: str,
    merge: bool,
    filters: GameFilter | None,
) -> MiningOptions:
    """The options, checked."""
    text = (filters or GameFilter()).text()
    options = MiningOptions(min_count, plies, unique, remove_cycles, cast("Sign", sign), merge, text)
    options.check()
    return options


def mine_blocks(blocks: Iterable[Block | Failure], options: MiningOptions) -> Mined:
    """Mine blocks of games as they come; memory grows with the different states and pairs, not with the games.

    Files that cannot be read to their end are left out when others can.

    Raises:
        MiningError: an option is wrong, or no game can be used.
    """
    options.check()
    started = time.perf_counter()
    extraction = Extraction(options.plies, options.unique, options.remove_cycles)
    counter = PairCounter()
    failures: list[Failure] = []
    for block in blocks:
        if isinstance(block, Failure):
            failures.append(block)
            continue
        batch, _ = extraction.batch(block)
        if batch is not None:
            counter.add(batch)
    if failures and not extraction.read and not extraction.rejected:
        raise failures[0].error
    extraction.check()
    skipped = extraction.unfinished + extraction.empty + extraction.duplicates + extraction.filtered
    totals = (extraction.read, extraction.rejected.total(), skipped)
    states = extraction.numbering.states
    files = {number: name for name, number in extraction.files.items()}
    mined = _mined(counter.pairs(), len(states), lambda numbers: states[numbers - 1], files, totals, options, started)
    return dataclasses.replace(mined, failures=tuple(str(failure.error) for failure in failures))


def mine_files(
    paths: Iterable[str | Path],
    options: MiningOptions,
    *,
    filters: GameFilter | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Mined:
    """Mine PDN files and the archives in folders, without tables of games; see :func:`mine_blocks`.

    Raises:
        FileFormatError: there is no such file, or none of them can be read.
        MiningError: an option is wrong, or no game can be used.
    """
    files = pdn_files(paths)
    meter = LineMeter(progress, files)

    def blocks() -> Iterator[Block | Failure]:
        tasks = [Task(path) for path in files]
        for task, block in read_blocks(tasks, wanted=filters, workers=workers):
            yield block
            if isinstance(block, Block):
                meter.tell(task.path, block.line)
        meter.done()

    return mine_blocks(blocks(), options)


def mine_sequences(sequences: Sequences, options: MiningOptions, chosen: NDArray[np.bool_] | None = None) -> Mined:
    """Mine sequences that are in memory, cycles and all, or the marked games of them.

    The options' ``plies``, ``unique`` and ``filters`` only say how the sequences came to be.

    Raises:
        MiningError: an option is wrong, or no game is marked.
    """
    options.check()
    started = time.perf_counter()
    batch: Batch = sequences if chosen is None else some_games(sequences, chosen)
    if not len(batch):
        raise MiningError("no game is chosen to be mined; right would be one or more")
    counter = PairCounter()
    counter.add(acyclic_batch(batch) if options.remove_cycles else batch)
    sources = zip(sequences.sources.tolist(), sequences.headings, strict=True)
    files = {source >> 32: head.file for source, head in sources}
    totals = (sequences.read, sequences.rejected, sequences.read - len(batch))
    states = len(np.unique(np.abs(batch.ids)))
    table = sequences.states
    return _mined(counter.pairs(), states, lambda numbers: table[numbers - 1], files, totals, options, started)


def mine_archive(
    archive: Archive,
    options: MiningOptions,
    filters: GameFilter | None = None,
    *,
    progress: Progress | None = None,
) -> Mined:
    """Mine the games of an archive, some at a time; memory grows with the different states and pairs.

    Raises:
        MiningError: an option is wrong, or no game can be used.
        DatabaseError: the archive is damaged.
    """
    options.check()
    started = time.perf_counter()
    counter, met = PairCounter(), np.zeros(1, bool)
    games = len(archive)
    for batch in archive.batches(plies=options.plies, unique=options.unique, remove_cycles=False, filters=filters):
        numbers = np.abs(batch.ids)
        if (highest := int(numbers.max())) >= len(met):
            met = np.concatenate((met, np.zeros(max(highest + 1 - len(met), len(met)), bool)))
        met[numbers] = True
        counter.add(acyclic_batch(batch) if options.remove_cycles else batch)
        if progress:
            progress("mine games", counter.games, games)
    if not counter.games:
        wanted = " that is wanted" if filters else ""
        raise MiningError(f"archive {archive.url} has no game to mine{wanted}; right would be a game with a result")
    totals = (games, archive.totals()[1], games - counter.games)
    states = int(np.count_nonzero(met))
    return _mined(counter.pairs(), states, archive.states, archive.files(), totals, options, started)


def _mined(
    pairs: Pairs,
    states: int,
    states_of: Callable[[NDArray[np.int64]], NDArray[np.uint32]],
    files: Mapping[int, str],
    totals: tuple[int, int, int],
    options: MiningOptions,
    started: float,
) -> Mined:
    """The pairs that become rules, with the states they speak of alone."""
    table: NDArray[np.uint32] | None = None
    if options.merge_colours:
        pairs, table = _renumbered(pairs, states_of)
        pairs, table = merge_colours(pairs, table)
        states = len(table)
    kept = pairs.kept(min_count=options.min_count, sign=options.sign)
    avoided = pairs.avoided(min_count=options.min_count, sign=options.sign)
    used = np.unique(np.concatenate((kept.state, kept.next_state, avoided.state, avoided.next_state)))
    report = MiningReport(
        games=totals[0],
        rejected=totals[1],
        skipped=totals[2],
        sequences=pairs.games,
        states=states,
        sources=len(np.unique(pairs.state)),
        pairs=len(pairs),
        rules=len(kept),
        seconds=time.perf_counter() - started,
        avoided=len(avoided),
    )
    rows = states_of(used) if table is None else table[used - 1]
    return Mined(kept.numbered(used), avoided.numbered(used), rows, files, report, options)


def _renumbered(
    pairs: Pairs, states_of: Callable[[NDArray[np.int64]], NDArray[np.uint32]]
) -> tuple[Pairs, NDArray[np.uint32]]:
    used = np.unique(np.concatenate((pairs.state, pairs.next_state)))
    return pairs.numbered(used), states_of(used)


def values(mined: Mined, pairs: Pairs, *, worst: bool = False) -> dict[Position, tuple[Rule, ...]]:
    """Pairs as rules by position, best first, or worst first."""
    positions = [position_of(row) for row in mined.states]
    rows = zip(pairs.state.tolist(), pairs.rows(mined.options.sign), strict=True)
    found = ((positions[state - 1], _rule(row, mined.files)) for state, row in rows)
    return by_position(found, worst=worst)


def _rule(row: tuple[Any, ...], files: Mapping[int, str]) -> Rule:
    _, _, action, count, wins, draws, losses, weight, support, confidence, rating, last_year, sources = row
    examples = tuple(Example(files[source >> 32], source & 0xFFFFFFFF) for source in sources if source)
    figures = (rating, count, wins, draws, losses, weight, support, confidence)
    return Rule(action, *figures, last_year=last_year or None, examples=examples)


def by_position(found: Iterable[tuple[Position, Rule]], *, worst: bool = False) -> dict[Position, tuple[Rule, ...]]:
    """Rules grouped by position, best first, or worst first."""
    groups: dict[Position, list[Rule]] = {}
    for position, rule in found:
        groups.setdefault(position, []).append(rule)
    turn = 1 if worst else -1
    return {
        position: tuple(sorted(rules, key=lambda rule: (turn * rule.rating, -rule.count, rule.action)))
        for position, rules in groups.items()
    }


def both_colours(rules: Rules) -> dict[Position, tuple[Rule, ...]]:
    """Rules of positions with Black to move, and the same for White by the half-turn."""
    both = dict(rules)
    for position, found in rules.items():
        actions = turn_codes(np.array([rule.action for rule in found], np.uint32)).tolist()
        both[position.half_turn()] = tuple(
            dataclasses.replace(rule, action=action) for rule, action in zip(found, actions, strict=True)
        )
    return both
