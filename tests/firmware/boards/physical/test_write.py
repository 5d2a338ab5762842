"""What a board of metal puts out on a step while its guard gates, and while it does not."""

import bench as bench_module
import machine
import pytest

from firmware.boards.physical.channels import KEPT
from firmware.boards.physical.vesc_drive import VescDrive
from tests.firmware.boards.physical.test_physical_board import car_with

bench = bench_module.bench
STEER_NS, DRIVE_NS, NEUTRAL_NS = 1_600_000, 1_900_000, 1_500_000
BEAT_US = 10_000


class Car:
    """A board whose program is the test: it looks, and writes, on each beat."""

    def __init__(self, tmp_path):
        self.car = car_with(tmp_path)
        self.board = self.car.board
        self.seen = []  # pulses, on each millisecond
        fallbacks = [KEPT, NEUTRAL_NS] + [0] * 6
        self.board.begin(fallbacks, BEAT_US)
        self.is_gated_by = self.board._guard_timer.guard

    def step(self, enable, steps=1):
        for _ in range(steps):
            self.board.read(bench.now_us)
            self.board.write([STEER_NS, DRIVE_NS, 0, 0, 0, 0, 0, 0], enable, 0)
            for _ in range(0, BEAT_US, 1000):
                self.car.advance(bench.now_us + 1000, 0)
                self.seen.append(self.pulses())

    def hang(self):
        self.car.advance(bench.now_us + 60_000, 0)
        assert self.is_gated_by.is_gating

    def pulses(self):
        """Steering and drive, as their pins have them, to a tick of what makes them."""
        return [round(self.car.value(row), -3) for row in self.car.pins.CHANNELS[:2]]


@pytest.fixture
def car(tmp_path):
    car = Car(tmp_path)
    car.step(False, 3)
    car.step(True, 3)
    assert car.pulses() == [STEER_NS, DRIVE_NS]
    return car


def test_while_the_guard_gates_the_drive_has_its_fallback_and_the_steering_what_was_written(car):
    car.hang()
    car.step(True, 2)  # a period of its pulses
    car.seen.clear()
    car.step(True, 8)
    assert {tuple(pulses) for pulses in car.seen} == {(STEER_NS, NEUTRAL_NS)}
    car.step(False)
    assert not car.is_gated_by.is_gating  # it has seen it, with the drive off
    car.step(True, 3)
    assert car.pulses() == [STEER_NS, DRIVE_NS]


def test_the_guard_lets_go_where_no_interrupt_may_come_in_between_and_takes_its_time_else(car):
    writes = []
    write = car.board._guard_timer.write

    def watched(enable):
        writes.append((enable, bench.are_interrupts_on))
        return write(enable)

    car.board._guard_timer.write = watched
    car.hang()
    car.step(True)
    car.step(False)
    assert writes == [(True, True), (False, False)]
    assert bench.are_interrupts_on


def test_a_vesc_is_let_drive_only_while_the_guard_does_not_gate(car):
    car.board.vesc = vesc = VescDrive(machine.UART(1, 115_200), 9000, 20_000)
    vesc.timeout_ms = 7  # what it did at the last stop, until it may drive again
    car.hang()
    car.step(True)
    assert vesc.timeout_ms == 7
    car.step(False, 2)
    car.step(True)
    assert vesc.timeout_ms == 0


def test_what_falls_in_the_middle_of_a_write_is_ended_with_it_and_not_a_tick_later(car):
    drive = car.board._channels[1]
    write = drive.write

    def interrupted(value):
        bench.level(car.car.pins.RUNSTOP, 0)
        car.car.advance(bench.now_us + 1000, 0)
        assert car.is_gated_by.is_gating
        assert drive.read_back() == NEUTRAL_NS
        write(value)

    drive.write = interrupted
    car.board.write([STEER_NS, DRIVE_NS, 0, 0, 0, 0, 0, 0], True, 0)
    assert drive.read_back() == NEUTRAL_NS
