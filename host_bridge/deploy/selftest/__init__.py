"""The daily test of one car on blocks: sensors, each actuator a little, the runstop."""

from host_bridge.deploy.selftest.bench import Bench, Row
from host_bridge.deploy.selftest.checks import CHECKS, Check, vesc_rows

__all__ = ["CHECKS", "Bench", "Check", "Row", "vesc_rows"]
