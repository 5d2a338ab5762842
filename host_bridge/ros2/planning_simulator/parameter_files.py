"""Readers for the parameter files of simple_planning_simulator, unchanged."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.files import FileFault, misread_text, read_yaml, yaml_value
from sim_mock.bodies.trust import is_trusted
from sim_mock.models.planning.model_types import LEARNED, refuse_unknown
from sim_mock.models.planning.parameters import NUMBERS, TEXTS
from sim_mock.models.planning.simulator import (
    INITIALIZE_SOURCES,
    Simulator,
    SimulatorSettings,
    make_simulator,
)

NODE = "simple_planning_simulator"
NAMESPACE = "/simulation"
WHEEL_BASE = "wheel_base"
# Parameters of their node besides its vehicle model's, with its defaults; None: no default
NODE_PARAMETERS: dict[str, bool | int | float | str | None] = {
    "simulated_frame_id": "base_link",
    "origin_frame_id": "odom",
    "add_measurement_noise": False,
    "initial_engage_state": None,
    "enable_road_slope_simulation": False,
    "enable_pub_steer": True,
    "vehicle_model_type": "IDEAL_STEER_VEL",
    "timer_sampling_time_ms": 25,
    "initialize_source": "INITIAL_POSE_TOPIC",
    "pos_noise_stddev": 0.01,
    "vel_noise_stddev": 0.01,
    "rpy_noise_stddev": 0.0001,
    "steer_noise_stddev": 0.0001,
    "x_stddev": 0.0001,
    "y_stddev": 0.0001,
    WHEEL_BASE: None,
}
# Our addition: their node never lets a command expire. 0.5 s is their gate's heartbeat timeout
LEASE = "command_lease_s"
OURS: dict[str, float] = {LEASE: 0.5}
# Parameters of the vehicle's body, which their files have and a planar model does not use
_BODY = (
    "wheel_radius",
    "wheel_width",
    "wheel_tread",
    "front_overhang",
    "rear_overhang",
    "left_overhang",
    "right_overhang",
    "vehicle_height",
    "max_steer_angle",
    "cg_to_front_m",
    "cg_to_rear_m",
    "front_corner_stiffness",
    "rear_corner_stiffness",
    "mass_kg",
    "yaw_inertia_kgm2",
    "width_m",
    "front_overhang_m",
    "rear_overhang_m",
    "use_sim_time",
)


@dataclass(frozen=True)
class SimulatorSetup:
    """All parameters of files and command line; a later one replaces an earlier one."""

    values: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def period_s(self) -> float:
        return float(self.values["timer_sampling_time_ms"]) / 1000

    def simulator(self, seed: int) -> Simulator:
        """Make the simulator of these parameters.

        Raises errors.DataFileFault for a vehicle model that does not exist here or cannot be made.
        """
        names = ("vehicle_model_type", *NUMBERS, *TEXTS, *SimulatorSettings._fields)
        given = {name: self.values[name] for name in names if name in self.values}
        try:
            return make_simulator(given, self.values[WHEEL_BASE], self.period_s, seed)
        except (ValueError, OSError, TypeError) as error:
            raise DataFileFault(
                "the vehicle model cannot be made of these parameters", got=misread_text(error)
            ) from None


def read_setup(paths: Sequence[Path], given: Mapping[str, Any]) -> SimulatorSetup:
    """Read the parameters of files; those of the command line, ``given``, replace them.

    Raises errors.DataFileFault for a parameter that is missing or of the wrong type.
    """
    read: dict[str, Any] = {}
    for path in paths:
        read.update(_of_file(path))
    read.update(given)
    defaults = {name: value for name, value in NODE_PARAMETERS.items() if value is not None}
    models = {name: row.default for name, row in NUMBERS.items()}
    values = {**defaults, **OURS, **models, **read}
    _check(values)
    return SimulatorSetup(values, tuple(_notes(values)))


def parameter(text: str) -> tuple[str, Any]:
    """Parse a parameter of a command line, NAME:=VALUE.

    Raises errors.UsageFault.
    """
    name, is_given, value = text.partition(":=")
    if not is_given or not name:
        raise UsageFault("this is no parameter", expected="NAME:=VALUE", got=text)
    try:
        return name, yaml_value(value)
    except FileFault:
        raise UsageFault("this is no value", expected="NAME:=VALUE", got=text) from None


def _check(values: Mapping[str, Any]) -> None:
    try:
        refuse_unknown(values["vehicle_model_type"])
    except ValueError as error:
        raise DataFileFault(str(error)) from None
    for name, default in {**NODE_PARAMETERS, **OURS}.items():
        if name not in values:
            raise DataFileFault(
                f"{name} is not given",
                expected="a value: their node has no default for it either",
                remedy=f"--params FILE with it, or -p {name}:=VALUE",
            )
        kind = {"initial_engage_state": False, WHEEL_BASE: 0.0}.get(name, default)
        if not _is_like(values[name], kind):
            raise _fault(name, f"a value as {kind!r}", values[name])
    for name in ("timer_sampling_time_ms", WHEEL_BASE, LEASE):
        if values[name] <= 0:
            raise _fault(name, "a number above 0", values[name])
    if values["initialize_source"] not in INITIALIZE_SOURCES:
        raise _fault(
            "initialize_source", " or ".join(INITIALIZE_SOURCES), values["initialize_source"]
        )


def _is_like(value: object, kind: object) -> bool:
    if isinstance(kind, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(kind)


def _notes(values: Mapping[str, Any]) -> Iterable[str]:
    known = {*NODE_PARAMETERS, *OURS, *NUMBERS, *TEXTS, *_BODY, *SimulatorSettings._fields}
    for name in values:
        if name not in known:
            yield f"the parameter {name} is not heeded"
    if values["enable_road_slope_simulation"]:
        yield "enable_road_slope_simulation: no map is read here, the road is level"


def _of_file(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for table in _tables(read_yaml(path).values, ""):
        found.update(table)
    if not found:
        raise DataFileFault(
            "says nothing of the simulator",
            where=str(path),
            expected=f"/**: ros__parameters: or {NAMESPACE}/{NODE}: ros__parameters:",
        )
    return _resolved(found, path)


def _tables(read: object, name: str) -> Iterable[Mapping[str, Any]]:
    """Yield the parameters of each entry of the file whose node name is this node's."""
    if not isinstance(read, Mapping):
        return
    for key, value in read.items():
        if key == "ros__parameters" and isinstance(value, Mapping) and _is_this_node(name):
            yield value
        elif isinstance(value, Mapping):
            yield from _tables(value, f"{name}/{key}".replace("//", "/"))


def _is_this_node(name: str) -> bool:
    return name in ("/**", f"/**/{NODE}", f"/{NODE}", f"{NAMESPACE}/{NODE}", f"{NAMESPACE}/*")


def _resolved(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """Resolve a path relative to the file, and refuse a file with code that is not trusted.

    A learned model runs Python code that the file names, with all rights of the user.
    """
    name = "acceleration_map_path"
    if name in found:
        found[name] = str(path.parent / _substituted(name, str(found[name])))
    if found.get("vehicle_model_type") == LEARNED and not is_trusted(path):
        raise DataFileFault(
            "brings Python code of its own, which runs with all that your login may do",
            where=str(path),
            got=str(found.get("model_module_paths")),
            remedy=f"if you trust it: --trust-code {path}",
        )
    return found


def _substituted(name: str, text: str) -> str:
    """Return a path with $(find-pkg-share PACKAGE) and $(env NAME) replaced, as launch does it.

    Raises errors.DataFileFault for a package that is not here, and for other substitutions.
    """

    def value(found: re.Match[str]) -> str:
        kind, _, word = found[1].partition(" ")
        if kind == "env" and word in os.environ:
            return os.environ[word]
        prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
        shares = [Path(it) / "share" / word for it in prefixes if it]
        here = [it for it in shares if kind == "find-pkg-share" and it.is_dir()]
        if not here:
            expected = "$(find-pkg-share PACKAGE) of an installed package, or $(env NAME)"
            raise _fault(name, f"{expected}; or a path, by -p {name}:=PATH", text)
        return str(here[0])

    return re.sub(r"\$\(([^()]*)\)", value, text)


def _fault(name: str, expected: str, got: object) -> DataFileFault:
    return DataFileFault(
        f"{name} is not as simple_planning_simulator has it",
        expected=expected,
        got=repr(got),
    )
