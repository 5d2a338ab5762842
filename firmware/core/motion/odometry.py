"""Odometry: speed, travel and dead reckoning from the wheel counts.

Angles are micro-radians; sine and cosine come from a table of a quarter turn with linear
interpolation (worst error 3e-4), because the dialect has no floats.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import elapsed_us
from firmware.core.motion.limits import clamped, interpolated
from firmware.core.settings.params import CURVE_POINTS

if TYPE_CHECKING:
    from firmware.core.settings.params import Params

const = micropython.const

_STILL_STEPS = const(50)  # half a second without a count: the gyro then shows its bias alone
_BIAS_MAX = const(50 * 64)  # 3 degrees a second; more is a car that is being turned by hand
_WINDOW = const(4)  # steps over which speed is measured: 40 ms at 100 Hz
_STEP_MAX_US = const(100_000)  # of one step's travel and turn: longer, and products leave 30 bits
_LATE_US = const(25_000)  # more than a step of any beat takes
_USUAL_US = const(10_000)  # a usual step, of which a hang is so many
_COUNTS_MAX = const(1_000_000)  # in a step; 25 m/s at 2 um a count are 125000
_TURNING_NM = const(12_000_000)  # 0.3 m/s over the window
# pi / 2 and 2 pi
_QUARTER_URAD = const(1_570_796)
_TURN_URAD = const(6_283_185)
# round(16384 * sin(i * 90 / 32 degrees)), i = 0..32
_SINES = (
    0, 804, 1606, 2404, 3196, 3981, 4756, 5520, 6270, 7005, 7723, 8423, 9102, 9760, 10394, 11003,
    11585, 12140, 12665, 13160, 13623, 14053, 14449, 14811, 15137, 15426, 15679, 15893, 16069,
    16207, 16305, 16364, 16384,
)  # fmt: skip
_REST = const(4_096_000)  # of a position, in um / 4096: a millimetre
_SINE_SPAN_URAD = const(49_088)  # a 32nd of a quarter turn, rounded up


@micropython.viper
def sine(angle_urad: int) -> int:
    """Return 16384 times the sine of any angle under 2**30 urad."""
    angle = angle_urad % _TURN_URAD
    sign = 1
    if angle >= 2 * _QUARTER_URAD:
        angle -= 2 * _QUARTER_URAD
        sign = -1
    if angle > _QUARTER_URAD:
        angle = 2 * _QUARTER_URAD - angle
    # 32 intervals of the table
    return sign * int(interpolated(_SINES, 0, angle, _SINE_SPAN_URAD, 32))


class Odometry:
    def __init__(self) -> None:  # noqa: PLR0915 - the list of what it carries on
        self.speed_mm_s = 0
        self.distance_mm = 0
        self.x_mm = 0
        self.y_mm = 0
        self.yaw_urad = 0
        self.yaw_rate_mrad_s = 0  # less the bias
        self.is_gyro_lost = False  # set before each step: it is fitted, and does not answer
        self.is_driven = False  # set before each step: then no counts are no standstill
        self.is_on_stand = False  # set before each step: a wheel that is held is no fault there
        self.is_one_sided = False  # one side's wheels stand while the other's turn
        self._still = 0
        self._bias = 0  # of the gyro, in 1/64 mrad/s
        self._half_nm = 1  # travel by a count of one side
        self._counts_max = 0
        self.has_gyro = False
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
        nm_per_count = params.get("nm_per_count")
        self._half_nm = nm_per_count // 2
        # 0.25 m in one step is 25 m/s at 100 Hz, and keeps the window's sum within 30 bits
        self._counts_max = 250_000_000 // self._half_nm
        self._turning_counts = max(_TURNING_NM // nm_per_count, 3)
        self.has_gyro = params.get("gyro_fitted") == 1
        self._curvatures = params.get_all("curvature_per_10km")
        self._steer_max_urad = params.get("steer_max_urad")
        self._span_urad = -(-2 * self._steer_max_urad // (CURVE_POINTS - 1))

    @micropython.native
    def step(
        self, left: int, right: int, captured_us: int, steer_urad: int, yaw_rate_mrad_s: int
    ) -> None:
        """Update speed, travel and pose from the 30-bit wheel counters read at ``captured_us``."""
        dt_us = left_counts = right_counts = 0
        if self._is_first:
            self._is_first = False
        else:
            dt_us = max(elapsed_us(captured_us, self._captured_us), 0)
        if dt_us:
            left_counts = elapsed_us(left, self._left)
            right_counts = elapsed_us(right, self._right)
        counts = left_counts + right_counts
        self._compare_sides(left_counts, right_counts)
        self._left = left
        self._right = right
        self._captured_us = captured_us
        half_nm, most = self._half_nm, self._counts_max
        travel_um = clamped(counts, -most, most) * half_nm // 1000
        counts_step, dt_step_us = counts, dt_us
        if dt_us >= _LATE_US:
            # after a hang: the mean of its steps, or what is clamped would show a low speed
            steps = dt_us // _USUAL_US
            counts_step, dt_step_us = counts // steps, dt_us // steps
            dt_us = min(dt_us, _STEP_MAX_US)
        self._measure(clamped(counts_step, -most, most) * half_nm, dt_step_us)
        if self.is_gyro_lost:
            self.yaw_rate_mrad_s = 0
        else:
            self._learn_bias(counts, yaw_rate_mrad_s)
            self.yaw_rate_mrad_s = yaw_rate_mrad_s - self._bias // 64  # it is kept in 1/64
        self._reckon(travel_um, dt_us, steer_urad, yaw_rate_mrad_s)

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
        if left > right:
            left, right = right, left
        self.is_one_sided = left <= 1 and right >= self._turning_counts

    @micropython.native
    def _measure(self, travel_nm: int, dt_us: int) -> None:
        at, travels_nm, spans_us = self._at, self._travels_nm, self._spans_us
        travel = self._travel_sum + travel_nm - travels_nm[at]
        span = self._span_sum + dt_us - spans_us[at]
        travels_nm[at] = travel_nm
        spans_us[at] = dt_us
        self._travel_sum = travel
        self._span_sum = span
        self._at = (at + 1) % _WINDOW
        speed = travel // span if span else 0  # nm/us
        if self.is_one_sided and not self.is_on_stand:
            # a dead side halves it, and the drive would speed up to compensate
            speed *= 2
        self.speed_mm_s = speed

    @micropython.native
    def _learn_bias(self, counts: int, yaw_rate_mrad_s: int) -> None:
        if counts or self.is_driven:
            self._still = 0
        elif self._still < _STILL_STEPS:
            self._still += 1
        else:
            # in 1/64; a 32nd of the way to the mean with each step
            step = (clamped(yaw_rate_mrad_s, -1000, 1000) * 64 - self._bias) // 32
            self._bias = clamped(self._bias + step, -_BIAS_MAX, _BIAS_MAX)

    @micropython.native
    def _reckon(self, travel_um: int, dt_us: int, steer_urad: int, yaw_rate_mrad_s: int) -> None:
        if self.has_gyro and not self.is_gyro_lost:
            turned = self._turn_gyro(yaw_rate_mrad_s, dt_us)
        else:
            turned = self._turn_wheels(travel_um, steer_urad)
        yaw_urad = self.yaw_urad
        self.yaw_urad = (yaw_urad + turned) % _TURN_URAD
        if travel_um:
            self._advance(travel_um, yaw_urad + turned // 2)

    def _advance(self, travel_um: int, yaw_urad: int) -> None:
        distance = self._distance_um + travel_um
        whole = distance // 1000
        self.distance_mm = clamped(self.distance_mm + whole, -1_000_000_000, 1_000_000_000)
        self._distance_um = distance - whole * 1000
        # 250 mm in um times 4096 are just under 30 bits
        rest = self._x_rest + travel_um * (sine(yaw_urad + _QUARTER_URAD) // 4)
        step = rest // _REST
        self.x_mm += step
        self._x_rest = rest - step * _REST
        rest = self._y_rest + travel_um * (sine(yaw_urad) // 4)
        step = rest // _REST
        self.y_mm += step
        self._y_rest = rest - step * _REST

    @micropython.native
    def _turn_gyro(self, yaw_rate_mrad_s: int, dt_us: int) -> int:
        # mrad/s * us = nrad; 10 rad/s for 100 ms are 1e9
        turned = clamped(yaw_rate_mrad_s, -10_000, 10_000) * dt_us + self._yaw_rest
        turned -= self._bias * dt_us // 64  # it is kept in 1/64
        whole = turned // 1000
        self._yaw_rest = turned - whole * 1000
        return whole

    def _turn_wheels(self, travel_um: int, steer_urad: int) -> int:
        place = steer_urad + self._steer_max_urad
        curvature = interpolated(self._curvatures, 0, place, self._span_urad, CURVE_POINTS - 1)
        # 250 mm in steps of 20 um times 8.5 per metre stay within 30 bits
        travel_um += self._travel_rest_um
        steps = travel_um // 20  # in steps of 20 um, see above
        self._travel_rest_um = travel_um - steps * 20
        turned = steps * curvature + self._yaw_rest  # in 1/500 urad
        whole = turned // 500  # back to whole urad
        self._yaw_rest = turned - whole * 500
        return whole
