"""Games and matches between players: balanced openings, both colours, every decision counted (theory.md 2.10)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from checkers.draws import THESIS, DrawPolicy
from checkers.game import Game
from checkers.openings import Ballot
from checkers.players import Player, Why
from checkers.position import Colour
from experiments.statistics import MatchScore, score_figures, score_interval


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game, seen by the first player.

    ``opening`` is the ballot's number; ``reasons`` says of every move that was chosen, ply by ply after the opening,
    where it came from.
    """

    game: Game
    opening: int
    colour: Colour
    points: float
    decisions: dict[str, int]
    reasons: tuple[Why, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A finished match; ``seconds`` is its wall time."""

    players: tuple[str, str]
    games: list[PlayedGame] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def points(self) -> list[float]:
        """Points of the first player, game by game."""
        return [game.points for game in self.games]

    @property
    def opening_points(self) -> dict[int, float]:
        """Mean points of the first player by opening, all games of an opening together, by the opening's number.

        Games of one opening are not independent; openings are, so they are what intervals and tests resample.
        """
        points: dict[int, list[float]] = {}
        for game in self.games:
            points.setdefault(game.opening, []).append(game.points)
        return {opening: sum(points[opening]) / len(points[opening]) for opening in sorted(points)}

    def decisions(self) -> dict[str, int]:
        """Decisions of the first player by reason, over all games."""
        total: Counter[str] = Counter()
        for game in self.games:
            total.update(game.decisions)
        return dict(sorted(total.items()))

    def figures(self, seed: np.random.SeedSequence) -> dict[str, Any]:
        """The match as JSON values: score with interval, Elo with interval, points, decisions.

        ``seed`` drives the bootstrap over openings.
        """
        decisions = self.decisions()
        interval = score_interval(list(self.opening_points.values()), np.random.default_rng(seed))
        return {
            "players": list(self.players),
            **score_figures(MatchScore.of(self.points), interval),
            "points": self.points,
            "opening_points": list(self.opening_points.values()),
            "decisions": decisions,
            "decisions_by_game": [game.decisions for game in self.games],
            "random_moves": decisions.get(Why.EXPLORED, 0) + decisions.get(Why.IDENTITY, 0),
            "reasons": dict(sorted(Counter(game.game.reason for game in self.games).items())),
            "seconds": self.seconds,
        }


def play_game(
    first: Player, second: Player, opening: Ballot, colour: Colour, seed: np.random.SeedSequence, policy: DrawPolicy
) -> PlayedGame:
    """Play one game, ``first`` with ``colour``; each player's chance comes from its own share of the seed."""
    game = opening.game(policy)
    players = {colour: first, colour.other: second}
    for player, own, player_seed in zip((first, second), (colour, colour.other), seed.spawn(2), strict=True):
        player.begin(own, np.random.default_rng(player_seed))
    decisions: Counter[str] = Counter()
    reasons: list[Why] = []
    while not game.is_over:
        side = game.side
        decision = players[side].choose(game)
        reasons.append(decision.why)
        if side == colour:
            decisions[decision.why.value] += 1
        game.play(decision.move)
    first.observe(game.result)
    second.observe(game.result)
    game.tags.update(
        {"Black": players[Colour.BLACK].name, "White": players[Colour.WHITE].name, "Result": game.result.value}
    )
    points = game.result.points(colour)
    return PlayedGame(game, opening.number, colour, points, dict(sorted(decisions.items())), tuple(reasons))


def opening_order(openings: Sequence[Ballot], pairs: int, seed: np.random.SeedSequence) -> list[Ballot]:
    """Openings for so many pairs of games: all of them in random order before one comes again."""
    rng = np.random.default_rng(seed)
    order: list[Ballot] = []
    while len(order) < pairs:
        order += [openings[i] for i in rng.permutation(len(openings))]
    return order[:pairs]


def play_match(
    first: Player,
    second: Player,
    openings: Sequence[Ballot],
    seed: np.random.SeedSequence,
    *,
    policy: DrawPolicy = THESIS,
    progress: Callable[[int], None] | None = None,
) -> Match:
    """Play a match: each opening twice in a row, the first player as Black and then as White.

    The games depend on the players, the openings and the seed alone. ``progress`` is called after each game with 1.
    """
    started = time.perf_counter()
    played = []
    for number, game_seed in enumerate(seed.spawn(2 * len(openings))):
        played.append(play_game(first, second, openings[number // 2], Colour(number % 2), game_seed, policy))
        if progress:
            progress(1)
    return Match((first.name, second.name), played, time.perf_counter() - started)
