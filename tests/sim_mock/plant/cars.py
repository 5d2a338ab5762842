"""Two cars for the tests of the plant, with the numbers of the vehicle files at writing time.

Copied on purpose: a changed vehicle file must not move what these tests prove.
"""

from typing import Any

from sim_mock.plant.parameters import PlantParameters

NEUTRAL_NS = 1_500_000
NEUTRAL = (NEUTRAL_NS, NEUTRAL_NS, 0, 0, 0, 0, 0, 0)
IMU = {
    "rate_hz": 100.0,
    "yaw_rate_noise_radps": 0.0012,
    "yaw_rate_bias_radps": 0.003,
    "accel_noise_mps2": 0.021,
    "accel_bias_mps2": 0.05,
}
F1TENTH_CURVE = [[-0.5, 1_000_000], [0.0, 1_500_000], [0.5, 2_000_000]]
NIGEL_FRONT = [[-0.5236, 1_781_330], [0.0, 1_472_000], [0.5236, 1_162_670]]
NIGEL_REAR = [[-0.5236, 1_162_670], [0.0, 1_472_000], [0.5236, 1_781_330]]


def f1tenth_mapping(**changes: dict[str, Any]) -> dict[str, Any]:
    """The [plant] table of an F1TENTH; ``body={"integrator": "rk4"}`` changes one key."""
    tables: dict[str, Any] = {
        "body": {
            "mass_kg": 3.47,
            "inertia_z_kgm2": 0.04712,
            "lf_m": 0.15875,
            "lr_m": 0.17145,
            "h_cg_m": 0.074,
            "track_m": 0.236,
            "kinematic_below_mps": 0.3,
        },
        "tyre": {
            "law": "fiala",
            "mu": 1.0489,
            "stiffness_front_per_rad": 4.949,
            "stiffness_rear_per_rad": 5.723,
        },
        "servo": {"rate_rad_s": 3.2, "dead_time_s": 0.010},
        "drive": {
            "driven": "all",
            "wheel_radius_m": 0.058,
            "gear_ratio": 14.0,
            "rotating_mass_kg": 0.34,
            "rolling_resistance": 0.015,
            "friction_n": 1.5,
            "drag_n_per_mps2": 0.02,
        },
        "motor": {
            "count": 1,
            "resistance_ohm": 0.02,
            "emf_vs_per_rad": 0.002728,
            "current_limit_a": 100.0,
        },
        "battery": {"emf_v": 11.8, "resistance_ohm": 0.015, "idle_a": 1.5},
        "esc": {
            "reverse_ns": 1_000_000,
            "neutral_ns": NEUTRAL_NS,
            "forward_ns": 2_000_000,
            "dead_band_ns": 25_000,
            "arm_s": 0.5,
            "reverse_neutral_s": 0.1,
            "hold_s": 0.1,
            "brake_max": 1.0,
            "rearms": False,
        },
        "encoder": {"counts_per_rev": 168, "on": "shaft"},
        "imu": IMU,
        "channels": [
            {"kind": "servo_steering", "axle": "front", "curve": F1TENTH_CURVE},
            {"kind": "esc"},
        ],
    }
    return _changed(tables, changes)


def nigel_mapping(**changes: dict[str, Any]) -> dict[str, Any]:
    """The [plant] table of a Nigel."""
    tables: dict[str, Any] = {
        "body": {
            "mass_kg": 2.68,
            "inertia_z_kgm2": 0.01944,
            "lf_m": 0.06226,
            "lr_m": 0.07929,
            "h_cg_m": 0.0993,
            "track_m": 0.153,
            "kinematic_below_mps": 0.15,
        },
        "tyre": {
            "law": "fiala",
            "mu": 0.4,
            "stiffness_front_per_rad": 3.42,
            "stiffness_rear_per_rad": 3.42,
        },
        "servo": {"rate_rad_s": 5.51, "dead_time_s": 0.010},
        "drive": {
            "driven": "all",
            "wheel_radius_m": 0.0325,
            "gear_ratio": 120.0,
            "rotating_mass_kg": 16.0,
            "rolling_resistance": 0.02,
            "friction_n": 3.0,
            "drag_n_per_mps2": 0.03,
        },
        "motor": {
            "count": 4,
            "resistance_ohm": 4.5,
            "emf_vs_per_rad": 0.007346,
            "current_limit_a": 3.2,
        },
        "battery": {"emf_v": 12.2, "resistance_ohm": 0.06, "idle_a": 0.8},
        "encoder": {"counts_per_rev": 1920, "on": "wheels"},
        "imu": IMU,
        "channels": [
            *[{"kind": "servo_steering", "axle": "front", "curve": NIGEL_FRONT}] * 2,
            *[
                {
                    "kind": "servo_steering",
                    "axle": "rear",
                    "curve": NIGEL_REAR,
                    "wheel_ratio": -1.0,
                }
            ]
            * 2,
            *[{"kind": "h_bridge"}] * 4,
        ],
    }
    return _changed(tables, changes)


def _changed(tables: dict[str, Any], changes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    for name, change in changes.items():
        tables[name] = {**tables[name], **change}
    return tables


def f1tenth(**changes: dict[str, Any]) -> PlantParameters:
    return PlantParameters.from_mapping(f1tenth_mapping(**changes))


def nigel(**changes: dict[str, Any]) -> PlantParameters:
    return PlantParameters.from_mapping(nigel_mapping(**changes))


def f1tenth_outputs(steer_rad: float, throttle_ns: int) -> tuple[int, ...]:
    """Pulses for a commanded angle and for an offset from the ESC's neutral."""
    return (round(NEUTRAL_NS + 1e6 * steer_rad), NEUTRAL_NS + throttle_ns, 0, 0, 0, 0, 0, 0)


def nigel_outputs(steer_rad: float, duty: int) -> tuple[int, ...]:
    front_ns = round(1_472_000 - 309_330 / 0.5236 * steer_rad)
    rear_ns = 2 * 1_472_000 - front_ns
    return (front_ns, front_ns, rear_ns, rear_ns, duty, duty, duty, duty)
