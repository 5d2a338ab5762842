"""A car whose steps take longer than its beat is offered a longer beat; nothing is written unasked.

By hand it is ``tandem config write CAR step_s=0.02``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from host_bridge.domain import LONGEST_STEP_S
from host_bridge.errors import OffBeatFault
from host_bridge.interfaces.cli.adjusting import adjust

if TYPE_CHECKING:
    from host_bridge.context import HostContext

_YES = ("y", "yes")


def offer_longer_step(fault: OffBeatFault, context: HostContext, *, is_json: bool) -> int:
    """The exit code of the refusal, for the car is not armed by this; raises it again where nobody
    can be asked. Raises errors.TandemError."""
    cars = fault.cars
    if is_json or not cars or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise fault
    print(f"tandem: {fault}", file=sys.stderr)
    for car in cars:
        answer = input(f"Write step_s={LONGEST_STEP_S:g} to {car} now? [y/N] ")
        if answer.strip().lower() in _YES:
            context.run(_write(car, context))
    return fault.exit_code


async def _write(car: str, context: HostContext) -> int:
    opened = await context.open_car(car, epoch=context.command_epoch(car))
    try:
        await adjust(context, opened, {"step_s": LONGEST_STEP_S})
        print(f"Written, all of it read back: {opened.name} can be armed in some seconds.")
    finally:
        await opened.close()
    return 0
