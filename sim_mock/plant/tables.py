"""The keys of a vehicle file's ``[plant]`` and their ranges.

``sim_mock.files`` reads them, as it reads all tables of vehicle and board files.
"""

from typing import Any

from sim_mock.files.keys import Key, choice, flag, integer, number
from sim_mock.files.plain_reading import read_by

TABLES: dict[str, tuple[Key, ...]] = {
    "body": (
        number("mass_kg", 0.01, 1e5),
        number("inertia_z_kgm2", 1e-6, 1e6),
        number("lf_m", 0.005, 10.0),
        number("lr_m", 0.005, 10.0),
        number("h_cg_m", 0.0, 5.0),
        number("track_m", 0.01, 10.0),
        number("kinematic_below_mps", 0.01, 5.0),
        choice("integrator", ("euler", "rk2", "rk4"), default="rk2"),
    ),
    "tyre": (
        choice("law", ("linear", "fiala")),
        number("mu", 0.01, 3.0),
        number("stiffness_front_per_rad", 0.1, 100.0),
        number("stiffness_rear_per_rad", 0.1, 100.0),
    ),
    "servo": (
        number("rate_rad_s", 0.01, 1000.0),
        number("dead_time_s", 0.0, 5.0),
        number("lag_s", 0.0, 5.0, default=0.0),
    ),
    "drive": (
        choice("driven", ("all", "front", "rear")),
        number("wheel_radius_m", 0.001, 2.0),
        number("gear_ratio", 0.1, 10_000.0),
        number("rotating_mass_kg", 1e-3, 1e5),
        number("rolling_resistance", 0.0, 1.0),
        number("friction_n", 0.0, 1e5),
        number("drag_n_per_mps2", 0.0, 1e3),
    ),
    "motor": (
        integer("count", 1, 16),
        number("resistance_ohm", 1e-4, 1e4),
        number("emf_vs_per_rad", 1e-6, 1e3),
        number("current_limit_a", 0.01, 1e4),
    ),
    "battery": (
        number("emf_v", 1.0, 1000.0),
        number("resistance_ohm", 0.0, 100.0),
        number("idle_a", 0.0, 1000.0, default=0.0),
    ),
    "esc": (
        number("reverse_ns", 100_000, 3_000_000),
        number("neutral_ns", 100_000, 3_000_000),
        number("forward_ns", 100_000, 3_000_000),
        number("dead_band_ns", 0, 500_000),
        number("arm_s", 0.0, 60.0),
        number("reverse_neutral_s", 0.0, 60.0),
        number("hold_s", 0.0, 60.0),
        number("brake_max", 0.0, 1.0),
        flag("rearms"),
    ),
    "vesc": (
        number("reverse_ns", 100_000, 3_000_000),
        number("neutral_ns", 100_000, 3_000_000),
        number("forward_ns", 100_000, 3_000_000),
        number("duty_max", 0.01, 1.0),
        number("brake_max_a", 0.1, 200.0),
        number("timeout_s", 0.0, 60.0),
        number("timeout_brake_a", 0.0, 200.0),
    ),
    "brake": (
        number("torque_max_nm", 0.0, 1e5),
        number("lag_s", 0.0, 5.0, default=0.0),
    ),
    "encoder": (
        number("counts_per_rev", 1, 1e6),
        choice("on", ("wheels", "shaft")),
        number("magnets", 0, 1000, default=0),
        number("floor_s", 0.01, 10.0, default=0.4),
    ),
    "imu": (
        number("rate_hz", 1.0, 10_000.0),
        number("yaw_rate_noise_radps", 0.0, 10.0),
        number("yaw_rate_bias_radps", 0.0, 10.0),
        number("accel_noise_mps2", 0.0, 100.0),
        number("accel_bias_mps2", 0.0, 100.0),
        number("yaw_rate_drift_radps", 0.0, 10.0, default=0.0),
        number("accel_drift_mps2", 0.0, 100.0, default=0.0),
        number("yaw_rate_bias_s", 0.0, 1e6, default=0.0),
        number("accel_bias_s", 0.0, 1e6, default=0.0),
        number("yaw_rate_vibration_radps_per_mps", 0.0, 1.0, default=0.0),
        number("accel_vibration_mps2_per_mps", 0.0, 10.0, default=0.0),
    ),
    "lidar": (
        number("rate_hz", 0.1, 1000.0),
        number("rays", 2, 100_000),
        number("first_deg", -360.0, 360.0),
        number("span_deg", 1.0, 360.0),
        number("range_min_m", 0.0, 10.0),
        number("range_max_m", 0.1, 1000.0),
        number("noise_m", 0.0, 10.0),
        number("dropout", 0.0, 1.0),
        number("ahead_m", -10.0, 10.0),
        number("yaw_deg", -180.0, 180.0),
    ),
    "position": (
        number("rate_hz", 0.1, 1000.0),
        number("latency_s", 0.0, 10.0),
        number("noise_m", 0.0, 100.0),
        number("ahead_m", -10.0, 10.0),
    ),
    "gps": (
        number("rate_hz", 0.1, 100.0),
        number("latency_s", 0.0, 10.0),
        number("horizontal_m", 0.0, 100.0),
        number("vertical_m", 0.0, 100.0),
        number("first_m", 0.0, 1e4),
        number("fix_s", 0.0, 1e4),
        number("correlation_s", 0.0, 1e5, default=0.0),
        number("speed_mps", 0.0, 10.0, default=0.0),
        number("ahead_m", -10.0, 10.0, default=0.0),
        number("latitude_deg", -85.0, 85.0),
        number("longitude_deg", -180.0, 180.0),
        number("altitude_m", -500.0, 9000.0, default=0.0),
    ),
    "magnetometer": (
        number("rate_hz", 0.1, 1000.0),
        number("noise_ut", 0.0, 100.0),
        number("bias_ut", 0.0, 1000.0),
        number("horizontal_ut", 0.0, 100.0),
        number("down_ut", -100.0, 100.0),
        number("declination_deg", -180.0, 180.0, default=0.0),
    ),
    "barometer": (
        number("rate_hz", 0.1, 1000.0),
        number("latency_s", 0.0, 10.0, default=0.0),
        number("noise_pa", 0.0, 1e4),
        number("drift_pa", 0.0, 1e4),
        number("drift_s", 1.0, 1e6, default=3600.0),
        number("altitude_m", -500.0, 9000.0, default=0.0),
    ),
    "outline": (
        number("length_m", 0.01, 20.0),
        number("width_m", 0.01, 10.0),
        number("rear_overhang_m", -1.0, 10.0),
        number("restitution", 0.0, 1.0, default=0.0),
        number("wall_mu", 0.0, 10.0, default=None),
    ),
    "patch": (
        number("x_m", -1e6, 1e6),
        number("y_m", -1e6, 1e6),
        number("radius_m", 1e-3, 1e6),
        number("mu_scale", 0.01, 2.0),
    ),
    "payload": (
        number("payload_kg", 0.0, 1e4, default=0.0),
        number("payload_x_m", -10.0, 10.0, default=0.0),
    ),
    "none": (choice("kind", ("none",)),),
    "servo_steering": (
        choice("kind", ("servo_steering",)),
        choice("axle", ("front", "rear")),
        number("wheel_ratio", -10.0, 10.0, default=1.0),
    ),
    "h_bridge": (choice("kind", ("h_bridge",)),),
    "brake_servo": (
        choice("kind", ("brake_servo",)),
        number("released_ns", 100_000, 3_000_000),
        number("full_ns", 100_000, 3_000_000),
    ),
}


def read_table(path: str, table: str, given: object) -> dict[str, Any]:
    """Return the values of one table, defaults filled in, by the keys of ``TABLES[table]``.

    Raises ValueError that names the key that is unknown, missing, of a wrong type or out of range.
    """
    return read_by(path, TABLES[table], given)
