"""Steering: no further than lock and speed allow, no faster than the servo, by its curve."""

import pytest

from firmware.core.motion.limits import SteeringEnvelope
from firmware.core.motion.steering import Steering
from firmware.core.settings.params import CHANNELS, CURVE_POINTS
from tests.firmware.core.desk import params_with

LOCK_URAD = 400_000
RIGHT, LEFT = 1_000_000, 1_800_000
CURVE = [RIGHT + 100_000 * i for i in range(CURVE_POINTS)]
OTHER = [2_000_000 - 50_000 * i for i in range(CURVE_POINTS)]
LAST = CHANNELS - 1
GIVEN = {
    "steer_max_urad": LOCK_URAD, "steer_rate_urad_s": 1_000_000, "lateral_accel_mm_s2": 5_000,
    "wheelbase_um": 500_000, "speed_max_mm_s": 8000, "reverse_max_mm_s": 700,
    "channel_curve": CURVE + [0] * (LAST - 1) * CURVE_POINTS + OTHER,
}  # fmt: skip


def steering(**values) -> Steering:
    made = Steering()
    made.configure(params_with(**{**GIVEN, **values}))
    return made


def turned(made: Steering, target_urad: int, speed_mm_s: int = 0) -> int:
    """Where it ends."""
    for _ in range(100):
        made.step(target_urad, speed_mm_s, 10)
    return made.steer_urad


def test_it_begins_straight_ahead_and_goes_no_faster_than_its_rate():
    made = steering()
    assert made.steer_urad == 0
    made.step(50_000, 0, 10)
    assert made.steer_urad == 10_000
    made.step(50_000, 0, 25)
    assert made.steer_urad == 35_000
    made.step(-50_000, 0, 10)
    assert made.steer_urad == 25_000


@pytest.mark.parametrize("sign", [1, -1])
def test_it_ends_at_the_lock_at_rest_and_sooner_the_faster_it_goes(sign):
    made = steering()
    assert turned(made, sign * 900_000) == sign * LOCK_URAD
    assert turned(made, sign * 300_000) == sign * 300_000
    envelope = SteeringEnvelope()
    envelope.configure(params_with(**GIVEN))
    allowed = envelope.limit_urad(4000)
    assert 100_000 < allowed < 200_000
    assert turned(made, sign * 900_000, 4000) == sign * allowed
    assert turned(made, sign * 900_000, -4000) == sign * allowed


@pytest.mark.parametrize(
    ("urad", "channel", "pulse_ns"),
    [
        (-LOCK_URAD, 0, RIGHT), (0, 0, 1_400_000), (LOCK_URAD, 0, LEFT), (100_000, 0, 1_500_000),
        (-LOCK_URAD, LAST, 2_000_000), (0, LAST, 1_800_000), (LOCK_URAD, LAST, 1_600_000),
    ],
)  # fmt: skip
def test_each_servo_is_told_by_its_own_curve(urad, channel, pulse_ns):
    made = steering()
    turned(made, urad)
    assert made.pulse_ns(channel) == pulse_ns


def test_of_a_lock_that_is_no_multiple_of_its_points_the_last_one_lies_at_it_or_beyond():
    made = steering(steer_max_urad=LOCK_URAD + 1)
    turned(made, -LOCK_URAD - 1)
    assert made.pulse_ns(0) == RIGHT
    turned(made, LOCK_URAD + 1)
    assert LEFT - 100 <= made.pulse_ns(0) <= LEFT


def test_before_it_is_configured_it_stands_straight_ahead():
    made = Steering()
    made.step(1000, 0, 10)
    assert made.steer_urad == 0
