"""Offers a longer control period to a car whose steps take too long; asks before it writes.

The same by hand is ``tandem config write CAR step_s=0.02``.
"""

from __future__ import annotations

import sys

from host_bridge.core import LONGEST_STEP_S, KnownCar
from host_bridge.core.errors import OverrunFault
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import run_async
from host_bridge.sharing.services import Host

_YES = ("y", "yes")


def prompt_longer_period(fault: OverrunFault, host: Host, *, is_json: bool) -> int:
    """Offer each car a longer control period; return the exit code of the refusal: no car is armed.

    Raises the fault again where nobody can be asked. Raises errors.TandemError.
    """
    cars = fault.cars
    if is_json or not cars or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise fault
    print(f"tandem: {fault}", file=sys.stderr)
    for car, board_id in zip(cars, fault.boards, strict=True):
        answer = input(f"Write step_s={LONGEST_STEP_S:g} to {car} now? [y/N] ")
        if answer.strip().lower() in _YES:
            run_async(_write(car, KnownCar(board_id, car), host))
    return fault.exit_code


async def _write(car: str, expected_car: KnownCar, host: Host) -> int:
    """Write the longer period, but only to the car that refused, and to no other at its port."""
    opened = await host.cars.open(
        car, epoch=host.cars.command_epoch(car), expected_car=expected_car
    )
    try:
        await host.configurations.adjust(opened, {"step_s": LONGEST_STEP_S}, progress_count)
        print(f"Written, all of it read back: {opened.name} can be armed in some seconds.")
    finally:
        await opened.close()
    return 0
