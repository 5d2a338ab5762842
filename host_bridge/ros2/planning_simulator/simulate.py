"""Runs the node of simple_planning_simulator until it is told to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.discovery_range import stay_on_this_machine
from host_bridge.ros2.planning_simulator.car import PlanningCar
from host_bridge.ros2.planning_simulator.node import PlanningNode
from host_bridge.ros2.planning_simulator.parameter_files import (
    LEASE,
    NAMESPACE,
    NODE,
    SimulatorSetup,
    read_setup,
)
from host_bridge.ros2.planning_simulator.topics import INITIAL_POSE

_LOOK_S = 0.1  # how often ``is_over`` is asked


def simulate(
    paths: Sequence[Path],
    given: Mapping[str, Any],
    publish: str,
    seed: int,
    *,
    environment: MutableMapping[str, str],
    namespace: str = NAMESPACE,
    remaps: Sequence[str] = (),
    is_over: Callable[[], bool],
    tell: Callable[[str], None],
) -> None:
    """Run the node with these files and parameters; ``tell`` gets notes for the user.

    Raises errors.TandemError.
    """
    setup = read_setup(paths, given)
    simulator = setup.simulator(seed)
    car = PlanningCar(
        simulator,
        setup.values["vehicle_model_type"],
        setup.period_s,
        setup.values[LEASE],
        setup.values["initial_engage_state"],
    )
    for note in setup.notes:
        tell(note)
    stay_on_this_machine(environment)
    bus = Bus(NODE, namespace, lambda: time.monotonic_ns() // 1000, setup.values, remaps=remaps)
    try:
        node = PlanningNode(bus, car, setup, publish, tell)
        tell(_beginning(setup, f"{namespace}/{NODE}"))
        while not is_over():
            bus.wait(min(node.step(), _LOOK_S))
    finally:
        bus.close()


def _beginning(setup: SimulatorSetup, name: str) -> str:
    """Return the sentence that it runs, and for what it waits."""
    waits = ""
    if setup.values["initialize_source"] == "INITIAL_POSE_TOPIC":
        waits = f"; it is nowhere until a pose comes on {INITIAL_POSE}"
    return f"{setup.values['vehicle_model_type']} runs as {name}{waits}; Ctrl-C ends"
