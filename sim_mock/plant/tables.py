"""The keys of a vehicle file's ``[plant]``: what may be there, and within which range.

Tables first; what is not in them is refused by name. A row is key: (low, high), a tuple of the
words that may stand there, or ``bool``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Rule = tuple[float, float] | tuple[str, ...] | type[bool]

TABLES: dict[str, dict[str, Rule]] = {
    "body": {
        "mass_kg": (0.01, 1e5),
        "inertia_z_kgm2": (1e-6, 1e6),
        "lf_m": (0.005, 10.0),
        "lr_m": (0.005, 10.0),
        "h_cg_m": (0.0, 5.0),
        "track_m": (0.01, 10.0),
        "kinematic_below_mps": (0.01, 5.0),
        "integrator": ("euler", "rk2", "rk4"),
    },
    "tyre": {
        "law": ("linear", "fiala"),
        "mu": (0.01, 3.0),
        "stiffness_front_per_rad": (0.1, 100.0),
        "stiffness_rear_per_rad": (0.1, 100.0),
    },
    "servo": {"rate_rad_s": (0.01, 1000.0), "dead_time_s": (0.0, 5.0), "lag_s": (0.0, 5.0)},
    "drive": {
        "driven": ("all", "front", "rear"),
        "wheel_radius_m": (0.001, 2.0),
        "gear_ratio": (0.1, 10_000.0),
        "rotating_mass_kg": (1e-3, 1e5),
        "rolling_resistance": (0.0, 1.0),
        "friction_n": (0.0, 1e5),
        "drag_n_per_mps2": (0.0, 1e3),
    },
    "motor": {
        "count": (1, 16),
        "resistance_ohm": (1e-4, 1e4),
        "emf_vs_per_rad": (1e-6, 1e3),
        "current_limit_a": (0.01, 1e4),
    },
    "battery": {"emf_v": (1.0, 1000.0), "resistance_ohm": (0.0, 100.0), "idle_a": (0.0, 1000.0)},
    "esc": {
        "reverse_ns": (100_000, 3_000_000),
        "neutral_ns": (100_000, 3_000_000),
        "forward_ns": (100_000, 3_000_000),
        "dead_band_ns": (0, 500_000),
        "arm_s": (0.0, 60.0),
        "reverse_neutral_s": (0.0, 60.0),
        "hold_s": (0.0, 60.0),
        "brake_max": (0.0, 1.0),
        "rearms": bool,
    },
    "vesc": {
        "reverse_ns": (100_000, 3_000_000),
        "neutral_ns": (100_000, 3_000_000),
        "forward_ns": (100_000, 3_000_000),
        "duty_max": (0.01, 1.0),
        "brake_max_a": (0.1, 200.0),
        "timeout_s": (0.0, 60.0),
        "timeout_brake_a": (0.0, 200.0),
    },
    "brake": {"torque_max_nm": (0.0, 1e5), "lag_s": (0.0, 5.0)},
    "encoder": {
        "counts_per_rev": (1, 1e6),
        "on": ("wheels", "shaft"),
        "magnets": (0, 1000),
        "floor_s": (0.01, 10.0),
    },
    "imu": {
        "rate_hz": (1.0, 10_000.0),
        "yaw_rate_noise_radps": (0.0, 10.0),
        "yaw_rate_bias_radps": (0.0, 10.0),
        "accel_noise_mps2": (0.0, 100.0),
        "accel_bias_mps2": (0.0, 100.0),
        "yaw_rate_drift_radps": (0.0, 10.0),
        "accel_drift_mps2": (0.0, 100.0),
    },
    "lidar": {
        "rate_hz": (0.1, 1000.0),
        "rays": (2, 100_000),
        "first_deg": (-360.0, 360.0),
        "span_deg": (1.0, 360.0),
        "range_min_m": (0.0, 10.0),
        "range_max_m": (0.1, 1000.0),
        "noise_m": (0.0, 10.0),
        "dropout": (0.0, 1.0),
        "ahead_m": (-10.0, 10.0),
        "yaw_deg": (-180.0, 180.0),
    },
    "position": {
        "rate_hz": (0.1, 1000.0),
        "latency_s": (0.0, 10.0),
        "noise_m": (0.0, 100.0),
        "ahead_m": (-10.0, 10.0),
    },
    "outline": {
        "length_m": (0.01, 20.0),
        "width_m": (0.01, 10.0),
        "rear_overhang_m": (-1.0, 10.0),
    },
    "patch": {
        "x_m": (-1e6, 1e6),
        "y_m": (-1e6, 1e6),
        "radius_m": (1e-3, 1e6),
        "mu_scale": (0.01, 2.0),
    },
    "payload": {"payload_kg": (0.0, 1e4), "payload_x_m": (-10.0, 10.0)},
    "none": {"kind": ("none",)},
    "servo_steering": {
        "kind": ("servo_steering",),
        "axle": ("front", "rear"),
        "wheel_ratio": (-10.0, 10.0),
    },
    "h_bridge": {"kind": ("h_bridge",)},
    "brake_servo": {
        "kind": ("brake_servo",),
        "released_ns": (100_000, 3_000_000),
        "full_ns": (100_000, 3_000_000),
    },
}

DEFAULTS: dict[str, dict[str, Any]] = {
    "body": {"integrator": "rk2"},
    "servo": {"lag_s": 0.0},
    "brake": {"lag_s": 0.0},
    "encoder": {"magnets": 0, "floor_s": 0.4},
    "battery": {"idle_a": 0.0},
    "imu": {"yaw_rate_drift_radps": 0.0, "accel_drift_mps2": 0.0},
    "payload": {"payload_kg": 0.0, "payload_x_m": 0.0},
    "servo_steering": {"wheel_ratio": 1.0},
}


def refuse(path: str, expected: str, got: object) -> ValueError:
    """The error for a value that may not be there."""
    return ValueError(f"{path}: expected {expected}, got {got!r}")


def read_table(path: str, table: str, given: object) -> dict[str, Any]:
    """The values of one table, defaults filled in, by the rules of ``TABLES[table]``.

    Raises ValueError that names the key that is unknown, missing, of a wrong type or out of range.
    """
    return read_by(path, TABLES[table], DEFAULTS.get(table, {}), given)


def read_by(
    path: str, rules: Mapping[str, Rule], defaults: Mapping[str, Any], given: object
) -> dict[str, Any]:
    """The same by any rules."""
    values = {**defaults, **as_mapping(path, given)}
    refuse_unknown(path, values, rules)
    for key, rule in rules.items():
        if key not in values:
            raise ValueError(f"{path}.{key}: missing; expected {_wanted(rule)}")
        values[key] = _checked(f"{path}.{key}", rule, values[key])
    return values


def as_mapping(path: str, given: object) -> Mapping[str, Any]:
    """``given`` if it is a table."""
    if not isinstance(given, Mapping):
        raise refuse(path, "a table", given)
    return given


def as_list(path: str, given: object) -> Sequence[Any]:
    """``given`` if it is a list."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise refuse(path, "a list", given)
    return given


def refuse_unknown(path: str, given: Mapping[str, Any], known: Mapping[str, object]) -> None:
    """Raise ValueError naming the first key that is not among the known."""
    for key in given:
        if key not in known:
            raise ValueError(f"{path}.{key}: unknown; there is {', '.join(known) or 'no key'}")


def as_number(path: str, given: object, low: float, high: float) -> float:
    """``given`` if it is a number in the range (a bool is none, nor is nan)."""
    if isinstance(given, int | float) and not isinstance(given, bool) and low <= given <= high:
        return float(given)
    raise refuse(path, f"a number from {low:g} to {high:g}", given)


def _wanted(rule: Rule) -> str:
    if isinstance(rule, type):
        return "true or false"
    if isinstance(rule[0], str):
        return "one of " + ", ".join(f'"{word}"' for word in rule)
    return f"a number from {rule[0]:g} to {rule[1]:g}"


def _checked(path: str, rule: Rule, value: object) -> Any:
    if isinstance(rule, tuple) and not isinstance(rule[0], str):
        return as_number(path, value, float(rule[0]), float(rule[1]))
    is_right = isinstance(value, bool) if isinstance(rule, type) else value in rule
    if not is_right:
        raise refuse(path, _wanted(rule), value)
    return value
