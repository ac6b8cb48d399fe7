"""Perft of other Python libraries, as peers for `ace-checkers bench --beside "PYTHON benchmarks/peers.py LIBRARY"`.

LIBRARY is py-draughts, pydraughts or open_spiel. Two of them install a package of the same name, and another library
installs a `checkers` like ours, so each needs an environment of its own, and PYTHON is that environment's interpreter:

    python3 -m venv peer && peer/bin/pip install py-draughts
    ace-checkers bench --beside "peer/bin/python benchmarks/peers.py py-draughts"

Prints one JSON object: perft_nodes_per_second at the depth given (last ply counted in bulk), the count, and whether the
count is that of English draughts (theory.md 7.1: 36,768 at depth 6). Nothing of this project is imported.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

DEPTH = 6
ENGLISH = {1: 7, 2: 49, 3: 302, 4: 1469, 5: 7361, 6: 36768}


def py_draughts(depth: int) -> int:
    """Perft through py-draughts' American board."""
    import draughts

    board = draughts.AmericanBoard()

    def count(depth: int) -> int:
        moves = board.legal_moves
        if depth == 1:
            return len(moves)
        nodes = 0
        for move in moves:
            board.push(move)
            nodes += count(depth - 1)
            board.pop()
        return nodes

    return count(depth)


def pydraughts(depth: int) -> int:
    """Perft through pydraughts' English board."""
    from draughts import Board

    def count(board: Any, depth: int) -> int:
        moves = board.legal_moves()
        if depth == 1:
            return len(moves)
        nodes = 0
        for move in moves:
            board.push(move)
            nodes += count(board, depth - 1)
            board.pop()
        return nodes

    return count(Board(variant="english"), depth)


def open_spiel(depth: int) -> int:
    """Perft through OpenSpiel's checkers; a multiple capture is several actions of one player there."""
    import pyspiel

    def count(state: Any, depth: int) -> int:
        actions = state.legal_actions()
        if depth == 1:
            return len(actions)
        return sum(count(state.child(action), depth - 1) for action in actions)

    return count(pyspiel.load_game("checkers").new_initial_state(), depth)


LIBRARIES: dict[str, Callable[[int], int]] = {
    "py-draughts": py_draughts,
    "pydraughts": pydraughts,
    "open_spiel": open_spiel,
}


def main() -> None:
    """Measure the library that is named."""
    if len(sys.argv) != 2 or sys.argv[1] not in LIBRARIES:
        sys.exit(f"usage: peers.py {'|'.join(LIBRARIES)}")
    perft = LIBRARIES[sys.argv[1]]
    perft(2)
    started = time.perf_counter()
    nodes = perft(DEPTH)
    rate = nodes / (time.perf_counter() - started)
    print(
        json.dumps(
            {
                "perft_nodes_per_second": round(rate),
                "depth": DEPTH,
                "nodes": nodes,
                "english_rules": nodes == ENGLISH[DEPTH],
            }
        )
    )


if __name__ == "__main__":
    main()
