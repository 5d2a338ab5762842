"""Contact with restitution and friction: what a wall gives back, and what it takes."""

from math import cos, hypot, pi, sin

import numpy as np
import pytest

from host_bridge.config import load_vehicle
from sim_mock.plant.body import BodyParameters
from sim_mock.tracks.contact import Outline, bounced
from sim_mock.tracks.driving_area import Pose
from sim_mock.virtual_car.config import virtual_car_config
from tests.sim_mock.tracks.test_contact import Drive

WALL = np.array([[0.0, -5.0, 0.0, 5.0]])  # x = 0; the car is to its left
BODY = BodyParameters(3.0, 0.05, 0.16, 0.17, 0.07, 0.24, 5.0, 5.0, 0.3)


def hit(yaw_rad, speeds, restitution=0.0, mu=0.0):
    """The speeds in the world, and the yaw rate, after a car's front has reached the wall."""
    outline = Outline(0.3, 0.2, 0.15, restitution, mu)
    reach_m = max(cos(yaw_rad) * x - sin(yaw_rad) * y for x in (0.3, -0.2) for y in (0.15, -0.15))
    pose = Pose(-reach_m + 0.004, 0.0, yaw_rad)
    _, (vx, vy, rate) = bounced(outline, pose, WALL, BODY, (*pose, *speeds))
    c, s = cos(yaw_rad), sin(yaw_rad)
    return c * vx - s * vy, s * vx + c * vy, rate


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_head_on_it_comes_back_with_its_share_of_the_speed(restitution):
    vx, vy, rate = hit(0.0, (2.0, 0.0, 0.0), restitution)
    assert vx == pytest.approx(-2.0 * restitution, abs=1e-9)
    assert (vy, rate) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_without_friction_the_speed_along_the_wall_stays():
    _, vy, _ = hit(pi / 4, (2.0, 0.0, 0.0))
    assert vy == pytest.approx(2.0 * sin(pi / 4))


@pytest.mark.parametrize("mu", [0.05, 0.1])
def test_friction_takes_so_much_of_the_push_at_most(mu):
    free, held = hit(pi / 4, (2.0, 0.0, 0.0)), hit(pi / 4, (2.0, 0.0, 0.0), mu=mu)
    pushed = 2.0 * cos(pi / 4) - held[0]
    assert free[1] - held[1] == pytest.approx(mu * pushed)


def test_a_corner_that_hits_turns_the_car_along_the_wall():
    """Steep, the front turns flat to the wall; glancing, the nose comes away from it."""
    for side in (1.0, -1.0):
        assert side * hit(side * 0.3, (2.0, 0.0, 0.0))[2] < -0.1
        assert side * hit(side * 1.2, (2.0, 0.0, 0.0))[2] > 0.1


@pytest.mark.parametrize("yaw_rad", np.linspace(-1.4, 1.4, 8))
@pytest.mark.parametrize(("restitution", "mu"), [(0.0, 0.0), (0.5, 0.3), (1.0, 0.0), (0.3, 5.0)])
def test_no_hit_adds_energy(yaw_rad, restitution, mu):
    def energy(vx, vy, rate):
        return 0.5 * BODY.mass_kg * (vx**2 + vy**2) + 0.5 * BODY.inertia_z_kgm2 * rate**2

    for speeds in ((2.0, 0.0, 0.0), (1.0, 0.5, 3.0), (0.5, -0.3, -4.0)):
        assert energy(*hit(yaw_rad, speeds, restitution, mu)) <= energy(*speeds) * (1 + 1e-9)


def test_a_car_that_moves_away_is_left_alone():
    assert hit(0.0, (-1.0, 0.2, 0.1), 0.5, 0.5) == pytest.approx((-1.0, 0.2, 0.1))


def wall_drive(**outline):
    vehicle = load_vehicle("f1tenth", {f"plant.outline.{k}": v for k, v in outline.items()})
    return Drive(vehicle)


def test_a_car_slides_along_a_wall_that_has_friction_and_sticks_at_one_that_holds_it():
    """Into the bend's outer wall at an angle: one hit, and it goes on along it."""
    ways = {}
    for name, outline in (("held", {}), ("slides", {"wall_mu": 0.2, "restitution": 0.3})):
        drive = wall_drive(**outline)
        drive.world.plant.truth.assign((3.0, 0.0, 0.5, 4.0, 0.0, 0.0))
        drive.world.advance(drive.world.now_us + 1_200_000)
        truth = drive.world.plant.truth
        ways[name] = hypot(truth.x_m - 3.0, truth.y_m)
        assert drive.contact.hits >= 1
        assert drive.contact.hit_mps > 1.0
        assert abs(truth.y_m) < 1.0, "it is still in the corridor"
    assert ways["slides"] > ways["held"] + 0.3


def test_what_no_wall_can_be_is_refused():
    vehicle = load_vehicle("f1tenth", {"plant.outline.restitution": 1.5})
    with pytest.raises(ValueError, match="restitution"):
        virtual_car_config(vehicle, {})
