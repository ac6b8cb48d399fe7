"""One self-contained HTML page of sections with words, drawings and tables; and the same tables as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from checkers.errors import InputError


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of a row names it."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """The table in columns: the first to the left, the others to the right."""
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        cells = ([cell.rjust(width) for cell, width in zip(line, widths, strict=True)] for line in lines)
        named = ([line[0].ljust(widths[0]), *padded[1:]] for line, padded in zip(lines, cells, strict=True))
        return "\n".join([self.caption, *("  ".join(line).rstrip() for line in named)])


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing as inline SVG, its title and what it shows in words; a plot fits the page's width."""

    title: str
    text: str
    svg: Markup
    plot: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page."""

    title: str
    text: Sequence[str] = ()
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()


def check_page(path: Path | None) -> None:
    """Refuse a page that could not be written, before the work.

    Raises:
        InputError: it is a folder, or there is no folder for it.
    """
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InputError(f"--report {path} cannot be written; right would be a file in a folder that exists")


def write_page(path: Path, title: str, sections: Sequence[Section]) -> None:
    """Write the page; equal sections give equal bytes."""
    import jinja2

    from experiments.report import write_whole

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, trim_blocks=True
    )
    write_whole(path, environment.get_template("page.html").render(title=title, sections=sections))


def plot(title: str, text: str, key: str, paint: Callable[[Any], None], *, height: float = 3.4) -> Drawing:
    """A plot painted on axes in the style of all reports.

    Args:
        title: what it is called.
        text: what it shows.
        key: tells its parts from those of the page's other plots.
        paint: called with matplotlib's axes.
        height: in inches, of 5.8 in width.
    """
    import matplotlib
    from matplotlib.figure import Figure

    from experiments.plots import STYLE, svg

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.8, height), layout="constrained")
        paint(figure.add_subplot())
        return Drawing(title, text, svg(figure, key, f"{title}. {text}"))
