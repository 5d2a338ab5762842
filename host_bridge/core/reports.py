"""The reports of a car, in SI units: lengths m, speeds m/s, angles rad, voltages V.

Board times are the board's own microseconds modulo 2**30. ``None`` means "nobody" or "not known".
"""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.core.codes import (
    Action,
    BatteryStage,
    BindResult,
    BoxPairing,
    Cause,
    Device,
    EventCode,
    Fault,
    Profile,
    RcMode,
    Refusal,
    Sender,
    State,
)
from host_bridge.core.commands import Claim
from host_bridge.core.system.quickly_made import quickly_made
from host_bridge.core.texts.table import SHOWN_IF_LOCKED


@dataclass(frozen=True, slots=True)
class CarIdentity:
    """The identity that a car reports: its name, board, protocol and configuration."""

    car_name: str
    board_id: bytes
    protocol_hash: bytes
    config_hash: bytes
    state: State
    device: Device = Device.CAR
    is_virtual: bool = False  # as the board reports it: it moves no real car

    @property
    def is_hitl(self) -> bool:
        """True for hardware in the loop: a bare board whose peripherals are a simulated plant.

        The firmware marks its board id so.
        """
        return self.board_id.startswith(b"HITL")


@quickly_made
@dataclass(frozen=True, slots=True)
class CarStatus:
    """The core status, reported with every step of the car.

    ``time_us`` is the board's clock. Steering is positive to the left, speeds ahead. A source is
    None where nobody has the actuator.
    """

    time_us: int
    state: State
    causes: tuple[Cause, ...]
    first_cause: Cause | None
    faults: tuple[Fault, ...]
    profile: Profile  # the one in which it was armed last
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

    @property
    def shown_state(self) -> State:
        """The state for people: parked with a stop latched is shown as stopped, as it is locked."""
        shown = SHOWN_IF_LOCKED.get(self.state.name)
        return State[shown] if shown and self.causes else self.state

    @property
    def needs_clear(self) -> bool:
        """Return whether a stop or a fault is latched, or was just now."""
        return bool(self.causes or self.faults or self.state.is_halted)


@quickly_made
@dataclass(frozen=True, slots=True)
class CarMotion:
    """The measured motion and the dead-reckoned pose.

    ``captured_us`` is the board's clock; counts run modulo 2**30; left and forward are positive.
    """

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
    """One entry of the car's event log; ``code`` says what a and b are."""

    number: int
    time_us: int
    code: EventCode
    a: int
    b: int
    sender_name: str = ""  # who asked for a stop, where the car said so


@dataclass(frozen=True, slots=True)
class EventsLost:
    """A gap in the event log: events that the car no longer holds."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class StopSeen:
    """The car's acknowledgement of a stop; ``state`` is the state that followed from it."""

    token: int
    state: State
    sender: Sender
    sender_name: str


@quickly_made
@dataclass(frozen=True, slots=True)
class ClockReport:
    """The car's estimate of a session's clock, in us.

    Session time = board time + offset, give or take the bound.
    """

    epoch: int
    slot: int
    offset_us: int
    bound_us: int | None


@dataclass(frozen=True, slots=True)
class SessionBound:
    """The car's answer to a bind request; ``slot`` is None if it refused (``result`` says why)."""

    epoch: int
    slot: int | None
    result: BindResult
    protocol_hash: bytes
    config_hash: bytes


@dataclass(frozen=True, slots=True)
class ActionReply:
    """The car's answer to one step of an action.

    The first step hands out a ``nonce``, and the second sends it back; 0: there is none. Without
    ``refusals`` the step was taken.
    """

    epoch: int
    action: Action
    nonce: int
    refusals: tuple[Refusal, ...]
    causes_present: tuple[Cause, ...]
    stop_sources: tuple[int, ...] = ()  # ids of required stop sources that are missing


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """The car's counts of frames and claims since its start.

    They run modulo 2**30, ``oversized`` modulo 2**16.
    """

    good: int
    damaged: int
    oversized: int
    unknown: int
    out_of_range: int
    claims_accepted: int
    claims_refused: int
    unsent: int


@quickly_made
@dataclass(frozen=True, slots=True)
class Inputs:
    """The board's inputs, its sources and stop sources (by id), and its step times."""

    is_runstop_closed: bool
    is_enable_closed: bool
    has_charger: bool
    fresh: tuple[int, ...]
    held: tuple[int, ...]
    engaged: tuple[int, ...]
    causes_present: tuple[Cause, ...]
    stop_fresh: tuple[int, ...]  # stop sources that are present, by id
    stop_said: tuple[int, ...]  # stop sources that assert a stop, by id
    rc_mode: RcMode | None  # None: no signal
    has_imu: bool  # False too where it is silent or frozen
    step_us: int  # the longest step since the last of these; 0.66 s at most
    cause_age_s: float  # since the first stop cause; 0 without one
    fault_age_s: float  # since the first fault; both saturate at 11.6 days
    beat_us: int = 0  # the configured control period; 0: not reported
    takes_us: int = 0  # the recent duration of a step
    missed: int = 0  # overrun control periods since its start, modulo 2**16
    missed_lately: int = 0  # overrun ones among the last hundred
    pairing: BoxPairing | None = None  # state of the pairing with the runstop box


@dataclass(frozen=True, slots=True)
class Second:
    """The pulse of a time receiver (PPS): the car's time at which a whole second began."""

    began_us: int


@dataclass(frozen=True, slots=True)
class VescState:
    """The state of a VESC, and what it did by itself when the drive was last off.

    ``timeout_s``: how long after the last command it timed out, None if it has not; ``brake_a``:
    the largest current with which it braked its turning wheel.
    """

    tells: bool  # it reports timeout and kill switch; older ones do not
    has_timed_out: bool
    is_killed: bool
    timeout_s: float | None
    brake_a: float


@dataclass(frozen=True, slots=True)
class Power:
    """The battery's voltage and stage, and the car's temperature."""

    battery_v: float
    stage: BatteryStage
    temperature_c: float | None  # None: no sensor


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of the board by channel, and the sources that command them.

    ``channels`` are pulses in ns or duties in 1/10000.
    """

    is_enabled: bool
    channels: tuple[int, ...]
    lights: int
    lights_source: int | None
    aux_sources: tuple[int | None, ...]
    cap_mps: float  # the lowest speed cap in force


@quickly_made
@dataclass(frozen=True, slots=True)
class OwnClaim:
    """A claim of the car's own RC receiver that the car accepted, with the frame that reported it.

    ``epoch`` is the car's own session; the claim's stamp is the car's time.
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
    """The result of committing a configuration; ``where`` is the index of the wrong parameter."""

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
