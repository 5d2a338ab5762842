"""``tandem arm``, ``clear`` and ``disarm``: the operator actions on one car."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass

from host_bridge.cars.actions import ActionResult
from host_bridge.cars.refusals import can_have_longer_period
from host_bridge.cli.arguments.car_option import add_car, car_of
from host_bridge.cli.arguments.profile_option import add_profile, profile_of
from host_bridge.cli.car_actions.period_prompt import offer_longer_step
from host_bridge.config.store import Host
from host_bridge.core import (
    Action,
    OperatorAction,
    Profile,
    Refusal,
    Sender,
    State,
    arm_action,
    stop_source_name,
    unaided_text,
)
from host_bridge.core.errors import DeviceFault, OverrunFault, RefusedFault
from host_bridge.core.system.running import run_async
from host_bridge.sharing.open_car import OpenCar


@dataclass(frozen=True)
class Verb:
    """One of the three commands: its action and its help text."""

    action: Action
    description: str
    examples: str
    epilog: str


VERBS = {
    "arm": Verb(
        Action.ARM,
        "Let a car drive: from STANDBY to HOLD. It moves once someone holds a deadman.",
        "  tandem arm nigel --profile race\n"
        "  tandem arm nigel --profile stand --attest wheels-off-ground\n",
        "Whoever drives has to be there within three seconds, or it stops again.\n"
        "Every reason against it is named at once, stop sources that are missing by their name.\n"
        "A car that is left without an owner is stopped, so it has to be served: tandem serve,\n"
        "or tandem drive, which arms by itself. The profile stand asks whether the wheels are\n"
        "off the ground; it is slow, it ends by itself, and it is never mirrored.",
    ),
    "clear": Verb(
        Action.CLEAR,
        "Forget a stop or a fault whose cause is gone: back to STANDBY. It does not arm.",
        "",
        "Look first why it stopped: tandem monitor says it.",
    ),
    "disarm": Verb(
        Action.DISARM,
        "From HOLD back to STANDBY. A car that drives is stopped instead: tandem stop.",
        "",
        "",
    ),
}
_PATIENCE_S = 2.0
_EXPLAINED_S = 1.0
_PASSING_S = 5.0  # starting up, or braking to standstill


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    command = parser.get_default("command")
    verb = VERBS[command]
    parser.description = verb.description
    parser.epilog = (
        f"examples:\n  tandem {command}{'':<14}the only car that is served\n"
        f"  tandem {command} nigel{'':<8}one of several\n{verb.examples}\n{verb.epilog}"
    )
    add_car(parser)
    if verb.action is Action.ARM:
        add_profile(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0 if the car did it.

    Raises errors.TandemError, among them RefusedFault with every reason.
    """
    action = VERBS[args.command].action
    text = car_of(args)
    if action is not Action.ARM:
        return run_async(_act(args, host, action, None))
    if host.cars.find(text) is None:
        raise _unserved(str(text))
    try:
        return run_async(_act(args, host, action, profile_of(args)))
    except OverrunFault as fault:
        return offer_longer_step(fault, host, is_json=args.json)


async def _act(
    args: argparse.Namespace, host: Host, action: Action, profile: Profile | None
) -> int:
    text = car_of(args)
    opened = await host.cars.open(text, epoch=host.cars.command_epoch(text))
    try:
        if action is Action.ARM:
            _ = opened.vehicle  # raises for a car of no known type, which is not armed
        await opened.until(lambda: not _is_passing(opened), _PASSING_S)
        if action is Action.ARM:  # the report that explains a refusal comes a few times a second
            await opened.until(lambda: opened.car.inputs is not None, _EXPLAINED_S)
        operator_action = _operator_action(opened, action, profile)
        words = _unaided(opened, operator_action)
        if words and not args.json:
            print(words)  # before it is armed
        result = await asked(opened, operator_action, host)
        return _show(result, args.json, opened, words)
    finally:
        await opened.close()


def _operator_action(opened: OpenCar, action: Action, profile: Profile | None) -> OperatorAction:
    if action is not Action.ARM:
        return OperatorAction(action, Sender.COMMAND)
    return arm_action(opened.car.profile() if profile is None else profile, Sender.COMMAND)


def _unaided(opened: OpenCar, operator_action: OperatorAction) -> str:
    """Return how far an armed car goes without its program; "" if that is a few metres at most."""
    if operator_action.kind is not Action.ARM:
        return ""
    return unaided_text(opened.vehicle, Profile(operator_action.value).name.lower())


async def asked(
    opened: OpenCar, operator_action: OperatorAction, host: Host
) -> ActionResult | None:
    """Request the action; return its result, or None if the car did not answer within 2 s."""
    request = opened.car.request(operator_action, host.cars.clock.now_us())
    await opened.until(lambda: request.result is not None, _PATIENCE_S)
    return request.result


def _is_passing(opened: OpenCar) -> bool:
    """Return whether the car is starting or stopping: states that end by themselves.

    They refuse every action meanwhile.
    """
    status = opened.car.status
    return status is None or status.state in (State.STARTING, State.STOPPING)


def _show(result: ActionResult | None, is_json: bool, opened: OpenCar, unaided: str) -> int:
    if is_json:
        print(json.dumps({**row_of(result, opened), "unaided": unaided}))
        return 0 if result and result.is_done else RefusedFault.exit_code
    if result is None or not result.is_done:
        raise refused(result, opened)
    print(result)
    return 0


def row_of(result: ActionResult | None, opened: OpenCar) -> dict[str, object]:
    """Return the outcome as a row for JSON."""
    missing = result.stop_sources if result else ()
    return {
        "name": opened.name,
        "is_done": bool(result and result.is_done),
        "refusals": [refusal.name for refusal in result.refusals] if result else [],
        "reasons": list(result.reasons) if result else ["no answer"],
        "stop_sources_missing": [stop_source_name(n, opened.car.vehicle) for n in missing],
    }


def refused(result: ActionResult | None, opened: OpenCar) -> RefusedFault:
    """Return the fault for a refused or unanswered action, with every reason.

    It is an OffBeatFault if the car missed beats and may be given a longer one.
    """
    if result is None:
        return RefusedFault(f"{opened.name} did not answer")
    reasons = "".join(f"\n    {reason}" for reason in result.reasons)
    what = f"{opened.name} did not {result.action.phrase}, because{reasons}"
    if Refusal.OFF_BEAT not in result.refusals or not can_have_longer_period(opened.car):
        return RefusedFault(what)
    fault = OverrunFault(what)
    fault.cars, fault.boards = (opened.car.cli_name,), (opened.car.as_known_car().board_id,)
    return fault


def _unserved(uri: str) -> DeviceFault:
    return DeviceFault(
        "nobody serves this car, and an armed car needs an owner that stays",
        where=uri,
        remedy=f"tandem serve --car {uri} in another terminal; or tandem drive --car {uri}",
    )
