"""A case of the catalogue: one fault, how it must end, and what the board waits for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from firmware.protocol import codes
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.cases import starts
from sim_mock.faults.cases.injections import TrialInjection
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.vehicles import NEEDS


@dataclass(frozen=True)
class FaultCase:
    """One fault of the catalogue. ``wait`` is a key of ``limits.WAITS`` or ``UNAIDED_MS``."""

    id: str
    title: str
    source: str
    expects: str
    inject: TrialInjection
    wait: str = "step"
    extra_ms: int = 0  # the time until the fault is fully developed
    start: Callable[[FaultTrial, float], None] = starts.driving
    speed_mps: float = 3.0  # fast for a small car, and below the top speed of most
    top_share: float = 0.9  # of the vehicle's top speed, where that is less
    coasts: bool = False  # nothing is left to brake with
    rolls_back: bool = False  # the fault itself may drive it backward
    needs: str = ""  # of the vehicle: a key of ``vehicles.NEEDS``
    changes: Mapping[str, int] = field(default_factory=dict)  # of parameters
    program: Path | None = None  # the program a MicroPython runs in place of the firmware's
    start_us: int = 0  # start value of the board's clock
    ahead_us: int = 0  # offset of the session's clock from the board's

    def fits(self, vehicle: VehicleSpec) -> bool:
        """Return whether this vehicle has what the case needs."""
        return NEEDS[self.needs](vehicle)

    def speed_on(self, vehicle: VehicleSpec) -> float:
        """Return the speed in m/s at which this vehicle is driven in the case."""
        caps = vehicle.parameters["profile_cap_mm_s"]
        top_mps = min(vehicle.parameters["speed_max_mm_s"][0], max(caps)) * 1e-3
        races = self.start in (starts.racing, starts.racing_by_rc)
        profile = codes.PROFILE_RACE if races else vehicle.parameters["profile_default"][0]
        return min(self.speed_mps, self.top_share * top_mps, caps[profile] * 1e-3)

    def at(self, speed_mps: float, start: Callable[[FaultTrial, float], None]) -> "FaultCase":
        """Return the case with this start and speed, the vehicle's top speed included."""
        return replace(self, speed_mps=speed_mps, top_share=1.0, start=start)
