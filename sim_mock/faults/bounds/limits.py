"""The limits of a stop in time and distance: design numbers, and the physics of the plant."""

from collections.abc import Callable
from dataclasses import dataclass

from firmware.core.settings.params import CURVE_POINTS
from firmware.protocol.codes import SOURCE_RC, STOP_SOURCE_RUNSTOP_BOX
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.trial.host import CLAIM_EVERY_US, SYNC_EVERY_US
from sim_mock.faults.trial.vehicles import lease_ms
from sim_mock.plant.parameters import PlantParameters

G_MPS2 = 9.81  # standard gravity
_GRIP_USED = 0.5  # least share of the braked tyres' grip that counts as braking
_MEASURED_OVER_S = 0.04  # firmware/core/motion/odometry: speed is a mean over so long
_BATTERY_SETTLES_MS = 1000  # firmware/core/motion/battery waits, as motors make it sag for moments
_UNATTENDED_MS = 3000  # firmware/core/arbitration/arbiter
_HANDS_PAUSE_MS = 1000  # firmware/core/stops/plausibility
_PULSE_AWAY_NS = 5_000  # firmware/core/motion/outputs
_DRIFT = 10_000  # firmware/core/clock: two crystals differ by up to one part in so many


def unseen_steps(vehicle: VehicleSpec) -> int:
    """Return the number of whole steps in which a steering pulse moves less than the tolerance."""
    parameters = vehicle.parameters
    (rate_urad_s,), (steer_max_urad,) = (
        parameters["steer_rate_urad_s"],
        parameters["steer_max_urad"],
    )
    curve = parameters["channel_curve"][:CURVE_POINTS]  # of the first channel, whose output sticks
    ns_per_urad = abs(curve[-1] - curve[0]) / (2 * steer_max_urad)
    return int(_PULSE_AWAY_NS / (ns_per_urad * rate_urad_s * step_ms(vehicle) * 1e-3))


def step_ms(vehicle: VehicleSpec) -> int:
    """Return the period of the program's steps in ms."""
    return vehicle.parameters["step_us"][0] // 1000


# The time in ms after which the board acts; each is lengthened by one step, which may be missed.
WAITS: dict[str, Callable[[VehicleSpec], int]] = {
    "step": lambda _v: 0,
    "claim": lambda _v: CLAIM_EVERY_US // 1000,
    "lease": lease_ms,
    "frozen": lambda v: v.parameters["frozen_ms"][0],
    "sync": lambda _v: 2 * SYNC_EVERY_US // 1000,  # the first may span the jump
    "battery": lambda _v: _BATTERY_SETTLES_MS,
    "two steps": step_ms,
    "steering read back": lambda v: (3 + unseen_steps(v)) * step_ms(v),
    "rc frame": lambda _v: 20,
    "rc lease": lambda v: lease_ms(v, SOURCE_RC),
    "box": lambda v: v.parameters["stop_source_silence_ms"][STOP_SOURCE_RUNSTOP_BOX],
    "stuck": lambda v: v.parameters["stuck_ms"][0] + 40,
    "too fast": lambda v: v.parameters["too_fast_ms"][0] + 40,
    "on stand": lambda _v: _HANDS_PAUSE_MS + 40,
    "nobody": lambda _v: _UNATTENDED_MS,
    "clock": lambda v: v.parameters["clock_bound_us"][0] * _DRIFT // 1000,
    "stand": lambda v: v.parameters["stand_ms"][0],
}
# Reactions without any step of the program: rings 0 and 1, as firmware/core/SAFETY.md promises.
UNAIDED_MS = {"loop": 1, "hung": 100}


@dataclass(frozen=True)
class StopLimit:
    """Upper limits: time until nothing drives, time until standstill, and distance."""

    reaction_s: float
    stop_s: float
    distance_m: float


@dataclass(frozen=True)
class Decelerations:
    """The decelerations of a vehicle when it brakes and when it coasts."""

    brake_mps2: float
    coast_mps2: float
    promised_mps2: (
        float  # least deceleration of a car braked before its cut (core/stops/loop_brake.py)
    )
    unseen_mps: float  # below this the brake is released, as the encoders do not show the speed

    @classmethod
    def of(cls, vehicle: VehicleSpec) -> "Decelerations":
        plant = plant_parameters(vehicle)
        drive, mass_kg = plant.drive, plant.body.mass_kg
        force_n = drive.rolling_resistance * mass_kg * G_MPS2 + drive.friction_n
        brake = _GRIP_USED * braked_grip_mps2(plant)
        standstill_mps = vehicle.parameters["standstill_mm_s"][0] * 1e-3
        return cls(
            brake_mps2=brake,
            coast_mps2=force_n / (mass_kg + drive.rotating_mass_kg),
            # half of it, in m/s^2
            promised_mps2=vehicle.parameters["brake_decel_mm_s2"][0] * 0.5e-3,
            unseen_mps=standstill_mps + brake * _MEASURED_OVER_S,
        )

    def braked(self, speed_mps: float) -> tuple[float, float]:
        """Return seconds and metres of a braked stop.

        They are v/a and v²/2a, after the lag of the measured speed, and then rolling out.
        """
        rolled_s, rolled_m = self.coasted(min(speed_mps, self.unseen_mps))
        return (
            _MEASURED_OVER_S + speed_mps / self.brake_mps2 + rolled_s,
            speed_mps * _MEASURED_OVER_S + speed_mps**2 / (2 * self.brake_mps2) + rolled_m,
        )

    def braked_first(self, speed_mps: float, seconds: float) -> tuple[float, float]:
        """Return seconds and metres when braked for ``seconds`` at least so hard, then rolling."""
        braked_s = seconds - _MEASURED_OVER_S
        left_mps = max(speed_mps - self.promised_mps2 * braked_s, self.unseen_mps)
        rolled_s, rolled_m = self.coasted(left_mps)
        braked_m = (speed_mps + left_mps) / 2 * braked_s
        return seconds + rolled_s, speed_mps * _MEASURED_OVER_S + braked_m + rolled_m

    def coasted(self, speed_mps: float) -> tuple[float, float]:
        """Return seconds and metres without any brake: rolling resistance and friction alone."""
        return speed_mps / self.coast_mps2, speed_mps**2 / (2 * self.coast_mps2)


def plant_parameters(vehicle: VehicleSpec) -> PlantParameters:
    """Return the parameters of the virtual car's plant."""
    return PlantParameters.from_mapping({**vehicle.plant, "channels": list(vehicle.channels)})


def braked_grip_mps2(plant: PlantParameters) -> float:
    """Return the largest deceleration that friction allows: mu g, or that of the braking axle.

    Braking moves load to the front: m a = mu (m g lr + m a h) / L for the front axle, mu (m g lf -
    m a h) / L for the rear one.
    """
    body, mu = plant.body, plant.mu
    if plant.brake or plant.drive.driven == "front":
        return mu * G_MPS2 * body.lr_m / (body.wheelbase_m - mu * body.h_cg_m)
    if plant.drive.driven == "rear":
        return mu * G_MPS2 * body.lf_m / (body.wheelbase_m + mu * body.h_cg_m)
    return mu * G_MPS2


def limit(
    vehicle: VehicleSpec,
    wait: str,
    extra_ms: int,
    brakes: bool,
    speed_mps: float,
    braked_s: float = 0.0,
) -> StopLimit:
    """Return the limits of a stop.

    ``extra_ms``: the time until the fault is fully developed; ``speed_mps``: the largest speed;
    ``braked_s``: the time after which the drive is cut, 0 if it is not.
    """
    waits_ms = UNAIDED_MS[wait] if wait in UNAIDED_MS else WAITS[wait](vehicle) + step_ms(vehicle)
    reaction_s = (waits_ms + extra_ms) * 1e-3
    stopping = Decelerations.of(vehicle)
    if brakes and braked_s:
        seconds, metres = stopping.braked_first(speed_mps, braked_s)
    else:
        seconds, metres = (stopping.braked if brakes else stopping.coasted)(speed_mps)
    return StopLimit(reaction_s, reaction_s + seconds, speed_mps * reaction_s + metres)
