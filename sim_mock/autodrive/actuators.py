"""Conversion of the board's outputs to the simulator's commands, by the car's servos and drive.

The rate of a servo and the acceleration of a car are simulated by the simulator; the meaning of
pulses and duties, and the state of an ESC, come from the vehicle file.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan, tan
from typing import TYPE_CHECKING, cast

from sim_mock.autodrive.command import VehicleCommand, share
from sim_mock.models.autodrive.gearbox import STILL_MPS
from sim_mock.plant.servo import NO_PULSE, CalibrationCurve
from sim_mock.plant.vehicle_plant import FULL_DUTY, speed_controller

if TYPE_CHECKING:
    from sim_mock.autodrive.cars import SimulatedCar
    from sim_mock.plant.motor import Motor
    from sim_mock.plant.parameters import PlantParameters


class _EscCommand:
    """A stand-in for an ESC's motor that records the ESC's command.

    The simulator knows no coasting: throttle 0 holds the wheels, or the pedal of a large car does.
    """

    def __init__(self) -> None:
        self.coast()

    def coast(self) -> None:
        self.effort, self.pedal = 0.0, 1.0

    def brake(self, share: float, _rim_mps: float) -> None:
        self.effort, self.pedal = 0.0, share

    def brake_with_current(self, _current_a: float, _rim_mps: float) -> None:
        self.effort, self.pedal = 0.0, 1.0

    def drive(self, duty: float, _rim_mps: float, _is_one_way: bool) -> None:
        self.effort = duty


def top_mps(p: PlantParameters) -> float:
    """Return the speed of a car's motors at full battery voltage, without load."""
    emf_v = p.battery.emf_v - p.battery.resistance_ohm * p.battery.idle_a
    return emf_v / (p.motor.emf_vs_per_rad * p.drive.turns_rad_per_m)


class Actuators:
    """The actuators of one car; ``command`` is the simulator's command for its outputs."""

    def __init__(self, parameters: PlantParameters, car: SimulatedCar) -> None:
        p = self._p = parameters
        self._car = car
        self._esc = speed_controller(p.esc)
        self._esc_command = _EscCommand()
        self._front = {
            s.channel: CalibrationCurve(s.curve, s.wheel_ratio)
            for s in p.steering
            if s.axle == "front"
        }
        self._angles_rad = dict.fromkeys(self._front, 0.0)
        self._top_mps = top_mps(p)
        self.command = VehicleCommand()

    def step(
        self, dt_s: float, outputs: Sequence[int], enable: bool, rim_mps: float
    ) -> VehicleCommand:
        """Take the outputs of the next ``dt_s`` seconds; ``rim_mps`` is sensed by the ESC."""
        effort = self._effort(dt_s, outputs, enable, rim_mps)
        # The throttle that gives the same speed as the vehicle file's motors.
        of_speed = self._car.throttle(effort * self._top_mps)
        pedal = self._esc_command.pedal
        if self._car.has_pedals and effort * rim_mps < 0.0 and abs(rim_mps) > STILL_MPS:
            effort, pedal = 0.0, min(abs(effort), 1.0)  # the gearbox ignores an opposing throttle
        steer_rad = self._steer_rad(outputs)
        speed_mps = self._car.speed_mps(of_speed)
        self.command = VehicleCommand(
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
            motor = cast("Motor", self._esc_command)  # the ESC calls these four methods only
            self._esc.step(dt_s, outputs[channels[0]], enable, motor, rim_mps)
            return self._esc_command.effort
        if not enable:
            return 0.0
        return sum(outputs[i] for i in channels) / (FULL_DUTY * len(channels))

    def _steer_rad(self, outputs: Sequence[int]) -> float:
        """Return the angle of the front axle; a servo without a pulse keeps its angle."""
        for channel, curve in self._front.items():
            if outputs[channel] != NO_PULSE:
                self._angles_rad[channel] = curve.angle_rad(outputs[channel])
        return axle_rad(tuple(self._angles_rad.values()))


def axle_rad(wheels_rad: Sequence[float]) -> float:
    """Return the angle in the middle of an axle whose wheels turn about one centre (Ackermann).

    The distance to the centre is the mean of the wheels', and the tangents are its inverse; wheels
    that point apart have no centre, and their mean angle is taken.
    """
    if not wheels_rad:
        return 0.0
    if any(wheel * wheels_rad[0] <= 0.0 for wheel in wheels_rad):
        return sum(wheels_rad) / len(wheels_rad)
    return atan(len(wheels_rad) / sum(1.0 / tan(wheel) for wheel in wheels_rad))
