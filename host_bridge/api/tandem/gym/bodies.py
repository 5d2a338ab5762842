"""The motion of many bodies: first-order steering and speed in front of ``Batch``.

There is no program, no motor and no sensor. What a car's program and actuators do to an action is
taken as its limits in the vehicle file: rates of steering, acceleration and deceleration.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from sim_mock.plant.batch import Batch
from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.parameters import PlantParameters

Floats = NDArray[np.float64]

_PARTS, _PART_S = 4, 2.5e-3  # of a tick of 10 ms: the longest at which the tyres are stable
_CATCH_UP_S = 0.15  # chosen: about as the program's speed loop, by the test beside the whole car
_GRIP = 0.95  # chosen: of what the tyres give, so that the driven wheels do not slide


class Bodies:
    """Equal cars without their programs. Columns of ``state``: one for each."""

    def __init__(self, vehicle: Vehicle, count: int) -> None:
        """Read the vehicle's plant. Raises errors.UsageFault if it has no outline."""
        table = {**vehicle.plant, "channels": list(vehicle.channels)}
        p = PlantParameters.from_mapping(table)
        if p.outline is None:
            raise UsageFault(
                "a car among walls has an outline",
                where=vehicle.name,
                remedy="[plant.outline] in its vehicle file: length_m, width_m, rear_overhang_m",
            )
        self._batch = Batch(p.body, p.mu, count)
        limits = vehicle.parameters
        self._accel_mps2 = limits["accel_mm_s2"][0] * 1e-3
        self._decel_mps2 = limits["decel_mm_s2"][0] * 1e-3
        rate_rad_s = min(p.servo.rate_rad_s, limits["steer_rate_urad_s"][0] * 1e-6)
        self._turns_rad = rate_rad_s * _PART_S
        ratios = {"front": 0.0, "rear": 0.0} | {it.axle: it.wheel_ratio for it in p.steering}
        self._front, self._rear = ratios["front"], ratios["rear"]
        self._mass_kg = p.body.mass_kg
        self._share = p.drive.front_share(p.body.lr_m, p.body.wheelbase_m)
        loads = {"all": 1.0, "front": p.body.lr_m / p.body.wheelbase_m}
        driven = loads.get(p.drive.driven, p.body.lf_m / p.body.wheelbase_m)
        self._most_mps2 = _GRIP * p.mu * GRAVITY_MPS2 * driven
        rear_m = p.body.lr_m + p.outline.rear_overhang_m
        self.half_width_m = p.outline.width_m / 2.0
        self._ends_m = (
            p.outline.length_m - rear_m - self.half_width_m,
            0.0,
            self.half_width_m - rear_m,
        )
        self.steer_rad = np.zeros(count)
        self.accel_mps2 = np.zeros((2, count))

    @property
    def state(self) -> Floats:
        """Rows of x, y, yaw of the centre of gravity, and of the speeds along, across, turning."""
        return self._batch.state

    def place(self, which: NDArray[np.bool_], poses: Floats) -> None:
        """Put the chosen ones there at rest; ``poses`` has a column for each of them."""
        self._batch.state[:, which] = 0.0
        self._batch.state[:3, which] = poses
        self.steer_rad[which] = 0.0
        self.accel_mps2[:, which] = 0.0

    def tick(self, steer_rad: Floats, speed_mps: Floats) -> None:
        """Drive 10 ms towards these angles and speeds."""
        before = self._batch.state
        for _ in range(_PARTS):
            self.steer_rad = self.steer_rad + np.clip(
                steer_rad - self.steer_rad, -self._turns_rad, self._turns_rad
            )
            now_mps = self._batch.state[3]
            wanted = (speed_mps - now_mps) / _CATCH_UP_S
            # It speeds up away from standstill; towards it, it brakes
            is_braking = wanted * now_mps < 0.0
            most = np.where(is_braking, self._decel_mps2, self._accel_mps2)
            most = np.minimum(most, self._most_mps2)
            force_n = self._mass_kg * np.clip(wanted, -most, most)
            self._batch.step(
                _PART_S,
                self._front * self.steer_rad,
                (1.0 - self._share) * force_n,
                self._share * force_n,
                self._rear * self.steer_rad,
            )
        after = self._batch.state
        changes = (after[3:5] - before[3:5]) / (_PARTS * _PART_S)
        self.accel_mps2 = np.stack(
            (changes[0] - after[4] * after[5], changes[1] + after[3] * after[5])
        )

    def discs(self) -> tuple[Floats, Floats]:
        """Return the centres of three discs of ``half_width_m`` in each outline: x and y in m."""
        x_m, y_m, yaw_rad = self._batch.state[:3]
        ends_m = np.array(self._ends_m)[:, None]
        return x_m + ends_m * np.cos(yaw_rad), y_m + ends_m * np.sin(yaw_rad)
