"""RC input: SBUS, CRSF and pulses, with their failsafes, and over bad lines."""

import pytest

from firmware.drivers.parts.crsf import Crsf, crc8, crc_table
from firmware.drivers.parts.rc_pulse import RcPulse
from firmware.drivers.parts.sbus import ENDS, FLAG_FAILSAFE, FLAG_LOST, Sbus
from tests.firmware.drivers.peers import (
    Wire,
    bad_line,
    crsf_channels,
    crsf_frame,
    crsf_link,
    sbus_frame,
    torn,
)
from tests.support.evidence import holds_for

CENTRE = [992] * 16
MIXED = [172, 992, 1811, 0, 2047, 1, 1024, 1023, 5, 6, 7, 8, 9, 1500, 300, 2000]


def pulse_us(value):
    """What receivers agree on: 172 is 988 us, 1811 is 2012 us, a line between."""
    return round(988 + (value - 172) * (2012 - 988) / (1811 - 172), 6)


def receiver(kind):
    return kind(), Wire()


@pytest.mark.parametrize(("kind", "frame"), [(Sbus, sbus_frame), (Crsf, crsf_channels)])
def test_every_channel_arrives_in_us(kind, frame):
    rc, wire = receiver(kind)
    wire.incoming += frame(CENTRE) + frame(MIXED)
    rc.read(wire)
    for value, us in zip(MIXED, rc.channels.pulses_us, strict=True):
        assert abs(us - pulse_us(value)) <= 1.5
    assert rc.count > 0
    assert wire.waited == 0


@pytest.mark.parametrize(
    ("flags", "failsafe", "lost"),
    [
        (FLAG_FAILSAFE, True, False),
        (FLAG_LOST, False, True),
        (FLAG_FAILSAFE | FLAG_LOST, True, True),
    ],
)
def test_sbus_frames_of_a_receiver_without_its_transmitter_refresh_nothing(flags, failsafe, lost):
    rc, wire = receiver(Sbus)
    wire.incoming += sbus_frame(MIXED) * 2
    rc.read(wire)
    taken = rc.count
    for _ in range(8):
        wire.incoming += sbus_frame(CENTRE, flags)
        rc.read(wire)
        assert (rc.is_failsafe, rc.is_lost) == (failsafe, lost)
    assert rc.count == taken
    assert next(iter(rc.channels.pulses_us)) == pulse_us(172)


def test_sbus_channels_17_and_18_are_no_failsafe():
    rc, wire = receiver(Sbus)
    wire.incoming += sbus_frame(CENTRE, 3, ENDS[3]) * 2
    rc.read(wire)
    assert rc.count == 1


def is_taken_by_its_end(end):
    rc, wire = receiver(Sbus)
    assert rc.is_failsafe
    wire.incoming += sbus_frame(CENTRE, 0, end) * 2 + bytes(25)
    rc.read(wire)
    assert (rc.count > 0) == (end in (0x00, 0x04, 0x14, 0x24, 0x34))


def test_an_sbus_frame_ends_as_one_of_the_two_kinds():
    assert holds_for(((end,) for end in range(256)), is_taken_by_its_end)


def test_one_sbus_frame_after_a_disturbance_is_not_taken():
    rc, wire = receiver(Sbus)
    wire.incoming += sbus_frame(CENTRE)
    rc.read(wire)
    assert rc.count == 0
    wire.incoming += sbus_frame(CENTRE)
    rc.read(wire)
    assert rc.count == 1
    wire.incoming += b"\xff" + sbus_frame(MIXED)
    rc.read(wire)
    assert list(rc.channels.pulses_us) == [1500] * 16


def test_crsf_tells_a_lost_link_by_its_quality():
    rc, wire = receiver(Crsf)
    wire.incoming += crsf_link(97) + crsf_channels(CENTRE)
    rc.read(wire)
    assert (rc.link_quality, rc.count) == (97, 1)
    wire.incoming += crsf_link(0) + crsf_channels(MIXED)
    rc.read(wire)
    assert rc.is_failsafe
    assert rc.count == 1
    assert list(rc.channels.pulses_us) == [1500] * 16
    wire.incoming += crsf_link(50) + crsf_channels(MIXED)
    rc.read(wire)
    assert rc.count == 2


def test_crsf_of_other_types_and_sizes_is_passed_over():
    rc, wire = receiver(Crsf)
    wire.incoming += crsf_frame(0x29, bytes(40)) + crsf_frame(0x16, bytes(21))
    rc.read(wire)
    assert (rc.frames, rc.dropped, rc.count) == (2, 0, 0)
    for address in (0xC8, 0xEA, 0xEE):
        wire.incoming += crsf_frame(0x14, bytes(10), address)
    rc.read(wire)
    assert rc.frames == 5


@pytest.mark.parametrize(("size", "is_frame"), [(-1, 0), (0, 1), (60, 1), (61, 0)])
def test_crsf_frames_have_2_to_62_bytes_after_their_length(size, is_frame):
    rc, wire = receiver(Crsf)
    frame = crsf_frame(0x29, bytes(max(0, size)))
    wire.incoming += frame if size >= 0 else bytes([0xC8, 1, 0])
    rc.read(wire)
    assert rc.frames == is_frame


def test_the_crc_of_crsf_is_dvb_s2():
    assert crc8(b"123456789", 0, 9, crc_table()) == 0xBC


def numbered(number):
    return [number % 2048] * 8 + [number * 7 % 2048] * 8


def received_over(rc, stream, seed):
    seen = []
    for piece in torn(stream, seed):
        before = rc.frames
        rc.feed(bytearray(piece), len(piece))
        if rc.frames != before and rc.count:
            seen.append(tuple(rc.channels.pulses_us))
    return seen


@pytest.mark.parametrize("seed", range(4))
def test_over_a_bad_line_crsf_takes_no_more_damaged_frames_than_its_crc_lets_pass(seed):
    frames = [crsf_channels(numbered(n)) for n in range(2000)]
    stream, whole = bad_line(frames, seed)
    rc, _ = receiver(Crsf)
    seen = received_over(rc, stream, seed)
    sent = {tuple(1500 + ((v - 992) * 5 + 4) // 8 for v in numbered(n)) for n in range(2000)}
    damaged = len(frames) - len(whole)
    assert len(set(seen) - sent) <= damaged // 64  # an 8-bit CRC lets one of 256 pass
    assert damaged > 200
    assert rc.frames >= len(whole)
    assert rc.dropped > 500


@pytest.mark.parametrize("seed", range(4))
def test_over_a_line_that_loses_bytes_sbus_takes_little_that_was_not_sent(seed):
    frames = [sbus_frame(numbered(n)) for n in range(2000)]
    stream, whole = bad_line(frames, seed, loss=0.002, flips=0, noise=0.002)
    rc, _ = receiver(Sbus)
    seen = received_over(rc, stream, seed)
    sent = {tuple(1500 + ((v - 992) * 5 + 4) // 8 for v in numbered(n)) for n in range(2000)}
    damaged = len(frames) - len(whole)
    assert len(set(seen) - sent) <= damaged // 20  # one that lost and won a byte looks whole
    assert damaged > 150
    assert len(seen) > 0.5 * len(whole)


def test_sbus_finds_its_frames_in_channels_full_of_start_bytes():
    tricky = [0x0F | 0x0F << 8 & 0x7FF] * 16
    rc, wire = receiver(Sbus)
    wire.incoming += sbus_frame(tricky)[5:] + sbus_frame(tricky) * 6
    rc.read(wire)
    wire.incoming += sbus_frame(CENTRE) * 3
    rc.read(wire)
    assert list(rc.channels.pulses_us) == [1500] * 16


# --- pulses ----------------------------------------------------------------------------------


def pulse(rc, at_us, width_us):
    rc.edge(1, at_us % (1 << 30))
    rc.edge(0, (at_us + width_us) % (1 << 30))


@pytest.mark.parametrize("at_us", [0, 1000, (1 << 30) - 700])
@pytest.mark.parametrize("width_us", [1, 1500, 70_000])
def test_a_pulse_is_as_wide_as_it_is_and_across_the_wrap(at_us, width_us):
    rc = RcPulse(lambda: 0)
    pulse(rc, at_us, width_us)
    pulse(rc, at_us + 20_000, 1200)
    pulse(rc, at_us + 40_000, width_us)
    assert (rc.pulse_us, rc.count) == (width_us, 3)


def test_a_pulse_that_began_unseen_is_none():
    rc = RcPulse(lambda: 0)
    rc.edge(0, 1500)
    assert rc.count == 0


def test_the_interrupt_takes_level_and_time(monkeypatch):
    import bench
    import machine

    bench.bench.reset()
    rc = RcPulse(lambda: bench.bench.now_us)
    pin = machine.Pin(3, machine.Pin.IN)
    pin.irq(rc.on_edge, machine.Pin.IRQ_RISING | machine.Pin.IRQ_FALLING, hard=True)
    bench.bench.level(3, 1)
    bench.bench.advance(1234)
    bench.bench.level(3, 0)
    assert rc.pulse_us == 1234
