"""A board of metal at its start and between its steps: what waits, is refused, is absent."""

import struct
from types import SimpleNamespace

import bench as bench_module
import pytest

from firmware.boards.between_steps import Entropy
from firmware.boards.physical.board import PhysicalBoard
from firmware.boards.physical.signals import Signals
from firmware.boards.physical.wheels import Side
from firmware.protocol.codes import FAULT
from host_bridge.config.boards import pin_module
from tests.firmware.boards.bench_car import HEAD, BenchCar
from tests.support.evidence import every

bench = bench_module.bench
IDLE = struct.pack(HEAD, 0, 0, 0, 0, 0, 0, 12_000, 0, 0, 0)


def pins_with(*changes):
    text = pin_module("pico", "f1tenth")
    changes += (('LINK = "usb"', 'LINK = "uart"'),)
    changes += (("UARTS = (", 'UARTS = (("link", 0, 0, 1, 921_600),'),)
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    pins = SimpleNamespace()
    exec(text, vars(pins))
    return pins


def car_with(tmp_path, *changes):
    return BenchCar(pins_with(*changes), str(tmp_path), b"\1\2\3\4\5\6\7\x08")


def test_a_port_whose_chip_has_no_sensor_reports_no_temperature():
    assert PhysicalBoard._chip_c(SimpleNamespace()) == 0


def test_outputs_are_safe_and_neutral_before_the_first_step(tmp_path):
    car = car_with(tmp_path)
    reply = struct.unpack_from("<8iB", car.reply())
    assert abs(reply[0] - 1_435_000) < 1000
    assert reply[1] == 0  # no pulse yet, and then the neutral one
    car.advance(25_000, 0)
    assert car.metal.pulses[16].pulse_ns == 1_500_000
    assert reply[8] == 0
    assert car.app.board.board_id == b"\1\2\3\4\5\6\7\x08"


def test_without_a_configuration_it_stays_in_fault_and_neutral(tmp_path):
    car = car_with(tmp_path)
    for _ in range(2000):
        reply = struct.unpack_from("<8iB", car.ms(IDLE))
    assert car.app.supervisor.state == FAULT
    assert abs(reply[1] - 1_500_000) <= 250
    assert reply[8] == 0


def test_it_is_marked_healthy_after_ten_seconds_once_and_not_while_it_may_move(tmp_path):
    car = car_with(tmp_path)
    marked = []
    car.starts.mark_healthy = lambda: marked.append(bench.now_us)
    car.board.mark_healthy()
    car.board.between_steps.run(True)
    assert marked == []
    car.board.between_steps.run(False)
    car.board.between_steps.run(False)
    assert len(marked) == 1
    car = car_with(tmp_path)
    car.starts.mark_healthy = lambda: marked.append(bench.now_us)
    while bench.now_us < 11_000_000:
        car.ms(IDLE)
    assert len(marked) == 2
    assert 10_000_000 <= marked[1] <= 10_050_000


def test_an_imu_that_does_not_answer_is_absent_and_the_car_comes_up(tmp_path):
    car = car_with(tmp_path, ('IMU = ("mpu", 104', 'IMU = ("bno055", 104'))
    for _ in range(50):
        car.ms(IDLE)
    assert car.board.yaw_rate_mrad_s == 0
    assert car.board.battery_mv > 11_000


@pytest.mark.parametrize(("beat_us", "every_steps"), [(10_000, 2), (14_000, 2), (20_000, 1)])
def test_with_a_short_beat_the_imu_is_read_where_what_moves_is_not_reported(
    tmp_path, beat_us, every_steps
):
    car = car_with(tmp_path, ("BEAT_US = 20_000", f"BEAT_US = {beat_us}"))
    steps = []

    def noted(what, of):
        doing = getattr(of, what)

        def noting(*args):
            if what == "step":
                steps.append([])
            steps[-1].append(what)
            return doing(*args)

        setattr(of, what, noting)

    noted("step", car.app)
    noted("read", car.imu)
    noted("_send_motion", car.app.telemetry)
    for _ in range(1000):
        car.ms(IDLE)
    assert len(steps) >= 990_000 // beat_us
    with_imu = [i for i, done in enumerate(steps) if "read" in done]
    assert with_imu == list(range(0, len(steps), every_steps))
    with_motion = [i for i, done in enumerate(steps) if "_send_motion" in done]
    assert len(with_motion) >= len(steps) // 2
    assert every_steps == 1 or not set(with_imu) & set(with_motion)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('("pwm_pulse", 2', '("laser", 2'), "laser"),
        (('"pio_quadrature", 10, 4', '"timer", 1, 10, 11'), "timer"),
        (('RC = ("pulses", (12, 13, 14, 15))', 'RC = ("crsf", (0, 1, 2, 3))'), "rc"),
        (('PORT = "rp2"', 'PORT = "z80"'), "z80"),
    ],
)
def test_a_row_that_the_port_has_not_is_refused_by_name(tmp_path, change, said):
    with pytest.raises((ValueError, AttributeError), match=said):
        car_with(tmp_path, change)


def test_entropy_is_another_each_time_and_a_dry_pool_waits_for_its_refill():
    pool = Entropy()
    drawn = [pool.draw() for _ in range(16)]
    assert len(set(drawn)) == 16
    assert every(0 <= word < 1 << 30 for word in drawn)
    assert pool.draw() == drawn[-1]
    assert pool.refill()
    assert not pool.refill()
    assert pool.draw() != drawn[-1]


class Counter:
    def __init__(self):
        self.count = (1 << 30) - 5

    def read(self, now_us):
        pass


def test_two_counters_of_a_side_are_their_mean_across_the_wrap_and_lose_nothing():
    first, second = Counter(), Counter()
    side = Side((first, second))
    for step in range(100):
        first.count = first.count + 7 & (1 << 30) - 1
        second.count = second.count + (4 if step % 2 else -1) & (1 << 30) - 1
        side.read(step)
    assert side.count == (700 + 150) // 2


class Shown:
    def __init__(self):
        self.last = None

    def step(self, now_us, *what):
        self.last = what


@pytest.mark.parametrize(
    ("count", "effort", "enable", "expected"),
    [
        (50, 1, True, (False, False)),
        (50, 0, True, (True, False)),
        (50, -1, True, (True, True)),
        (-50, -1, True, (False, True)),
        (0, 0, False, (False, False)),
        (50, 0, False, (True, False)),
    ],
)
def test_brake_and_reverse_lights_follow_what_the_car_does(count, effort, enable, expected):
    lights, led, buzzer = Shown(), Shown(), Shown()
    signals = Signals(lights, led, buzzer)
    signals.step(0, count & (1 << 30) - 1, effort, enable, 0b1101)
    assert lights.last[:2] == expected
    assert lights.last[2:] == (1, 3)
