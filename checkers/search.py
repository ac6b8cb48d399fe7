"""Searches from Python: depth, node and time limits, the principal variation, the scores of all moves (theory.md 5).

The kernels and what a node is are in :mod:`checkers.alphabeta`, the table and its replacement policy in
:mod:`checkers.search_memory`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from checkers.alphabeta import search_root
from checkers.draw_tracking import MOST_PLIES
from checkers.errors import SpecificationError
from checkers.evaluation import NETWORK, Evaluation
from checkers.movegen import MAX_MOVES, legal_move_codes
from checkers.moves import Move
from checkers.position import Position
from checkers.search_memory import (
    EQUAL_DEPTH,
    LEAVES,
    LINE_LENGTH,
    MOST_DEPTH,
    MOST_HIDDEN,
    NODE_LIMIT,
    NODES,
    ORDERING,
    PLY_LIMIT,
    PROVEN,
    QUIESCENCE,
    QUIET_LIMIT,
    REDUCE,
    REPETITION,
    ROOT,
    STOPPED,
    WIN,
    new_workspace,
)
from checkers.zobrist import position_key

if TYPE_CHECKING:
    from checkers.endgame import EndgameDatabase
    from checkers.game import Game

__all__ = ["MOST_DEPTH", "PROVEN", "WIN", "SearchResult", "Searcher"]

NO_LIMIT = np.iinfo(np.int64).max
#: First window around the score of the depth before, in the evaluation's unit: a network's, and one in men.
ASPIRATION_NETWORK, ASPIRATION_MEN = 0.05, 0.3


class SearchResult(NamedTuple):
    """What a search found.

    ``scores`` maps every legal move's code to its score from the mover's side; those above best - window are exact, the
    others upper bounds, one that equals best - window too. ``pv`` starts with the best move and leads to the position
    that the score is of, unless a limit left no depth finished.
    """

    move: Move
    score: float
    depth: int
    nodes: int
    pv: tuple[Move, ...]
    scores: dict[int, float]


class Searcher:
    """A search with its memory; one object serves one thread.

    Args:
        evaluation: what leaves are valued with.
        depth: plies to search, 1 or more.
        node_limit: stop after so many nodes (the last finished depth counts).
        time_limit: stop after so many seconds, likewise.
        table_bits: the transposition table has 2 ** table_bits entries of 16 bytes; 0: none.
        endgames: database whose values are taken instead of searching on.
        equal_depth: use table entries of equal depth only, so that the value is that of plain minimax.
        reductions: search late quiet moves one ply less deep unless they turn out well (not plain alpha-beta any more).
        ordering: order moves; else they keep the generator's order but for the table's move.
        quiescence: search on below depth 0 while the side to move must capture; else value the position as it is.
        aspiration: half the width of the first window at each depth, 0 for a full one; None: by the evaluation's unit.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        depth: int,
        *,
        node_limit: int | None = None,
        time_limit: float | None = None,
        table_bits: int = 18,
        endgames: EndgameDatabase | None = None,
        equal_depth: bool = False,
        reductions: bool = False,
        ordering: bool = True,
        quiescence: bool = True,
        aspiration: float | None = None,
    ) -> None:
        if depth < 1:
            raise SpecificationError(f"search depth {depth} is too small; right would be 1 or more")
        if depth > MOST_DEPTH:
            raise SpecificationError(f"search depth {depth} is too large; right would be at most {MOST_DEPTH}")
        if evaluation.weights.shape[1] > MOST_HIDDEN:
            raise SpecificationError(
                f"a network of {evaluation.weights.shape[1]} hidden units is too large to search with; "
                f"right would be at most {MOST_HIDDEN}"
            )
        self.evaluation = evaluation
        self.depth = depth
        self.node_limit = node_limit
        self.time_limit = time_limit
        if aspiration is None:
            aspiration = ASPIRATION_NETWORK if evaluation.kind == NETWORK else ASPIRATION_MEN
        self.aspiration = aspiration
        self._work = new_workspace(table_bits, endgames)
        self._work.counters[EQUAL_DEPTH] = int(equal_depth)
        self._work.counters[REDUCE] = int(reductions)
        self._work.counters[ORDERING] = int(ordering)
        self._work.counters[QUIESCENCE] = int(quiescence)
        self._scores = np.zeros(MAX_MOVES + 1, np.float32)

    def clear(self) -> None:
        """Forget all positions, so that the next search depends on nothing before it."""
        self._work.forget()

    def stop(self) -> None:
        """End the search that another thread has begun; its last finished depth counts."""
        self._work.counters[STOPPED] = 1

    @property
    def leaves(self) -> int:
        """Evaluations in the last search."""
        return int(self._work.counters[LEAVES])

    def search(self, position: Position, *, window: float = 0.0, game: Game | None = None) -> SearchResult:
        """Search a position that has a legal move; scores within ``window`` of the best are exact.

        With the ``game`` that has come to the position, its draw policy holds in the search: its limits, and a position
        that comes again in the line, or that has stood in the game, is a draw.
        """
        work = self._work
        board = (position.own, position.opponent, position.kings, int(position.side))
        counters = work.counters
        counters[NODES] = counters[LEAVES] = counters[STOPPED] = 0
        counters[NODE_LIMIT] = self.node_limit or NO_LIMIT
        self._set_draws(game)
        scores = self._scores
        timer = threading.Timer(self.time_limit, self.stop) if self.time_limit else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            finished = search_root(*board, self.depth, window, self.aspiration, self.evaluation, work, scores)
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
        codes: list[int] = legal_move_codes(*board).tolist()
        count = len(codes)
        if finished == 0:  # not even one ply within the limit: the first move, unvalued
            scores[: count + 1] = 0
        best = int(scores[count])
        line = work.memory["line"][: counters[LINE_LENGTH]].tolist() or [codes[best]]
        return SearchResult(
            Move.from_code(codes[best]),
            float(scores[best]) + 0.0,
            int(finished),
            int(counters[NODES]),
            tuple(map(Move.from_code, line)),
            dict(zip(codes, scores[:count].tolist(), strict=True)),
        )

    def _set_draws(self, game: Game | None) -> None:
        """Tell the kernels of the game so far and its draw policy."""
        counters, memory = self._work.counters, self._work.memory
        counters[ROOT] = counters[REPETITION] = counters[QUIET_LIMIT] = counters[PLY_LIMIT] = 0
        memory["quiet"][0] = 0
        if game is None:
            return
        policy = game.policy
        plies = len(game.moves)
        root = min(plies, MOST_PLIES - 1)
        quiet = min(game.quiet_plies, root)
        for place in range(root - quiet, root):
            memory["path"][place] = position_key(game.positions[plies - root + place])
        memory["quiet"][root] = quiet
        counters[ROOT] = root
        counters[REPETITION] = int(policy.repetition > 0 or policy.shuttle > 0)
        counters[QUIET_LIMIT] = 2 * policy.quiet_moves
        counters[PLY_LIMIT] = max(2 * policy.max_moves - (plies - root), 1) if policy.max_moves else 0
