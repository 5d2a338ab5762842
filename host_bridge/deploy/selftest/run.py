"""Runs the self-test of a car on blocks, and prints a row for each thing that it tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from host_bridge.core import Sender
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.attestation import require_wheels_off_ground
from host_bridge.core.system.running import run_async
from host_bridge.deploy.selftest.bench import CheckResult, SelfTestBench
from host_bridge.deploy.selftest.checks import CHECKS, Check
from host_bridge.sharing.services import Host


@dataclass(frozen=True)
class SelfTestOptions:
    """The options of ``tandem selftest``: which car, which checks, and what a person attested."""

    car: str | None
    only: str | None = None
    without: Sequence[str] = ()
    attested: str | None = None
    is_json: bool = False
    vehicle: str | None = None


def run_self_test(options: SelfTestOptions, host: Host) -> int:
    """Return 0 if every row is good. Raises errors.TandemError."""
    chosen = [check for check in CHECKS if options.only in (None, check[0])]
    chosen = [check for check in chosen if check[0] not in options.without]
    if not chosen:
        raise UsageFault(
            "every check is left out",
            expected=f"one at least of {', '.join(name for name, _, _ in CHECKS)}",
            got=" ".join(f"--without {name}" for name in options.without),
            remedy="leave out fewer",
        )
    if any(is_armed for _, _, is_armed in chosen):
        require_wheels_off_ground(options.attested)
    return run_async(_test(options, host, chosen))


async def _test(options: SelfTestOptions, host: Host, chosen: list[tuple[str, Check, bool]]) -> int:
    opened = await host.cars.open(options.car, epoch=host.cars.new_epoch(), vehicle=options.vehicle)
    rows: list[CheckResult] = [CheckResult(name, None, "left out") for name in options.without]
    try:
        bench = SelfTestBench(opened, host.cars.clock, _tell)
        async with bench.driven():
            for _, check, is_armed in chosen:
                await _run_one(bench, check, is_armed, rows, options.is_json)
            await bench.disarm()
    except BaseException:
        opened.car.stop(Sender.COMMAND, "selftest", host.cars.clock.now_us())
        await opened.until(lambda: False, 0.1)  # the Stop leaves meanwhile, several times
        raise
    finally:
        await opened.close()
    if options.is_json:
        print(json.dumps([asdict(row) for row in rows]))
    if not any(row.is_good for row in rows):
        print("Nothing was shown: of what was asked for, nothing is there.", file=sys.stderr)
        return 1
    return 1 if any(row.is_good is False for row in rows) else 0


async def _run_one(
    bench: SelfTestBench, check: Check, is_armed: bool, rows: list[CheckResult], is_json: bool
) -> None:
    if is_armed and not bench.is_armed:
        await bench.arm()
    async for row in check(bench):
        rows.append(row)
        if not is_json:
            print(_line(row), flush=True)
    bench.let_go()


def _line(row: CheckResult) -> str:
    mark = {True: "good", False: "BAD", None: "-"}[row.is_good]
    remedy = f"   {row.remedy}" if row.is_good is False and row.remedy else ""
    return f"{mark:5} {row.what:16} {row.got}{remedy}"


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
