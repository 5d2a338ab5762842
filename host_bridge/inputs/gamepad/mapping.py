"""The mapping of a pad's controls, by SDL's GUID, and the files in which this user keeps it.

SDL's own line (``GUID,name,a:b0,leftx:a0,...``) gives each button or axis of the device its name on
a gamepad; wheels are devices with such a line as well. ``Roles`` assign those names to driving,
deadman and stop. ``LivenessCheck`` says how a frozen pad is detected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import misread_text, read_json
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.core.system.users_folder import users_folder
from host_bridge.inputs.gamepad.sdl import AXES, BUTTONS


class LivenessCheck(Enum):
    """The liveness check of a pad while the deadman is held: what shows that it is not frozen."""

    REPORTS = "reports"  # it reports all the time: noise of its axes, or a gyro
    TRIGGER = "trigger"  # the deadman is an analogue trigger, whose noise comes from the hand
    PRESSES = "presses"  # neither: something has to be moved or pressed each second, at low speed


@dataclass(frozen=True)
class Roles:
    """The role of each control, by SDL's name. A sign may precede an axis: ``-lefty`` is up."""

    hand: str = "leftshoulder"  # LB: drives by hand while held
    autonomy: str = "rightshoulder"  # RB: lets a program drive while held
    arm: str = "start"
    quit: str = "back"
    stop: str = "b"  # besides it every button without a role stops
    forward: str = "righttrigger"
    reverse: str = "lefttrigger"
    brake: str = ""
    steer: str = "-leftx"  # to the left


@dataclass(frozen=True)
class PadMapping:
    """The stored settings of one kind of pad."""

    guid: str
    name: str = ""
    sdl: str = ""  # SDL's line; "": the one that SDL itself has
    liveness: LivenessCheck | None = None  # None: decided when the pad is opened
    roles: Roles = field(default_factory=Roles)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> PadMapping:
        """Make one from a file's row.

        Raises KeyError, TypeError or ValueError for anything else.
        """
        roles = Roles(**{str(name): str(value) for name, value in row["roles"].items()})
        for it in fields(roles):
            control = str(getattr(roles, it.name)).lstrip("+-")
            if control and control not in AXES and control not in BUTTONS:
                raise ValueError(f"{it.name} = {control!r} is no control of SDL's")
        _refuse_conflicts(roles, str(row["sdl"]))
        liveness = LivenessCheck(row["life"]) if row["life"] else None
        if liveness is LivenessCheck.TRIGGER and roles.hand not in AXES:
            raise ValueError(f"life is the trigger's, but {roles.hand} is no axis")
        return cls(str(row["guid"]), str(row["name"]), str(row["sdl"]), liveness, roles)

    def row(self) -> dict[str, Any]:
        """Return the row for the file."""
        return {
            "guid": self.guid,
            "name": self.name,
            "sdl": self.sdl,
            "life": self.liveness.value if self.liveness else "",
            "roles": asdict(self.roles),
        }


def _refuse_conflicts(roles: Roles, sdl: str) -> None:
    """Raise ValueError if a button has two roles, or the stop is no button or has another role.

    Two roles may share an axis, as forward and backward do, but not with the stop.
    """
    inputs = dict(part.partition(":")[::2] for part in sdl.split(",")[2:])
    taken: dict[str, str] = {}
    for it in sorted(fields(roles), key=lambda it: it.name != "stop"):  # the stop comes first
        control = str(getattr(roles, it.name)).lstrip("+-")
        if not control:
            continue
        moved = inputs.get(control, control)  # two names may be one button of the device
        if it.name == "stop" and not _is_button(moved, control):
            raise ValueError(f"stop = {control!r} is no button: a half-moved axis stops nothing")
        other = taken.setdefault(moved, it.name)
        if other != it.name and _is_button(moved, control):
            raise ValueError(f"{other} and {it.name} are one control, {control} ({moved})")


def _is_button(moved: str, control: str) -> bool:
    """Return whether the control is a button.

    ``moved`` is its input in SDL's line (b3, a2, h0.1), or the control's name without a line.
    """
    return control in BUTTONS if moved == control else moved[:1] in ("b", "h")


class PadMappings:
    """The store of mappings: one file per GUID, in ``folder`` or in this user's data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or users_folder("pads")

    def of(self, guid: str) -> PadMapping:
        """Return the stored mapping, or the defaults for a pad that has none.

        Raises errors.DataFileFault.
        """
        path = self.path(guid)
        if not path.exists():
            return PadMapping(guid)
        try:
            return PadMapping.from_row(read_json(path).values)
        except (DataFileFault, ValueError, TypeError, KeyError, AttributeError, OSError) as error:
            raise DataFileFault(
                "what is kept of this pad cannot be read",
                where=str(path),
                got=misread_text(error).replace("\n", ";"),
                remedy="tandem pads map makes it anew, once the file is deleted",
            ) from None

    def keep(self, mapping: PadMapping) -> Path:
        """Write the mapping atomically; return its path. Raises errors.DataFileFault."""
        path = self.path(mapping.guid)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(mapping.row(), indent=2) + "\n")
        except OSError as error:
            raise DataFileFault.unwritable("the mapping of this pad", path, error) from None
        return path

    def path(self, guid: str) -> Path:
        return self.folder / f"{guid}.json"
