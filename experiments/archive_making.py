"""Makes the shipped archive: games of our own search between our own networks, from the three-move ballots.

Several networks are trained by TD(λ) from different seeds; each pair of them plays every ballot that may be played with
both colours. No outside game goes in. Equal arguments give equal bytes.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from checkers.draws import ACF
from checkers.errors import InputError
from checkers.openings import openings_named
from checkers.pdn import write_pdn
from checkers.players import SearchPlayer
from checkers.position import Colour
from experiments.parallel import run_tasks
from experiments.tournament import play_game
from learners.network import Network
from learners.td import TDLearner

#: Who plays these games.
PROGRAMS = {"WhiteType": "program", "BlackType": "program"}


class _Pairing(NamedTuple):
    """Two networks and the ballot they play, by its place in the list."""

    first: int
    second: int
    ballot: int


def make_archive(
    out: Path,
    *,
    depth: int,
    networks: int,
    training_games: int,
    seed: int,
    workers: int,
    progress: Callable[[str, int, int], None],
) -> int:
    """Write the archive to ``out`` (compressed when it ends in .gz); return the number of games."""
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise InputError(f"--out {out} cannot be written; right would be a file in a folder that exists")
    ballots = openings_named("three-move")
    positions = [ballot.position() for ballot in ballots]
    seeds = np.random.SeedSequence(seed).spawn(networks)

    def trained(network_seed: np.random.SeedSequence) -> Network:
        return TDLearner(games=training_games).fit(positions, network_seed).network_

    progress("train the players", 0, networks)
    players = []
    for network in run_tasks(trained, seeds, workers=workers):
        players.append(network)
        progress("train the players", len(players), networks)

    def played(pairing: _Pairing) -> str:
        first, second = (
            SearchPlayer(f"TD network {i + 1}, depth {depth}", players[i].evaluation(), depth)
            for i in (pairing.first, pairing.second)
        )
        ballot = ballots[pairing.ballot]
        records = []
        for colour in Colour:
            game = play_game(first, second, ballot, colour, np.random.SeedSequence(0), ACF).game
            game.tags = {"Event": f"Three-move ballot {ballot.number}", **game.tags, **PROGRAMS}
            records.append(write_pdn(game))
        return "\n".join(records)

    pairings = [_Pairing(*pair, ballot) for ballot in range(len(ballots)) for pair in combinations(range(networks), 2)]
    progress("play the games", 0, 2 * len(pairings))
    texts: list[str] = []
    for text in run_tasks(played, pairings, workers=workers):
        texts.append(text)
        progress("play the games", 2 * len(texts), 2 * len(pairings))
    _write(out, "\n".join(texts))
    return 2 * len(pairings)


def _write(out: Path, text: str) -> None:
    data = text.encode()
    part = out.with_name(out.name + ".part")
    try:
        part.write_bytes(gzip.compress(data, mtime=0) if out.suffix == ".gz" else data)
        part.replace(out)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
