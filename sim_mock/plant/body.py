"""A car's body in the plane: dynamic single track above a walk, kinematic model below.

The state is that of the centre of gravity: position and yaw in the world, velocities in the car (x
forward, y left, yaw to the left). The rear axle, which odometry refers to, is
``bodies.rolling.rear_axle_position``.

There are two models because a slip angle is the ratio of two speeds that both vanish at standstill,
so the single track becomes as stiff as c g / v. Below ``kinematic_below_mps`` the motion is
therefore constrained to have no side slip. From there to ``BAND`` times that speed, the state is
pulled towards it ever more gently. Both are a projection in the metric of the masses: the impulse
of the tyres' side forces, so it cannot add kinetic energy, and nothing jumps at the border. That
impulse is at most what the tyres can give (``within_grip``): a slide ends by friction.
"""

from dataclasses import dataclass, replace
from math import cos, exp, sin, sqrt, tan
from typing import Final

from sim_mock.plant.tyre import TyreLaw, fiala_n, side_limit_n

# Final numbers, and the usual law by name, so that mypyc compiles both to plain C.
GRAVITY_MPS2: Final = 9.81
BAND: Final = 1.5  # above this many times kinematic_below_mps the state is not pulled
PULL_S: Final = 0.005  # time constant of the pull in the middle of the band: about v / (c g) there
SLOWEST_MPS: Final = 1e-3  # a wheel that rolls slower has this speed when its slip is computed

State = tuple[float, float, float, float, float, float]


class BodyState:
    """The pose and the speeds of the centre of gravity; mutable, one per car."""

    __slots__ = ("vx_mps", "vy_mps", "x_m", "y_m", "yaw_rad", "yaw_rate_radps")

    def __init__(
        self,
        x_m: float = 0.0,
        y_m: float = 0.0,
        yaw_rad: float = 0.0,
        vx_mps: float = 0.0,
        vy_mps: float = 0.0,
        yaw_rate_radps: float = 0.0,
    ) -> None:
        self.x_m = x_m
        self.y_m = y_m
        self.yaw_rad = yaw_rad
        self.vx_mps = vx_mps
        self.vy_mps = vy_mps
        self.yaw_rate_radps = yaw_rate_radps

    def values(self) -> State:
        """Return the six values in the order of the constructor."""
        return (self.x_m, self.y_m, self.yaw_rad, self.vx_mps, self.vy_mps, self.yaw_rate_radps)

    def assign(self, values: State) -> None:
        self.x_m, self.y_m, self.yaw_rad, self.vx_mps, self.vy_mps, self.yaw_rate_radps = values


@dataclass(frozen=True, slots=True)
class BodyParameters:
    """Masses in kg, lengths in m; stiffness of an axle's tyres in 1/rad per newton of its load.

    ``lf_m`` and ``lr_m`` run from the centre of gravity to the front and the rear axle.
    CommonRoad's ``mu * C_S`` is the stiffness here.
    """

    mass_kg: float
    inertia_z_kgm2: float
    lf_m: float
    lr_m: float
    h_cg_m: float
    track_m: float
    stiffness_front_per_rad: float
    stiffness_rear_per_rad: float
    kinematic_below_mps: float
    law: TyreLaw = fiala_n

    @property
    def wheelbase_m(self) -> float:
        return self.lf_m + self.lr_m

    def with_payload(self, payload_kg: float, payload_x_m: float = 0.0) -> "BodyParameters":
        """Return the car with a load as long as its wheelbase, ``payload_x_m`` ahead of the CG.

        It has the common centre and inertia of two bodies (parallel axes); the load's own inertia
        is that of a rod, m L^2 / 12.
        """
        mass_kg = self.mass_kg + payload_kg
        shift_m = payload_x_m * payload_kg / mass_kg
        own = payload_kg * self.wheelbase_m**2 / 12.0  # a rod's inertia: m L^2 / 12
        apart = self.mass_kg * payload_kg / mass_kg * payload_x_m**2
        return replace(
            self,
            mass_kg=mass_kg,
            inertia_z_kgm2=self.inertia_z_kgm2 + own + apart,
            lf_m=self.lf_m - shift_m,
            lr_m=self.lr_m + shift_m,
        )


class BodyInput:
    """The inputs of a body during one step: wheel angles, forces, loads and grip.

    ``force_front_n`` and ``force_rear_n`` act along the wheels, ``force_x_n`` along the car (air),
    ``force_y_n`` across it (wind, slope), at its centre of gravity.
    """

    __slots__ = (
        "cos_front", "cos_rear", "force_front_n", "force_rear_n", "force_x_n", "force_y_n",
        "grip_front_n", "grip_rear_n", "load_front_n", "load_rear_n",
        "sin_front", "sin_rear", "sway", "turn_per_m",
    )  # fmt: skip

    def __init__(self, parameters: BodyParameters, mu: float = 1.0) -> None:
        self.force_front_n = self.force_rear_n = self.force_x_n = self.force_y_n = 0.0
        self.steer(0.0, 0.0, parameters)
        self.load(0.0, mu, parameters)

    def steer(self, front_rad: float, rear_rad: float, p: BodyParameters) -> None:
        """Set the wheel angles, and the motion per metre without side slip that they imply.

        Sideways: (lr tan df + lf tan dr) / L; turning: (tan df - tan dr) / L. Source: Rajamani,
        Vehicle Dynamics and Control, 2nd ed., section 2.2, eq. 2.11 with both axles steered.
        """
        self.cos_front, self.sin_front = cos(front_rad), sin(front_rad)
        self.cos_rear, self.sin_rear = cos(rear_rad), sin(rear_rad)
        tan_front, tan_rear = tan(front_rad), tan(rear_rad)
        self.sway = (p.lr_m * tan_front + p.lf_m * tan_rear) / p.wheelbase_m
        self.turn_per_m = (tan_front - tan_rear) / p.wheelbase_m

    def load(self, accel_x_mps2: float, mu: float, p: BodyParameters) -> None:
        """Set the axle loads, shifted by the acceleration along the car, none below 0.

        Source: Althoff et al., CommonRoad: Vehicle Models, single-track model, F_z,f and F_z,r.
        """
        mass_kg, lr_m = p.mass_kg, p.lr_m
        weight_n = mass_kg * GRAVITY_MPS2
        front_n = mass_kg * (GRAVITY_MPS2 * lr_m - accel_x_mps2 * p.h_cg_m) / (p.lf_m + lr_m)
        if front_n < 0.0:
            front_n = 0.0
        elif front_n > weight_n:
            front_n = weight_n
        rear_n = weight_n - front_n
        self.load_front_n, self.load_rear_n = front_n, rear_n
        self.grip_front_n, self.grip_rear_n = mu * front_n, mu * rear_n


def derivatives(state: State, u: BodyInput, p: BodyParameters) -> State:
    """Return the right-hand side of the single-track model with two steered axles.

    m (vx' - vy r) = sum of forces along the car, m (vy' + vx r) = sum across, I r' = lf F_front,y -
    lr F_rear,y; slip of an axle is minus its sideways over its rolling speed. Source: Rajamani,
    section 2.3 and 4.1.2 without the small angles; Althoff et al., CommonRoad.
    """
    yaw, vx, vy, rate = state[2], state[3], state[4], state[5]
    cf, sf, cr, sr = u.cos_front, u.sin_front, u.cos_rear, u.sin_rear
    front, rear = vy + p.lf_m * rate, vy - p.lr_m * rate
    roll = abs(vx * cf + front * sf)
    slip = (vx * sf - front * cf) / (roll if roll > SLOWEST_MPS else SLOWEST_MPS)
    along = u.force_front_n
    stiffness_n = p.stiffness_front_per_rad * u.load_front_n
    side = _side_n(p.law, slip, stiffness_n, u.grip_front_n, along)
    front_x, front_y = along * cf - side * sf, along * sf + side * cf
    roll = abs(vx * cr + rear * sr)
    slip = (vx * sr - rear * cr) / (roll if roll > SLOWEST_MPS else SLOWEST_MPS)
    along = u.force_rear_n
    stiffness_n = p.stiffness_rear_per_rad * u.load_rear_n
    side = _side_n(p.law, slip, stiffness_n, u.grip_rear_n, along)
    rear_x, rear_y = along * cr - side * sr, along * sr + side * cr
    cos_yaw, sin_yaw = cos(yaw), sin(yaw)
    across_n = front_y + rear_y
    if u.force_y_n:
        across_n += u.force_y_n
    return (
        vx * cos_yaw - vy * sin_yaw,
        vx * sin_yaw + vy * cos_yaw,
        rate,
        (front_x + rear_x + u.force_x_n) / p.mass_kg + vy * rate,
        across_n / p.mass_kg - vx * rate,
        (p.lf_m * front_y - p.lr_m * rear_y) / p.inertia_z_kgm2,
    )


def _side_n(law: TyreLaw, slip: float, stiffness_n: float, grip_n: float, along_n: float) -> float:
    """Return the side force by the law within the friction circle.

    The usual law is inlined: four calls a millisecond are a tenth of a plant's time.
    """
    if law is not fiala_n:
        return law(slip, stiffness_n, side_limit_n(grip_n, along_n))
    left = grip_n * grip_n - along_n * along_n
    if left <= 0.0:
        return 0.0
    limit_n = sqrt(left)
    x = stiffness_n * slip / (3.0 * limit_n)
    if x >= 1.0:
        return limit_n
    if x <= -1.0:
        return -limit_n
    return limit_n * x * (3.0 - 3.0 * abs(x) + x * x)


def without_slip_mps(s: BodyState, u: BodyInput, impulse_ns: float, p: BodyParameters) -> float:
    """Return the speed along the car after the side forces have removed all side slip.

    It is the momentum along the one motion (1, sway, turn) that is left, over its mass.
    """
    mass, inertia = p.mass_kg, p.inertia_z_kgm2
    sway, turn = u.sway, u.turn_per_m
    momentum = mass * (s.vx_mps + s.vy_mps * sway) + inertia * s.yaw_rate_radps * turn
    return (momentum + impulse_ns) / (mass + mass * sway * sway + inertia * turn * turn)


def pull_share(square: float, dt_s: float, p: BodyParameters) -> float:
    """Return the share of side slip removed in a step: 0 at the band's top, all at its bottom."""
    low = p.kinematic_below_mps
    above = (square**0.5 - low) / (low * (BAND - 1.0))
    # no division by 0 at the bottom of the band
    return 1.0 - exp(-dt_s / PULL_S * (1.0 - above) / max(above, 1e-9))


def free_speeds(s: BodyState, dt_s: float, u: BodyInput, p: BodyParameters) -> State:
    """Return the state with the speeds one step later, if no tyre gave any side force."""
    turned_rad = dt_s * s.yaw_rate_radps
    c, n = cos(turned_rad), sin(turned_rad)
    along_n = u.force_front_n * u.cos_front + u.force_rear_n * u.cos_rear + u.force_x_n
    front_n, rear_n = u.force_front_n * u.sin_front, u.force_rear_n * u.sin_rear
    turning_nm = p.lf_m * front_n - p.lr_m * rear_n
    across_n = front_n + rear_n
    if u.force_y_n:
        across_n += u.force_y_n
    return (
        s.x_m,
        s.y_m,
        s.yaw_rad,
        c * s.vx_mps + n * s.vy_mps + dt_s * along_n / p.mass_kg,
        c * s.vy_mps - n * s.vx_mps + dt_s * across_n / p.mass_kg,
        s.yaw_rate_radps + dt_s * turning_nm / p.inertia_z_kgm2,
    )


def side_impulses_ns(
    across_mps: float, turned_radps: float, u: BodyInput, p: BodyParameters
) -> tuple[float, float]:
    """Return the side impulses of front and rear tyres that cause these changes of speed."""
    pushed_ns, turned_nms = p.mass_kg * across_mps, p.inertia_z_kgm2 * turned_radps
    length_m = p.lf_m + p.lr_m
    return (
        (p.lr_m * pushed_ns + turned_nms) / (length_m * u.cos_front),
        (p.lf_m * pushed_ns - turned_nms) / (length_m * u.cos_rear),
    )


def within_grip(
    given_ns: tuple[float, float], wanted_ns: tuple[float, float], dt_s: float, u: BodyInput
) -> float:
    """Return the share of the wanted impulses that the tyres can add to those given in a step."""
    front = _share_left(given_ns[0], wanted_ns[0], dt_s, u.grip_front_n, u.force_front_n)
    rear = _share_left(given_ns[1], wanted_ns[1], dt_s, u.grip_rear_n, u.force_rear_n)
    return front if front < rear else rear


def _share_left(
    given_ns: float, wanted_ns: float, dt_s: float, grip_n: float, along_n: float
) -> float:
    limit_ns = dt_s * side_limit_n(grip_n, along_n)
    left_ns = limit_ns - given_ns if wanted_ns > 0.0 else limit_ns + given_ns
    most = wanted_ns if wanted_ns > 0.0 else -wanted_ns
    if left_ns >= most:
        return 1.0
    return left_ns / most if left_ns > 0.0 else 0.0
