"""The daily test of one car on blocks: sensors, each actuator a little, the runstop."""

from host_bridge.selftest.bench import Bench, Row
from host_bridge.selftest.checks import CHECKS, Check

__all__ = ["CHECKS", "Bench", "Check", "Row"]
