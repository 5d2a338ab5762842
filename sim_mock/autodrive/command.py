"""The answer to the simulator: one set of keys that satisfies every scene.

A missing key aborts the scene's handler, and the exchange with it; an additional key is ignored. So
each answer has all keys: those of each vehicle that a scene may have, of lights and of the weather.
Vehicles that are not driven from here are told to stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Any

from sim_mock.autodrive.values import Values, numbers, yaw_of

SIGNALS = tuple(f"TL{i} State" for i in range(1, 5))
SLOTS = 4  # vehicles covered before the scene has told its number; it reads the keys of all
# A scene with a sky reads it in every answer but does not report it, so it cannot be echoed.
SKY = {
    "Auto Time": "False",
    "Time Scale": "1",
    "Time": "720",  # minutes: noon
    "Weather": "1",  # sunny
    "Clouds": "0",
    "Fog": "0",
    "Rain": "0",
    "Snow": "0",
}
_VEHICLE = {
    "CoSim": "0",  # 0: it moves by its actuators, and the pose is ignored
    **{f"Pos{axis}": "0" for axis in "XYZ"},
    **{f"Rot{axis}": "0" for axis in "XYZ"},
    "RotW": "1",
}


@dataclass(frozen=True, slots=True)
class Scenery:
    """The lights and the sky in an answer; whole numbers, which no locale writes differently.

    ``signals`` are echoed as the scene last reported them, so they stay. ``sky`` and the car's
    ``lights`` are what was asked for, or the simulator's initial ones.
    """

    signals: Mapping[str, str] = field(default_factory=dict)
    sky: Mapping[str, str] = field(default_factory=dict)
    headlights: str = "0"
    indicators: str = "0"

    def heard(self, keys: Mapping[str, Any]) -> Scenery:
        """Return the scenery with the signals that the scene reports."""
        values = {key: str(keys[key]) for key in SIGNALS if str(keys.get(key, "")).isdecimal()}
        return Scenery({**self.signals, **values}, self.sky, self.headlights, self.indicators)

    def keys(self) -> dict[str, str]:
        """Return the keys that belong to no vehicle."""
        return {**dict.fromkeys(SIGNALS, "0"), **self.signals, **SKY, **self.sky}


@dataclass(frozen=True, slots=True)
class VehicleCommand:
    """A command to a vehicle: shares from -1 to 1, forward and left positive; speeds for some cars.

    ``pedal``, 0 to 1: how far a large car's brake is down where its throttle is 0.
    """

    throttle: float = 0.0
    steering: float = 0.0
    speed_mps: float = 0.0
    yaw_rate_radps: float = 0.0
    pedal: float = 1.0

    @property
    def brake(self) -> float:
        """The brake from 0 to 1: throttle 0 holds small cars; large ones need their brake.

        It is sent as the handbrake, too: the simulator's rear wheels brake by that alone.
        """
        return self.pedal if self.throttle == 0.0 else 0.0

    def held(self) -> VehicleCommand:
        """Return the command to stand, with the wheels turned as they are."""
        return VehicleCommand(steering=self.steering)


@dataclass(frozen=True, slots=True)
class VehicleAnswer:
    """The command to one vehicle; the default is to stand."""

    command: VehicleCommand = VehicleCommand()
    is_reset: bool = False


def write_answer(
    answers: Mapping[int, VehicleAnswer], mark: str | None, scenery: Scenery
) -> dict[str, str]:
    """Return the keys of an answer to a scene, by its vehicles' numbers; the others stand.

    Before the simulator's decimal ``mark`` is known nothing moves.
    """
    keys = scenery.keys()
    for slot in range(1, max(SLOTS, *answers) + 1):
        one = answers.get(slot, VehicleAnswer())
        keys.update(write_command(one.command, mark, one.is_reset, f"V{slot}"))
        keys[f"V{slot} Headlights"] = scenery.headlights if slot in answers else "0"
        keys[f"V{slot} Indicators"] = scenery.indicators if slot in answers else "0"
    return keys


def write_command(
    command: VehicleCommand, mark: str | None, is_reset: bool, vehicle: str = "V1"
) -> dict[str, str]:
    """Return the keys of one vehicle, except for its lights."""
    if mark is None:
        command = VehicleCommand()
    own = {
        "Throttle": decimal(command.throttle, mark),
        "Steering": decimal(command.steering, mark),
        "Linear Velocity": decimal(command.speed_mps, mark),
        "Angular Velocity": decimal(command.yaw_rate_radps, mark),
        "Brake": decimal(command.brake, mark),
        "Handbrake": decimal(command.brake, mark),
        "Reset": str(is_reset),
        **_VEHICLE,
    }
    return {f"{vehicle} {key}": text for key, text in own.items()}


@dataclass(frozen=True, slots=True)
class ScriptCommand:
    """A script's command: shares clamped to 1, two brakes from 0 to 1, and other requests.

    ``pose``: x and y in m, yaw in rad, of a script that moves the vehicle itself (CoSim).
    """

    throttle: float = 0.0
    steering: float = 0.0
    brake: float = 0.0
    handbrake: float = 0.0
    is_reset: bool = False
    pose: tuple[float, float, float] | None = None
    signals: Mapping[str, str] = field(default_factory=dict)

    @property
    def pulled(self) -> float:
        """The stronger of the two brakes."""
        return max(self.brake, self.handbrake)

    @property
    def holds(self) -> bool:
        """True if it moves the vehicle itself or resets it: throttle has no effect meanwhile."""
        return self.is_reset or self.pose is not None


def read_script_command(keys: Mapping[str, Any], vehicle: str = "V1") -> ScriptCommand | None:
    """Read an answer; None without a throttle and a steering that are finite numbers."""
    throttle, steering, brake, handbrake = (
        numbers(keys.get(f"{vehicle} {key}"), 1)
        for key in ("Throttle", "Steering", "Brake", "Handbrake")
    )
    if throttle is None or steering is None:
        return None
    return ScriptCommand(
        share(throttle[0]),
        share(steering[0]),
        _pulled(brake),
        _pulled(handbrake),
        str(keys.get(f"{vehicle} Reset", "")).lower() == "true",
        _pose(keys, vehicle),
        {key: str(keys[key]) for key in SIGNALS if str(keys.get(key, "")).isdecimal()},
    )


def _pulled(brake: Values | None) -> float:
    return min(max(brake[0], 0.0), 1.0) if brake else 0.0


def _pose(keys: Mapping[str, Any], vehicle: str) -> tuple[float, float, float] | None:
    if str(keys.get(f"{vehicle} CoSim", "")).strip() != "1":
        return None
    names = ("PosX", "PosY", "RotX", "RotY", "RotZ", "RotW")
    found = [numbers(keys.get(f"{vehicle} {name}"), 1) for name in names]
    x_m, y_m, x, y, z, w = (one[0] if one else nan for one in found)
    pose = x_m, y_m, yaw_of(x, y, z, w)
    return pose if all(map(isfinite, pose)) else None


def share(value: float) -> float:
    """Clamp to the simulator's range, -1 to 1."""
    return min(max(value, -1.0), 1.0)


def decimal(value: float, mark: str | None) -> str:
    """Return four decimals with this mark; without one a whole number, rounded towards 0."""
    if mark is None:
        return str(int(value))
    text = f"{value:.4f}"
    return "0" if float(text) == 0.0 else text.replace(".", mark)
