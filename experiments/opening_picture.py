"""The opening tree of an archive as a picture and a page: moves, games and results, by year as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from experiments.pages import Drawing, Section, Table, write_page
from experiments.report import number, percent
from mining.statistics import OpeningNode, Score, SharedLine

#: Colours of Black's wins, draws and White's wins.
COLOURS = ("#000000", "#bbbbbb", "#e69f00")
_COLUMN, _ROW, _BAR, _MARGIN = 150, 30, 96, 8
#: Rows of a table by year before years are put together in tens.
_YEARS = 30


def tree_picture(root: OpeningNode) -> Markup:
    """The tree from left to right as SVG; a bar shows how the games with a move ended, a thicker one more games."""
    places: dict[int, tuple[int, float]] = {}
    rows = _place(root, 0, 0, places)
    depth = max(column for column, _ in places.values())
    width, height = (depth + 1) * _COLUMN + 2 * _MARGIN, max(rows, 1) * _ROW + 2 * _MARGIN
    svg = ElementTree.Element(
        "svg",
        {
            "role": "img",
            "aria-label": "Opening tree",
            "viewBox": f"0 0 {width} {height}",
            "width": str(width),
            "height": str(height),
            "font-family": "system-ui, sans-serif",
            "font-size": "12",
        },
    )
    for parent, child in _edges(root):
        (x, y), (to_x, to_y) = (_point(places[id(node)]) for node in (parent, child))
        path = (
            f"M{x + _BAR + 4:g} {y:g} C{x + _COLUMN - 22:g} {y:g} {x + _COLUMN - 26:g} {to_y:g} {to_x - 4:g} {to_y:g}"
        )
        ElementTree.SubElement(svg, "path", {"d": path, "fill": "none", "stroke": "#999999"})
    for node in _nodes(root):
        _draw(svg, node, *_point(places[id(node)]), share=node.score.games / max(root.score.games, 1))
    return Markup(ElementTree.tostring(svg, encoding="unicode"))  # noqa: S704 (serialised, thus escaped)


def _place(node: OpeningNode, column: int, row: int, places: dict[int, tuple[int, float]]) -> int:
    """Give a node and those below it their column and row; return the first row that is free."""
    children = node.best_first()
    free = row
    for child in children:
        free = _place(child, column + 1, free, places)
    middle = (places[id(children[0])][1] + places[id(children[-1])][1]) / 2 if children else float(row)
    places[id(node)] = (column, middle)
    return free if children else row + 1


def _point(place: tuple[int, float]) -> tuple[float, float]:
    return _MARGIN + place[0] * _COLUMN, _MARGIN + (place[1] + 0.5) * _ROW


def _nodes(node: OpeningNode) -> Iterator[OpeningNode]:
    yield node
    for child in node.best_first():
        yield from _nodes(child)


def _edges(node: OpeningNode) -> Iterator[tuple[OpeningNode, OpeningNode]]:
    for child in node.best_first():
        yield node, child
        yield from _edges(child)


def _draw(svg: ElementTree.Element, node: OpeningNode, x: float, y: float, *, share: float) -> None:
    group = ElementTree.SubElement(svg, "g")
    name = "start" if node.move is None else str(node.move)
    ElementTree.SubElement(group, "title").text = f"{name}: {_words(node.score)}"
    label = ElementTree.SubElement(group, "text", {"x": f"{x:g}", "y": f"{y - 3:g}"})
    label.text = f"{name}  {number(node.score.games)}"
    at, thickness = x, 3 + 5 * share
    for count, colour in zip(_counts(node.score), COLOURS, strict=True):
        width = _BAR * count / max(node.score.games, 1)
        size = {"x": f"{at:.1f}", "y": f"{y + 1:g}", "width": f"{width:.1f}", "height": f"{thickness:.1f}"}
        ElementTree.SubElement(group, "rect", {**size, "fill": colour})
        at += width


def _counts(score: Score) -> tuple[int, int, int]:
    return score.black_wins, score.draws, score.white_wins


def _words(score: Score) -> str:
    return (
        f"{number(score.games)} games, {number(score.black_wins)} won by Black, {number(score.draws)} drawn, "
        f"{number(score.white_wins)} won by White"
    )


def by_year(node: OpeningNode) -> list[tuple[str, Score]]:
    """Results by year; in tens of years where there are many."""
    years = node.years
    step = 1 if len(years) <= _YEARS else 10
    found: dict[int, Score] = {}
    for year, score in sorted(years.items()):
        together = found.setdefault(year // step * step, Score())
        together.black_wins += score.black_wins
        together.draws += score.draws
        together.white_wins += score.white_wins
    return [(f"{year}" if step == 1 else f"{year}-{year + 9}", score) for year, score in found.items()]


def write_openings(
    path: Path, root: OpeningNode, *, ballots: Sequence[tuple[int, Score]] = (), shared: SharedLine | None = None
) -> None:
    """Write the page: the tree, the first moves, results by year, ballots, the longest line that games share."""
    legend = "Bars: black, won by Black; grey, drawn; orange, won by White. Thicker bars stand for more games."
    drawing = Drawing("Opening tree", legend, tree_picture(root), plot=False)
    first = [(str(node.move), node.score) for node in root.best_first()]
    tables = [_table("First moves", "move", first), _table("Results by year", "years", by_year(root))]
    tables += [
        _table(f"Results by year after {node.move}", "years", by_year(node)) for node in root.best_first() if node.years
    ]
    tables.append(_table("Three-move ballots, the most played first", "ballot", [(str(n), s) for n, s in ballots]))
    sections = [Section("Openings", drawings=[drawing]), Section("Results", tables=[one for one in tables if one.rows])]
    if shared is not None:
        games = ", ".join(f"{file} {game}" for file, game in shared.games)
        line = " ".join(map(str, shared.moves)) or "none"
        sections.append(Section("Longest line that games share", [f"{len(shared.codes)} plies: {line}", games]))
    write_page(path, "Openings of an archive", sections)


def _table(caption: str, named: str, rows: Sequence[tuple[str, Score]]) -> Table:
    cells: list[Sequence[Any]] = [
        (name, number(score.games), *map(number, _counts(score)), percent(score.black_score)) for name, score in rows
    ]
    return Table(caption, (named, "games", "Black wins", "draws", "White wins", "Black's score"), cells)
