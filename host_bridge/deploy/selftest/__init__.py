"""The daily test of one car on blocks: sensors, each actuator a little, the runstop."""

from host_bridge.deploy.selftest.bench import Bench, CheckResult
from host_bridge.deploy.selftest.checks import CHECKS, Check, vesc_rows
from host_bridge.deploy.selftest.run import SelfTestOptions, run_self_test

__all__ = [
    "CHECKS",
    "Bench",
    "Check",
    "CheckResult",
    "SelfTestOptions",
    "run_self_test",
    "vesc_rows",
]
