"""The .yaml of a map in the format of ROS's map_server, checked key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import degrees
from pathlib import Path
from typing import Any

from sim_mock.files.documents import Document
from sim_mock.files.keys import REQUIRED, Key, choice, number
from sim_mock.files.numbers import is_not_finite, parse_number
from sim_mock.files.reading import read_key
from sim_mock.files.text import FileFault
from sim_mock.files.yaml_document import read_yaml
from sim_mock.tracks.driving_area import Pose

TRINARY, SCALE, RAW = MODES = ("trinary", "scale", "raw")
_APART_M = 1e6  # an origin that is farther away is in millimetres
_TURN_RAD = 6.3  # a whole turn
_PERCENT = 100.0  # of one: a threshold in percent is told by that
_SHOWN = 100  # letters of a value in an error
KEYS = (
    Key("image", "text"),
    number("resolution", 0.001, 10.0),
    Key("origin", "list"),
    Key("negate", "choice", choices=("0", "1", "false", "true")),
    number("occupied_thresh", 0.0, 1.0),
    number("free_thresh", 0.0, 1.0),
    choice("mode", MODES, default=TRINARY),
)


@dataclass(frozen=True)
class MapFacts:
    """The contents of a map's .yaml; ``notes`` are sentences on what is not used.

    ``resolution_m`` is the side of a pixel. ``origin`` is the place of the image's lower left
    corner in the map's frame: m, m, rad. The thresholds are shares of black, 0 to 1.
    """

    path: Path
    image: Path
    resolution_m: float
    origin: Pose
    negate: bool
    occupied_thresh: float
    free_thresh: float
    mode: str
    notes: tuple[str, ...] = ()


def read_map_file(path: Path) -> MapFacts:
    """Read a map's .yaml; the image that it names is not opened.

    Raises FileFault, which names the key, for what is missing, of a wrong kind or out of range; and
    for a file that cannot be read or is no YAML.
    """
    document = read_yaml(path)
    _refuse_missing(document)
    values = {key.name: _value(document, key) for key in KEYS}
    if values["occupied_thresh"] <= values["free_thresh"]:
        raise document.fault(
            "free_thresh",
            "the thresholds are swapped",
            expected=f"below occupied_thresh, which is {values['occupied_thresh']:g}",
            got=f"{values['free_thresh']:g}",
        )
    unknown = [name for name in document.values if name not in values]
    notes = (f"{path.name}: {', '.join(unknown)}: not read by map_server",) if unknown else ()
    return MapFacts(
        path,
        path.parent / values["image"],
        values["resolution"],
        _origin(document, values["origin"]),
        values["negate"] in ("1", "true"),
        values["occupied_thresh"],
        values["free_thresh"],
        values["mode"],
        notes,
    )


def _refuse_missing(document: Document) -> None:
    required = [key.name for key in KEYS if key.default is REQUIRED]
    missing = [name for name in required if name not in document.values]
    if missing:
        raise FileFault(
            "is no map of ROS's map_server",
            where=str(document.path),
            expected=", ".join(required),
            got=f"missing: {', '.join(missing)}",
        )


def _value(document: Document, key: Key) -> Any:
    """Return a key's value; as for yaml-cpp, quotes make no difference to numbers."""
    given: Mapping[str, Any] = document.values
    value = given.get(key.name)
    if key.name == "negate":
        value = str(value).lower()
    elif key.kind == "number":
        value = _number(value)
        if "thresh" in key.name and isinstance(value, float) and 1.0 < value <= _PERCENT:
            raise document.fault(
                key.name, "is a share", key.expected, f"{value:g}", "are these percent?"
            )
    return read_key(
        document, key.name, {**given, key.name: value} if key.name in given else given, key
    )


def _number(value: object) -> object:
    """Return a number, also of a text; anything else as it is, to be refused."""
    if isinstance(value, str):
        try:
            return parse_number(value)
        except ValueError:
            return value
    return float(value) if type(value) is int else value


def _origin(document: Document, given: list[object]) -> Pose:
    numbers = [_number(value) for value in given]
    limits = (_APART_M, _APART_M, _TURN_RAD)
    is_pose = len(numbers) == len(limits) and all(
        isinstance(value, float) and abs(value) <= limit
        for value, limit in zip(numbers, limits, strict=True)
    )
    if not is_pose:
        raise document.fault(
            "origin",
            "is no pose",
            expected=f"[x, y, yaw] in metres and radians, x and y within {_APART_M:g} m and yaw "
            f"within {_TURN_RAD:g} rad",
            got=str(given)[:_SHOWN],
            remedy=_remedy_of(numbers),
        )
    return Pose(*(value for value in numbers if isinstance(value, float)))


def _remedy_of(numbers: list[object]) -> str:
    """Return what to do about an origin that is no pose."""
    yaw = numbers[-1] if len(numbers) == 3 else None
    if isinstance(yaw, float) and _TURN_RAD < abs(yaw) <= degrees(_TURN_RAD):
        return "is its yaw in degrees? it is in radians"
    if any(is_not_finite(str(it)) for it in numbers):
        return "map_saver writes nan where it had no pose: write 0 for it"
    return ""
