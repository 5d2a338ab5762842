"""The single causes by which a car may differ from its twin, and how each is told in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import pi
from typing import NamedTuple

from sim_mock.plant.brake import BrakeParameters
from sim_mock.plant.esc import EscParameters
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vesc import VescParameters

Change = Callable[[PlantParameters, float], PlantParameters]


class SingleCause(NamedTuple):
    """One way to differ, by an amount that is 0 for the twin itself.

    ``usual`` is the standard deviation of what differs from run to run or from a vehicle file to a
    car that is in order; ``worth`` is the amount that a drive has to tell from 0, or it could not
    tell the cause; ``low`` to ``high`` is searched. ``change`` changes a plant. ``less`` and
    ``more`` are the two sentences, ``unit`` what the amount is told in, ``scale`` of these to one
    of ours. ``lacks`` says what a drive that could not tell it had too little of.
    """

    name: str
    title: str
    less: str
    more: str
    unit: str
    scale: float
    usual: float
    worth: float
    low: float
    high: float
    change: Change
    lacks: str

    def sentence(self, amount: float, low: float, high: float) -> str:
        """Return it as words: ``as if trimmed 2.0 deg to the right (1.8 to 2.2)``."""
        words = self.less if amount < 0.0 else self.more
        sign = -1.0 if amount < 0.0 else 1.0
        one, *both = (self.scale * sign * it for it in (amount, low, high))
        least, most = sorted(both)
        digits = 1 if self.unit == "deg" else 0
        return (
            f"as if {words.format(f'{one:.{digits}f} {self.unit}')} "
            f"({least:.{digits}f} to {most:.{digits}f})"
        )


def _trim(p: PlantParameters, amount: float) -> PlantParameters:
    """Turn all wheels that steer; those of an axle that steers the other way the other way."""
    return _steered(p, lambda rad: rad + amount)


def _gain(p: PlantParameters, amount: float) -> PlantParameters:
    return _steered(p, lambda rad: rad * (1.0 + amount))


def _steered(p: PlantParameters, by: Callable[[float], float]) -> PlantParameters:
    steering = tuple(
        replace(one, curve=tuple((by(rad), ns) for rad, ns in one.curve)) for one in p.steering
    )
    return replace(p, steering=steering)


def _steering_delay(p: PlantParameters, amount: float) -> PlantParameters:
    return replace(p, servo=replace(p.servo, dead_time_s=max(p.servo.dead_time_s + amount, 0.0)))


def _steering_rate(p: PlantParameters, amount: float) -> PlantParameters:
    return replace(p, servo=replace(p.servo, rate_rad_s=p.servo.rate_rad_s * (1.0 + amount)))


def _strength(p: PlantParameters, amount: float) -> PlantParameters:
    """Give all that a duty drives with: the voltage at the motors."""
    return replace(p, battery=replace(p.battery, emf_v=p.battery.emf_v * (1.0 + amount)))


def _wheels(p: PlantParameters, amount: float) -> PlantParameters:
    """Make the wheels larger; what a motor's turn and an encoder's count are worth grows too."""
    radius_m = p.drive.wheel_radius_m * (1.0 + amount)
    return replace(p, drive=replace(p.drive, wheel_radius_m=radius_m))


def _mass(p: PlantParameters, amount: float) -> PlantParameters:
    """Load the car where its own mass is."""
    body = p.body
    return replace(
        p,
        body=replace(
            body,
            mass_kg=body.mass_kg * (1.0 + amount),
            inertia_z_kgm2=body.inertia_z_kgm2 * (1.0 + amount),
        ),
    )


def _grip(p: PlantParameters, amount: float) -> PlantParameters:
    return replace(p, mu=p.mu * (1.0 + amount))


def _friction(p: PlantParameters, amount: float) -> PlantParameters:
    drive = p.drive
    return replace(
        p,
        drive=replace(
            drive,
            friction_n=drive.friction_n * (1.0 + amount),
            rolling_resistance=drive.rolling_resistance * (1.0 + amount),
        ),
    )


def _brake(p: PlantParameters, amount: float) -> PlantParameters:
    """Scale whatever brakes: a brake's servo, a VESC's current, the windings that an ESC shorts."""
    if isinstance(p.brake, BrakeParameters):
        torque_nm = p.brake.torque_max_nm * (1.0 + amount)
        return replace(p, brake=replace(p.brake, torque_max_nm=torque_nm))
    if isinstance(p.esc, VescParameters):
        return replace(p, esc=replace(p.esc, brake_max_a=p.esc.brake_max_a * (1.0 + amount)))
    if isinstance(p.esc, EscParameters):
        brake_max = min(p.esc.brake_max * (1.0 + amount), 1.0)
        return replace(p, esc=replace(p.esc, brake_max=brake_max))
    return p


def _unchanged(p: PlantParameters, _amount: float) -> PlantParameters:
    return p


GYRO = "gyro"
COMMAND_DELAY = "command_delay"
_DEG = 180.0 / pi
# usual: the scales of a fit's prior for trim and speed (0.006 of full lock, 1 %), the others
# chosen: what two cars of one type that are in order may differ by. worth: chosen, what a person
# would mend.
CAUSES = (
    SingleCause("trim", "trim of the steering", "trimmed {} to the right",
            "trimmed {} to the left", "deg", _DEG, 0.0025, 0.0175, -0.2, 0.2, _trim,
            "it hardly drove"),
    SingleCause("steering_gain", "how far the steering turns", "its steering turned {} less",
            "its steering turned {} more", "%", 100.0, 0.01, 0.08, -0.7, 1.0, _gain,
            "it hardly steered"),
    SingleCause("steering_delay", "delay of the steering", "its steering answered {} earlier",
            "its steering answered {} later", "ms", 1000.0, 0.003, 0.03, -0.05, 0.4,
            _steering_delay, "its steering hardly moved"),
    SingleCause("steering_rate", "how fast the servo turns", "its servo turned {} slower",
            "its servo turned {} faster", "%", 100.0, 0.03, 0.3, -0.9, 3.0, _steering_rate,
            "its steering never moved at its full rate"),
    SingleCause("wheels", "how far it rolls per count", "it rolled {} less far per count",
            "it rolled {} farther per count", "%", 100.0, 0.005, 0.05, -0.5, 0.5, _wheels,
            "it hardly turned, or changed its speed"),
    SingleCause("strength", "strength of motor, ESC or battery",
            "its motor, ESC or battery gave {} less", "its motor, ESC or battery gave {} more",
            "%", 100.0, 0.01, 0.08, -0.7, 1.0, _strength, "it hardly drove"),
    SingleCause("mass", "load", "it was {} lighter", "it was {} heavier", "%", 100.0, 0.02, 0.2,
            -0.6, 2.0, _mass, "it hardly changed its speed"),
    SingleCause("friction", "rolling resistance", "it rolled with {} less resistance",
            "it rolled with {} more resistance", "%", 100.0, 0.05, 0.4, -0.9, 5.0, _friction,
            "it hardly rolled"),
    SingleCause("grip", "grip", "its floor had {} less grip", "its floor had {} more grip", "%",
            100.0, 0.03, 0.3, -0.9, 0.6, _grip, "it never came near its limit"),
    SingleCause("brake", "strength of the brake", "it braked with {} less",
            "it braked with {} more", "%", 100.0, 0.03, 0.25, -0.9, 1.0, _brake,
            "it hardly braked"),
    SingleCause(GYRO, "scale of the gyro", "its gyro told {} less than it turned",
            "its gyro told {} more than it turned", "%", 100.0, 0.005, 0.05, -0.5, 0.5,
            _unchanged, "it hardly turned"),
    SingleCause(COMMAND_DELAY, "delay of the commands", "commands arrived {} earlier",
            "commands arrived {} later", "ms", 1000.0, 0.01, 0.06, -0.2, 1.0, _unchanged,
            "its commands hardly changed"),
)  # fmt: skip
