"""Cars in one scene are to each other what walls are: seen by a LIDAR, and in the way."""

import json
from math import hypot, inf

import numpy as np
import pytest

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.tracks.contact import Outline, touches
from sim_mock.tracks.driving_area import Pose
from sim_mock.tracks.shared_track import shared_track_named, sides_of
from sim_mock.virtual_car.config import virtual_car_config


def car(name, start, tmp_path=None, **more):
    query = {"name": name, "track": "corridor", "start": start, **more}
    if tmp_path:
        query["sensors"] = str(tmp_path / f"{name}.jsonl")
    return virtual_car_config(load_vehicle("f1tenth"), query).make_world(InProcessRunner)


def scan(tmp_path, name):
    lines = (tmp_path / f"{name}.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [one for one in found if one["sensor"] == "lidar"][-1]


def ahead_m(sample):
    """The true range straight ahead."""
    return sample["truth"]["ranges_m"][round(-sample["first_rad"] / sample["step_rad"])]


def test_a_lidar_sees_the_car_ahead_of_it_at_its_rear_and_without_a_scene_the_wall(tmp_path):
    behind = car("a", "0,0,0", tmp_path, scene="s1")
    front = car("b", "2,0,0", scene="s1")
    alone = car("c", "0,0,0", tmp_path)
    for world in (behind, alone):
        world.advance(200_000)
    p, outline = behind.plant.parameters, Outline.of(behind.plant.parameters)
    mount_m = p.lidar.ahead_m - p.body.lr_m
    expected_m = 2.0 - outline.rear_m - mount_m
    assert ahead_m(scan(tmp_path, "a")) == pytest.approx(expected_m, abs=1e-4)
    free_m = ahead_m(scan(tmp_path, "c"))
    assert free_m is None or free_m > expected_m + 0.5
    assert front.plant.truth.x_m == 2.0


def test_it_sees_where_the_other_car_is_now(tmp_path):
    behind = car("a", "0,0,0", tmp_path, scene="s2")
    front = car("b", "2,0,0", scene="s2")
    behind.advance(100_000)
    before = ahead_m(scan(tmp_path, "a"))
    front.plant.truth.assign((2.5, 0.0, 0.0, 0.0, 0.0, 0.0))
    behind.advance(200_000)
    assert ahead_m(scan(tmp_path, "a")) == pytest.approx(before + 0.5, abs=1e-4)


def test_cars_beyond_reach_of_each_other_are_not_tried_for_contact():
    mine, other = car("a", "0,0,0", scene="s4r"), car("b", "2,0,0", scene="s4r")
    track = shared_track_named("s4r", "corridor")
    outline = Outline.of(mine.plant.parameters)
    assert len(track.others(mine)) == 4
    for apart_m, sides in ((2.0, 0), (2 * outline.reach_m + 0.01, 0), (2 * outline.reach_m, 4)):
        other.plant.truth.assign((apart_m, 0.0, 0.0, 0.0, 0.0, 0.0))
        near = track.within_reach(mine)
        assert len(near) == sides
        if not sides:
            assert not touches(outline, Pose(0.0, 0.0, 0.0), track.others(mine))


def test_a_car_that_drives_into_another_one_stops_at_it_and_the_hit_is_counted(tmp_path):
    front = car("b", "2,0,0", scene="s3")
    host = SmallHost(car("a", "0,0,0", tmp_path, scene="s3"))
    host.take_the_wheel()
    host.drive(4000, 1500)
    world = host.world
    outline = Outline.of(world.plant.parameters)
    gap_m = (front.plant.truth.x_m - outline.rear_m) - (world.plant.truth.x_m + outline.front_m)
    assert 0.0 <= gap_m < 0.02
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    seen = [one for one in map(json.loads, lines) if one["sensor"] == "truth"][-1]["truth"]
    assert seen["hits"] >= 1
    assert seen["hit_mps"] > 0.5


def test_a_car_cannot_start_where_another_one_stands():
    first = car("a", "0,0,0", scene="s4")
    with pytest.raises(ValueError, match="another car of its scene is in the way"):
        car("b", "0.2,0,0", scene="s4")
    assert first.plant.truth.x_m == 0.0


def test_a_car_that_is_gone_is_seen_no_more(tmp_path):
    behind = car("a", "0,0,0", tmp_path, scene="s5")
    front = car("b", "2,0,0", scene="s5")
    behind.advance(100_000)
    seen_m = ahead_m(scan(tmp_path, "a"))
    del front
    behind.advance(200_000)
    assert (ahead_m(scan(tmp_path, "a")) or inf) > seen_m + 0.5


def test_a_scene_is_one_place_and_says_which():
    first = car("a", "0,0,0", scene="s6")
    with pytest.raises(ValueError, match="scene=s6 is at corridor; this car would be at autorally"):
        virtual_car_config(
            load_vehicle("f1tenth"), {"track": "autorally", "scene": "s6"}
        ).make_world(InProcessRunner)
    with pytest.raises(ValueError, match="track=NAME"):
        virtual_car_config(load_vehicle("f1tenth"), {"scene": "s6"})
    assert first.plant.truth.x_m == 0.0


def test_the_sides_of_a_car_are_its_outline():
    outline, pose = Outline(0.4, 0.1, 0.15), Pose(1.0, -2.0, 0.7)
    sides = sides_of(outline, pose)
    lengths = np.hypot(sides[:, 2] - sides[:, 0], sides[:, 3] - sides[:, 1])
    assert sorted(lengths.round(9)) == [0.3, 0.3, 0.5, 0.5]
    assert max(hypot(x - 1.0, y + 2.0) for x, y in sides[:, :2]) == pytest.approx(outline.reach_m)
    assert touches(Outline(0.01, 0.01, 0.01), Pose(*sides[0, :2], 0.0), sides)


@pytest.mark.parametrize("yaw_deg", [0, 90, 180])
def test_two_cars_are_not_in_the_very_same_place(yaw_deg):
    """Its sides then lie on the other's own, line upon line."""
    first = car("a", f"0,0,{yaw_deg}", scene="same")
    with pytest.raises(ValueError, match="another car of its scene is in the way"):
        car("b", f"0,0,{yaw_deg}", scene="same")
    assert first.now_us == 0
