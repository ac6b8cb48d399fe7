"""Players from specifications: what each kind takes, and one line for everything that does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from casebase.decision import AceRlPlayer
from casebase.elicitation import ChebrPlayer
from casebase.library import CaseLibrary
from casebase.ratings import rating_named
from checkers.draws import THESIS
from checkers.errors import InputError, SpecificationError
from checkers.game import Game
from checkers.openings import openings_named
from checkers.pdn import read_pdn, write_pdn
from checkers.players import RandomPlayer, SearchPlayer, Why
from checkers.position import Colour
from checkers.specification import Specification
from experiments.players import KINDS, build_player
from experiments.tournament import play_game
from learners.network import LYNCH_FEATURES, Network
from mining.rules import RuleBase


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "net, first.npz"  # the comma has to be quoted
    Network.initial(LYNCH_FEATURES, np.random.default_rng(0)).save(path)
    return path


START = openings_named("start")[0]


def specified(kind: str, **options: object) -> str:
    return str(Specification(kind, {key: str(value) for key, value in options.items()}))


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("random", {}, RandomPlayer),
        ("alphabeta", {"eval": "material", "depth": 2}, SearchPlayer),
        ("alphabeta", {"eval": "reference", "depth": 2}, SearchPlayer),
        ("reference", {"depth": 2}, SearchPlayer),
        ("network", {"file": "{net}", "depth": 2}, SearchPlayer),
        ("chebr", {"rating": "dm", "learn": "no", "opponent": "Anna"}, ChebrPlayer),
        ("ace-rl", {"identity": "{net}", "depth": 1, "delta": 0, "temperature": 0.5, "learn": "false"}, AceRlPlayer),
    ],
)
def test_every_kind_is_built_and_plays(name: str, options: dict[str, object], kind: type, net: Path) -> None:
    filled = {key: str(value).format(net=net) for key, value in options.items()}
    text = specified(name, **filled)
    player = build_player(text)
    assert isinstance(player, kind)
    assert player.name == text
    named = build_player(specified(name, **filled, name="A, the first"))
    assert named.name == "A, the first"
    played = play_game(player, named, START, Colour.WHITE, np.random.SeedSequence(1), THESIS)
    assert played.game.is_over


def test_every_kind_is_tried_above() -> None:
    assert set(KINDS) == {"random", "alphabeta", "reference", "network", "chebr", "ace-rl"}
    assert all(kind.summary for kind in KINDS.values())


def test_options_reach_the_player(net: Path) -> None:
    decision = build_player("alphabeta:depth=3")
    decision.begin(Colour.BLACK, np.random.default_rng(0))
    assert decision.choose(Game()).depth == 3
    ace: Any = build_player(specified("ace-rl", identity=net, delta=0.25, temperature=0.5, opening_moves=3, learn="no"))
    assert (ace._delta, ace._temperature, ace._opening_moves, ace.learn) == (0.25, 0.5, 3, False)
    assert ace._identity._window >= 0.25
    assert ace._rules is None


def test_a_library_in_a_file_keeps_what_was_learned(net: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'cases.db'}"
    text = specified("ace-rl", identity=net, depth=1, library=url, opponent="random, the first")
    played = play_game(build_player(text), RandomPlayer(), START, Colour.BLACK, np.random.SeedSequence(2), THESIS)
    assert played.decisions[Why.IDENTITY] > 0
    assert len(CaseLibrary(url, "random, the first", rating_named("gpm"))) > 0
    assert len(CaseLibrary(url, "someone else", rating_named("gpm"))) == 0


NEAREST = [
    ("randm", "player 'randm' is unknown (did you mean random?); there are random, alphabeta, reference, network, "),
    ("ace_rl:identity=x", "player 'ace_rl' is unknown (did you mean ace-rl?)"),
    ("Alphabeta", "player 'Alphabeta' is unknown (did you mean alphabeta?)"),
    ("zzz", "player 'zzz' is unknown; there are"),
    ("random:depth=3", "the key 'depth' is unknown; keys are name"),
    ("random:nmae=x", "the key 'nmae' is unknown (did you mean name?); keys are name"),
    ("alphabeta:dpeth=3", "the key 'dpeth' is unknown (did you mean depth?); keys are name, eval, depth"),
    ("alphabeta:Depth=3", "the key 'Depth' is unknown (did you mean depth?)"),
    ("alphabeta:evl=material", "the key 'evl' is unknown (did you mean eval?)"),
    ("chebr:ratings=dm", "the key 'ratings' is unknown (did you mean rating?)"),
    ("ace-rl:identity=x,opening-moves=3", "the key 'opening-moves' is unknown (did you mean opening_moves?)"),
    ("ace-rl:identity=x,temprature=3", "the key 'temprature' is unknown (did you mean temperature?)"),
    ("network", "player 'network': the key 'file' is needed; keys are name, file, depth"),
    ("ace-rl:rating=dm", "the key 'identity' is needed"),
    ("alphabeta:depth=0", "depth=0: input should be greater than or equal to 1"),
    ("alphabeta:depth=31", "depth=31: input should be less than or equal to 30"),
    ("alphabeta:depth=", "depth=: input should be a valid integer"),
    ("alphabeta:depth=3.5", "depth=3.5: input should be a valid integer"),
    ("alphabeta:depth=deep", "depth=deep: input should be a valid integer"),
    ("alphabeta:eval=materiel", "eval=materiel: input should be 'material' or 'reference'"),
    ("chebr:rating=elo", "rating=elo: input should be 'dm', 'gpm' or 'ucm'"),
    ("chebr:learn=perhaps", "learn=perhaps: input should be a valid boolean"),
    ("ace-rl:identity=x,delta=-1", "delta=-1: input should be greater than or equal to 0"),
    ("ace-rl:identity=x,delta=nan", "delta=nan: input should be greater than or equal to 0"),
    ("ace-rl:identity=x,opening_moves=-1", "opening_moves=-1: input should be greater than or equal to 0"),
]


@pytest.mark.parametrize(("text", "message"), NEAREST, ids=[text for text, _ in NEAREST])
def test_what_does_not_fit_is_said_in_one_line(text: str, message: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        build_player(text)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_an_infinite_delta_is_refused(net: Path) -> None:
    with pytest.raises(SpecificationError, match="delta is inf"):
        build_player(specified("ace-rl", identity=net, delta="inf"))


@pytest.mark.parametrize("text", ["network:fiel=net.npz", "ace-rl:identty=net.npz"])
def test_a_misspelt_key_is_named_before_the_one_that_is_missing_for_it(text: str) -> None:
    wrong = text.partition(":")[2].partition("=")[0]
    with pytest.raises(SpecificationError, match=f"the key '{wrong}' is unknown .did you mean"):
        build_player(text)


@pytest.mark.parametrize(
    "text",
    [
        'alphabeta:depth="3\n4"',
        'alphabeta:"dep\nth"=3',
        "random:depth\n=3",
        "a\nb:c=d",
    ],
)
def test_line_ends_in_a_specification_stay_out_of_the_message(text: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        build_player(text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("network:file={missing}", "network file {missing} does not exist"),
        ("network:file={folder}", "{folder} is a folder"),
        ("network:file={text}", "{text} is not a network file"),
        ("ace-rl:identity={text}", "{text} is not a network file"),
        ("ace-rl:identity={net},rules={missing}", "database {missing}: there is no such file"),
        ("ace-rl:identity={net},rules={text}", "database {text}: it is not a SQLite database"),
        ("chebr:library={text}", "database {text}: it is not a SQLite database"),
        ("chebr:library={missing}/x.db", "database {missing}/x.db: there is no folder {missing}"),
        ("chebr:library={folder}", "database {folder}: it is a folder"),
        ("chebr:library=nosql://x", "there is no driver for 'nosql'"),
    ],
)
def test_files_and_databases_that_cannot_be_used(text: str, message: str, net: Path, tmp_path: Path) -> None:
    plain = tmp_path / "net.npz"
    plain.write_bytes(net.read_bytes())
    (tmp_path / "text").write_text("not a network\n" * 300)
    names = {"missing": tmp_path / "missing", "folder": tmp_path, "text": tmp_path / "text", "net": plain}
    with pytest.raises(InputError) as caught:
        build_player(text.format(**names))
    assert message.format(**names) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_rules_of_a_file_are_used(net: Path, tmp_path: Path) -> None:
    games = [
        play_game(RandomPlayer(), RandomPlayer(), START, Colour.BLACK, np.random.SeedSequence(n), THESIS)
        for n in (1, 2)
    ]
    archive, url = tmp_path / "games.pdn", f"sqlite:///{tmp_path / 'rules.db'}"
    archive.write_text("\n".join(write_pdn(played.game) for played in games), encoding="utf-8")
    RuleBase.build(read_pdn(archive), url, min_count=1)
    player = build_player(specified("ace-rl", identity=net, rules=url, temperature=0))
    player.begin(Colour.BLACK, np.random.default_rng(0))
    assert player.choose(Game()).why is Why.RULE
