"""An atheris target for FEN.

    pip install atheris
    python -m fuzz.fen_fuzz fuzz/corpus/fen -max_len=500 -timeout=10

runs until it finds something; ``-runs=1000000`` ends it.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Hand the process to atheris."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["checkers"]):
        import checkers.fen  # noqa: F401 - it would be imported late, without instruments
        from fuzz.mutate import read_as_fen

    atheris.Setup(sys.argv, lambda data: (read_as_fen(data.decode("utf-8", "replace")), None)[1])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
