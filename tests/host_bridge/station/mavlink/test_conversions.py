"""Frames and signs against the library's own rotations, and against a drive of the plant."""

from __future__ import annotations

import math

import pytest
from pymavlink.dialects.v20 import development as mavlink
from pymavlink.quaternion import QuaternionBase
from pymavlink.rotmat import Matrix3, Vector3

from host_bridge.station.mavlink.driving.hand import Sticks
from host_bridge.station.mavlink.messages.frames import LocalFrame, Origin, stick
from host_bridge.station.mavlink.messages.parameters import Parameters, short_name
from host_bridge.station.mavlink.messages.statustext import StatusTexts
from tests.host_bridge.drive.drives import vehicle
from tests.support.evidence import holds_for

ANGLES = [math.radians(it) for it in (0, 30, 90, 135, 180, 225, 300)]
# From Tandem's axes (x forward, y left, z up) to MAVLink's body (forward, right, down)
TURNED = Matrix3(Vector3(1, 0, 0), Vector3(0, -1, 0), Vector3(0, 0, -1))


def test_places_and_yaw_are_the_librarys_rotation():
    def check(heading, yaw):
        frame = LocalFrame(heading)
        to_ned = Matrix3()
        to_ned.from_euler(0, 0, heading)  # of the body as it started
        ned = to_ned * (TURNED * Vector3(3.0, 2.0, 0.0))
        north, east = frame.north_east(3.0, 2.0)
        assert (north, east) == pytest.approx((ned.x, ned.y))
        ahead = to_ned * (TURNED * Vector3(math.cos(yaw), math.sin(yaw), 0.0))
        assert math.cos(frame.yaw(yaw)) == pytest.approx(ahead.x)
        assert math.sin(frame.yaw(yaw)) == pytest.approx(ahead.y)

    assert holds_for([(heading, yaw) for heading in ANGLES for yaw in ANGLES], check)


def test_the_quaternion_is_the_librarys():
    def check(heading, yaw):
        frame = LocalFrame(heading)
        roll, pitch, turned = QuaternionBase(list(frame.quaternion(yaw))).euler
        assert (roll, pitch) == pytest.approx((0, 0))
        assert math.remainder(turned - frame.yaw(yaw), 2 * math.pi) == pytest.approx(0, abs=1e-9)

    assert holds_for([(heading, yaw) for heading in ANGLES for yaw in ANGLES], check)


def test_a_left_turn_goes_west_of_north_and_counts_down():
    frame = LocalFrame()
    assert frame.north_east(1.0, 1.0) == (1.0, -1.0)
    assert frame.degrees(math.pi / 2) == pytest.approx(270)


def test_a_place_on_the_map_is_the_ellipsoids():
    origin = Origin(48.137, 11.575, LocalFrame())
    latitude, longitude = origin.position(1000.0, 1000.0)
    phi = math.radians(48.137)
    # The length of a degree by WGS84's series, which shares no formula with ours
    north_m = 111_132.954 - 559.822 * math.cos(2 * phi) + 1.175 * math.cos(4 * phi)
    east_m = 111_412.84 * math.cos(phi) - 93.5 * math.cos(3 * phi) + 0.118 * math.cos(5 * phi)
    assert latitude - 48.137 == pytest.approx(1000 / north_m, rel=1e-6)
    assert longitude - 11.575 == pytest.approx(1000 / east_m, rel=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "r", "forward", "left"),
    [
        (1000, 0, 0, 1.0, 0.0),
        (-500, 0, 250, -0.5, -0.25),
        (0, 600, 100, 0.0, -0.6),
        (0, 32_767, -1000, 0.0, 1.0),
        (32_767, 32_767, 32_767, 0.0, 0.0),
        (2000, 0, -2000, 1.0, 1.0),
    ],
)
def test_sticks_are_turned_to_the_left(x, y, r, forward, left):
    sticks = Sticks.of(mavlink.MAVLink_manual_control_message(1, x, y, 0, r, 0))
    assert (sticks.forward, sticks.left) == pytest.approx((forward, left))


def test_an_absent_axis_is_none():
    assert stick(32_767) is None
    assert stick(-1000) == -1.0


@pytest.mark.parametrize("name", ["f1tenth", "nigel", "autorally"])
def test_short_names_are_unique_and_short(name):
    it = vehicle(name)
    values = Parameters(it, 1).values
    scalars = [row for row, found in it.parameters.items() if len(found) == 1]
    assert len({short_name(row) for row in scalars}) == len(scalars)
    assert len(values) == 1 + len(scalars) + 3 + 3 * len(it.sources)
    assert max(map(len, values)) <= 16


def test_a_long_sentence_is_cut_between_letters_and_put_together_again():
    def check(sentence):
        texts = list(StatusTexts().messages(4, sentence))
        pieces = [it._text_raw for it in texts]
        assert b"".join(pieces).decode() == sentence
        assert [it.chunk_seq for it in texts] == list(range(len(texts)))
        assert max(map(len, pieces)) <= 50
        assert len({it.id for it in texts}) == 1
        assert (texts[0].id == 0) == (len(texts) == 1)
        # the end of a text in pieces is told by a piece that is not full
        assert len(texts) == 1 or len(pieces[-1]) < 50

    cases = ["", "short", "x" * 50, "x" * 51, "y" * 100, "ü" * 60, "a sentence. " * 20]
    assert holds_for([(it,) for it in cases], check)
