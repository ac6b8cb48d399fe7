"""Text of a PDN file, a stretch of whole games at a time: plain or gzip, UTF-8 or what old programs wrote."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, cast

from checkers.errors import FileFormatError

CHUNK = 1 << 20
#: Bytes of one line, and characters of one game, from which on they are cut at the next best place.
LONGEST_LINE = 1 << 22
LONGEST_GAME = 1 << 22
_GZIP = b"\x1f\x8b"
#: Control characters that no text holds; 0x1A ends the text in old DOS files.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")
_GAME_STARTS = re.compile(r'\n[ \t]*\n(?=[ \t]*\[[ \t]*[A-Za-z]\w*[ \t]*")')
_GAME_STARTS_IN_BYTES = re.compile(rb'\r?\n[ \t]*\r?\n(?=[ \t]*\[[ \t]*[A-Za-z]\w*[ \t]*")')
_GAME_ENDS = re.compile(r'(?:1-0|0-1|0-0|1/2-1/2|\*)\s++(?=\[[ \t]*[A-Za-z]\w*[ \t]*"|1\.\s?\d)')
_RIGHT = "right would be a PDN file, plain text or .gz"


def check_file(path: Path) -> None:
    """Raise :class:`FileFormatError` when the path cannot be a PDN file."""
    if not path.exists():
        raise FileFormatError(f"{path}: no such file; {_RIGHT}")
    if path.is_dir():
        raise FileFormatError(f"{path}: is a directory; {_RIGHT}")
    if path.is_file() and path.stat().st_size == 0:
        raise FileFormatError(f"{path}: is empty; {_RIGHT}")


def stretches(path: Path, part: tuple[int, int] | None = None) -> Iterator[tuple[int, str]]:
    """Stretches of the file, or of a part of it, each of whole games, with the number of its first line there.

    Raises:
        FileFormatError: the file cannot be read, is binary, or is a damaged .gz.
    """
    return _split(_decoded(path, part))


def parts_of(path: Path, size: int) -> list[tuple[int, int]]:
    """Parts of about so many bytes that a plain file can be read in: its stretches are those of its parts.

    Each part is given by the offsets of its first byte and of the one behind its last; a part ends where a stretch
    does. A compressed file, one that cannot be read, and one without such places have one part at most.
    """
    try:
        end = path.stat().st_size
        with path.open("rb") as raw:
            if raw.read(2) == _GZIP:
                return [(0, end)]
            cuts = [0]
            for near in range(size, end - size // 2, size):
                cut = _cut_behind(raw, near)
                if cut > cuts[-1]:
                    cuts.append(cut)
    except OSError:
        return []
    return list(pairwise([*cuts, end]))


def _cut_behind(raw: IO[bytes], near: int) -> int:
    """Offset of the first place not far behind ``near`` where :func:`_split` cuts, 0 if there is none."""
    begin = max(near - 1000, 0)
    raw.seek(begin)
    window = raw.read(CHUNK // 4)
    for match in _GAME_STARTS_IN_BYTES.finditer(window, near - begin):
        before = _plain_line_ends(_decode(window[match.start() - 500 : match.start()]))
        if not before[-200:].rstrip().endswith("]"):
            return begin + match.end()
    return 0


def split_text(text: str) -> Iterator[tuple[int, str]]:
    """The same for a text."""
    return _split((_plain_line_ends(text),))


def _decoded(path: Path, part: tuple[int, int] | None) -> Iterator[str]:
    """The file, or a part of it, in pieces that end with a line, or with a word where lines are too long."""
    try:
        with path.open("rb") as raw:
            magic = raw.read(2)
            raw.seek(0)
            stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if magic == _GZIP else raw
            rest, first = b"", True
            begin, left = (0, None) if part is None else (part[0], part[1] - part[0])
            if begin:
                raw.seek(begin)
                first = False
            while chunk := stream.read(CHUNK if left is None else min(CHUNK, left)):
                left = None if left is None else left - len(chunk)
                if first:
                    _check_text(path, chunk)
                    chunk = chunk.removeprefix(b"\xef\xbb\xbf")
                    first = False
                chunk = rest + chunk
                cut = _end_of_lines(chunk)
                rest = chunk[cut:]
                if cut:
                    yield _plain_line_ends(_decode(chunk[:cut]))
            if first:
                raise FileFormatError(f"{path}: is empty; {_RIGHT}")
            if rest:
                yield _plain_line_ends(_decode(rest))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileFormatError(f"{path}: damaged gzip file ({error}); {_RIGHT}") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror or error}); {_RIGHT}") from None


def _end_of_lines(chunk: bytes) -> int:
    """Offset behind the last whole line, 0 if there is none yet; a last CR may be half a line end."""
    cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r", 0, -1)) + 1
    if cut == 0 and len(chunk) >= LONGEST_LINE:
        cut = chunk.rfind(b" ", 0, -1) + 1 or len(chunk)
    return cut


def _check_text(path: Path, chunk: bytes) -> None:
    if chunk[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileFormatError(f"{path}: is UTF-16; right would be UTF-8, CP1252 or Latin-1")
    if _BINARY.search(chunk):
        raise FileFormatError(f"{path}: is a binary file; {_RIGHT}")


def _decode(chunk: bytes) -> str:
    """UTF-8; where it is not, line by line UTF-8, CP1252 or Latin-1."""
    try:
        return chunk.decode()
    except UnicodeDecodeError:
        return "".join(_decode_line(line) for line in chunk.splitlines(keepends=True))


def _decode_line(line: bytes) -> str:
    for encoding in ("utf-8", "cp1252"):
        try:
            return line.decode(encoding)
        except UnicodeDecodeError:
            continue
    return line.decode("latin-1")


def _plain_line_ends(text: str) -> str:
    """The text with line feeds alone as line ends, without byte order marks and DOS end marks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\ufeff" in text:
        text = text.replace("\ufeff", "")
    return text.replace("\x1a", " ") if "\x1a" in text else text


def _split(pieces: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Cut between a blank line and a tag, unless a tag stands before them: it may be the same game's.

    A text without such places is cut behind results, and that must not happen before it is long: they may stand in a
    comment.
    """
    line, rest, searched = 1, "", 0
    for piece in pieces:
        text, begin = rest + piece, 0
        for cut in _GAME_STARTS.finditer(text, max(searched - 1000, 0)):
            if not text[max(begin, cut.start() - 200) : cut.start()].rstrip().endswith("]"):
                stretch = text[begin : cut.end()]
                yield line, stretch
                line += stretch.count("\n")
                begin = cut.end()
        if len(text) - begin > LONGEST_GAME:
            end = _last_game_end(text, begin)
            yield line, text[begin:end]
            line += text.count("\n", begin, end)
            begin = end
        rest = text[begin:]
        searched = len(rest)
    if rest:
        yield line, rest


def _last_game_end(text: str, begin: int) -> int:
    """Offset of the last place where a game seems to end; that of the last line or word if there is none."""
    window = LONGEST_GAME // 4
    for start in range(len(text) - window, begin - window, -window):
        ends = [match.end() for match in _GAME_ENDS.finditer(text, max(start - 1000, begin), start + window)]
        if ends:
            return ends[-1]
    return max(text.rfind("\n", begin), text.rfind(" ", begin)) + 1 or len(text)
