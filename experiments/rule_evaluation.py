"""Rules on held-out games as a report: judges from player specifications, tables, plots, one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from checkers.draws import NONE
from checkers.game import Game
from checkers.position import Position
from experiments.pages import Drawing, Section, Table, plot, write_page
from experiments.players import build_player
from experiments.report import number, percent, span
from mining.evaluation import FREQUENT, RULE, Effect, Evaluation, HeldOut, Judge, SizePoint, as_json
from mining.files import Progress
from mining.holdout import GameSet
from mining.miner import MiningOptions
from mining.rates import Rate

#: Sizes of the learning curve.
SIZES = (100, 500, 1000, 3000, 7000)

_METHOD = (
    "Different games are divided into folds; each is asked about with rules mined from the others. A position counts "
    "where there is more than one legal move. Coverage is the share of those in which there is a rule; the other rates "
    "are among the covered ones. A hit is a move that leads where the game's did."
)
_LIMITS = (
    "Intervals are at 95% and take games, not moves, as independent. This test and its figures are ours; the "
    "literature names none. To be like the experts is not to be right: a hit says what they played, not that it wins."
)


def judge_of(specification: str, seed: int = 1) -> Judge:
    """A player as a judge: its move in a position, as if the game began there.

    Chance comes from the seed and the position, so that the order of questions does not matter.

    Raises:
        SpecificationError: there is no such player.
    """
    player = build_player(specification)

    def judge(position: Position) -> int:
        player.begin(position.side, np.random.default_rng(np.random.SeedSequence([seed, *position])))
        return player.choose(Game(position, policy=NONE)).move.code

    return judge


class RuleReport:
    """All figures of rules on held-out games.

    Attributes:
        evaluation: by ply.
        effects: one option at a time.
        sizes: the learning curve.
    """

    def __init__(self, evaluation: Evaluation, effects: Sequence[Effect], sizes: Sequence[SizePoint]) -> None:
        self.evaluation = evaluation
        self.effects = effects
        self.sizes = sizes

    @classmethod
    def of(
        cls,
        games: GameSet,
        options: MiningOptions,
        *,
        folds: int,
        seed: int,
        judges: Mapping[str, Judge] | None = None,
        judge_games: int | None = None,
        sizes: Sequence[int] = SIZES,
        progress: Progress | None = None,
    ) -> RuleReport:
        """Ask everything; see :class:`mining.evaluation.HeldOut`.

        Raises:
            MiningError: an option is wrong, or there are too few games.
        """
        held_out = HeldOut(games, folds=folds, seed=np.random.SeedSequence(seed))
        evaluation = held_out.evaluate(options, judges=judges, judge_games=judge_games, progress=progress)
        return cls(evaluation, list(held_out.effects(options)), list(held_out.sizes(sizes, options)))

    def data(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {**as_json(self.evaluation), "effects": as_json(self.effects), "sizes": as_json(self.sizes)}

    def text(self) -> str:
        """Everything in words and tables."""
        found = self.evaluation
        lines = [f"{found.games} different games in {found.folds} folds, {found.rules:.0f} rules on average", ""]
        lines += [f"{table.text()}\n" for table in self._tables()]
        return "\n".join([*lines, *self._findings()])

    def write(self, path: Path) -> None:
        """Write the report's page."""
        by_ply, effects, sizes = self._tables()
        sections = [
            Section("Findings", [*self._findings(), _METHOD, _LIMITS]),
            Section("By ply", drawings=[self._by_ply()], tables=[by_ply]),
            Section("One option at a time", tables=[effects]),
            Section("By number of games", drawings=[self._by_size()], tables=[sizes]),
        ]
        write_page(path, "Experience rules on held-out games", sections)

    def _findings(self) -> list[str]:
        found = self.evaluation
        total, names = found.total, list(found.total.hits)
        first = (
            f"Of {number(total.choices)} positions with a choice, {_rate(total.coverage)} had a rule; the first rule "
            f"was the game's move in {_rate(total.hits[RULE])} of them, some rule in {_rate(total.listed)}."
        )
        lines = [first]
        for name in names[1:]:
            gap = found.differences.get(name)
            if gap is None:
                continue
            of = "" if name == FREQUENT else f" (asked in {number(found.judged)} games)"
            verdict = "no difference is shown"
            if gap.low > 0 or gap.high < 0:
                verdict = f"it hits {'more' if gap.low > 0 else 'less'} often"
            lines.append(
                f"Against {name}{of}, which hit {_rate(total.hits[name])}: first rule {100 * gap.value:+.1f} points "
                f"(95% interval {100 * gap.low:+.1f} to {100 * gap.high:+.1f}): {verdict}."
            )
        return lines

    def _tables(self) -> tuple[Table, Table, Table]:
        found = self.evaluation
        names = list(found.total.hits)
        header = ["ply", "choices", "coverage", "95%", "listed"]
        header += [cell for name in names for cell in (name, "95%")]
        rows = [
            [
                str(row.ply or "all"),
                number(row.choices),
                percent(row.coverage.share),
                _span(row.coverage),
                percent(row.listed.share),
                *(cell for name in names for cell in (percent(row.hits[name].share), _span(row.hits[name]))),
            ]
            for row in (*found.plies, found.total)
        ]
        by_ply = Table("Coverage, and hit rates in covered positions, by ply", header, rows)
        common = ["rules", "coverage", "95%", RULE, "95%", FREQUENT, "95%"]
        effects = [[f"{row.option}: {row.value}", *_common(row)] for row in self.effects]
        sizes = [[number(row.games), *_common(row)] for row in self.sizes]
        return (
            by_ply,
            Table("One option changed at a time, all plies", ["option", *common], effects),
            Table("Rules mined from so many games, all plies", ["games", *common], sizes),
        )

    def _by_ply(self) -> Drawing:
        rows = self.evaluation.plies
        series = {"coverage": [row.coverage for row in rows]}
        series |= {f"hits: {name}": [row.hits[name] for row in rows] for name in self.evaluation.total.hits}
        text = "Share of positions with a rule, and hit rates among those; bands are 95% intervals."
        return plot("Coverage and hit rates", text, "ply", _curves([row.ply for row in rows], series, "ply"), height=4)

    def _by_size(self) -> Drawing:
        series = {
            "coverage": [row.coverage for row in self.sizes],
            f"hits: {RULE}": [row.hit for row in self.sizes],
            f"hits: {FREQUENT}": [row.frequent for row in self.sizes],
        }
        paint = _curves([row.games for row in self.sizes], series, "games mined", logarithmic=True)
        return plot("Learning curve", "The same by the number of games that were mined.", "size", paint)


def _common(row: Effect | SizePoint) -> list[str]:
    rates = (row.coverage, row.hit, row.frequent)
    return [number(round(row.rules)), *(cell for rate in rates for cell in (percent(rate.share), _span(rate)))]


def _rate(rate: Rate) -> str:
    return percent(rate.share) if rate.share is None else f"{percent(rate.share)} ({_span(rate)})"


def _span(rate: Rate) -> str:
    return "–" if rate.low is None or rate.high is None else span(rate.low, rate.high)


def _curves(
    x: Sequence[int], series: dict[str, list[Rate]], label: str, *, logarithmic: bool = False
) -> Callable[[Any], None]:
    """Paints lines of rates with their intervals as bands."""
    from matplotlib.ticker import PercentFormatter

    from experiments.plots import COLOURS, DASHES

    def paint(axes: Any) -> None:
        for index, (name, rates) in enumerate(series.items()):
            shares, low, high = (
                [np.nan if value is None else value for value in values]
                for values in ([r.share for r in rates], [r.low for r in rates], [r.high for r in rates])
            )
            colour = COLOURS[index % len(COLOURS)]
            axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(x, shares, DASHES[index % 4], color=colour, marker="o", markersize=3, label=name)
        axes.set(xlabel=label, ylabel="share", ylim=(-0.02, 1.02))
        if logarithmic:
            axes.set_xscale("log")
            axes.set_xticks(x, [number(value) for value in x])
            axes.minorticks_off()
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.figure.legend(loc="outside lower left", ncols=1)

    return paint
