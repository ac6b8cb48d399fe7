"""The kernels' cache: where it lies, that no edit goes unnoticed; and that packages are light to import."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from checkers import jit

ROOT = Path(__file__).resolve().parents[2]

CALLEE = """
from checkers.jit import kernel

@kernel("int64(int64)")
def inner(x):
    return x + {added}
"""
CALLER = """
from checkers.jit import kernel
from pair.callee import inner

@kernel("int64(int64)")
def outer(x):
    return inner(x) * 10
"""
USER = """
import json, pathlib
from checkers.jit import cache_folder
from pair.caller import outer
print(json.dumps([outer(1), cache_folder(outer.py_func.__code__).name, sum(outer.stats.cache_hits.values())]))
"""


def python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints; the code is ours to import, bytecode is never kept."""
    settings = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Call(NamedTuple):
    """What the caller returned, where its cache is, how often the cache was hit."""

    value: int
    folder: str
    hits: int


class Pair:
    """A package of two kernels, one of which calls the other, with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pair").mkdir()
        (folder / "pair" / "__init__.py").touch()
        (folder / "pair" / "caller.py").write_text(CALLER)

    def call(self, added: int, **environment: str) -> Call:
        (self.folder / "pair" / "callee.py").write_text(CALLEE.format(added=added))
        paths = os.pathsep.join([str(self.folder), str(ROOT)])
        settings = {"PYTHONPATH": paths, "ACE_CHECKERS_CACHE": str(self.folder / "cache"), **environment}
        return Call(*json.loads(python(USER, **settings)))

    def cached(self) -> set[Path]:
        return {path.relative_to(self.folder / "cache") for path in self.folder.glob("cache/*/**/*.nb?")}


def test_an_edit_of_a_called_kernel_is_noticed(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    first = pair.call(1)
    assert (first.value, first.hits) == (20, 0)
    files = pair.cached()
    assert {path.name.split("-")[0] for path in files} == {"callee.inner", "caller.outer"}
    assert {path.parts[0] for path in files if path.name.startswith("caller")} == {first.folder}

    edited = pair.call(2)
    assert (edited.value, edited.hits) == (30, 0)
    assert edited.folder != first.folder
    assert files < pair.cached()

    back = pair.call(1)
    assert back == Call(20, first.folder, 1)


def stamp(path: Path) -> str:
    jit._read.cache_clear()
    return jit.source_stamp.__wrapped__(path)


def test_the_stamp_is_of_the_source_and_all_that_it_imports(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    texts = {
        "caller": "from package.callee import inner\n",
        "callee": "def f():\n    from package.constants import N\n",
        "constants": "N = 1\n",
        "other": "from package.caller import outer\n",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    before = stamp(package / "caller.py")
    assert stamp(package / "caller.py") == before
    for edited in ("caller", "callee", "constants"):
        (package / f"{edited}.py").write_text(texts[edited] + "# edited\n")
        assert stamp(package / "caller.py") != before, edited
        (package / f"{edited}.py").write_text(texts[edited])
    (package / "other.py").write_text("x = 2\n")
    assert stamp(package / "caller.py") == before
    assert stamp(package / "other.py") != before


def test_a_kernel_outside_is_stamped_with_the_kernels_of_checkers_that_it_imports(tmp_path: Path) -> None:
    outside = tmp_path / "package" / "user.py"
    outside.parent.mkdir()
    outside.write_text("from checkers.search import alphabeta\n")
    stamp(outside)
    assert ROOT / "checkers" / "search.py" in jit._read(outside)[1]
    assert ROOT / "checkers" / "movegen.py" in jit._read(ROOT / "checkers" / "search.py")[1]


def test_kernel_sources_import_in_the_form_that_the_stamp_follows() -> None:
    """What a source imports in another way would not be stamped."""
    other_form = re.compile(
        r"^\s*(from (\.|(checkers|learners|casebase|mining|experiments) import)|import (checkers|learners)\b)", re.M
    )
    for path in [*ROOT.glob("checkers/*.py"), *ROOT.glob("learners/*.py"), *ROOT.glob("experiments/*.py")]:
        text = path.read_text()
        if "from checkers.jit import" in text:
            assert not other_form.search(text), path.name


def cache_root() -> Path:
    return jit.cache_root.__wrapped__()


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ACE_CHECKERS_CACHE", str(tmp_path / "deep" / "down"))
    assert cache_root() == tmp_path / "deep" / "down"
    assert list((tmp_path / "deep" / "down").iterdir()) == []


def test_without_a_setting_it_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for empty in (None, ""):
        if empty is None:
            monkeypatch.delenv("ACE_CHECKERS_CACHE", raising=False)
        else:
            monkeypatch.setenv("ACE_CHECKERS_CACHE", empty)
        monkeypatch.setattr(jit.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "user"))
        assert cache_root() == tmp_path / "user"


def test_a_folder_that_cannot_be_made_or_written_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    read_only = tmp_path / "read-only"
    really = tempfile.TemporaryFile

    def guarded(*args: Any, dir: Path, **options: Any) -> Any:  # noqa: A002
        if dir == read_only:
            raise PermissionError(13, "Permission denied", str(dir))
        return really(*args, dir=dir, **options)

    monkeypatch.setattr(jit.tempfile, "TemporaryFile", guarded)
    monkeypatch.setattr(jit.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "user"))
    for wrong in (tmp_path / "file", tmp_path / "file" / "below", read_only):
        monkeypatch.setenv("ACE_CHECKERS_CACHE", str(wrong))
        assert cache_root() == tmp_path / "user"

    monkeypatch.setattr(jit.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "file"))
    assert cache_root().parent == Path(tempfile.gettempdir())


def test_kernels_run_though_no_cache_folder_can_be_written(tmp_path: Path) -> None:
    file, temporary = tmp_path / "file", tmp_path / "temporary"
    file.touch()
    temporary.mkdir()
    nowhere = dict.fromkeys(("ACE_CHECKERS_CACHE", "XDG_CACHE_HOME", "HOME"), str(file))
    assert Pair(tmp_path).call(1, **nowhere, TMPDIR=str(temporary)).value == 20
    assert len(list(temporary.glob("ace-rl-checkers-*/kernels-*/**/*.nbi"))) == 2


@pytest.mark.parametrize(
    "modules", ["checkers, learners, casebase, mining, experiments", "experiments.cli", "checkers.moves, checkers.fen"]
)
def test_importing_a_package_loads_nothing_heavy(modules: str) -> None:
    heavy = ["numba", "llvmlite", "numpy", "scipy", "sklearn", "sqlalchemy", "matplotlib", "joblib", "pydantic"]
    found = json.loads(
        python(f"import sys, json, {modules}\nprint(json.dumps([m for m in {heavy} if m in sys.modules]))")
    )
    assert found == []


def test_other_users_of_numba_keep_their_cache_folder() -> None:
    code = "import numba.core.config as c\nbefore = c.CACHE_DIR\nimport checkers.movegen\nprint(c.CACHE_DIR == before)"
    assert python(code).strip() == "True"


def test_kernels_release_the_lock_and_stay_python_functions() -> None:
    from checkers.movegen import generate

    assert generate.__name__ == "generate"
    assert generate.targetoptions["nogil"] is True
