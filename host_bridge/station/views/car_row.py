"""One car's state as the page shows it: plain values by name, each of this moment or None."""

from __future__ import annotations

import math
from collections.abc import Sequence

from host_bridge.cars.car import ConnectedCar
from host_bridge.core import CarStatus, State, stop_remedy, why_nobody_drives
from host_bridge.core.texts.table import NO_LINK, source_word, stop_source_word
from host_bridge.station.views.signals import board_row, signal_row

_LARGEST_DUTY = 10_000  # all of the time, in 1/10000
_KNOWN_STATES = (State.STARTING, State.STANDBY)
_WITHOUT_CAUSE = (State.ACTIVE, State.HOLD, *_KNOWN_STATES)
_LOCKED_STATES = (State.STOPPED, State.FAULT)
_FULL_OVER_LOW = 4.2 / 3.5  # volts of a cell of a LiPo that is full, and of one that is low


def car_row(
    car: ConnectedCar, heard_us: int | None, now_us: int, why_offline: str
) -> dict[str, object]:
    """Return the row of one car.

    ``heard_us`` is when its newest status came, ``why_offline`` the reason why none comes any more.
    """
    row: dict[str, object] = {
        "name": car.name,
        "vehicle": car.vehicle.name if car.vehicle else "",
        "is_virtual": bool(car.identity and car.identity.is_virtual),
        "is_known": car.is_online(),
        "board": car.as_known_car().board_id.hex(),
        "age_ms": None if heard_us is None else (now_us - heard_us) // 1000,
    }
    if car.status is None:
        why = why_offline or "Nothing is heard of it."
        return {**row, **_limits(car), "state": NO_LINK, "word": NO_LINK, "why": why}
    if not car.is_online():
        why = why_offline or "Nothing is heard of it any more."
        last = car.status.state.name
        offline = {"state": NO_LINK, "last_state": last, "is_armed": False, "why": why}
        return {**row, **_heard(car), **offline}
    return {**row, **_heard(car)}


def _heard(car: ConnectedCar) -> dict[str, object]:
    """Return what the car told, for the page's tile and what else it shows."""
    status = car.status
    assert status is not None, "asked before"
    is_locked = _is_locked(status)
    return {
        **_limits(car),
        "state": status.state.name,
        "word": status.shown_state.word,
        "is_locked": is_locked,
        "is_armed": status.state.is_armed,
        "why": _why(car),
        "stop_age_s": car.stop_age_s(),
        "driver": _driver(car),
        "speed_mps": status.speed_mps,
        "target_mps": status.target_mps,
        "steer_deg": round(math.degrees(status.steer_rad), 2),
        "profile": status.profile.name.lower(),
        "cap_mps": _cap_mps(car),
        "stand_left_s": car.stand_left_s(),
        "lost": car.connection.statistics.missed_statuses,
        "round_trip_ms": _round_trip_ms(car),
        "blind_m": _blind_m(car),
        "pose": _pose(car),
        "lidar_ahead_m": _lidar_ahead_m(car),
        "outputs": _outputs(car),
        "stop_sources": _stop_sources(car),
        "signals": signal_row(car),
        "parts": board_row(car),
        **_battery(car),
    }


def _battery(car: ConnectedCar) -> dict[str, object]:
    power = car.power
    return {
        "battery_v": power.battery_v if power else None,
        "battery": power.stage.name.lower() if power else "",
        "battery_percent": _battery_percent(car),
        "has_charger": bool(car.inputs and car.inputs.has_charger),
    }


def _why(car: ConnectedCar) -> str:
    """Return why the car stands, as a sentence; if it does not, what it does."""
    assert car.status is not None, "asked before"
    why = car.why_stopped(has_age=False)
    if why:
        return f"{why} {stop_remedy(car.status)}".rstrip()
    return car.status.state.sentence if car.status.state in _WITHOUT_CAUSE else ""


def _is_locked(status: CarStatus) -> bool:
    """Return whether a stop or a fault is latched: nothing moves it until a person clears that."""
    return bool(status.causes or status.faults) or status.state in _LOCKED_STATES


def _limits(car: ConnectedCar) -> dict[str, object]:
    """Return how fast its vehicle may be, how far it steers, and where its axles are."""
    it = car.vehicle
    if it is None:
        return {}
    return {
        "speed_max_mps": it.speed_max_mps,
        "reverse_max_mps": it.reverse_max_mps,
        "steer_max_deg": round(math.degrees(it.steer_max_rad), 1),
        "wheelbase_m": it.wheelbase_m,
        "behind_m": it.turns_behind_centre_m,  # from the centre of gravity to the odometry's point
    }


def _cap_mps(car: ConnectedCar) -> float | None:
    """Return the lowest speed cap in force: its profile's, or one that somebody set."""
    assert car.status is not None, "asked before"
    if car.vehicle is None:
        return None
    profile_mps = car.vehicle.profile_caps_mps.get(car.status.profile.name.lower())
    caps = (profile_mps, car.outputs.cap_mps if car.outputs else None, car.vehicle.speed_max_mps)
    return min(it for it in caps if it is not None)


def _battery_percent(car: ConnectedCar) -> int | None:
    """Return where its voltage lies between empty and full; None if its file knows no battery.

    It is no state of charge: a battery under load shows less.
    """
    if car.power is None or car.vehicle is None:
        return None
    low_v, empty_v = (
        car.vehicle.parameters[name][0] * 1e-3 for name in ("battery_low_mv", "battery_empty_mv")
    )
    full_v = low_v * _FULL_OVER_LOW
    if not 0.0 < empty_v < full_v:
        return None
    part = (car.power.battery_v - empty_v) / (full_v - empty_v)
    return round(100.0 * min(max(part, 0.0), 1.0))


def _driver(car: ConnectedCar) -> str:
    assert car.status is not None, "asked before"
    number = car.status.drive_source
    if number is not None:
        names = [s.name for s in car.vehicle.sources if s.id == number] if car.vehicle else []
        return source_word(names[0]) if names else f"source {number}"
    if car.status.state in _KNOWN_STATES:
        return "nobody"
    why = why_nobody_drives(car.events)
    return f"nobody: {why}" if why else "nobody"


def _round_trip_ms(car: ConnectedCar) -> float | None:
    trip_us = car.connection.statistics.round_trip_us(50)  # per cent: the median
    return None if trip_us is None else round(trip_us * 1e-3, 1)


def _blind_m(car: ConnectedCar) -> float | None:
    """Return how far the car would go if nothing more reached it: its lease, then braking."""
    status, vehicle = car.status, car.vehicle
    if status is None or vehicle is None:
        return None
    leases = [s.lease_s for s in vehicle.sources if s.id == status.drive_source]
    speed_mps = abs(status.speed_mps)
    decel_mps2 = vehicle.parameters["brake_decel_mm_s2"][0] * 1e-3
    braked_m = speed_mps**2 / (2 * decel_mps2)
    return round(speed_mps * (max(leases, default=0.0) + vehicle.step_s) + braked_m, 3)


def _pose(car: ConnectedCar) -> Sequence[float] | None:
    motion = car.motion
    if motion is None:
        return None
    return [round(motion.x_m, 3), round(motion.y_m, 3), round(motion.yaw_rad, 4)]


def _lidar_ahead_m(car: ConnectedCar) -> float | None:
    """Return the LIDAR's distance ahead of the rear axle; None if the vehicle file has no LIDAR."""
    lidar = car.vehicle.plant.get("lidar") if car.vehicle else None
    return float(lidar["ahead_m"]) if isinstance(lidar, dict) and "ahead_m" in lidar else None


def _outputs(car: ConnectedCar) -> list[str]:
    """Return the board's output on each channel of the vehicle file, and its encoder counts."""
    if car.outputs is None or car.vehicle is None:
        return []
    kinds = car.vehicle.parameters["channel_kind"]
    lines = [
        f"{channel}: {_pulse(value)}"
        for channel, (value, kind) in enumerate(zip(car.outputs.channels, kinds, strict=False))
        if kind
    ]
    if car.motion:
        lines.append(f"counts {car.motion.count_left} left, {car.motion.count_right} right")
    return lines


def _pulse(value: int) -> str:
    """Format an output: larger values are pulses in ns, smaller ones duties in 1/10000."""
    return f"{value / 1000:.0f} µs" if abs(value) > _LARGEST_DUTY else f"{value / 100:.0f} %"


def _stop_sources(car: ConnectedCar) -> list[dict[str, object]]:
    if car.inputs is None or car.vehicle is None or car.status is None:
        return []
    profile = car.status.profile.name.lower()
    return [
        {
            "name": it.name,
            "word": stop_source_word(it.name),
            "is_there": it.id in car.inputs.stop_fresh,
            "says_stop": it.id in car.inputs.stop_said,
            "need": it.needs.get(profile, "no"),
        }
        for it in car.vehicle.stop_sources
    ]
