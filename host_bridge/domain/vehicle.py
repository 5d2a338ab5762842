"""A vehicle file, as the host knows it. Lengths in m, angles in rad, left and forward positive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from host_bridge.domain.unaided import AcceptedCoast, UnaidedFacts

LONGEST_STEP_S = 0.02  # config.rules: with a longer one nothing is shown of how a car stops


@dataclass(frozen=True)
class SourceFacts:
    """A registered source of a vehicle: who may offer claims, with what rights."""

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
    """Who can stop a vehicle; ``needs`` says by profile whether it must be there."""

    id: int
    name: str
    is_human: bool
    silence_s: float
    policy: str  # brake, neutral or cut
    needs: dict[str, str]  # profile -> no, optional or required


@dataclass(frozen=True)
class DivergenceLimits:
    """Beyond these a car and its twin are said to differ, and stop if ``on_exceed`` says so."""

    steer_rad: float
    speed_mps: float
    yaw_rate_radps: float
    path_m: float
    on_exceed: str = "tell"  # or stop


@dataclass(frozen=True)
class FileValue:
    """A value as a vehicle file has it, and which file says so: its own, or one it is based on."""

    key: str  # as sources.seat.lease_s, channels.0.kind
    value: object
    file: str
    line: int  # 0: none


@dataclass(frozen=True)
class Vehicle:
    """A vehicle file, read and checked."""

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
    blind_m: float  # no source drives farther than this without being heard
    stop_sources: tuple[StopSourceFacts, ...]
    profile: str  # what it is armed in unless somebody says otherwise
    profile_caps_mps: dict[str, float]
    unaided: UnaidedFacts  # how far it goes where its program has no part in a stop
    accepted_coast: AcceptedCoast | None  # what its file accepts of that beyond UNAIDED_MOST_M
    may_arm: tuple[str, ...]
    may_clear: tuple[str, ...]
    has_rc: bool  # its file has a receiver; whether a board has one wired is another thing
    unwired: str  # why no board can be wired for it; empty: one can
    calibration: str  # "own" or a file: what a twin of a real one has; empty: none
    stop_policies: dict[str, str]  # brake, neutral or cut, by stop cause
    values: tuple[FileValue, ...] = field(repr=False)  # of the file and its bases, merged
    plant: dict[str, object]  # handed to the simulator as it stands
    channels: tuple[dict[str, object], ...]  # likewise
    parameters: dict[str, list[int]] = field(repr=False)  # firmware parameters, compiled

    @property
    def turns_ahead_m(self) -> float:
        """How far ahead of its rear axle the point is that moves only along the car, which dead
        reckoning is of. One that steers both axles turns about its middle."""
        steered = {c.get("axle") for c in self.channels if c["kind"] == "servo_steering"}
        return self.wheelbase_m / 2.0 if steered == {"front", "rear"} else 0.0

    @property
    def turns_behind_centre_m(self) -> float:
        """How far that point is behind the centre of gravity."""
        body = self.plant.get("body")
        rear_m = float(body["lr_m"]) if isinstance(body, Mapping) and "lr_m" in body else 0.0
        return rear_m - self.turns_ahead_m

    def source(self, name: str) -> SourceFacts:
        """Raises KeyError if the vehicle has no such source."""
        for source in self.sources:
            if source.name == name:
                return source
        raise KeyError(name)
