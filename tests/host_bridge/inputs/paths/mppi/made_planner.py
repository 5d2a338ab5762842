"""Planners for tests: of an F1TENTH on a loop, and sources that do what a test says."""

from host_bridge.config import load_vehicle
from host_bridge.inputs.paths.mppi.model import parameters_of, track_of
from host_bridge.inputs.paths.mppi.planner import STEPS, MppiPlan, PlannerTask, PlanRequest
from host_bridge.inputs.paths.path import Path, resampled
from host_bridge.inputs.paths.speed_profile import SpeedProfile

VEHICLE = load_vehicle("f1tenth_vesc")
LINE = Path([[0, 0], [40, 0]])
ROUND = Path(
    resampled([[0, 0], [8, 0], [9.4, 0.6], [10, 2], [9.4, 3.4], [8, 4], [0, 4], [-1.4, 3.4],
               [-2, 2], [-1.4, 0.6]], 0.1, is_loop=True),
    is_loop=True,
)  # fmt: skip


def task_of(path=LINE, cost="race", wide_m=0.5, lateral_mps2=4.0, seed=0, top_mps=4.0):
    profile = SpeedProfile(path, top_mps, 1e3, 0.33, 3.0)
    car = parameters_of(VEHICLE, VEHICLE.steer_max_rad, 3.0, top_mps)
    behind_m = VEHICLE.turns_behind_centre_m
    track = track_of(path, profile, 0.33)
    return PlannerTask(track, car, cost, wide_m, lateral_mps2, behind_m, seed)


def request_at(now_us=0, x_m=1.0, y_m=0.0, yaw_rad=0.0, speed_mps=2.0, along_m=None):
    along_m = x_m if along_m is None else along_m
    return PlanRequest(now_us, x_m, y_m, yaw_rad, speed_mps, 0.0, 0.0, along_m)


def steady(begin_us, steer_rad=0.1, speed_mps=1.0):
    return MppiPlan(begin_us, (steer_rad,) * STEPS, (speed_mps,) * STEPS)


class Told:
    """A source whose plans are put by the test."""

    def __init__(self):
        self.asked, self.plan, self.why = [], None, ""
        self.is_closed = False

    def ask(self, request):
        self.asked.append(request)

    def newest(self):
        return self.plan

    def fault(self):
        return self.why

    def close(self):
        self.is_closed = True
