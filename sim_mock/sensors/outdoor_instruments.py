"""GPS, magnetometer and barometer, each with its own noise by the car's seed.

World axes are REP 103's: x east, y north, z up, with the origin at the latitude, longitude and
altitude of the vehicle file. Source of the kinds of error: Shah et al., AirSim, 2017, section 3.5.
"""

from __future__ import annotations

from math import cos, degrees, exp, pi, radians, sin, sqrt
from typing import TYPE_CHECKING, Any

from sim_mock.sensors.imu import Noise
from sim_mock.sensors.parameters import BarometerParameters, GpsParameters, MagnetometerParameters
from sim_mock.tracks.shared_track import pose_of

if TYPE_CHECKING:
    from sim_mock.world import World

# WGS 84: semi-major axis in m, and the square of the first eccentricity
_AXIS_M, _ECCENTRICITY2 = 6_378_137.0, 6.694379990e-3
# International Standard Atmosphere (ISO 2533) at sea level: Pa, K, K/m, and g M / (R L)
_SEA_PA, _SEA_K, _LAPSE_K_PER_M, _EXPONENT = 101_325.0, 288.15, 0.0065, 5.25588

Seen = tuple[dict[str, Any], dict[str, Any]]  # measured, true


class MarkovNoise:
    """An error that is correlated in time: first-order Gauss-Markov, in its stationary state.

    A ``correlation_s`` of 0 makes it white.
    """

    def __init__(self, noise: Noise, correlation_s: float, sample_s: float) -> None:
        self._noise = noise
        self._decay = exp(-sample_s / correlation_s) if correlation_s else 0.0
        self._kick = sqrt(1.0 - self._decay**2)
        self._value = noise.gauss(0.0, 1.0)

    def step(self) -> float:
        """Return the next value, of standard deviation 1."""
        value = self._value
        self._value = self._decay * value + self._kick * self._noise.gauss(0.0, 1.0)
        return value


class GpsReceiver:
    """A satellite receiver whose error falls as its fix is gained, from when it is switched on.

    The standard deviation of each horizontal axis begins at ``first_m`` and approaches
    ``horizontal_m`` with the time constant ``fix_s``; the vertical one goes with it.
    """

    name = "gps"

    def __init__(self, parameters: GpsParameters, lr_m: float, seed: int) -> None:
        p = self._p = parameters
        self.rate_hz = p.rate_hz
        self.latency_us = round(p.latency_s * 1e6)
        self._ahead_m = p.ahead_m - lr_m
        noise = self._noise = Noise(f"gps {seed}")
        sample_s = 1.0 / p.rate_hz
        self._errors = [MarkovNoise(noise, p.correlation_s, sample_s) for _ in range(3)]
        self._begun_us: int | None = None
        latitude_rad = radians(p.latitude_deg)
        flat = 1.0 - _ECCENTRICITY2 * sin(latitude_rad) ** 2
        # Radii of curvature along the meridian, and of the parallel
        self._north_m = _AXIS_M * (1.0 - _ECCENTRICITY2) / flat**1.5
        self._east_m = _AXIS_M / sqrt(flat) * cos(latitude_rad)

    def take(self, world: World) -> Seen:
        """Return latitude, longitude, altitude and the receiver's own standard deviation."""
        p, car, truth = self._p, pose_of(world), world.plant.truth
        self._begun_us = world.now_us if self._begun_us is None else self._begun_us
        left = exp(-(world.now_us - self._begun_us) * 1e-6 / p.fix_s) if p.fix_s else 0.0
        std_m = p.horizontal_m + (p.first_m - p.horizontal_m) * left
        up_std_m = p.vertical_m * std_m / p.horizontal_m if p.horizontal_m else p.vertical_m
        at = (
            car.x_m + self._ahead_m * cos(car.yaw_rad),
            car.y_m + self._ahead_m * sin(car.yaw_rad),
            height_m(world, car.x_m, car.y_m),
        )
        east, north, up = (it.step() for it in self._errors)
        seen = self._place((at[0] + std_m * east, at[1] + std_m * north, at[2] + up_std_m * up))
        speed_mps = sqrt(truth.vx_mps**2 + truth.vy_mps**2)
        output = {
            **seen,
            "speed_mps": speed_mps + self._noise.gauss(0.0, p.speed_mps),
            "horizontal_std_m": std_m,
            "vertical_std_m": up_std_m,
        }
        return output, {**self._place(at), "speed_mps": speed_mps}

    def _place(self, at: tuple[float, float, float]) -> dict[str, float]:
        """Return the place by its coordinates of WGS 84, for a floor of some kilometres."""
        p = self._p
        return {
            "latitude_deg": p.latitude_deg + degrees(at[1] / self._north_m),
            "longitude_deg": p.longitude_deg + degrees(at[0] / self._east_m),
            "altitude_m": p.altitude_m + at[2],
        }


class Magnetometer:
    """A compass of three axes on the car: the earth's field, a constant bias by the seed, noise.

    The field has a horizontal part towards magnetic north, ``declination_deg`` east of north, and
    one downward. It is that of a level car without iron or currents near it.
    """

    name, latency_us = "magnetometer", 0
    KEYS = ("field_x_ut", "field_y_ut", "field_z_ut")

    def __init__(self, parameters: MagnetometerParameters, seed: int) -> None:
        p = self._p = parameters
        self.rate_hz = p.rate_hz
        self._noise = Noise(f"magnetometer {seed}")
        self._bias = [self._noise.gauss(0.0, p.bias_ut) for _ in self.KEYS]
        self._north_rad = pi / 2.0 - radians(p.declination_deg)  # in the world, from x

    def take(self, world: World) -> Seen:
        """Return the field in the car's axes: forward, left, up."""
        p = self._p
        off_rad = self._north_rad - world.plant.truth.yaw_rad
        field = p.horizontal_ut * cos(off_rad), p.horizontal_ut * sin(off_rad), -p.down_ut
        seen = [
            it + bias + self._noise.gauss(0.0, p.noise_ut)
            for it, bias in zip(field, self._bias, strict=True)
        ]
        return dict(zip(self.KEYS, seen, strict=True)), dict(zip(self.KEYS, field, strict=True))


class Barometer:
    """The air's pressure at the car's height, with noise and a drift that is Gauss-Markov."""

    name = "barometer"

    def __init__(self, parameters: BarometerParameters, seed: int) -> None:
        p = self._p = parameters
        self.rate_hz = p.rate_hz
        self.latency_us = round(p.latency_s * 1e6)
        self._noise = Noise(f"barometer {seed}")
        self._drift = MarkovNoise(self._noise, p.drift_s, 1.0 / p.rate_hz)

    def take(self, world: World) -> Seen:
        """Return the pressure, and the altitude that the standard atmosphere has for it."""
        p, truth = self._p, world.plant.truth
        altitude_m = p.altitude_m + height_m(world, truth.x_m, truth.y_m)
        pressure_pa = pressure_at(altitude_m)
        drift_pa = p.drift_pa * self._drift.step()
        seen_pa = pressure_pa + drift_pa + self._noise.gauss(0.0, p.noise_pa)
        measured = {"pressure_pa": seen_pa, "altitude_m": altitude_at(seen_pa)}
        return measured, {"pressure_pa": pressure_pa, "altitude_m": altitude_m}


def height_m(world: World, x_m: float, y_m: float) -> float:
    """Return the height of the floor there above the origin: that of its slope."""
    plant = world.plant
    return x_m * plant.rise_x + y_m * plant.rise_y


def pressure_at(altitude_m: float) -> float:
    """Return the standard atmosphere's pressure in Pa (ISO 2533)."""
    part: float = 1.0 - _LAPSE_K_PER_M * altitude_m / _SEA_K
    return float(_SEA_PA * part**_EXPONENT)


def altitude_at(pressure_pa: float) -> float:
    """Return the altitude in m at which the standard atmosphere has this pressure."""
    part = float((max(pressure_pa, 1.0) / _SEA_PA) ** (1.0 / _EXPONENT))
    return (1.0 - part) * _SEA_K / _LAPSE_K_PER_M
