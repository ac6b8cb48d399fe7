"""Specifications as text: what is written is read again, what is wrong is said in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.errors import SpecificationError
from checkers.specification import Specification

names = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,10}", fullmatch=True)
values = st.text(max_size=20) | st.text(',"\\= \t:', max_size=8)
specifications = st.builds(Specification, names, st.dictionaries(names, values, max_size=5))


@given(specifications)
def test_what_is_written_is_read_again(specification: Specification) -> None:
    assert Specification.parse(str(specification)) == specification


@given(specifications)
def test_writing_is_stable(specification: Specification) -> None:
    text = str(specification)
    assert str(Specification.parse(text)) == text


@given(st.text(max_size=40) | st.text('ab,"\\= :-1', max_size=20))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        found = Specification.parse(text)
    except SpecificationError as error:
        message = str(error)
    else:
        message = "fine"
        assert Specification.parse(str(found)) == found
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("random", "random", {}),
        (" random ", "random", {}),
        ("random:", "random", {}),
        ("ls-visiondraughts", "ls-visiondraughts", {}),
        ("alphabeta:depth=8", "alphabeta", {"depth": "8"}),
        ("alphabeta: depth = 8 , eval=material", "alphabeta", {"depth": "8", "eval": "material"}),
        ("alphabeta:depth=8,", "alphabeta", {"depth": "8"}),
        ("network:file=C:/nets/a=b.npz", "network", {"file": "C:/nets/a=b.npz"}),
        ("chebr:library=sqlite:///cases.db", "chebr", {"library": "sqlite:///cases.db"}),
        ('random:name="a, b"', "random", {"name": "a, b"}),
        (r'random:name="say \"no\" \\"', "random", {"name": r'say "no" \ '.strip()}),
        ('random:name=""', "random", {"name": ""}),
        ("random:name=", "random", {"name": ""}),
        ("random:name=λ", "random", {"name": "λ"}),
    ],
)
def test_what_is_read(text: str, name: str, options: dict[str, str]) -> None:
    assert Specification.parse(text) == (name, options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a player; right would be NAME or NAME:key=value,key=value"),
        (":depth=3", "':depth=3' is not a player"),
        ("3x:depth=3", "'3x:depth=3' is not a player"),
        ("alpha beta", "'alpha beta' is not a player"),
        ("alphabeta:depth", "player 'alphabeta:depth': 'depth' is not key=value; quote a value with a comma"),
        ("alphabeta:=3", "'=3' is not key=value"),
        ("alphabeta:depth=3,,eval=material", "',eval=material' is not key=value"),
        ("alphabeta:name=a,b", "'b' is not key=value; quote a value with a comma"),
        ('alphabeta:name="a', "'name=\"a' is not key=value"),
        ('alphabeta:name="a"b', "'name=\"a\"b' is not key=value"),
        ("alphabeta:depth=3,depth=4", "player 'alphabeta:depth=3,depth=4': the key depth is given twice"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        Specification.parse(text)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
