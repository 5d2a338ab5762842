"""Each command that needs to know a car's type takes ``--vehicle``; of several cars none does."""

import argparse
from importlib import import_module

import pytest

from host_bridge.cli.arguments.car_option import vehicle_for
from host_bridge.core.errors import UsageFault

# the words that a command needs besides, so that its line is whole
COMMANDS = {
    "arm": [], "backup": ["red.json"], "calibrate": ["a.mcap"], "cap": ["0.5"], "config": ["show"],
    "drive": [], "mavlink": [], "monitor": [], "record": ["-o", "a.mcap"], "restore": ["red.json"],
    "selftest": [], "serve": [], "stop_source": ["door"], "trim": [],
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_a_vehicle_file(command):
    module = import_module(f"host_bridge.cli.commands.{command}")
    parser = argparse.ArgumentParser()
    parser.set_defaults(command=command)
    module.add_arguments(parser)
    args = parser.parse_args([*COMMANDS[command], "--vehicle", "./slash.toml"])
    assert args.vehicle == "./slash.toml"


def test_one_vehicle_is_not_taken_for_that_of_several_cars():
    args = argparse.Namespace(vehicle="./slash.toml")
    assert vehicle_for(args, ["red"]) == "./slash.toml"
    assert vehicle_for(argparse.Namespace(vehicle=None), ["red", "blue"]) is None
    with pytest.raises(UsageFault, match="of one car"):
        vehicle_for(args, ["red", "blue"])
