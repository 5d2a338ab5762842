"""The options of a path, of what follows its file in ``--input 'path:FILE?law=stanley&laps=3'``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from host_bridge.core.errors import UsageFault
from host_bridge.core.files import parse_number
from host_bridge.inputs.paths.laws import LAWS
from host_bridge.inputs.paths.mppi.planner import COSTS
from host_bridge.inputs.paths.path import Pose, parse_pose
from host_bridge.inputs.paths.speed_profile import DECEL_MPS2, LATERAL_MPS2
from host_bridge.mapping.poses.sources import ODOMETRY

_OPTIONS = (
    "law", "laps", "loop", "at", "far", "lookahead", "lateral", "decel", "pose", "wide", "cost",
    "seed",
)  # fmt: skip
MPPI = "mppi"  # the law that plans the speed, too
_BEGIN_AT = (ODOMETRY, "localise")  # sources that have to be told where the car was put
EXAMPLE = "--input 'path:line.csv?law=stanley&laps=3'"


@dataclass(frozen=True)
class PathOptions:
    """The options of a path; None leaves the choice to the path or the vehicle."""

    law: str = "pursuit"
    laps: int = 1  # of a loop; 0: until it is ended by a person
    is_loop: bool | None = None
    at: Pose | None = None  # of the centre of gravity, in the path's frame: x, y, yaw
    far_m: float | None = None
    lookahead_m: float | None = None
    lateral_mps2: float = LATERAL_MPS2
    decel_mps2: float = DECEL_MPS2
    pose: str = ODOMETRY  # whoever says where the car is, in the path's frame
    wide_m: float | None = None  # MPPI may leave the path so far; None: half of far
    cost: str = "race"  # of MPPI
    seed: int = 0  # of the variations that MPPI tries


def parse_options(query: Mapping[str, str]) -> PathOptions:
    """Parse the options of a path.

    Raises errors.UsageFault naming the option that is wrong.
    """
    unknown = [name for name in query if name not in _OPTIONS]
    if unknown:
        raise UsageFault(
            f"a path has no option {unknown[0]!r}",
            expected=f"of {', '.join(_OPTIONS)}",
            remedy=EXAMPLE,
        )
    law = query.get("law", PathOptions.law)
    if law not in (*LAWS, MPPI):
        raise _wrong("law", law, " or ".join((*LAWS, MPPI)))
    cost = query.get("cost", PathOptions.cost)
    if cost not in COSTS:
        raise _wrong("cost", cost, " or ".join(COSTS))
    only_mppi = [name for name in ("wide", "cost", "seed") if name in query and law != MPPI]
    if only_mppi:
        raise UsageFault(
            f"{only_mppi[0]} is for law=mppi alone",
            got=f"law={law}",
            remedy=f"{EXAMPLE}, or law=mppi",
        )
    return PathOptions(
        law,
        _whole("laps", query, PathOptions.laps),
        bool(_whole("loop", query, 0)) if "loop" in query else None,
        _pose(query["at"]) if "at" in query else None,
        _length("far", query),
        _length("lookahead", query),
        _length("lateral", query) or LATERAL_MPS2,
        _length("decel", query) or DECEL_MPS2,
        _source(query),
        _length("wide", query),
        cost,
        _whole("seed", query, PathOptions.seed),
    )


def _source(query: Mapping[str, str]) -> str:
    text = query.get("pose", ODOMETRY)
    if not text:
        raise _wrong("pose", "", "whoever says where the car is, as pose=localise:lab.yaml")
    if "at" in query and text.partition(":")[0] not in _BEGIN_AT:
        raise UsageFault(
            "pose and at of a path exclude each other: the source says where the car is",
            got=f"at={query['at']} and pose={text}",
            remedy=EXAMPLE,
        )
    return text


def _wrong(name: str, got: str, expected: str) -> UsageFault:
    return UsageFault(f"{name} of a path", expected=expected, got=got, remedy=EXAMPLE)


def _whole(name: str, query: Mapping[str, str], default: int) -> int:
    text = query.get(name, str(default))
    if not text.isdecimal():
        raise _wrong(name, text, "a whole number from 0")
    return int(text)


def _length(name: str, query: Mapping[str, str]) -> float | None:
    if name not in query:
        return None
    value = _number(name, query[name])
    if not value > 0.0:
        raise _wrong(name, query[name], "a number above 0")
    return value


def _number(name: str, text: str) -> float:
    try:
        return parse_number(text)
    except ValueError:
        raise _wrong(name, text, "a number") from None


def _pose(text: str) -> Pose:
    try:
        return parse_pose(text)
    except ValueError:
        raise _wrong("at", text, "X,Y,YAW_DEG, as start= of a virtual car") from None
