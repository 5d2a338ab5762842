"""One frame of the simulator as a table of values, all optional.

The keys depend on the vehicle and on the build: ``Speed`` became ``Linear Velocity`` in 2026, the
LIDAR's are missing until its first scan, the first frames have incomplete vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim_mock.autodrive.values import Values, numbers, ranges_m, yaw_of

# field of Telemetry, key after "V1 ", how many numbers
_KEYS = (
    ("throttle", "Throttle", 1),
    ("steer_rad", "Steering", 1),
    ("speed_mps", "Speed", 1),  # without a sign
    ("velocity_mps", "Linear Velocity", 3),  # in the car: forward, left, up
    ("brake", "Brake", 1),
    ("handbrake", "Handbrake", 1),
    ("ticks", "Encoder Ticks", 2),
    ("wheels_rad", "Encoder Angles", 2),
    ("position_m", "Position", 3),
    ("quaternion", "Orientation Quaternion", 4),  # x, y, z, w
    ("euler_rad", "Orientation Euler Angles", 3),
    ("turning_radps", "Angular Velocity", 3),
    ("accel_mps2", "Linear Acceleration", 3),
    ("collisions", "Collisions", 1),
    ("scan_rate_hz", "LIDAR Scan Rate", 1),
    ("lap_count", "Lap Count", 1),
    ("lap_time_s", "Lap Time", 1),
    ("last_lap_time_s", "Last Lap Time", 1),  # 1000000: none yet
    ("best_lap_time_s", "Best Lap Time", 1),
)
_SCAN = "LIDAR Range Array"
_MOVES_MPS = 0.02  # at 130 frames/s a wheel of 0.2 m then turns by 8 units of the last digit
_WHOLE = ("ticks", "collisions", "lap_count")  # written without decimals; the rest has four


@dataclass(frozen=True, slots=True)
class TelemetryValues:
    """The values of one frame, None where it has none; left wheel before right wheel."""

    throttle: Values | None = None
    steer_rad: Values | None = None
    speed_mps: Values | None = None
    velocity_mps: Values | None = None
    brake: Values | None = None
    handbrake: Values | None = None
    ticks: Values | None = None
    wheels_rad: Values | None = None
    position_m: Values | None = None
    quaternion: Values | None = None
    euler_rad: Values | None = None
    turning_radps: Values | None = None
    accel_mps2: Values | None = None
    collisions: Values | None = None
    scan_rate_hz: Values | None = None
    lap_count: Values | None = None
    lap_time_s: Values | None = None
    last_lap_time_s: Values | None = None
    best_lap_time_s: Values | None = None
    scan: object = None  # as it came; unpacked only on demand

    def moved(self) -> tuple[Values | None, ...]:
        """Return all values that change while time passes: they have no noise, yet never repeat."""
        return (self.wheels_rad, self.ticks, self.position_m, self.quaternion, self.accel_mps2,
                self.turning_radps, self.speed_mps, self.velocity_mps, self.lap_time_s)  # fmt: skip

    def says_motion(self) -> bool:
        """Return whether it reports a speed along the car beyond that of rest."""
        speed_mps = self.velocity_mps or self.speed_mps
        return speed_mps is not None and abs(speed_mps[0]) > _MOVES_MPS

    def ranges_m(self) -> Values:
        """Return the LIDAR's ranges from right to left: empty without a scan, inf for no return."""
        return ranges_m(self.scan)

    def yaw_rad(self) -> float | None:
        """Return the yaw by the quaternion, or else by the Euler angles, which jump near 0."""
        if self.quaternion:
            return yaw_of(*self.quaternion)
        return self.euler_rad[2] if self.euler_rad else None


def read_telemetry(keys: Mapping[str, Any], vehicle: str = "V1") -> TelemetryValues:
    """Return the values of a frame that can be read."""
    found = {field: numbers(keys.get(f"{vehicle} {key}"), n) for field, key, n in _KEYS}
    return TelemetryValues(**found, scan=keys.get(f"{vehicle} {_SCAN}"))


def write_telemetry(telemetry: TelemetryValues, vehicle: str = "V1") -> dict[str, str]:
    """Return the known values' keys as the simulator writes them; a scan stays as it is."""
    known = {key: (field, getattr(telemetry, field)) for field, key, _ in _KEYS}
    keys = {
        f"{vehicle} {key}": _words(values, field in _WHOLE)
        for key, (field, values) in known.items()
        if values is not None
    }
    return (
        keys | {f"{vehicle} {_SCAN}": telemetry.scan} if isinstance(telemetry.scan, str) else keys
    )


def _words(values: Values, is_whole: bool) -> str:
    return " ".join(f"{value:.{0 if is_whole else 4}f}" for value in values)


def marked_texts(keys: Mapping[str, Any], vehicle: str = "V1") -> list[object]:
    """Return the values that show the decimal mark: numbers only, no pictures."""
    return [keys.get(f"{vehicle} {key}") for _, key, _ in _KEYS]
