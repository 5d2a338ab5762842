"""A code that this host does not know is shown by its number, and costs nothing beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pytest

from firmware.protocol import messages
from firmware.protocol.codec import Message
from host_bridge.cars import car_text as words
from host_bridge.cli.output.status_line import status_line
from host_bridge.core import BindResult, CarEvent, Cause, EventCode, event_text
from host_bridge.core import codes as host
from host_bridge.core.system.clock import ManualClock
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.transcript import LogDecoder
from host_bridge.logs.reading import read, summary
from host_bridge.logs.recorder import DOWN, create
from host_bridge.logs.rows import row_of
from host_bridge.sharing.stop.frozen_stop import StopAckReader
from tests.host_bridge.cli.programs import serving, tandem
from tests.host_bridge.drive.drives import EPOCH, Drive, Rig, vehicle
from tests.support.evidence import every, holds_for, some

KINDS = (
    *(host.State, host.Actuator, host.Profile, host.RcMode, host.Cause, host.Fault, host.Sender),
    *(
        host.Device,
        host.Action,
        host.Refusal,
        host.ClaimVerdict,
        host.ArbitrationLoss,
        host.EventCode,
    ),
    *(host.BindResult, host.ResetCause, host.BatteryStage, host.WriteResult),
)
# Fields that are codes, and those of whose bits each is one; by message of a car
CODES = {
    messages.Identity: ("device", "state"),
    messages.StopSeen: ("state", "sender"),
    messages.Bound: ("result",),
    messages.Status: ("state", "first_cause", "profile"),
    messages.ActReply: ("action",),
    messages.Event: ("code",),
    messages.Parameter: ("result",),
    messages.Committed: ("result",),
    messages.Inputs: ("rc_mode",),
    messages.Power: ("stage",),
}
CODE_BITS = {
    messages.Status: ("causes", "faults"),
    messages.ActReply: ("refusals", "causes_present"),
    messages.Inputs: ("causes_present",),
}
# Ids, counts, levels and flags: numbers that mean themselves, and bits that are no code's
OTHERS = {
    messages.Identity: ("token", "layout", "flags"),
    messages.StopSeen: ("token",),
    messages.Bound: ("epoch", "slot"),
    messages.Status: (
        *("steering_source", "drive_source", "brake_source", "claim_slot", "claim_sequence"),
        "claim_count",
    ),
    messages.ClockReport: ("epoch", "slot"),
    messages.ActReply: ("epoch", "nonce", "stop_sources"),
    messages.Event: ("number",),
    messages.EventsLost: ("first", "count"),
    messages.Parameter: ("index",),
    messages.Committed: ("where",),
    messages.Inputs: (
        *("runstop_closed", "enable_contact", "charger_pairing", "held", "engaged", "stop_fresh"),
        *("stop_said", "imu_answers", "fresh"),
    ),
    messages.Outputs: (
        *("enable", "lights", "lights_source"),
        *("aux_1_source", "aux_2_source", "aux_3_source", "aux_4_source"),
    ),
    messages.VescState: ("tells", "status"),
    messages.Claim: ("epoch", "source", "sequence", "mask", "lights", "deadman"),
}
NUMBERS = (99, 255, -1, 1 << 29)  # of no code
VALUES = (0, 77, -1, (1 << 30) - 1)  # of an event
UNITS_OF_CODES = ("", "DEVICE_")


def rows(kind: type[Message]) -> Iterator[tuple[str, str, int, int, str]]:
    yield from (row for row in kind.FIELDS if row[1][0] != "b")


def is_code_like(unit: str) -> bool:
    return (
        unit in UNITS_OF_CODES or "bits" in unit or unit[:2] in ("0 ", "25")
    )  # "0 good, ...", "255: no signal"


def test_every_field_without_a_unit_is_known_to_be_a_code_or_none():
    for kind in messages.TO_HOST:
        found = [name for name, _, _, _, unit in rows(kind) if is_code_like(unit)]
        known = [name for table in (CODES, CODE_BITS, OTHERS) for name in table.get(kind, ())]
        assert sorted(found) == sorted(known), kind


def test_no_range_of_the_table_keeps_a_later_code_out():
    widths = {"u8": 255, "u16": 65535, "u30": (1 << 30) - 1}
    for table in (CODES, CODE_BITS):
        for kind, names in some(table.items()):
            ranges = {
                row[0]: (row[2], row[3], widths[row[1]]) for row in rows(kind) if row[0] in names
            }
            for low, high, most in some(ranges.values()):
                assert (low, high) == (0, most), kind


def is_its_own_code(kind, number):
    code = kind(number)
    assert code.name == f"unknown ({number})"
    assert code == code.value == number
    assert code not in list(kind)
    assert getattr(code, "phrase", code.name) == code.name


def test_an_unknown_number_is_a_code_of_its_own():
    assert holds_for(product(KINDS, NUMBERS), is_its_own_code)


def refuses_a_word(kind):
    with pytest.raises(ValueError, match="moon"):
        kind("moon")


def test_what_is_no_number_is_no_code():
    assert holds_for(((kind,) for kind in KINDS), refuses_a_word)


def values_of(kind: type[Message], name: str, low: int, high: int) -> list[int]:
    if name in CODES.get(kind, ()):
        return list(range(256))
    if name in CODE_BITS.get(kind, ()):
        return [1 << bit for bit in range(high.bit_length())] + [high]
    return [low, high]


class Shown:
    """A bound car to whose host anything can be said in its name, and all that is shown of it."""

    def __init__(self) -> None:
        rig = Rig("a")
        self.drive = Drive(rig)
        self.drive.bind()
        self.drive.advance(0.5)
        self.car = rig.car
        self.number = self.car.events[-1].number

    def say(self, kind: type[Message], **given: int) -> list[object]:
        fields = blank(kind)
        if kind is messages.Identity:
            assert self.car.identity
            fields["protocol_hash"] = wire.own_protocol_hash()
            fields["board_id"] = self.car.identity.board_id  # else it is another car
        if kind is messages.Status:
            assert self.car.status
            fields |= {"time_us": self.car.status.time_us, "first_cause": 255}
        if kind is messages.Event:
            self.number = fields["number"] = self.number + 1 & 0xFFFF
        if "epoch" in fields:
            fields["epoch"] = EPOCH
        counts = self.car.connection.statistics
        rejected, heard = counts.rejected.total(), counts.heard[kind.__name__]
        frame = wire.encode(wire.new(kind, **{**fields, **given}))
        found = self.car.receive_data(frame, self.drive.now_us)
        assert counts.rejected.total() == rejected, "a message is lost"
        assert counts.heard[kind.__name__] == heard + 1
        return list(found)

    def text(self) -> str:
        """What the monitor, a driver's screen and a log have of it."""
        car = self.car
        lines = [status_line(car), car.why_stopped(has_age=True), words.who_commands(car)]
        lines += [words.stop_sources_text(car), words.rc_mode_text(car), words.imu_text(car)]
        lines += [words.cap_text(car), words.profile_text(car), *words.others_in_command(car)]
        if car.events:
            lines.append(event_text(car.events[-1], car.vehicle))
        reports = (car.status, car.inputs, car.power, car.outputs, car.identity)
        lines += [json.dumps(row_of(report)) for report in reports if report is not None]
        return "\n".join(lines)


def blank(kind: type[Message]) -> dict[str, int | bytes]:
    return {
        row[0]: bytes(int(row[1][1:])) if row[1][0] == "b" else max(row[2], 0)
        for row in kind.FIELDS
    }


@pytest.mark.parametrize("kind", messages.TO_HOST)
def test_no_message_is_lost_whatever_its_numbers_mean(kind):
    shown = Shown()
    for name, _, low, high, _ in some(rows(kind)):
        if (kind, name) in ((messages.Event, "number"), (messages.Status, "time_us")):
            continue  # an order, and a restart
        for value in some(values_of(kind, name, low, high)):
            if (name, value) == ("result", BindResult.PROTOCOL_MISMATCH) and kind is messages.Bound:
                continue  # from there on the car is not understood
            for event in shown.say(kind, **{name: value}):
                assert str(event)
            assert shown.text()


SEEN = (
    (messages.Status, {"state": 13}, "unknown (13)"),
    (messages.Status, {"causes": 1 << 13, "first_cause": 13}, "because unknown (13)."),
    (messages.Status, {"causes": 1 | 1 << 15, "first_cause": 0}, "open; also, unknown (15)."),
    (messages.Status, {"state": 6, "faults": 1 << 13}, "In fault because unknown (13)."),
    (messages.Status, {"state": 2, "profile": 9}, "unknown (9)"),
    (messages.Inputs, {"causes_present": 1 << 14}, "unknown (14)"),
    (messages.Power, {"stage": 7}, "unknown (7)"),
    (messages.Identity, {"state": 77, "device": 66}, "unknown (66)"),
    (messages.Event, {"code": 200, "a": 3, "b": -4}, "event unknown (200): 3, -4"),
    (messages.Event, {"code": EventCode.STATE_CHANGED, "a": 1, "b": 13}, "PARKED to unknown (13)"),
    (messages.Event, {"code": EventCode.STOP_LATCHED, "a": 13}, "stop: unknown (13)"),
    (messages.Event, {"code": EventCode.FAULT_LATCHED, "a": 13}, "fault: unknown (13)"),
    (messages.Event, {"code": EventCode.ACTION_REFUSED, "a": 9, "b": 1 << 29}, "unknown (29)"),
    (messages.Event, {"code": EventCode.SOURCE_LOST, "b": 77 | 2 << 8}, "(drive): unknown (77)"),
    (messages.Event, {"code": EventCode.SOURCE_SILENT, "b": -1}, "silent: unknown (-1)"),
    (messages.Event, {"code": EventCode.WINNER_CHANGED, "a": 13}, "has the unknown (13) now"),
)


@pytest.mark.parametrize(("kind", "given", "said"), SEEN)
def test_it_is_shown_by_its_number(kind, given, said):
    shown = Shown()
    found = shown.say(kind, **given)
    assert said in shown.text()
    assert "unknown" in json.dumps([row_of(report) for report in found]) or kind is messages.Event


def test_the_rc_s_mode_and_a_refusal_are_shown_by_their_numbers():
    shown = Shown()
    shown.car.vehicle = vehicle("f1tenth")
    shown.say(messages.Inputs, rc_mode=9)
    assert words.rc_mode_text(shown.car) == "transmitter unknown (9)"
    request = shown.car.arm(shown.drive.now_us, host.Sender.COMMAND)
    shown.say(messages.ActReply, action=host.Action.ARM, refusals=1 << 25)
    assert request.result
    assert request.result.reasons == ("unknown (25)",)
    (refused,) = shown.say(messages.Bound, result=9)
    assert str(refused) == "The car unknown (9)."


def has_words(code, a, b):
    for of in (None, vehicle()):
        assert event_text(CarEvent(1, 2, code, a, b), of)


def test_every_event_has_words_whatever_its_numbers():
    assert holds_for(product(EventCode, VALUES, VALUES), has_words)


def test_a_quick_stop_says_a_state_that_it_does_not_know():
    watch = StopAckReader(7)
    seen = {"token": 7, "state": 13, "sender": 99, "sender_name": bytes(16)}
    watch.feed(wire.encode(wire.new(messages.StopSeen, **seen)))
    assert watch.is_seen
    assert watch.state == "unknown (13)"


@pytest.mark.process(drives=True)
def test_a_log_of_a_later_car_is_read_served_watched_and_recorded_anew(tmp_path):
    """What an older log of a newer program is to this host; the hash is taken for granted."""
    path, again = tmp_path / "later.mcap", tmp_path / "again.mcap"
    record_later_car(path)
    rows = [r.value for r in read(path) if r.topic == "status" and isinstance(r.value, dict)]
    assert any("unknown (13)" in row["causes"] for row in rows)
    assert summary(path).counts["later", "status"] == len(rows) > 300
    uri = f"replay://{path}?car=later&speed=1"
    with ExitStack() as stack:
        stack.enter_context(serving(uri, "later", "--record", str(again)))
        monitor = tandem("monitor", "later", "--json", "--seconds", "1.5")
    assert monitor.returncode == 0, monitor.stderr
    assert "Traceback" not in monitor.stderr
    said = [json.loads(line) for line in monitor.stdout.splitlines()]
    statuses = [row for row in said if row["topic"] == "status"]
    assert statuses
    assert every(row["state"] == "unknown (13)" for row in statuses)
    assert every("unknown (13)" in row["causes"] for row in statuses)
    assert "event unknown (200): 3, -4" in [row.get("text") for row in said]
    recorded = [r.value for r in read(again) if r.topic == "status" and isinstance(r.value, dict)]
    assert recorded
    assert recorded[-1]["state"] == "unknown (13)"


def record_later_car(path: Path) -> None:
    """Of a virtual car, one of whose causes, states and events this host does not know."""
    rig = Rig("later")
    clock = ManualClock(10_000_000)
    log = create(path, clock, 0, {}, LogDecoder)
    rig.up = lambda data: later(log, clock, data)
    drive = Drive(rig)
    for _ in range(4000):
        drive.advance(0.001)
        clock.advance(1000)
    log.close()


def later(log, clock, data: bytes) -> bytes:
    said = b""
    for message in wire.MessageDecoder().feed(data):
        assert isinstance(message, Message)
        if isinstance(message, messages.Status):
            message.state, message.causes, message.first_cause = 13, message.causes | 1 << 13, 13
            said += b"".join(map(wire.encode, events(message.time_us // 10_000)))
        said += wire.encode(message)
    if said:
        log.frame("later", DOWN, said, clock.now_us())
    return data


def events(number: int) -> Iterator[Message]:
    """One, told so that also who comes late knows that it is the next."""
    yield wire.new(messages.EventsLost, first=0, count=number)
    yield wire.new(messages.Event, number=number, time_us=0, code=200, a=3, b=-4)


def test_a_cause_is_first_whatever_it_is():
    assert Cause(13) is not Cause.RUNSTOP_LOOP
    assert host.members(Cause, 1 << 13 | 1) == (Cause.RUNSTOP_LOOP, Cause(13))
