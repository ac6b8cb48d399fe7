from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from checkers.draws import ACF, THESIS
from checkers.errors import SpecificationError
from checkers.fen import oddities
from checkers.openings import Ballot, Status, openings_named, three_move_ballots, two_move_ballots
from checkers.position import Colour, Position
from tests.reference import mailbox

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "pdn"

#: Numbers in the ACF list; 26 among them, which one published list leaves out.
BARRED = {3, 13, 26, 35, 44, 45, 48, 52, 77, 88, 94, 109, 114, 137, 145, 156, 168, 171}
MAIL = {6, 9, 16, 21, 34, 60, 61, 62, 105, 141, 153, 174}


def published_text(name: str) -> str:
    path = PUBLISHED / name
    if not path.exists():
        pytest.skip(f"the published ballots are not here: {name}")
    return path.read_text("ascii")


def published(name: str) -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = json.loads(published_text(f"pydraughts/{name}"))
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


def test_statuses_of_the_three_move_ballots_as_published() -> None:
    lists = published("3move_english.json")
    assert {*lists["standard"], *lists["lost"]} == set(lists["all"])
    lost = {int(line.split()[0]) for line in lists["lost"]}
    standard = {int(line.split()[0]) for line in lists["standard"]}
    # that list has number 26 in the wrong half, and 13 among the lost twice
    assert lost == BARRED - {26}
    assert standard == set(range(1, 175)) - BARRED | {26}


def test_the_acf_s_list_as_published() -> None:
    whole, _, filtered = published_text("checkers_engine/three_move_opening_list.txt").partition("red ones filtered")
    row = re.compile(r"(\d{3})\t(\d\d-\d\d) (\d\d-\d\d) (\d\d-\d\d)")  # a capture too has a dash there
    listed = {int(number): [squares(move) for move in moves] for number, *moves in row.findall(whole)}
    assert listed == {b.number: [squares(move) for move in b.moves] for b in three_move_ballots()}
    left = {int(number) for number, *_ in row.findall(filtered)}
    assert left == {ballot.number for ballot in three_move_ballots() if ballot.playable}


def test_two_move_ballots() -> None:
    ballots = two_move_ballots()
    assert len(ballots) == 49
    assert [ballot.number for ballot in ballots] == list(range(1, 50))
    assert len({ballot.position() for ballot in ballots}) == 49
    assert sum(ballot.playable for ballot in ballots) == 43


def test_two_move_ballots_as_published() -> None:
    lists = published("2move_english.json")
    lines = {f"{b.number:02d} {' '.join(b.moves)}": b for b in two_move_ballots()}
    assert set(lines) == set(lists["all"])
    assert all(Position.from_fen(lists["all"][line]) == ballot.position() for line, ballot in lines.items())
    assert {line for line, ballot in lines.items() if not ballot.playable} == set(lists["lost"])
    assert {line for line, ballot in lines.items() if ballot.playable} == set(lists["standard"])


def test_eleven_man_ballots_as_published() -> None:
    text = published_text("checkerboard/11_man_english.pdn")
    ballots = [Position.from_fen(fen) for fen in re.findall(r'\[FEN "([^"]*)"\]', text)]
    assert len(ballots) == len(set(ballots)) == 2400
    assert all(b.black.bit_count() == b.white.bit_count() == 11 for b in ballots)
    assert {ballot.side for ballot in ballots} == {Colour.BLACK}
    assert not any(ballot.kings or oddities(ballot) or not ballot.legal_moves() for ballot in ballots)
    # each comes about by our rules: a man of each side is taken off, then each side makes a move
    start = Position.start()
    starts = [
        start._replace(black=start.black & ~(1 << black), white=start.white & ~(1 << white))
        for black in range(12)
        for white in range(20, 32)
    ]
    once = {position.play(move) for position in starts for move in position.legal_moves()}
    assert set(ballots) <= {position.play(move) for position in once for move in position.legal_moves()}


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
    ("name", "count"),
    [("start", 1), ("two-move", 43), ("two-move-all", 49), ("three-move", 156), ("three-move-all", 174)],
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
    for known in ("start", "two-move", "two-move-all", "three-move", "three-move-all"):
        assert known in message
