"""The codes of the wire as enums: states, causes, faults, refusals, each with a text for people.

Their numbers are those of ``firmware.protocol.codes``; a test finds a number without a text here.

A number that this host does not know becomes a code too, named "unknown (13)", so that a newer
car's report is still decoded whole.
"""

from __future__ import annotations

from enum import Enum, IntEnum, IntFlag
from functools import lru_cache
from typing import Any, TypeVar

from firmware.core.motion import battery
from firmware.protocol import codes as wire

NOBODY = wire.NOBODY  # the source id that means "no source"
STOP_SOURCE_RUNSTOP_BOX = wire.STOP_SOURCE_RUNSTOP_BOX  # its id, on all vehicles
STOP_SOURCE_STRANGE = wire.STOP_SOURCE_STRANGE  # added to the id of an unauthenticated stop source


class Code(IntEnum):
    """A named number of the wire; a number without a name becomes a member-like code as well."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return _unknown(cls, value) if isinstance(value, int) else None


@lru_cache(maxsize=1024)  # bounded: a car may say any number
def _unknown(kind: type[Code], number: int) -> Code:
    """Return a code of this kind for a number without a name; it equals none of the members."""
    code = int.__new__(kind, number)
    code._name_ = f"unknown ({number})"
    code._value_ = number
    return code


class State(Code):
    """The car's operating state; its transitions are in firmware/core/supervisor.py."""

    STARTING = wire.STARTING
    STANDBY = wire.STANDBY
    ACTIVE = wire.ACTIVE
    HOLD = wire.HOLD
    STOPPING = wire.STOPPING
    STOPPED = wire.STOPPED
    FAULT = wire.FAULT


class Actuator(Code):
    """The actuators that a source may claim; in a mask, actuator n is bit n."""

    STEERING = wire.STEERING
    DRIVE = wire.DRIVE
    BRAKE = wire.BRAKE
    LIGHTS = wire.LIGHTS
    AUX_1 = wire.AUX_1  # the vehicle file says what an AUX moves
    AUX_2 = wire.AUX_2
    AUX_3 = wire.AUX_3
    AUX_4 = wire.AUX_4


class Profile(Code):
    """The operating mode in which a car is armed.

    It sets which stop sources must be present, and the speed cap.
    """

    STAND = wire.PROFILE_STAND  # its wheels are off the ground
    TRACK = wire.PROFILE_TRACK
    RACE = wire.PROFILE_RACE


class RcMode(Code):
    """The position of the mode switch on an RC transmitter."""

    STOP = wire.MODE_STOP
    MANUAL = wire.MODE_MANUAL
    AUTONOMY = wire.MODE_AUTONOMY


class PairingState(Code):
    """The state of the pairing between a car and its runstop box, as the car reports it."""

    ANSWERS = wire.PAIRING_ANSWERS
    SILENT = wire.PAIRING_SILENT
    STRANGE = wire.PAIRING_STRANGE
    BARE_BOX = wire.PAIRING_BARE_BOX
    NO_KEY = wire.PAIRING_NO_KEY
    MOVED = wire.PAIRING_MOVED
    NO_CIPHER = wire.PAIRING_NO_CIPHER


class Deadman(IntFlag):
    """The deadman bits of a claim."""

    HELD = wire.HELD
    PERMITS_AUTONOMY = wire.PERMITS_AUTONOMY


class Phrased(Code):
    """A code that also carries its text for a person, in ``phrase``."""

    phrase: str

    def __new__(cls, value: int, phrase: str = "") -> Phrased:
        """Create a member written as (number, phrase); it is found by its number alone."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.phrase = phrase
        return member

    @classmethod
    def _missing_(cls, value: object) -> Any:
        code = super()._missing_(value)
        if code is not None:
            code.phrase = code.name
        return code


class Cause(Phrased):
    """The latched reasons for which a car stops; ``phrase`` completes "Stopped because ..."."""

    RUNSTOP_LOOP = wire.CAUSE_RUNSTOP_LOOP, "the runstop loop is open"
    STOP_REQUEST = wire.CAUSE_STOP_REQUEST, "a stop was requested"
    FROZEN_INPUT = wire.CAUSE_FROZEN_INPUT, "an input device froze"
    SILENCE = wire.CAUSE_SILENCE, "a source fell silent"
    CLOCK_STEP = wire.CAUSE_CLOCK_STEP, "the clock of the commanding session jumped"
    CLOCK_UNSURE = (
        wire.CAUSE_CLOCK_UNSURE,
        "the car no longer knew the commanding session's clock well enough",
    )
    CHARGER = wire.CAUSE_CHARGER, "a charger is connected"
    EMPTY_BATTERY = wire.CAUSE_EMPTY_BATTERY, "the battery is empty"
    OVERRUN = wire.CAUSE_OVERRUN, "the car's program overran its step"
    UNATTENDED = wire.CAUSE_UNATTENDED, "it was armed for 3 s with nobody there to drive it"
    STOP_SOURCE = wire.CAUSE_STOP_SOURCE, "a stop source says stop"
    STOP_SOURCE_SILENT = wire.CAUSE_STOP_SOURCE_SILENT, "a stop source that it needs is silent"
    STAND_OVER = wire.CAUSE_STAND_OVER, "its time with the wheels off the ground is over"


class Fault(Phrased):
    """The latched faults of a car itself; ``phrase`` completes "In fault because ..."."""

    CONFIGURATION = (
        wire.FAULT_CONFIGURATION,
        "its configuration is missing, damaged or out of range",
    )
    FOREIGN_CONFIGURATION = (
        wire.FAULT_FOREIGN_CONFIGURATION,
        "its configuration was made for another board",
    )
    RELAY = wire.FAULT_RELAY, "the drive enable's contact is not as commanded"
    NO_MOTION = (
        wire.FAULT_NO_MOTION,
        "it was driven and its wheels reported no motion (encoder dead, or blocked)",
    )
    TOO_FAST = wire.FAULT_TOO_FAST, "its wheels reported more speed than anybody may ask for"
    OUTPUT = wire.FAULT_OUTPUT, "what it puts out, read back, is not what it wrote"
    RUNAWAY = wire.FAULT_RUNAWAY, "it was faster than commanded and did not slow down"
    ENCODER = (
        wire.FAULT_ENCODER,
        "the wheels of one side reported standstill while the other side's turned",
    )
    BROWN_OUT = wire.FAULT_BROWN_OUT, "its battery's voltage collapsed"
    OVER_TEMPERATURE = wire.FAULT_OVER_TEMPERATURE, "it is too hot"
    BOOT_LOOP = (
        wire.FAULT_BOOT_LOOP,
        "none of its last three starts lasted 10 s: its program failed, or its power was cut",
    )


class Sender(Phrased):
    """The parties that can send a stop or ask for an action."""

    OWNER = wire.SENDER_OWNER, "the owner"
    SEAT = wire.SENDER_SEAT, "the seat"
    RUNSTOP_BOX = wire.SENDER_RUNSTOP_BOX, "the runstop box"
    FLEET = wire.SENDER_FLEET, "the fleet"
    COMMAND = wire.SENDER_COMMAND, "a command"
    RC = wire.SENDER_RC, "the RC transmitter"
    GUEST = wire.SENDER_GUEST, "a guest"


class Device(Phrased):
    """The kind of device that answers on a line."""

    UNKNOWN = wire.DEVICE_UNKNOWN, "a device of an unknown kind"
    CAR = wire.DEVICE_CAR, "a car"
    RUNSTOP_BOX = wire.DEVICE_RUNSTOP_BOX, "a runstop box"


class Action(Phrased):
    """The actions that an operator can ask of a car."""

    ARM = wire.ACTION_ARM, "arm"
    CLEAR = wire.ACTION_CLEAR, "clear"
    DISARM = wire.ACTION_DISARM, "disarm"
    CAP = wire.ACTION_CAP, "cap its speed"


class Refusal(Phrased):
    """The reasons for which a car refuses an action; ``phrase`` often says what to do."""

    UNKNOWN_EPOCH = (
        wire.REFUSED_UNKNOWN_EPOCH,
        "the car does not know this session: it has to be bound again",
    )
    STATE = wire.REFUSED_STATE, "its state does not allow it"
    STOP_CAUSE = wire.REFUSED_STOP_CAUSE, "a stop is latched: clear it first"
    CAUSE_PRESENT = wire.REFUSED_CAUSE_PRESENT, "a cause to stop is still present"
    FAULT = wire.REFUSED_FAULT, "it has a fault"
    CONFIGURATION = (
        wire.REFUSED_CONFIGURATION,
        "its configuration is not the one expected: tandem identify says which car it is and "
        "what it holds; if it was flashed or written meanwhile, begin anew",
    )
    CLOCK_UNSURE = (
        wire.REFUSED_CLOCK_UNSURE,
        "the clocks are not yet in agreement: wait a second, or see to the link",
    )
    NONCE = wire.REFUSED_NONCE, "the two steps of the request did not match: ask again"
    MOVING = wire.REFUSED_MOVING, "it is still moving"
    CHARGER = wire.REFUSED_CHARGER, "a charger is connected"
    UNKNOWN_ACTION = wire.REFUSED_UNKNOWN_ACTION, "it does not know this action"
    STOP_SOURCE = wire.REFUSED_STOP_SOURCE, "a stop source that this profile requires is not there"
    NOT_ALLOWED = wire.REFUSED_NOT_ALLOWED, "its vehicle file does not let this sender do that"
    CAP = wire.REFUSED_CAP, "while it is armed its speed cap can only be lowered"
    RELAY = wire.REFUSED_RELAY, "its drive enable has not been seen open yet: wait a moment"
    PROFILE = wire.REFUSED_PROFILE, "its vehicle file does not offer this profile"
    OFF_BEAT = wire.REFUSED_OFF_BEAT, "it misses its beat, for its steps take too long"
    BUSY = (
        wire.REFUSED_BUSY,
        "another request was open, or took effect at the same moment: ask again",
    )


class ClaimVerdict(Phrased):
    """The car's verdict on one claim: accepted, or why not."""

    ACCEPTED = wire.CLAIM_ACCEPTED, "accepted"
    UNKNOWN_EPOCH = wire.CLAIM_UNKNOWN_EPOCH, "of a session that the car does not know"
    UNKNOWN_SOURCE = wire.CLAIM_UNKNOWN_SOURCE, "of a source that the car does not know"
    OTHER_WRITER = wire.CLAIM_OTHER_WRITER, "another session writes this source"
    OUT_OF_SEQUENCE = wire.CLAIM_OUT_OF_SEQUENCE, "out of sequence"
    NOT_PERMITTED = wire.CLAIM_NOT_PERMITTED, "for an actuator that the source may not claim"
    LEASE_TOO_LONG = wire.CLAIM_LEASE_TOO_LONG, "leased for longer than the source may"
    CLOCK_UNSURE = wire.CLAIM_CLOCK_UNSURE, "the clocks are not in agreement"
    FROM_FUTURE = wire.CLAIM_FROM_FUTURE, "from the future"
    TOO_OLD = wire.CLAIM_TOO_OLD, "too old"
    ON_BOARD = wire.CLAIM_ON_BOARD, "of the receiver on the car, for which nobody else speaks"


class ArbitrationLoss(Phrased):
    """The reasons for which a source does not win the arbitration for what it claims."""

    OUTRANKED = wire.LOST_OUTRANKED, "another source outranks it"
    EXPIRED = wire.LOST_EXPIRED, "its claim expired"
    NO_DEADMAN = wire.LOST_NO_DEADMAN, "its deadman is not held"
    NOT_NEUTRAL = wire.LOST_NOT_NEUTRAL, "it has to begin from neutral"
    NOT_ENGAGED = wire.LOST_NOT_ENGAGED, "it has to be let go and held anew"
    NOT_PERMITTED = wire.LOST_NOT_PERMITTED, "nobody lets it drive by itself"
    FROZEN = wire.LOST_FROZEN, "its input device is frozen"


class EventCode(Phrased):
    """The kinds of event that a car reports; ``phrase`` names the event's arguments a and b."""

    STATE_CHANGED = wire.EVENT_STATE_CHANGED, "state before, state after"
    STOP_LATCHED = wire.EVENT_STOP_LATCHED, "cause, source or sender"
    FAULT_LATCHED = wire.EVENT_FAULT_LATCHED, "fault, where"
    CLAIM_REFUSED = wire.EVENT_CLAIM_REFUSED, "source, verdict"
    ACTION_TAKEN = wire.EVENT_ACTION_TAKEN, "action, session slot"
    ACTION_REFUSED = wire.EVENT_ACTION_REFUSED, "action, refusals"
    SOURCE_ENGAGED = wire.EVENT_SOURCE_ENGAGED, "source, session slot"
    SOURCE_SILENT = wire.EVENT_SOURCE_SILENT, "source, what follows"
    SESSION_BOUND = wire.EVENT_SESSION_BOUND, "session slot, epoch"
    CLOCK_STEPPED = wire.EVENT_CLOCK_STEPPED, "session slot, step in us"
    CONFIGURED = wire.EVENT_CONFIGURED, "how many parameters, 0"
    WINNER_CHANGED = wire.EVENT_WINNER_CHANGED, "actuator, source"
    SOURCE_LOST = wire.EVENT_SOURCE_LOST, "source, why and (from bit 8 on) what"
    STARTED = wire.EVENT_STARTED, "why it began anew, failed starts in a row"
    PROFILE = wire.EVENT_PROFILE, "profile, speed cap in mm/s"
    SPEED_CAP = wire.EVENT_SPEED_CAP, "the operator's cap in mm/s, session slot"
    STOP_SOURCE = wire.EVENT_STOP_SOURCE, "stop source, 0 silent 1 there 2 says stop"
    BATTERY = wire.EVENT_BATTERY, "stage, mV"
    CLAMPED = wire.EVENT_CLAMPED, "source, actuator bits"
    IMU = wire.EVENT_IMU, "whether it is there"
    BEAT = wire.EVENT_BEAT, "whether it is kept, what a step takes in us"


class BindResult(Phrased):
    """The car's answer to a request to bind a session; ``phrase`` completes "The car ..."."""

    BOUND = wire.BOUND, "took the session in"
    PROTOCOL_MISMATCH = wire.BIND_PROTOCOL_MISMATCH, "speaks another version of the protocol"
    NO_SLOT = (
        wire.BIND_NO_SLOT,
        "serves four sessions already: end one; where one was killed, wait 3 s",
    )


class ResetCause(Phrased):
    """The reasons for which a board restarted."""

    POWER_ON = wire.RESET_POWER_ON, "it was switched on"
    WATCHDOG = wire.RESET_WATCHDOG, "its program hung, and the watchdog restarted it"
    BROWN_OUT = wire.RESET_BROWN_OUT, "its supply collapsed"
    SOFT = wire.RESET_SOFT, "it was told to"


class BatteryStage(Code):
    """The charge stage of the battery, as the firmware decides it from the voltage."""

    GOOD = battery.GOOD
    LOW = battery.LOW
    EMPTY = battery.EMPTY


AnyCode = TypeVar("AnyCode", bound=Enum)


@lru_cache(maxsize=4096)  # a status has two of these a hundred times a second
def members(kind: type[AnyCode], bits: int) -> tuple[AnyCode, ...]:
    """Return the codes of this kind whose bits are set in ``bits``, unknown ones included."""
    return tuple(kind(bit) for bit in range(bits.bit_length()) if bits >> bit & 1)
