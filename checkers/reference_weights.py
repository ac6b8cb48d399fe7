"""The reference evaluation's weights: a table that people can read, and the one that kernels take (theory.md 4.2).

The file is JSON: ``terms`` maps each term's name to its weight in the opening, the ending and the ending with kings;
``men``, ``kings`` and ``back rank`` hold for each phase what a man or king on squares 1 to 32, and the men on the back
rank (pattern 0 to 15, square n is bit n - 1), add. All in men, for a side that moves up in number.
"""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checkers.errors import FileFormatError
from checkers.reference import PARAMETERS, PATTERNS, PHASES, ROWS, SQUARES, TERMS, WIDTH

FORMAT = "ace-rl-checkers reference weights"

#: The weights that are shipped.
SHIPPED = Path(__file__).parent / "data" / "reference.json"

_TABLES = {"men": SQUARES, "kings": SQUARES, "back rank": PATTERNS}


def read_weights(path: str | Path = SHIPPED) -> NDArray[np.float64]:
    """Weights of a file, float64 (3, PARAMETERS), in the order of :func:`checkers.reference.parameter_rows`.

    Raises:
        FileFormatError: the file is missing, not of this format, or lacks a number.
    """
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(f"weights file {path} does not exist; `ace-checkers tune` makes one")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise FileFormatError(f"{path} is not a file of reference weights: it is not JSON") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not a file of reference weights; right would be format {FORMAT!r}")
    terms = [_numbers(path, data.get("terms"), name, len(PHASES)) for name in TERMS]
    tables = [[_numbers(path, data.get(name), phase, size) for phase in PHASES] for name, size in _TABLES.items()]
    return np.hstack([np.array(terms).T, *map(np.array, tables)])


def _numbers(path: Path, table: Any, name: str, size: int) -> list[float]:
    """The row of a table, checked."""
    row = table.get(name) if isinstance(table, dict) else None
    if not isinstance(row, list) or len(row) != size:
        raise FileFormatError(f"{path}: {name!r} should be a list of {size} numbers")
    for value in row:
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise FileFormatError(f"{path}: {name!r} holds {str(value)[:40]!r}; right would be {size} finite numbers")
    return [float(value) for value in row]


def weights_text(weights: NDArray[np.float64], source: dict[str, Any]) -> str:
    """The text of a weights file; ``source`` says where the weights come from. Numbers keep three decimals."""
    rounded = (np.round(weights, 3) + 0.0).tolist()
    at = len(TERMS)
    terms = {name: [row[i] for row in rounded] for i, name in enumerate(TERMS)}
    tables: dict[str, dict[str, list[float]]] = {"terms": terms}
    for name, size in _TABLES.items():
        tables[name] = {phase: row[at : at + size] for phase, row in zip(PHASES, rounded, strict=True)}
        at += size
    lines = [f'  "format": "{FORMAT}"', f'  "source": {json.dumps(source)}', f'  "phases": {json.dumps(PHASES)}']
    for name, table in tables.items():
        rows = ",\n".join(f"    {json.dumps(key)}: {json.dumps(row)}" for key, row in table.items())
        lines.append(f'  "{name}": {{\n{rows}\n  }}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def kernel_table(weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """The table that :func:`checkers.reference.reference_value` takes, float32 (ROWS, WIDTH).

    Rows 0-2 begin with the terms of a phase. Phase p's row 3 + 8 p + b holds the sum of men's squares for each pattern
    of the board's byte b (the back rank pattern with byte 0), row 7 + 8 p + b that of kings' squares.
    """
    if weights.shape != (len(PHASES), PARAMETERS):
        raise ValueError(f"weights have shape {weights.shape}; right would be {(len(PHASES), PARAMETERS)}")
    terms, men, kings, ranks = np.split(weights, np.cumsum([len(TERMS), SQUARES, SQUARES]), axis=1)
    patterns = np.arange(WIDTH)
    bits = (patterns[:, None] >> np.arange(8)) & 1
    table = np.zeros((ROWS, WIDTH), np.float32)
    table[:3, : len(TERMS)] = terms
    for phase in range(len(PHASES)):
        for byte in range(4):
            squares = slice(8 * byte, 8 * byte + 8)
            table[3 + 8 * phase + byte] = bits @ men[phase, squares]
            table[7 + 8 * phase + byte] = bits @ kings[phase, squares]
        table[3 + 8 * phase] += ranks[phase, patterns & (PATTERNS - 1)].astype(np.float32)
    return table


@functools.cache
def shipped_weights() -> NDArray[np.float64]:
    """The shipped weights, read once; not to be written to."""
    weights = read_weights()
    weights.setflags(write=False)
    return weights
