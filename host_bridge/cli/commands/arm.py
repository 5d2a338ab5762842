"""Arm a car. It moves once somebody holds a deadman.

Somebody has to drive within three seconds, or the car stops again.
If it refuses, every reason is shown at once, with the name of each missing stop source.
A car without an owner is stopped, so it has to be served: by tandem serve, or by tandem
drive, which arms by itself. The profile stand asks whether the wheels are off the ground.
It is slow, ends by itself, and is for one car alone.
"""

from __future__ import annotations

import argparse

from host_bridge.cli.arguments.car_option import add_vehicle_option, car_of
from host_bridge.cli.arguments.profile_option import add_profile, profile_of
from host_bridge.cli.car_actions.period_prompt import prompt_longer_period
from host_bridge.cli.car_actions.request import act_on_car, add_action_arguments
from host_bridge.core import Action
from host_bridge.core.errors import DeviceFault, OverrunFault
from host_bridge.core.system.running import run_async
from host_bridge.sharing.endpoints.naming import is_of_another_host
from host_bridge.sharing.services import Host

_EXAMPLES = (
    "  tandem arm nigel --profile race\n"
    "  tandem arm nigel --profile stand --attest wheels-off-ground\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_action_arguments(parser, _EXAMPLES)
    add_vehicle_option(parser)
    add_profile(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 if the car is armed.

    Raises errors.TandemError, among them RefusedFault with every reason.
    """
    text = car_of(args)
    if host.cars.find(text) is None and not is_of_another_host(str(text)):
        raise _unserved(str(text))
    profile = profile_of(args)
    try:
        return run_async(
            act_on_car(text, host, Action.ARM, profile, is_json=args.json, vehicle=args.vehicle)
        )
    except OverrunFault as fault:
        return prompt_longer_period(fault, host, is_json=args.json)


def _unserved(uri: str) -> DeviceFault:
    return DeviceFault(
        "nobody serves this car, and an armed car needs an owner that stays",
        where=uri,
        remedy=f"tandem serve --car {uri} in another terminal; or tandem drive --car {uri}",
    )
