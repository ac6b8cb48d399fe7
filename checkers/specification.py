"""Player specifications as text: ``NAME:key=value,key=value``; a value with a comma is quoted (design, section 2)."""

from __future__ import annotations

import re
from typing import NamedTuple

from checkers.errors import SpecificationError

_ITEM = re.compile(r'\s*([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^,"]*))\s*(?:,|$)')


class Specification(NamedTuple):
    """The name of a kind of player and its options, all text."""

    name: str
    options: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> Specification:
        """Read a specification; raise :class:`SpecificationError` when it has not the form."""
        name, _, rest = text.strip().partition(":")
        if not re.fullmatch(r"[A-Za-z][\w-]*", name):
            raise SpecificationError(f"{text!r} is not a player; right would be NAME or NAME:key=value,key=value")
        options: dict[str, str] = {}
        at = 0
        while at < len(rest):
            match = _ITEM.match(rest, at)
            if not match:
                raise SpecificationError(f"player {text!r}: {rest[at:]!r} is not key=value; quote a value with a comma")
            key = match[1]
            if key in options:
                raise SpecificationError(f"player {text!r}: the key {key} is given twice")
            quoted = match[2]
            options[key] = match[3].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            at = match.end()
        return cls(name, options)

    def __str__(self) -> str:
        items = (f"{key}={_quoted(value)}" for key, value in self.options.items())
        return f"{self.name}:{','.join(items)}" if self.options else self.name


def _quoted(value: str) -> str:
    if value and not re.search(r'[,"\\]|^\s|\s$', value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
