"""pytest: tests that fail if the code under test leaks.

    @pytest.mark.no_growth(rounds=12, warmup=3, budget="10KiB/round")
    def test_request(client):
        client.get("/")

    def test_parser(memory_growth):
        memory_growth(lambda: parse(TEXT), budget="2KiB/round")

The body runs `warmup` times, then `rounds` times, with a tracemalloc snapshot after each round. The test fails if one
function grows by more than the budget, less two standard deviations, in two runs of the rounds that follow each other.
"""

from __future__ import annotations

import contextlib
import linecache
import logging
import os
import tempfile
import tracemalloc
from typing import Any, Callable

import pytest

ROUNDS = 12  # snapshots; verdicts need eight
WARMUP = 3  # rounds in which caches fill
BUDGET = "512B/round"  # half of the smallest leak that is to be found, 1 KiB a round
_JUDGED_FROM = 8
_MOST_RUNS = 3  # of the rounds: two that have to agree, and one that a long warm-up fills


class MemoryGrowth(AssertionError):
    """The code under test leaks. `series` has the answer."""

    series: Any = None


def _step_budget(budget: str) -> str:
    """"10KiB/round" as snapdiff writes it: "culprit:10KiB/step"."""
    amount, slash, per = budget.partition("/")
    if slash and per != "round":
        raise ValueError(f"budget: found {budget!r}, expected an amount a round, such as '10KiB/round'")
    return f"culprit:{amount}/step"


def _forget_logs() -> None:
    """pytest keeps each log record of a test until its end, which is no leak of the code under test."""
    for handler in logging.getLogger().handlers:
        if type(handler).__module__ == "_pytest.logging" and hasattr(handler, "reset"):
            handler.reset()


def check_growth(body: Callable[[], Any], *, rounds: int = ROUNDS, warmup: int = WARMUP, budget: str = BUDGET) -> Any:
    """Runs `body` in rounds and returns the snapdiff.Gate. Raises MemoryGrowth if two runs leak more than `budget`."""
    if rounds < _JUDGED_FROM:
        raise ValueError(f"rounds: found {rounds}, expected at least {_JUDGED_FROM}, which a verdict needs")
    allowed = _step_budget(budget)
    with _traced():
        return _check(body, rounds, warmup, budget, allowed)


@contextlib.contextmanager
def _traced() -> Any:
    """Traces all runs as one: the entries that a full cache replaces were traced too, so it does not seem to grow again."""
    on_before = tracemalloc.is_tracing()
    if not on_before:
        tracemalloc.start(25)
    try:
        yield
    finally:
        if not on_before:
            tracemalloc.stop()


def _check(body: Callable[[], Any], rounds: int, warmup: int, budget: str, allowed: str) -> Any:
    # Caches may rise steadily for a while. A leak is over the budget in two runs of the rounds.
    seen: Any = set()
    for run in range(_MOST_RUNS):
        gate = _judged(body, rounds, 0 if run else warmup, allowed)
        broken = [row for row in gate.broken if _place(row) in seen]
        if broken:
            failure = MemoryGrowth(_message(gate, broken, rounds, budget))
            failure.series = gate
            raise failure
        if not any((row["measured"] or 0) > row["allowed"] for row in gate.findings):
            break
        seen = {_place(row) for row in gate.broken}
    return gate


def _place(row: Any) -> Any:
    return row["name"].split(" ‹ ")[0], row["file"], row["line"]


def _judged(body: Callable[[], Any], rounds: int, warmup: int, allowed: str) -> Any:
    import snapdiff
    with tempfile.TemporaryDirectory(prefix="snapdiff-") as folder:
        with snapdiff.capture.tracemalloc(folder) as snapshots:
            snapshots._root = __file__
            for _ in range(warmup):
                body()
            for _ in range(rounds):
                body()
                _forget_logs()
                snapshots.take()
        return snapdiff.open(folder).gate([allowed], allowance_file=os.devnull)


def _message(gate: Any, broken: Any, rounds: int, budget: str) -> str:
    from snapdiff._notebook import size
    lines = [f"memory grows over {rounds} rounds, budget {budget}:"]
    for row in broken:
        name, file, line = row["name"].split(" ‹ ")[0], row["file"] or "", row["line"] or 0
        place = f"{file}:{line}" if file and line else name
        source = linecache.getline(file, line).strip() if file and line else ""
        lines.append(f"  {row['verdict']:<8} {place}  {size(row['measured'])} a round" + (f"\n             {source}" if source else ""))
    return "\n".join(lines + [f"  {gate.headline}: {gate.figures}".replace("\u00a0", " ")])


def _check_or_fail(body: Callable[[], Any], **options: Any) -> Any:
    try:
        return check_growth(body, **options)
    except MemoryGrowth as failure:
        message = str(failure)
    return pytest.fail(message, pytrace=False)


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "no_growth(rounds=12, warmup=3, budget='512B/round'): runs the test in rounds and fails if "
                            "snapdiff judges that its memory grows by more than the budget")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Any:
    marker = pyfuncitem.get_closest_marker("no_growth")
    if marker is None:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    _check_or_fail(lambda: pyfuncitem.obj(**arguments), **marker.kwargs)
    return True


@pytest.fixture
def memory_growth() -> Any:
    """check_growth(): call it with the code under test."""
    return _check_or_fail
