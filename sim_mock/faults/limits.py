"""How long and how far a stop may take: design numbers, and the physics of the plant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sim_mock.faults.host import CLAIM_EVERY_US, LEASE_MS, SYNC_EVERY_US
from sim_mock.plant.parameters import PlantParameters
from sim_mock.world import VehicleFacts

_G = 9.81
_GRIP_USED = 0.5  # a brake that takes less than half of what the tyres give is none
_MEASURED_OVER_S = 0.04  # firmware/core/odometry: speed is a mean over so long
_BATTERY_SETTLES_MS = 1000  # firmware/core/battery: motors sag it for moments

Parameters = Mapping[str, Sequence[int]]

# What the board waits for before it acts, in ms; to each comes one step, which it may just miss
WAITS: dict[str, Callable[[Parameters], int]] = {
    "step": lambda _p: 0,
    "claim": lambda _p: CLAIM_EVERY_US // 1000,
    "lease": lambda _p: LEASE_MS,
    "frozen": lambda p: p["frozen_ms"][0],
    "sync": lambda _p: 2 * SYNC_EVERY_US // 1000,  # the first may span the jump
    "battery": lambda _p: _BATTERY_SETTLES_MS,
}


@dataclass(frozen=True)
class Limit:
    """At most. Of the time until nothing drives, until standstill, and of the way."""

    reaction_s: float
    stop_s: float
    distance_m: float


@dataclass(frozen=True)
class Stopping:
    """The physics of a vehicle."""

    brake_mps2: float
    coast_mps2: float
    unseen_mps: float  # below this the brake has let go: its encoders tell no more

    @classmethod
    def of(cls, vehicle: VehicleFacts) -> "Stopping":
        plant = PlantParameters.from_mapping({**vehicle.plant, "channels": list(vehicle.channels)})
        drive, mass_kg = plant.drive, plant.body.mass_kg
        force_n = drive.rolling_resistance * mass_kg * _G + drive.friction_n
        brake = _GRIP_USED * plant.mu * _G
        standstill_mps = vehicle.parameters["standstill_mm_s"][0] * 1e-3
        return cls(
            brake_mps2=brake,
            coast_mps2=force_n / (mass_kg + drive.rotating_mass_kg),
            unseen_mps=standstill_mps + brake * _MEASURED_OVER_S,
        )

    def braked(self, speed_mps: float) -> tuple[float, float]:
        """Seconds and metres: v/a and v²/2a, after the lag of the measured speed, then rolling."""
        rolled_s, rolled_m = self.coasted(min(speed_mps, self.unseen_mps))
        return (
            _MEASURED_OVER_S + speed_mps / self.brake_mps2 + rolled_s,
            speed_mps * _MEASURED_OVER_S + speed_mps**2 / (2 * self.brake_mps2) + rolled_m,
        )

    def coasted(self, speed_mps: float) -> tuple[float, float]:
        """Seconds and metres without any brake: rolling resistance and friction alone."""
        return speed_mps / self.coast_mps2, speed_mps**2 / (2 * self.coast_mps2)


def limit(vehicle: VehicleFacts, wait: str, extra_ms: int, brakes: bool, speed_mps: float) -> Limit:
    """``extra_ms``: how long the fault itself takes to come about; ``speed_mps`` the fastest."""
    step_ms = vehicle.parameters["step_us"][0] // 1000
    reaction_s = (WAITS[wait](vehicle.parameters) + step_ms + extra_ms) * 1e-3
    stopping = Stopping.of(vehicle)
    seconds, metres = (stopping.braked if brakes else stopping.coasted)(speed_mps)
    return Limit(reaction_s, reaction_s + seconds, speed_mps * reaction_s + metres)
