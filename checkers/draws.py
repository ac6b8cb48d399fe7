"""Draw policies as named sets of limits (theory.md 10): one place for Python games and for the training kernels."""

from __future__ import annotations

from typing import NamedTuple

from checkers.errors import SpecificationError


class DrawPolicy(NamedTuple):
    """When a game is drawn; a limit of 0 is off.

    ``shuttle``: both sides' last so many moves go back and forth between two squares. ``repetition``: the position
    (with side to move) stands for the n-th time. ``quiet_moves``: so many moves of each side without a capture or an
    advance of a man. ``max_moves``: more than so many moves of each side.
    """

    name: str
    shuttle: int = 0
    repetition: int = 0
    quiet_moves: int = 0
    max_moves: int = 0


#: Last five plays of both sides repeated, or more than 100 moves of each side (our reading of the thesis's text).
THESIS = DrawPolicy("thesis", shuttle=5, max_moves=100)
#: Threefold repetition; 40 moves of each side without progress.
ACF = DrawPolicy("acf", repetition=3, quiet_moves=40)
#: 50 moves of each side, as in the public NeuroDraughts code.
NEURODRAUGHTS = DrawPolicy("neurodraughts", max_moves=50)
#: Never a draw; for replaying records.
NONE = DrawPolicy("none")

POLICIES = {policy.name: policy for policy in (THESIS, ACF, NEURODRAUGHTS, NONE)}


def draw_policy(name: str) -> DrawPolicy:
    """The policy of that name."""
    try:
        return POLICIES[name]
    except KeyError:
        raise SpecificationError(f"draw policy {name!r} is unknown; there are {', '.join(POLICIES)}") from None
