"""An atheris target for the PDN reader and writer.

    pip install atheris
    python -m fuzz.pdn_fuzz fuzz/corpus/pdn -max_len=20000 -timeout=10

runs until it finds something; ``-runs=1000000`` ends it. What a reader may do is in :mod:`fuzz.mutate`, which needs no
atheris.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Hand the process to atheris."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["checkers"]):
        from fuzz.mutate import read_as_pdn

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.pdn"
        atheris.Setup(sys.argv, lambda data: (read_as_pdn(data, path), None)[1])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
