"""The results of a demo: the table on the screen, the picture, and every check as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from host_bridge.core import Vehicle
from host_bridge.demo.cars import baselines
from host_bridge.demo.cars.demo_run import SPEED_MPS
from host_bridge.demo.cars.together import DriveResult
from host_bridge.demo.judging.report import print_table
from host_bridge.demo.output import DemoOutput
from host_bridge.demo.part_one import PATCHES
from host_bridge.demo.picture import draw
from host_bridge.demo.stops import StopCase


@dataclass
class Results:
    """The results, filled by both stages."""

    runtime: str = ""
    vehicle: Vehicle | None = None
    drive: DriveResult | None = None
    cases: list[StopCase] = field(default_factory=list)

    def publish(self, output: DemoOutput, out: Path) -> None:
        """Print the table, draw the picture, write ``demo.json``."""
        if self.cases and self.vehicle:
            baseline_stops = [
                baselines.simulated_stop(self.vehicle, SPEED_MPS, it.holds_s)
                for it in baselines.BASELINES
            ]
            output.heading("All stops")
            print_table(self.cases, baseline_stops)
            if self.drive:
                draw(self.drive, self.cases, baseline_stops, PATCHES, out / "demo.png")
        rows = {"runtime": self.runtime, "checks": [check.row() for check in output.checks]}
        (out / "demo.json").write_text(json.dumps(rows, indent=2) + "\n")
