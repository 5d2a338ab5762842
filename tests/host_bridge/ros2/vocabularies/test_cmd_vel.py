"""A twist drives a car: what it can obey, what it refuses, and what it says of the rest."""

from __future__ import annotations

from math import atan, inf, isclose, nan, tan
from pathlib import Path
from types import SimpleNamespace

import pytest

from host_bridge.config import load_vehicle
from host_bridge.ros2.node.mux import Mux
from host_bridge.ros2.vocabularies.cmd_vel import vocabulary as shipped
from host_bridge.ros2.vocabularies.cmd_vel.vocabulary import CMD_VEL, CMD_VEL_STAMPED
from tests.host_bridge.page_example import blocks

PAGE = Path(__file__).parents[4] / "host_bridge" / "ros2" / "vocabularies" / "README.md"
NOW_US = 1_000_000


def twist_of(speed_mps: float, yaw_rate_radps: float, aside_mps: float = 0.0) -> SimpleNamespace:
    linear = SimpleNamespace(x=speed_mps, y=aside_mps)
    return SimpleNamespace(linear=linear, angular=SimpleNamespace(z=yaw_rate_radps))


class Heard:
    """One adapter, and the row of the mux that it fills."""

    def __init__(self, vehicle: str = "f1tenth", vocabulary=CMD_VEL) -> None:
        self.adapter = vocabulary.adapter()
        self.adapter.begin(None, None, load_vehicle(vehicle))
        self.source = Mux(vocabulary.mux, 0.12).sources["cmd_vel"]
        (self.subscription,) = vocabulary.subscriptions

    def hear(self, message) -> tuple[float, float] | None:
        assert self.adapter.on_message(self.subscription, self.source, message, NOW_US, NOW_US)
        latest = self.source.latest
        return latest and (latest.speed_mps, latest.steer_rad)


@pytest.mark.parametrize(
    ("speed_mps", "yaw_rate_radps"), [(1.0, 0.5), (2.0, -1.0), (-0.5, 0.3), (0.7, 0.0)]
)
def test_a_twist_is_a_speed_and_the_angle_that_makes_its_turn(speed_mps, yaw_rate_radps):
    found = Heard().hear(twist_of(speed_mps, yaw_rate_radps))
    assert found is not None
    assert found[0] == speed_mps
    assert isclose(found[0] * tan(found[1]) / 0.33, yaw_rate_radps)


def test_a_car_that_steers_both_axles_turns_twice_as_far():
    nigel = load_vehicle("nigel")
    assert nigel.turns_ahead_m == nigel.wheelbase_m / 2.0
    found = Heard("nigel").hear(twist_of(0.4, 0.8))
    assert found == (0.4, atan(nigel.wheelbase_m / 2.0 * 0.8 / 0.4))


def test_a_stamped_twist_is_the_same_twist():
    stamped = SimpleNamespace(header=None, twist=twist_of(1.0, 0.5))
    heard = Heard(vocabulary=CMD_VEL_STAMPED)
    assert heard.subscription.type == "geometry_msgs/msg/TwistStamped"
    assert heard.hear(stamped) == Heard().hear(twist_of(1.0, 0.5))


def test_a_car_that_is_to_turn_on_the_spot_stands_and_says_so():
    heard = Heard()
    assert heard.hear(twist_of(0.0, 1.0)) == (0.0, 0.0)
    assert "turn on the spot" in heard.adapter.words()
    heard.hear(twist_of(0.5, 1.0))
    assert heard.adapter.words() == ""


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (twist_of(nan, 0.0), "not a number"),
        (twist_of(1.0, inf), "not a number"),
        (twist_of(1.0, 0.0, 0.2), "does not go sideways"),
        (twist_of(1.0, 0.0, nan), "does not go sideways"),
    ],
)
def test_what_a_car_cannot_is_refused(message, why):
    heard = Heard()
    assert heard.hear(message) is None
    assert why in heard.source.why_refused
    assert heard.source.refused == 1


@pytest.mark.parametrize("vocabulary", [CMD_VEL, CMD_VEL_STAMPED], ids=lambda it: it.name)
def test_no_command_topic_is_published(vocabulary):
    heard = {it.topic for it in vocabulary.subscriptions}
    assert heard == {"cmd_vel"}
    assert not heard & {it.topic for it in vocabulary.publications}


def test_the_page_s_example_is_what_is_shipped():
    (code,) = blocks(PAGE, "python")
    body = code[code.index("class CmdVelAdapter") :].rpartition("NAV2 = ")[0]
    assert body
    assert Path(shipped.__file__).read_text(encoding="utf-8").endswith(body)
