"""Many bodies at once, in NumPy: the single track of ``body.py`` for a thousand cars in one step.

It is for planners that sample, and for learning: there are no servos, motors or sensors; wheel
angles and forces are given directly. The equations are those of ``body.py`` and ``integrators.py``
(rk2), whose docstrings have the sources. The numbers agree with them to 1e-9 over seconds, not to
the last bit, as NumPy's sine is not the C library's.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sim_mock.plant.body import BAND, GRAVITY_MPS2, PULL_S, SLOWEST_MPS, BodyParameters
from sim_mock.plant.tyre import linear_n

Numbers = NDArray[np.float64]


class _Acting(NamedTuple):
    """The inputs of one step, one number per car: ``BodyInput`` in columns."""

    cos_front: Numbers
    sin_front: Numbers
    cos_rear: Numbers
    sin_rear: Numbers
    force_front_n: Numbers
    force_rear_n: Numbers
    load_front_n: Numbers
    load_rear_n: Numbers
    sway: Numbers
    turn_per_m: Numbers


class Batch:
    """A batch of equal cars on a floor of one grip ``mu``, at rest in the origin at first.

    ``state``: (6, n), the rows in the order of ``BodyState``; it may be written between steps.
    """

    def __init__(self, body: BodyParameters, mu: float, count: int) -> None:
        self.state = np.zeros((6, count))  # x, y, yaw, and their speeds
        self._p = body
        self._mu = mu
        self._accel_x_mps2 = np.zeros(count)

    def step(
        self,
        dt_s: float,
        front_rad: ArrayLike,
        force_rear_n: ArrayLike,
        force_front_n: ArrayLike = 0.0,
        rear_rad: ArrayLike = 0.0,
    ) -> None:
        """Advance all cars by ``dt_s``: wheel angles in rad, forces along the wheels in N.

        Each is of shape (n,) or one number. Raises ValueError for shapes that do not fit.
        """
        u = self._acting(front_rad, rear_rad, force_front_n, force_rear_n)
        x, p = self.state, self._p
        before = x.copy()
        square = x[3] ** 2 + x[4] ** 2 + p.lf_m * p.lr_m * x[5] ** 2
        low = p.kinematic_below_mps
        is_slow = square <= low * low
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rolls = is_slow & (
                _within_grip(np.zeros_like(x[3:]), _slip_left(x, u, p), dt_s, u, p, self._mu) >= 1.0
            )
            slipping = _drawn(x, _rk2(x, dt_s, u, p, self._mu), square, dt_s, u, p, self._mu)
        slow = np.where(rolls, _rolled(x, dt_s, u, p), _slid(x, dt_s, u, p, self._mu))
        self.state = np.where(is_slow, slow, slipping)
        # As in the scalar plant, the load shifts with the acceleration of the previous step.
        self._accel_x_mps2 = (self.state[3] - before[3]) / dt_s - before[4] * self.state[5]

    def _acting(self, front: Any, rear: Any, along_front: Any, along_rear: Any) -> _Acting:
        p, like = self._p, self.state[0]
        front, rear, along_front, along_rear = (
            np.broadcast_to(np.asarray(given, np.float64), like.shape)
            for given in (front, rear, along_front, along_rear)
        )
        weight_n = p.mass_kg * GRAVITY_MPS2
        shifted = GRAVITY_MPS2 * p.lr_m - self._accel_x_mps2 * p.h_cg_m
        load_n = np.clip(p.mass_kg * shifted / p.wheelbase_m, 0.0, weight_n)
        tan_front, tan_rear = np.tan(front), np.tan(rear)
        sway = (p.lr_m * tan_front + p.lf_m * tan_rear) / p.wheelbase_m
        turn_per_m = (tan_front - tan_rear) / p.wheelbase_m
        angles = np.cos(front), np.sin(front), np.cos(rear), np.sin(rear)
        return _Acting(
            *angles, along_front, along_rear, load_n, weight_n - load_n, sway, turn_per_m
        )


def _rates(x: Numbers, u: _Acting, p: BodyParameters, mu: float) -> Numbers:
    """Return ``body.derivatives``, one column per car."""
    _, _, yaw, vx, vy, rate = x
    front_x, front_y = _axle_n(
        vx, vy + p.lf_m * rate, u.cos_front, u.sin_front, u.force_front_n,
        p.stiffness_front_per_rad, u.load_front_n, mu, p,
    )  # fmt: skip
    rear_x, rear_y = _axle_n(
        vx, vy - p.lr_m * rate, u.cos_rear, u.sin_rear, u.force_rear_n,
        p.stiffness_rear_per_rad, u.load_rear_n, mu, p,
    )  # fmt: skip
    cos_yaw, sin_yaw = np.cos(yaw), np.sin(yaw)
    return np.stack(
        (
            vx * cos_yaw - vy * sin_yaw,
            vx * sin_yaw + vy * cos_yaw,
            rate,
            (front_x + rear_x) / p.mass_kg + vy * rate,
            (front_y + rear_y) / p.mass_kg - vx * rate,
            (p.lf_m * front_y - p.lr_m * rear_y) / p.inertia_z_kgm2,
        )
    )


def _axle_n(
    vx: Numbers, across: Numbers, cosine: Numbers, sine: Numbers, along: Numbers,
    stiffness: float, load: Numbers, mu: float, p: BodyParameters,
) -> tuple[Numbers, Numbers]:  # fmt: skip
    """Return the forces of one axle's tyres along and across the car."""
    roll = np.maximum(np.abs(vx * cosine + across * sine), SLOWEST_MPS)
    slip = (vx * sine - across * cosine) / roll
    left = np.sqrt(np.maximum((mu * load) ** 2 - along * along, 0.0))
    side = _side_n(slip, stiffness * load, left, p)
    return along * cosine - side * sine, along * sine + side * cosine


def _side_n(slip: Numbers, stiffness: Numbers, limit: Numbers, p: BodyParameters) -> Numbers:
    if p.law is linear_n:
        return np.asarray(stiffness * np.arctan(slip), np.float64)
    x = np.where(limit > 0.0, np.clip(stiffness * slip / (3.0 * limit), -1.0, 1.0), 0.0)
    return np.asarray(limit * x * (3.0 - 3.0 * np.abs(x) + x * x), np.float64)


def _rk2(x: Numbers, dt_s: float, u: _Acting, p: BodyParameters, mu: float) -> Numbers:
    middle = x + 0.5 * dt_s * _rates(x, u, p, mu)
    return x + dt_s * _rates(middle, u, p, mu)


def _without_slip_mps(x: Numbers, u: _Acting, impulse_ns: ArrayLike, p: BodyParameters) -> Numbers:
    mass, inertia = p.mass_kg, p.inertia_z_kgm2
    momentum = mass * (x[3] + x[4] * u.sway) + inertia * x[5] * u.turn_per_m
    found = (momentum + impulse_ns) / (
        mass + mass * u.sway * u.sway + inertia * u.turn_per_m * u.turn_per_m
    )
    return np.asarray(found, np.float64)


def _rolled(x: Numbers, dt_s: float, u: _Acting, p: BodyParameters) -> Numbers:
    """Return the state after ``integrators.roll``."""
    force_n = u.force_front_n / u.cos_front + u.force_rear_n / u.cos_rear
    vx = _without_slip_mps(x, u, force_n * dt_s, p)
    along_m = 0.5 * dt_s * (x[3] + vx)
    turn_rad = along_m * u.turn_per_m
    cosine, sine = np.cos(x[2] + 0.5 * turn_rad), np.sin(x[2] + 0.5 * turn_rad)
    return np.stack(
        (
            x[0] + along_m * (cosine - u.sway * sine),
            x[1] + along_m * (sine + u.sway * cosine),
            x[2] + turn_rad,
            vx,
            vx * u.sway,
            vx * u.turn_per_m,
        )
    )


def _free(x: Numbers, dt_s: float, u: _Acting, p: BodyParameters) -> Numbers:
    """Return ``body.free_speeds``: the last three rows of a state."""
    c, n = np.cos(dt_s * x[5]), np.sin(dt_s * x[5])
    along = u.force_front_n * u.cos_front + u.force_rear_n * u.cos_rear
    front, rear = u.force_front_n * u.sin_front, u.force_rear_n * u.sin_rear
    return np.stack(
        (
            c * x[3] + n * x[4] + dt_s * along / p.mass_kg,
            c * x[4] - n * x[3] + dt_s * (front + rear) / p.mass_kg,
            x[5] + dt_s * (p.lf_m * front - p.lr_m * rear) / p.inertia_z_kgm2,
        )
    )


def _slip_left(x: Numbers, u: _Acting, p: BodyParameters) -> Numbers:
    """Return the changes of the three speeds that would end all side slip."""
    vx = _without_slip_mps(x, u, 0.0, p)
    return np.stack((vx - x[3], vx * u.sway - x[4], vx * u.turn_per_m - x[5]))


def _impulses_ns(change: Numbers, u: _Acting, p: BodyParameters) -> tuple[Numbers, Numbers]:
    """Return ``body.side_impulses_ns``."""
    pushed, turned = p.mass_kg * change[1], p.inertia_z_kgm2 * change[2]
    front = (p.lr_m * pushed + turned) / (p.wheelbase_m * u.cos_front)
    return front, (p.lf_m * pushed - turned) / (p.wheelbase_m * u.cos_rear)


def _within_grip(
    given: Numbers, wanted: Numbers, dt_s: float, u: _Acting, p: BodyParameters, mu: float
) -> Numbers:
    """Return ``body.within_grip``, for changes of the three speeds."""
    loads = (u.load_front_n, u.load_rear_n)
    alongs = (u.force_front_n, u.force_rear_n)
    shares = [
        _share_left(g, w, dt_s * np.sqrt(np.maximum((mu * load) ** 2 - along**2, 0.0)))
        for g, w, load, along in zip(
            _impulses_ns(given, u, p), _impulses_ns(wanted, u, p), loads, alongs, strict=True
        )
    ]
    return np.minimum(*shares)


def _share_left(given: Numbers, wanted: Numbers, limit: Numbers) -> Numbers:
    left = np.maximum(limit - np.sign(wanted) * given, 0.0)
    most = np.abs(wanted)
    return np.where(left >= most, 1.0, left / np.where(most > 0.0, most, 1.0))


def _slid(x: Numbers, dt_s: float, u: _Acting, p: BodyParameters, mu: float) -> Numbers:
    """Return the state after ``integrators._slide``."""
    free = _free(x, dt_s, u, p)
    moved = np.concatenate((x[:3], free))
    slip = _slip_left(moved, u, p)
    after = free + _within_grip(np.zeros_like(free), slip, dt_s, u, p, mu) * slip
    c, n = np.cos(x[2] + 0.5 * dt_s * x[5]), np.sin(x[2] + 0.5 * dt_s * x[5])
    way = 0.5 * dt_s * (x[3:] + after)
    return np.stack(
        (x[0] + way[0] * c - way[1] * n, x[1] + way[0] * n + way[1] * c, x[2] + way[2], *after)
    )


def _drawn(
    old: Numbers, x: Numbers, square: Numbers, dt_s: float, u: _Acting, p: BodyParameters, mu: float
) -> Numbers:
    """Remove a share of the side slip, as ``integrators.step_body`` does between the two models."""
    low = p.kinematic_below_mps
    above = (np.sqrt(square) - low) / (low * (BAND - 1.0))
    # no division by 0 at the bottom of the band
    share = 1.0 - np.exp(-dt_s / PULL_S * (1.0 - above) / np.maximum(above, 1e-9))
    share = np.where(square < (BAND * low) ** 2, share, 0.0)
    slip = _slip_left(x, u, p)
    given = x[3:] - _free(old, dt_s, u, p)
    share = share * _within_grip(given, share * slip, dt_s, u, p, mu)
    x[3:] += share * slip
    return x
