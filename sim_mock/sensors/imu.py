"""An inertial sensor in the car's plane: white noise and a constant bias, all from the seed."""

from dataclasses import dataclass
from random import Random

MOST = 32767  # what the board's field holds; a sensor saturates too


@dataclass(frozen=True, slots=True)
class ImuParameters:
    """Noise: standard deviation of one sample. Bias: of the constant that a seed draws once."""

    rate_hz: float
    yaw_rate_noise_radps: float
    yaw_rate_bias_radps: float
    accel_noise_mps2: float
    accel_bias_mps2: float


def _thousandths(value: float) -> int:
    return min(max(round(1000.0 * value), -MOST), MOST)


class Imu:
    """Samples at its own rate and holds each sample until the next, as its registers do.

    The car stands flat, so gravity is on z alone, and x and y read only how the car accelerates
    (forward and to the left, as specific force at the centre of gravity).
    """

    __slots__ = ("_bias", "_due_s", "_p", "_random", "accel_x_mm_s2", "accel_y_mm_s2",
                 "yaw_rate_mrad_s")  # fmt: skip

    def __init__(self, parameters: ImuParameters, seed: int) -> None:
        self._p = parameters
        self._random = Random(seed)  # Random(int) gives the same numbers on every CPython
        gauss = self._random.gauss
        self._bias = (
            gauss(0.0, parameters.yaw_rate_bias_radps),
            gauss(0.0, parameters.accel_bias_mps2),
            gauss(0.0, parameters.accel_bias_mps2),
        )
        self._due_s = 1.0 / parameters.rate_hz
        self.sample(0.0, 0.0, 0.0)

    def step(
        self, dt_s: float, yaw_rate_radps: float, accel_x_mps2: float, accel_y_mps2: float
    ) -> None:
        self._due_s -= dt_s
        if self._due_s <= 1e-9:  # a sum of steps comes out a hair short
            self._due_s += 1.0 / self._p.rate_hz
            self.sample(yaw_rate_radps, accel_x_mps2, accel_y_mps2)

    def sample(self, yaw_rate_radps: float, accel_x_mps2: float, accel_y_mps2: float) -> None:
        p, gauss, bias = self._p, self._random.gauss, self._bias
        self.yaw_rate_mrad_s = _thousandths(
            yaw_rate_radps + bias[0] + gauss(0.0, p.yaw_rate_noise_radps)
        )
        self.accel_x_mm_s2 = _thousandths(accel_x_mps2 + bias[1] + gauss(0.0, p.accel_noise_mps2))
        self.accel_y_mm_s2 = _thousandths(accel_y_mps2 + bias[2] + gauss(0.0, p.accel_noise_mps2))
