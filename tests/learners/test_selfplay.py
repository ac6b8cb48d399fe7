"""The kernels that play: draw verdicts, matches, and TD(λ) against the plain Python of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numba import int64
from numpy.typing import NDArray

from checkers.chance import chance_state
from checkers.draw_tracking import MOST_PLIES, STATE, is_drawn, limits_of, start_tracking, track
from checkers.draws import ACF, NEURODRAUGHTS, NONE, THESIS, DrawPolicy
from checkers.evaluation import material
from checkers.game import Game, Result
from checkers.jit import kernel
from checkers.moves import Move
from checkers.openings import two_move_ballots
from checkers.position import Colour, Position
from checkers.search_memory import new_workspace
from checkers.zobrist import zobrist_key
from learners.network import LYNCH_FEATURES, Network
from learners.selfplay import Learner, match_games, training_game, training_games
from learners.td import play_match, position_rows
from tests.reference.numpy_network import TDGame

Rows = NDArray[np.uint32]
Results = NDArray[np.int8]

TIGHT = DrawPolicy("tight", shuttle=2, repetition=4, quiet_moves=12, max_moves=30)
OPENINGS = position_rows([ballot.position() for ballot in two_move_ballots()[:12]])


@kernel("void(uint32[:,::1],uint32[::1],int64[::1],uint8[::1])")
def verdicts(positions: Any, codes: Any, limits: Any, out: Any) -> Any:
    """Whether the policy calls each position of a game (positions, 4) a draw, from the start on."""
    state = np.empty(STATE, np.int64)
    keys = np.empty(MOST_PLIES, np.uint64)
    for i in range(positions.shape[0]):
        side = int64(positions[i, 3])
        own = positions[i, 1] if side == 1 else positions[i, 0]
        opp = positions[i, 0] if side == 1 else positions[i, 1]
        key = zobrist_key(own, opp, positions[i, 2], side)
        if i == 0:
            start_tracking(state, keys, key)
        else:
            track(state, keys, 1 - side, positions[i - 1, 2], codes[i - 1], key)
        out[i] = 1 if is_drawn(state, keys, limits) else 0


def kernel_verdicts(game: Game, policy: DrawPolicy) -> list[bool]:
    out = np.zeros(len(game.positions), np.uint8)
    codes = np.array([move.code for move in game.moves], np.uint32)
    verdicts(position_rows(game.positions), codes, limits_of(policy), out)
    return [bool(drawn) for drawn in out]


def shuffling_game(start: Position, policy: DrawPolicy, rng: np.random.Generator, back: float) -> Game:
    """A random game in which a side takes back its move before with chance ``back`` when it can."""
    game = Game(start, policy=policy)
    while not game.is_over:
        moves = game.legal_moves()
        undoing: Sequence[Move] = []
        if len(game.moves) > 1:
            undoing = [move for move in moves if move.path == game.moves[-2].path[::-1]]
        chosen = undoing if undoing and rng.random() < back else moves
        game.play(chosen[int(rng.integers(len(chosen)))])
    return game


STARTS = [
    Position.start(),
    Position.from_fen("B:WK32,K31,20:BK1,K5,12"),
    Position.from_fen("W:WK29,30,31:B2,3,K4"),
    Position.from_fen("B:WK18:BK1,K2"),
]


@pytest.mark.parametrize("policy", [THESIS, ACF, NEURODRAUGHTS, TIGHT], ids=lambda policy: policy.name)
def test_kernels_call_the_draws_that_games_call(policy: DrawPolicy) -> None:
    rng = np.random.default_rng(11)
    drawn = 0
    for n in range(60):
        game = shuffling_game(STARTS[n % len(STARTS)], policy, rng, back=(0.0, 0.5, 0.95)[n % 3])
        found = kernel_verdicts(game, policy)
        assert not any(found[:-1])
        if game.legal_moves():
            assert found[-1] == (game.result is Result.DRAW)
            drawn += found[-1]
    assert drawn > 15


def test_each_limit_alone() -> None:
    rng = np.random.default_rng(12)
    for policy in (
        DrawPolicy("shuttle", shuttle=3),
        DrawPolicy("repetition", repetition=3),
        DrawPolicy("quiet", quiet_moves=7),
        DrawPolicy("cap", max_moves=9),
    ):
        drawn = 0
        for n in range(12):
            game = shuffling_game(STARTS[n % len(STARTS)], policy, rng, back=0.9)
            found = kernel_verdicts(game, policy)
            assert found.index(True) == len(game.moves) if game.result is Result.DRAW else not any(found[:-1])
            drawn += game.result is Result.DRAW
        assert drawn >= 6, policy


def test_without_a_policy_a_kernel_ends_a_game_when_its_memory_is_full() -> None:
    moves = ["1-5", "32-28", "5-1", "28-32"] * 300
    game = Game(Position.from_fen("B:WK32:BK1"), policy=NONE)
    for text in moves[: MOST_PLIES - 1]:
        game.play(game.position.move(text))
    found = kernel_verdicts(game, NONE)
    assert found == [False] * (MOST_PLIES - 1) + [True]
    assert not game.is_over


# matches


def networks(count: int = 2, bound: float = 0.5) -> list[Network]:
    return [
        Network.initial(LYNCH_FEATURES, np.random.default_rng(seed), hidden=5 + 4 * seed, bound=bound)
        for seed in range(count)
    ]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_match_against_itself_is_mirrored(depth: int) -> None:
    for evaluation in [material(), *(network.evaluation() for network in networks())]:
        results = play_match(evaluation, evaluation, OPENINGS, depth=depth)
        assert len(results) == 2 * len(OPENINGS)
        assert results[0::2].tolist() == (-results[1::2]).tolist()


def test_match_is_deterministic_and_antisymmetric() -> None:
    first, second = (network.evaluation() for network in networks())
    results = play_match(first, second, OPENINGS, depth=2)
    assert results.tolist() == play_match(first, second, OPENINGS, depth=2).tolist()
    assert set(results.tolist()) <= {-1, 0, 1}
    turned = play_match(second, first, OPENINGS, depth=2).reshape(-1, 2)
    # the game in which the second of one match has Black is the game in which the first of the other has
    assert turned[:, ::-1].ravel().tolist() == (-results).tolist()


def test_match_leaves_no_trace_in_a_workspace_that_is_used_again() -> None:
    first, second = (network.evaluation() for network in networks())
    work = new_workspace(10)
    alone = play_match(first, second, OPENINGS, depth=3, work=new_workspace(10))
    play_match(second, first, OPENINGS, depth=2, work=work)
    assert play_match(first, second, OPENINGS, depth=3, work=work).tolist() == alone.tolist()


@pytest.mark.parametrize("depths", [(1, 2), (2, 2), (3, 2), (2, 3), (3, 3)])
def test_players_do_not_share_what_they_remember(depths: tuple[int, int]) -> None:
    # so shallow a search finds in its table only what it would find again: no table, the same games
    first, second = (network.evaluation() for network in networks())
    remembered = play_match(first, second, OPENINGS, depth=depths)
    forgotten = play_match(first, second, OPENINGS, depth=depths, work=new_workspace(0))
    assert remembered.tolist() == forgotten.tolist()


def test_match_results_are_for_the_first_with_black_first() -> None:
    # Black to move captures the last piece whoever plays
    rows = position_rows([Position.from_fen("B:W18:B15,1")])
    assert play_match(material(), networks(1)[0].evaluation(), rows, depth=1).tolist() == [1, -1]
    # the side to move is shut in: it has lost
    rows = position_rows([Position.from_fen("W:W5:B1")])
    assert play_match(material(), material(), rows, depth=1).tolist() == [1, -1]


def test_deeper_search_with_material_wins_more() -> None:
    results = play_match(material(), material(), OPENINGS, depth=(5, 1))
    assert results.mean() > 0.3


def test_match_obeys_the_draw_policy() -> None:
    at_once = DrawPolicy("at once", max_moves=1)
    assert play_match(material(), material(), OPENINGS, depth=1, policy=at_once).tolist() == [0] * 24


def test_match_without_openings() -> None:
    results = np.zeros(0, np.int8)
    depths = np.array([1, 1])
    work = new_workspace(4)
    match_games(OPENINGS[:0], depths, material(), material(), limits_of(THESIS), np.uint64(0), work, results)


# training


def new_learner(network: Network, *, rate: float, **settings: Any) -> Learner:
    """A learner as TDLearner makes it; the settings by name."""
    size, inputs, hidden = len(network.parameters), network.inputs, network.hidden
    rates = np.full(size, rate / inputs)
    rates[(inputs + 1) * hidden :] = rate / hidden
    values = {"gamma": 1.0, "decay": 0.8, "momentum": 0.0, "exploration": 0.0, "both_colours": False, **settings}
    rewards = values.pop("rewards", (1.0, -1.0, 0.0))
    order = [values[name] for name in ("gamma", "decay", "momentum", "exploration")]
    return Learner(
        parameters=network.parameters.copy(),
        traces=np.ones((2, size)),  # left over from a game before: a game starts from nothing
        gradient=np.ones(size),
        momentum=np.ones(size),
        rates=rates,
        bits=network.bits,
        activation=np.zeros(hidden),
        settings=np.array([*order, *rewards, float(values["both_colours"])], np.float64),
    )


def train_one(
    opening: Position, side: Colour, learner: Learner, network: Network, rival: Network, policy: DrawPolicy, depth: int
) -> tuple[int, NDArray[np.float32]]:
    """The result for the learner of one training game, and its table afterwards."""
    evaluation = network.evaluation()
    work = new_workspace(10)
    result = training_game(
        position_rows([opening])[0],
        int(side),
        depth,
        learner,
        evaluation,
        rival.evaluation(),
        limits_of(policy),
        np.array([1, 1 << 63], np.uint64),
        chance_state(np.random.default_rng(0)),
        work,
    )
    return int(result), evaluation.weights


@pytest.mark.parametrize("side", list(Colour))
@pytest.mark.parametrize("both_colours", [False, True])
@pytest.mark.parametrize(
    ("fen", "settings"),
    [
        ("B:W32,31,28:B1,2,5", {}),
        ("W:W30,K31,14:B3,K5,9", {"momentum": 0.9, "gamma": 0.98, "decay": 0.1}),
        ("B:WK32,27,18:BK1,10,4", {"momentum": 0.5, "rewards": (0.7, -0.4, 0.2), "decay": 1.0}),
        ("B:WK32:BK1", {"momentum": 0.9, "rewards": (1.0, -1.0, -0.3)}),
        ("B:W18:B15,1", {}),  # over after one move: Black learns from the reward alone, White from nothing
        ("W:W17,21,22,26,30:B2,6,9,10,13", {"depth": 2, "decay": 0.0, "gamma": 0.9}),
    ],
)
def test_training_game_is_that_of_plain_python(
    fen: str, settings: dict[str, Any], both_colours: bool, side: Colour
) -> None:
    policy = DrawPolicy("short", shuttle=3, max_moves=12)
    names = LYNCH_FEATURES if side else ("PieceAdvantage", "PieceDisadvantage", "Advancement", "Exposure")
    network = Network.initial(names, np.random.default_rng(3), hidden=5, bound=0.6)
    rival = Network.initial(names, np.random.default_rng(4), hidden=5, bound=0.6)
    depth = settings.get("depth", 1)
    td = {name: value for name, value in settings.items() if name != "depth"}
    learner = new_learner(network, rate=2.0, both_colours=both_colours, **td)
    expected = TDGame(
        names, 5, network.parameters, rival.parameters, side, learner.rates, policy=policy, both_colours=both_colours,
        **settings,
    )  # fmt: skip
    opening = Position.from_fen(fen)
    game = expected.play(opening)
    result, table = train_one(opening, side, learner, network, rival, policy, depth)
    assert result == 2 * game.result.points(side) - 1
    learned = learner.parameters - network.parameters
    movers = {position.side for position in game.positions[:-1]}
    assert learned.any() == bool(movers if both_colours else movers & {side})
    np.testing.assert_allclose(learned, expected.parameters - network.parameters, rtol=1e-7, atol=1e-11)
    # the table that chooses the moves has kept up
    np.testing.assert_array_equal(table, network.with_parameters(learner.parameters).evaluation().weights)


def test_momentum_counts_only_where_the_signs_agree() -> None:
    opening, policy = Position.from_fen("B:W32,31,28:B1,2,5"), DrawPolicy("short", max_moves=12)
    network, rival = (Network.initial(LYNCH_FEATURES, np.random.default_rng(n), hidden=4) for n in (0, 1))
    moved = []
    for momentum in (0.0, 0.9):
        learner = new_learner(network, rate=1.0, momentum=momentum)
        train_one(opening, Colour.BLACK, learner, network, rival, policy, 1)
        moved.append(learner.parameters - network.parameters)
    assert not np.allclose(moved[0], moved[1])


def test_learning_from_the_rival_is_a_switch() -> None:
    opening, policy = Position.from_fen("B:W32,31,28:B1,2,5"), DrawPolicy("short", max_moves=12)
    network, rival = (Network.initial(LYNCH_FEATURES, np.random.default_rng(n), hidden=4) for n in (0, 1))
    traces = []
    for both in (False, True):
        learner = new_learner(network, rate=1.0, both_colours=both)
        train_one(opening, Colour.WHITE, learner, network, rival, policy, 1)
        traces.append(np.abs(learner.traces).max(axis=1) > 0)
    assert traces[0].tolist() == [False, True]
    assert traces[1].tolist() == [True, True]


def play_training_games(
    network: Network, results: Results, openings: Rows, *, depth: int = 1, table_bits: int = 10, **settings: Any
) -> list[float]:
    """Play as many training games as ``results`` has room for, against the network itself; the parameters learned."""
    learner, evaluation = new_learner(network, **settings), network.evaluation()
    training_games(
        openings, depth, learner, evaluation, network.evaluation(), limits_of(THESIS),
        np.array([1, 1 << 63], np.uint64), chance_state(np.random.default_rng(1)),
        new_workspace(table_bits), results,
    )  # fmt: skip
    parameters: list[float] = learner.parameters.tolist()
    return parameters


def test_training_games_repeat_themselves() -> None:
    results, again = np.full(30, 9, np.int8), np.full(30, 9, np.int8)
    settings = {"rate": 0.1, "exploration": 0.1}
    learned = play_training_games(networks(1)[0], results, OPENINGS, **settings)
    assert learned == play_training_games(networks(1)[0], again, OPENINGS, **settings)
    assert results.tolist() == again.tolist()
    assert set(results.tolist()) <= {-1, 0, 1}


def test_training_games_alternate_colours() -> None:
    # Black captures White's last man at once: the learner wins with Black, in every other game
    results = np.zeros(6, np.int8)
    play_training_games(networks(1)[0], results, position_rows([Position.from_fen("B:W18:B15,1")]), rate=0.1)
    assert results.tolist() == [1, -1] * 3


@pytest.mark.parametrize("depth", [2, 3])
def test_what_an_older_version_remembered_is_forgotten(depth: int) -> None:
    # few kings and no chance: positions recur, and their old values must not
    rows = position_rows([Position.from_fen("B:WK32,K31,20:BK1,K5,12"), Position.from_fen("W:WK29,30:B2,K4")])
    learned = [
        play_training_games(
            networks(1)[0], np.zeros(20, np.int8), rows, depth=depth, table_bits=bits, rate=0.3, both_colours=True
        )
        for bits in (12, 0)
    ]
    assert learned[0] == learned[1]
