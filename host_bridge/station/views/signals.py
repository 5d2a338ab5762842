"""The signals of a car that plots may show, and its diagnostics by source."""

from __future__ import annotations

import math
from typing import NamedTuple

from host_bridge.cars.car import ConnectedCar


class Signal(NamedTuple):
    """A number of a car's row, or of its ``signals``, in words."""

    key: str
    words: str
    unit: str


SIGNALS = (
    Signal("speed_mps", "speed", "m/s"),
    Signal("target_mps", "speed asked for", "m/s"),
    Signal("cap_mps", "cap", "m/s"),
    Signal("steer_deg", "steering, to the left", "degrees"),
    Signal("yaw_rate_dps", "turning, to the left (gyroscope)", "degrees/s"),
    Signal("accel_x_mps2", "acceleration ahead", "m/s2"),
    Signal("accel_y_mps2", "acceleration to the left", "m/s2"),
    Signal("distance_m", "distance driven", "m"),
    Signal("count_left", "wheel counts, left", "counts"),
    Signal("count_right", "wheel counts, right", "counts"),
    Signal("brake_percent", "brake asked for", "%"),
    Signal("blind_m", "unheard, it stops within", "m"),
    Signal("battery_v", "battery", "V"),
    Signal("battery_percent", "battery", "%"),
    Signal("temperature_c", "temperature", "degrees C"),
    Signal("age_ms", "age of its newest report", "ms"),
    Signal("round_trip_ms", "round trip of the link", "ms"),
    Signal("loss_percent", "reports lost in 5 s", "%"),
    Signal("clock_bound_ms", "clocks differ by at most", "ms"),
    Signal("step_ms", "longest step of its program", "ms"),
    Signal("takes_ms", "step of its program, lately", "ms"),
    Signal("missed_lately", "beats missed of the last hundred", "beats"),
)


def signal_row(car: ConnectedCar) -> dict[str, float | None]:
    """Return the numbers that a car's tile has no place for; None where it does not report one."""
    motion, power, inputs, status = car.motion, car.power, car.inputs, car.status
    return {
        "yaw_rate_dps": round(math.degrees(motion.yaw_rate_radps), 1) if motion else None,
        "accel_x_mps2": round(motion.accel_x_mps2, 2) if motion else None,
        "accel_y_mps2": round(motion.accel_y_mps2, 2) if motion else None,
        "distance_m": round(motion.distance_m, 3) if motion else None,
        "count_left": motion.count_left if motion else None,
        "count_right": motion.count_right if motion else None,
        "brake_percent": round(100.0 * status.brake) if status else None,
        "temperature_c": power.temperature_c if power else None,
        "step_ms": inputs.step_us * 1e-3 if inputs else None,
        "takes_ms": inputs.takes_us * 1e-3 if inputs else None,
        "missed_lately": inputs.missed_lately if inputs else None,
    }


def board_row(car: ConnectedCar) -> dict[str, object]:
    """Return what a board says of its own parts; None where it has said nothing of one."""
    inputs, counters, vesc = car.inputs, car.counters, car.vesc
    pairing = inputs.pairing if inputs else None
    return {
        "has_imu": inputs.has_imu if inputs else None,
        "rc": inputs.rc_mode.word if inputs and inputs.rc_mode is not None else None,
        "beat_ms": inputs.beat_us * 1e-3 if inputs and inputs.beat_us else None,
        "missed": inputs.missed if inputs else None,
        "is_loop_closed": inputs.is_runstop_closed if inputs else None,
        "is_enable_closed": inputs.is_enable_closed if inputs else None,
        "box": pairing.word if pairing is not None else None,
        "vesc": vesc and {"is_killed": vesc.is_killed, "has_timed_out": vesc.has_timed_out},
        "frames": counters and {"damaged": counters.damaged, "unsent": counters.unsent},
        "claims": counters
        and {"accepted": counters.claims_accepted, "refused": counters.claims_refused},
    }
