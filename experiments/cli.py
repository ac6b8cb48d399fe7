"""The ace-checkers command: what there is, and how failures become one line and an exit status (design, section 4).

Exit status: 0 done; 1 the work failed; 2 the input or the options were wrong, or nothing in the input could be used.
With ``--json`` one object goes to standard output; progress and messages go to standard error. Everything heavy is
imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable

import typer

from checkers.errors import InputError
from experiments import commands_endgame, commands_game, commands_learning

#: Errors of the system that mean the input or the options were wrong, not the work.
_WRONG_INPUT = (errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.EACCES, errno.EPERM)


def build_app() -> typer.Typer:
    """The command with all its subcommands."""
    app = _group("Evolutionary and case-based learning in English checkers.")
    app.command()(commands_learning.demo)
    # unknown options are let through, so that -3 is read as a depth and refused as one
    app.command(context_settings={"ignore_unknown_options": True})(commands_game.perft)
    app.command()(commands_game.analyse)
    app.command()(commands_game.match)
    app.command()(commands_game.bench)
    app.command()(commands_learning.mine)
    app.command()(commands_learning.rules)
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
        "cases": ("The case library.", {"stats": commands_learning.cases_stats}),
        "archive": ("Archives of our own games.", {"make": commands_learning.archive_make}),
    }
    for name, (summary, commands) in groups.items():
        group = _group(summary)
        group.callback()(_nothing)  # keeps the name of a group's only command
        for command, function in commands.items():
            group.command(command)(function)
        app.add_typer(group, name=name, help=summary)
    return app


def _group(summary: str) -> typer.Typer:
    return typer.Typer(help=summary, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def _nothing() -> None:
    pass


def main() -> None:
    """Run the command; every failure is one line on standard error and an exit status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command with these arguments; return the exit status."""
    try:
        status = build_app()(arguments, standalone_mode=False)
        return status if isinstance(status, int) else 0
    except InputError as error:
        return _failure(str(error), 2)
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _failure(f"{named}{error.strerror or error}", 2 if error.errno in _WRONG_INPUT else 1)
    except KeyboardInterrupt:
        return _failure("interrupted", 130)
    except (typer.Exit, typer.Abort) as stop:
        return int(getattr(stop, "exit_code", 1))
    except typer.TyperException as error:
        return _failure(f"{error.format_message().rstrip('.')}; --help tells what would be right", error.exit_code)


def _failure(message: str, status: int) -> int:
    print(f"ace-checkers: {' '.join(message.split())}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
