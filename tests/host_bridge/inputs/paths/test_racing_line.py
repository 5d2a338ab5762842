"""Racing lines keep off the walls, and ask for no more than the limits that they were made for."""

import json
from dataclasses import replace
from math import cos, pi, sin, tau

import numpy as np
import pytest
from PIL import Image

from host_bridge.cli.main import main
from host_bridge.config import load_vehicle
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.inputs.paths.area_paths import race_limits, race_of_area
from host_bridge.inputs.paths.laws import VehicleState, lqr
from host_bridge.inputs.paths.path import Path, resampled
from host_bridge.inputs.paths.racing_line import SpeedLimits, least_curvature, race_speeds
from sim_mock.tracks.contact import clearance_m
from sim_mock.tracks.loading import load_centre_line, load_track
from sim_mock.tracks.room import room_beside
from tests.support.evidence import every

HALF_BEND_M = 0.15
LIMITS = SpeedLimits(top_mps=5.0, lateral_mps2=4.0, accel_mps2=2.0, decel_mps2=3.0)


def line_of(track, half_width_m):
    """The racing line of a track, its walls, and its centre line."""
    walls = load_track(track).walls
    centre = load_centre_line(track)[:-1]
    line = least_curvature(centre, half_width_m, lambda at, left: room_beside(at, left, walls))
    return line, walls, Path(resampled(centre, 0.1, is_loop=True), is_loop=True)


def ring(radius_m, count=200):
    return np.array([
        (radius_m * cos(tau * i / count), radius_m * sin(tau * i / count)) for i in range(count)
    ])  # fmt: skip


@pytest.mark.parametrize(("track", "half_width_m"), [("oval", 0.15), ("corridor", 0.4)])
def test_it_keeps_its_distance_from_the_walls_and_is_faster_than_the_middle(track, half_width_m):
    line, walls, middle = line_of(track, half_width_m)
    # a hundredth of a metre: the walls of a bend are chords
    assert every(clearance_m(x, y, walls) > half_width_m - 0.01 for x, y in line.points_m)
    _, lap_s = race_speeds(line, LIMITS, HALF_BEND_M)
    _, middle_s = race_speeds(middle, LIMITS, HALF_BEND_M)
    assert lap_s < 0.95 * middle_s
    assert line.length_m < middle.length_m


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_its_limits_are_a_share_of_the_accelerations_that_the_vehicle_file_names(share):
    vehicle = load_vehicle("f1tenth")
    limits = race_limits(vehicle, None, share)
    names = ("lateral_accel_mm_s2", "accel_mm_s2", "decel_mm_s2")
    asked = [share * vehicle.parameters[name][0] / 1000 for name in names]
    given = [limits.lateral_mps2, limits.accel_mps2, limits.decel_mps2]
    assert given == pytest.approx(asked)
    assert limits.top_mps == vehicle.profile_caps_mps[vehicle.profile] <= vehicle.speed_max_mps
    assert race_limits(vehicle, 1.5, share).top_mps == 1.5


def test_it_goes_round_the_way_that_the_centre_line_goes():
    line, _, middle = line_of("oval", 0.15)
    turns = sum(line.curvatures(line.along_m[:-1], 0.1)) * np.sign(sum(middle.curvatures(
        middle.along_m[:-1], 0.1)))  # fmt: skip
    assert turns > 0.0


def test_on_a_ring_it_takes_the_inner_side():
    """A circle's lap takes the root of its radius, by a limit of the sideways acceleration."""

    def room(points, left):
        radius = np.hypot(*points.T)
        inwards = (points * left).sum(axis=1) < 0.0
        to_inner, to_outer = radius - 2.0, 3.0 - radius
        return np.where(inwards, to_inner, to_outer), np.where(inwards, to_outer, to_inner)

    line = least_curvature(ring(2.5), 0.2, room)
    assert np.hypot(*line.points_m.T) == pytest.approx(2.2, abs=0.01)
    _, lap_s = race_speeds(line, SpeedLimits(10.0, 4.0, 2.0, 2.0), HALF_BEND_M)
    assert lap_s == pytest.approx(tau * 2.2 / (4.0 * 2.2) ** 0.5, rel=0.05)


def test_the_cells_of_a_map_do_not_make_it_bend(tmp_path):
    """Walls of 6 cm steps: public maps of race tracks have such, and gave bends of 0.4 m."""
    cells = np.full((220, 220), 0, np.uint8)
    row, column = np.mgrid[0:220, 0:220]
    radius_m = 0.058 * np.hypot(row - 109.5, column - 109.5)
    cells[(radius_m > 2.5) & (radius_m < 5.0)] = 255
    Image.fromarray(cells).save(tmp_path / "ring.png")
    text = "image: ring.png\nresolution: 0.058\norigin: [0, 0, 0]\nnegate: 0\n"
    (tmp_path / "ring.yaml").write_text(text + "occupied_thresh: 0.45\nfree_thresh: 0.196\n")
    vehicle = load_vehicle("f1tenth")
    found, _ = race_of_area(str(tmp_path / "ring.yaml"), None, vehicle, LIMITS, 0.3)
    bends = np.abs(found.curvatures(found.along_m[:-1], HALF_BEND_M))
    assert bends.max() < 1.2 / (2.5 + 0.45)
    assert bends.min() > 0.8 / (2.5 + 0.45)


def test_where_it_is_too_narrow_the_place_is_named():
    walls = load_track("oval").walls
    with pytest.raises(ValueError, match=r"0\.60 m wide at .*takes 0\.70 m"):
        least_curvature(
            load_centre_line("oval")[:-1], 0.35, lambda at, left: room_beside(at, left, walls)
        )


def test_no_speed_asks_for_more_than_the_limits():
    line, _, _ = line_of("corridor", 0.4)
    path, lap_s = race_speeds(line, LIMITS, HALF_BEND_M)
    speeds, steps = path.speeds_mps, np.diff(path.along_m)
    bends = np.abs(path.curvatures(path.along_m[:-1], HALF_BEND_M))
    along = np.diff(speeds**2) / (2.0 * steps)
    across = speeds[:-1] ** 2 * bends
    assert speeds.max() == pytest.approx(LIMITS.top_mps)
    assert across.max() <= LIMITS.lateral_mps2 * 1.001
    assert along.max() <= LIMITS.accel_mps2 * 1.001
    assert along.min() >= -LIMITS.decel_mps2 * 1.001
    assert lap_s == pytest.approx(np.sum(2.0 * steps / (speeds[1:] + speeds[:-1])), rel=1e-6)
    # the friction ellipse: gaining speed from a place, braking to the next one
    gains = np.maximum(along, 0.0) / LIMITS.accel_mps2
    brakes = np.maximum(-along, 0.0) / LIMITS.decel_mps2
    used = across / LIMITS.lateral_mps2
    assert (gains**2 + used**2).max() <= 1.001
    assert (brakes[:-1] ** 2 + used[1:] ** 2).max() <= 1.001
    assert brakes.max() > 0.9
    assert gains.max() > 0.9


def test_limits_scale_but_for_the_top_speed():
    assert LIMITS.scaled(0.5) == SpeedLimits(5.0, 2.0, 1.0, 1.5)


# --- the regulator


def driven(offset_m, yaw_rad, speed_mps, points, ways_m=4.0, base_m=0.33):
    """The offsets of a car that turns as it is steered, without any lag."""
    path = Path(points)
    x, y, yaw = 0.0, offset_m, yaw_rad
    found = []
    for _ in range(round(ways_m / 0.01)):
        projection = path.project(x, y)
        car = VehicleState(x, y, yaw, speed_mps, base_m)
        steer = lqr(path, projection, car, None)
        x, y, yaw = x + 0.01 * cos(yaw), y + 0.01 * sin(yaw), yaw + 0.01 * np.tan(steer) / base_m
        found.append(projection.left_m)
    return found


STRAIGHT = np.array([(float(x), 0.0) for x in range(-1, 12)])


@pytest.mark.parametrize(("offset_m", "yaw_rad"), [(0.2, 0.0), (-0.2, 0.0), (0.0, 0.3)])
@pytest.mark.parametrize("speed_mps", [0.5, 3.0])
def test_a_car_beside_its_path_comes_back_and_hardly_crosses_it(offset_m, yaw_rad, speed_mps):
    found = np.array(driven(offset_m, yaw_rad, speed_mps, STRAIGHT))
    side = np.sign(found[np.argmax(np.abs(found))])
    assert abs(found[-1]) < 0.005
    # 1/sqrt(2) of critical damping crosses by 4 % of the error
    assert (-side * found).max() < 0.06 * np.abs(found).max()


def test_on_the_path_it_steers_by_the_bend():
    path = Path(ring(2.0, 2000), is_loop=True)
    car = VehicleState(2.0, 0.0, pi / 2.0, 0.5, 0.33)
    steer = lqr(path, path.project(2.0, 0.0), car, None)
    assert np.tan(steer) / 0.33 == pytest.approx(0.5, rel=0.05)


# --- the command


def test_a_racing_line_is_made_for_a_vehicle_and_says_how_to_drive_it(capsys, tmp_path):
    file = tmp_path / "race.csv"
    words = ["path", "race", "oval", "--vehicle", "nigel", "--margin", "0.1", "-o", str(file)]
    assert main([*words, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["lap_s"] < row["centre_lap_s"]
    assert row["is_loop"]
    assert f"path:{file}?law=lqr" in row["drive"]
    assert file.read_text().startswith("# loop: yes\nx_m,y_m,speed_mps\n")


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (["oval", "--vehicle", "nigel", "--margin", "0.3"], DataFileFault, "smaller --margin"),
        (["oval", "--vehicle", "nigel", "--start", "0,0,0"], UsageFault, "begins at the origin"),
        (["none.yaml", "--vehicle", "nigel"], DataFileFault, "cannot be read"),
    ],
)
def test_what_makes_no_racing_line_is_refused(capsys, tmp_path, words, code, what):
    out = tmp_path / "race.csv"
    assert main(["path", "race", *words, "-o", str(out)]) == code.exit_code
    assert what in capsys.readouterr().err
    assert not out.exists()


def test_a_car_that_cannot_steer_a_bend_is_told_so():
    vehicle = replace(load_vehicle("nigel"), steer_max_rad=0.1)
    _, facts = race_of_area("oval", None, vehicle, LIMITS, 0.1)
    assert "bends tighter than this car steers" in facts["notes"][0]
