"""Students' nodes, which know published topics only, drive laps of a track.

Five patterns of public nodes, written from their descriptions: a gap follower; a wall follower with
an emergency brake that speaks only while it brakes; a pure pursuit by tf, and one by the particle
filter's topic; and a node that publishes where f1tenth_system's mux listens.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from math import cos, hypot, pi, radians, sin
from pathlib import Path

import pytest

from tests.ros.real_ros import IN_REAL_TIME, ROOT

# On Python 3.10 it is a package of its own
toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
TRACK = ROOT / "sim_mock" / "tracks" / "corridor.toml"
STEP_M = 0.1
MADE = [pytest.param(1, id="one lap"), pytest.param(10, id="ten", marks=pytest.mark.soak)]
LAP_S = 60.0

pytestmark = IN_REAL_TIME


def centre_line(path: Path):
    """The points of a track's centre line, one each 0.1 m."""
    x, y, yaw = 0.0, 0.0, 0.0
    for piece in toml.loads(path.read_text())["centre_line"]:
        turn = radians(piece.get("turn_deg", 0.0))
        length = piece["straight_m"] if "straight_m" in piece else piece["radius_m"] * abs(turn)
        steps = round(length / STEP_M)
        for _ in range(steps):
            yaw += turn / steps / 2.0
            x, y = x + length / steps * cos(yaw), y + length / steps * sin(yaw)
            yaw += turn / steps / 2.0
            yield x, y
    assert hypot(x, y) < 0.05
    assert yaw == pytest.approx(2.0 * pi)


def laps_of(node) -> list[str]:
    """What it said of its laps."""
    return [line for line in node.stdout.read().splitlines() if line.startswith("lap ")]


def collisions(nodes) -> int:
    """How often the car has driven into a wall, as it says itself."""
    heard = nodes("listener", "1.5", "/diagnostics=diagnostic_msgs/msg/DiagnosticArray")
    (car, *_) = json.loads(heard.stdout.readline())["/diagnostics"]["message"]["status"]
    (told,) = [it["value"] for it in car["values"] if it["key"] == "collisions"]
    return int(told)


@pytest.mark.parametrize("laps", MADE)
def test_a_gap_follower_laps_a_corridor(nodes, started, laps):
    ros = started("sim://f1tenth?track=corridor", seconds=laps * LAP_S + 30)
    ros.until(lambda row: row.get("phase") == "driving")
    follower = nodes("drivers/gap_follow", "2.0", str(laps))
    ros.until_ended(follower, nodes)
    told = laps_of(follower)
    assert len(told) == laps
    print("gap follower:", *told, sep="\n")
    assert collisions(nodes) == 0


# f1tenth_system's own mux.yaml, and a brake above both whose silence yields
MUX = """\
ackermann_mux:
  ros__parameters:
    topics:
      joystick: {topic: teleop, timeout: 0.2, priority: 100}
      navigation: {topic: drive, timeout: 0.2, priority: 10}
"""
# On a straight that is 2.1 m ahead, so it brakes at the end of each; in a bend, where the follower
# is slower, 0.7 m, and the outer wall is farther
FAST_MPS, BRAKE_S = "2.6", "0.8"
BRAKE = "      emergency: {topic: brake, timeout: 0.2, priority: 200, silence_yields: true}\n"


@pytest.mark.parametrize("how", ["forgiving", "mux"])
def test_a_wall_follower_laps_with_a_brake_that_speaks_only_while_it_brakes(
    nodes, started, tmp_path, how
):
    (tmp_path / "mux.yaml").write_text(MUX + BRAKE)
    words = ("--forgiving",) if how == "forgiving" else ("--mux", str(tmp_path / "mux.yaml"))
    words = (*words, "--speed", FAST_MPS)
    ros = started("sim://f1tenth?track=corridor", *words, seconds=3 * LAP_S + 30)
    ros.until(lambda row: row.get("phase") == "driving")
    # By the joystick's topic, above the planner's, where there is no brake's own
    brake = nodes("drivers/emergency_brake", "teleop" if how == "forgiving" else "brake", BRAKE_S)
    follower = nodes("drivers/wall_follow", FAST_MPS, "1")
    ros.until_ended(follower, nodes)
    assert len(laps_of(follower)) == 1
    brake.kill()
    braked = [line for line in brake.stdout.read().splitlines() if line.startswith("brakes")]
    print("wall follower:", len(braked), "brakings")
    assert braked, "the brake had nothing to do, so nothing was shown"
    assert collisions(nodes) == 0


@pytest.mark.parametrize("topic", ["/tf", "pf/pose/odom"])
def test_a_pure_pursuit_laps_by_what_a_localiser_would_say(nodes, started, tmp_path, topic):
    path = tmp_path / "waypoints.csv"
    path.write_text("".join(f"{x:.4f},{y:.4f}\n" for x, y in centre_line(TRACK)))
    ros = started("sim://f1tenth?track=corridor", seconds=LAP_S + 30)
    ros.until(lambda row: row.get("phase") == "driving")
    pursuit = nodes("drivers/pure_pursuit", topic, str(path), "2.0", "1")
    ros.until_ended(pursuit, nodes)
    told = laps_of(pursuit)
    print("pure pursuit by", topic, *told)
    assert len(told) == 1
    assert float(told[-1].split()[2]) < 0.4
    assert collisions(nodes) == 0


@pytest.mark.parametrize("words", [(), ("auto",)], ids=["new", "auto"])
def test_autowares_control_closes_its_loop_on_a_virtual_car(nodes, started, tmp_path, words):
    path = tmp_path / "waypoints.csv"
    path.write_text("".join(f"{x:.4f},{y:.4f}\n" for x, y in centre_line(TRACK)))
    vocabulary = "autoware_auto" if words else "autoware"
    ros = started("sim://f1tenth?track=corridor", "--as", vocabulary, seconds=2 * LAP_S + 30)
    ros.until(lambda row: row.get("phase") == "driving")
    loop = nodes("drivers/autoware_loop", str(path), "1.5", "1", *words)
    ros.until_ended(loop, nodes)
    lap, told = loop.stdout.read().splitlines()
    print("Autoware's loop:", lap, told)
    assert float(lap.split()[2]) < 0.4
    told = json.loads(told)
    assert {topic for topic, hz in told["hz"].items() if hz < 15} == set()
    assert ["map", "base_link"] in told["frames"]
    assert collisions(nodes) == 0


def test_a_node_laps_that_publishes_where_the_mux_of_f1tenth_system_listens(
    nodes, started, tmp_path
):
    (tmp_path / "mux.yaml").write_text(MUX)
    words = ("--mux", str(tmp_path / "mux.yaml"))
    ros = started("sim://f1tenth?track=corridor", *words, seconds=LAP_S + 30)
    ros.until(lambda row: row.get("phase") == "driving")
    follower = nodes("drivers/gap_follow", "2.0", "1", "teleop")
    ros.until_ended(follower, nodes)
    assert len(laps_of(follower)) == 1
    assert collisions(nodes) == 0


@pytest.mark.parametrize("laps", MADE)
def test_a_pure_pursuit_laps_a_corridor_near_its_middle(nodes, started, laps, tmp_path):
    path = tmp_path / "waypoints.csv"
    path.write_text("".join(f"{x:.4f},{y:.4f}\n" for x, y in centre_line(TRACK)))
    ros = started("sim://f1tenth?track=corridor", "--as", "f1tenth_gym", seconds=laps * LAP_S + 30)
    ros.until(lambda row: row.get("phase") == "driving")
    pursuit = nodes("drivers/pure_pursuit", "ego_racecar/odom", str(path), "2.0", str(laps))
    ros.until_ended(pursuit, nodes)
    told = laps_of(pursuit)
    assert len(told) == laps
    print("pure pursuit:", *told, sep="\n")
    assert float(told[-1].split()[2]) < 0.4
    assert collisions(nodes) == 0
