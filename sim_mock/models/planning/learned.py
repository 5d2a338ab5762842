"""LEARNED_STEER_VEL: a car made of users' Python classes, connected by the names of their signals.

A class has (autoware learning_based_vehicle_model, README, Assumptions) ``forward(action, state) ->
next state``, ``get_action_names()``, ``get_state_names()``, ``load_params(path)``, ``reset()`` and
``dtSet(dt)``. Each takes its actions and states from one table of signals; all see the signals of
before the step, so their order does not matter.
"""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sim_mock.models.planning.motion import DriverCommand, MotionReport
from sim_mock.models.planning.parameters import texts

INPUTS = ("VX_DES", "STEER_DES")
STATES = ("POS_X", "POS_Y", "YAW", "YAW_RATE", "VX", "VY", "STEER")
PARTS = ("model_module_paths", "model_param_paths", "model_class_names")
METHODS = ("forward", "get_action_names", "get_state_names", "load_params", "reset", "dtSet")


class Learned(NamedTuple):
    """The state that a learned car offers, in the order of ``STATES``.

    Place and yaw are in the frame of the map, to the left positive; ``vx_mps`` is along the car and
    ``vy_mps`` to its left.
    """

    x_m: float = 0.0
    y_m: float = 0.0
    yaw_rad: float = 0.0
    wz_radps: float = 0.0
    vx_mps: float = 0.0
    vy_mps: float = 0.0
    steer_rad: float = 0.0


class LearnedCar:
    """A car whose next state its parts compute; signals that no part computes stay constant."""

    def __init__(self, parts: Sequence[Any], dt_s: float) -> None:
        self._parts = [(p, list(p.get_action_names()), list(p.get_state_names())) for p in parts]
        self._signals = dict.fromkeys(self._names(), 0.0)
        self._ax_mps2 = self._asked_mps = 0.0
        for part in parts:
            part.dtSet(dt_s)

    def _names(self) -> list[str]:
        theirs = [name for _, actions, states in self._parts for name in (*actions, *states)]
        return [*INPUTS, *STATES, *theirs]

    @property
    def state(self) -> Learned:
        """The signals that are the car's state."""
        return Learned(*(self._signals[name] for name in STATES))

    def place(self, x_m: float, y_m: float, yaw_rad: float, vx_mps: float = 0.0) -> None:
        """Put the car there; other signals restart at 0, and parts keep their internal state."""
        self._signals = dict.fromkeys(self._signals, 0.0)
        self._signals.update(POS_X=x_m, POS_Y=y_m, YAW=yaw_rad, VX=vx_mps)

    def step(self, dt_s: float, command: DriverCommand) -> Learned:
        """Return ``state`` after one step; the parts keep the step length they were made with.

        Of the command only speed and steering count; ``dt_s`` serves the reported acceleration.
        Raises ValueError where a part returns another number of states than it named.
        """
        before = {**self._signals, "VX_DES": command.vx_mps, "STEER_DES": command.steer_rad}
        after = dict(before)
        for part, actions, states in self._parts:
            after.update(_forward(part, before, actions, states))
        self._signals = after
        # The simulator reports the change of the *commanded* speed here.
        self._ax_mps2 = (command.vx_mps - self._asked_mps) / dt_s
        self._asked_mps = command.vx_mps
        return self.state

    def report(self) -> MotionReport:
        """Return the state as the simulator publishes it."""
        s = self.state
        return MotionReport(
            s.x_m, s.y_m, s.yaw_rad, s.vx_mps, s.vy_mps, self._ax_mps2, s.wz_radps, s.steer_rad
        )


def _forward(
    part: Any, signals: Mapping[str, float], actions: Sequence[str], states: Sequence[str]
) -> dict[str, float]:
    given = part.forward([signals[name] for name in actions], [signals[name] for name in states])
    numbers = [float(number) for number in given]
    if len(numbers) != len(states):
        name = type(part).__name__
        raise ValueError(f"{name}.forward: expected {len(states)} states, got {len(numbers)}")
    return dict(zip(states, numbers, strict=True))


def learned_car(given: Mapping[str, Any], dt_s: float) -> LearnedCar:
    """Return the car that the three lists of parameters describe, imported by module path.

    Raises ValueError where the lists differ in length or are empty, a module or a class is not
    there, or a class lacks a method.
    """
    modules, paths, classes = (texts(name, given) for name in PARTS)
    if not len(modules) == len(paths) == len(classes) > 0:
        got = f"{len(modules)}, {len(paths)} and {len(classes)}"
        raise ValueError(f"{', '.join(PARTS)}: expected lists as long as each other, got {got}")
    parts = [_part(*row) for row in zip(modules, paths, classes, strict=True)]
    return LearnedCar(parts, dt_s)


def _part(module: str, path: str, name: str) -> Any:
    try:
        part = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model_module_paths: {module}: no class {name} ({error})") from error
    missing = [method for method in METHODS if not hasattr(part, method)]
    if missing:
        raise ValueError(f"{module}.{name}: lacks {', '.join(missing)}")
    if path:
        part.load_params(path)
        part.reset()
    return part
