"""``tandem faults``: runs the catalogue of fault cases on virtual cars in virtual time."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from host_bridge.cli.arguments.arg_types import whole
from host_bridge.cli.arguments.picture_option import prepare_picture
from host_bridge.cli.output import faults_report as report
from host_bridge.core import Vehicle, unaided_text
from host_bridge.core.errors import INTERRUPTED, UsageFault
from host_bridge.core.system.printable import styled
from host_bridge.sharing.services import Host
from sim_mock.programs import children

EPILOG = """\
Each run goes from power-up to standstill in virtual time: the complete program, its plant and a
host. The fault comes at a random moment; it gets in as bytes, pins or time only. Limits are
those of firmware/core/SAFETY.md, and v²/2a of the plant. Exit code 1 if anything did not hold.

examples:
  tandem faults                                    every case once, on every vehicle
  tandem faults --seeds 50 --picture stops.png     overnight, with the distribution
  tandem faults --vehicle nigel --case total-silence --seeds 200
  tandem faults --runtime micropython              the same program under a real MicroPython
  tandem faults --list                             what there is, and where it comes from
  tandem faults --stops                            every cause of a stop in metres, the worst first
  tandem faults --stops --vehicle autorally --case program-ends runstop-opens
  tandem faults --spurious                         how often a bad line stops a car for nothing
"""
GROUP = "tandem.faults"
RUNTIMES = ("in-process", "micropython", "micropython32")
_TENTHS = 10  # of the runs: how often the progress is told

Offered: TypeAlias = dict[str, Callable[..., Any]]
Task: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = (
        "Inject known faults into virtual cars, and measure how they stop and how far they go."
    )
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--vehicle", default="all", help="a vehicle type (default: all)")
    add(
        "--case",
        nargs="+",
        default=[],
        metavar="ID",
        help="run these cases only; --list names them",
    )
    add(
        "--seeds",
        type=whole,
        default=1,
        metavar="N",
        help="the runs of each case on each vehicle, or the rounds of --spurious (default 1)",
    )
    add("--runtime", choices=RUNTIMES, default=RUNTIMES[0], help="the runtime of the car's program")
    add("--jobs", type=whole, default=2, metavar="N", help="the number of processes (default 2)")
    add("--json", action="store_true", help="print the outcome as JSON")
    add("--picture", type=Path, metavar="FILE.png", help="draw the distribution to this file")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--list", action="store_true", help="list the cases, and run none")
    shown.add_argument(
        "--stops",
        action="store_true",
        help="show the stopping distance of every cause, beside v²/2μg",
    )
    shown.add_argument(
        "--spurious", action="store_true", help="show the time between spurious stops"
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 1 if a case failed.

    Raises errors.UsageFault, errors.VehicleFileFault.
    """
    prepare_picture(args.picture, "--picture")
    offered = _offered()
    if args.seeds < 1 or args.jobs < 1:
        raise UsageFault(
            "--seeds and --jobs count from 1",
            expected="1 or more of each",
            got=f"--seeds {args.seeds} --jobs {args.jobs}",
        )
    names = host.vehicles.names() if args.vehicle == "all" else (args.vehicle,)
    vehicles = [host.vehicles.load(name) for name in names]
    if args.spurious:
        return _spurious(args, offered, vehicles)
    cases = _chosen([*offered["cases"](), *_follower_cases(args, offered)], args.case)
    if args.list:
        print(_json(map(_described, cases)) if args.json else report.case_list(cases))
        return 0
    if args.stops:
        return _run_stops(args, offered, cases, vehicles)
    return _run_cases(args, offered, cases, vehicles)


def _offered() -> Offered:
    """Load the fault catalogue by entry point, since the bridge imports no simulator.

    Raises errors.UsageFault.
    """
    offered = {point.name: point.load() for point in entry_points(group=GROUP)}
    if "run" not in offered:
        raise UsageFault(
            "no catalogue of faults is installed",
            expected=f"entry points in the group {GROUP}",
            remedy="install Tandem anew: make setup in a clone, else pip install its wheel",
        )
    return offered


def _follower_cases(args: argparse.Namespace, offered: Offered) -> Sequence[Any]:
    """Return the cases of a follower whose pose is wrong: the host's, which run in this process."""
    return offered["follower_cases"]() if args.runtime == RUNTIMES[0] else ()


def _chosen(cases: Sequence[Any], wanted: Sequence[str]) -> list[Any]:
    known = [case.id for case in cases]
    for name in wanted:
        if name not in known:
            remedy = "tandem faults --list says what each is"
            raise UsageFault(f"unknown case {name!r}", expected=", ".join(known), remedy=remedy)
    return [case for case in cases if not wanted or case.id in wanted]


def _run_cases(
    args: argparse.Namespace, offered: Offered, cases: Sequence[Any], vehicles: Sequence[Vehicle]
) -> int:
    of_follower = {case.id for case in _follower_cases(args, offered)}
    tasks = [
        (
            offered["follower_run" if case.id in of_follower else "run"],
            (case.id, vehicle, seed, args.runtime),
        )
        for seed in range(args.seeds)  # outermost: after an interrupt every case has as many runs
        for vehicle in vehicles
        for case in cases
        if case.fits(vehicle)
    ]
    if not tasks:
        raise _nothing_to_run(f"{len(cases)} cases, {len(vehicles)} vehicles, {args.seeds} seeds")
    return _run_and_print(args, tasks, cases, lambda runs: report.tables(cases, runs))


def _run_stops(
    args: argparse.Namespace, offered: Offered, cases: Sequence[Any], vehicles: Sequence[Vehicle]
) -> int:
    """Run every stop cause from 3 m/s, and from the highest speed at which it can occur."""
    wanted = {case.id for case in cases}
    rows = [
        (row, vehicle)
        for vehicle in vehicles
        for row in offered["stops"](vehicle)
        if row.case in wanted
    ]
    tasks = [
        (offered["run"], (row.case, vehicle, seed, args.runtime, row.speed_mps))
        for seed in range(args.seeds)
        for row, vehicle in rows
    ]
    if not tasks:
        raise _nothing_to_run(f"{len(cases)} cases, of which none stops a car that drives")
    words = {row.case: row.words for row, _ in rows}
    unaided = {one.name: unaided_text(one, one.profile) for one in vehicles}
    return _run_and_print(
        args, tasks, cases, lambda runs: report.stops_tables(runs, words, unaided), words
    )


def _run_and_print(
    args: argparse.Namespace,
    tasks: Sequence[Task],
    cases: Sequence[Any],
    tables: Callable[[Sequence[Any]], Iterable[Table]],
    words: Mapping[str, str] | None = None,
) -> int:
    runs, was_interrupted = _all(tasks, args.jobs)
    runs.sort(key=lambda one: (one.vehicle, one.case, one.seed))
    if args.json:
        print(_json(_row(one, words) for one in runs))
    else:
        Console(file=styled(sys.stdout)).print(*tables(runs))
        print("\n".join(report.failures(runs)))
    if args.picture and runs:
        report.draw_stops(cases, runs, args.picture)
    if was_interrupted:
        print(f"interrupted after {len(runs)} of {len(tasks)} runs", file=sys.stderr)
        return INTERRUPTED
    return 0 if runs and all(one.held for one in runs) else 1


def _row(one: Any, words: Mapping[str, str] | None) -> dict[str, Any]:
    named = {"words": words[one.case]} if words else {}
    return {**named, **asdict(one), "held": one.held}


def _nothing_to_run(got: str) -> UsageFault:
    return UsageFault(
        "none of these cases applies to these vehicles",
        expected="at least one run",
        got=got,
        remedy="tandem faults --list says which case is for whom",
    )


def _spurious(args: argparse.Namespace, offered: Offered, vehicles: Sequence[Vehicle]) -> int:
    """Print the computed table of spurious stops, and check it against the car's program."""
    rows = list(offered["spurious"]())
    if not args.json:
        Console(file=styled(sys.stdout)).print(report.spurious_table(rows))
    given = (vehicles[0], 0, args.runtime, args.seeds)
    tasks = [(offered["check"], (row, *given)) for row in offered["checks"]()]
    if not tasks:
        raise _nothing_to_run("no check of the computed table")
    checks, was_interrupted = _all(tasks, args.jobs)
    checks.sort(key=lambda check: (check.rate_hz, check.share))
    if args.json:
        checked = [asdict(check) | {"held": check.held} for check in checks]
        print(_json({"computed": [asdict(row) for row in rows], "checked": checked}))
    else:
        Console(file=styled(sys.stdout)).print(report.check_table(checks))
    if was_interrupted:
        return INTERRUPTED
    return 0 if checks and all(check.held for check in checks) else 1


def _all(tasks: Sequence[Task], jobs: int) -> tuple[list[Any], bool]:
    """Run the tasks in a pool; return the results, and whether Ctrl-C came before the last."""
    results: list[Any] = []
    with children.pool(jobs) as pool:
        with _interrupts_ignored():  # inherited by the workers: Ctrl-C is for the reporting process
            futures = [pool.submit(make, *given) for make, given in tasks]
        try:
            for done in _shown(futures):
                results.append(done.result())
        except KeyboardInterrupt:
            return results, True
        except LookupError as fault:
            raise UsageFault(str(fault.args[0])) from None
        finally:
            pool.shutdown(cancel_futures=True)  # a run that has begun ends within a second
    return results, False


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _shown(futures: Sequence[Future[Any]]) -> Iterator[Future[Any]]:
    """Yield futures as they are done, with a progress bar on a terminal, else a line per tenth."""
    if not sys.stderr.isatty():
        yield from _with_progress(futures)
        return
    columns = TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(file=styled(sys.stderr)), transient=True) as progress:
        task = progress.add_task("runs", total=len(futures))
        for future in as_completed(futures):
            yield future
            progress.advance(task)


def _with_progress(futures: Sequence[Future[Any]]) -> Iterator[Future[Any]]:
    count = len(futures)
    every = max(-(-count // _TENTHS), 1)
    for done, future in enumerate(as_completed(futures), 1):
        yield future
        if done % every == 0 or done == count:
            print(f"{done} of {count} runs", file=sys.stderr, flush=True)


def _described(case: Any) -> dict[str, str]:
    return {name: getattr(case, name) for name in ("id", "title", "source", "expects", "wait")}


def _json(value: Iterable[Any] | dict[str, Any]) -> str:
    return json.dumps(value if isinstance(value, dict) else list(value))
