"""The Python blocks of README.md and docs/*.md, run in order in an empty folder; console blocks are not run here."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of Python and the line of its page on which it begins, from 1."""

    text: str
    line: int


def blocks_of(page: str) -> list[Block]:
    return [Block(match[1], page.count("\n", 0, match.start(1)) + 1) for match in _BLOCK.finditer(page)]


def run_block(block: Block, names: dict[str, Any], page: str) -> None:
    """Run a block in a page's names: as a session whose answers must be right if it has a prompt, else as it is."""
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line - 1)
    report: list[str] = []
    results = doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert results.failed == 0, f"{page}, line {block.line}:\n{''.join(report)}"


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_python_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__page__"}
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    assert blocks, f"{page.name} has no Python block"
    for block in blocks:
        run_block(block, names, page.name)


def test_a_wrong_answer_fails() -> None:
    page = "# Page\n\n```python\n>>> x = 1\n>>> x + 1\n3\n\n```\n\n```python\nassert x == 2\n```\n"
    session, plain = blocks_of(page)
    assert (session.line, plain.line) == (4, 11)
    names: dict[str, Any] = {}
    with pytest.raises(AssertionError, match=r"p\.md, line 4:(.|\n)*Expected:\n\s+3\n\s+Got:\n\s+2"):
        run_block(session, names, "p.md")
    assert names["x"] == 1  # the next block sees what this one has named
    with pytest.raises(AssertionError):
        run_block(plain, names, "p.md")


def test_the_page_about_the_game_has_its_sections() -> None:
    page = (ROOT / "docs" / "checkers.md").read_text(encoding="utf-8")
    for heading in ("Set up", "List moves", "Play", "Read an archive", "Write an archive", "Draw a diagram"):
        assert f"\n## {heading}\n" in page
