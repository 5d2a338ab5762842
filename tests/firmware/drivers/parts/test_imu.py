"""IMUs against their registers: units, mounting, and every way to die."""

import itertools
import math
import struct

import bench as bench_module
import machine
import pytest

from firmware.drivers.parts.bno055 import Bno055
from firmware.drivers.parts.bno08x_rvc import Bno08xRvc
from firmware.drivers.parts.i2c_imu import I2cImu
from firmware.drivers.parts.mounting import Mounting
from firmware.drivers.parts.mpu import Mpu
from firmware.drivers.parts.stillness import Stillness
from tests.firmware.drivers.parts.sensor_peers import BnoPeer, MpuPeer, rvc_frame
from tests.firmware.drivers.peers import Wire, bad_line, torn

bench = bench_module.bench
SILENCE_US = 30_000
FLAT = (1, 2, 3)


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()


def bus_with(peer, address):
    i2c = machine.I2C(0, scl=machine.Pin(1), sda=machine.Pin(0))
    bench.buses[0][address] = peer
    return i2c


def sleep_ms(ms):
    bench.advance(ms * 1000)


def imu_of(kind, mounting=FLAT):
    peer = (MpuPeer if kind is Mpu else BnoPeer)()
    return peer, kind(bus_with(peer, 0x42), 0x42, Mounting(*mounting), SILENCE_US, sleep_ms)


KINDS = pytest.mark.parametrize("kind", [Mpu, Bno055])


@KINDS
@pytest.mark.parametrize(
    ("mounting", "yaw", "x", "y"),
    [
        ((1, 2, 3), 3.0, 1.5, -2.5),
        ((2, -1, 3), 3.0, -2.5, -1.5),  # turned by a quarter
        ((1, -2, -3), -3.0, 1.5, 2.5),  # on its head
        ((3, 2, -1), 1.0, 9.0, -2.5),  # on its side
    ],
)
def test_motion_is_told_along_the_cars_axes(kind, mounting, yaw, x, y):
    peer, imu = imu_of(kind, mounting)
    peer.accel_m_s2 = [1.5, -2.5, 9.0]
    peer.rate_rad_s = [-1.0, 2.0, 3.0]
    imu.step(1000)
    assert abs(imu.yaw_rate_mrad_s - yaw * 1000) <= 3
    assert abs(imu.accel_x_mm_s2 - x * 1000) <= 12
    assert abs(imu.accel_y_mm_s2 - y * 1000) <= 12
    assert imu.freshness.is_fresh


class Bus:
    """A bus whose sensor says ``words``, the higher byte of each first."""

    def __init__(self, words):
        self._words = words

    def readfrom_mem_into(self, address, register, data):
        struct.pack_into(">6h", data, 0, *self._words)


@pytest.mark.parametrize("mounting", [(1, 2, 3), (2, -1, 3), (1, -2, -3), (-3, 2, 1), (3, 1, 2)])
def test_every_reading_is_scaled_and_rounded_along_its_axis(mounting):
    words = (-32_768, 32_767, -1, 0, 1, 255, 256, -256, -255, 21_555)
    for turn in range(len(words)):
        said = [words[(turn + 3 * i) % len(words)] for i in range(6)]
        scales = ((0, 1, 23_942, 5_000, 10_000), (6, 1, 10, 4, 9))
        imu = I2cImu(Bus(said), 1, Mounting(*mounting), SILENCE_US, 0, 12, *scales)
        imu.step(0)
        x, y, yaw = (
            said[first + abs(axis) - 1] * (1 if axis > 0 else -1)
            for first, axis in zip((0, 0, 3), mounting, strict=True)
        )
        assert imu.accel_x_mm_s2 == math.floor((x * 23_942 + 5_000) / 10_000)
        assert imu.accel_y_mm_s2 == math.floor((y * 23_942 + 5_000) / 10_000)
        assert imu.yaw_rate_mrad_s == math.floor((yaw * 10 + 4) / 9)


@KINDS
def test_the_ends_of_the_range_are_right(kind):
    peer, imu = imu_of(kind)
    peer.rate_rad_s = [0, 0, -100.0]
    imu.step(0)
    assert imu.yaw_rate_mrad_s == (-17_436 if kind is Mpu else -36_409)


@KINDS
def test_a_bus_that_fails_is_counted_and_silence_follows(kind):
    peer, imu = imu_of(kind)
    imu.step(0)
    peer.fails = 4
    for now_us in (10_000, 20_000, 30_000):
        imu.step(now_us)
        assert imu.freshness.is_fresh
    imu.step(40_000)
    assert not imu.freshness.is_fresh
    assert imu.errors == 4
    imu.step(50_000)
    assert imu.freshness.is_fresh


@KINDS
def test_a_sensor_that_repeats_itself_is_dead(kind):
    peer, imu = imu_of(kind)
    imu.step(0)
    assert not imu.is_frozen
    peer.is_dead = True
    for now_us in range(10_000, 1_000_000, 10_000):
        imu.step(now_us)
    assert imu.is_frozen
    assert not imu.freshness.is_fresh
    peer.is_dead = False
    imu.step(1_000_000)
    assert (imu.is_frozen, imu.freshness.is_fresh) == (False, True)


@pytest.mark.parametrize("identity", [0x68, 0x70, 0x71, 0x73])
def test_the_mpus_kin_is_known(identity):
    Mpu(bus_with(MpuPeer(identity), 0x68), 0x68, Mounting(*FLAT), SILENCE_US, sleep_ms)


@KINDS
def test_before_it_was_read_it_tells_nothing(kind):
    _, imu = imu_of(kind)
    assert (imu.yaw_rate_mrad_s, imu.accel_x_mm_s2, imu.accel_y_mm_s2) == (0, 0, 0)
    assert not imu.freshness.is_fresh


def test_the_mpu_is_set_up_from_its_reset_state():
    peer, _ = imu_of(Mpu)
    assert peer.has_been_reset
    settings = {at: peer.registers[at] for at in (0x6B, 0x19, 0x1A, 0x1B, 0x1C)}
    assert settings == {0x6B: 1, 0x19: 4, 0x1A: 3, 0x1B: 0x10, 0x1C: 0x10}


def test_the_bno055_is_set_to_rad_m_s2_and_its_imu_mode():
    peer, _ = imu_of(Bno055)
    assert (peer.registers[0x3B], peer.registers[0x3D]) == (0x02, 0x08)


def test_a_bno055_has_20_ms_for_each_change_of_its_mode():
    """Its sheet says 19 ms; what is written sooner is lost."""
    slept = []

    def sleeps_ms(ms):
        slept.append(ms)
        sleep_ms(ms)

    Bno055(bus_with(BnoPeer(), 0x28), 0x28, Mounting(*FLAT), SILENCE_US, sleeps_ms)
    assert slept == [20, 20, 20]


@KINDS
def test_another_part_is_refused_by_what_it_says(kind):
    peer = (MpuPeer if kind is Mpu else BnoPeer)()
    peer.registers[0x75 if kind is Mpu else 0] = 0x19
    with pytest.raises(ValueError, match="0x19"):
        kind(bus_with(peer, 0x68), 0x68, Mounting(*FLAT), SILENCE_US, sleep_ms)


@KINDS
def test_nobody_at_the_address_is_an_error_of_the_bus(kind):
    i2c = machine.I2C(0, scl=machine.Pin(1), sda=machine.Pin(0))
    with pytest.raises(OSError, match="5"):
        kind(i2c, 0x68, Mounting(*FLAT), SILENCE_US, sleep_ms)


@pytest.mark.parametrize(("kind", "register"), [(Mpu, 0x1B), (Bno055, 0x3D)])
def test_a_sensor_that_does_not_keep_its_settings_is_refused(kind, register):
    peer = (MpuPeer if kind is Mpu else BnoPeer)()
    write = peer.write
    peer.write = lambda at, data: write(at, data if at != register else b"\0")
    with pytest.raises(ValueError, match="power it anew"):
        kind(bus_with(peer, 0x68), 0x68, Mounting(*FLAT), SILENCE_US, sleep_ms)


def is_right_handed(axes):
    """Forward times left is up, by the cross product."""
    forward, left, up = (
        [(abs(axis) == n) * (1 if axis > 0 else -1) for n in (1, 2, 3)] for axis in axes
    )
    cross = [
        forward[1] * left[2] - forward[2] * left[1],
        forward[2] * left[0] - forward[0] * left[2],
        forward[0] * left[1] - forward[1] * left[0],
    ]
    return cross == up and any(up)


def test_of_all_mountings_exactly_the_right_handed_ones_are_taken():
    taken = 0
    for axes in itertools.product(range(-4, 5), repeat=3):
        if is_right_handed(axes):
            Mounting(*axes)
            taken += 1
        else:
            with pytest.raises(ValueError, match="right-handed"):
                Mounting(*axes)
    assert taken == 24


def test_along_an_axis_is_its_reading_or_the_opposite():
    mounting = Mounting(2, -1, 3)
    assert [mounting.along(axis) for axis in (1, 2, 3)] == [0, 0, 0]
    mounting.raw[0], mounting.raw[1], mounting.raw[2] = 10, -20, 30
    assert [mounting.along(axis) for axis in (2, -1, 3, -3)] == [-20, -10, 30, -30]


def test_a_sensor_is_frozen_after_as_many_readings_in_a_row_and_any_byte_wakes_it():
    stillness = Stillness(4, 3)
    assert not stillness.is_frozen
    data = bytearray(b"\1\2\3\4")
    frozen = []
    for at in (0, None, None, None, None, 3, None, None, 0, None, None, None):
        if at is not None:
            data[at] ^= 0x80
        stillness.take(data)
        frozen.append(stillness.is_frozen)
    assert frozen == [False] * 3 + [True] * 2 + [False] * 6 + [True]


# --- BNO08x, RVC -----------------------------------------------------------------------------


def rvc(up=3):
    wire = Wire()
    mounting = Mounting(1, 2, 3) if up == 3 else Mounting(1, -2, -3)
    return Bno08xRvc(wire, mounting, SILENCE_US), wire


@pytest.mark.parametrize(("up", "sign"), [(3, 1), (-3, -1)])
@pytest.mark.parametrize("rate_deg_s", [-200, 0, 90])
@pytest.mark.parametrize("start_deg", [0.0, 179.5, -179.5])
def test_a_rate_is_made_of_two_yaws_across_the_turn(up, sign, rate_deg_s, start_deg):
    imu, wire = rvc(up)
    for n in range(250, 260):
        yaw = (start_deg + (n - 250) * rate_deg_s / 100 + 180) % 360 - 180
        wire.incoming += rvc_frame(n, yaw, (100, -200, 1000))
        imu.step((n - 250) * 10_000)
    assert abs(imu.yaw_rate_mrad_s - sign * rate_deg_s * 17.4533) <= 20
    assert (imu.accel_x_mm_s2, imu.accel_y_mm_s2) == (980, sign * -1962 + (sign < 0) * -1)
    assert imu.freshness.is_fresh


def test_missed_frames_do_not_change_the_rate():
    imu, wire = rvc()
    for n in (0, 1, 2, 5, 9):
        wire.incoming += rvc_frame(n, n * 1.0, (0, 0, 1000))
        imu.step(n * 10_000)
        assert n == 0 or abs(imu.yaw_rate_mrad_s - 1745) <= 1


def test_a_frame_that_comes_twice_changes_nothing():
    imu, wire = rvc()
    for n, yaw in ((0, 0.0), (1, 1.0), (1, 1.0)):
        wire.incoming += rvc_frame(n, yaw, (0, 0, 1000))
    imu.step(0)
    assert (imu.frames, imu.yaw_rate_mrad_s) == (3, 1745)


@pytest.mark.parametrize("at", range(2, 19))
def test_a_damaged_byte_is_refused_wherever_it_is(at):
    imu, wire = rvc()
    frame = bytearray(rvc_frame(5, 10.0, (1, 2, 3)))
    frame[at] ^= 0x01
    wire.incoming += frame
    imu.step(0)
    assert imu.frames == 0
    assert imu.yaw_rate_mrad_s == 0
    assert not imu.freshness.is_fresh


def test_over_a_bad_line_the_rate_stays_right():
    imu, _ = rvc()
    frames = [rvc_frame(n, (n * 0.5 + 180) % 360 - 180, (0, 0, 1000)) for n in range(1000)]
    stream, whole = bad_line(frames, seed=2)
    rates = set()
    for piece in torn(stream, seed=2):
        imu.feed(bytearray(piece), len(piece))
        if imu.frames > 2:
            rates.add(imu.yaw_rate_mrad_s)
    assert imu.frames >= len(whole)
    assert imu.dropped > 300
    wrong = [rate for rate in rates if abs(rate - 873) > 2]
    assert len(wrong) <= 4  # a sum of one byte lets one of 256 damaged frames pass


def test_an_rvc_sensor_on_its_side_is_refused():
    with pytest.raises(ValueError, match="flat"):
        Bno08xRvc(Wire(), Mounting(3, 2, -1), SILENCE_US)
