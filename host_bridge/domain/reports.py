"""What a car reports, in SI units: lengths m, speeds m/s, angles rad, voltages V.

Board times are the board's own microseconds modulo 2**30. ``None`` is "nobody" or "not known".
"""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.domain.codes import (
    Action,
    BatteryStage,
    BindResult,
    Cause,
    Device,
    EventCode,
    Fault,
    Pairing,
    Profile,
    RcMode,
    Refusal,
    Sender,
    State,
)
from host_bridge.domain.commands import Claim


@dataclass(frozen=True, slots=True)
class CarIdentity:
    """Which car this is."""

    car_name: str
    board_id: bytes
    protocol_hash: bytes
    config_hash: bytes
    state: State
    device: Device = Device.CAR
    is_virtual: bool = False  # as it says itself: nothing of metal moves by it

    @property
    def is_hitl(self) -> bool:
        """Hardware in the loop: a bare board, whose peripherals are a plant (firmware's mark)."""
        return self.board_id.startswith(b"HITL")


@dataclass(frozen=True, slots=True)
class CarStatus:
    """The core status, on every step of the car."""

    time_us: int
    state: State
    causes: tuple[Cause, ...]
    first_cause: Cause | None
    faults: tuple[Fault, ...]
    profile: Profile  # that it was armed in last
    steering_source: int | None
    drive_source: int | None
    brake_source: int | None
    steer_rad: float
    target_mps: float
    brake: float  # 0 to 1
    speed_mps: float
    claim_slot: int  # the session whose claim was accepted last
    claim_sequence: int
    claim_count: int  # modulo 2**16
    claim_crc: int
    applied_us: int | None  # board time of the last accepted claim; None if over 0.65 s ago


@dataclass(frozen=True, slots=True)
class CarMotion:
    """Measured motion, and where dead reckoning puts the car."""

    captured_us: int
    count_left: int
    count_right: int
    distance_m: float
    x_m: float
    y_m: float
    yaw_rad: float
    yaw_rate_radps: float
    accel_x_mps2: float
    accel_y_mps2: float


@dataclass(frozen=True, slots=True)
class CarEvent:
    """One entry of the car's chronicle; a and b as ``code`` says."""

    number: int
    time_us: int
    code: EventCode
    a: int
    b: int
    sender_name: str = ""  # who asked for a stop, where the car said so


@dataclass(frozen=True, slots=True)
class EventsLost:
    """Events that the car no longer holds."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class StopSeen:
    """A car's acknowledgement of a stop: the state is the one that it brought."""

    token: int
    state: State
    sender: Sender
    sender_name: str


@dataclass(frozen=True, slots=True)
class ClockReport:
    """session time = board time + offset, give or take the bound; as the board computed it."""

    epoch: int
    slot: int
    offset_us: int
    bound_us: int | None


@dataclass(frozen=True, slots=True)
class SessionBound:
    """The car took our session in, or says why not (``slot`` is None)."""

    epoch: int
    slot: int | None
    result: BindResult
    protocol_hash: bytes
    config_hash: bytes


@dataclass(frozen=True, slots=True)
class ActionReply:
    """The car's answer to one step of an action."""

    epoch: int
    action: Action
    nonce: int
    refusals: tuple[Refusal, ...]
    causes_present: tuple[Cause, ...]
    stop_sources: tuple[int, ...] = ()  # that the profile requires, and that are not there


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """Frames and claims as the car counted them since its start, modulo 2**30; ``oversized``
    modulo 2**16."""

    good: int
    damaged: int
    oversized: int
    unknown: int
    out_of_range: int
    claims_accepted: int
    claims_refused: int
    unsent: int


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the board's inputs and its sources are doing; sources by id."""

    is_runstop_closed: bool
    is_enable_closed: bool
    has_charger: bool
    fresh: tuple[int, ...]
    held: tuple[int, ...]
    engaged: tuple[int, ...]
    causes_present: tuple[Cause, ...]
    stop_fresh: tuple[int, ...]  # stop sources that are there, by id
    stop_said: tuple[int, ...]  # and those that say stop
    rc_mode: RcMode | None  # None: no signal
    has_imu: bool  # False too where it is silent or frozen
    step_us: int  # the longest step since the last of these; 0.66 s at most
    cause_age_s: float  # since the first stop cause; 0 without one
    fault_age_s: float  # since the first fault; both stay at their longest, 11.6 days
    beat_us: int = 0  # from step to step, as it is configured; 0: not said
    takes_us: int = 0  # a step, of late
    missed: int = 0  # beats since its start, modulo 2**16: their steps ended too late
    missed_lately: int = 0  # of the last hundred
    pairing: Pairing | None = None  # how it stands between the car and its runstop box


@dataclass(frozen=True, slots=True)
class Second:
    """A time receiver's pulse: when, by the car's time, a whole second began."""

    began_us: int


@dataclass(frozen=True, slots=True)
class VescState:
    """What a VESC says, and what it did alone when the drive was off last.

    ``timeout_s``: how long after the last command it timed out, None if it has not;
    ``brake_a``: the most that it braked its turning wheel with.
    """

    tells: bool  # of timeout and kill switch: older ones do not
    has_timed_out: bool
    is_killed: bool
    timeout_s: float | None
    brake_a: float


@dataclass(frozen=True, slots=True)
class Power:
    """The battery, and how warm the car is."""

    battery_v: float
    stage: BatteryStage
    temperature_c: float | None  # None: no sensor


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the board puts out, by channel: pulses in ns, duties in 1/10000; and on whose word."""

    is_enabled: bool
    channels: tuple[int, ...]
    lights: int
    lights_source: int | None
    aux_sources: tuple[int | None, ...]
    cap_mps: float  # the lowest cap that binds whoever drives


@dataclass(frozen=True, slots=True)
class OwnClaim:
    """What the car's own receiver claimed and the car accepted, and the frame that said so.

    ``epoch`` is the car's own; its claim's stamp is the car's time.
    """

    epoch: int
    claim: Claim
    frame: bytes


@dataclass(frozen=True, slots=True)
class ParameterReply:
    """One parameter of the car's draft configuration; ``result`` 0 is good."""

    index: int
    value: int
    result: int


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of a configuration; ``where`` is the index of the parameter that is wrong."""

    result: int
    where: int
    config_hash: bytes


Report = (
    CarIdentity
    | CarStatus
    | CarMotion
    | CarEvent
    | EventsLost
    | StopSeen
    | ClockReport
    | SessionBound
    | ActionReply
    | LinkCounters
    | Inputs
    | Power
    | Outputs
    | OwnClaim
    | Second
    | VescState
    | ParameterReply
    | Committed
)
