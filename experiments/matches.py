"""One pairing as a task: elicitation, then a tournament with the library frozen (theory.md 2.10)."""

from __future__ import annotations

import multiprocessing
import signal
from typing import Any, NamedTuple

import numpy as np

from casebase.library import CaseLibrary
from casebase.ratings import rating_named
from checkers.openings import openings_named
from checkers.pdn import write_pdn
from checkers.specification import Specification
from experiments.players import build_player
from experiments.tournament import Match, PlayedGame, opening_order, play_match

RATINGS = ("gpm", "ucm", "dm")


class MatchTask(NamedTuple):
    """A pairing: specifications, the run's seed, openings, games of the tournament and of the training phase before it.

    Both phases go through the same ``openings`` ballots again and again, so that what was learned can be used. A
    training phase starts with an empty library.
    """

    first: str
    second: str
    seed: int
    openings: int
    tournament_games: int
    training_games: int = 0

    @property
    def name(self) -> str:
        """The first player's name."""
        specification = Specification.parse(self.first)
        return specification.options.get("name", self.first)

    @property
    def rival(self) -> str:
        """The second player's name."""
        specification = Specification.parse(self.second)
        return specification.options.get("name", self.second)

    @property
    def key(self) -> str:
        """The unit's key in the store."""
        return f"match/{self.name} v {self.rival}"

    @property
    def games(self) -> int:
        """All games of the task."""
        return self.tournament_games + self.training_games


class Outcome(NamedTuple):
    """What a task returns: one dict of figures per phase, and the games as rows for the store."""

    matches: list[dict[str, Any]]
    games: list[tuple[int, tuple[str, str], str, str, int, str]]


def play_task(task: MatchTask) -> Outcome:
    """Play the phases of a task; depends on the task alone, so that any worker may do it, and do it again.

    All pairings of a run meet the same openings in the same order, so that they can be compared in pairs.
    """
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker at once and without a word
    own = np.random.SeedSequence([task.seed, *task.key.encode()])
    training_seed, tournament_seed, *bootstrap = own.spawn(4)
    deck_seed, *order_seeds = np.random.SeedSequence([task.seed, *b"openings"]).spawn(3)
    deck = opening_order(openings_named("three-move"), task.openings, deck_seed)
    phases = []
    if task.training_games:
        library = _empty_library(task.first)
        order = opening_order(deck, task.training_games // 2, order_seeds[0])
        match = play_match(build_player(task.first), build_player(task.second), order, training_seed)
        phases.append(_figures(match, "training", bootstrap[0], library))
    first = _frozen(task.first) if task.training_games else task.first
    order = opening_order(deck, task.tournament_games // 2, order_seeds[1])
    tournament = play_match(build_player(first), build_player(task.second), order, tournament_seed)
    phases.append(_figures(tournament, "tournament", bootstrap[1], _library_of(task.first)))
    played = (*match.games, *tournament.games) if task.training_games else tournament.games
    return Outcome(phases, [_row(number, game) for number, game in enumerate(played, 1)])


def _figures(match: Match, phase: str, seed: np.random.SeedSequence, library: CaseLibrary | None) -> dict[str, Any]:
    figures = {**match.figures(seed), "phase": phase, "cases": None}
    if library is not None:
        library.reload()
        figures["cases"] = len(library)
    return figures


def _frozen(specification: str) -> str:
    """The same player, no longer learning."""
    name, options = Specification.parse(specification)
    return str(Specification(name, {**options, "learn": "false"}))


def _library_of(specification: str) -> CaseLibrary | None:
    _, options = Specification.parse(specification)
    if "library" not in options:
        return None
    return CaseLibrary(options["library"], options["opponent"], rating_named(options["rating"]))


def _empty_library(specification: str) -> CaseLibrary | None:
    library = _library_of(specification)
    if library is not None:
        library.reset()
    return library


def _row(number: int, played: PlayedGame) -> tuple[int, tuple[str, str], str, str, int, str]:
    game = played.game
    opening = len(game.moves) - len(played.reasons)
    comments = {opening + i: why.value for i, why in enumerate(played.reasons)}
    players = (game.tags["Black"], game.tags["White"])
    return number, players, game.result.value, game.reason, len(game.moves), write_pdn(game, comments=comments)
