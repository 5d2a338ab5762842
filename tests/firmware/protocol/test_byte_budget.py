"""The byte budget: what a car says and hears in a second, against what each line carries.

``firmware.core.link.telemetry`` sends, down: a Status on every step; a Motion and one slow message
on every ``motion_every``-th step, but not on two in a row; an Event or an EventsLost on a step,
when there is one; a Claim for each frame of the receiver on board, if there is one. Up come a
Claim at 100 Hz, a Sync at 20 Hz and an Alive of each stop source at 50 Hz. Each direction has its
own wire.
"""

from __future__ import annotations

import math

import pytest

from firmware.protocol.codec import Message
from firmware.protocol.messages import (
    Alive,
    Claim,
    ClockReport,
    Event,
    EventsLost,
    Inputs,
    LinkCounters,
    Motion,
    Outputs,
    Power,
    Second,
    Status,
    Sync,
    VescState,
)
from host_bridge.config import load_vehicle, vehicle_names
from sim_mock.world import World
from tests.firmware.protocol.streams import framed, read
from tests.support.evidence import every

STEPS_PER_S = 100
MOTION_EVERY = 2  # steps, at least
SECONDS = 3
SYNCS_PER_S = 20
ALIVES_PER_S = 4 * 50  # seat, owner, runstop box, fleet
RC_FRAMES_PER_S = 50
SLOW = (*(ClockReport,) * 5, Inputs, Outputs, Power, LinkCounters, VescState)  # one turn
BITS_PER_BYTE = 10  # of a UART: start, eight, stop

# Bytes a second. Full-speed USB: at most 19 bulk packets of 64 bytes in each frame of 1 ms
# (USB 2.0, table 5-9).
LINES = {
    "115200": 115_200 // BITS_PER_BYTE,
    "921600": 921_600 // BITS_PER_BYTE,
    "USB": 19 * 64 * 1000,
}


def wire_size(kind: type[Message]) -> int:
    """Of the frame: COBS adds the same one byte to any payload of up to 254."""
    return len(framed(bytes([kind.ID]) + bytes(kind().size - 1)))


def down_bytes_per_s(motion_every: int, with_events: bool = True) -> int:
    per_step = wire_size(Status)
    if with_events:
        per_step += max(wire_size(Event), wire_size(EventsLost))
    per_motion = wire_size(Motion) + sum(map(wire_size, SLOW)) / len(SLOW)
    receiver = RC_FRAMES_PER_S * wire_size(Claim) + wire_size(Second)  # in the turn of VescState
    per_step += per_motion / max(motion_every, MOTION_EVERY)
    return math.ceil(STEPS_PER_S * per_step) + receiver


def up_bytes_per_s() -> int:
    alives = ALIVES_PER_S * wire_size(Alive)
    return STEPS_PER_S * wire_size(Claim) + SYNCS_PER_S * wire_size(Sync) + alives


@pytest.mark.parametrize(("line", "times"), [("115200", 1), ("921600", 7), ("USB", 90)])
def test_full_telemetry_fits_every_line_as_often_as_is_said(line, times):
    assert down_bytes_per_s(motion_every=1) * times <= LINES[line]


@pytest.mark.parametrize(("line", "times"), [("115200", 1), ("921600", 10), ("USB", 140)])
def test_claims_clock_and_stop_sources_fit_every_line_as_often_as_is_said(line, times):
    assert up_bytes_per_s() * times <= LINES[line]


def test_the_core_status_alone_is_four_kilobytes_a_second():
    assert STEPS_PER_S * wire_size(Status) <= 4000


@pytest.mark.parametrize("name", vehicle_names())
def test_a_car_says_what_the_budget_says(name):
    """The real program, on its step: the schedule above is what it keeps to."""
    vehicle = load_vehicle(name)
    (step_us,), (motion_every,) = (vehicle.parameters[row] for row in ("step_us", "motion_every"))
    sent = World(vehicle).advance(SECONDS * 1_000_000 - 1)
    said = [payload[0] for payload in read([sent]).payloads]
    steps = SECONDS * 1_000_000 // step_us
    assert steps == SECONDS * STEPS_PER_S
    motions = steps // max(motion_every, MOTION_EVERY)
    assert said.count(Status.ID) == steps
    assert said.count(Motion.ID) == motions
    assert sum(said.count(kind.ID) for kind in set(SLOW)) <= motions
    silent = (ClockReport, VescState)  # it has no session, and no VESC
    assert every(said.count(kind.ID) for kind in SLOW if kind not in silent)
    assert len(sent) <= SECONDS * down_bytes_per_s(motion_every)
