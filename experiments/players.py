"""Builds players from specifications: networks, case libraries and rule bases included (design, section 2).

The options of each kind are a pydantic model: unknown keys and wrong values are refused in one line.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from casebase.decision import AceRlPlayer, Rules
from casebase.elicitation import ChebrPlayer
from casebase.library import CaseLibrary
from casebase.ratings import rating_named
from checkers.errors import SpecificationError
from checkers.evaluation import material, reference
from checkers.players import Player, RandomPlayer, SearchIdentity, SearchPlayer
from checkers.specification import Specification
from learners.network import Network
from mining.rules import RuleBase


class Options(BaseModel):
    """What every kind of player takes."""

    model_config = ConfigDict(extra="forbid")
    name: str | None = Field(default=None, description="the name in tables and reports")


class AlphaBetaOptions(Options):
    """Alpha-beta over a hand-written evaluation."""

    eval: Literal["material", "reference"] = "material"
    depth: int = Field(default=4, ge=1, le=30)


class ReferenceOptions(Options):
    """Alpha-beta over the reference evaluation."""

    depth: int = Field(default=9, ge=1, le=30)


class NetworkOptions(Options):
    """Alpha-beta over a trained network."""

    file: str
    depth: int = Field(default=4, ge=1, le=30)


class CaseOptions(Options):
    """What players with a case library take."""

    rating: Literal["dm", "gpm", "ucm"] = "gpm"
    library: str | None = Field(default=None, description="database of the case library; none: in memory")
    opponent: str = Field(default="opponent", description="whose profile the library holds")
    learn: bool = True


class AceRlOptions(CaseOptions):
    """ACE-RL-Checkers (theory.md 2.9)."""

    identity: str
    rules: str | None = Field(default=None, description="database of the experience rules; none: no rules")
    depth: int = Field(default=4, ge=1, le=30)
    opening_moves: int = Field(default=10, ge=0)
    delta: float = Field(default=0.05, ge=0)
    temperature: float = Field(default=0.05, ge=0)


def _random(options: Options, name: str) -> Player:
    return RandomPlayer(name)


def _alphabeta(options: AlphaBetaOptions, name: str) -> Player:
    evaluation = {"material": material, "reference": reference}[options.eval]()
    return SearchPlayer(name, evaluation, options.depth)


def _reference(options: ReferenceOptions, name: str) -> Player:
    return SearchPlayer(name, reference(), options.depth)


def _network(options: NetworkOptions, name: str) -> Player:
    return SearchPlayer(name, Network.load(options.file).evaluation(), options.depth)


def _library(options: CaseOptions) -> CaseLibrary:
    return CaseLibrary(options.library, options.opponent, rating_named(options.rating))


def _chebr(options: CaseOptions, name: str) -> Player:
    return ChebrPlayer(_library(options), learn=options.learn, name=name)


def _ace_rl(options: AceRlOptions, name: str) -> Player:
    identity = SearchIdentity(Network.load(options.identity).evaluation(), options.depth, options.delta)
    rules: Rules | None = RuleBase.open(options.rules) if options.rules else None
    return AceRlPlayer(
        _library(options),
        identity,
        rules=rules,
        opening_moves=options.opening_moves,
        delta=options.delta,
        temperature=options.temperature,
        learn=options.learn,
        name=name,
    )


class Kind(NamedTuple):
    """A kind of player: its options and how it is built."""

    options: type[Options]
    build: Callable[[Any, str], Player]
    summary: str


KINDS = {
    "random": Kind(Options, _random, "plays any legal move"),
    "alphabeta": Kind(AlphaBetaOptions, _alphabeta, "alpha-beta over a hand-written evaluation"),
    "reference": Kind(ReferenceOptions, _reference, "alpha-beta over the reference evaluation, the judge"),
    "network": Kind(NetworkOptions, _network, "alpha-beta over a trained network (LS-VisionDraughts)"),
    "chebr": Kind(CaseOptions, _chebr, "cases and random exploration (CHEBR)"),
    "ace-rl": Kind(AceRlOptions, _ace_rl, "cases, experience rules, then the identity (ACE-RL-Checkers)"),
}


def build_player(text: str) -> Player:
    """The player that a specification names.

    Raises:
        SpecificationError: unknown kind or key, or a value that does not fit.
        InputError: a file or database that it names cannot be used.
    """
    specification = Specification.parse(text)
    kind = KINDS.get(specification.name)
    if kind is None:
        raise SpecificationError(
            f"player {specification.name!r} is unknown{_nearest(specification.name, KINDS)}; "
            f"there are {', '.join(KINDS)}"
        )
    try:
        options = kind.options.model_validate(specification.options)
    except ValidationError as error:
        raise SpecificationError(" ".join(_one_line(text, kind, error).split())) from None
    return kind.build(options, options.name or text)


def _nearest(word: str, known: Any) -> str:
    near = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {near[0]}?)" if near else ""


def _one_line(text: str, kind: Kind, error: ValidationError) -> str:
    """The first thing that is wrong with the options, and what would be right."""
    found = error.errors()
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    key = str(first["loc"][0])
    keys = ", ".join(kind.options.model_fields)
    if first["type"] == "extra_forbidden":
        return f"player {text!r}: the key {key!r} is unknown{_nearest(key, kind.options.model_fields)}; keys are {keys}"
    if first["type"] == "missing":
        return f"player {text!r}: the key {key!r} is needed; keys are {keys}"
    return f"player {text!r}: {key}={first['input']!s:.60}: {first['msg'][0].lower()}{first['msg'][1:]}"
