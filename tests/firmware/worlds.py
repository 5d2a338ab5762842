"""Worlds on every way of running the car's program that this machine has."""

import sys
from pathlib import Path

import pytest

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host import full_storm
from sim_mock.board.firmware_runner import InProcessRunner, SubprocessRunner
from sim_mock.runtime import micropython
from sim_mock.world import World

HEAP_LOCKED = Path(__file__).resolve().parents[1] / "support" / "device" / "heap_locked.py"
VEHICLES = ("f1tenth", "nigel")


def micropython_command(bits: int) -> list[str]:
    command = micropython.find(bits)
    if command is None:
        pytest.skip(f"no MicroPython of {bits} bit on this machine; `make setup` fetches one")
    return command


def runner_of(runtime, program=None):
    """``runtime``: "in process", "cpython", 64 or 32 (a MicroPython of so many bits), or what makes
    a runner."""
    if callable(runtime):
        return runtime
    if runtime == "in process":
        return InProcessRunner
    command = [sys.executable] if runtime == "cpython" else micropython_command(runtime)
    rest = (program,) if program else ()
    return lambda board_id, image, seed: SubprocessRunner(command, board_id, image, seed, *rest)


def world_of(vehicle="f1tenth", runtime="in process", seed=1, program=None, **options) -> World:
    """Its program runs as ``runner_of`` says."""
    if isinstance(vehicle, str):
        vehicle = load_vehicle(vehicle)
    return World(vehicle, seed, runner=runner_of(runtime, program), **options)


def stormy_drive(vehicle, runtime, beats, seed, program=None, **options):
    """A drive full of trouble on any of these ways; its host."""
    runner = runner_of(runtime, program)
    return full_storm.stormy_drive(vehicle, runner, beats, seed, **options)
