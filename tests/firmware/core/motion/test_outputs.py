"""S8, S11: what goes to each channel, within its range, and whether it came out."""

import pytest

from firmware.core.motion.outputs import OutputStage
from tests.firmware.core.desk import params_with

NONE, SERVO, ESC, H_BRIDGE, BRAKE, LEVEL = range(6)
LIGHTS, AUX_1 = 3, 4
MS = 1_000_000  # ns
KINDS = [NONE, SERVO, ESC, H_BRIDGE, BRAKE, BRAKE, LEVEL, LEVEL]
LOWS = [0, 1 * MS, 1 * MS, -8000, 1 * MS, 1 * MS, 0, 1 * MS]
NEUTRALS = [0, 1_500_000, 1_400_000, 0, 1 * MS, 1_800_000, 0, 1_200_000]
HIGHS = [0, 2 * MS, 2 * MS, 8000, 2 * MS, 2 * MS, 10_000, 1_300_000]
SERVO_AT, ESC_AT, BRIDGE_AT, BRAKE_AT, BACK_AT, LIGHTS_AT, AUX_AT = range(1, 8)


class Straight:
    """A steering whose pulse is set by hand."""

    def __init__(self, pulse_ns: int = 1_600_000) -> None:
        self.given_ns = pulse_ns

    def pulse_ns(self, channel: int) -> int:
        return self.given_ns + channel


def stage(**values) -> OutputStage:
    made = OutputStage()
    given = {
        "channel_kind": KINDS, "channel_low": LOWS, "channel_neutral": NEUTRALS,
        "channel_high": HIGHS, "channel_actuator": [0] * 6 + [LIGHTS, AUX_1],
    }  # fmt: skip
    made.configure(params_with(**{**given, **values}))
    return made


def put(effort=0, brake=0, steering=None, **levels) -> list[int]:
    made = stage()
    for actuator, level in levels.items():
        made.levels[{"lights": LIGHTS, "aux_1": AUX_1}[actuator]] = level
    made.step(effort, brake, steering or Straight())
    return made.values


# --- at first


def test_before_it_is_configured_there_is_nothing_to_put_out():
    made = OutputStage()
    assert (made.values, made.fallbacks, made.levels) == ([0] * 8, [0] * 8, [0] * 8)
    assert made.differs is False
    made.verify([9] * 8, True)
    made.step(5000, 255, Straight())
    assert made.values == [0] * 8


def test_it_begins_in_neutral_and_falls_back_to_it_but_servos_stay_and_brakes_are_put_on():
    made = stage()
    assert made.values == NEUTRALS
    assert made.fallbacks == [0, -1, 1_400_000, 0, 2 * MS, 1 * MS, 0, 1_200_000]


# --- by kind


def test_a_channel_that_is_not_there_stays_at_nothing():
    assert put(10_000, 255, lights=255, aux_1=255)[0] == 0


@pytest.mark.parametrize(
    ("asked_ns", "pulse_ns"),
    [(1_600_000, 1_600_001), (1 * MS - 1, 1 * MS), (0, 1 * MS), (3 * MS, 2 * MS)],
)
def test_a_servo_follows_the_steering_within_its_range(asked_ns, pulse_ns):
    assert put(steering=Straight(asked_ns))[SERVO_AT] == pulse_ns


@pytest.mark.parametrize(
    ("effort", "pulse_ns"),
    [(0, 1_400_000), (1, 1_400_060), (5000, 1_700_000), (10_000, 2 * MS), (20_000, 2 * MS),
     (-1, 1_399_960), (-5000, 1_200_000), (-10_000, 1 * MS), (-20_000, 1 * MS)],
)  # fmt: skip
def test_an_esc_has_the_effort_of_each_way_in_its_own_range(effort, pulse_ns):
    assert put(effort)[ESC_AT] == pulse_ns


@pytest.mark.parametrize(
    ("effort", "duty"), [(0, 0), (5000, 4000), (10_000, 8000), (20_000, 8000), (-5000, -4000),
                         (-10_000, -8000), (-20_000, -8000)],
)  # fmt: skip
def test_an_h_bridge_has_the_effort_in_its_range(effort, duty):
    assert put(effort)[BRIDGE_AT] == duty


@pytest.mark.parametrize(
    ("brake", "up_ns", "down_ns"),
    [(0, 1 * MS, 1_800_000), (51, 1_200_000, 1_640_000), (255, 2 * MS, 1 * MS)],
)
def test_a_brake_pulls_from_neutral_to_the_end_that_is_further_away(brake, up_ns, down_ns):
    values = put(brake=brake)
    assert (values[BRAKE_AT], values[BACK_AT]) == (up_ns, down_ns)


def test_a_brake_with_neutral_in_the_middle_pulls_up():
    made = stage(channel_neutral=[*NEUTRALS[:4], 1_500_000])
    made.step(0, 255, Straight())
    assert made.values[BRAKE_AT] == 2 * MS


def test_a_level_is_of_its_own_actuator():
    values = put(lights=51, aux_1=255)
    assert (values[LIGHTS_AT], values[AUX_AT]) == (2000, 1 * MS)
    assert put(effort=9000, brake=255)[LIGHTS_AT:] == [0, 1_200_000]


def test_a_car_knows_whether_it_has_a_brake():
    assert stage().has_brake()
    assert stage(channel_kind=[BRAKE, NONE, NONE, NONE, NONE, NONE]).has_brake()
    assert not stage(channel_kind=[SERVO, ESC, H_BRIDGE, NONE, LEVEL, NONE]).has_brake()


# --- read back


def read_back(made: OutputStage, channel: int, away: int, enable=True, steps=2) -> bool:
    """Whether it differs after so many steps of a channel that is so much away."""
    seen = list(made.values)
    seen[channel] += away
    for _ in range(steps):
        made.verify(seen, enable)
    return made.differs


@pytest.mark.parametrize("channel", [SERVO_AT, ESC_AT, BRAKE_AT, BACK_AT, LIGHTS_AT, AUX_AT])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_pulse_that_is_away_by_more_than_five_microseconds_on_two_steps_differs(channel, sign):
    assert not read_back(stage(), channel, 5_000 * sign)
    assert not read_back(stage(), channel, 5_001 * sign, steps=1)
    assert read_back(stage(), channel, 5_001 * sign)
    assert read_back(stage(), channel, 5_001 * sign, steps=9)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_duty_that_is_away_by_more_than_a_hundredth_differs(sign):
    assert not read_back(stage(), BRIDGE_AT, 100 * sign)
    assert read_back(stage(), BRIDGE_AT, 101 * sign)


@pytest.mark.parametrize("channel", [ESC_AT, BRIDGE_AT, BRAKE_AT])
def test_a_drive_or_a_brake_that_is_not_enabled_may_be_at_its_fallback(channel):
    assert not read_back(stage(), channel, 300_000, enable=False)


@pytest.mark.parametrize("channel", [SERVO_AT, LIGHTS_AT])
def test_what_does_not_drive_is_verified_always(channel):
    assert read_back(stage(), channel, 300_000, enable=False)


def test_a_channel_that_is_not_there_is_not_verified():
    assert not read_back(stage(), 0, 300_000)


def test_one_step_away_is_a_gate_that_fell_between_two_reads():
    made = stage()
    for _ in range(5):
        assert not read_back(made, ESC_AT, 50_000, steps=1)
        assert not read_back(made, ESC_AT, 0, steps=1)


def test_two_steps_are_two_whatever_was_before():
    made = stage()
    assert not read_back(made, ESC_AT, 0, steps=5)
    assert read_back(made, ESC_AT, 50_000, steps=2)


def test_what_came_back_differs_no_longer():
    made = stage()
    assert read_back(made, ESC_AT, 50_000, steps=9)
    assert not read_back(made, ESC_AT, 0, steps=1)
    assert not read_back(made, ESC_AT, 50_000, steps=1)
