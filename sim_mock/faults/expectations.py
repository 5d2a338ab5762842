"""How a case may end: a table, in words that the catalogue uses."""

from dataclasses import dataclass

from firmware.protocol import codes

STOPS, DRIVES, NEVER_MOVES = "stops", "drives", "never moves"


@dataclass(frozen=True)
class Expectation:
    """What the car does, and what its last Status says of it."""

    does: str
    state: int
    cause: int = codes.NO_CAUSE  # the first
    fault: int | None = None


EXPECTATIONS = {
    "drives on": Expectation(DRIVES, codes.ACTIVE),
    "holds": Expectation(STOPS, codes.HOLD),
    "disarmed": Expectation(STOPS, codes.STANDBY),
    "refused": Expectation(NEVER_MOVES, codes.STANDBY),
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
    "relay fault": Expectation(STOPS, codes.FAULT, fault=codes.FAULT_RELAY),
}
