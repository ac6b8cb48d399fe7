from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from checkers.draws import ACF, THESIS
from checkers.errors import SpecificationError
from checkers.openings import Ballot, Status, openings_named, three_move_ballots, two_move_ballots
from checkers.position import Colour, Position
from tests.reference import mailbox

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "pdn" / "pydraughts"

#: Numbers in the ACF list; 26 among them, which one published list leaves out.
BARRED = {3, 13, 26, 35, 44, 45, 48, 52, 77, 88, 94, 109, 114, 137, 145, 156, 168, 171}
MAIL = {6, 9, 16, 21, 34, 60, 61, 62, 105, 141, 153, 174}


def published(name: str) -> dict[str, dict[str, str]]:
    path = PUBLISHED / name
    if not path.exists():
        pytest.skip(f"the published ballots are not here: {name}")
    content: dict[str, dict[str, str]] = json.loads(path.read_text())
    return content


def squares(text: str) -> list[int]:
    return [int(square) for square in text.replace("x", "-").split("-")]


def test_counts() -> None:
    ballots = three_move_ballots()
    assert [ballot.number for ballot in ballots] == list(range(1, 175))
    assert Counter(ballot.status for ballot in ballots) == {
        Status.CROSS_BOARD: 144,
        Status.MAIL: 12,
        Status.BARRED: 18,
    }
    assert {ballot.number for ballot in ballots if not ballot.playable} == BARRED
    assert {ballot.number for ballot in ballots if ballot.status is Status.MAIL} == MAIL


def test_ballots_are_legal_by_the_reference() -> None:
    for ballot in three_move_ballots():
        board = mailbox.Mailbox.start()
        for text in ballot.moves:
            [move] = [m for m in mailbox.legal_moves(board) if list(m.path) == squares(text)]
            assert bool(move.captures) == ("x" in text)
            board = mailbox.play(board, move)
        assert tuple(ballot.position()) == board.boards()


def test_ballots_lead_to_different_positions() -> None:
    positions = [ballot.position() for ballot in three_move_ballots()]
    assert len(set(positions)) == 174
    assert {position.side for position in positions} == {Colour.WHITE}


def test_ballots_are_three_ply_lines() -> None:
    # theory.md 7.1: 302 lines lead to 216 positions; the ballots are some of them
    ends = [Position.start()]
    for _ in range(3):
        ends = [position.play(move) for position in ends for move in position.legal_moves()]
    assert {ballot.position() for ballot in three_move_ballots()} < set(ends)


def test_three_move_ballots_as_published() -> None:
    lines = published("3move_english.json")["all"]
    assert len(lines) == 174
    for ballot, (line, fen) in zip(three_move_ballots(), sorted(lines.items()), strict=True):
        number, *moves = line.split()
        assert int(number) == ballot.number
        assert [squares(move) for move in moves] == [squares(move) for move in ballot.moves]
        assert Position.from_fen(fen) == ballot.position()


def test_two_move_ballots() -> None:
    ballots = two_move_ballots()
    assert len(ballots) == 49
    assert [ballot.number for ballot in ballots] == list(range(1, 50))
    assert len({ballot.position() for ballot in ballots}) == 49
    assert all(ballot.playable for ballot in ballots)


def test_two_move_ballots_as_published() -> None:
    lines = published("2move_english.json")["all"]
    assert {Position.from_fen(fen) for fen in lines.values()} == {b.position() for b in two_move_ballots()}


def test_game_of_a_ballot() -> None:
    ballot = three_move_ballots()[3]
    assert ballot == Ballot(4, ("9-13", "22-17", "13x22"), Status.CROSS_BOARD)
    game = ballot.game()
    assert [str(move) for move in game.moves] == list(ballot.moves)
    assert game.start == Position.start()
    assert game.position == ballot.position()
    assert game.policy == THESIS
    assert ballot.game(ACF).policy == ACF


@pytest.mark.parametrize(
    ("name", "count"), [("start", 1), ("two-move", 49), ("three-move", 156), ("three-move-all", 174)]
)
def test_openings_by_name(name: str, count: int) -> None:
    openings = openings_named(name)
    assert len(openings) == count
    assert openings == openings_named(name)


def test_start_is_the_start() -> None:
    [start] = openings_named("start")
    assert start.position() == Position.start()
    assert start.game().moves == []


def test_playable_ballots_are_not_barred() -> None:
    assert {ballot.number for ballot in openings_named("three-move")} == set(range(1, 175)) - BARRED


@pytest.mark.parametrize("name", ["", "four-move", "Three-Move"])
def test_unknown_openings(name: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        openings_named(name)
    message = str(caught.value)
    assert repr(name) in message
    for known in ("start", "two-move", "three-move", "three-move-all"):
        assert known in message
