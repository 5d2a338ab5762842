"""Virtual cars as processes of their own, for ``tandem sim``."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from sim_mock.bodies import trust
from sim_mock.programs import children
from sim_mock.virtual_car.config import choices as known_choices
from sim_mock.virtual_car.config import virtual_car_config

Choices = dict[str, list[dict[str, Any]]]


def choices() -> Choices:
    """Return the tracks and the faults that a virtual car's URI may name."""
    return known_choices()


def start(
    vehicle: Vehicle, query: Mapping[str, str], options: Sequence[str]
) -> subprocess.Popen[str]:
    """Start the process of a virtual car (``sim_mock.programs.car``), out of reach of Ctrl-C.

    ``query`` is that of a ``sim://`` URI. Raises errors.UsageFault.
    """
    try:
        config = virtual_car_config(vehicle, query)
    except ValueError as error:  # the simulator depends on nothing of the host
        raise UsageFault(str(error), where=f"a virtual {vehicle.name}") from None
    with tempfile.TemporaryFile("w") as file:
        file.write(config.to_json())
        file.flush()
        words = ["sim_mock.programs.car", f"/dev/fd/{file.fileno()}", *options, *trust.options()]
        return _program(words, file.fileno())


def start_box(options: Sequence[str]) -> subprocess.Popen[str]:
    """Start the process of a virtual runstop box, in the same way."""
    return _program(["sim_mock.programs.runstop_box", *options])


def _program(words: Sequence[str], *files: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        children.module(*words),
        pass_fds=files,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def trust_code(path: str) -> None:
    """Allow this model file to run the Python code that it names (``--trust-code``)."""
    trust.trust(path)
