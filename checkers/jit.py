"""How kernels are compiled and cached (design, section 3).

``kernel`` compiles for explicit types, releases the GIL and caches on disk; ``helper`` marks a few lines that are
inlined into kernels and typed by them, so they cost nothing at start-up.

numba's cache notices an edit of the file that holds a kernel, not an edit of a file whose kernels that one calls. The
cache therefore lives in a folder stamped with a hash of the file and of all of ours that it imports, at any remove: an
edit compiles again what depends on it, and nothing else.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numba.core.config
import platformdirs

if TYPE_CHECKING:
    from types import CodeType

F = TypeVar("F", bound=Callable[..., Any])

#: Float sums may be reordered and contracted, and a division by zero gives inf: without either, no loop over a
#: network's hidden units is vectorised.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}

_ROOT = Path(__file__).parent.parent

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([a-z_]\w*)\.(\w+)", re.MULTILINE)


@functools.cache
def _read(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """A source's text and the files of ours that it imports: those beside its package, and this project's."""
    text = path.read_bytes()
    found = []
    for package, module in sorted(set(_IMPORT.findall(text))):
        for root in dict.fromkeys([path.parent.parent, _ROOT]):
            imported = root / package.decode() / f"{module.decode()}.py"
            if imported.is_file():
                found.append(imported)
                break
    return text, tuple(found)


@functools.cache
def source_stamp(path: Path) -> str:
    """Hash of a source, of all of ours that it imports at any remove, and of this file.

    Only imports of the form ``from package.module import name`` are followed.
    """
    waiting, seen = [path, Path(__file__)], {path, Path(__file__)}
    while waiting:
        new = [each for each in _read(waiting.pop())[1] if each not in seen]
        seen.update(new)
        waiting += new
    digest = hashlib.sha256()
    for each in sorted(seen, key=lambda each: (each.parent.name, each.name)):
        text = _read(each)[0]
        digest.update(f"{each.parent.name}/{each.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:16]


@functools.cache
def cache_root() -> Path:
    """A folder that can be written: ``ACE_CHECKERS_CACHE``, the user's cache folder, or a temporary one."""
    candidates = [os.environ.get("ACE_CHECKERS_CACHE"), platformdirs.user_cache_dir("ace-rl-checkers", appauthor=False)]
    for candidate in filter(None, candidates):
        folder = Path(candidate)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return _temporary_root()


def _temporary_root() -> Path:
    """A folder in the temporary one that nobody else can write to: numba's index files are pickles."""
    if hasattr(os, "getuid"):
        folder = Path(tempfile.gettempdir()) / f"ace-rl-checkers-{os.getuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022:
                return folder
        except OSError:
            pass
    return Path(tempfile.mkdtemp(prefix="ace-rl-checkers-"))


def cache_folder(code: CodeType) -> Path:
    """The cache folder of the kernel with this code object."""
    return cache_root() / f"kernels-{source_stamp(Path(code.co_filename))}"


def kernel(signature: Any) -> Callable[[F], F]:
    """Compile for ``signature`` (or load from the cache), without the GIL. The result is called like the function."""

    def decorate(function: F) -> F:
        settings: Any = numba.core.config
        previous = settings.CACHE_DIR
        # numba reads the setting when the function is decorated; other users of numba keep theirs
        settings.CACHE_DIR = str(cache_folder(function.__code__))
        try:
            compiled: Any = numba.njit(signature, cache=True, **OPTIONS)(function)
        finally:
            settings.CACHE_DIR = previous
        return cast("F", compiled)

    return decorate


def tuple_type(fields: Sequence[Any], cls: type) -> Any:
    """The numba type of a NamedTuple class with fields of these numba types."""
    make: Any = numba.types.NamedTuple
    return make(tuple(fields), cls)


def helper(function: F) -> F:
    """Mark a function that kernels inline: compiled with its callers, never on its own."""
    compiled: Any = numba.njit(**OPTIONS)(function)
    return cast("F", compiled)
