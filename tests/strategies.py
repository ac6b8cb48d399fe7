"""Random positions: reachable ones by random play of the reference rules, and set-ups rich in kings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from checkers.position import Colour, Position
from tests.reference import mailbox

BLACK_KING_ROW, WHITE_KING_ROW = 0xF0000000, 0x0000000F


def random_game(rng: np.random.Generator, plies: int = 200) -> Iterator[mailbox.Mailbox]:
    """The positions of a random game, the start first."""
    position = mailbox.Mailbox.start()
    yield position
    for _ in range(plies):
        moves = mailbox.legal_moves(position)
        if not moves:
            return
        position = mailbox.play(position, moves[int(rng.integers(len(moves)))])
        yield position


def random_setup(rng: np.random.Generator, most: int = 12) -> Position:
    """Up to ``most`` pieces of each side on random squares, on average half of them kings; no man on its king row."""
    squares = [int(n) for n in rng.permutation(32)]
    split = 1 + int(rng.integers(most))
    end = split + 1 + int(rng.integers(most))
    black = sum(1 << n for n in squares[:split])
    white = sum(1 << n for n in squares[split:end])
    share = rng.random()
    royal = sum(1 << n for n in squares[:end] if rng.random() < share)
    royal |= black & BLACK_KING_ROW | white & WHITE_KING_ROW
    return Position(black, white, royal, Colour(int(rng.integers(2))))


def to_position(board: mailbox.Mailbox) -> Position:
    """The product's position."""
    black, white, kings, side = board.boards()
    return Position(black, white, kings, Colour(side))


@st.composite
def reachable_positions(draw: st.DrawFn, most_plies: int = 120) -> Position:
    """Positions that random play from the start reaches."""
    plies = draw(st.integers(0, most_plies))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    *_, last = random_game(rng, plies)
    return to_position(last)


@st.composite
def setup_positions(draw: st.DrawFn) -> Position:
    """Positions set up at will; any piece may be a king, and a man on its own king row is one."""
    owners = draw(st.lists(st.sampled_from("...bBwW"), min_size=32, max_size=32))
    boards = {c: sum(1 << n for n, owner in enumerate(owners) if owner == c) for c in "bBwW"}
    black, white = boards["b"] | boards["B"], boards["w"] | boards["W"]
    royal = boards["B"] | boards["W"] | black & BLACK_KING_ROW | white & WHITE_KING_ROW
    return Position(black, white, royal, draw(st.sampled_from(Colour)))


def positions() -> st.SearchStrategy[Position]:
    """Either kind."""
    return reachable_positions() | setup_positions()
