"""The codes that both sides give a meaning to. Never renumber: append.

Each of them is in ``version.protocol_hash``, by its name.
"""

from firmware.compat import micropython

const = micropython.const

NOBODY = const(255)  # a source id that is none

# States
STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = 0, 1, 2, 3, 4, 5, 6

# Actuators, and their bits in a claim mask
STEERING, DRIVE, BRAKE, LIGHTS, AUX_1, AUX_2, AUX_3, AUX_4 = 0, 1, 2, 3, 4, 5, 6, 7
ACTUATOR_COUNT = const(8)
STEERING_BIT, DRIVE_BIT, BRAKE_BIT, LIGHTS_BIT = 1, 2, 4, 8

# Deadman bits of a claim
HELD = const(1)  # a person holds it down, now
PERMITS_AUTONOMY = const(2)  # and lets the autonomous sources that depend on it drive

# Stop causes: bit numbers, in the order in which they are named when two come at once
(
    CAUSE_RUNSTOP_LOOP,
    CAUSE_STOP_REQUEST,
    CAUSE_FROZEN_INPUT,
    CAUSE_SILENCE,
    CAUSE_CLOCK_STEP,
    CAUSE_CLOCK_UNSURE,
    CAUSE_CHARGER,
    CAUSE_EMPTY_BATTERY,
    CAUSE_OVERRUN,
    CAUSE_UNATTENDED,  # armed, and no source is there
    CAUSE_STOP_SOURCE,  # a registered stop source says stop
    CAUSE_STOP_SOURCE_SILENT,  # a required one is silent, or was never there
    CAUSE_STAND_OVER,  # the time with the wheels off the ground is over
) = range(13)
CAUSE_COUNT = const(13)
NO_CAUSE = const(255)

# Faults: bit numbers
(
    FAULT_CONFIGURATION,  # none stored, damaged, or a value out of its range
    FAULT_FOREIGN_CONFIGURATION,  # another board's
    FAULT_RELAY,  # the drive enable's contact is not as commanded
    FAULT_NO_MOTION,  # driven, and the wheels report standstill
    FAULT_TOO_FAST,  # the wheels report more than anybody may ask for
    FAULT_OUTPUT,  # what is put out, read back, is not what was written
    FAULT_RUNAWAY,  # faster than commanded, and not slowing down
    FAULT_ENCODER,  # one side stands while the other turns
    FAULT_BROWN_OUT,  # the battery's voltage collapsed under load
    FAULT_OVER_TEMPERATURE,
    FAULT_BOOT_LOOP,  # three starts in a row did not last
) = range(11)
FAULT_COUNT = const(11)
# An encoder that may lie: no braking by it, no standstill by it
SPEED_IN_DOUBT = const(1 << 3 | 1 << 4 | 1 << 6 | 1 << 7)  # NO_MOTION, TOO_FAST, RUNAWAY, ENCODER

# Profiles: which stop sources must be there, how fast at most
PROFILE_STAND, PROFILE_TRACK, PROFILE_RACE = 0, 1, 2  # stand: the wheels are off the ground
PROFILE_COUNT = const(3)

# How a stop source reaches the board, and whether a profile needs it
STOP_SOURCE_NONE, STOP_SOURCE_LOOP, STOP_SOURCE_RC, STOP_SOURCE_LINK = 0, 1, 2, 3
STOP_SOURCE_PAIRED = const(4)  # by radio: it answers the car's challenge with a tag of their key
STOP_SOURCE_RUNSTOP_BOX = const(4)  # the id of that stop source, on all vehicles
NOT_NEEDED, OPTIONAL, REQUIRED = 0, 1, 2
STOP_SOURCE_STRANGE = const(64)  # added to the id of who said stop: not the box of this car

# What a runstop box says: bits
BOX_RUNS, BOX_HAS_NO_KEY = 1, 2

# How it stands between a car and its runstop box
(
    PAIRING_ANSWERS,  # its own box is there
    PAIRING_SILENT,  # it has a key, and no box is heard
    PAIRING_STRANGE,  # a box is heard that does not answer this car's challenge
    PAIRING_BARE_BOX,  # a box is heard that has no key
    PAIRING_NO_KEY,  # this car had none at its start: never paired, or it was lost
    PAIRING_MOVED,  # the key that is stored here was given to another board
    PAIRING_NO_CIPHER,  # this board's MicroPython has no AES
) = range(7)

# Why the board began anew
RESET_POWER_ON, RESET_WATCHDOG, RESET_BROWN_OUT, RESET_SOFT = 0, 1, 2, 3

# What kind of device answers Identify
DEVICE_UNKNOWN, DEVICE_CAR, DEVICE_RUNSTOP_BOX = 0, 1, 2

IDENTITY_VIRTUAL = const(1)  # a flag of an Identity: nothing of metal moves by this device

# Who sends a Stop, or acts
(
    SENDER_OWNER,
    SENDER_SEAT,
    SENDER_RUNSTOP_BOX,
    SENDER_FLEET,
    SENDER_COMMAND,
    SENDER_RC,  # on the board: its gesture
    SENDER_GUEST,  # from afar: its caps only lower
) = range(7)
SENDER_COUNT = const(7)

SOURCE_RC = const(0)  # the source id of the receiver on the board

# Positions of the RC's mode switch
MODE_STOP, MODE_MANUAL, MODE_AUTONOMY = 0, 1, 2

# What happens when a source falls silent
ON_SILENCE_STOP, ON_SILENCE_YIELD = 0, 1

# Source flags
SOURCE_ATTENDED = const(1)  # a person holds its deadman
SOURCE_HAS_COUNTER = const(2)  # its input device numbers its own reports

# Refusals of a claim, from the first check to the last
(
    CLAIM_ACCEPTED,
    CLAIM_UNKNOWN_EPOCH,
    CLAIM_UNKNOWN_SOURCE,
    CLAIM_OTHER_WRITER,
    CLAIM_OUT_OF_SEQUENCE,
    CLAIM_NOT_PERMITTED,
    CLAIM_LEASE_TOO_LONG,
    CLAIM_CLOCK_UNSURE,
    CLAIM_FROM_FUTURE,
    CLAIM_TOO_OLD,
    CLAIM_ON_BOARD,  # the source is the board's own receiver; nobody else speaks for it
) = range(11)
CLAIM_VERDICT_COUNT = const(11)

# Actions of a person
ACTION_ARM, ACTION_CLEAR, ACTION_DISARM, ACTION_CAP = 1, 2, 3, 4

# Why an action was refused: bit numbers, all that apply at once
(
    REFUSED_UNKNOWN_EPOCH,
    REFUSED_STATE,
    REFUSED_STOP_CAUSE,
    REFUSED_CAUSE_PRESENT,
    REFUSED_FAULT,
    REFUSED_CONFIGURATION,
    REFUSED_CLOCK_UNSURE,
    REFUSED_NONCE,
    REFUSED_MOVING,
    REFUSED_CHARGER,
    REFUSED_UNKNOWN_ACTION,
    REFUSED_STOP_SOURCE,  # a required stop source is silent, or was never there
    REFUSED_NOT_ALLOWED,  # this sender may not, in this car
    REFUSED_CAP,  # an armed car's cap is only lowered
    REFUSED_RELAY,  # the drive enable has not been seen open yet
    REFUSED_PROFILE,  # no such profile
    REFUSED_OFF_BEAT,  # its steps take longer than its beat
    REFUSED_BUSY,  # another request was open, or took effect on this step
) = range(18)
REFUSAL_COUNT = const(18)

# Results of binding a session
BOUND, BIND_PROTOCOL_MISMATCH, BIND_NO_SLOT = 0, 1, 2

# Results of reading and writing parameters and of committing a configuration
(
    PARAMETER_OK,
    PARAMETER_UNKNOWN,
    PARAMETER_OUT_OF_RANGE,
    PARAMETER_NOT_NOW,
    PARAMETER_NOT_BOUND,
    PARAMETER_NOT_STORED,
    PARAMETER_INVALID,
    PARAMETER_MOVING,  # the wheels turn
    PARAMETER_BUSY,  # another request was open, or took effect on this step
    PARAMETER_NOT_LOADED,  # what writes a configuration found no room in memory
    PARAMETER_NOT_TAKEN,  # it is stored; the car found no room in memory to go by it
) = range(11)

# Events; a and b are their arguments
(
    EVENT_STATE_CHANGED,  # a: state before, b: state after
    EVENT_STOP_LATCHED,  # a: cause, b: source or kind of sender, NOBODY if neither
    EVENT_FAULT_LATCHED,  # a: fault, b: where (parameter index, channel, wheel)
    EVENT_CLAIM_REFUSED,  # a: source, b: verdict
    EVENT_ACTION_TAKEN,  # a: action, b: session slot
    EVENT_ACTION_REFUSED,  # a: action, b: refusals
    EVENT_SOURCE_ENGAGED,  # a: source, b: session slot
    EVENT_SOURCE_SILENT,  # a: source, b: what follows (ON_SILENCE_)
    EVENT_SESSION_BOUND,  # a: session slot, b: epoch
    EVENT_CLOCK_STEPPED,  # a: session slot, b: step in us
    EVENT_CONFIGURED,  # a: how many parameters, b: 0
    EVENT_WINNER_CHANGED,  # a: actuator, b: source
    EVENT_SOURCE_LOST,  # a: source, b: why it does not win (LOST_), from bit 8 on which actuators
    EVENT_STARTED,  # a: why (RESET_), b: failed starts in a row
    EVENT_PROFILE,  # a: profile that the car was armed in, b: its speed cap in mm/s
    EVENT_SPEED_CAP,  # a: the operator's cap in mm/s, b: session slot
    EVENT_STOP_SOURCE,  # a: stop source, b: 1 it is there, 0 it is silent, 2 it says stop
    EVENT_BATTERY,  # a: stage, b: mV
    EVENT_CLAMPED,  # a: source, b: actuator bits whose values were beyond the car's limits
    EVENT_IMU,  # a: 1 it is there again, 0 it is silent, frozen or was never there
    EVENT_BEAT,  # a: 1 it keeps its beat again, 0 it misses too many; b: what a step takes, us
) = range(21)

# Why a fresh or silent source does not win an actuator that it wants
(
    LOST_OUTRANKED,
    LOST_EXPIRED,
    LOST_NO_DEADMAN,
    LOST_NOT_NEUTRAL,
    LOST_NOT_ENGAGED,
    LOST_NOT_PERMITTED,  # an autonomous source, and nobody lets it drive
    LOST_FROZEN,  # its input device repeats its last report
) = range(7)
