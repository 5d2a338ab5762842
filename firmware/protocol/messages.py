"""The messages: the one table that both sides work from, by direction.

A row is (name, kind, low, high, unit). The annotations repeat the names for the type checker; a
test holds the two together. ``version.protocol_hash`` is a hash of all of it, so that any change
here is noticed at connect. Identify, Identity, Stop and StopSeen are frozen for ever.

Session time, board time: microseconds modulo 2**30; compared through ``core.deadlines`` only.
"""

from firmware.protocol.reports import Inputs, LinkCounters, Outputs, Power, Second, VescState
from firmware.protocol.to_board import (
    Act,
    Alive,
    Bind,
    Claim,
    ConfigCommit,
    EventRequest,
    Identify,
    Leave,
    ParameterRead,
    ParameterWrite,
    Stop,
    Sync,
)
from firmware.protocol.to_host import (
    ActReply,
    Bound,
    ClockReport,
    Committed,
    Event,
    EventsLost,
    Identity,
    Motion,
    Parameter,
    Status,
    StopSeen,
)

# fmt: off
__all__ = (
    "Act", "ActReply", "Alive", "Bind",
    "Bound", "Claim", "ClockReport", "Committed", "ConfigCommit",
    "Event", "EventRequest", "EventsLost", "Identify", "Identity", "Inputs", "Leave",
    "LinkCounters",
    "Motion", "Outputs", "Parameter", "ParameterRead", "ParameterWrite", "Power", "Second",
    "Status", "Stop", "StopSeen", "Sync", "VescState",
)
# fmt: on

FROZEN = (Identify, Identity, Stop, StopSeen)
TO_BOARD = (
    Identify,
    Stop,
    Bind,
    Sync,
    Claim,
    Act,
    EventRequest,
    ParameterRead,
    ParameterWrite,
    ConfigCommit,
    Alive,
    Leave,
)
TO_HOST = (
    Identity,
    StopSeen,
    Bound,
    Status,
    Motion,
    ClockReport,
    ActReply,
    Event,
    EventsLost,
    Parameter,
    Committed,
    LinkCounters,
    Inputs,
    Power,
    Outputs,
    Second,
    VescState,
    Claim,  # of the board's own receiver
)
