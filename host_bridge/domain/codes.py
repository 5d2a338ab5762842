"""The car's words: states, causes, faults, refusals, each with what it says to a person.

They restate ``firmware.protocol.codes``; a test holds the two together. Never renumber: append.

A number that is none of them is a code all the same, named "unknown (13)": what a car says is never
lost, nor anything beside it, because one of its numbers is news to this host.
"""

from __future__ import annotations

from enum import Enum, IntEnum, IntFlag
from functools import lru_cache
from typing import Any, TypeVar

NOBODY = 255  # a source id that is none


class Code(IntEnum):
    """A number of the wire with a name, also if it is unknown here."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return _unknown(cls, value) if isinstance(value, int) else None


@lru_cache(maxsize=1024)  # bounded: a car may say any number
def _unknown(kind: type[Code], number: int) -> Code:
    """A code beside the members of its kind, which it equals none of."""
    code = int.__new__(kind, number)
    code._name_ = f"unknown ({number})"
    code._value_ = number
    return code


class State(Code):
    """What the car is doing; the transitions are the firmware's (core/supervisor.py)."""

    STARTING = 0
    STANDBY = 1
    ACTIVE = 2
    HOLD = 3
    STOPPING = 4
    STOPPED = 5
    FAULT = 6


class Actuator(Code):
    """What a source may claim; in a mask, actuator n is bit n."""

    STEERING = 0
    DRIVE = 1
    BRAKE = 2
    LIGHTS = 3
    AUX_1 = 4  # as the vehicle file says
    AUX_2 = 5
    AUX_3 = 6
    AUX_4 = 7


class Profile(Code):
    """What a car is armed in: which stop sources must be there, how fast it may be."""

    STAND = 0  # its wheels are off the ground
    TRACK = 1
    RACE = 2


class RcMode(Code):
    """What the mode switch of an RC transmitter says."""

    STOP = 0
    MANUAL = 1
    AUTONOMY = 2


class Deadman(IntFlag):
    """The deadman bits of a claim."""

    HELD = 1
    PERMITS_AUTONOMY = 2


class Phrased(Code):
    """A code with the words that a person reads."""

    phrase: str

    def __new__(cls, value: int, phrase: str = "") -> Phrased:
        """Members are written as (number, phrase), and found by their number alone."""
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
    """Why a car stops. The phrase completes "Stopped because ..."."""

    RUNSTOP_LOOP = 0, "the runstop loop is open"
    STOP_REQUEST = 1, "a stop was requested"
    FROZEN_INPUT = 2, "an input device froze"
    SILENCE = 3, "a source fell silent"
    CLOCK_STEP = 4, "the clock of the commanding session jumped"
    CLOCK_UNSURE = 5, "the car no longer knew the commanding session's clock well enough"
    CHARGER = 6, "a charger is connected"
    EMPTY_BATTERY = 7, "the battery is empty"
    OVERRUN = 8, "the car's program overran its step"
    UNATTENDED = 9, "it was armed for 3 s with nobody there to drive it"
    STOP_SOURCE = 10, "a stop source says stop"
    STOP_SOURCE_SILENT = 11, "a stop source that it needs is silent"
    STAND_OVER = 12, "its time with the wheels off the ground is over"


class Fault(Phrased):
    """What is wrong with a car. The phrase completes "In fault because ..."."""

    CONFIGURATION = 0, "its configuration is missing, damaged or out of range"
    FOREIGN_CONFIGURATION = 1, "its configuration was made for another board"
    RELAY = 2, "the drive enable's contact is not as commanded"
    NO_MOTION = 3, "it was driven and its wheels reported no motion (encoder dead, or blocked)"
    TOO_FAST = 4, "its wheels reported more speed than anybody may ask for"
    OUTPUT = 5, "what it puts out, read back, is not what it wrote"
    RUNAWAY = 6, "it was faster than commanded and did not slow down"
    ENCODER = 7, "the wheels of one side reported standstill while the other side's turned"
    BROWN_OUT = 8, "its battery's voltage collapsed"
    OVER_TEMPERATURE = 9, "it is too hot"
    BOOT_LOOP = 10, "its program failed three times in a row soon after starting"


class Sender(Phrased):
    """Who sends a stop, or acts."""

    OWNER = 0, "the owner"
    SEAT = 1, "the seat"
    RUNSTOP_BOX = 2, "the runstop box"
    FLEET = 3, "the fleet"
    COMMAND = 4, "a command"
    RC = 5, "the RC transmitter"


class Device(Phrased):
    """What kind of device answers; the phrase says what it is."""

    UNKNOWN = 0, "a device of an unknown kind"
    CAR = 1, "a car"
    RUNSTOP_BOX = 2, "a runstop box"


class Action(Phrased):
    """What a person does to a car."""

    ARM = 1, "arm"
    CLEAR = 2, "clear"
    DISARM = 3, "disarm"
    CAP = 4, "cap its speed"


class Refusal(Phrased):
    """Why a car refused an action. The phrase is a sentence's worth, with what to do."""

    UNKNOWN_EPOCH = 0, "the car does not know this session: it has to be bound again"
    STATE = 1, "its state does not allow it"
    STOP_CAUSE = 2, "a stop is latched: clear it first"
    CAUSE_PRESENT = 3, "a cause to stop is still present"
    FAULT = 4, "it has a fault"
    CONFIGURATION = 5, "its configuration is not the one expected: write the vehicle file to it"
    CLOCK_UNSURE = 6, "the clocks are not yet in agreement: wait a second, or see to the link"
    NONCE = 7, "the two steps of the request did not match: ask again"
    MOVING = 8, "it is still moving"
    CHARGER = 9, "a charger is connected"
    UNKNOWN_ACTION = 10, "it does not know this action"
    STOP_SOURCE = 11, "a stop source that this profile requires is not there"
    NOT_ALLOWED = 12, "its vehicle file does not let this sender do that"
    CAP = 13, "while it is armed its speed cap can only be lowered"
    RELAY = 14, "its drive enable has not been seen open yet: wait a moment"
    PROFILE = 15, "its vehicle file does not offer this profile"
    OFF_BEAT = 16, "it misses its beat, for its steps take too long"
    BUSY = 17, "another request was open, or took effect at the same moment: ask again"


class ClaimVerdict(Phrased):
    """What a car made of a claim."""

    ACCEPTED = 0, "accepted"
    UNKNOWN_EPOCH = 1, "of a session that the car does not know"
    UNKNOWN_SOURCE = 2, "of a source that the car does not know"
    OTHER_WRITER = 3, "another session writes this source"
    OUT_OF_SEQUENCE = 4, "out of sequence"
    NOT_PERMITTED = 5, "for an actuator that the source may not claim"
    LEASE_TOO_LONG = 6, "leased for longer than the source may"
    CLOCK_UNSURE = 7, "the clocks are not in agreement"
    FROM_FUTURE = 8, "from the future"
    TOO_OLD = 9, "too old"
    ON_BOARD = 10, "of the receiver on the car, for which nobody else speaks"


class Loss(Phrased):
    """Why a source does not win what it wants."""

    OUTRANKED = 0, "another source outranks it"
    EXPIRED = 1, "its claim expired"
    NO_DEADMAN = 2, "its deadman is not held"
    NOT_NEUTRAL = 3, "it has to begin from neutral"
    NOT_ENGAGED = 4, "it has to be let go and held anew"
    NOT_PERMITTED = 5, "nobody lets it drive by itself"
    FROZEN = 6, "its input device is frozen"


class EventCode(Phrased):
    """What a car reports as an event; the phrase names its arguments a and b."""

    STATE_CHANGED = 0, "state before, state after"
    STOP_LATCHED = 1, "cause, source or sender"
    FAULT_LATCHED = 2, "fault, where"
    CLAIM_REFUSED = 3, "source, verdict"
    ACTION_TAKEN = 4, "action, session slot"
    ACTION_REFUSED = 5, "action, refusals"
    SOURCE_ENGAGED = 6, "source, session slot"
    SOURCE_SILENT = 7, "source, what follows"
    SESSION_BOUND = 8, "session slot, epoch"
    CLOCK_STEPPED = 9, "session slot, step in us"
    CONFIGURED = 10, "how many parameters, 0"
    WINNER_CHANGED = 11, "actuator, source"
    SOURCE_LOST = 12, "source, why and (from bit 8 on) what"
    STARTED = 13, "why it began anew, failed starts in a row"
    PROFILE = 14, "profile, speed cap in mm/s"
    SPEED_CAP = 15, "the operator's cap in mm/s, session slot"
    STOP_SOURCE = 16, "stop source, 0 silent 1 there 2 says stop"
    BATTERY = 17, "stage, mV"
    CLAMPED = 18, "source, actuator bits"
    IMU = 19, "whether it is there"
    BEAT = 20, "whether it is kept, what a step takes in us"


class BindResult(Phrased):
    """What a car made of our wish to be bound to it. The phrase completes "The car ..."."""

    BOUND = 0, "took the session in"
    PROTOCOL_MISMATCH = 1, "speaks another version of the protocol"
    NO_SLOT = 2, "serves four sessions already: end one; where one was killed, wait 3 s"


class ResetCause(Phrased):
    """Why a board began anew."""

    POWER_ON = 0, "it was switched on"
    WATCHDOG = 1, "its program hung, and the watchdog restarted it"
    BROWN_OUT = 2, "its supply collapsed"
    SOFT = 3, "it was told to"


class BatteryStage(Code):
    """How full."""

    GOOD = 0
    LOW = 1
    EMPTY = 2


AnyCode = TypeVar("AnyCode", bound=Enum)


@lru_cache(maxsize=4096)  # a status has two of these a hundred times a second
def members(kind: type[AnyCode], bits: int) -> tuple[AnyCode, ...]:
    """The codes whose bits are set, unknown ones too."""
    return tuple(kind(bit) for bit in range(bits.bit_length()) if bits >> bit & 1)
