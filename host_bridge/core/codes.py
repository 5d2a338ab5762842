"""The codes of the wire as enums: states, causes, faults, refusals.

Their numbers are those of ``firmware.protocol.codes``, their texts for people are in ``texts``.

A number that this host does not know becomes a code too, named "unknown (13)", so that a newer
car's report is still decoded whole.
"""

from __future__ import annotations

from enum import Enum, IntEnum, IntFlag
from functools import lru_cache
from typing import Any, TypeVar

from firmware.core.motion import battery
from firmware.protocol import codes as wire
from host_bridge.core.texts.table import TEXTS, Row, clause

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


class Worded(Code):
    """A code with texts for people, which are rows of ``host_bridge.core.texts.table``."""

    @property
    def word(self) -> str:
        """The code as a word of its own, as in a status line."""
        return self._row[1]

    @property
    def sentence(self) -> str:
        """The code as a main clause."""
        return self._row[2]

    @property
    def remedy(self) -> str:
        """The step to take next; "" if there is none."""
        return self._row[3]

    @property
    def phrase(self) -> str:
        """The sentence as it goes on after "because"."""
        return clause(self.sentence)

    @property
    def advice(self) -> str:
        """The phrase, and what to do if anything is to be done."""
        return f"{self.phrase}: {clause(self.remedy)}" if self.remedy else self.phrase

    @property
    def _row(self) -> Row:
        unknown = (self.name, self.name, self.name, "")
        return TEXTS[type(self).__name__].get(self.name, unknown)


class State(Worded):
    """The car's operating state; its transitions are in firmware/core/supervisor.py."""

    STARTING = wire.STARTING
    STANDBY = wire.STANDBY
    ACTIVE = wire.ACTIVE
    HOLD = wire.HOLD
    STOPPING = wire.STOPPING
    STOPPED = wire.STOPPED
    FAULT = wire.FAULT

    @property
    def is_armed(self) -> bool:
        """Return whether a person has permitted motion: it drives, or waits for a command."""
        return self in (State.ACTIVE, State.HOLD)

    @property
    def is_halted(self) -> bool:
        """Return whether it comes to rest, or is kept there until a person clears that."""
        return self in (State.STOPPING, State.STOPPED, State.FAULT)


class Actuator(Worded):
    """The actuators that a source may claim; in a mask, actuator n is bit n."""

    STEERING = wire.STEERING
    DRIVE = wire.DRIVE
    BRAKE = wire.BRAKE
    LIGHTS = wire.LIGHTS
    AUX_1 = wire.AUX_1  # the vehicle file says what an AUX moves
    AUX_2 = wire.AUX_2
    AUX_3 = wire.AUX_3
    AUX_4 = wire.AUX_4


class Profile(Worded):
    """The operating mode in which a car is armed.

    It sets which stop sources must be present, and the speed cap.
    """

    STAND = wire.PROFILE_STAND  # its wheels are off the ground
    TRACK = wire.PROFILE_TRACK
    RACE = wire.PROFILE_RACE


class RcMode(Worded):
    """The position of the mode switch on an RC transmitter."""

    STOP = wire.MODE_STOP
    MANUAL = wire.MODE_MANUAL
    AUTONOMY = wire.MODE_AUTONOMY


class BoxPairing(Worded):
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


class Cause(Worded):
    """The latched reasons for which a car stops."""

    RUNSTOP_LOOP = wire.CAUSE_RUNSTOP_LOOP
    STOP_REQUEST = wire.CAUSE_STOP_REQUEST
    FROZEN_INPUT = wire.CAUSE_FROZEN_INPUT
    SILENCE = wire.CAUSE_SILENCE
    CLOCK_STEP = wire.CAUSE_CLOCK_STEP
    CLOCK_UNSURE = wire.CAUSE_CLOCK_UNSURE
    CHARGER = wire.CAUSE_CHARGER
    EMPTY_BATTERY = wire.CAUSE_EMPTY_BATTERY
    OVERRUN = wire.CAUSE_OVERRUN
    UNATTENDED = wire.CAUSE_UNATTENDED
    STOP_SOURCE = wire.CAUSE_STOP_SOURCE
    STOP_SOURCE_SILENT = wire.CAUSE_STOP_SOURCE_SILENT
    STAND_OVER = wire.CAUSE_STAND_OVER


class Fault(Worded):
    """The latched faults of a car itself."""

    CONFIGURATION = wire.FAULT_CONFIGURATION
    FOREIGN_CONFIGURATION = wire.FAULT_FOREIGN_CONFIGURATION
    RELAY = wire.FAULT_RELAY
    NO_MOTION = wire.FAULT_NO_MOTION
    TOO_FAST = wire.FAULT_TOO_FAST
    OUTPUT = wire.FAULT_OUTPUT
    RUNAWAY = wire.FAULT_RUNAWAY
    ENCODER = wire.FAULT_ENCODER
    BROWN_OUT = wire.FAULT_BROWN_OUT
    OVER_TEMPERATURE = wire.FAULT_OVER_TEMPERATURE
    BOOT_LOOP = wire.FAULT_BOOT_LOOP


class Sender(Worded):
    """The parties that can send a stop or ask for an action."""

    OWNER = wire.SENDER_OWNER
    SEAT = wire.SENDER_SEAT
    RUNSTOP_BOX = wire.SENDER_RUNSTOP_BOX
    FLEET = wire.SENDER_FLEET
    COMMAND = wire.SENDER_COMMAND
    RC = wire.SENDER_RC
    GUEST = wire.SENDER_GUEST


class Device(Worded):
    """The kind of device that answers on a line."""

    UNKNOWN = wire.DEVICE_UNKNOWN
    CAR = wire.DEVICE_CAR
    RUNSTOP_BOX = wire.DEVICE_RUNSTOP_BOX


class Action(Worded):
    """The actions that an operator can ask of a car."""

    ARM = wire.ACTION_ARM
    CLEAR = wire.ACTION_CLEAR
    DISARM = wire.ACTION_DISARM
    CAP = wire.ACTION_CAP


class Refusal(Worded):
    """The reasons for which a car refuses an action."""

    UNKNOWN_EPOCH = wire.REFUSED_UNKNOWN_EPOCH
    STATE = wire.REFUSED_STATE
    STOP_CAUSE = wire.REFUSED_STOP_CAUSE
    CAUSE_PRESENT = wire.REFUSED_CAUSE_PRESENT
    FAULT = wire.REFUSED_FAULT
    CONFIGURATION = wire.REFUSED_CONFIGURATION
    CLOCK_UNSURE = wire.REFUSED_CLOCK_UNSURE
    NONCE = wire.REFUSED_NONCE
    MOVING = wire.REFUSED_MOVING
    CHARGER = wire.REFUSED_CHARGER
    UNKNOWN_ACTION = wire.REFUSED_UNKNOWN_ACTION
    STOP_SOURCE = wire.REFUSED_STOP_SOURCE
    NOT_ALLOWED = wire.REFUSED_NOT_ALLOWED
    CAP = wire.REFUSED_CAP
    RELAY = wire.REFUSED_RELAY
    PROFILE = wire.REFUSED_PROFILE
    OFF_BEAT = wire.REFUSED_OFF_BEAT
    BUSY = wire.REFUSED_BUSY


class ClaimVerdict(Worded):
    """The car's verdict on one claim: accepted, or why not."""

    ACCEPTED = wire.CLAIM_ACCEPTED
    UNKNOWN_EPOCH = wire.CLAIM_UNKNOWN_EPOCH
    UNKNOWN_SOURCE = wire.CLAIM_UNKNOWN_SOURCE
    OTHER_WRITER = wire.CLAIM_OTHER_WRITER
    OUT_OF_SEQUENCE = wire.CLAIM_OUT_OF_SEQUENCE
    NOT_PERMITTED = wire.CLAIM_NOT_PERMITTED
    LEASE_TOO_LONG = wire.CLAIM_LEASE_TOO_LONG
    CLOCK_UNSURE = wire.CLAIM_CLOCK_UNSURE
    FROM_FUTURE = wire.CLAIM_FROM_FUTURE
    TOO_OLD = wire.CLAIM_TOO_OLD
    ON_BOARD = wire.CLAIM_ON_BOARD


class ArbitrationLoss(Worded):
    """The reasons for which a source does not win the arbitration for what it claims."""

    OUTRANKED = wire.LOST_OUTRANKED
    EXPIRED = wire.LOST_EXPIRED
    NO_DEADMAN = wire.LOST_NO_DEADMAN
    NOT_NEUTRAL = wire.LOST_NOT_NEUTRAL
    NOT_ENGAGED = wire.LOST_NOT_ENGAGED
    NOT_PERMITTED = wire.LOST_NOT_PERMITTED
    FROZEN = wire.LOST_FROZEN


class EventCode(Worded):
    """The kinds of event that a car reports; firmware/protocol/codes.py says what a and b are."""

    STATE_CHANGED = wire.EVENT_STATE_CHANGED
    STOP_LATCHED = wire.EVENT_STOP_LATCHED
    FAULT_LATCHED = wire.EVENT_FAULT_LATCHED
    CLAIM_REFUSED = wire.EVENT_CLAIM_REFUSED
    ACTION_TAKEN = wire.EVENT_ACTION_TAKEN
    ACTION_REFUSED = wire.EVENT_ACTION_REFUSED
    SOURCE_ENGAGED = wire.EVENT_SOURCE_ENGAGED
    SOURCE_SILENT = wire.EVENT_SOURCE_SILENT
    SESSION_BOUND = wire.EVENT_SESSION_BOUND
    CLOCK_STEPPED = wire.EVENT_CLOCK_STEPPED
    CONFIGURED = wire.EVENT_CONFIGURED
    WINNER_CHANGED = wire.EVENT_WINNER_CHANGED
    SOURCE_LOST = wire.EVENT_SOURCE_LOST
    STARTED = wire.EVENT_STARTED
    PROFILE = wire.EVENT_PROFILE
    SPEED_CAP = wire.EVENT_SPEED_CAP
    STOP_SOURCE = wire.EVENT_STOP_SOURCE
    BATTERY = wire.EVENT_BATTERY
    CLAMPED = wire.EVENT_CLAMPED
    IMU = wire.EVENT_IMU
    BEAT = wire.EVENT_BEAT


class BindResult(Worded):
    """The car's answer to a request to bind a session; ``advice`` completes "The car ..."."""

    BOUND = wire.BOUND
    PROTOCOL_MISMATCH = wire.BIND_PROTOCOL_MISMATCH
    NO_SLOT = wire.BIND_NO_SLOT


class WriteResult(Worded):
    """The car's answer to a parameter that is written, and to a configuration as a whole."""

    OK = wire.PARAMETER_OK
    UNKNOWN = wire.PARAMETER_UNKNOWN
    OUT_OF_RANGE = wire.PARAMETER_OUT_OF_RANGE
    NOT_NOW = wire.PARAMETER_NOT_NOW
    NOT_BOUND = wire.PARAMETER_NOT_BOUND
    NOT_STORED = wire.PARAMETER_NOT_STORED
    INVALID = wire.PARAMETER_INVALID
    MOVING = wire.PARAMETER_MOVING
    BUSY = wire.PARAMETER_BUSY
    NOT_LOADED = wire.PARAMETER_NOT_LOADED
    NOT_TAKEN = wire.PARAMETER_NOT_TAKEN


class ResetCause(Worded):
    """The reasons for which a board restarted."""

    POWER_ON = wire.RESET_POWER_ON
    WATCHDOG = wire.RESET_WATCHDOG
    BROWN_OUT = wire.RESET_BROWN_OUT
    SOFT = wire.RESET_SOFT


class BatteryStage(Worded):
    """The charge stage of the battery, as the firmware decides it from the voltage."""

    GOOD = battery.GOOD
    LOW = battery.LOW
    EMPTY = battery.EMPTY


AnyCode = TypeVar("AnyCode", bound=Enum)


@lru_cache(maxsize=4096)  # a status has two of these a hundred times a second
@lru_cache(maxsize=1024)  # bounded: a car may say any bits
def members(kind: type[AnyCode], bits: int) -> tuple[AnyCode, ...]:
    """Return the codes of this kind whose bits are set in ``bits``, unknown ones included."""
    return tuple(kind(bit) for bit in range(bits.bit_length()) if bits >> bit & 1)
