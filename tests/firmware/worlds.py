"""Worlds on every way of running the car's program that this machine has."""

import sys
from pathlib import Path

import pytest

from host_bridge.config import load_vehicle
from sim_mock import micropython
from sim_mock.firmware_runner import InProcess, Process
from sim_mock.world import World

HEAP_LOCKED = Path(__file__).resolve().parents[1] / "device" / "heap_locked.py"
VEHICLES = ("f1tenth", "nigel")


def micropython_command(bits: int) -> list[str]:
    command = micropython.find(bits)
    if command is None:
        pytest.skip(f"no MicroPython of {bits} bit on this machine; `make setup` fetches one")
    return command


def world_of(vehicle="f1tenth", runtime="in process", seed=1, program=None, **options) -> World:
    """``runtime``: "in process", "cpython", 64 or 32 (a MicroPython of so many bits), or what makes
    a runner."""
    if callable(runtime):
        runner = runtime
    elif runtime == "in process":
        runner = InProcess
    else:
        command = [sys.executable] if runtime == "cpython" else micropython_command(runtime)
        rest = (program,) if program else ()

        def runner(board_id, image, seed):
            return Process(command, board_id, image, seed, *rest)

    if isinstance(vehicle, str):
        vehicle = load_vehicle(vehicle)
    return World(vehicle, seed, runner=runner, **options)
