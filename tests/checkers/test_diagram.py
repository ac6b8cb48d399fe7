from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from checkers.diagram import svg_board, text_board
from checkers.position import Colour, Position
from tests.strategies import setup_positions

CORNERS = Position.from_fen("B:W21-31,K32:BK1,2-12")
SVG = "{http://www.w3.org/2000/svg}"


def test_text_board() -> None:
    assert CORNERS.board().splitlines() == [
        "  B   b   b   b",
        "b   b   b   b",
        "  b   b   b   b",
        ".   .   .   .",
        "  .   .   .   .",
        "w   w   w   w",
        "  w   w   w   w",
        "w   w   w   W",
    ]


def test_text_board_from_black_s_side() -> None:
    assert CORNERS.board(bottom=Colour.BLACK, numbers=True).splitlines() == [
        "32    W   w   w   w  29",
        "28  w   w   w   w    25",
        "24    w   w   w   w  21",
        "20  .   .   .   .    17",
        "16    .   .   .   .  13",
        "12  b   b   b   b     9",
        " 8    b   b   b   b   5",
        " 4  b   b   b   B     1",
    ]


def test_text_board_in_unicode() -> None:
    assert Position.from_fen("B:WK22,32:B1,K7").board(unicode=True).splitlines() == [
        "  ⛂   ·   ·   ·",
        "·   ·   ⛃   ·",
        "  ·   ·   ·   ·",
        "·   ·   ·   ·",
        "  ·   ·   ·   ·",
        "·   ⛁   ·   ·",
        "  ·   ·   ·   ·",
        "·   ·   ·   ⛀",
    ]


@settings(max_examples=50)
@given(setup_positions())
def test_the_board_turned_is_the_turned_board(position: Position) -> None:
    # the other way up with colours exchanged, every character changes its case of colour only
    exchange = str.maketrans("bBwW", "wWbB")
    assert text_board(position, bottom=Colour.BLACK) == text_board(position.half_turn()).translate(exchange)


def squares_with_text(root: ET.Element) -> dict[str, tuple[float, float]]:
    return {text.text or "": (float(text.attrib["x"]), float(text.attrib["y"])) for text in root.iter(f"{SVG}text")}


def discs(root: ET.Element) -> list[tuple[float, float]]:
    return [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{SVG}circle") if c.attrib["r"] == "18"]


def test_svg_labels_every_dark_square() -> None:
    labels = squares_with_text(ET.fromstring(svg_board(CORNERS)))
    assert set(labels) == {str(square) for square in range(1, 33)}
    assert labels["1"] == (56.5, 14)  # second column of the first row
    assert labels["29"] == (6.5, 364)  # White's left corner
    turned = squares_with_text(ET.fromstring(svg_board(CORNERS, bottom=Colour.BLACK)))
    assert turned["32"] == labels["1"]
    assert turned["4"] == labels["29"]
    assert not squares_with_text(ET.fromstring(svg_board(CORNERS, numbers=False)))


@settings(max_examples=30)
@given(setup_positions())
def test_svg_shows_every_piece(position: Position) -> None:
    root = ET.fromstring(position.svg())
    assert len(discs(root)) == position.pieces
    crowns = [p for p in root.iter(f"{SVG}path") if p.attrib.get("transform")]
    assert len(crowns) == position.kings.bit_count()
    assert (root.findtext(f"{SVG}title") or "").endswith(f"to move: {position.fen()}")
    turned = ET.fromstring(position.svg(bottom=Colour.BLACK))
    assert sorted(discs(turned)) == sorted((408 - x, 408 - y) for x, y in discs(root))


def test_svg_arrow_follows_the_path() -> None:
    before = Position.from_fen("W:WK14:BK10,11,15,K18,19,20")
    move = before.move("14x7x16x23x14")
    root = ET.fromstring(before.play(move).svg(move=move, size=300))
    assert root.attrib["width"] == root.attrib["height"] == "300"
    [line] = root.iter(f"{SVG}polyline")
    points = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
    assert points[:4] == [(129, 179), (229, 79), (329, 179), (229, 279)]
    crosses = [p for p in root.iter(f"{SVG}path") if p.attrib.get("stroke") == "#b3261e"]
    assert len(crosses) == 4
    tinted = [r for r in root.iter(f"{SVG}rect") if r.attrib["fill"] == "#6f7d22"]
    assert len(tinted) == 4  # it ends where it began
    assert not list(ET.fromstring(before.svg()).iter(f"{SVG}polyline"))


@pytest.mark.parametrize("bottom", Colour)
def test_svg_arrow_of_a_quiet_move_stays_on_its_squares(bottom: Colour) -> None:
    start = Position.start()
    move = start.move("11-15")
    root = ET.fromstring(svg_board(start.play(move), move=move, bottom=bottom))
    labels = squares_with_text(root)
    [head] = root.iter(f"{SVG}polygon")
    tip = tuple(map(float, head.attrib["points"].split()[1].split(",")))
    assert tip == (labels["15"][0] + 22.5, labels["15"][1] + 15)


def test_notebooks_show_the_diagram() -> None:
    assert CORNERS._repr_svg_() == CORNERS.svg()
