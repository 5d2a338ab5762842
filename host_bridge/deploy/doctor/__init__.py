"""The check whether a machine is fit to drive cars: the obstacles, and what to do about them."""

from host_bridge.deploy.doctor.checks import examine
from host_bridge.deploy.doctor.contract import DoctorFinding, Machine, Severity
from host_bridge.deploy.doctor.machine import LocalMachine
from host_bridge.deploy.doctor.udev import RULES_PATH, udev_rules
from host_bridge.link.transports.serial_port import ports
from host_bridge.sharing.endpoints.served import served
from sim_mock.runtime import compiled
from sim_mock.runtime.micropython import candidates

__all__ = [
    "RULES_PATH",
    "DoctorFinding",
    "LocalMachine",
    "Machine",
    "Severity",
    "examine",
    "this_machine",
    "udev_rules",
]


def this_machine() -> LocalMachine:
    """Return the machine that this runs on, with its ports, MicroPythons and served cars."""
    return LocalMachine(ports, candidates, served, compiled.is_built, compiled.how_to_build)
