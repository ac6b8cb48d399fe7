"""Runs independent tasks on several workers through joblib; results and their order do not depend on how many.

Threads serve tasks that live in kernels, which release the GIL; processes serve games between Python players.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from checkers.errors import InputError


def run_tasks(
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
    *,
    workers: int,
    prefer: Literal["threads", "processes"] = "threads",
) -> Iterator[Any]:
    """Yield ``function(task)`` for each task, in order, as they are done."""
    if workers < 1:
        raise InputError(f"workers is {workers}; right would be 1 or more")
    if workers == 1:
        yield from map(function, tasks)
        return
    import joblib

    # when Ctrl-C ends everything at once, what joblib's helper process finds to clean up is nobody's mistake
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
    parallel = joblib.Parallel(n_jobs=workers, prefer=prefer, return_as="generator", batch_size=1)
    yield from parallel(joblib.delayed(function)(task) for task in tasks)


def thread_map(workers: int) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]:
    """A map that runs its calls in threads."""
    return lambda function, tasks: run_tasks(function, tasks, workers=workers)
