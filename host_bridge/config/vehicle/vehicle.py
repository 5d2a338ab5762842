"""Loader of vehicle files: finds, reads, checks and compiles them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from host_bridge.config.vehicle.bases import (
    base_names,
    is_file,
    known_file,
    known_names,
    read_with_bases,
)
from host_bridge.config.vehicle.channels import CompiledChannel, compile_channels
from host_bridge.config.vehicle.compilation import compile_parameters, source_mask
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.encoder_rules import reminders, slowest_mps
from host_bridge.config.vehicle.geometry import SteeringGeometry
from host_bridge.config.vehicle.reading import TOP_KEYS, read_vehicle
from host_bridge.config.vehicle.rules import check_parameters, check_tables
from host_bridge.config.vehicle.schema import PROFILES, SOURCE_IDS, STOP_CAUSES, STOP_SOURCES
from host_bridge.config.vehicle.unaided import accepted_coast, unaided_facts
from host_bridge.core import DivergenceLimits, FileValue, SourceFacts, StopSourceFacts, Vehicle
from host_bridge.core.errors import VehicleFileFault


def vehicle_names() -> tuple[str, ...]:
    """Return the names of the vehicle types of Tandem and of other installed packages."""
    return known_names()


def load_vehicle(name_or_path: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
    """Load a type by its name (``nigel``) or by the path of its file (anything with a / or .toml).

    ``changes`` are values that replace the file's, such as ``{"timing.step_s": 0.02}``. Raises
    VehicleFileFault naming file, line, key, what was expected and got, and the remedy.
    """
    document, tables = vehicle_tables(name_or_path, changes)
    sizes, steer_max_rad = tables["geometry"], tables["limits"]["steer_max_rad"]
    geometry = SteeringGeometry(sizes["wheelbase_m"], sizes["track_m"], sizes["rear_steer_ratio"])
    channels = compile_channels(document, tables["channels"], geometry, steer_max_rad)
    parameters = compile_parameters(tables, channels, geometry)
    check_parameters(document, parameters)
    return _vehicle(document, tables, channels, parameters)


def vehicle_word(vehicle: Vehicle) -> str:
    """Return the word by which any program on this machine finds the vehicle's file.

    It is its name if Tandem or an installed package brings that very file along, else its path.
    """
    is_known = vehicle.name in known_names()
    return (
        vehicle.name
        if is_known and _is_same(known_file(vehicle.name), vehicle.path)
        else vehicle.path
    )


def _is_same(known: Path, path: str) -> bool:
    return known.absolute() == Path(path)


def vehicle_tables(
    name_or_path: str, changes: Mapping[str, Any] | None = None
) -> tuple[VehicleDocument, dict[str, Any]]:
    """Return the checked tables of a vehicle file, not yet compiled. Raises VehicleFileFault."""
    document = read_with_bases(_find(name_or_path))
    for key, value in (changes or {}).items():
        document.change(key, value)
    tables = read_vehicle(document)
    check_tables(document, tables)
    return document, tables


def _find(name_or_path: str) -> Path:
    is_path = "/" in name_or_path or name_or_path.endswith(".toml")
    path = Path(name_or_path) if is_path else known_file(name_or_path)
    if is_file(path):
        if not is_path and path.stem != name_or_path:
            raise _named_otherwise(name_or_path, path)
        return path
    names = vehicle_names()
    if not name_or_path:
        raise VehicleFileFault(
            "no vehicle is named",
            expected=f"one of {', '.join(names)}, or the path of a .toml file",
            got="nothing",
            remedy="as in sim://nigel or sim://./my_car.toml",
        )
    raise VehicleFileFault(
        f"there is no vehicle file {name_or_path}",
        where=str(path) if is_path else "",
        expected=f"one of {', '.join(names)}, or the path of a .toml file",
        got=name_or_path,
        remedy=_meant(name_or_path, names),
    )


def _named_otherwise(name: str, path: Path) -> VehicleFileFault:
    return VehicleFileFault(
        "a package offers this vehicle file by another name than its own",
        where=str(path),
        expected=f"{path.stem}: a vehicle is named as its file is",
        got=name,
        remedy="correct the entry point tandem.vehicles of that package",
    )


def _meant(name: str, names: Sequence[str]) -> str:
    """Return a remedy for the name of a vehicle that does not exist: a similar one, if any."""
    if name in base_names():
        return f"{name} is what several vehicle files are based on, and no car by itself"
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else "tandem vehicles lists what there is"


def _vehicle(
    document: VehicleDocument,
    tables: dict[str, Any],
    channels: list[CompiledChannel],
    parameters: dict[str, list[int]],
) -> Vehicle:
    limits, stop = tables["limits"], tables["stop"]
    return Vehicle(
        name=document.path.stem,
        title=tables["title"],
        path=str(document.path.absolute()),
        wheelbase_m=tables["geometry"]["wheelbase_m"],
        track_m=tables["geometry"]["track_m"],
        speed_max_mps=limits["speed_max_mps"],
        reverse_max_mps=limits["reverse_max_mps"],
        steer_max_rad=limits["steer_max_rad"],
        sources=tuple(_source(name, table) for name, table in tables["sources"].items()),
        divergence=DivergenceLimits(**tables["divergence"]),
        step_s=tables["timing"]["step_s"],
        blind_m=stop["blind_m"],
        stop_sources=tuple(_stop_source(name, table) for name, table in stop["sources"].items()),
        profile=stop["profile"],
        profile_caps_mps={n: table["speed_cap_mps"] for n, table in tables["profiles"].items()},
        unaided=unaided_facts(tables),
        accepted_coast=accepted_coast(tables),
        may_arm=tuple(stop["may_arm"]),
        may_clear=tuple(stop["may_clear"]),
        has_rc=tables["rc"] is not None,
        unwired=tables["unwired"],
        slowest_mps=slowest_mps(tables),
        reminders=reminders(tables),
        calibration=tables["calibration"],
        stop_policies={cause: stop["policies"][cause] or stop["policy"] for cause in STOP_CAUSES},
        values=tuple(sorted(_values(document), key=_by_table)),
        plant=tables["plant"],
        channels=tuple(channel.plant for channel in channels),
        parameters=parameters,
    )


def _values(document: VehicleDocument) -> Iterator[FileValue]:
    for key, value, place in document.leaves():
        yield FileValue(key, value, str(place.path), place.line)


def _by_table(value: FileValue) -> int:
    """Return the sort key that puts values in the order of hardware/vehicles/README.md.

    It does not depend on which file a value comes from.
    """
    return TOP_KEYS.index(value.key.partition(".")[0])


def _source(name: str, table: dict[str, Any]) -> SourceFacts:
    return SourceFacts(
        id=SOURCE_IDS[name],
        name=name,
        priority=table["priority"],
        mask=source_mask(table),
        lease_s=table["lease_s"],
        speed_cap_mps=table["speed_cap_mps"],
        is_attended=table["attended"],
        has_counter=table["counter"],
        yields_on_silence=table["on_silence"] == "yield",
        needs=table["needs"],
    )


def _stop_source(name: str, table: dict[str, Any]) -> StopSourceFacts:
    return StopSourceFacts(
        id=STOP_SOURCES[name].id,
        name=name,
        is_human=STOP_SOURCES[name].is_human,
        silence_s=table["silence_s"],
        policy=table["policy"],
        needs={profile: table[profile] for profile in PROFILES},
    )
