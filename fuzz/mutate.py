"""A fuzzer of the PDN and FEN readers that needs nothing installed and does the same every time.

    .venv/bin/python -m fuzz.mutate --inputs 100000 --seed 1 FILE...

takes the files (``fuzz/corpus`` when none are named), cuts pieces out of them, damages these and reads the result as a
PDN file and, its lines, as FEN. Nothing but an :class:`checkers.errors.InputError` may come of it, whatever is accepted
must replay and be read again from what is written of it, and no megabyte may take longer than ten seconds. Counts are
printed at the end, and the first inputs that break a rule; ``--keep DIR`` keeps them. Then the exit status is 1.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import numpy as np

from checkers.errors import InputError
from checkers.pdn import AnnotatedGame, read_annotated, read_annotated_text, write_pdn
from checkers.position import Position

HERE = Path(__file__).resolve().parent
SECONDS_PER_MEGABYTE = 10.0
#: Time that any input may take, however small.
LEAST_SECONDS = 2.0
#: Pieces that are put into a text.
TOKENS = (
    *(b"{", b"}", b"(", b")", b"[", b"]", b'"', b"\\", b";", b"%", b"*", b"$", b"$1", b"!", b"?", b"!?", b"(?)", b"/"),
    *(b"\n", b"\r", b"\r\n", b"\n\n", b" ", b"\t", b"\x00", b"\x1a", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xa0"),
    *(b"1-0", b"0-1", b"1/2-1/2", b"1-1", b"0-0", b"1.", b"1...", b"11-15", b"11x15", b"22x15x8", b"a3-b4", b"99-99"),
    *(b'[FEN "', b'[FEN "B:W32:B1"]', b'[FEN "?:W32:BK1"]', b'[GameType "21,B,8,8,A0,0"]', b'[GameType "20"]'),
    *(b'[SetUp "1"]', b'/FEN "B:W1:B2"/', b"K", b"W", b"B:", b":", b",", b"-", b"x", b".", b"33", b"0", b"\xc2\xbd"),
)


class BrokenRuleError(Exception):
    """A reader did what none may do."""


class Mutator:
    """Makes damaged inputs out of sound ones; the same seed makes the same inputs."""

    def __init__(self, seeds: Sequence[bytes], seed: int) -> None:
        self._seeds = [text for text in seeds if text]
        self._rng = np.random.default_rng(seed)

    def __iter__(self) -> Iterator[bytes]:
        """Inputs without end."""
        while True:
            data = bytearray(self._piece(int(self._rng.integers(1, 1500))))
            for _ in range(int(self._rng.geometric(0.25))):
                self._damage(data)
            yield bytes(data[:200_000])

    def _below(self, limit: int) -> int:
        return int(self._rng.integers(max(limit, 1)))

    def _piece(self, length: int) -> bytes:
        """A piece of one of the inputs, mostly from the beginning of a game or a line."""
        text = self._seeds[self._below(len(self._seeds))]
        begin = self._below(len(text))
        if self._below(4):
            begin = max(text.rfind((b"[Event", b"\n")[self._below(2)], 0, begin), 0)
        return text[begin : begin + length]

    def _damage(self, data: bytearray) -> None:
        """One change in place."""
        at = self._below(len(data) + 1)
        length = self._below(20) + 1
        kind = self._below(8)
        if kind == 0:
            del data[at : at + length]
        elif kind == 1 and data:
            data[min(at, len(data) - 1)] = self._below(256)
        elif kind == 2:
            data[at:at] = data[at : at + length]
        elif kind == 3:
            data[at:at] = data[at : at + length] * (self._below(60) + 1)
        elif kind == 4:
            data[at : at + length] = self._piece(length)
        elif kind == 5:
            del data[at:]
        else:
            data[at:at] = TOKENS[self._below(len(TOKENS))]


def read_as_pdn(data: bytes, path: Path) -> Counter[str]:
    """Read a file with these bytes; count what it held.

    Raises:
        BrokenRuleError: a game that was accepted does not come back from what is written of it.
    """
    path.write_bytes(data)
    counts: Counter[str] = Counter()
    try:
        for game in read_annotated(path):
            counts["accepted" if isinstance(game, AnnotatedGame) else "rejected"] += 1
            if isinstance(game, AnnotatedGame):
                _written_and_read(game)
            elif "\n" in game.reason:
                raise BrokenRuleError(f"a reason of several lines: {game.reason!r}")
    except InputError as error:
        counts["files refused"] += 1
        if "\n" in str(error):
            raise BrokenRuleError(f"a message of several lines: {error}") from None
    return counts


def _written_and_read(game: AnnotatedGame) -> None:
    text = write_pdn(game)
    found = list(read_annotated_text(text))
    if len(found) != 1 or not isinstance(found[0], AnnotatedGame):
        raise BrokenRuleError(f"what was written is not one game: {text!r}")
    again = found[0]
    if again.line != game.line or again.record.result is not game.record.result:
        raise BrokenRuleError(f"another game comes back: {text!r}")
    if again.record.start != game.record.start or len(game.game().moves) != len(game.record.codes):
        raise BrokenRuleError(f"another start or length comes back: {text!r}")
    if write_pdn(again) != text:
        raise BrokenRuleError(f"another text comes back: {text!r}")


def read_as_fen(text: str) -> Counter[str]:
    """Read a FEN; count whether it is one.

    Raises:
        BrokenRuleError: a position that was read does not come back from its FEN.
    """
    try:
        position = Position.from_fen(text)
    except InputError as error:
        if "\n" in str(error):
            raise BrokenRuleError(f"a message of several lines: {error}") from None
        return Counter({"FEN refused": 1})
    if Position.from_fen(position.fen()) != position:
        raise BrokenRuleError(f"another position comes back: {text!r}")
    return Counter({"FEN accepted": 1})


def _too_long(number: int, frame: FrameType | None) -> None:
    raise BrokenRuleError("takes too long")


def run(seeds: Sequence[bytes], inputs: int, seed: int, found: Path | None = None) -> tuple[Counter[str], list[str]]:
    """Read so many damaged inputs; return counts and the rules broken, one line each.

    Args:
        seeds: the sound inputs.
        inputs: how many damaged ones to make of them.
        seed: of all chance.
        found: folder to keep inputs that break a rule in, at most 20.
    """
    counts: Counter[str] = Counter()
    broken: list[str] = []
    list(read_annotated_text("11-15 *"))  # loads the kernels, which no input shall be blamed for
    signal.signal(signal.SIGALRM, _too_long)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.pdn"
        for _, data in zip(range(inputs), Mutator(seeds, seed), strict=False):
            counts["inputs"] += 1
            counts["bytes"] += len(data)
            signal.setitimer(signal.ITIMER_REAL, max(LEAST_SECONDS, len(data) / 1e6 * SECONDS_PER_MEGABYTE))
            try:
                counts += read_as_pdn(data, path)
                for line in data[:2000].decode("latin-1").split("\n")[:3]:
                    counts += read_as_fen(line.partition('FEN "')[2].partition('"')[0] or line)
            except Exception as error:  # whatever it is, it is what we look for
                counts["broken"] += 1
                broken.append(f"input {counts['inputs']}: {type(error).__name__}: {error}"[:300].replace("\n", " "))
                if found and len(broken) <= 20:
                    found.mkdir(parents=True, exist_ok=True)
                    (found / f"{seed}-{counts['inputs']}.pdn").write_bytes(data)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    return counts, broken


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Read damaged PDN and FEN.")
    parser.add_argument("files", nargs="*", type=Path, help="sound inputs; the corpus when none are named")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for inputs that break a rule")
    options = parser.parse_args()
    files = options.files or sorted(path for path in (HERE / "corpus").rglob("*") if path.is_file())
    started = time.perf_counter()
    counts, broken = run([file.read_bytes() for file in files], options.inputs, options.seed, options.keep)
    figures = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{figures}; {time.perf_counter() - started:.0f} s, {memory} MB at most\n")
    sys.stdout.writelines(f"{line}\n" for line in broken[:20])
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
