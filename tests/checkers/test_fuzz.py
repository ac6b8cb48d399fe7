"""A short run of the fuzzer; the corpus must hold what it is there for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from checkers.pdn import check
from fuzz import mutate

CORPUS = mutate.HERE / "corpus"


@pytest.fixture(autouse=True)
def _alarm() -> Iterator[None]:
    """The fuzzer's alarm handler goes when the test does."""
    import signal

    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.signal(signal.SIGALRM, before)


def test_the_corpus_is_sound() -> None:
    summary = check(sorted((CORPUS / "pdn").iterdir()))
    assert (summary.accepted, summary.rejected) == (10, 1)
    assert list(summary.other_games.values()) == []


def test_damaged_inputs_break_no_rule() -> None:
    seeds = [path.read_bytes() for path in sorted(CORPUS.rglob("*")) if path.is_file()]
    counts, broken = mutate.run(seeds, 1500, 5)
    assert broken == []
    assert counts["inputs"] == 1500
    assert min(counts[what] for what in ("accepted", "rejected", "files refused", "FEN accepted", "FEN refused")) > 20


def test_the_same_seed_makes_the_same_inputs() -> None:
    first, second, other = (list(islice(mutate.Mutator([b"abc def", b"xyz"], seed), 50)) for seed in (1, 1, 2))
    assert first == second != other


def test_broken_rules_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def bad(data: bytes, path: Path) -> None:
        if len(data) > 400:
            raise RecursionError("no\nway")
        while len(data) > 300:
            pass

    monkeypatch.setattr(mutate, "read_as_pdn", bad)
    monkeypatch.setattr(mutate, "LEAST_SECONDS", 0.01)
    counts, broken = mutate.run([b"11-15 " * 200], 5, 1, tmp_path)
    assert counts["broken"] == len(broken) == len(list(tmp_path.iterdir())) > 0
    assert "\n" not in "".join(broken)
