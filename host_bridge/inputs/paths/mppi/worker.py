"""The planner's process: a task as a line of JSON on stdin, then requests, each answered by a plan.

It ends with its stdin: when the drive that started it is gone, it computes nothing more.
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np

from host_bridge.inputs.paths.mppi.model import ModelParameters, Track
from host_bridge.inputs.paths.mppi.planner import Planner, PlannerTask, PlanRequest


def main() -> None:
    """Answer requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no plan
    points, is_loop, spacing_m = json.loads(sys.stdin.readline())
    car, *rest = json.loads(sys.stdin.readline())
    track = Track(np.array(points), is_loop, spacing_m)
    planner = Planner(PlannerTask(track, ModelParameters(*car), *rest))
    for line in sys.stdin:
        plan = planner.plan(PlanRequest(*json.loads(line)))
        try:
            answers.write(json.dumps(plan) + "\n")
            answers.flush()
        except BrokenPipeError:  # the drive was killed meanwhile
            os._exit(0)


if __name__ == "__main__":
    main()
