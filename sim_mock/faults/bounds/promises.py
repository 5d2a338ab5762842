"""Promises of the car as monitors of a drive: its pins and its program's state, each millisecond.

What is judged is what anybody could measure: which outputs drive while the car moves, and by which
states the program goes. SAFETY.md has the promises; each is restated here and imports none of the
code that is to keep it. The state is that of the program's last step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from firmware.core.settings.params import CHANNEL_NONE
from firmware.protocol.codes import ACTIVE, FAULT, HOLD, STANDBY, STARTING, STOPPED, STOPPING
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.trial.faulty_runner import FaultyRunner
from sim_mock.faults.trial.vehicles import motors_of
from sim_mock.world import World

if TYPE_CHECKING:
    from firmware.app import App

TITLES = {
    "S1": "outputs drive in ACTIVE only; in HOLD and STOPPING they brake at most",
    "S3": "a stop cause or fault takes an armed car to STOPPING on its step",
    "S4": "no way from STOPPED or FAULT to ACTIVE but a clear and a new arm",
    "S8": "no output leaves its calibrated range",
}
_ARMED = (ACTIVE, HOLD)
_NEXT = {  # a restart, to STARTING, may come at any time
    STARTING: (STANDBY, FAULT),
    STANDBY: (HOLD, FAULT),
    HOLD: (ACTIVE, STANDBY, STOPPING),
    ACTIVE: (HOLD, STOPPING),
    STOPPING: (STOPPED, FAULT),
    STOPPED: (STANDBY, FAULT),
    FAULT: (STANDBY,),
}
_NAMES = {STARTING: "STARTING", STANDBY: "STANDBY", HOLD: "HOLD", ACTIVE: "ACTIVE",
          STOPPING: "STOPPING", STOPPED: "STOPPED", FAULT: "FAULT"}  # fmt: skip
# m/s: below it the measured direction of motion, which the brake opposes, may be the other one
_MOVES_MPS = 0.3


class PromiseMonitor:
    """Watches one world from its ``observers``; ``broken`` has what was not kept, and when.

    The program has to run in this process.
    """

    def __init__(self, world: World, vehicle: VehicleSpec) -> None:
        """Begin to watch. Raises ValueError for a program in a process of its own."""
        self.broken: dict[str, str] = {}  # promise: the first time that it was broken
        parameters = vehicle.parameters
        rests = parameters["channel_neutral"]
        self._motors = [(i, rests[i]) for i in motors_of(vehicle)]
        ends = zip(parameters["channel_low"], parameters["channel_high"], strict=True)
        kinds = parameters["channel_kind"]
        self._ranges = {i: it for i, it in enumerate(ends) if kinds[i] != CHANNEL_NONE}
        self._state = state_of(world)
        self._program, self._begins_us = _program(world), world.now_us
        world.observers.append(self.look)

    def look(self, world: World) -> None:
        """Judge this millisecond, unless the program has begun anew and taken no step yet."""
        if _program(world) is not self._program:
            self._program, self._state = _program(world), STARTING
            self._begins_us = world.now_us + world.step_us
        if world.now_us <= self._begins_us:
            return
        state, is_stopped = state_of(world), _has_cause(world)
        self._judge_transition(world, state, is_stopped)
        if not world.enable:
            return
        self._judge_drive(world, state)
        self._judge_ranges(world)

    def _judge_transition(self, world: World, state: int, has_cause: bool) -> None:
        before, self._state = self._state, state
        if state in _ARMED and has_cause:
            self._break(world, "S3", f"{_NAMES[state]} with a stop cause or fault")
        if state not in (before, STARTING) and state not in _NEXT[before]:
            self._break(world, "S4", f"{_NAMES[before]} led to {_NAMES[state]}")

    def _judge_drive(self, world: World, state: int) -> None:
        if state == ACTIVE:
            return
        speed_mps = world.plant.truth.vx_mps
        for channel, rest in self._motors:
            away = world.values[channel] - rest
            if away and state not in (HOLD, STOPPING):
                self._break(world, "S1", f"an output drives in {_NAMES[state]}")
            elif away * speed_mps > 0 and abs(speed_mps) > _MOVES_MPS:
                self._break(world, "S1", f"driven on in {_NAMES[state]} at {speed_mps:.2f} m/s")

    def _judge_ranges(self, world: World) -> None:
        for channel, (low, high) in self._ranges.items():
            value = world.values[channel]
            if not low <= value <= high:
                self._break(world, "S8", f"channel {channel} puts out {value} of {low} to {high}")

    def _break(self, world: World, promise: str, what: str) -> None:
        self.broken.setdefault(promise, f"{promise} at {world.now_us * 1e-6:.3f} s: {what}")


def state_of(world: World) -> int:
    """Return the state of the car's program after its last step."""
    return int(_app(world).supervisor.state)


def accepted_of(world: World) -> int:
    """Return how many claims the car's program has accepted."""
    return int(_app(world).arbiter.accepted)


def _has_cause(world: World) -> bool:
    app = _app(world)
    return bool(app.runstop.bits or app.faults.bits)


def _app(world: World) -> App:
    return cast("App", _program(world).app)  # a runstop box runs in no car's world


def _program(world: World) -> InProcessRunner:
    runner = world.runner
    while isinstance(runner, FaultyRunner):
        runner = runner.inner
    if not isinstance(runner, InProcessRunner):
        raise ValueError("promises are judged of a program in this process")
    return runner
