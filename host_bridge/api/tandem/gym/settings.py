"""The options of an environment, checked, and the spaces that follow from them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from gymnasium import spaces

from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from tandem.arguments import ArgumentFault, number, whole
from tandem.gym.rewards import REWARDS, Reward

_TICK_MS = 10  # the period of claims: host_bridge/drive/control_task.py
_RAYS_MOST = 10_000  # more than any LIDAR of a small car has
_FAR_M = 1e4  # bounds of a pose: farther than any drive of an episode goes
_SEVERAL = 1.5  # of the highest speed: what a plant may overshoot
_STEER_SEVERAL = 1.2  # of full lock, likewise
_IMU = 32.8  # rad/s and m/s2: what 16 bits of the report hold in thousandths
_LAPS, _LAP_S = 1e4, 3600.0  # bounds: more than any episode has
_RESET = ("start", "vehicle_changes", "faults", "payload_kg", "patch")


@dataclass(frozen=True)
class Settings:
    """The options of ``gymnasium.make``, checked."""

    vehicle: str
    track: str
    map: str
    period_s: float
    rays: int
    is_true_pose: bool
    reward: Reward
    laps: int
    seconds: float
    ends_on_hit: bool
    faults: str
    is_normalized: bool

    @property
    def ticks(self) -> int:
        """The number of ticks of 10 ms in a step."""
        return round(self.period_s * 1000) // _TICK_MS


def checked(
    vehicle: str,
    track: str,
    map: str,  # noqa: A002 - said as in a car's URI
    period_s: float,
    rays: int,
    pose: str,
    reward: str | Reward,
    laps: int,
    seconds: float,
    ends_on_hit: bool,
    faults: str,
    normalized: bool = False,
) -> Settings:
    """Return the settings; without track and map it is the corridor.

    Raises errors.UsageFault for what cannot be.
    """
    if track and map:
        raise UsageFault(
            "a race is on a track or on a map", expected='track="corridor" or map=FILE'
        )
    if pose not in ("odometry", "truth"):
        raise ArgumentFault("pose cannot be", expected="odometry or truth", got=repr(pose))
    found = number("period_s", period_s, _TICK_MS / 1000, 1.0, "s")
    if abs(found * 100 - round(found * 100)) > 1e-9:  # the rounding of floats
        raise ArgumentFault(
            "period_s is no whole number of ticks",
            expected="a multiple of 0.01 s",
            got=f"{found:g}",
        )
    return Settings(
        vehicle,
        track if track or map else "corridor",
        map,
        found,
        whole("rays", rays, 0, _RAYS_MOST),
        pose == "truth",
        _reward(reward),
        whole("laps", laps, 0, int(_LAPS)),
        number("seconds", seconds, found, _LAP_S, "s"),
        bool(ends_on_hit),
        faults,
        bool(normalized),
    )


def _reward(reward: str | Reward) -> Reward:
    if callable(reward):
        return reward
    if reward in REWARDS:
        return REWARDS[reward]
    raise ArgumentFault(
        "no such reward",
        expected=f"{', '.join(REWARDS)}, or a function of two moments",
        got=repr(reward),
    )


def refuse_late(settings: Settings, vehicle: Vehicle) -> None:
    """Raise errors.UsageFault for a period in which the car would rightly stop."""
    lease_s = vehicle.source("script").lease_s
    if settings.period_s > lease_s - _TICK_MS / 1000:
        raise UsageFault(
            "period_s is too long: between two actions the car would stop",
            where=vehicle.name,
            expected=f"at most {lease_s - _TICK_MS / 1000:g} s: its lease less a tick of 10 ms",
            got=f"{settings.period_s:g} s",
        )


def refuse_mode(render_mode: str | None) -> None:
    """Raise errors.UsageFault for a way of rendering that there is none of."""
    if render_mode not in (None, "rgb_array"):
        raise UsageFault(
            f"render_mode {render_mode!r}",
            expected="rgb_array",
            remedy="for a live view: tandem station, and a car of its own in another terminal",
        )


def action_space(vehicle: Vehicle) -> spaces.Box:
    """Return steering in rad (left +) and speed in m/s, in f1tenth_gym's order."""
    cap_mps = min(vehicle.source("script").speed_cap_mps, vehicle.profile_caps_mps[vehicle.profile])
    low = (-vehicle.steer_max_rad, -min(vehicle.reverse_max_mps, cap_mps))
    high = (vehicle.steer_max_rad, min(vehicle.speed_max_mps, cap_mps))
    return _box(low, high)


def normalized_space() -> spaces.Box:
    """Return the same from -1 to 1, which stand for the ends of ``action_space``."""
    return _box((-1.0, -1.0), (1.0, 1.0))


def observation_space(vehicle: Vehicle, rays: int, range_max_m: float) -> spaces.Dict:
    """Return the observation; README.md has the units."""
    speed, steer = _SEVERAL * vehicle.speed_max_mps, _STEER_SEVERAL * vehicle.steer_max_rad
    boxes: dict[str, spaces.Space[Any]] = {
        "pose": _box((-_FAR_M, -_FAR_M, -pi), (_FAR_M, _FAR_M, pi)),
        "speed": _box((-speed,), (speed,)),
        "steer": _box((-steer,), (steer,)),
        "yaw_rate": _box((-_IMU,), (_IMU,)),
        "accel": _box((-_IMU, -_IMU), (_IMU, _IMU)),
        "laps": _box((0.0,), (_LAPS,)),
        "lap_time": _box((0.0,), (_LAP_S,)),
        "collision": _box((0.0,), (1.0,)),
    }
    if rays:
        boxes["scan"] = spaces.Box(0.0, np.float32(range_max_m), (rays,), np.float32)
    return spaces.Dict(boxes)


def _box(low: Sequence[float], high: Sequence[float]) -> spaces.Box:
    return spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)


def reset_options(options: Mapping[str, Any] | None) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the options of a car's URI, and the changes of its vehicle file.

    Raises errors.UsageFault for an option that does not exist.
    """
    given = dict(options or {})
    for name in given:
        if name not in _RESET:
            near = difflib.get_close_matches(str(name), _RESET, 1)
            raise UsageFault(
                "reset() has no such option",
                expected=", ".join(_RESET),
                got=repr(name),
                remedy=f"did you mean {near[0]}?" if near else "",
            )
    query: dict[str, str] = {}
    if "start" in given:
        x_m, y_m, yaw_deg = (number("start", value) for value in given["start"])
        query["start"] = f"{x_m!r},{y_m!r},{yaw_deg!r}"
    if "payload_kg" in given:
        query["payload_kg"] = repr(number("payload_kg", given["payload_kg"], 0.0, unit="kg"))
    query.update({key: str(given[name]) for name, key in _URI_NAMES if given.get(name)})
    return query, dict(given.get("vehicle_changes", {}))


_URI_NAMES = (("faults", "fault"), ("patch", "patch"))
