"""Mining many times an archive in bounded memory, stopped and gone on with.

    python benchmarks/mining.py FILE --times 100 --played 20000 --folder BIG

makes BIG with so many copies of FILE's games, their tags changed, and so many games of our own players, and prints one
JSON object per step: games, states and rules found, seconds, and the peak of memory of the process that did it.

- "mine" reads two copies, a tenth of the copies, all copies, and all copies with our players' games; memory must
  not grow with the copies, which bring no new state.
- "add" puts all games into an archive, killed with SIGKILL several times and started again; what it holds in the end
  must be what one unbroken run holds (mined from the files).

Exit status 1 says that one of these did not hold. The figures depend on the machine; the two conditions do not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: How much more memory the copies may take than two of them: blocks, and what the allocator keeps.
TOLERANCE = 1.3
#: Chance of a random move of our players, who search one ply otherwise.
RANDOM_MOVES = 0.3
GAMES_IN_A_FILE = 2000

_TAG = re.compile(rb'^\[(Event|Date)\s+"([^"]*)"\]', re.MULTILINE)


def main() -> int:
    """Make the archive and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a PDN file, not compressed")
    parser.add_argument("--times", type=int, default=100, help="copies of its games")
    parser.add_argument("--played", type=int, default=20_000, help="games of our own players")
    parser.add_argument("--folder", type=Path, required=True, help="where the files and databases are made")
    parser.add_argument("--kills", type=int, default=3, help="how often the addition is killed")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    copies, played = make(options)
    mined = [
        worker("mine", options.folder / "rules.db", some)
        for some in (copies[:2], copies[: max(len(copies) // 10, 2)], copies, copies + played)
    ]
    two, _, all_copies, everything = mined
    bounded = all_copies["states"] == two["states"] and all_copies["megabytes"] < TOLERANCE * two["megabytes"]
    same = added(options, copies + played, everything)
    print(json.dumps({"memory grows with states alone": bounded, "a killed addition goes on": same}))
    return 0 if bounded and same else 1


def make(options: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    """The files of copies and of our players' games; those that are there already are kept."""
    options.folder.mkdir(parents=True, exist_ok=True)
    text = options.file.read_bytes()
    copies = []
    for number in range(options.times):
        path = options.folder / f"copy-{number:03}.pdn"
        copies.append(path)
        if not path.exists():
            changed = _TAG.sub(lambda tag, number=number: _changed(tag, number), text)  # type: ignore[misc]
            whole(path, changed if changed != text else b"%% copy %d\n" % number + text)
    played = []
    for number, begin in enumerate(range(0, options.played, GAMES_IN_A_FILE)):
        path = options.folder / f"played-{number:03}.pdn"
        played.append(path)
        if not path.exists():
            games = min(GAMES_IN_A_FILE, options.played - begin)
            whole(path, "\n".join(play(games, [options.seed, number])).encode())
    return copies, played


def _changed(tag: re.Match[bytes], number: int) -> bytes:
    """A tag of a copy: the event is another one, and so is the year."""
    if tag[1] == b"Event":
        return b'[Event "%s, copy %d"]' % (tag[2], number)
    year = re.match(rb"\d{4}", tag[2])
    return b'[Date "%d%s"]' % (int(year[0]) + number, tag[2][4:]) if year else tag[0]


def whole(path: Path, data: bytes) -> None:
    """Write a file at once."""
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.replace(path)


def play(games: int, seed: list[int]) -> Iterator[str]:
    """Games of our own players from the ballots: one ply of search over material, and random moves."""
    import numpy as np

    from checkers.evaluation import material
    from checkers.openings import openings_named
    from checkers.pdn import write_pdn
    from checkers.search import Searcher

    rng = np.random.default_rng(np.random.SeedSequence(seed))
    searcher, ballots = Searcher(material(), 1, table_bits=10), openings_named("three-move")
    for number in range(games):
        game = ballots[int(rng.integers(len(ballots)))].game()
        while not game.is_over:
            moves = game.legal_moves()
            random = len(moves) == 1 or rng.random() < RANDOM_MOVES
            game.play(moves[int(rng.integers(len(moves)))] if random else searcher.search(game.position).move)
        game.tags = {"Event": "own players", "Round": f"{seed[-1]}.{number}", "White": "a", "Black": "b"}
        yield write_pdn(game)


_MINE = """
import json, sys, time
from pathlib import Path
def work():
    from mining.archive import Archive
    from mining.miner import MiningOptions, mine_archive, mine_files
    from mining.rules import RuleBase
    how, target, *files = sys.argv[1:]
    started = time.perf_counter()
    if how == "add":
        with Archive(target) as archive:
            archive.add(files)
            mined = mine_archive(archive, MiningOptions())
    else:
        mined = mine_files(files, MiningOptions())
        RuleBase.write(mined, target)
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    report = mined.report
    print(json.dumps({"how": how, "games": report.sequences, "states": report.states, "pairs": report.pairs,
        "rules": report.rules, "seconds": round(time.perf_counter() - started, 1), "megabytes": round(peak)}))
work()
"""


def process(how: str, target: Path, files: list[Path]) -> subprocess.Popen[str]:
    """A process that mines or adds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _MINE, how, str(target), *map(str, files)]
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603


def worker(how: str, target: Path, files: list[Path]) -> dict[str, Any]:
    """What a process found, printed as well."""
    work = process(how, target, files)
    out, _ = work.communicate()
    if work.returncode:
        raise SystemExit(f"{how} failed with status {work.returncode}")
    found: dict[str, Any] = json.loads(out)
    print(json.dumps({"files": len(files), **found}), flush=True)
    return found


def added(options: argparse.Namespace, files: list[Path], expected: dict[str, Any]) -> bool:
    """Whether an archive holds everything after its addition was killed so often."""
    target = options.folder / "archive.db"
    for end in ("", "-wal", "-shm"):
        target.with_name(target.name + end).unlink(missing_ok=True)
    wait = max(expected["seconds"] / (options.kills + 1), 1.0)  # an addition takes longer than mining
    for _ in range(options.kills):
        work = process("add", target, files)
        time.sleep(wait)
        killed = work.poll() is None
        work.send_signal(signal.SIGKILL)
        work.communicate()
        print(json.dumps({"how": "add", "killed after": round(wait, 1), "at work": killed}), flush=True)
    found = worker("add", target, files)
    return all(found[name] == expected[name] for name in ("games", "states", "pairs", "rules"))


if __name__ == "__main__":
    sys.exit(main())
