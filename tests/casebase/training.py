"""Games of a CHEBR player against a random one, each with a seed of its own, for tests of the library."""

from __future__ import annotations

import sys

import numpy as np

from casebase.elicitation import ChebrPlayer, Library
from casebase.library import CaseLibrary
from casebase.ratings import DecayingMemory
from checkers.draws import DrawPolicy
from checkers.game import Game, Result
from checkers.players import Player, RandomPlayer
from checkers.position import Colour

POLICY = DrawPolicy("short", max_moves=20)


def play(black: Player, white: Player, seed: int) -> Game:
    """A game, observed by both."""
    game = Game(policy=POLICY)
    for colour, player in ((Colour.BLACK, black), (Colour.WHITE, white)):
        player.begin(colour, np.random.default_rng([seed, colour]))
    while not game.is_over:
        game.play((white if game.side else black).choose(game).move)
    for player in (black, white):
        player.observe(game.result)
    return game


def train(library: Library, seed: int) -> Result:
    """One training game, the agent's colour by the seed's parity."""
    agent, opponent = ChebrPlayer(library), RandomPlayer()
    players: tuple[Player, Player] = (opponent, agent) if seed % 2 else (agent, opponent)
    return play(*players, seed).result


def main() -> None:
    """Train on the library at the URL with seeds from, to; tell each number when its game is written."""
    url, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with CaseLibrary(url, "random", DecayingMemory(alpha=0.3)) as library:
        for seed in range(first, last):
            train(library, seed)
            print(seed, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
