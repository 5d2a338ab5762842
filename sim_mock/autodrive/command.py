"""What the simulator is told: one answer that every scene finds its keys in.

A key that a scene misses ends its handler in the middle, and the exchange with it; a key too many
is ignored. So each answer has them all, those of the lights and the weather too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim_mock.autodrive.values import numbers

# Scenery, told again in every answer because some scenes read it in every one: signals off, a clear
# noon that stays. Whole numbers, so that they are the same in every language.
_SCENERY = {
    **{f"TL{i} State": "0" for i in range(1, 5)},
    "Auto Time": "False",
    "Time Scale": "1",
    "Time": "720",  # minutes
    "Weather": "1",  # sunny
    "Clouds": "0",
    "Fog": "0",
    "Rain": "0",
    "Snow": "0",
}
_VEHICLE = {
    "Handbrake": "0",
    "Headlights": "0",
    "Indicators": "0",
    "CoSim": "0",  # 0: it moves by its actuators. The pose is read with 1 only.
    **{f"Pos{axis}": "0" for axis in "XYZ"},
    **{f"Rot{axis}": "0" for axis in "XYZ"},
    "RotW": "1",
}


@dataclass(frozen=True, slots=True)
class Command:
    """Shares from -1 to 1, forward and left positive; speeds for the cars that take those.

    ``pedal``, 0 to 1: how far a large car's brake is down where its throttle is 0.
    """

    throttle: float = 0.0
    steering: float = 0.0
    speed_mps: float = 0.0
    yaw_rate_radps: float = 0.0
    pedal: float = 1.0

    @property
    def brake(self) -> float:
        """Throttle 0 holds the small cars; the large ones roll on unless their brake is on."""
        return self.pedal if self.throttle == 0.0 else 0.0

    def held(self) -> Command:
        """Standing, the wheels turned as they are."""
        return Command(steering=self.steering)


def write_command(
    command: Command, mark: str | None, is_reset: bool, vehicle: str = "V1"
) -> dict[str, str]:
    """The keys of an answer. Before the simulator's decimal ``mark`` is known nothing moves."""
    if mark is None:
        command = Command()
    own = {
        "Throttle": decimal(command.throttle, mark),
        "Steering": decimal(command.steering, mark),
        "Linear Velocity": decimal(command.speed_mps, mark),
        "Angular Velocity": decimal(command.yaw_rate_radps, mark),
        "Brake": decimal(command.brake, mark),
        "Reset": str(is_reset),
        **_VEHICLE,
    }
    return {**{f"{vehicle} {key}": text for key, text in own.items()}, **_SCENERY}


def read_command(keys: Mapping[str, Any], vehicle: str = "V1") -> tuple[Command, float] | None:
    """What a script answered: its shares, cut to 1, and how hard it brakes besides, 0 to 1.

    None without a throttle and a steering that are finite numbers.
    """
    throttle, steering, brake, handbrake = (
        numbers(keys.get(f"{vehicle} {key}"), 1)
        for key in ("Throttle", "Steering", "Brake", "Handbrake")
    )
    if throttle is None or steering is None:
        return None
    pulled = max((0.0, *(brake or ()), *(handbrake or ())))
    return Command(share(throttle[0]), share(steering[0])), min(pulled, 1.0)


def share(value: float) -> float:
    """Cut to what the simulator takes."""
    return min(max(value, -1.0), 1.0)


def decimal(value: float, mark: str | None) -> str:
    """Four decimals with this mark; without one a whole number, towards 0."""
    if mark is None:
        return str(int(value))
    text = f"{value:.4f}"
    return "0" if float(text) == 0.0 else text.replace(".", mark)
