"""The car's state machine: a table, most dangerous first. What is not in it does not happen."""

from firmware.compat import micropython
from firmware.protocol.codes import ACTIVE, FAULT, HOLD, STANDBY, STARTING, STOPPED, STOPPING

# Conditions, evaluated anew on every step
STOP = 1  # a stop cause is latched
FAULTY = 2  # a fault is latched
READY = 4  # the time in neutral after start-up is over
AT_REST = 8  # the stop sequence has ended: standstill measured, or its time is up
COMMANDED = 16  # a source has the drive
ARMED = 32  # an arm was granted, on this step
CLEARED = 64  # a clear was granted, on this step
DISARMED = 128

# state, all of these, none of these, next state. The first row that fits is taken.
TABLE = (
    (ACTIVE, STOP, 0, STOPPING),
    (ACTIVE, FAULTY, 0, STOPPING),
    (HOLD, STOP, 0, STOPPING),
    (HOLD, FAULTY, 0, STOPPING),
    (STOPPING, AT_REST | FAULTY, 0, FAULT),
    (STOPPING, AT_REST, FAULTY, STOPPED),
    (STARTING, FAULTY, 0, FAULT),
    (STANDBY, FAULTY, 0, FAULT),
    (STOPPED, FAULTY, 0, FAULT),
    (ACTIVE, 0, COMMANDED, HOLD),
    (HOLD, DISARMED, COMMANDED, STANDBY),
    (STARTING, READY, FAULTY, STANDBY),
    (STANDBY, ARMED, STOP | FAULTY, HOLD),
    (HOLD, COMMANDED, STOP | FAULTY | DISARMED, ACTIVE),
    (STOPPED, CLEARED, STOP | FAULTY, STANDBY),
    (FAULT, CLEARED, STOP | FAULTY, STANDBY),
)


@micropython.viper
def _next(table: object, state: int, conditions: int) -> int:
    for here, all_of, none_of, then in table:  # type: ignore[attr-defined]
        if int(here) == state:
            must, bars = int(all_of), int(none_of)
            if conditions & must == must and not conditions & bars:
                return int(then)
    return state


class Supervisor:
    def __init__(self) -> None:
        self.state = STARTING
        self.before = STARTING

    def step(self, conditions: int) -> None:
        self.before = self.state
        self.state = _next(TABLE, self.state, conditions)

    def is_armed(self) -> bool:
        return self.state == ACTIVE or self.state == HOLD

    def has_changed(self) -> bool:
        return self.state != self.before
