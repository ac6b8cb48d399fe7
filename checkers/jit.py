"""How kernels are compiled and cached (design, section 3).

``kernel`` compiles for explicit types, releases the GIL and caches on disk; ``helper`` marks a few lines that are
inlined into kernels and typed by them, so they cost nothing at start-up.

numba's cache notices an edit of the file that holds a kernel, not an edit of a file whose kernels that one calls. The
cache therefore lives in a folder stamped with a hash of every kernel source that the kernel can depend on: those of
this package and those of its own.
"""

from __future__ import annotations

import functools
import hashlib
import os
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

_HERE = Path(__file__).parent


def _is_kernel_source(text: bytes) -> bool:
    return b"checkers.jit import" in text


@functools.cache
def source_stamp(*packages: Path) -> str:
    """Hash of the kernel sources in ``packages`` (folders) and of this file."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for package in packages:
        for path in sorted(package.glob("*.py")):
            text = path.read_bytes()
            if _is_kernel_source(text):
                digest.update(path.name.encode() + b"\0" + text)
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
    package = Path(code.co_filename).parent
    packages = (_HERE,) if package == _HERE else (_HERE, package)
    return cache_root() / f"kernels-{source_stamp(*packages)}"


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
