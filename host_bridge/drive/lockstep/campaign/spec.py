"""The spec of a case: all that decides its result, in canonical form, and the hashes of it.

Two cases with equal specs and equal code are the same case. A file that a case reads is named in
its spec by the SHA-256 of its bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import Key, choice, integer, number, raised_as, read_bytes, text
from host_bridge.inputs.function import file_of
from host_bridge.link.transports.lossy import DIRECTIONS
from host_bridge.mapping.poses.sources import ODOMETRY
from sim_mock.faults.bounds.promises import TITLES

_ROOT = Path(__file__).resolve().parents[4]
_CODE = ("firmware", "sim_mock", "hardware", "host_bridge")  # what a case may run or read
_NOT_CODE = "host_bridge/api/"  # the API: on no case's way, and elsewhere in a wheel
_CODE_SUFFIXES = (".py", ".toml")
_FILE_BYTES = 64 << 20  # of a path, a map or a command file: far above any of them
_FILE_INPUTS = ("csv", "path", "policy")
_CODE_INPUT = "python"
_ROS_INPUT = "ros2"
LOCALISED = "localise:"  # a pose that is found in a map
BRAKE = "brake:obstacle"  # straight ahead, until the detector of the same case sees the obstacle
CENTRE = "path:centre"  # the centre line of the case's own track
OBSERVED = {  # oracles that hold or not
    "completed": "it drove for its duration and came to rest",
    "no_stop": "the car never stopped by itself",
    "no_spurious_stop": "the same, in cases without a fault",
    "no_collision": "it hit no wall",
    "on_track": "its centre never left the track",
    "no_obstacle_hit": "its front ended before the obstacle",
    **TITLES,
}

NONE = "none"  # no track, no map, no fault


def described(key: Key, meaning: str) -> Key:
    """Return the key with its meaning, for the page of all keys."""
    return replace(key, meaning=meaning)


KEYS: tuple[Key, ...] = (
    described(text("vehicle"), "a name of `tandem vehicles`, or a file"),
    described(
        text("calibration", default=NONE),
        "the numbers of the virtual car, as `calibration=` of its URI: own, or a file",
    ),
    described(text("track", default=NONE), "a track of `tandem sim --list`"),
    described(text("map", default=NONE), "the .yaml of a ROS map, instead of a track"),
    described(
        text("controller", default="script:slalom"),
        "any computed input of `tandem drive --input`; `path:centre` is the track's centre line, "
        "`brake:obstacle` drives straight until its detector sees the obstacle, and `ros2:f1tenth` "
        "(a vocabulary) is a ROS node by `/clock`, impure",
    ),
    described(
        text("pose", default=ODOMETRY),
        "who says a `path:` controller where the car is, as `pose=` of a path: also `truth` and "
        "`localise:MAP.yaml`",
    ),
    described(text("fault", default=NONE), "as `fault=` of a virtual car, in s from power-up"),
    number("duration_s", 0.1, 3600.0, meaning="from when the car may drive"),
    number("speed_mps", 0.05, 60.0, default=1.0, meaning="as `--speed`"),
    number("link_loss", 0.0, 1.0, default=0.0, meaning="share of frames lost, once it may drive"),
    number("link_delay_ms", 0.0, 1e4, default=0.0, meaning="of each frame, likewise"),
    number("link_jitter_ms", 0.0, 1e4, default=0.0, meaning="at most so much more, likewise"),
    described(
        text("link_burst", default=NONE),
        "`burst=` of a bad line: the chances that a burst of losses begins, and ends, at a frame",
    ),
    described(
        choice("link_direction", DIRECTIONS, default="both"), "up is to the car, down from it"
    ),
    number("start_x_m", -1e4, 1e4, default=0.0),
    number("start_y_m", -1e4, 1e4, default=0.0),
    number("start_yaw_deg", -360.0, 360.0, default=0.0),
    number("payload_kg", 0.0, 1000.0, default=0.0),
    number("obstacle_m", 0.0, 1e4, default=0.0, meaning="straight ahead of its start; 0: none"),
    number("detector_range_m", 0.0, 1e4, default=50.0, meaning="in clear daylight"),
    number("detector_weather", 0.0, 1.0, default=1.0, meaning="share of the range that is left"),
    number("detector_light", 0.0, 1.0, default=1.0, meaning="likewise, by the time of day"),
    number("detector_miss", 0.0, 1.0, default=0.0, meaning="share of looks that see nothing"),
    described(number("detector_rate_hz", 0.1, 1000.0, default=10.0), "looks a second"),
    number("detector_latency_ms", 0.0, 1e4, default=0.0, meaning="from a look to its answer"),
    integer("seed", 0, 2**32 - 1, default=0),
)
# Of a branch (``rare/``): [us since power-up, seed] of each moment at which all chance begins anew
LINEAGE = "lineage"
SPLITTING = "splitting"  # the settings of a replicate, which is no drive but an estimate by many
CHANGES = "vehicle_changes"  # dotted keys of the vehicle file, each in its own unit
# Oracles with a limit, each of a figure of the row
BOUNDS: tuple[Key, ...] = (
    number("stops_within_m", 0.0, 1000.0, meaning="from when a stop was told to standstill"),
    number(
        "rests_within_m", 0.0, 1000.0, meaning="from the last claim before a stop to standstill"
    ),
    number("path_error_within_m", 0.0, 100.0, meaning="the largest, of a `path:` controller"),
    number("laps_at_least", 0.0, 10_000.0, meaning="over the line at its start"),
    number("distance_at_least_m", 0.0, 1e6, meaning="in truth"),
)
Spec = Mapping[str, Any]


def canonical(spec: Spec) -> str:
    """Return the spec as JSON with sorted keys and no blanks. Raises ValueError if not finite."""
    return json.dumps(_plain(spec), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not finite")
    return 0.0 if value == 0 and isinstance(value, float) else value  # -0.0 is 0.0


def case_id(spec: Spec) -> str:
    """Return the name of a case: 16 hexadecimal digits of its spec's SHA-256."""
    return hashlib.sha256(canonical(spec).encode()).hexdigest()[:16]


@cache
def code_hash() -> str:
    """Return the hash of this program: of path and bytes of every source and vehicle file.

    A wheel of a tree has the tree's hash.
    """
    found = hashlib.sha256()
    for folder in _CODE:
        for file in sorted((_ROOT / folder).rglob("*")):
            name = file.relative_to(_ROOT).as_posix()
            if file.suffix in _CODE_SUFFIXES and not name.startswith(_NOT_CODE) and file.is_file():
                data = file.read_bytes()
                found.update(f"{name} {len(data)}\n".encode())
                found.update(data)
    return found.hexdigest()[:16]


def calls_for_runs(spec: Spec) -> int:
    """Return how many runs a row of the spec takes at most: those of a replicate, or one."""
    return int(spec[SPLITTING]["most_runs"]) if SPLITTING in spec else 1


def seed_of(campaign_seed: int, repetition: int) -> int:
    """Return the seed of a repetition: the same in all cells, so that cells can be paired."""
    text_of = f"tandem seed 1 {campaign_seed} {repetition}"
    return int.from_bytes(hashlib.sha256(text_of.encode()).digest()[:4], "big")


def files_of(spec: Spec) -> dict[str, str]:
    """Return the files that the case reads, with their SHA-256. Raises errors.DataFileFault."""
    names = [] if spec["map"] == NONE else [spec["map"]]
    names += [spec[key] for key in ("vehicle", "calibration") if spec[key].endswith(".toml")]
    kind, _, rest = spec["controller"].partition(":")
    if kind in _FILE_INPUTS and not spec["controller"].startswith(CENTRE):
        names.append(rest.partition("?")[0])
    elif kind == _CODE_INPUT:
        names.append(file_of(rest))
    if spec["pose"].startswith(LOCALISED):
        names.append(spec["pose"][len(LOCALISED) :])
    return {name: _sha256(name) for name in sorted(names)}


def calls_code(spec: Spec) -> bool:
    """Return whether the case's controller is a Python function of somebody's."""
    return str(spec["controller"]).partition(":")[0] == _CODE_INPUT


def is_impure(spec: Spec) -> bool:
    """Return whether the case is driven by somebody's ROS node, which takes its own time."""
    return str(spec["controller"]).partition(":")[0] == _ROS_INPUT


def refuse_changed(spec: Spec) -> None:
    """Raise errors.DataFileFault if a file of the case is not the one that its spec names."""
    for name, wanted in spec["files"].items():
        got = _sha256(name)
        if got != wanted:
            raise DataFileFault(
                "this file has changed since the campaign began",
                where=name,
                expected=f"SHA-256 {wanted[:16]}",
                got=got[:16],
                remedy="put the file back, or begin a new campaign",
            )


def _sha256(name: str) -> str:
    with raised_as():
        try:
            status = os.stat(name)
        except OSError:
            return hashlib.sha256(read_bytes(Path(name), _FILE_BYTES)).hexdigest()  # says why
        return _sha256_of(name, status.st_mtime_ns, status.st_ctime_ns, status.st_size)


# A campaign's cases read the same few files thousands of times; ctime changes with every write
@lru_cache(maxsize=256)
def _sha256_of(name: str, *written: int) -> str:
    return hashlib.sha256(read_bytes(Path(name), _FILE_BYTES)).hexdigest()
