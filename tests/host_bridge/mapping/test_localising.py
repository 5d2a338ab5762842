"""Where a car is in a map: followed, looked for, and carried elsewhere."""

import json
from math import degrees, hypot

import numpy as np
import pytest

from host_bridge.core.reports import CarMotion
from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.mapping.likelihood_field import LikelihoodField
from host_bridge.mapping.localising import located_drive, sample_of
from host_bridge.mapping.particle_filter import ParticleFilter
from host_bridge.mapping.planar import between
from host_bridge.mapping.poses.odometry_track import OdometryTrack
from host_bridge.mapping.scan_points import LidarMount, points_of
from tests.host_bridge.mapping.rooms import FIRST_RAD, HALL, STEP_RAD, drive, lap, scan_at
from tests.host_bridge.mapping.test_mapping import distances_m
from tests.support.evidence import some

MOUNT = LidarMount(0.0)
CELL_M = 0.05
CORNER = np.array((-1.5, -1.5, 0.0))


@pytest.fixture(scope="module")
def field():
    """The hall as a map of cells."""
    columns, rows = np.meshgrid(np.arange(220), np.arange(180))
    centres = CORNER[:2] + CELL_M * (np.stack((columns, rows), axis=-1).reshape(-1, 2) + 0.5)
    is_wall = distances_m(centres, HALL) < 0.6 * CELL_M
    x, y = centres.T
    is_inside = ((x > -1) & (x < 9) & (y > -1) & (y < 1)) | ((x > 7) & (x < 9) & (y > -1) & (y < 7))
    shape = (180, 220)
    return LikelihoodField(
        is_wall.reshape(shape), (is_inside & ~is_wall).reshape(shape), CELL_M, CORNER
    )


def located(field, scans, start=None, seed=1):
    particles = ParticleFilter(field, seed)
    if start is not None:
        particles.place(np.array(start, dtype=float))
    return list(located_drive(scans, particles, MOUNT))


def errors(rows, way):
    """(m, degrees) of each scan."""
    for row in some(rows):
        off = between(np.array(way[round(row.taken_s / 0.05)]), row.located.pose)
        yield hypot(off[0], off[1]), abs(degrees(off[2]))


def test_it_follows_the_car_within_centimetres_though_its_odometry_is_off(field):
    way = lap()
    scans = drive(way)
    rows = located(field, scans, way[0])
    off_m, off_deg = map(np.array, zip(*errors(rows, way), strict=True))
    assert hypot(*(scans[-1].odometry - way[-1])[:2]) > 0.5
    assert np.sqrt(np.mean(off_m**2)) < 0.05
    assert np.sqrt(np.mean(off_deg**2)) < 2.0
    assert not any(row.located.is_lost for row in rows)
    assert min(row.located.fit for row in rows) > 0.9


def test_it_finds_a_car_whose_place_nobody_said(field):
    way = lap()
    rows = located(field, drive(way))
    assert rows[0].located.is_lost
    assert not rows[-1].located.is_lost
    assert list(errors(rows, way))[-1][0] < 0.1


def test_it_says_that_it_lost_a_carried_car_and_finds_it_again(field):
    there = [(x, 0.2, 0.0) for x in np.arange(0.0, 2.0, 0.25)]
    elsewhere = [(8.0, y, np.pi / 2) for y in np.arange(1.0, 6.0, 0.02)]
    particles = ParticleFilter(field, 1)
    particles.place(np.array(there[0]))
    for pose in there:
        at = particles.step(np.array(pose), points_of(scan_at(pose), MOUNT))
    assert not at.is_lost
    was_lost = False
    for pose in elsewhere:  # its odometry knows nothing of being carried
        odometry = np.array((2.0 + pose[1] - 1.0, 0.2, 0.0))
        at = particles.step(odometry, points_of(scan_at(pose), MOUNT))
        was_lost |= at.is_lost
    assert was_lost
    assert not at.is_lost
    assert hypot(*(at.pose - pose)[:2]) < 0.1


def test_the_same_seed_gives_the_same_poses(field):
    way = lap()[:12]
    one, two = (located(field, drive(way), way[0]) for _ in range(2))
    assert [it.line(0.1) for it in some(one)] == [it.line(0.1) for it in two]


def test_a_line_holds_the_pose_of_the_centre_of_gravity(field):
    [row] = located(field, drive([(1.0, 0.0, np.pi / 2)]), (1.0, 0.0, np.pi / 2))
    said = json.loads(row.line(0.15))
    assert (said["x_m"], said["y_m"]) == pytest.approx((1.0, 0.15), abs=0.05)
    assert said["odometry"] == pytest.approx([1.0, 0.0, np.pi / 2], abs=1e-4)
    assert 0.0 < said["std_m"] < 0.4


def test_a_map_without_walls_or_without_room_is_refused():
    nothing, all_of_it = np.zeros((4, 4), bool), np.ones((4, 4), bool)
    with pytest.raises(ValueError, match="no wall"):
        LikelihoodField(nothing, all_of_it, CELL_M, CORNER)
    with pytest.raises(ValueError, match="no free cell"):
        LikelihoodField(all_of_it, nothing, CELL_M, CORNER)


def test_odometry_is_interpolated_over_the_wrap_of_the_cars_clock():
    track = OdometryTrack()
    before_us = (1 << 30) - 10_000
    for captured_us, x_m in ((before_us, 1.0), (10_000, 1.4)):
        track.add(CarMotion(captured_us, 0, 0, x_m, x_m, 0.0, 0.0, 0.0, 0.0, 0.0))
    track.add(CarMotion(before_us, 0, 0, 9.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0))  # older: left out
    scan = LidarScan(2 * (1 << 30) * 1e-6, FIRST_RAD, STEP_RAD, [1.0, None, 2.0])
    sample = sample_of(scan, track)
    assert sample is not None
    assert sample.odometry[0] == pytest.approx(1.2)
    assert np.isnan(sample.ranges_m[1])


def test_without_odometry_at_its_time_a_scan_has_no_sample():
    track = OdometryTrack()
    scan = LidarScan(5.0, FIRST_RAD, STEP_RAD, [1.0])
    assert sample_of(scan, track) is None
    for captured_us in (1_000_000, 1_020_000):
        track.add(CarMotion(captured_us, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert sample_of(scan, track) is None
