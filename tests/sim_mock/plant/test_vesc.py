"""What a VESC makes of its board's pulses, with a real motor behind it."""

import pytest

from host_bridge.config import load_vehicle
from sim_mock.plant.motor import Motor
from sim_mock.plant.vesc import VescModel, VescParameters
from sim_mock.world import plant_of

DT_S = 1e-3
NEUTRAL, FORWARD, REVERSE = 1_500_000, 1_750_000, 1_250_000  # half of the way
N_PER_A = 0.002728 * 14.0 / 0.058  # the vehicle file's motor and gear


class Bench:
    """A VESC and a motor whose rim turns at a speed that the test sets."""

    def __init__(self):
        p = plant_of(load_vehicle("f1tenth_vesc"), 1).parameters
        assert isinstance(p.esc, VescParameters)
        self.vesc = VescModel(p.esc)
        self.motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
        self.rim_mps = 0.0

    def see(self, pulse_ns, seconds=0.01, enable=True):
        for _ in range(round(seconds / DT_S)):
            self.vesc.step(DT_S, pulse_ns, enable, self.motor, self.rim_mps)
        return self.motor.push_n - self.motor.damping_n_per_mps * self.rim_mps


def test_it_drives_at_once_by_a_duty():
    bench = Bench()
    assert bench.see(FORWARD) > 0.0
    assert bench.motor.duty == 0.475  # half of 0.95


def test_a_duty_holds_the_wheels_in_both_directions():
    bench = Bench()
    bench.rim_mps = 20.0  # faster than the duty's
    assert bench.see(FORWARD) < 0.0


def test_neutral_lets_go():
    bench = Bench()
    bench.rim_mps = 3.0
    assert bench.see(NEUTRAL) == 0.0


@pytest.mark.parametrize("rim_mps", [2.0, 5.0, 8.0])
def test_it_brakes_with_a_current_that_is_the_same_at_any_speed(rim_mps):
    bench = Bench()
    bench.rim_mps = rim_mps
    assert bench.see(REVERSE) == pytest.approx(-20.0 * N_PER_A)  # half of 40 A


def test_its_brake_never_turns_the_wheels_round():
    bench = Bench()
    bench.rim_mps = 2.0
    bench.see(REVERSE)
    for rim_mps in (0.1, 0.01, 0.0):
        bench.rim_mps = rim_mps
        assert bench.see(REVERSE, 1.0) <= 0.0
        assert bench.motor.duty == 0.0
    assert bench.see(REVERSE, 1.0) == 0.0


def test_it_drives_backward_once_it_was_let_go_at_rest():
    bench = Bench()
    assert bench.see(REVERSE) == 0.0
    bench.see(NEUTRAL)
    assert bench.see(REVERSE) < 0.0
    bench.rim_mps = -1.0
    assert bench.see(FORWARD) > 0.0
    assert bench.motor.duty == 0.0  # a brake


@pytest.mark.parametrize(
    ("pulse_ns", "enable", "seconds"), [(0, True, 0.12), (FORWARD, False, 0.01)]
)
def test_silence_and_its_kill_switch_brake(pulse_ns, enable, seconds):
    bench = Bench()
    bench.rim_mps = 3.0
    bench.see(FORWARD)
    assert bench.see(pulse_ns, seconds, enable) == pytest.approx(-20.0 * N_PER_A)
    assert bench.see(FORWARD) > 0.0


def test_a_moment_of_silence_is_none():
    bench = Bench()
    bench.see(FORWARD)
    assert bench.see(0, 0.09) > 0.0
