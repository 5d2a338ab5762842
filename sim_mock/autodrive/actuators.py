"""From the board's outputs to the simulator's shares: servos, ESC or bridges as the car has them.

How fast a servo turns and a car speeds up is the simulator's business; what pulses and duties mean,
and what an ESC remembers, is the vehicle file's.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan, tan
from typing import TYPE_CHECKING, cast

from sim_mock.autodrive.command import Command, share
from sim_mock.models.autodrive.gearbox import STILL_MPS
from sim_mock.plant.servo import NO_PULSE, CalibrationCurve
from sim_mock.plant.vehicle_plant import FULL_DUTY, speed_controller

if TYPE_CHECKING:
    from sim_mock.autodrive.cars import SimulatedCar
    from sim_mock.plant.motor import Motor
    from sim_mock.plant.parameters import PlantParameters


class _Wish:
    """Stands where an ESC has its motor, and notes what it is told.

    The simulator knows no coasting: throttle 0 holds the wheels, or the pedal of a large car does.
    """

    def __init__(self) -> None:
        self.coast()

    def coast(self) -> None:
        self.effort, self.pedal = 0.0, 1.0

    def brake(self, share: float, _rim_mps: float) -> None:
        self.effort, self.pedal = 0.0, share

    def brake_with(self, _current_a: float, _rim_mps: float) -> None:
        self.effort, self.pedal = 0.0, 1.0

    def drive(self, duty: float, _rim_mps: float, _is_one_way: bool) -> None:
        self.effort = duty


def top_mps(p: PlantParameters) -> float:
    """What a car's motors would do on all of their battery, with nothing to push."""
    emf_v = p.battery.emf_v - p.battery.resistance_ohm * p.battery.idle_a
    return emf_v / (p.motor.emf_vs_per_rad * p.drive.turns_rad_per_m)


class Actuators:
    """One car's; ``command`` is what its outputs come to."""

    def __init__(self, parameters: PlantParameters, car: SimulatedCar) -> None:
        p = self._p = parameters
        self._car = car
        self._esc = speed_controller(p.esc)
        self._wish = _Wish()
        self._front = {
            s.channel: CalibrationCurve(s.curve, s.wheel_ratio)
            for s in p.steering
            if s.axle == "front"
        }
        self._angles_rad = dict.fromkeys(self._front, 0.0)
        self._top_mps = top_mps(p)
        self.command = Command()

    def step(self, dt_s: float, outputs: Sequence[int], enable: bool, rim_mps: float) -> Command:
        """Take the outputs of the next ``dt_s`` seconds; ``rim_mps`` is what the ESC feels."""
        effort = self._effort(dt_s, outputs, enable, rim_mps)
        of_speed = self._car.throttle(effort * self._top_mps)  # as fast as the vehicle file's
        pedal = self._wish.pedal
        if self._car.has_pedals and effort * rim_mps < 0.0 and abs(rim_mps) > STILL_MPS:
            effort, pedal = 0.0, min(abs(effort), 1.0)  # its gearbox ignores such a throttle
        steer_rad = self._steer_rad(outputs)
        speed_mps = self._car.speed_mps(of_speed)
        self.command = Command(
            effort if self._car.has_pedals else of_speed,  # a pedal is a share of a torque
            share(steer_rad / self._car.steer_max_rad),
            speed_mps,
            speed_mps * tan(steer_rad) / self._car.wheelbase_m,
            pedal,
        )
        return self.command

    def _effort(self, dt_s: float, outputs: Sequence[int], enable: bool, rim_mps: float) -> float:
        channels = self._p.drive_channels
        if self._esc:
            motor = cast("Motor", self._wish)  # these four methods are all that it calls
            self._esc.step(dt_s, outputs[channels[0]], enable, motor, rim_mps)
            return self._wish.effort
        if not enable:
            return 0.0
        return sum(outputs[i] for i in channels) / (FULL_DUTY * len(channels))

    def _steer_rad(self, outputs: Sequence[int]) -> float:
        """Of the front axle; a servo without a pulse stays as it is."""
        for channel, curve in self._front.items():
            if outputs[channel] != NO_PULSE:
                self._angles_rad[channel] = curve.angle_rad(outputs[channel])
        return axle_rad(tuple(self._angles_rad.values()))


def axle_rad(wheels_rad: Sequence[float]) -> float:
    """The angle in the middle of an axle whose wheels turn about one centre (Ackermann).

    The distance to the centre is the mean of the wheels', and the tangents are its inverse; wheels
    that point apart have none, and their mean is taken.
    """
    if not wheels_rad:
        return 0.0
    if any(wheel * wheels_rad[0] <= 0.0 for wheel in wheels_rad):
        return sum(wheels_rad) / len(wheels_rad)
    return atan(len(wheels_rad) / sum(1.0 / tan(wheel) for wheel in wheels_rad))
