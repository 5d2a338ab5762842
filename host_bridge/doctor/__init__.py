"""Is this machine fit to drive cars? What stands in the way, and what to do about it."""

from host_bridge.doctor.checks import Finding, Machine, Verdict, examine
from host_bridge.doctor.machine import LocalMachine
from host_bridge.doctor.udev import RULES_PATH, rules
from host_bridge.transports.serial_port import ports
from host_bridge.transports.served import served
from sim_mock.micropython import candidates

__all__ = [
    "RULES_PATH",
    "Finding",
    "LocalMachine",
    "Machine",
    "Verdict",
    "examine",
    "rules",
    "this_machine",
]


def this_machine() -> LocalMachine:
    """The machine that this runs on, its ports, its MicroPythons and the cars served on it."""
    return LocalMachine(ports, candidates, served)
