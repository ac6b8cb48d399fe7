"""What the commands share: option types, output, progress bars, tables of matches."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Fen = Annotated[str | None, typer.Option("--fen", help="Position, for example B:W21-32:B1-12.")]
Files = Annotated[list[Path], typer.Argument(help="PDN files.", show_default=False)]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all chance.")]
Workers = Annotated[int, typer.Option(min=1, max=1024, help="Tasks at the same time; results do not depend on it.")]


def show(data: dict[str, Any], text: str, as_json: bool) -> None:
    """Print the data as one JSON object, or the text."""
    print(json.dumps(data, allow_nan=False) if as_json else text)


class Bars:
    """One progress bar per stage, on standard error."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is."""
        from tqdm import tqdm

        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = tqdm(total=total, desc=stage, file=sys.stderr, mininterval=0.2, dynamic_ncols=True)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """End the last bar."""
        if self._bar is not None:
            self._bar.close()


class Counted:
    """Adds up how much of one stage is done, for work that reports steps."""

    def __init__(self, bars: Bars, stage: str, total: int) -> None:
        self._bars, self._stage, self._total, self._done = bars, stage, total, 0

    def __call__(self, steps: int) -> None:
        """So many more steps are done."""
        self._done += steps
        self._bars(self._stage, self._done, self._total)


@contextmanager
def counting(stage: str, total: int) -> Iterator[Counted]:
    """A progress bar for one stage."""
    bars = Bars()
    try:
        yield Counted(bars, stage, total)
    finally:
        bars.close()


def match_table(matches: list[dict[str, Any]]) -> str:
    """The matches as a table of text."""
    header = ("player", "against", "phase", "games", "+", "=", "-", "score", "95% interval", "cases")
    rows = [header]
    for match in matches:
        low, high = match["score_interval"]
        rows.append(
            (
                match["players"][0],
                match["players"][1],
                match.get("phase", ""),
                str(match["games"]),
                str(match["wins"]),
                str(match["draws"]),
                str(match["losses"]),
                f"{match['score']:.1%}",
                f"{low:.1%}-{high:.1%}",
                "" if match.get("cases") is None else str(match["cases"]),
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = []
    for row in rows:
        cells = [cell.ljust(w) if i < 3 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
