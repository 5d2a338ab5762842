"""An inertial sensor with noise, a drifting bias and gravity, all from the seed."""

from dataclasses import dataclass
from math import cos, exp, log, pi, sin, sqrt
from random import Random

GRAVITY_MPS2 = 9.81  # standard gravity
MOST = 32767  # the range of the board's field; a sensor saturates too

Reading = tuple[float, float, float, float]  # yaw rate in rad/s; x, y, z in m/s^2


class Noise:
    """A generator of the numbers of ``random.Random(seed).gauss``, stable under every later Python.

    Python guarantees that for ``random`` only; besides, this class can be compiled. Two draws give
    two numbers. Source: Box and Muller, Ann. Math. Statist. 29 (1958), equation 1.
    """

    __slots__ = ("_has_second", "_random", "_second")

    def __init__(self, seed: int | str) -> None:
        self._random = Random(seed)
        self._has_second = False
        self._second = 0.0

    def reseed(self, seed: int | str) -> None:
        """Begin anew, with another seed."""
        self._random.seed(seed)
        self._has_second = False

    def gauss(self, mean: float, deviation: float) -> float:
        if self._has_second:
            self._has_second = False
            return mean + self._second * deviation
        turn_rad: float = self._random.random() * (2.0 * pi)
        radius = sqrt(-2.0 * log(1.0 - self._random.random()))
        self._has_second, self._second = True, sin(turn_rad) * radius
        return mean + cos(turn_rad) * radius * deviation


@dataclass(frozen=True, slots=True)
class ImuParameters:
    """The standard deviations of an inertial sensor's errors.

    Noise: of one sample. Bias: of the constant that a seed draws once. Drift: of the bias' change
    after 1 s; a random walk, so it grows with the square root of time. With a time constant
    (``..._bias_s``, 0: none) the bias is a Gauss-Markov process of that deviation instead of a
    constant, and drift decays with it. ``..._vibration...``: noise that is added for each m/s of
    speed, as a car shakes; variances add up. Source: Shah et al., AirSim, 2017, section 3.5: white
    noise and bias drift added to the truth.
    """

    rate_hz: float
    yaw_rate_noise_radps: float
    yaw_rate_bias_radps: float
    accel_noise_mps2: float
    accel_bias_mps2: float
    yaw_rate_drift_radps: float = 0.0
    accel_drift_mps2: float = 0.0
    yaw_rate_bias_s: float = 0.0
    accel_bias_s: float = 0.0
    yaw_rate_vibration_radps_per_mps: float = 0.0
    accel_vibration_mps2_per_mps: float = 0.0


def specific_force(
    accel_x_mps2: float, accel_y_mps2: float, roll_rad: float = 0.0, pitch_rad: float = 0.0
) -> tuple[float, float, float]:
    """Return an accelerometer's reading in the body's axes: acceleration less gravity, m/s^2.

    The acceleration is along the floor, forward and to the left. Left side up and nose down are
    positive, as right-handed about x forward and y left. At rest and level it is +1 g upward.
    """
    sin_pitch, cos_pitch = sin(pitch_rad), cos(pitch_rad)
    sin_roll, cos_roll = sin(roll_rad), cos(roll_rad)
    up = sin_pitch * accel_x_mps2 + cos_pitch * GRAVITY_MPS2
    return (
        cos_pitch * accel_x_mps2 - sin_pitch * GRAVITY_MPS2,
        cos_roll * accel_y_mps2 + sin_roll * up,
        cos_roll * up - sin_roll * accel_y_mps2,
    )


def _thousandths(value: float) -> int:
    return min(max(round(1000.0 * value), -MOST), MOST)


class ImuModel:
    """A sensor that samples at its own rate and holds each sample until the next, as registers do.

    ``truth`` is the exact value, ``measured`` that with errors; of these the board has the yaw
    rate, x and y, as whole numbers. ``speed_mps`` is how fast the car that shakes it drives.
    """

    __slots__ = ("_bias", "_decay", "_drift", "_due_s", "_kick", "_noise", "_p", "_steady",
                 "measured", "samples", "speed_mps", "truth")  # fmt: skip

    def __init__(self, parameters: ImuParameters, seed: int) -> None:
        p = self._p = parameters
        self._noise = Noise(seed)
        # A second generator: yaw rate, x and y stay as they were before drift and z were added.
        self._steady = Noise(f"imu {seed}")
        gauss = self._noise.gauss
        biases = (p.yaw_rate_bias_radps, p.accel_bias_mps2, p.accel_bias_mps2)
        self._bias = [gauss(0.0, bias) for bias in biases]
        self._bias.append(self._steady.gauss(0.0, p.accel_bias_mps2))
        sample_s = 1.0 / p.rate_hz
        accel_drift = p.accel_drift_mps2 * sample_s**0.5
        self._drift = (p.yaw_rate_drift_radps * sample_s**0.5, *(accel_drift,) * 3)
        times_s = (p.yaw_rate_bias_s, *(p.accel_bias_s,) * 3)
        self._decay = [exp(-sample_s / it) if it else 1.0 for it in times_s]
        deviations = (*biases, p.accel_bias_mps2)
        self._kick = [
            deviation * sqrt(1.0 - decay * decay)
            for deviation, decay in zip(deviations, self._decay, strict=True)
        ]
        self._due_s = sample_s
        self.samples = 0
        self.speed_mps = 0.0
        self.sample(0.0, 0.0, 0.0)

    def reseed(self, seed: int) -> None:
        """Draw noise and drift anew from now on; the bias stays where it is."""
        self._noise.reseed(seed)
        self._steady.reseed(f"imu {seed}")

    @property
    def yaw_rate_mrad_s(self) -> int:
        return _thousandths(self.measured[0])

    @property
    def accel_x_mm_s2(self) -> int:
        return _thousandths(self.measured[1])

    @property
    def accel_y_mm_s2(self) -> int:
        return _thousandths(self.measured[2])

    def step(
        self, dt_s: float, yaw_rate_radps: float, accel_x_mps2: float, accel_y_mps2: float
    ) -> None:
        """Advance by ``dt_s`` on a level floor, for a car that neither rolls nor pitches."""
        self._due_s -= dt_s
        if self._due_s <= 1e-9:  # tolerance for the rounding of sums of steps
            self._due_s += 1.0 / self._p.rate_hz
            self._wander()
            self.sample(yaw_rate_radps, accel_x_mps2, accel_y_mps2)

    def sample(
        self,
        yaw_rate_radps: float,
        accel_x_mps2: float,
        accel_y_mps2: float,
        roll_rad: float = 0.0,
        pitch_rad: float = 0.0,
    ) -> None:
        """Take a sample now, of a body with this roll and pitch."""
        p, noise, bias = self._p, self._noise, self._bias
        force = specific_force(accel_x_mps2, accel_y_mps2, roll_rad, pitch_rad)
        rate_noise_radps, accel_noise_mps2 = p.yaw_rate_noise_radps, p.accel_noise_mps2
        if p.yaw_rate_vibration_radps_per_mps or p.accel_vibration_mps2_per_mps:
            shaken_radps = p.yaw_rate_vibration_radps_per_mps * self.speed_mps
            shaken_mps2 = p.accel_vibration_mps2_per_mps * self.speed_mps
            rate_noise_radps = sqrt(rate_noise_radps**2 + shaken_radps**2)
            accel_noise_mps2 = sqrt(accel_noise_mps2**2 + shaken_mps2**2)
        self.truth: Reading = (yaw_rate_radps, *force)
        self.measured: Reading = (
            yaw_rate_radps + bias[0] + noise.gauss(0.0, rate_noise_radps),
            force[0] + bias[1] + noise.gauss(0.0, accel_noise_mps2),
            force[1] + bias[2] + noise.gauss(0.0, accel_noise_mps2),
            force[2] + bias[3] + self._steady.gauss(0.0, accel_noise_mps2),
        )
        self.samples += 1

    def _wander(self) -> None:
        for axis, kick in enumerate(self._kick):
            if kick:
                decayed: float = self._decay[axis] * self._bias[axis]
                self._bias[axis] = decayed + self._steady.gauss(0.0, kick)
        for axis, drift in enumerate(self._drift):
            self._bias[axis] += self._steady.gauss(0.0, drift)
