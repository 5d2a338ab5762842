"""Requests an operator action of one car, and prints its answer."""

from __future__ import annotations

import argparse
import json

from host_bridge.cars.actions import ActionResult
from host_bridge.cars.car_text import other_stop_paths, stop_paths_text
from host_bridge.cars.refusals import can_have_longer_period
from host_bridge.cli.arguments.car_option import add_car
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
from host_bridge.core.errors import OverrunFault, RefusedFault
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

_PATIENCE_S = 2.0
_EXPLAINED_S = 1.0
_PASSING_S = 5.0  # starting up, or braking to standstill


def add_action_arguments(parser: argparse.ArgumentParser, examples: str = "") -> None:
    """Declare which car is meant and ``--json``, with the examples that each action has."""
    command = parser.get_default("command")
    rest = parser.epilog or ""
    parser.epilog = (
        f"examples:\n  tandem {command}{'':<14}the only car that is served\n"
        f"  tandem {command} nigel{'':<8}one of several\n{examples}\n{rest}"
    )
    add_car(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


async def act_on_car(
    text: str | None,
    host: Host,
    action: Action,
    profile: Profile | None = None,
    *,
    is_json: bool,
    vehicle: str | None = None,
) -> int:
    """Request the action of the car that ``text`` names, and print the answer; return 0.

    Raises errors.TandemError, among them RefusedFault with every reason.
    """
    opened = await host.cars.open(text, epoch=host.cars.command_epoch(text), vehicle=vehicle)
    try:
        if action is Action.ARM:
            _ = opened.vehicle  # raises for a car of no known type, which is not armed
        await opened.until(lambda: not _is_passing(opened), _PASSING_S)
        if action is Action.ARM:  # the report that explains a refusal comes a few times a second
            await opened.until(lambda: opened.car.inputs is not None, _EXPLAINED_S)
        operator_action = _operator_action(opened, action, profile)
        words = _unaided(opened, operator_action)
        if not is_json:
            _tell_before_arming(opened, action, words)
        result = await request_action(opened, operator_action, host)
        return _show(result, is_json, opened, words)
    finally:
        await opened.close()


def _tell_before_arming(opened: OpenCar, action: Action, unaided: str) -> None:
    if unaided:
        print(unaided)
    if action is Action.ARM:
        print(stop_paths_text(opened.car))


def _operator_action(opened: OpenCar, action: Action, profile: Profile | None) -> OperatorAction:
    if action is not Action.ARM:
        return OperatorAction(action, Sender.COMMAND)
    return arm_action(opened.car.profile() if profile is None else profile, Sender.COMMAND)


def _unaided(opened: OpenCar, operator_action: OperatorAction) -> str:
    """Return how far an armed car goes without its program; "" if that is a few metres at most."""
    if operator_action.kind is not Action.ARM:
        return ""
    return unaided_text(opened.vehicle, Profile(operator_action.value).name.lower())


async def request_action(
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
        row = {**outcome_row(result, opened), "unaided": unaided}
        print(json.dumps({**row, "other_stop_paths": other_stop_paths(opened.car)}))
        return 0 if result and result.is_done else RefusedFault.exit_code
    if result is None or not result.is_done:
        raise refused_fault(result, opened)
    print(result)
    return 0


def outcome_row(result: ActionResult | None, opened: OpenCar) -> dict[str, object]:
    """Return the outcome as a row for JSON."""
    missing = result.stop_sources if result else ()
    return {
        "name": opened.name,
        "is_done": bool(result and result.is_done),
        "refusals": [refusal.name for refusal in result.refusals] if result else [],
        "reasons": list(result.reasons) if result else ["no answer"],
        "stop_sources_missing": [stop_source_name(n, opened.car.vehicle) for n in missing],
    }


def refused_fault(result: ActionResult | None, opened: OpenCar) -> RefusedFault:
    """Return the fault for a refused or unanswered action, with every reason.

    It is an OverrunFault if the car missed beats and may be given a longer one.
    """
    if result is None:
        return RefusedFault(
            f"{opened.name} did not answer",
            where=opened.uri,
            expected=f"an answer within {_PATIENCE_S:g} s",
            got=opened.why_offline or "its reports, and no answer",
            remedy="tandem monitor shows whether its reports come; tandem cars, whether it is "
            "served",
        )
    reasons = "".join(f"\n    {reason}" for reason in result.reasons)
    what = f"{opened.name} did not {result.action.phrase}, because{reasons}"
    if Refusal.OFF_BEAT not in result.refusals or not can_have_longer_period(opened.car):
        return RefusedFault(what)
    fault = OverrunFault(what)
    fault.cars, fault.boards = (opened.car.cli_name,), (opened.car.as_known_car().board_id,)
    return fault
