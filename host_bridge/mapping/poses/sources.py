"""The choice of a pose source by its text: ``odometry``, ``truth``, ``ros:/pose``, a file."""

from __future__ import annotations

import difflib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, cast

from host_bridge.core.errors import UsageFault
from host_bridge.mapping.poses.lines import localiser_lines
from host_bridge.mapping.poses.report import PoseContext, PoseSource

GROUP = "tandem.pose_sources"
ODOMETRY = "odometry"  # the car's own reckoning, uncorrected
# Those whose poses depend on a virtual car's own time only, so that they go with lockstep
_IN_LOCKSTEP = (ODOMETRY, "truth", "localise")
_EXAMPLES = {
    "truth": "truth",
    "localise": "localise:lab.yaml",
    "mocap": "mocap:car1",
    "ros": "ros:/pf/pose/odom",
    "tf": "tf:map>base_link",
}


class SourceFactory(Protocol):
    """The callable that an entry point of ``tandem.pose_sources`` names. Raises TandemError."""

    def __call__(self, rest: str, context: PoseContext) -> PoseSource: ...


def source_names() -> list[str]:
    """Return the kinds of pose source that are installed, sorted, those of others included."""
    return sorted({ODOMETRY, *entry_points(group=GROUP).names})


def is_computed(text: str) -> bool:
    """Return whether this source goes with lockstep: it has no other program or clock in it.

    Raises errors.UsageFault for a name that nothing here has.
    """
    if _is_unknown(text):
        raise unknown_source(text)
    name, _, rest = text.partition(":")
    return name in _IN_LOCKSTEP and not (name == "truth" and rest)


def open_source(text: str, context: PoseContext) -> PoseSource | None:
    """Return the source of ``NAME:REST`` or of a file of poses; None for ``odometry``.

    Raises errors.TandemError, UsageFault for a name that nothing here has.
    """
    name, _, rest = text.partition(":")
    if text == ODOMETRY:
        return None
    for entry in entry_points(group=GROUP, name=name):
        return cast(SourceFactory, entry.load())(rest, context)
    if _is_unknown(text):
        raise unknown_source(text)
    return localiser_lines(text)


def _is_unknown(text: str) -> bool:
    name, _, rest = text.partition(":")
    is_name = bool(rest) and name.isidentifier() and not Path(text).exists()
    return is_name and name not in source_names()


def unknown_source(text: str) -> UsageFault:
    """Return the fault of a text that names no source."""
    known, name = source_names(), text.partition(":")[0]
    near = difflib.get_close_matches(name, known, 1)
    return UsageFault(
        f"unknown source of poses {name!r}",
        expected=" or ".join((*(_EXAMPLES.get(it, it) for it in known), "a file or pipe of poses")),
        got=text,
        remedy=f"did you mean {near[0]}?" if near else "tandem path --help explains them",
    )
