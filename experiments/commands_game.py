"""Commands about the game: perft, analyse, match, pdn check (design, section 4)."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from checkers.errors import InputError
from experiments.console import Fen, Files, Json, Seed, counting, match_table, show

if TYPE_CHECKING:
    from checkers.players import Decision


def perft(
    depth: Annotated[int, typer.Argument(min=1, max=30, help="Plies, 1 or more.")],
    fen: Fen = None,
    divide: Annotated[bool, typer.Option("--divide", help="Count under each move.")] = False,
    distinct: Annotated[bool, typer.Option("--distinct", help="Count moves with the same result once.")] = False,
    as_json: Json = False,
) -> None:
    """Count the move sequences of a position; every capture path counts, unless --distinct."""
    from checkers.perft import divide_perft, perft_count
    from checkers.position import Position

    position = Position.from_fen(fen) if fen is not None else Position.start()
    perft_count(position, 1, distinct=distinct)  # loads the kernel, so that the time is the count's
    started = time.perf_counter()
    parts = divide_perft(position, depth, distinct=distinct) if divide else {}
    nodes = sum(parts.values()) if divide else perft_count(position, depth, distinct=distinct)
    seconds = time.perf_counter() - started
    data = {
        "fen": position.fen(),
        "depth": depth,
        "distinct": distinct,
        "nodes": nodes,
        "seconds": seconds,
        "divide": parts,
    }
    lines = [f"{move}: {count}" for move, count in parts.items()]
    show(data, "\n".join([*lines, f"{nodes} nodes in {seconds:.3f} s"]), as_json)


def analyse(
    fen: Annotated[str, typer.Argument(help="Position, for example B:W21-32:B1-12.")],
    player: Annotated[str, typer.Option(help="Player specification.")] = "alphabeta",
    depth: Annotated[int | None, typer.Option(min=1, max=30, help="Plies; overrides the specification.")] = None,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """One decision of a player, explained."""
    import numpy as np

    from checkers.game import Game
    from checkers.position import Position
    from checkers.specification import Specification
    from experiments.players import build_player

    specification = Specification.parse(player)
    if depth is not None:
        specification.options["depth"] = str(depth)
    game = Game(Position.from_fen(fen))
    if game.is_over:
        raise InputError(f"{fen}: the game is over ({game.reason}); there is no move to choose")
    chooser = build_player(str(specification))
    chooser.begin(game.side, np.random.default_rng(seed))
    started = time.perf_counter()
    decision = chooser.choose(game)
    show(*_decision_figures(decision, time.perf_counter() - started), as_json)


def _decision_figures(decision: Decision, seconds: float) -> tuple[dict[str, Any], str]:
    line = [str(move) for move in decision.pv]
    data = {
        "move": str(decision.move),
        "score": decision.score,
        "depth": decision.depth,
        "nodes": decision.nodes,
        "pv": line,
        "why": decision.why.value,
        "details": decision.details,
        "seconds": seconds,
    }
    score = "" if decision.score is None else f", score {decision.score:+.3f}"
    text = f"{decision.move} ({decision.why.value}{score}, depth {decision.depth}, {decision.nodes} nodes)"
    return data, f"{text}\n{' '.join(line)}".rstrip()


def match(
    first: Annotated[str, typer.Argument(help="Player specification.")],
    second: Annotated[str, typer.Argument(help="Player specification.")],
    games: Annotated[int, typer.Option(min=2, max=1_000_000, help="Games, an even number.")] = 20,
    openings: Annotated[str, typer.Option(help="start, two-move(-all), three-move(-all).")] = "three-move",
    draws: Annotated[str, typer.Option(help="Draw policy: thesis, acf, neurodraughts.")] = "thesis",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """A match: every opening is played with both colours."""
    import numpy as np

    from checkers.draws import draw_policy
    from checkers.openings import openings_named
    from experiments.players import build_player
    from experiments.tournament import opening_order, play_match

    if games % 2:
        raise InputError(f"--games {games} is odd; right would be an even number, for both colours of each opening")
    order_seed, match_seed, bootstrap_seed = np.random.SeedSequence(seed).spawn(3)
    order = opening_order(openings_named(openings), games // 2, order_seed)
    policy = draw_policy(draws)
    players = build_player(first), build_player(second)
    with counting("games", games) as played:
        result = play_match(*players, order, match_seed, policy=policy, progress=played)
    figures = result.figures(bootstrap_seed)
    show(figures, match_table([figures]), as_json)


def pdn_check(
    files: Files,
    rejects: Annotated[
        Path | None, typer.Option(help="Folder to write the rejected games to, each with its reason.")
    ] = None,
    fix: Annotated[Path | None, typer.Option(help="Folder to write what was read to, as clean PDN.")] = None,
    one_zero: Annotated[str, typer.Option(help="The side that wins with 1-0: black or white.")] = "black",
    squares: Annotated[str, typer.Option(help="Squares where no tag names them: numeric or algebraic.")] = "numeric",
    as_json: Json = False,
) -> None:
    """Read and replay archives; report every game that is rejected."""
    from checkers.pdn import Rejection, check
    from checkers.position import Colour

    sides = {"black": Colour.BLACK, "white": Colour.WHITE}
    if one_zero not in sides:
        raise InputError(f"--one-zero {one_zero} is no side; right would be black or white")
    if squares not in ("numeric", "algebraic"):
        raise InputError(f"--squares {squares} is unknown; right would be numeric or algebraic")
    others: Counter[tuple[str, str]] = Counter()

    def report(rejected: Rejection) -> None:
        if rejected.other_game:
            others[rejected.file, rejected.other_game] += 1
        else:
            place = f"{rejected.file}:{rejected.line}:{rejected.column}"
            print(f"{place}: game {rejected.number}, ply {rejected.ply}: {rejected.reason}", file=sys.stderr)

    summary = check(
        files,
        report,
        one_zero=sides[one_zero],
        squares="algebraic" if squares == "algebraic" else "numeric",
        rejects=rejects,
        fix=fix,
        on_unreadable=lambda _, error: print(error, file=sys.stderr),
    )
    for (file, game), number in others.items():
        which = "every game" if file in summary.other_games else f"{number} of the games"
        print(f"{file}: {which} is {game}, not English checkers", file=sys.stderr)
    speed = summary.games / summary.seconds
    data = {
        "files": summary.files,
        "unreadable": summary.unreadable,
        "games": summary.games,
        "accepted": summary.accepted,
        "rejected": summary.rejected,
        "reasons": summary.reasons,
        "other_games": summary.other_games,
        "warnings": summary.warnings,
        "warning_kinds": summary.warning_kinds,
        "finished": summary.finished,
        "contradicted": summary.contradicted,
        "plies": summary.plies,
        "seconds": summary.seconds,
        "games_per_second": speed,
        "written": [str(path) for path in summary.written],
    }
    lines = [
        f"{summary.accepted} of {summary.games} games in {summary.files} files accepted, {summary.rejected} rejected",
        f"{summary.plies} plies, {summary.seconds:.2f} s, {speed:,.0f} games/s",
        *(f"{number} games with warning: {kind}" for kind, number in summary.warning_kinds.items()),
        *(f"{path} written" for path in summary.written),
    ]
    if summary.contradicted > summary.finished - summary.contradicted:
        other = "black" if one_zero == "white" else "white"
        lines.append(
            f"{summary.contradicted} of {summary.finished} finished boards say another result than their records: "
            f"--one-zero {other} may be right"
        )
    show(data, "\n".join(lines), as_json)
    if not summary.accepted:
        raise typer.Exit(2)


def bench(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; the median counts.")] = 3,
    beside: Annotated[
        list[str] | None, typer.Option(help="A command that prints figures of the same names as JSON.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The performance figures, one thread, beside other programs' in the same run."""
    from experiments.benchmarks import run_benchmarks

    with counting("rounds", rounds) as done:
        found = run_benchmarks(rounds, beside or [], done)
    lines = []
    for name, figure in found.items():
        peers = "".join(f"  {peer} {value:,.0f} ({figure.ours / value:.2f})" for peer, value in figure.peers.items())
        lines.append(f"{name:<36}{figure.ours:>15,.0f}{peers}")
    show({"figures": {name: figure.as_json() for name, figure in found.items()}}, "\n".join(lines), as_json)
