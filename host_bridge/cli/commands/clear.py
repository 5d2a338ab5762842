"""Clear a stop or a fault whose cause is gone. The car is parked then, and not armed.

See first why it stopped: tandem monitor shows it.
"""

from __future__ import annotations

import argparse

from host_bridge.cli.arguments.car_option import car_of
from host_bridge.cli.car_actions.request import act_on_car, add_action_arguments
from host_bridge.core import Action
from host_bridge.core.system.running import run_async
from host_bridge.sharing.services import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_action_arguments(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 if the stop is cleared. Raises errors.TandemError, errors.RefusedFault."""
    return run_async(act_on_car(car_of(args), host, Action.CLEAR, is_json=args.json))
