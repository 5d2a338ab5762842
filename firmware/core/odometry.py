"""Speed, travel and dead reckoning from the wheel counts.

Angles are micro-radians; sine and cosine come from a table of a quarter turn with linear
interpolation (worst error 3e-4), because floats are not to be had here.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import elapsed_us
from firmware.core.limits import clamped, interpolated
from firmware.core.params import CURVE_POINTS

if TYPE_CHECKING:
    from firmware.core.params import Params

_STILL_STEPS = 50  # half a second without a count: the gyro then shows its bias alone
_BIAS_MAX = 50 * 64  # 3 degrees a second; more is a car that is being turned by hand
_WINDOW = 4  # steps over which speed is measured: 40 ms at 100 Hz
_STEP_MAX_US = 100_000
_COUNTS_MAX = 1_000_000  # in a step; 25 m/s at 2 um a count are 125000
_TURNING_NM = 12_000_000  # 0.3 m/s over the window
_QUARTER_URAD = 1_570_796
_TURN_URAD = 6_283_185
# round(16384 * sin(i * 90 / 32 degrees)), i = 0..32
_SINES = (
    0, 804, 1606, 2404, 3196, 3981, 4756, 5520, 6270, 7005, 7723, 8423, 9102, 9760, 10394, 11003,
    11585, 12140, 12665, 13160, 13623, 14053, 14449, 14811, 15137, 15426, 15679, 15893, 16069,
    16207, 16305, 16364, 16384,
)  # fmt: skip
_SINE_SPAN_URAD = 49_088  # a 32nd of a quarter turn, rounded up


@micropython.native
def sine(angle_urad: int) -> int:
    """16384 * sin, for any angle under 2**30."""
    angle = angle_urad % _TURN_URAD
    sign = 1
    if angle >= 2 * _QUARTER_URAD:
        angle -= 2 * _QUARTER_URAD
        sign = -1
    if angle > _QUARTER_URAD:
        angle = 2 * _QUARTER_URAD - angle
    return sign * interpolated(_SINES, 0, angle, _SINE_SPAN_URAD, 32)


class Odometry:
    def __init__(self) -> None:  # noqa: PLR0915 - the list of what it carries on
        self.speed_mm_s = 0
        self.distance_mm = 0
        self.x_mm = 0
        self.y_mm = 0
        self.yaw_urad = 0
        self.yaw_rate_mrad_s = 0  # less the bias
        self.is_driven = False  # told before each step: then no counts do not mean standstill
        self.is_one_sided = False  # one side's wheels stand while the other's turn
        self._still = 0
        self._bias = 0  # of the gyro, in 1/64 mrad/s
        self._nm_per_count = 0
        self._has_gyro = False
        self._curvatures: "list[int]" = []
        self._span_urad = 1
        self._steer_max_urad = 1
        self._travels_nm = [0] * _WINDOW
        self._spans_us = [0] * _WINDOW
        self._lefts = [0] * _WINDOW
        self._rights = [0] * _WINDOW
        self._travel_sum = 0  # of the window
        self._span_sum = 0
        self._left_sum = 0
        self._right_sum = 0
        self._turning_counts = 1
        self._at = 0
        self._left = 0
        self._right = 0
        self._captured_us = 0
        self._is_first = True
        self._distance_um = 0
        self._x_rest = 0  # of the position, in um / 4096
        self._y_rest = 0
        self._travel_rest_um = 0
        self._yaw_rest = 0

    def configure(self, params: "Params") -> None:
        self._nm_per_count = params.get("nm_per_count")
        self._turning_counts = max(_TURNING_NM // self._nm_per_count, 3)
        self._has_gyro = params.get("gyro_fitted") == 1
        self._curvatures = params.get_all("curvature_per_10km")
        self._steer_max_urad = params.get("steer_max_urad")
        self._span_urad = -(-2 * self._steer_max_urad // (CURVE_POINTS - 1))

    @micropython.native
    def step(
        self, left: int, right: int, captured_us: int, steer_urad: int, yaw_rate_mrad_s: int
    ) -> None:
        """Take the wheel counts as captured; counts are differences of 30-bit counters."""
        if self._is_first:
            self._is_first = False
            dt_us = 0
        else:
            dt_us = max(elapsed_us(captured_us, self._captured_us), 0)
        left_counts = elapsed_us(left, self._left) if dt_us else 0
        right_counts = elapsed_us(right, self._right) if dt_us else 0
        counts = left_counts + right_counts
        self._compare_sides(left_counts, right_counts)
        self._left = left
        self._right = right
        self._captured_us = captured_us
        # 0.25 m in one step is 25 m/s at 100 Hz, and keeps the window's sum within 30 bits
        half_nm = self._nm_per_count // 2
        most = 250_000_000 // half_nm
        travel_nm = clamped(counts, -most, most) * half_nm
        # after a hang: as if it had been steps, so that the window's sums stay within 30 bits
        steps = dt_us // _STEP_MAX_US + 1
        self._measure(clamped(counts // steps, -most, most) * half_nm, dt_us // steps)
        dt_us = min(dt_us, _STEP_MAX_US)
        self._learn_bias(counts, yaw_rate_mrad_s)
        self.yaw_rate_mrad_s = yaw_rate_mrad_s - self._bias // 64
        self._reckon(travel_nm // 1000, dt_us, steer_urad, yaw_rate_mrad_s)

    @micropython.native
    def _compare_sides(self, left_counts: int, right_counts: int) -> None:
        at = self._at
        left_counts = clamped(left_counts, -_COUNTS_MAX, _COUNTS_MAX)
        right_counts = clamped(right_counts, -_COUNTS_MAX, _COUNTS_MAX)
        self._left_sum += left_counts - self._lefts[at]
        self._right_sum += right_counts - self._rights[at]
        self._lefts[at] = left_counts
        self._rights[at] = right_counts
        left, right = abs(self._left_sum), abs(self._right_sum)
        self.is_one_sided = min(left, right) <= 1 and max(left, right) >= self._turning_counts

    @micropython.native
    def _measure(self, travel_nm: int, dt_us: int) -> None:
        at = self._at
        self._travel_sum += travel_nm - self._travels_nm[at]
        self._span_sum += dt_us - self._spans_us[at]
        self._travels_nm[at] = travel_nm
        self._spans_us[at] = dt_us
        self._at = (at + 1) % _WINDOW
        self.speed_mm_s = self._travel_sum // self._span_sum if self._span_sum else 0  # nm/us

    @micropython.native
    def _learn_bias(self, counts: int, yaw_rate_mrad_s: int) -> None:
        if counts or self.is_driven:
            self._still = 0
        elif self._still < _STILL_STEPS:
            self._still += 1
        else:
            step = (clamped(yaw_rate_mrad_s, -1000, 1000) * 64 - self._bias) // 32
            self._bias = clamped(self._bias + step, -_BIAS_MAX, _BIAS_MAX)

    @micropython.native
    def _reckon(self, travel_um: int, dt_us: int, steer_urad: int, yaw_rate_mrad_s: int) -> None:
        self._distance_um += travel_um
        whole = self._distance_um // 1000
        self.distance_mm = clamped(self.distance_mm + whole, -1_000_000_000, 1_000_000_000)
        self._distance_um -= whole * 1000
        turned = self._turn_gyro(yaw_rate_mrad_s, dt_us)
        if not self._has_gyro:
            turned = self._turn_wheels(travel_um, steer_urad)
        middle = self.yaw_urad + turned // 2
        self.yaw_urad = (self.yaw_urad + turned) % _TURN_URAD
        # 250 mm in um times 4096 are just under 30 bits
        self._x_rest += travel_um * (sine(middle + _QUARTER_URAD) // 4)
        self._y_rest += travel_um * (sine(middle) // 4)
        step = self._x_rest // 4_096_000
        self.x_mm += step
        self._x_rest -= step * 4_096_000
        step = self._y_rest // 4_096_000
        self.y_mm += step
        self._y_rest -= step * 4_096_000

    @micropython.native
    def _turn_gyro(self, yaw_rate_mrad_s: int, dt_us: int) -> int:
        if not self._has_gyro:
            return 0
        # mrad/s * us = nrad; 10 rad/s for 100 ms are 1e9
        turned = clamped(yaw_rate_mrad_s, -10_000, 10_000) * dt_us + self._yaw_rest
        turned -= self._bias * dt_us // 64
        whole = turned // 1000
        self._yaw_rest = turned - whole * 1000
        return whole

    @micropython.native
    def _turn_wheels(self, travel_um: int, steer_urad: int) -> int:
        place = steer_urad + self._steer_max_urad
        curvature = interpolated(self._curvatures, 0, place, self._span_urad, CURVE_POINTS - 1)
        # 250 mm in steps of 20 um times 8.5 per metre stay within 30 bits
        travel_um += self._travel_rest_um
        steps = travel_um // 20
        self._travel_rest_um = travel_um - steps * 20
        turned = steps * curvature + self._yaw_rest  # in 1/500 urad
        whole = turned // 500
        self._yaw_rest = turned - whole * 500
        return whole
