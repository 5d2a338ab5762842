"""The daily test of one car on blocks: sensors, each actuator a little, the runstop."""

from host_bridge.deploy.selftest.bench import CheckResult, SelfTestBench
from host_bridge.deploy.selftest.checks import CHECKS, Check, vesc_rows
from host_bridge.deploy.selftest.run import SelfTestOptions, run_self_test

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "SelfTestBench",
    "SelfTestOptions",
    "run_self_test",
    "vesc_rows",
]
