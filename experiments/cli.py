"""The ace-checkers command: what there is, and how failures become one line and an exit status (design, section 4).

Exit status: 0 done; 1 the work failed; 2 the input or the options were wrong, or nothing in the input could be used.
With ``--json`` one object goes to standard output; progress and messages go to standard error. Everything heavy is
imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Annotated

import typer

from checkers.errors import InputError
from experiments import (
    commands_archive,
    commands_endgame,
    commands_game,
    commands_learning,
    commands_mining,
    commands_patterns,
    commands_tuning,
)

#: Exit status of what Ctrl-C has stopped.
INTERRUPTED = 130
#: Errors of the system that mean the input or the options were wrong, not the work.
_WRONG_INPUT = (errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.EACCES, errno.EPERM)


def build_app() -> typer.Typer:
    """The command with all its subcommands."""
    app = _group("Evolutionary and case-based learning in English checkers.")
    app.callback()(_options)
    app.command()(commands_learning.demo)
    # unknown options are let through, so that -3 is read as a depth and refused as one
    app.command(context_settings={"ignore_unknown_options": True})(commands_game.perft)
    app.command()(commands_game.analyse)
    app.command()(commands_game.match)
    app.command()(commands_game.bench)
    app.command()(commands_mining.mine)
    app.add_typer(_rules(), name="rules")
    app.command()(commands_learning.train)
    groups: dict[str, tuple[str, dict[str, Callable[..., None]]]] = {
        "egdb": (
            "Endgame databases.",
            {
                "build": commands_endgame.egdb_build,
                "stats": commands_endgame.egdb_stats,
                "probe": commands_endgame.egdb_probe,
            },
        ),
        "pdn": ("PDN archives.", {"check": commands_game.pdn_check}),
        "evolve": ("DEAP evolution.", {"features": commands_learning.evolve_features}),
        "tune": ("Hand-written evaluations.", {"reference": commands_tuning.tune_reference}),
        "cases": ("The case library.", {"stats": commands_learning.cases_stats}),
        "archive": (
            "Archives of games.",
            {
                "make": commands_learning.archive_make,
                "add": commands_archive.archive_add,
                "stats": commands_archive.archive_stats,
                "openings": commands_archive.archive_openings,
                "player": commands_archive.archive_player,
                "lines": commands_patterns.archive_lines,
                "plans": commands_patterns.archive_plans,
                "novelty": commands_patterns.archive_novelty,
            },
        ),
    }
    for name, (summary, commands) in groups.items():
        group = _group(summary)
        group.callback()(_nothing)  # keeps the name of a group's only command
        for command, function in commands.items():
            group.command(command)(function)
        app.add_typer(group, name=name, help=summary)
    return app


def _rules() -> typer.Typer:
    """The command ``rules``, which has commands of its own beside what it does itself."""
    rules = typer.Typer(add_completion=False, invoke_without_command=True, pretty_exceptions_enable=False)
    rules.callback()(commands_mining.rules)
    rules.command("evaluate")(commands_mining.rules_evaluate)
    rules.command("curve")(commands_mining.rules_curve)
    return rules


def _group(summary: str) -> typer.Typer:
    return typer.Typer(help=summary, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def _nothing() -> None:
    pass


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(version("ace-rl-checkers"))
        raise typer.Exit(0)


def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and stop.")
    ] = False,
) -> None:
    """Evolutionary and case-based learning in English checkers."""


def main() -> None:
    """Run the command; every failure is one line on standard error and an exit status.

    The work is done in a thread beside this one, which stays free to take Ctrl-C: a kernel does not look at signals.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show stops nothing
    statuses: list[int] = []
    work = threading.Thread(target=lambda: statuses.append(run(sys.argv[1:])), daemon=True)
    try:
        work.start()
        work.join()
    except KeyboardInterrupt:
        status = _failure("interrupted", INTERRUPTED)
        if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():  # worker processes end with us
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.killpg(0, signal.SIGTERM)
        os._exit(status)
    sys.exit(statuses[0] if statuses else 1)


def run(arguments: list[str]) -> int:
    """Run the command with these arguments; return the exit status."""
    try:
        status = build_app()(arguments, standalone_mode=False)
        if status == INTERRUPTED:  # typer's way to say that it was interrupted
            return _failure("interrupted", INTERRUPTED)
        return status if isinstance(status, int) else 0
    except InputError as error:
        return _failure(str(error), 2)
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _failure(f"{named}{error.strerror or error}", 2 if error.errno in _WRONG_INPUT else 1)
    except (KeyboardInterrupt, typer.Abort):
        return _failure("interrupted", INTERRUPTED)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        return _failure(f"{message}; --help tells what would be right", error.exit_code) if message else 2
    except MemoryError as error:
        return _failure(f"there is not enough memory: {error}; right would be smaller numbers", 1)
    except Exception as error:
        if os.environ.get("ACE_CHECKERS_TRACEBACK"):
            raise
        named = f"{type(error).__name__}: {error}"
        return _failure(f"this should not have happened ({named}); ACE_CHECKERS_TRACEBACK=1 shows where", 1)


def _failure(message: str, status: int) -> int:
    print(f"ace-checkers: {' '.join(message.split())}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
