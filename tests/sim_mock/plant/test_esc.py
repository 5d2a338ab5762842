"""What an ESC makes of sequences of pulses, with a real motor behind it."""

import pytest

from sim_mock.plant.esc import Esc
from sim_mock.plant.motor import Motor
from tests.sim_mock.plant.cars import NEUTRAL_NS, f1tenth

DT_S = 1e-3
FORWARD, NEUTRAL, REVERSE = NEUTRAL_NS + 262_500, NEUTRAL_NS, NEUTRAL_NS - 262_500  # half throttle


class Bench:
    """An ESC and a motor whose rim turns at a speed that the test sets."""

    def __init__(self, **changes):
        p = f1tenth(esc=changes)
        self.esc = Esc(p.esc)
        self.motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
        self.rim_mps = 0.0

    def see(self, pulse_ns, seconds, enable=True):
        for _ in range(round(seconds / DT_S)):
            self.esc.step(DT_S, pulse_ns, enable, self.motor, self.rim_mps)
        return self.motor.push_n - self.motor.damping_n_per_mps * self.rim_mps

    def armed(self):
        self.see(NEUTRAL, 0.5)
        return self


def test_it_does_nothing_before_it_has_seen_half_a_second_of_neutral():
    bench = Bench()
    assert bench.see(FORWARD, 5.0) == 0.0
    bench.see(NEUTRAL, 0.499)
    assert bench.see(FORWARD, 0.1) == 0.0
    bench.see(NEUTRAL, 0.5)
    assert bench.see(FORWARD, 0.1) > 0.0


def test_neutral_and_the_dead_band_coast():
    bench = Bench().armed()
    bench.rim_mps = 3.0
    for offset_ns in (0, 25_000, -25_000):
        assert bench.see(NEUTRAL + offset_ns, 0.01) == 0.0
    assert bench.see(NEUTRAL + 400_000, 0.01) > 0.0


def test_it_never_brakes_while_it_drives():
    bench = Bench().armed()
    bench.rim_mps = 15.0  # faster than half throttle
    assert bench.see(FORWARD, 0.1) == 0.0


def test_reverse_after_forward_brakes_in_proportion_and_never_drives_backward():
    bench = Bench().armed()
    bench.rim_mps = 2.0
    bench.see(FORWARD, 0.1)
    half_n = bench.see(REVERSE, 0.1)
    assert half_n < 0.0
    assert bench.see(NEUTRAL_NS - 500_000, 0.1) == pytest.approx(2.0 * half_n)
    bench.rim_mps = 0.0
    assert bench.see(REVERSE, 5.0) == 0.0


def test_reverse_engages_after_neutral_with_the_wheels_still():
    bench = Bench().armed()
    bench.see(FORWARD, 0.1)
    bench.see(REVERSE, 0.1)
    bench.see(NEUTRAL, 0.099)
    assert bench.see(REVERSE, 0.1) == 0.0
    bench.see(NEUTRAL, 0.1)
    assert bench.see(REVERSE, 0.1) < 0.0


def test_neutral_while_rolling_does_not_engage_reverse():
    bench = Bench().armed()
    bench.see(FORWARD, 0.1)
    bench.rim_mps = 1.0
    bench.see(NEUTRAL, 3.0)
    bench.see(REVERSE, 0.1)
    bench.rim_mps = 0.0
    assert bench.see(REVERSE, 0.1) == 0.0


def test_forward_takes_reverse_away_again():
    bench = Bench().armed()
    assert bench.see(REVERSE, 0.1) < 0.0
    assert bench.see(FORWARD, 0.1) > 0.0
    assert bench.see(REVERSE, 0.1) == 0.0


def test_signal_loss_holds_the_throttle_for_its_time_then_coasts():
    bench = Bench(hold_s=0.3).armed()
    before_n = bench.see(FORWARD, 0.1)
    assert bench.see(0, 0.3) == before_n > 0.0
    assert bench.see(0, 0.01) == 0.0
    assert bench.see(FORWARD, 0.01) == before_n


def test_kill_input_is_no_torque_at_once_and_no_new_arming():
    bench = Bench(rearms=False).armed()
    before_n = bench.see(FORWARD, 0.1)
    assert bench.see(FORWARD, 0.001, enable=False) == 0.0
    assert bench.see(FORWARD, 0.001) == before_n > 0.0


def test_cut_supply_wants_neutral_again():
    bench = Bench(rearms=True).armed()
    bench.see(FORWARD, 0.1)
    assert bench.see(FORWARD, 0.001, enable=False) == 0.0
    assert bench.see(FORWARD, 1.0) == 0.0
    bench.armed()
    assert bench.see(FORWARD, 0.1) > 0.0


def test_battery_sags_under_load_and_recovers():
    bench = Bench().armed()
    idle_v = bench.motor.battery_v
    bench.see(NEUTRAL_NS + 500_000, 0.01)
    assert bench.motor.battery_v == pytest.approx(idle_v - 0.015 * 100.0)  # the current limit
    bench.see(NEUTRAL, 0.01)
    assert bench.motor.battery_v == idle_v == pytest.approx(11.8 - 0.015 * 1.5)
