"""Finds the classes of ROS 2 messages in the environment of this Python."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.compiled_for import compiled_for, wrong_python


@cache
def message_class(name: str) -> Any:
    """Return the class of ``package/msg/Type``.

    Raises errors.DeviceFault if its package is missing.
    """
    package, kind, type_name = name.split("/")
    try:
        return getattr(import_module(f"{package}.{kind}"), type_name)
    except ImportError as error:
        raise missing_package(package, error) from None


def has_message(name: str) -> bool:
    """Return whether this Python has the package of ``package/msg/Type``."""
    return find_spec(name.split("/")[0]) is not None


def missing_package(package: str, error: ImportError) -> DeviceFault:
    """Return the fault of a package that this Python cannot load, with its remedy."""
    distribution = os.environ.get("ROS_DISTRO", "DISTRIBUTION")
    source = f"source /opt/ros/{distribution}/setup.bash"
    what = f"this Python has no {package}"
    dashed = package.replace("_", "-")
    remedy = (
        f"{source}; if it stays missing: sudo apt install ros-{distribution}-{dashed}; "
        "tandem doctor says which Python"
    )
    if other := compiled_for(package):
        what, remedy = wrong_python(package, other, sys.version_info[:2])
    elif not isinstance(error, ModuleNotFoundError):
        what, remedy = f"{package} is there and cannot be loaded", f"{source} in this terminal"
    return DeviceFault(
        what,
        expected="ROS 2 and its messages, in the environment of this command",
        got=str(error).partition("\n")[0],
        remedy=remedy,
    )
