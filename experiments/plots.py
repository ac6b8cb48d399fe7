"""The plots of a report: inline SVG in the Okabe-Ito colours, which colour-blind readers can tell apart.

Figures are drawn through matplotlib's objects, without a display or pyplot; equal data give equal SVG.
"""

from __future__ import annotations

import io
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from checkers.players import Why
from experiments.statistics import MatchScore

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
SOURCES = {
    Why.CASE: "#0072B2",
    Why.RULE: "#E69F00",
    Why.IDENTITY: "#009E73",
    Why.SEARCHED: "#56B4E9",
    Why.EXPLORED: "#D55E00",
    Why.RANDOM: "#CC79A7",
    Why.FORCED: "#BBBBBB",
}
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, read aloud
    "svg.hashsalt": "ace-checkers",
    "text.parse_math": False,  # a $ in a name is a $
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
}


WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}


class Plot(NamedTuple):
    """A plot as inline SVG, with its title and what it shows in words."""

    title: str
    text: str
    svg: Markup


def plots(results: Mapping[str, Any]) -> dict[str, list[Plot]]:
    """The plots of each section; a section without data has none."""
    matches = results.get("matches") or []
    evolution = results.get("evolution") or {}
    training = [match for match in matches if match["phase"] == "training"]
    drawn: dict[str, list[Plot]] = {}

    def draw(section: str, title: str, text: str, paint: Callable[..., None], height: float, *data: Any) -> None:
        if not all(data):
            return
        figure = Figure(figsize=(5.4, height), layout="constrained")
        paint(figure.add_subplot(), *data)
        key = f"plot{sum(map(len, drawn.values()))}"
        drawn.setdefault(section, []).append(Plot(title, text, svg(figure, key, f"{title}. {text}")))

    with matplotlib.rc_context(STYLE):
        sources = [match for match in matches if any((match.get("decisions") or {}).values())]
        played = [match for match in matches if match["games"]]
        draw("matches", "Scores", "Score of the first player with its 95% interval.", _scores, _rows(played), played)
        ratings = results.get("ratings")
        draw("ratings", "Ratings", "Elo relative to the pool's mean, 95% interval.", _ratings, _rows(ratings), ratings)
        text = "Share of each source among all moves of the first player."
        draw("sources", "Where decisions came from", text, _sources, 0.7 + _rows(sources), sources)
        for match in training:
            text = "Running mean of the score over the last games of training; band: 95% interval of that mean."
            draw("learning", f"Learning curve: {_versus(match)}", text, _learning, 3.0, match.get("points"))
            text, by_game = "Share of each source among its moves, in blocks of games.", match.get("decisions_by_game")
            draw("learning", f"Sources while learning: {_versus(match)}", text, _sources_over_time, 3.0, by_game)
        curve = (results.get("training") or {}).get("curve")
        text = "Scores while training by self-play; dots mark games after which the opponent became a new clone."
        draw("training", "Training", text, _training, 3.8, curve)
        generations, survival = evolution.get("generations"), evolution.get("survival")
        text = "Best and mean fitness of each generation, band of one standard deviation about the mean."
        draw("evolution", "Fitness", text, _fitness, 3.6, generations)
        text = "Share of the last population that kept each feature."
        draw("evolution", "Survival of features", text, _survival, 0.9 + 0.24 * len(survival or ()), survival)
    return drawn


def svg(figure: Figure, key: str, text: str) -> Markup:
    """The figure as an element for a page: ids its own, no date, sized by the page, named for screen readers."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())  # noqa: S314 (matplotlib's own output)
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag.endswith(("}metadata", "}style"))]:
            parent.remove(child)
        parent.tag = parent.tag.rpartition("}")[2]
        for name, value in list(parent.attrib.items()):
            del parent.attrib[name]
            value = value.replace("url(#", f"url(#{key}-")
            value = f"{key}-{value}" if name == "id" else f"#{key}-{value[1:]}" if name.endswith("href") else value
            parent.set(name.rpartition("}")[2], value)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{key}-title", "style": "stroke-linejoin:round"}
    title = ElementTree.Element("title", {"id": f"{key}-title"})
    title.text = text
    root.insert(0, title)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 (serialised, thus escaped)


def _versus(match: Mapping[str, Any]) -> str:
    return " v ".join(match["players"])


def _rows(items: Sequence[Any] | None) -> float:
    """Height of a plot with a labelled row for each item."""
    return 0.8 + 0.5 * len(items or ())


def _label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Label rows above their marks, where long names have room."""
    for row, label in enumerate(labels):
        text = textwrap.shorten(label, 66, placeholder="…")
        axes.annotate(text, (0, row - 0.26), xycoords=("axes fraction", "data"), va="bottom", fontsize=9.5, bbox=WHITE)
    axes.set(yticks=[], ylim=(len(labels) - 0.5, -0.85))
    axes.spines["left"].set_visible(False)


def _intervals(axes: Axes, labels: Sequence[str], rows: Sequence[tuple[float, Sequence[float]]], even: float) -> None:
    axes.axvline(even, color="#555555", linestyle="--", linewidth=1)
    for row, (value, (low, high)) in enumerate(rows):
        axes.plot([low, high], [row, row], color=COLOURS[0], linewidth=2.5, solid_capstyle="butt")
        axes.plot([value], [row], "o", color=COLOURS[0])
    _label_rows(axes, labels)


def _scores(axes: Axes, matches: Sequence[Mapping[str, Any]]) -> None:
    labels = [f"{_versus(match)} ({match['phase']})" for match in matches]
    _intervals(axes, labels, [(match["score"], match["score_interval"]) for match in matches], 0.5)
    axes.set(xlim=(-0.02, 1.02), xlabel="score")
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))


def _ratings(axes: Axes, ratings: Sequence[Mapping[str, Any]]) -> None:
    _intervals(axes, [row["player"] for row in ratings], [(row["elo"], row["interval"]) for row in ratings], 0.0)
    axes.set_xlabel("Elo relative to the mean")


def _share_axis(axes: Axes, xlabel: str, ylabel: str = "score") -> None:
    """Axes of a share over something that is counted."""
    axes.set(xlabel=xlabel, ylabel=ylabel, ylim=(-0.02, 1.02))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))


def _legend(axes: Axes, columns: int = 1) -> None:
    figure = axes.figure
    if isinstance(figure, Figure) and axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside lower left", ncols=columns)


def running_mean(points: Sequence[float]) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Game numbers, mean points of the last ``window`` games there, and the window: a fifth of the games, 5 to 50."""
    window = min(len(points), max(5, min(50, len(points) // 5)))
    means = np.convolve(np.asarray(points, dtype=float), np.full(window, 1 / window), mode="valid")
    return np.arange(window, len(points) + 1), means, window


def _learning(axes: Axes, points: Sequence[float]) -> None:
    games, means, window = running_mean(points)
    bands = np.array([MatchScore.of(points[game - window : game]).interval() for game in games])
    axes.axhline(0.5, color="#555555", linestyle="--", linewidth=1)
    axes.fill_between(games, bands[:, 0], bands[:, 1], color=COLOURS[0], alpha=0.15, linewidth=0)
    label = f"mean of the last {window} games, {means[-1]:.1%} at the end; all games {np.mean(points):.1%}"
    axes.plot(games, means, color=COLOURS[0], label=label)
    axes.plot(games[-1:], means[-1:], "o", color=COLOURS[0])
    axes.set_xlim(0, len(points) + 1)
    _share_axis(axes, "training games")
    _legend(axes)


def _sources(axes: Axes, matches: Sequence[Mapping[str, Any]]) -> None:
    totals = [sum(match["decisions"].values()) for match in matches]
    left = np.zeros(len(matches))
    for why, colour in SOURCES.items():
        counts = [match["decisions"].get(why, 0) for match in matches]
        if any(counts):
            share = np.divide(counts, totals)
            axes.barh(range(len(matches)), share, 0.45, left, color=colour, edgecolor="white", label=str(why))
            left += share
    _label_rows(axes, [f"{_versus(match)} ({match['phase']})" for match in matches])
    axes.set(xlim=(0, 1), xlabel="share of moves")
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    _legend(axes, 5)


def _sources_over_time(axes: Axes, by_game: Sequence[Mapping[str, int]]) -> None:
    blocks = [block for block in np.array_split(np.arange(len(by_game)), 12) if len(block)]
    sums = [sum((Counter(by_game[i]) for i in block), Counter()) for block in blocks]
    totals = np.maximum(1, [sum(block.values()) for block in sums])
    edges, widths = [block[0] + 0.5 for block in blocks], [len(block) for block in blocks]
    bottom = np.zeros(len(blocks))
    for why, colour in SOURCES.items():
        counts = [block[why] for block in sums]
        if any(counts):
            share = counts / totals
            axes.bar(edges, share, widths, bottom, align="edge", color=colour, edgecolor="white", label=str(why))
            bottom += share
    _share_axis(axes, "training games", "share of moves")
    axes.set_ylim(0, 1)
    _legend(axes, 5)


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    """A column of numbers, NaN where there is none."""
    return np.array([row.get(name) for row in rows], dtype=float)


def _training(axes: Axes, curve: Sequence[Mapping[str, Any]]) -> None:
    games, score, clones = (_column(curve, name) for name in ("games", "score", "clones"))
    if np.isfinite(score).any():
        axes.plot(games, score, color=COLOURS[0], label="against its clone")
        renewed = np.flatnonzero(np.diff(clones, prepend=0) > 0)
        axes.plot(games[renewed], score[renewed], "o", color=COLOURS[0], markersize=4)
    rivals = dict.fromkeys(name for row in curve for name in row.get("rating_vs") or {})
    for index, name in enumerate(rivals, start=1):
        values = _column([row.get("rating_vs") or {} for row in curve], name)
        style: Any = {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % 4]}
        axes.plot(games, values, marker="s", markersize=3, label=f"against {name}", **style)
    axes.axhline(0.5, color="#555555", linestyle="--", linewidth=1)
    _share_axis(axes, "self-play games")
    _legend(axes)


def _fitness(axes: Axes, generations: Sequence[Mapping[str, Any]]) -> None:
    x, best, mean, std = (_column(generations, name) for name in ("generation", "best", "mean", "std"))
    axes.fill_between(x, mean - std, mean + std, color=COLOURS[1], alpha=0.2, linewidth=0)
    axes.plot(x, best, color=COLOURS[0], label="best")
    axes.plot(x, mean, "--", color=COLOURS[1], label="mean ± standard deviation")
    axes.set(xlabel="generation", ylabel="fitness")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    _legend(axes, 2)


def _survival(axes: Axes, survival: Mapping[str, float]) -> None:
    names = sorted(survival, key=lambda name: (survival[name], name))
    axes.barh(range(len(names)), [survival[name] or 0.0 for name in names], color=COLOURS[2])
    axes.set(yticks=range(len(names)), ylim=(-0.6, len(names) - 0.4), xlim=(0, 1), xlabel="share of the population")
    axes.set_yticklabels(names, fontsize=9)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
