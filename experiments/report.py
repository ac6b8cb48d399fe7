"""The report of a run: findings in words, tables and plots on one self-contained HTML page, and the same as JSON.

Equal results give equal bytes.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from checkers.players import Why
from experiments.plots import SOURCES, plots
from experiments.statistics import MatchScore, difference_interval, score_figures


def write_report(results: Mapping[str, Any], folder: Path) -> Path:
    """Write ``report.html`` and ``report.json`` to ``folder`` (made when absent); return the path of the page.

    Each file appears whole or not at all. A section is left out when ``results`` has no data for it; numbers that are
    not finite become null.
    """
    data = _clean(results)
    data["matches"] = [_completed(match) for match in data.get("matches") or [] if _is_match(match)]
    data["findings"] = findings(data)
    page = (
        _environment()
        .get_template("report.html")
        .render(r=data, plots=plots(data), settings=list(_flat(data.get("config") or {})))
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "report.json", json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_whole(folder / "report.html", page)
    return folder / "report.html"


def write_whole(path: Path, text: str) -> None:
    """Write a file at once: it appears whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        temporary.chmod(0o644)  # mkstemp's files are their owner's alone
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _clean(value: Any) -> Any:
    """The value in JSON's terms: NumPy's as Python's, tuples as lists, numbers that are not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _clean(value.tolist())
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _is_match(match: Mapping[str, Any]) -> bool:
    return "players" in match and ("points" in match or {"wins", "draws", "losses"} <= match.keys())


def _completed(match: dict[str, Any]) -> dict[str, Any]:
    """The match with what can be worked out from its points or counts filled in where absent."""
    if {"wins", "draws", "losses"} <= match.keys():
        counts = MatchScore(match["wins"], match["draws"], match["losses"])
    else:
        counts = MatchScore.of(match["points"])
    by_game = match.get("decisions_by_game")
    if by_game and not match.get("decisions"):
        match["decisions"] = dict(sum((Counter(game) for game in by_game), Counter()))
    interval = match.get("score_interval") or counts.interval()
    return {"phase": "tournament", **score_figures(counts, (interval[0], interval[1])), **match}


def findings(results: Mapping[str, Any]) -> list[str]:
    """Sentences that say what the numbers show, each with its uncertainty; nothing is claimed beyond them."""
    lines: list[str] = []
    results = _clean(results)
    matches = [_completed(match) for match in results.get("matches") or [] if _is_match(match)]
    for match in sorted(matches, key=lambda match: bool(match["phase"] == "training")):
        if match["games"]:
            lines += _match_findings(match)
    lines += [_comparison_finding(row) for row in results.get("comparisons") or []]
    return [*lines, *_source_findings(results)]


def _match_findings(match: Mapping[str, Any]) -> Iterator[str]:
    a, b = match["players"]
    low, high = match["score_interval"]
    verdict = "above even" if low > 0.5 else "below even" if high < 0.5 else "no difference is shown"
    training = match["phase"] == "training"
    yield (
        f"{'In training, ' if training else ''}{a} scored {percent(match['score'])} (95% interval {span(low, high)}) "
        f"against {b} over {number(match['games'])} games: {verdict}."
    )
    points = match.get("points") or []
    if training and len(points) >= 20:
        half = len(points) // 2
        first, second = MatchScore.of(points[:half]), MatchScore.of(points[-half:])
        low, high = difference_interval(first, second)
        verdict = "it rose" if low > 0 else "it fell" if high < 0 else "no change is shown"
        yield (
            f"Its score there went from {percent(first.score)} in the first half to {percent(second.score)} in the "
            f"second (difference {100 * (second.score - first.score):+.1f} points, 95% interval {100 * low:+.1f} to "
            f"{100 * high:+.1f}): {verdict}."
        )
    chosen = {why: match.get("decisions", {}).get(why, 0) for why in SOURCES if why != Why.FORCED}
    total = sum(chosen.values())
    if not training and total and (chosen[Why.CASE] or chosen[Why.RULE]):
        shares = ", ".join(f"{percent(count / total)} {why}" for why, count in chosen.items() if count)
        yield f"Of {a}'s {number(total)} moves against {b} that were a choice, the sources were: {shares}."


def _comparison_finding(row: Mapping[str, Any]) -> str:
    p, effect = row.get("p_holm", row.get("p")), row.get("effect")
    verdict = "no difference is shown"
    if p is not None and p < 0.05:
        verdict = f"a difference in favour of {row['a'] if effect > 0 else row['b']}" if effect else "a difference"
    adjusted = "Holm-adjusted p" if "p_holm" in row else "p"
    size = "" if effect is None else f", effect {effect:+.2f}"
    return (
        f"{row['a']} compared with {row['b']} ({row.get('what', 'score')}): {verdict} "
        f"(Wilcoxon, {adjusted} {p_value(p, sign=True)}{size}, n = {number(row.get('n'))})."
    )


def _source_findings(results: Mapping[str, Any]) -> Iterator[str]:
    archive, rules = results.get("archive") or {}, results.get("rules") or {}
    games, accepted = archive.get("games"), archive.get("accepted")
    if games and accepted is not None:
        yield f"{number(accepted)} of the archive's {number(games)} games ({percent(accepted / games)}) were usable."
    if rules.get("rules") is not None:
        often = f" seen at least {number(rules['min_count'])} times" if rules.get("min_count") else ""
        states = f", in {number(rules['states'])} states" if rules.get("states") is not None else ""
        yield f"The archive gave {number(rules['rules'])} experience rules{often}{states}."
    generations = (results.get("evolution") or {}).get("generations") or []
    best = [row["best"] for row in generations if row.get("best") is not None]
    if len(best) > 1:
        yield (
            f"Evolution's best fitness was {best[0]:.3g} in its first and {best[-1]:.3g} in its last of "
            f"{len(generations)} generations; one run, so no interval is given."
        )


def percent(share: float | None) -> str:
    """A share as ``56.2%``; a dash for none, as in all of these."""
    return "–" if share is None else f"{100 * share:.1f}%"


def span(low: float, high: float) -> str:
    """An interval of shares as ``50.1–62.3%``."""
    return f"{100 * low:.1f}–{100 * high:.1f}%"


def number(value: float | None) -> str:
    """A number with thousands separated; whole ones without a fraction."""
    if value is None:
        return "–"
    return f"{int(value):,}" if value == int(value) else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def elo(value: float | None, beyond: int = 0) -> str:
    """An Elo difference with its sign; none is infinite when ``beyond`` says on which side."""
    if value is None:
        return ("−∞", "–", "+∞")[beyond + 1]
    return f"{value:+.0f}".replace("-", "−")


def p_value(p: float | None, *, sign: bool = False) -> str:
    """A p value to three places, ``<0.001`` below; with ``sign`` as the right side of a sentence."""
    if p is None:
        return "not known" if sign else "–"
    if p < 0.001:
        return "< 0.001" if sign else "<0.001"
    return f"= {p:.3f}" if sign else f"{p:.3f}"


def duration(seconds: float | None) -> str:
    """A time as ``4.2 s``, ``12 min 5 s`` or ``3 h 20 min``."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as dotted names and plain values."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        yield name, ", ".join(map(str, value))
    else:
        yield name, value


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for show in (percent, number, elo, p_value, duration):
        environment.filters[show.__name__] = _shows_undefined(show)
    environment.globals["span"] = span
    return environment


def _shows_undefined(show: Callable[..., str]) -> Callable[..., str]:
    """The filter, with what a template does not find taken as None."""
    return lambda value, *rest: show(None if isinstance(value, jinja2.Undefined) else value, *rest)
