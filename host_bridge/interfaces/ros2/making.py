"""The input of a command line: which vocabulary, and the files that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from host_bridge.errors import UsageFault
from host_bridge.interfaces.ros2.files import read_mux, read_vesc
from host_bridge.interfaces.ros2.node import RosInput
from host_bridge.interfaces.ros2.tables import VOCABULARIES
from host_bridge.interfaces.ros2.vocabulary import Part


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> RosInput:
    """``--input ros2:VOCABULARY``; options ns, sensors, mux, vesc. Raises errors.TandemError."""
    name = rest or "f1tenth"
    if name not in VOCABULARIES:
        raise UsageFault(
            f"unknown vocabulary {name!r}", expected=" or ".join(VOCABULARIES), got=name
        )
    heard = {it.part for it in VOCABULARIES[name].heard}
    for option, part in (("mux", Part.ACKERMANN), ("vesc", Part.MOTOR_SPEED)):
        if option in options and part not in heard:
            raise UsageFault(
                f"--{option} says nothing of the topics of {name}",
                expected="a vocabulary that has such a file: f1tenth",
                got=name,
                remedy=f"leave --{option} out, or say --as f1tenth",
            )
    mux, notes = read_mux(Path(options["mux"])) if "mux" in options else (None, ())
    return RosInput(
        VOCABULARIES[name],
        options.get("ns", ""),
        sensors=options.get("sensors"),
        mux=mux,
        scale=read_vesc(Path(options["vesc"])) if "vesc" in options else None,
        notes=notes,
    )
