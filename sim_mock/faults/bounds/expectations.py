"""The table of endings that a case of the catalogue may expect, by name."""

from dataclasses import dataclass

from firmware.protocol import codes

STOPS, DRIVES, LIMPS, NEVER_MOVES = "stops", "drives", "limps", "never moves"


@dataclass(frozen=True)
class Expectation:
    """An expected ending: what the car does, and what its last Status reports."""

    does: str
    state: int
    cause: int = codes.NO_CAUSE  # the first cause of the stop
    fault: int | None = None
    also: int = 0  # faults that may come with it, as bits


EXPECTATIONS = {
    "limps": Expectation(LIMPS, codes.ACTIVE),
    "drives on": Expectation(DRIVES, codes.ACTIVE),
    "holds": Expectation(STOPS, codes.HOLD),
    "disarmed": Expectation(STOPS, codes.STANDBY),
    "refused": Expectation(NEVER_MOVES, codes.STANDBY),
    "stays stopped": Expectation(NEVER_MOVES, codes.STOPPED, codes.CAUSE_STOP_REQUEST),
    "refused, runstop": Expectation(NEVER_MOVES, codes.STANDBY, codes.CAUSE_RUNSTOP_LOOP),
    "refused, fault": Expectation(NEVER_MOVES, codes.FAULT, fault=codes.FAULT_RELAY),
    "silence": Expectation(STOPS, codes.STOPPED, codes.CAUSE_SILENCE),
    "frozen input": Expectation(STOPS, codes.STOPPED, codes.CAUSE_FROZEN_INPUT),
    "stop request": Expectation(STOPS, codes.STOPPED, codes.CAUSE_STOP_REQUEST),
    "runstop loop": Expectation(STOPS, codes.STOPPED, codes.CAUSE_RUNSTOP_LOOP),
    "clock step": Expectation(STOPS, codes.STOPPED, codes.CAUSE_CLOCK_STEP),
    "charger": Expectation(STOPS, codes.STOPPED, codes.CAUSE_CHARGER),
    "empty battery": Expectation(STOPS, codes.STOPPED, codes.CAUSE_EMPTY_BATTERY),
    "overrun": Expectation(STOPS, codes.STOPPED, codes.CAUSE_OVERRUN),
    "stop source": Expectation(STOPS, codes.STOPPED, codes.CAUSE_STOP_SOURCE),
    "source silent": Expectation(STOPS, codes.STOPPED, codes.CAUSE_STOP_SOURCE_SILENT),
    "stand over": Expectation(STOPS, codes.STOPPED, codes.CAUSE_STAND_OVER),
    "unattended": Expectation(STOPS, codes.STOPPED, codes.CAUSE_UNATTENDED),
    "clock unsure": Expectation(STOPS, codes.STOPPED, codes.CAUSE_CLOCK_UNSURE),
    "relay fault": Expectation(STOPS, codes.FAULT, fault=codes.FAULT_RELAY),
    "output fault": Expectation(STOPS, codes.FAULT, fault=codes.FAULT_OUTPUT),
    "runaway": Expectation(
        STOPS, codes.FAULT, fault=codes.FAULT_RUNAWAY, also=1 << codes.FAULT_TOO_FAST
    ),
    "too fast": Expectation(
        STOPS, codes.FAULT, fault=codes.FAULT_TOO_FAST, also=1 << codes.FAULT_RUNAWAY
    ),
    "no motion": Expectation(STOPS, codes.FAULT, fault=codes.FAULT_NO_MOTION),
    "encoder fault": Expectation(STOPS, codes.FAULT, fault=codes.FAULT_ENCODER),
    "brown-out": Expectation(STOPS, codes.FAULT, fault=codes.FAULT_BROWN_OUT),
    "too hot": Expectation(STOPS, codes.FAULT, fault=codes.FAULT_OVER_TEMPERATURE),
    "refused, boots": Expectation(NEVER_MOVES, codes.FAULT, fault=codes.FAULT_BOOT_LOOP),
}
