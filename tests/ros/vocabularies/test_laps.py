"""A gap follower and a pure pursuit, which know published topics only, drive laps of a track."""

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
