"""The error of this package."""

from __future__ import annotations

from checkers.errors import InputError


class MiningError(InputError):
    """An archive holds nothing to mine, or an option of mining is wrong."""
