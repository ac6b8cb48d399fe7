"""RuleBase: experience rules in memory; what the players ask in a position (theory.md 3.11, 3.12)."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator

from checkers.pdn import Record, Rejection
from checkers.position import Position
from mining.cbss import Sign
from mining.filters import GameFilter
from mining.miner import (
    Example,
    Mined,
    MiningOptions,
    MiningReport,
    Rule,
    Rules,
    both_colours,
    mine_blocks,
    options_of,
    values,
)
from mining.reading import blocks_of

__all__ = ["Example", "MiningOptions", "MiningReport", "Rule", "RuleBase", "Rules"]


class RuleBase:
    """Experience rules in memory, by position.

    Attributes:
        report: what came of the archive when it was mined.
        options: how it was mined.
    """

    def __init__(
        self, rules: Rules, report: MiningReport, options: MiningOptions, avoided: Rules | None = None
    ) -> None:
        self._rules = both_colours(rules) if options.merge_colours else dict(rules)
        self._avoided = both_colours(avoided or {}) if options.merge_colours else dict(avoided or {})
        self.report = report
        self.options = options

    def __len__(self) -> int:
        """Number of rules; with colours merged, each counts for both."""
        return sum(map(len, self._rules.values()))

    def __iter__(self) -> Iterator[Position]:
        """The positions that have rules."""
        return iter(self._rules)

    def rules(self, position: Position) -> tuple[Rule, ...]:
        """The rules of a position, best first: by rating, then count, then action; empty when there is none."""
        return self._rules.get(position, ())

    def avoided(self, position: Position) -> tuple[Rule, ...]:
        """Moves that were frequent in a position and of negative net weight, worst first; for reports, not for play."""
        return self._avoided.get(position, ())

    def avoided_positions(self) -> Iterator[Position]:
        """The positions in which moves were avoided."""
        return iter(self._avoided)

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
        merge_colours: bool = False,
        filters: GameFilter | None = None,
    ) -> RuleBase:
        """Mine records into a rule base that is in memory only; see :class:`MiningOptions`.

        Raises:
            MiningError: an option is wrong, or no record can be used.
        """
        options = options_of(min_count, plies, unique, remove_cycles, sign, merge_colours, filters)
        return cls.of(mine_blocks(blocks_of(records, wanted=filters), options))

    @classmethod
    def of(cls, mined: Mined) -> RuleBase:
        """What was mined as a rule base."""
        return cls(values(mined, mined.rules), mined.report, mined.options, values(mined, mined.avoided, worst=True))

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
        merge_colours: bool = False,
        filters: GameFilter | None = None,
    ) -> MiningReport:
        """Mine records into the database at ``url``; see :class:`MiningOptions`.

        What was there before is replaced in one transaction: whoever interrupts this leaves the old rules, or none.
        Without a URL nothing is written.

        Raises:
            MiningError: an option is wrong, or no record can be used; the database is not touched.
            DatabaseError: there is another kind of database at ``url``.
        """
        started = time.perf_counter()
        options = options_of(min_count, plies, unique, remove_cycles, sign, merge_colours, filters)
        mined = mine_blocks(blocks_of(records, wanted=filters), options)
        return cls.write(mined, url, seconds=time.perf_counter() - started)

    @staticmethod
    def write(mined: Mined, url: str | None, *, seconds: float | None = None) -> MiningReport:
        """Replace what the database at ``url`` holds by what was mined; without a URL nothing is written."""
        from mining.rule_store import write_rules

        report = mined.report if seconds is None else dataclasses.replace(mined.report, seconds=seconds)
        return report if url is None else write_rules(url, dataclasses.replace(mined, report=report))

    @classmethod
    def open(cls, url: str) -> RuleBase:
        """Load the rules of the database at ``url``.

        Raises:
            DatabaseError: there is no rule base of this version, nothing has been mined into it, or it is damaged.
        """
        from mining.rule_store import read_rules

        rules, avoided, report, options = read_rules(url)
        return cls(rules, report, options, avoided)
