"""``tandem selftest``: test a car on blocks, before it drives today."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from host_bridge.cli.arguments.car_option import add_car, car_of
from host_bridge.cli.arguments.profile_option import WHEELS_OFF_GROUND, profile_of
from host_bridge.config.store import Host
from host_bridge.core import Sender
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.deploy.selftest import CHECKS, Bench, Check, Row

EPILOG = """\
examples:
  tandem selftest serial:///dev/ttyACM0
  tandem selftest nigel --only sensors              nothing moves
  tandem selftest nigel --without runstop           a part is left out, and said to be

WHEELS OFF THE GROUND: it steers and turns the wheels, slowly, in the profile stand. It asks first,
and asks you to open and to close the runstop loop: the daily proof that it stops the car. Ctrl-C
stops the car. A VESC's wheel turns while you open it: its kill switch, timeout and brake current
are looked at. Exit code 0 if all is well, 1 if something is not.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Test a car on blocks."
    parser.epilog = EPILOG
    add_car(parser)
    names = [name for name, _, _ in CHECKS]
    parser.add_argument("--only", choices=names, help="this part alone")
    parser.add_argument("--without", choices=names, action="append", default=[], help="leave out")
    parser.add_argument("--attest", choices=[WHEELS_OFF_GROUND], help="say so without being asked")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 if every row is good. Raises errors.TandemError."""
    chosen = [check for check in CHECKS if args.only in (None, check[0])]
    chosen = [check for check in chosen if check[0] not in args.without]
    if not chosen:
        raise UsageFault("nothing is left to test", expected="one check at least", got="--without")
    if any(is_armed for _, _, is_armed in chosen):
        args.profile = "stand"
        profile_of(args)
    return run_async(_test(args, host, chosen))


async def _test(args: argparse.Namespace, host: Host, chosen: list[tuple[str, Check, bool]]) -> int:
    opened = await host.cars.open(car_of(args), epoch=host.cars.new_epoch())
    rows: list[Row] = [Row(name, None, "left out") for name in args.without]
    try:
        bench = Bench(opened, host.cars.clock, _tell)
        async with bench.driven():
            for _, check, is_armed in chosen:
                await _run_one(bench, check, is_armed, rows, args.json)
            await bench.disarm()
    except BaseException:
        opened.car.stop(Sender.COMMAND, "selftest", host.cars.clock.now_us())
        await opened.until(lambda: False, 0.1)
        raise
    finally:
        await opened.close()
    if args.json:
        print(json.dumps([asdict(row) for row in rows]))
    if not any(row.is_good for row in rows):
        print("Nothing was shown: of what was asked for, nothing is there.", file=sys.stderr)
        return 1
    return 1 if any(row.is_good is False for row in rows) else 0


async def _run_one(
    bench: Bench, check: Check, is_armed: bool, rows: list[Row], is_json: bool
) -> None:
    if is_armed and not bench.is_armed:
        await bench.arm()
    async for row in check(bench):
        rows.append(row)
        if not is_json:
            print(_line(row), flush=True)
    bench.let_go()


def _line(row: Row) -> str:
    mark = {True: "good", False: "BAD", None: "-"}[row.is_good]
    remedy = f"   {row.remedy}" if row.is_good is False and row.remedy else ""
    return f"{mark:5} {row.what:16} {row.got}{remedy}"


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
