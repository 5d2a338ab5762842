"""A vehicle file as the host knows it. Lengths in m, angles in rad, left and forward positive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from host_bridge.core.unaided import AcceptedCoast, UnaidedFacts

LONGEST_STEP_S = 0.02  # config.rules: stops are not verified with a longer control period


@dataclass(frozen=True)
class SourceFacts:
    """A registered source of a vehicle: who may offer claims, with which rights."""

    id: int
    name: str
    priority: int
    mask: int  # actuator bits: 1 steering, 2 drive, 4 brake, 8 lights, 16 on: aux_1 to aux_4
    lease_s: float  # the longest it may ask for
    speed_cap_mps: float
    is_attended: bool
    has_counter: bool
    yields_on_silence: bool
    needs: str | None  # the source whose permission it needs


@dataclass(frozen=True)
class StopSourceFacts:
    """A stop source of a vehicle; ``needs`` says for each profile whether it must be present."""

    id: int
    name: str
    is_human: bool
    silence_s: float
    policy: str  # brake, neutral or cut
    needs: dict[str, str]  # profile -> no, optional or required


@dataclass(frozen=True)
class DivergenceLimits:
    """The largest differences allowed between a car and its twin, and the reaction beyond them."""

    steer_rad: float
    speed_mps: float
    yaw_rate_radps: float
    path_m: float
    on_exceed: str = "tell"  # or stop


@dataclass(frozen=True)
class FileValue:
    """One value of a vehicle file, and the file that sets it: its own or one of its bases."""

    key: str  # a dotted path: sources.seat.lease_s, channels.0.kind
    value: object
    file: str
    line: int  # 0: unknown


@dataclass(frozen=True)
class Vehicle:
    """A vehicle type: one file of hardware/vehicles/, read, checked and compiled."""

    name: str
    title: str
    path: str
    wheelbase_m: float
    track_m: float
    speed_max_mps: float
    reverse_max_mps: float
    steer_max_rad: float
    sources: tuple[SourceFacts, ...]
    divergence: DivergenceLimits
    step_s: float
    blind_m: float  # the longest way that any source may drive after its last claim
    stop_sources: tuple[StopSourceFacts, ...]
    profile: str  # the default profile
    profile_caps_mps: dict[str, float]
    unaided: UnaidedFacts  # for its stopping distances without its program
    accepted_coast: AcceptedCoast | None  # the distance beyond UNAIDED_MOST_M that its file accepts
    may_arm: tuple[str, ...]
    may_clear: tuple[str, ...]
    has_rc: bool  # its file has a receiver, wired on this board or not
    unwired: str  # why no board can be wired for it; empty: one can
    slowest_mps: float  # the slowest speed that its counts can hold
    reminders: tuple[str, ...]  # what its file allows and is not advised, in sentences
    calibration: str  # of a real one's twin: "own" or a file; empty: none
    stop_policies: dict[str, str]  # brake, neutral or cut, by stop cause
    values: tuple[FileValue, ...] = field(repr=False)  # of the file and its bases, merged
    plant: dict[str, object]  # handed to the simulator as it stands
    channels: tuple[dict[str, object], ...]  # likewise
    parameters: dict[str, list[int]] = field(repr=False)  # firmware parameters, compiled

    @property
    def turns_ahead_m(self) -> float:
        """The distance in m from the rear axle forward to the point that dead reckoning tracks.

        That point moves only along the car's axis: the rear axle, or the middle of the wheelbase
        on a car that steers both axles.
        """
        steered = {c.get("axle") for c in self.channels if c["kind"] == "servo_steering"}
        return self.wheelbase_m / 2.0 if steered == {"front", "rear"} else 0.0

    @property
    def turns_behind_centre_m(self) -> float:
        """The distance in m from the centre of gravity back to that point."""
        body = self.plant.get("body")
        rear_m = float(body["lr_m"]) if isinstance(body, Mapping) and "lr_m" in body else 0.0
        return rear_m - self.turns_ahead_m

    def source(self, name: str) -> SourceFacts:
        """Return the source of this name. Raises KeyError if the vehicle has no such source."""
        for source in self.sources:
            if source.name == name:
                return source
        raise KeyError(name)
