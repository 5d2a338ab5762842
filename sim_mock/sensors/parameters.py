"""The parameters of a car's sensors beside those of its board, from its vehicle file.

They are apart from the sensors, as those need numpy and a car without them does not.
"""

from dataclasses import dataclass
from math import radians


@dataclass(frozen=True, slots=True)
class LidarParameters:
    """The numbers of a planar scanner ``ahead_m`` of the rear axle, turned by ``yaw_deg``.

    Ray 0 looks along ``first_deg``, the last one ``span_deg`` farther to the left. ``noise_m``: the
    standard deviation of one range. ``dropout``: the share of rays without a return.
    """

    rate_hz: float
    rays: float
    first_deg: float
    span_deg: float
    range_min_m: float
    range_max_m: float
    noise_m: float
    dropout: float
    ahead_m: float
    yaw_deg: float

    @property
    def first_rad(self) -> float:
        """The bearing of ray 0 in the car."""
        return radians(self.first_deg + self.yaw_deg)

    @property
    def step_rad(self) -> float:
        return radians(self.span_deg) / (self.rays - 1.0)


@dataclass(frozen=True, slots=True)
class PositionParameters:
    """The numbers of a satellite receiver or of cameras; its samples are ``latency_s`` old.

    ``noise_m``: standard deviation of each coordinate, white. The antenna is ``ahead_m`` of the
    rear axle, which is negative at the tail.
    """

    rate_hz: float
    latency_s: float
    noise_m: float
    ahead_m: float


@dataclass(frozen=True, slots=True)
class OutlineParameters:
    """The car's rectangle seen from above; ``rear_overhang_m`` is the part behind its rear axle.

    ``restitution`` is the share of the speed into a wall that it bounces back with, ``wall_mu`` the
    friction along it. Without the friction a wall holds the car.
    """

    length_m: float
    width_m: float
    rear_overhang_m: float
    restitution: float = 0.0
    wall_mu: float | None = None


@dataclass(frozen=True, slots=True)
class GpsParameters:
    """The numbers of a satellite receiver, whose antenna is ``ahead_m`` of the rear axle.

    Standard deviations of one axis: ``horizontal_m`` with a fix, ``first_m`` when it is switched
    on; it falls with the time constant ``fix_s``. ``correlation_s``: that of the errors in time, 0
    for white ones. The origin of the floor is at ``latitude_deg``, ``longitude_deg``.
    """

    rate_hz: float
    latency_s: float
    horizontal_m: float
    vertical_m: float
    first_m: float
    fix_s: float
    correlation_s: float
    speed_mps: float
    ahead_m: float
    latitude_deg: float
    longitude_deg: float
    altitude_m: float


@dataclass(frozen=True, slots=True)
class MagnetometerParameters:
    """The numbers of a magnetometer, and the earth's field where the car drives."""

    rate_hz: float
    noise_ut: float
    bias_ut: float
    horizontal_ut: float
    down_ut: float
    declination_deg: float


@dataclass(frozen=True, slots=True)
class BarometerParameters:
    """The numbers of a barometer; ``altitude_m`` is that of the floor's origin above the sea."""

    rate_hz: float
    latency_s: float
    noise_pa: float
    drift_pa: float
    drift_s: float
    altitude_m: float
