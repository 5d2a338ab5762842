"""The VESC driver against known bytes, and against a VESC that speaks them over a bad line."""

import random

import pytest

from firmware.drivers.outputs import vesc_check
from firmware.drivers.outputs.vesc import STATUS_KILL_SWITCH, Vesc, VescReports
from firmware.drivers.outputs.vesc_check import VescCheck
from firmware.drivers.outputs.vesc_frame import crc16, crc_table, int32_at
from tests.firmware.drivers.peers import VescPeer, Wire, bad_line, torn, vesc_frame

SILENCE_US = 100_000


@pytest.mark.parametrize(
    ("call", "value", "known"),
    [
        ("ask", (), "02 01 04 40 84 03"),
        ("alive", (), "02 01 1e f3 ff 03"),
        ("set_duty", (1000,), "02 05 05 00 00 27 10 ae 17 03"),
        ("set_current", (5000,), "02 05 06 00 00 13 88 8b 25 03"),
        ("set_brake", (10_000,), "02 05 07 00 00 27 10 ea 94 03"),
        ("set_current", (-5000,), "02 05 06 ff ff ec 78 e3 05 03"),
    ],
)
def test_commands_are_the_known_bytes(call, value, known):
    wire = Wire()
    getattr(Vesc(wire, SILENCE_US), call)(*value)
    assert wire.outgoing.hex(" ") == known


def test_the_servo_command_is_the_known_bytes():
    wire = Wire()
    Vesc(wire, SILENCE_US).set_servo(530)  # 0.530; the known vector has 0.5304 as 0x0212
    assert wire.outgoing == vesc_frame(b"\x0c\x02\x12")
    assert wire.outgoing.hex(" ") == "02 03 0c 02 12 21 70 03"


def test_the_crc_is_that_of_xmodem():
    assert crc16(b"123456789", 0, 9, crc_table()) == 0x31C3


def test_commands_out_of_range_are_the_nearest_in_range():
    wire, peer = Wire(), VescPeer()
    vesc = Vesc(wire, SILENCE_US)
    for call, value in (
        ("set_current", 10**9), ("set_current", -(10**9)), ("set_brake", -5),
        ("set_duty", 12_000), ("set_servo", 1001), ("set_servo", -1),
    ):  # fmt: skip
        getattr(vesc, call)(value)
    peer.exchange(wire)
    assert peer.commands == [
        ("current", 200_000), ("current", -200_000), ("brake", 0),
        ("duty", 100_000), ("servo", 1000), ("servo", 0),
    ]  # fmt: skip


@pytest.mark.parametrize("has_status", [True, False])
def test_a_report_is_understood_field_by_field(has_status):
    wire, peer = Wire(), VescPeer(has_status)
    vesc = Vesc(wire, SILENCE_US)
    peer.values.update(
        fet_degc=-3.5, motor_degc=61.2, motor_a=-12.34, input_a=5.01, duty=-0.123, erpm=-123_456,
        input_v=11.7, tachometer=-5, fault=3,
    )  # fmt: skip
    peer.status = STATUS_KILL_SWITCH
    vesc.ask()
    peer.exchange(wire)
    vesc.step(1000)
    reports = vesc.reports
    assert (reports.fet_mdegc, reports.motor_mdegc) == (-3500, 61_200)
    assert (reports.motor_ma, reports.input_ma) == (-12_340, 5010)
    assert (reports.duty_permille, reports.erpm, reports.input_mv) == (-123, -123_456, 11_700)
    assert (reports.tachometer, reports.fault) == (-5 % (1 << 30), 3)
    assert reports.has_status == has_status
    assert reports.status == (STATUS_KILL_SWITCH if has_status else 0)
    assert vesc.freshness.is_fresh
    assert wire.waited == 0


def test_values_beyond_30_bits_saturate():
    wire, peer = Wire(), VescPeer()
    for erpm, reported in ((2**31 - 1, 2**30 - 1), (-(2**31), -(2**30 - 1))):
        peer.values["erpm"] = erpm
        peer.values["motor_a"] = erpm / 101
        wire.incoming += peer.reply()
        vesc = Vesc(wire, SILENCE_US)
        vesc.step(0)
        assert vesc.reports.erpm == reported
        assert abs(vesc.reports.motor_ma) == 1_000_000_000


def test_silence_is_noticed_and_lasts_until_a_report_comes():
    wire, peer = Wire(), VescPeer()
    vesc = Vesc(wire, SILENCE_US)
    vesc.step(0)
    assert not vesc.freshness.is_fresh
    wire.incoming += peer.reply()
    vesc.step(10)
    assert vesc.freshness.is_fresh
    vesc.step(10 + SILENCE_US)
    assert vesc.freshness.is_fresh
    vesc.step(11 + SILENCE_US)
    assert not vesc.freshness.is_fresh
    wire.incoming += vesc_frame(b"\0\6\2")  # a reply, but not with values
    vesc.step(12 + SILENCE_US)
    assert not vesc.freshness.is_fresh
    assert vesc.reports.others == 1


@pytest.mark.parametrize(
    ("payload", "others"),
    [
        (b"\4" + bytes(71), 1),  # too short for values
        (b"\5" + bytes(72), 1),  # long enough, but not values
        (b"\4" + bytes(127), 0),
        (b"\0" + bytes(127), 1),
        (b"\0" + bytes(128), 0),  # longer than any reply that is for us
        (b"", 0),
    ],
)
def test_only_values_are_taken_for_values(payload, others):
    reports = VescReports(crc_table())
    frame = bytearray(vesc_frame(payload))
    reports.feed(frame, len(frame))
    assert reports.others == others
    assert reports.replies == (payload[:1] == b"\4" and len(payload) == 128)
    assert (reports.motor_mdegc, reports.duty_permille, reports.fault) == (0, 0, 0)


def test_bytes_that_come_one_by_one_are_all_taken_and_what_is_dropped_is_counted():
    wire, peer = Wire(), VescPeer()
    vesc = Vesc(wire, SILENCE_US)
    for byte in b"\7\7\7" + peer.reply():
        wire.incoming.append(byte)
        vesc.step(0)
        assert not wire.incoming
    assert (vesc.reports.replies, vesc.reports.frames, vesc.reports.dropped) == (1, 1, 3)


def test_more_bytes_than_one_reading_takes_are_read_in_several():
    wire, peer = Wire(), VescPeer()
    vesc = Vesc(wire, SILENCE_US)
    wire.incoming += peer.reply() * 3
    vesc.step(0)
    assert (vesc.reports.replies, wire.waited) == (3, 0)


def test_a_full_uart_is_counted():
    wire = Wire()
    vesc = Vesc(wire, SILENCE_US)
    wire.write = lambda data: None
    vesc.alive()
    assert vesc.unsent == 1


def reported(number):
    peer = VescPeer()
    peer.values.update(erpm=number, tachometer=number)
    return peer.reply()


@pytest.mark.parametrize("seed", range(4))
def test_over_a_bad_line_whole_reports_arrive_and_no_damaged_one_does(seed):
    chance = random.Random(seed)
    count = 500
    frames = [reported(n) if n % 3 else vesc_frame(chance.randbytes(20)) for n in range(count)]
    stream, whole = bad_line(frames, seed)
    reports = VescReports(crc_table())
    seen = []
    for piece in torn(stream, seed):
        for i in range(0, len(piece), 7):
            before = reports.replies
            reports.feed(bytearray(piece[i : i + 7]), len(piece[i : i + 7]))
            if reports.replies != before:
                assert reports.erpm == reports.tachometer
                seen.append(reports.erpm)
    sent = {n for n in whole if n % 3}
    assert sent <= set(seen)
    assert len(seen) <= len(sent) + 5  # bytes before a frame do not hurt it
    assert len(sent) < 0.9 * count
    assert reports.dropped > 100


def test_every_flipped_bit_is_refused():
    frame = reported(7)
    for at in range(len(frame)):
        for bit in range(8):
            damaged = bytearray(frame)
            damaged[at] ^= 1 << bit
            reports = VescReports(crc_table())
            reports.feed(damaged + frame + bytes(140), len(damaged) + len(frame) + 140)
            assert reports.replies == 1


def check():
    return VescCheck(200_000, tolerance_erpm=500, tolerance_ma=2000, tolerance_permille=50)


@pytest.mark.parametrize(
    ("what", "asked", "near", "far"),
    [
        (vesc_check.ERPM, 4000, (4400, 0, 0), (3400, 4000, 4000)),
        (vesc_check.CURRENT, -5000, (0, -4000, 0), (0, 5000, 0)),
        (vesc_check.DUTY, 300, (0, 0, 340), (300, 300, -300)),
    ],
)
def test_a_lasting_difference_is_told_and_a_short_one_is_not(what, asked, near, far):
    held = check()
    held.ask(0, what, asked)
    held.step(200_000, *far)
    assert not held.differs
    held.step(200_001, *far)
    assert held.differs
    held.step(210_000, *near)
    assert not held.differs


def test_the_same_wish_again_gives_no_new_time():
    held = check()
    for now_us in range(0, 300_000, 10_000):
        held.ask(now_us, vesc_check.ERPM, 4000 + now_us // 10_000)
        held.step(now_us, 0, 0, 0)
    assert held.differs
    held.ask(300_000, vesc_check.NOTHING, 0)
    held.step(900_000, 99_999, 0, 0)
    assert not held.differs


def test_a_new_wish_of_the_same_kind_is_the_one_that_counts():
    held = check()
    held.ask(0, vesc_check.ERPM, 4000)
    held.ask(1_000_000, vesc_check.ERPM, 8000)
    held.step(1_200_000, 4000, 0, 0)
    assert not held.differs
    held.step(1_200_001, 4000, 0, 0)
    assert held.differs
    held.ask(1_300_000, vesc_check.ERPM, 4000)
    assert not held.differs


def test_the_time_runs_from_the_last_agreement():
    held = check()
    held.ask(0, vesc_check.DUTY, 300)
    held.step(500_000, 0, 0, 300)
    held.step(700_000, 0, 0, 0)
    assert not held.differs
    held.step(700_001, 0, 0, 0)
    assert held.differs


def test_before_anything_is_asked_nothing_differs():
    held = check()
    assert not held.differs
    held.step(1_000_000, 9999, 9999, 999)
    assert not held.differs


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (2**30 - 1, 2**30 - 1),
        (2**30, 2**30 - 1),
        (-(2**30), -(2**30)),
        (-(2**30) - 1, -(2**30) + 1),
        (-1, -1),
        (0x0001FFFF, 0x0001FFFF),
    ],
)
def test_words_are_read_signed_and_saturated(value, read):
    assert int32_at(value.to_bytes(4, "big", signed=True), 0) == read
