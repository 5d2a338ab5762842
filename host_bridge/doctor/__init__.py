"""Is this machine fit to drive cars? What stands in the way, and what to do about it."""

from host_bridge.doctor.checks import Finding, Machine, Verdict, examine
from host_bridge.doctor.machine import LocalMachine
from host_bridge.doctor.udev import RULES_PATH, rules

__all__ = ["RULES_PATH", "Finding", "LocalMachine", "Machine", "Verdict", "examine", "rules"]
