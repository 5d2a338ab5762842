"""``tandem arm``, ``clear`` and ``disarm``: what a person lets a car do."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from host_bridge.domain import Action, State
from host_bridge.errors import DeviceFault, RefusedFault
from host_bridge.interfaces.cli.choice import add_car, car_of

if TYPE_CHECKING:  # handed in
    from host_bridge.cars.actions import ActionResult
    from host_bridge.context import HostContext
    from host_bridge.open_car import OpenCar


@dataclass(frozen=True)
class Deed:
    """One of the three commands."""

    action: Action
    description: str
    epilog: str


DEEDS = {
    "arm": Deed(
        Action.ARM,
        "Let a car drive: from STANDBY to HOLD. It moves once someone holds a deadman.",
        "Whoever drives has to be there within three seconds, or it stops again.\n"
        "Every reason against it is named at once. A car that is left without an owner is\n"
        "stopped, so it has to be served: tandem serve, or tandem drive, which arms by itself.",
    ),
    "clear": Deed(
        Action.CLEAR,
        "Forget a stop or a fault whose cause is gone: back to STANDBY. It does not arm.",
        "Look first why it stopped: tandem monitor says it.",
    ),
    "disarm": Deed(
        Action.DISARM,
        "From HOLD back to STANDBY. A car that drives is stopped instead: tandem stop.",
        "",
    ),
}
_PATIENCE_S = 2.0
_PASSING_S = 5.0  # starting up, or braking to standstill


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    command = parser.get_default("command")
    deed = DEEDS[command]
    parser.description = deed.description
    parser.epilog = (
        f"examples:\n  tandem {command}{'':<14}the only car that is served\n"
        f"  tandem {command} nigel{'':<8}one of several\n\n{deed.epilog}"
    )
    add_car(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, context: HostContext) -> int:
    """0 if the car did it. Raises errors.TandemError, RefusedFault with every reason."""
    return context.run(_act(args, context, DEEDS[args.command].action))


async def _act(args: argparse.Namespace, context: HostContext, action: Action) -> int:
    text = car_of(args)
    if action is Action.ARM and context.find(text) is None:
        raise _unserved(str(text))
    opened = await context.open_car(text, epoch=context.command_epoch(text))
    try:
        if action is Action.ARM:
            _ = opened.vehicle  # a car of no known type is not armed
        await opened.until(lambda: not _is_passing(opened), _PASSING_S)
        request = opened.car.request(action, context.now_us())
        await opened.until(lambda: request.result is not None, _PATIENCE_S)
        return _show(request.result, args.json, opened.name)
    finally:
        await opened.close()


def _is_passing(opened: OpenCar) -> bool:
    """In a state that ends by itself and refuses everything meanwhile."""
    status = opened.car.status
    return status is None or status.state in (State.STARTING, State.STOPPING)


def _show(result: ActionResult | None, is_json: bool, name: str) -> int:
    if is_json:
        print(json.dumps(_row(result, name)))
        return 0 if result and result.is_done else RefusedFault.exit_code
    if result is None or not result.is_done:
        raise _refused(result, name)
    print(result)
    return 0


def _row(result: ActionResult | None, name: str) -> dict[str, object]:
    return {
        "name": name,
        "is_done": bool(result and result.is_done),
        "refusals": [refusal.name for refusal in result.refusals] if result else [],
        "reasons": list(result.reasons) if result else ["no answer"],
    }


def _refused(result: ActionResult | None, name: str) -> RefusedFault:
    if result is None:
        return RefusedFault(f"{name} did not answer")
    reasons = "".join(f"\n    {reason}" for reason in result.reasons)
    return RefusedFault(f"{name} did not {result.action.phrase}, because{reasons}")


def _unserved(uri: str) -> DeviceFault:
    return DeviceFault(
        "nobody serves this car, and an armed car needs an owner that stays",
        where=uri,
        remedy=f"tandem serve --car {uri} in another terminal; or tandem drive --car {uri}",
    )
