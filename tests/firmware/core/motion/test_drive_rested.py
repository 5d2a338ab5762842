"""S1: wheels that have stood are not braked: to an ESC that is reverse, and an encoder may lie."""

import pytest

from tests.firmware.core.motion.test_drive import DT_MS, STEP_US, TURNS_AT_ONCE, Bench

RESTED_STEPS = 10  # a tenth of a second
SIGNS = pytest.mark.parametrize("sign", [1, -1])


class Braked(Bench):
    def brake(self, speed: int, steps=1) -> int:
        for _ in range(steps):
            self.now_us += STEP_US
            self.drive.brake(speed, True, self.now_us, DT_MS)
        return self.drive.effort

    def came_to_rest(self, sign=1, steps=RESTED_STEPS) -> "Braked":
        """Driven, and then braked until it stands."""
        self.settled(1000 * sign, 1000 * sign)
        self.brake(1000 * sign)
        self.brake(30 * sign, steps)
        return self


@SIGNS
@pytest.mark.parametrize("seems", [400, -400])
def test_who_holds_is_not_driven_by_wheels_that_seem_to_turn(sign, seems):
    bench = Braked(**TURNS_AT_ONCE).came_to_rest(sign)
    for _ in range(20):
        assert bench.brake(seems) == 0
    assert bench.drive.target_mm_s == 0


@SIGNS
@pytest.mark.parametrize("seems", [400, -400])
def test_nor_is_who_asks_for_standstill(sign, seems):
    bench = Braked(**TURNS_AT_ONCE, gain_per_m=1000).came_to_rest(sign)
    for _ in range(20):
        assert bench.follow(0, seems) == 0
    assert bench.drive._integral == 0


def test_wheels_that_seem_to_turn_faster_than_is_asked_for_are_not_braked_before_they_were_driven():
    bench = Braked().came_to_rest()
    assert bench.settled(300, 2000) == 0
    assert bench.settled(300, 300) > 0
    assert bench.settled(300, 2000) < 0


@SIGNS
def test_wheels_that_stood_for_less_have_only_locked_and_are_braked_again(sign):
    bench = Braked(**TURNS_AT_ONCE).came_to_rest(sign, RESTED_STEPS - 1)
    assert bench.brake(900 * sign, 5) * sign < 0
    bench.brake(0, RESTED_STEPS - 1)  # the time counts from where they stood last
    assert bench.brake(900 * sign, 5) * sign < 0
    bench.brake(0, RESTED_STEPS)
    assert bench.brake(900 * sign, 5) == 0


@SIGNS
@pytest.mark.parametrize("speed", [31, 900])
def test_what_rolls_has_not_rested_however_long(sign, speed):
    bench = Braked(**TURNS_AT_ONCE).came_to_rest(sign, 0)
    assert bench.brake(speed * sign, 50) * sign < 0


@SIGNS
def test_once_driven_it_is_braked_again(sign):
    bench = Braked(**TURNS_AT_ONCE).came_to_rest(sign)
    bench.settled(1000 * sign, 900 * sign)
    assert bench.brake(1000 * sign, 2) * sign < 0


def test_whoever_lets_it_roll_has_to_drive_it_before_it_brakes():
    bench = Braked().came_to_rest(steps=0)
    bench.drive.neutral(bench.now_us)
    assert bench.brake(900) == 0
    assert bench.follow(0, 900) == 0
    bench.settled(1000, 900)
    assert bench.brake(1000, 2) < 0


def test_a_step_of_another_length_rests_as_long():
    bench = Braked()
    bench.settled(1000, 1000)
    for _ in range(4):
        bench.drive.brake(0, True, bench.now_us, 20)
    assert bench.brake(900, 2) < 0
    for _ in range(5):
        bench.drive.brake(0, True, bench.now_us, 20)
    assert bench.brake(900, 2) == 0


def test_not_quite_a_tenth_of_a_second_is_no_rest():
    bench = Braked()
    bench.settled(1000, 1000)
    for _ in range(3):
        bench.drive.brake(0, True, bench.now_us, 33)
    assert bench.brake(900) < 0


def stand(bench: Braked, ms: int) -> None:
    bench.drive.brake(0, True, bench.now_us, ms)


@pytest.mark.parametrize("rolls_steps", [1, 2])
def test_a_tenth_of_a_second_is_no_less(rolls_steps):
    """From the last step that drove, or that rolled."""
    bench = Braked()
    bench.settled(1000, 1000)
    bench.brake(900, rolls_steps)
    stand(bench, 99)
    assert bench.brake(900, 2) < 0
    stand(bench, 99)
    stand(bench, 1)
    assert bench.brake(900, 2) == 0


def test_the_least_effort_has_driven():
    bench = Braked().came_to_rest()
    bench.drive.effort = 1
    assert bench.brake(900, 2) < 0
