"""The report: words follow the numbers, the page is whole, escaped and self-contained; equal results, equal bytes."""

from __future__ import annotations

import copy
import functools
import json
import math
import re
import stat
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from experiments.plots import plots, running_mean
from experiments.report import duration, elo, findings, number, p_value, percent, write_report
from experiments.statistics import match_figures

VOID = {"meta", "link", "br"}
EVIL = '<script>alert("1")</script> & $x_1$'


@functools.cache
def sample() -> dict[str, Any]:
    """Made-up results with every section, names that need escaping, and numbers that are not finite."""
    rng = np.random.default_rng(1)

    def match(a: str, b: str, phase: str, games: int, chance: float) -> dict[str, Any]:
        points = rng.choice([1.0, 0.5, 0.0], games, p=[chance, 0.2, 0.8 - chance]).tolist()
        by_game = [
            {"case": 2 + i // 8, "rule": 4, "identity": 20 - i // 8, "explored": 1, "forced": 5} for i in range(games)
        ]
        total = {why: sum(game[why] for game in by_game) for why in by_game[0]}
        return {
            "players": [a, b],
            "phase": phase,
            **match_figures(points, rng),
            "decisions": total,
            "decisions_by_game": by_game,
            "cases": 900,
            "random_moves": total["identity"] + 1,
            "seconds": 75.5,
        }

    names = [f"ACE-RL ({rating}, {rules} rules)" for rating in ("GPM",) for rules in ("with", "without")]
    identity = "LS-VisionDraughts"
    matches = [match(name, identity, "training", 60, 0.4) for name in names]
    matches += [match(name, identity, "tournament", 40, 0.2 + 0.1 * i) for i, name in enumerate(names)]
    matches.append({"players": [EVIL, identity], "phase": "tournament", **match_figures([1.0] * 6)})
    features = [f"FEATURE{i}" for i in range(28)]
    return {
        "title": f"Sample {EVIL}",
        "command": "ace-checkers demo --seed 1 --out 'my folder'",
        "seed": 1,
        "seconds": 754.2,
        "versions": {"python": "3.11", "numpy": np.__version__},
        "config": {"training": {"games": np.int64(60), "rate": 0.01}, "ratings": ("dm", "gpm"), "archive": None},
        "archive": {
            "files": [f"games/{EVIL}.pdn"],
            "games": 1000,
            "accepted": 950,
            "rejected": 50,
            "reasons": {"illegal move": 48, EVIL: 2},
            "plies": 61234,
        },
        "rules": {
            "states": 1200,
            "pairs": 1500,
            "rules": 2100,
            "min_count": 3,
            "plies": 20,
            "seconds": 1.25,
            "top": [
                {
                    "fen": "B:W21-32:B1-12",
                    "line": "",
                    "move": "11-15",
                    "count": 400,
                    "wins": 150,
                    "draws": 150,
                    "losses": 100,
                    "rating": 0.5625,
                }
            ],
        },
        "evolution": {
            "generations": [
                {
                    "generation": i,
                    "best": 0.4 + 0.02 * i,
                    "mean": 0.3 + 0.02 * i,
                    "std": math.nan if i == 0 else 0.05,
                    "evaluations": 30,
                }
                for i in range(12)
            ],
            "best_features": features[:9],
            "survival": {name: i / 27 for i, name in enumerate(features)},
            "seconds": 33.0,
        },
        "training": {
            "curve": [
                {"games": 100 * i, "score": 0.5 + 0.01 * i, "rating_vs": {"random": 0.6 + 0.03 * i}, "clones": i // 3}
                for i in range(1, 11)
            ],
            "games": 1000,
            "clones": 3,
            "features": features[:9],
            "seconds": 12.0,
        },
        "matches": matches,
        "comparisons": [
            {
                "a": names[1],
                "b": names[0],
                "what": "points per opening pair",
                "n": 18,
                "statistic": 40.0,
                "p": 0.004,
                "p_holm": 0.012,
                "effect": 0.5,
            },
            {
                "a": names[1],
                "b": EVIL,
                "what": "score",
                "n": 9,
                "statistic": 20.0,
                "p": 0.5,
                "p_holm": 0.5,
                "effect": 0.1,
            },
        ],
        "ratings": [
            {"player": name, "elo": 40.0 * i - 100, "interval": [40.0 * i - 150, 40.0 * i - 50]}
            for i, name in enumerate([*names, EVIL])
        ],
    }


class Page(HTMLParser):
    """Checks that tags nest, and collects ids, references and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "clip-path", "fill") and value:
                self.references.append(value)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    before = copy.deepcopy(sample())
    path = write_report(sample(), tmp_path_factory.mktemp("report") / "new" / "folder")
    assert repr(sample()) == repr(before)  # NaN is not equal to itself
    return path


@pytest.fixture(scope="module")
def page(written: Path) -> Page:
    return Page(written.read_text(encoding="utf-8"))


def test_the_page_is_whole_and_self_contained(written: Path, page: Page) -> None:
    text = written.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n<html lang=")
    assert len(page.ids) == len(set(page.ids))
    inner = [ref[5:-1] if ref.startswith("url(") else ref[1:] for ref in page.references if "#" in ref and len(ref) > 7]
    assert {ref for ref in inner if ref.startswith("plot")} <= set(page.ids)
    outside = [ref for ref in page.references if not ref.startswith(("#", "url(#", "data:,", "none"))]
    assert outside == []
    assert "script" not in page.tags
    assert "http" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
    for section in ("findings", "limits", "matches", "comparisons", "ratings", "learning", "training", "evolution",
                    "archive", "rules", "configuration"):  # fmt: skip
        assert section in page.ids
    assert page.tags.count("svg") == 10
    assert "does not claim to" in " ".join(page.text.split())
    assert "ace-checkers demo --seed 1 --out 'my folder'" in page.text


def test_plots_are_well_formed_and_named(written: Path) -> None:
    drawn = re.findall(r"<svg.*?</svg>", written.read_text(encoding="utf-8"), flags=re.DOTALL)
    for svg in drawn:
        root = ElementTree.fromstring(svg)
        assert root.attrib["role"] == "img"
        assert root[0].tag == "title"
        assert root.attrib["aria-labelledby"] == root[0].attrib["id"]
        assert len(root[0].text or "") > 20
        assert "width" not in root.attrib
        assert "viewBox" in root.attrib
        assert "date" not in svg.lower().replace("update", "")


def test_names_are_escaped_and_shown_as_they_are(written: Path, page: Page) -> None:
    assert "<script>" not in written.read_text(encoding="utf-8")
    assert page.text.count(EVIL) >= 6


def test_json_has_the_same_figures(written: Path) -> None:
    data = json.loads((written.parent / "report.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert data["matches"][0]["score"] == sample()["matches"][0]["score"]
    assert data["matches"][-1]["elo"] is None
    assert data["evolution"]["generations"][0]["std"] is None
    assert data["config"] == {"training": {"games": 60, "rate": 0.01}, "ratings": ["dm", "gpm"], "archive": None}
    assert data["findings"] == findings(data)


def test_equal_results_give_equal_bytes(written: Path, tmp_path: Path) -> None:
    again = write_report(sample(), tmp_path)
    assert again.read_bytes() == written.read_bytes()
    assert again.with_suffix(".json").read_bytes() == written.with_suffix(".json").read_bytes()


def test_files_are_replaced_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_report({"seed": 1, "title": "old"}, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644

    def refuse(self: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_report({"seed": 1, "title": "new"}, tmp_path)
    assert "old" in path.read_text(encoding="utf-8")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["report.html", "report.json"]


@pytest.mark.parametrize("key", sorted(sample()))
def test_a_section_may_stand_alone_or_be_empty(key: str, tmp_path: Path) -> None:
    for value in (
        sample()[key],
        {} if isinstance(sample()[key], dict) else [] if isinstance(sample()[key], list) else None,
    ):
        results = {"seed": 1, key: value} if value is not None else {"seed": 1}
        Page(write_report(results, tmp_path).read_text(encoding="utf-8"))


def test_only_a_seed(tmp_path: Path) -> None:
    page = Page(write_report({"seed": 42}, tmp_path).read_text(encoding="utf-8"))
    assert {"limits", "configuration"} == set(page.ids)
    assert "Seed 42." in page.text


def test_a_match_by_its_counts_alone(tmp_path: Path) -> None:
    match = {"players": ["a", "b"], "wins": 70, "draws": 20, "losses": 30}
    write_report({"seed": 1, "matches": [match, {"players": ["a", "b"], "wins": 0, "draws": 0, "losses": 0}]}, tmp_path)
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert data["matches"][0]["games"] == 120
    assert data["matches"][0]["score"] == pytest.approx(80 / 120)
    assert len(data["findings"]) == 1  # nothing is said of a match without games


def match(wins: int, draws: int, losses: int, **more: Any) -> dict[str, Any]:
    return {"players": ["A", "B"], "wins": wins, "draws": draws, "losses": losses, **more}


def test_findings_follow_the_interval() -> None:
    given = match(60, 15, 45, score=0.5625, score_interval=[0.501, 0.623])
    assert findings({"matches": [given]}) == [
        "A scored 56.2% (95% interval 50.1–62.3%) against B over 120 games: above even."
    ]
    assert findings({"matches": [match(10, 5, 9)]})[0].endswith("over 24 games: no difference is shown.")
    assert findings({"matches": [match(3, 5, 30)]})[0].endswith(": below even.")


def test_findings_of_training_look_for_a_trend() -> None:
    flat, rising = [1.0, 0.0] * 30, [0.0] * 30 + [1.0] * 30
    (_, steady) = findings({"matches": [{"players": ["A", "B"], "phase": "training", "points": flat}]})
    (_, rose) = findings({"matches": [{"players": ["A", "B"], "phase": "training", "points": rising}]})
    assert steady.endswith("no change is shown.")
    assert rose.endswith("it rose.")
    assert "from 0.0% in the first half to 100.0% in the second (difference +100.0 points" in rose


def test_findings_of_comparisons_use_the_adjusted_p() -> None:
    row = {"a": "A", "b": "B", "what": "score", "n": 12, "statistic": 5.0, "p": 0.02, "p_holm": 0.06, "effect": 0.4}
    assert findings({"comparisons": [row]}) == [
        "A compared with B (score): no difference is shown (Wilcoxon, Holm-adjusted p = 0.060, effect +0.40, n = 12)."
    ]
    (line,) = findings({"comparisons": [{**row, "p_holm": 0.0004, "effect": -0.4}]})
    assert "a difference in favour of B" in line
    assert "p < 0.001" in line


def test_findings_of_sources_leave_out_forced_moves() -> None:
    decisions = {"case": 30, "rule": 10, "identity": 60, "forced": 900}
    line = findings({"matches": [match(1, 0, 1, decisions=decisions)]})[1]
    assert line == (
        "Of A's 100 moves against B that were a choice, the sources were: 30.0% case, 10.0% rule, 60.0% identity."
    )


def test_running_mean() -> None:
    games, means, window = running_mean([0.0] * 5 + [1.0] * 5)
    assert window == 5
    assert games.tolist() == [5, 6, 7, 8, 9, 10]
    assert means == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert running_mean([1.0])[2] == 1
    assert running_mean([1.0] * 1000)[2] == 50


def test_plots_leave_matplotlib_as_it_was() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    assert plots({"seed": 1, "matches": []}) == {}
    assert dict(matplotlib.rcParams) == before


def test_words_for_numbers() -> None:
    assert [percent(0.5625), percent(None)] == ["56.2%", "–"]
    assert [number(x) for x in (None, 0, 1234, 40.0, 0.125, 1234.5)] == ["–", "0", "1,234", "40", "0.125", "1,234"]
    assert [elo(12.4), elo(-12.4), elo(None, -1), elo(None, 1), elo(None)] == ["+12", "−12", "−∞", "+∞", "–"]
    assert [p_value(x) for x in (None, 0.0001, 0.0423)] == ["–", "<0.001", "0.042"]
    assert [duration(x) for x in (None, 4.21, 725, 12000)] == ["–", "4.2 s", "12 min 5 s", "3 h 20 min"]
