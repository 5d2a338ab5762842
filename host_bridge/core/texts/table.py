"""The texts of all codes that a user meets: one table, which every command and the page read.

A row is (code, word, sentence, what to do). The word stands alone, as in a status line. The
sentence is a main clause with the car as its subject, "it". In braces is what a message adds, and
what to do is empty where nothing has to be done. Imports nothing, for ``tandem stop`` reads it too.
"""

from __future__ import annotations

Row = tuple[str, str, str, str]

# fmt: off
STATES: tuple[Row, ...] = (
    ("STARTING", "STARTING", "It is starting.", "Wait a moment."),
    ("STANDBY", "PARKED", "It is parked: nothing drives it until it is armed.", "Arm it to drive."),
    ("ACTIVE", "DRIVING", "It drives.", ""),
    ("HOLD", "ARMED", "It is armed, and brakes until somebody holds.", "Hold to drive."),
    ("STOPPING", "STOPPING", "It is coming to rest.", "Wait until it stands."),
    ("STOPPED", "STOPPED", "It is stopped and locked.", "See why it stopped, then clear it."),
    ("FAULT", "FAULT", "Something is wrong with the car itself.", "See what, then clear it."),
)
NO_LINK = "NO LINK"  # the word of a car from which nothing comes
# The state that is shown while a stop is latched, by the one that the car reports
SHOWN_IF_LOCKED = {"STANDBY": "STOPPED"}

CAUSES: tuple[Row, ...] = (
    ("RUNSTOP_LOOP", "stop loop", "The stop loop was open.", "Close the stop loop."),
    ("STOP_REQUEST", "stop", "A stop was requested.", ""),
    ("FROZEN_INPUT", "frozen input", "An input kept repeating one value.",
     "See to the input: it may be unplugged."),
    ("SILENCE", "silence", "A source fell silent.", "See to the program or the link."),
    ("CLOCK_STEP", "clock", "The clock of the program that drove it jumped.", "Arm it again."),
    ("CLOCK_UNSURE", "clock", "Its clock and that of the program that drove it did not agree.",
     "See to the link."),
    ("CHARGER", "charger", "A charger is plugged in.", "Unplug the charger."),
    ("EMPTY_BATTERY", "empty battery", "The battery is empty.", "Charge the battery."),
    ("OVERRUN", "slow program", "Its program was too slow.", "Give it a longer control period."),
    ("UNATTENDED", "nobody drove", "It was armed for 3 s and nobody drove.", ""),
    ("STOP_SOURCE", "stop source", "A stop source says stop.", "Release the stop."),
    ("STOP_SOURCE_SILENT", "silent stop source", "A stop source that it needs was silent.",
     "Switch the stop source on."),
    ("STAND_OVER", "stand over", "Its minute on the stand is over.", ""),
)
# The same causes where it is known who it was
CAUSES_BY: dict[str, str] = {
    "STOP_REQUEST": "{who} asked for a stop",
    "FROZEN_INPUT": "{who} kept repeating one value while it was held",
    "SILENCE": "{who} fell silent{limit}{held}",
    "STOP_SOURCE": "{who} says stop",
    "STOP_SOURCE_SILENT": "{who}, which it needs, was silent",
    "STRANGE": "a {word} that is not this car's says stop",
}

FAULTS: tuple[Row, ...] = (
    ("CONFIGURATION", "parameters", "Its parameters are missing or damaged.",
     "Write its configuration: tandem config write."),
    ("FOREIGN_CONFIGURATION", "parameters", "Its parameters were made for another board.",
     "Write its own: tandem config write, or tandem restore."),
    ("RELAY", "power switch", "Its power switch does not follow.", "See to the relay."),
    ("NO_MOTION", "no motion", "It was driven and its wheels did not turn.",
     "See to the encoders, and whether the wheels are blocked."),
    ("TOO_FAST", "too fast", "Its wheels turned faster than anybody may ask for.",
     "See to the encoders and the motor's controller."),
    ("OUTPUT", "output", "An output does not follow.", "See to the wiring of its outputs."),
    ("RUNAWAY", "too fast", "It was faster than asked and did not slow down.",
     "See to the motor's controller."),
    ("ENCODER", "encoder", "One side's wheels stood still while the other side's turned.",
     "See to that side's encoder."),
    ("BROWN_OUT", "voltage", "Its voltage collapsed.", "Charge the battery, see to its plug."),
    ("OVER_TEMPERATURE", "heat", "It is too hot.", "Let it cool down."),
    ("BOOT_LOOP", "starts", "None of its last three starts lasted 10 s: its program failed, or its "
     "power was cut.", "Read why: tandem identify PORT --repl."),
)

REFUSALS: tuple[Row, ...] = (
    ("UNKNOWN_EPOCH", "session", "The car does not know this program.", "Connect again."),
    ("STATE", "state", "Its state does not allow it.", ""),
    ("STOP_CAUSE", "locked", "A stop is locked.", "Clear it first."),
    ("CAUSE_PRESENT", "cause", "A cause to stop is still present.", ""),
    ("FAULT", "fault", "It has a fault.", ""),
    ("CONFIGURATION", "parameters", "Its configuration is not the one expected.",
     "Tandem identify shows which car it is and what it holds; if it was flashed or written "
     "meanwhile, begin anew."),
    ("CLOCK_UNSURE", "clock", "Its clock and ours do not agree yet.",
     "Wait a second, or see to the link."),
    ("NONCE", "request", "The two steps of the request did not match.", "Ask again."),
    ("MOVING", "moving", "It is still moving.", ""),
    ("CHARGER", "charger", "A charger is plugged in.", "Unplug it."),
    ("UNKNOWN_ACTION", "request", "It does not know this request.", "Flash its program anew."),
    ("STOP_SOURCE", "stop sources", "A stop source that this profile requires is not heard.", ""),
    ("NOT_ALLOWED", "right", "Its vehicle file does not let this sender do that.", ""),
    ("CAP", "cap", "Until it is parked its cap can only be lowered, and by a guest always.",
     "First disarm it, or clear its stop; for a guest, ask its host."),
    ("RELAY", "power switch", "Its power switch has not been seen open yet.", "Wait a moment."),
    ("PROFILE", "profile", "Its vehicle file does not offer this profile.", ""),
    ("OFF_BEAT", "slow program", "It misses its control period, for its steps take too long.", ""),
    ("BUSY", "request", "Another request was open, or took effect at the same moment.",
     "Ask again."),
)

VERDICTS: tuple[Row, ...] = (
    ("ACCEPTED", "accepted", "Accepted.", ""),
    ("UNKNOWN_EPOCH", "session", "It is of a program that the car does not know.", ""),
    ("UNKNOWN_SOURCE", "source", "It is of a source that the car does not know.", ""),
    ("OTHER_WRITER", "session", "Another program drives by this source.", ""),
    ("OUT_OF_SEQUENCE", "order", "It came out of order.", ""),
    ("NOT_PERMITTED", "actuator", "It is for an actuator that the source may not have.", ""),
    ("LEASE_TOO_LONG", "validity", "It is valid for longer than the source may ask.", ""),
    ("CLOCK_UNSURE", "clock", "The clocks do not agree.", ""),
    ("FROM_FUTURE", "time", "Its time is in the future.", ""),
    ("TOO_OLD", "time", "It is too old.", ""),
    ("ON_BOARD", "receiver", "It is in the name of the receiver on the car.", ""),
)

LOSSES: tuple[Row, ...] = (
    ("OUTRANKED", "outranked", "Another one has priority.", ""),
    ("EXPIRED", "expired", "Its command is too old.", ""),
    ("NO_DEADMAN", "not held", "Nobody holds it.", "Hold to drive."),
    ("NOT_NEUTRAL", "not neutral", "It did not begin at neutral.", "Let go first, then hold."),
    ("NOT_ENGAGED", "not let go", "It has to be let go first.", "Let go first, then hold."),
    ("NOT_PERMITTED", "no permission", "Nobody lets it drive alone.", "Hold the permission."),
    ("FROZEN", "frozen", "It keeps repeating one value.", ""),
)

# Sources and stop sources by their names in vehicle files: the sentence is who acts
SOURCES: tuple[Row, ...] = (
    ("rc", "transmitter", "the transmitter", "Switch the transmitter on."),
    ("seat", "driver's seat", "the driver's seat", ""),
    ("gamepad", "pad", "the pad", ""),
    ("script", "program", "the program", ""),
    ("ros2", "ROS 2", "ROS 2", ""),
    ("seat_slow", "terminal", "the terminal", ""),
    ("devkit", "Devkit script", "the Devkit script", ""),
    ("remote", "guest", "the guest", ""),
    ("offboard", "MAVLink program", "the MAVLink program", ""),
)
STOP_SOURCES: tuple[Row, ...] = (
    ("runstop_loop", "stop loop", "the stop loop", "Close the stop loop."),
    ("rc", "transmitter", "the transmitter", "Switch the transmitter on."),
    ("owner", "host program", "this car's host program",
     "Serve the car with tandem serve, or drive it with tandem drive."),
    ("seat", "driver's seat", "the driver's seat", "Tandem drive is the seat while it runs."),
    ("runstop_box", "stop box", "the stop box",
     "Switch the stop box on that it is paired with, or tandem pair --forget it."),
    ("fleet", "all-cars stop", "the all-cars stop",
     "Drive several cars together with tandem drive, or arm in another profile."),
    ("external", "stop program", "the stop program",
     "Start the program that only stops this car, or arm in another profile."),
)
SENDERS: tuple[Row, ...] = (
    ("OWNER", "host program", "this car's host program", ""),
    ("SEAT", "driver's seat", "the driver's seat", ""),
    ("RUNSTOP_BOX", "stop box", "the stop box", ""),
    ("FLEET", "fleet", "the fleet", ""),
    ("COMMAND", "computer", "somebody at the computer", ""),
    ("RC", "transmitter", "the transmitter", ""),
    ("GUEST", "guest", "a guest", ""),
)

EVENTS: tuple[Row, ...] = (
    ("STATE_CHANGED", "state", "{a} to {b}", ""),
    ("STOP_LATCHED", "stop", "stop: {cause}", ""),
    ("FAULT_LATCHED", "fault", "fault: {fault}", ""),
    ("CLAIM_REFUSED", "refused command", "a command of {source} was refused: {verdict}", ""),
    ("ACTION_TAKEN", "request done", "{action} done {by}", ""),
    ("ACTION_REFUSED", "request refused", "{action} refused: {refusals}", ""),
    ("SOURCE_ENGAGED", "took over", "{source} took over ({session})", ""),
    ("SOURCE_SILENT", "silence", "{source} fell silent: {follows}", ""),
    ("SESSION_BOUND", "connected", "a program connected ({session})", ""),
    ("CLOCK_STEPPED", "clock", "the clock of a program jumped by {ms:g} ms ({session})", ""),
    ("CONFIGURED", "parameters", "{count} parameters were written", ""),
    ("WINNER_CHANGED", "driver", "{source} {has} now", ""),
    ("SOURCE_LOST", "not followed", "{source} is not followed ({actuators}): {loss}", ""),
    ("STARTED", "started", "started: {reset}{failed}", ""),
    ("PROFILE", "profile", "armed for {profile}, {mps:g} m/s at most", ""),
    ("SPEED_CAP", "cap", "the cap is {mps:g} m/s now ({session})", ""),
    ("STOP_SOURCE", "stop source", "{stop_source} {change}", ""),
    ("BATTERY", "battery", "battery {stage}, {volts:.1f} V", ""),
    ("CLAMPED", "limited", "{source} asks for more than the car may: {actuators}", ""),
    ("IMU", "IMU", "the IMU {change}", ""),
    ("BEAT", "control period", "it {change}: a step takes {ms:.1f} ms", ""),
)

PAIRINGS: tuple[Row, ...] = (
    ("ANSWERS", "paired", "Its stop box answers.", ""),
    ("SILENT", "silent", "Its stop box is silent.",
     "Switch the stop box on that it is paired with, or tandem pair --forget it."),
    ("STRANGE", "strange", "A stop box is heard that is not this car's: another car's, one paired "
     "before the key changed, or a recording.", "Switch its own on, or tandem pair the two."),
    ("BARE_BOX", "no key", "The stop box that is heard has no key.", "Tandem pair the two."),
    ("NO_KEY", "no key", "This car has no key for a stop box: it was never paired, or lost it.",
     "Tandem pair the two, or tandem pair --forget a key that was lost."),
    ("MOVED", "moved", "The key on this car's board was given to another board.",
     "Tandem pair it and its box, or tandem pair --forget it."),
    ("NO_CIPHER", "no AES", "Its board's MicroPython has no AES (cryptolib): it can know no box.",
     "Put one on it that has, or tandem pair --forget its key."),
)

# Why nothing acknowledged a stop; in place of what to do stands what is known of the car
UNHEARD: tuple[Row, ...] = (
    ("NOT_ASKED", "not asked", "This program could not ask ({reason}).",
     "How the car is is not known."),
    ("NOTHING_BACK", "no answer", "Nothing came back through its port.",
     "Whether the car stops by itself is not known."),
    ("NOT_LET_IN", "not let in",
     "Its stop socket let nobody in: whoever serves it hangs, or others fill the queue.",
     "Whether the car stops by itself is not known."),
    ("SUSPENDED", "suspended", "The program that serves it (process {pid}) is suspended.",
     "The car gets no claims from it, and stops by itself."),
    ("ENDED", "ended", "The program that serves it (process {pid}) has ended.",
     "The car gets no claims from it, and stops by itself."),
    ("SILENT", "no answer", "The program that serves it (process {pid}) passed no answer on.",
     "If it hangs or its cable is out, the car gets no claims from it and stops by itself; else "
     "it may go on."),
)
# Why a car's host refuses a guest who holds a token
GUEST_REFUSALS: tuple[Row, ...] = (
    ("PROTOCOL_DIFFERS", "protocol", "Its protocol is another version's.",
     "Install the same version of Tandem here and there; tandem stop works all the same."),
    ("OTHER_BOARD", "board", "Another board is there.",
     "Ask for a token of that one: tandem invite."),
    ("REVOKED", "revoked", "The token was revoked.", "Ask for a new one: tandem invite."),
    ("EXPIRED", "expired", "The token's time is over.", "Ask for a new one: tandem invite."),
    ("FULL", "full", "It has 32 guests already.", "Try again when one has left."),
    ("NO_CAR", "no car", "Its cable is out, or another board is there.",
     "Look at what tandem serve says on that host."),
)
# How far a car goes without its program; the last two say what its vehicle file accepts of that
UNAIDED: dict[str, str] = {
    "GOES": "From its cap in {profile}, {mps:g} m/s, it goes {most} without its program: button "
    "{button}, hang {hang}, reset {reset}; with its power lost {power_lost}.",
    "NOT_ACCEPTED": "Its vehicle file accepts that only by the profile's cap.",
    "ACCEPTED": "Its vehicle file accepts {most}: {reason}.",
    "NO_PROFILE": "Its vehicle file does not offer the profile {profile}: it has no cap in it.",
}

OTHERS: dict[str, tuple[Row, ...]] = {
    "Action": (
        ("ARM", "arm", "Arm.", ""),
        ("CLEAR", "clear", "Clear.", ""),
        ("DISARM", "disarm", "Disarm.", ""),
        ("CAP", "cap", "Cap its speed.", ""),
    ),
    "Actuator": (
        ("STEERING", "steering", "It steers.", ""),
        ("DRIVE", "drive", "It drives.", ""),
        ("BRAKE", "brake", "It brakes.", ""),
        ("LIGHTS", "lights", "It lights.", ""),
        *((f"AUX_{n}", f"auxiliary output {n}", "It does what its vehicle file says.", "")
          for n in (1, 2, 3, 4)),
    ),
    "Profile": (
        ("STAND", "Stand", "Its wheels are off the ground.", ""),
        ("TRACK", "Track", "It drives on a track.", ""),
        ("RACE", "Race", "It drives as fast as it may.", ""),
    ),
    "RcMode": (
        ("STOP", "stop", "The transmitter's switch says stop.", ""),
        ("MANUAL", "manual", "The transmitter drives.", ""),
        ("AUTONOMY", "autonomy", "The transmitter lets a program drive.", ""),
    ),
    "Device": (
        ("UNKNOWN", "unknown", "A device of an unknown kind.", ""),
        ("CAR", "car", "A car.", ""),
        ("RUNSTOP_BOX", "stop box", "A stop box.", ""),
    ),
    "BindResult": (
        ("BOUND", "connected", "Took the program in.", ""),
        ("PROTOCOL_MISMATCH", "protocol", "Speaks another version of the protocol.",
         "Flash it again with tandem flash."),
        ("NO_SLOT", "full", "Serves four programs already.",
         "End one; where one was killed, wait 3 s."),
    ),
    "WriteResult": (
        ("OK", "written", "It took it.", ""),
        ("UNKNOWN", "parameter", "It knows no such parameter.",
         "Flash it with this version: tandem flash."),
        ("OUT_OF_RANGE", "range", "The value is out of its range.", "Mend the vehicle file."),
        ("NOT_NOW", "state", "It is written only in PARKED or FAULT, at rest.",
         "Tandem disarm, or tandem stop and tandem clear, bring it to PARKED."),
        ("NOT_BOUND", "session", "It does not know this session.", "Run the command again."),
        ("NOT_STORED", "storage", "It could not store it.",
         "Run the command again; if it happens again, its flash is worn."),
        ("INVALID", "parameters",
         "It is not what it was announced to be, or is for another board.",
         "Run the command again; tandem identify shows which board this is."),
        ("MOVING", "moving", "It is written only at rest, and its wheels turn.",
         "Wait until it stands."),
        ("BUSY", "request", "Another request was open.", "Run the command again."),
        ("NOT_LOADED", "memory", "It found no room in memory for what writes one.",
         "Restart it, and run the command again."),
        ("NOT_TAKEN", "restart", "It stored it, but found no room in memory to go by it.",
         "Restart it, and run the command again."),
    ),
    "ResetCause": (
        ("POWER_ON", "power", "It was switched on.", ""),
        ("WATCHDOG", "watchdog", "Its program hung, and the watchdog restarted it.", ""),
        ("BROWN_OUT", "voltage", "Its supply collapsed.", ""),
        ("SOFT", "restart", "It was told to.", ""),
    ),
    "BatteryStage": (
        ("GOOD", "good", "The battery is charged.", ""),
        ("LOW", "low", "The battery is low.", "Charge it soon."),
        ("EMPTY", "empty", "The battery is empty.", "Charge it."),
    ),
}
# fmt: on

# The rows by the enumeration that each table is of, then by code
TEXTS: dict[str, dict[str, Row]] = {
    kind: {row[0]: row for row in rows}
    for kind, rows in {
        "State": STATES,
        "Cause": CAUSES,
        "Fault": FAULTS,
        "Refusal": REFUSALS,
        "ClaimVerdict": VERDICTS,
        "ArbitrationLoss": LOSSES,
        "Sender": SENDERS,
        "EventCode": EVENTS,
        "BoxPairing": PAIRINGS,
        **OTHERS,
    }.items()
}
SOURCE_TEXTS = {row[0]: row for row in SOURCES}
STOP_SOURCE_TEXTS = {row[0]: row for row in STOP_SOURCES}
UNHEARD_TEXTS = {row[0]: row for row in UNHEARD}
GUEST_REFUSAL_TEXTS = {row[0]: row for row in GUEST_REFUSALS}


def clause(sentence: str) -> str:
    """Return a sentence as it goes on after "because": without its capital and its full stop."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def locked_state_word(name: str) -> str:
    """Return the word of the state of a car whose stop is latched, by the state's code.

    An unknown code stays as it is.
    """
    row = TEXTS["State"].get(SHOWN_IF_LOCKED.get(name, name))
    return row[1] if row else name


def source_word(name: str) -> str:
    """Return the word of a source by its name in vehicle files; another name stays as it is."""
    return SOURCE_TEXTS[name][1] if name in SOURCE_TEXTS else name


def source_subject(name: str) -> str:
    """Return a source as who acts; a name that is not in the table stays as it is."""
    return SOURCE_TEXTS[name][2] if name in SOURCE_TEXTS else name


def profile_word(name: str) -> str:
    """Return the word of a profile by its name in vehicle files; another name stays as it is."""
    row = TEXTS["Profile"].get(name.upper())
    return row[1] if row else name


def stop_source_word(name: str) -> str:
    """Return the word of a stop source by its name; another name stays as it is."""
    return STOP_SOURCE_TEXTS[name][1] if name in STOP_SOURCE_TEXTS else name


def stop_source_subject(name: str) -> str:
    """Return a stop source as who acts; a name that is not in the table stays as it is."""
    return STOP_SOURCE_TEXTS[name][2] if name in STOP_SOURCE_TEXTS else name


def stop_source_remedy(name: str) -> str:
    """Return what to do about a required stop source that is not heard."""
    return STOP_SOURCE_TEXTS[name][3] if name in STOP_SOURCE_TEXTS else "See to it."
