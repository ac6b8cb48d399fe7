"""What a check of archives writes: rejected games for a person to mend, and clean PDN of what was read (theory.md 7.5).

One file per archive, whole or not at all.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TextIO

from checkers.errors import FileFormatError
from checkers.pdn_records import Rejection
from checkers.pdn_tree import AnnotatedGame
from checkers.pdn_write import write_pdn

REJECTED, CLEAN = ".rejected.pdn", ".clean.pdn"


class CannotWriteError(FileFormatError):
    """A folder or file cannot be written."""


def rejected_text(rejection: Rejection) -> str:
    """A rejected game with its place and reason before it in ``%`` lines, which readers skip."""
    place = f"game {rejection.number}, line {rejection.line}, column {rejection.column}, ply {rejection.ply}"
    return f"% {rejection.file.splitlines()[0]}: {place}\n% {rejection.reason}\n{rejection.text}\n\n"


class Mender:
    """Writes what is found in one archive after another as it is found.

    ``with mender.archive(file):`` encloses the reading of one; if it fails, nothing of that archive is written.
    """

    def __init__(self, rejects: str | Path | None, fix: str | Path | None) -> None:
        self._folders = [(Path(folder), end) for folder, end in ((rejects, REJECTED), (fix, CLEAN)) if folder]
        self._taken: set[str] = set()
        self._parts: dict[str, _Part] = {}
        self.written: list[Path] = []

    def archive(self, file: str) -> Mender:
        """Begin an archive."""
        self._parts = {end: _Part(folder, file, end, self._taken) for folder, end in self._folders}
        return self

    def __enter__(self) -> Mender:
        """Nothing is written before the first game."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Keep what was written if all went well."""
        for part in self._parts.values():
            part.close(keep=kind is None)
            self.written += part.paths

    def add(self, game: AnnotatedGame | Rejection) -> None:
        """Write one game."""
        part = self._parts.get(REJECTED if isinstance(game, Rejection) else CLEAN)
        if part:
            part.write(rejected_text(game) if isinstance(game, Rejection) else write_pdn(game) + "\n")


class _Part:
    """A file in the making: opened with its first text, named only when it is whole."""

    def __init__(self, folder: Path, archive: str, end: str, taken: set[str]) -> None:
        stem = Path(archive).name.removesuffix(".gz").removesuffix(".pdn") or "archive"
        name, number = stem + end, 2
        while name.lower() in taken:  # archives of one name from several folders
            name, number = f"{stem}-{number}{end}", number + 1
        taken.add(name.lower())
        self._path = folder / name
        self._file: TextIO | None = None
        self.paths: list[Path] = []

    def write(self, text: str) -> None:
        """Add text."""
        try:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._part.open("w", encoding="utf-8", errors="replace", newline="\n")
            self._file.write(text)
        except OSError as error:
            raise self._failed(error) from None

    def close(self, *, keep: bool) -> None:
        """Give the file its name, or remove it."""
        if self._file is None:
            return
        try:
            self._file.close()
            if keep:
                self._part.replace(self._path)
                self.paths.append(self._path)
        except OSError as error:
            raise self._failed(error) from None
        finally:
            self._file = None
            self._part.unlink(missing_ok=True)

    @property
    def _part(self) -> Path:
        return self._path.with_name(f".{self._path.name}.{os.getpid()}.part")

    def _failed(self, error: OSError) -> OSError | CannotWriteError:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):  # the disk's fault, not the folder's
            return OSError(error.errno, error.strerror, str(self._path))
        reason = error.strerror or error
        return CannotWriteError(f"{self._path}: cannot be written ({reason}); right would be a folder to write in")
