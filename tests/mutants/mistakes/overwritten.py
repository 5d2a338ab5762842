"""Defaults of ``__init__`` that nobody reads, because something else is written there before.

All tests of ``tests/firmware/core`` run without them (its ``conftest.py`` calls ``taken_away``): an
attribute of this table is gone once its object is made, so that whatever reads it before
``configure()``, or whatever else writes it, fails. What such a default is can matter to nobody
then, and the driver makes no mistakes in it. An attribute without a row is tried as all else is.
"""

import ast
import functools
import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest

from tests.mutants.mistakes.mutations import Mutant, module_of, mutants_of


class Overwritten(NamedTuple):
    file: str
    name: str  # of the class
    attributes: tuple[str, ...]


OVERWRITTEN = (
    Overwritten("firmware/core/deadlines.py", "Deadline", ("_at_us",)),  # by set(): shut before
    Overwritten(
        "firmware/core/stops/stopping.py",
        "StopSequence",
        ("_policies", "_fault_policies", "_standstill_us", "_timeout_us"),
    ),
    # By the sample that makes the bound known
    Overwritten("firmware/core/clock.py", "Session", ("_sampled_bound_us", "_sampled_us")),
    # on each step, or as it is configured
    Overwritten(
        "firmware/core/arbitration/arbiter.py",
        "Arbiter",
        ("live_switches", "_in_hand", "_switches"),
    ),
    Overwritten(
        "firmware/core/arbitration/actions.py",
        "Actions",
        ("_speed_max", "_default", "_profile_caps"),
    ),
    Overwritten(
        "firmware/core/arbitration/rc_receiver.py",
        "RcReceiver",
        ("_is_ready", "_lows", "_centres", "_highs", "_dead_band", "_steer_max_urad"),
    ),
    Overwritten(
        "firmware/core/stops/plausibility.py",
        "Plausibility",
        ("_stuck_us", "_stuck_effort", "_standstill", "_most_mm_s", "_fast_us", "_runaway_mm_s"),
    ),
    Overwritten("firmware/core/motion/outputs.py", "OutputStage", ("_actuators", "_neutrals")),
    Overwritten(
        "firmware/core/stops/fault_monitor.py",
        "FaultMonitor",
        ("_stand_us", "_clock_bound_us", "_overrun_us"),
    ),
    Overwritten(
        "firmware/core/motion/motion.py",
        "MotionControl",
        (
            "brake", "clamped", "_speed_max", "_reverse_max", "_steer_max", "_steer_centres",
            "_limp_mm_s", "_has_brake", "_profile_caps", "_dt_ms", "_beat_ms", "_steer_in_stop",
            "_aux_in_stop",
        ),
    ),
    Overwritten(
        "firmware/core/motion/drive.py",
        "Drive",
        ("_brake_max", "_brake_full", "_decel", "_brake_decel", "_brake_jerk",
         "_pause_us"),
    ),
    Overwritten(
        "firmware/core/settings/configuration.py", "Configuration", ("is_valid", "is_ours")
    ),
    Overwritten(
        "firmware/core/motion/steering.py", "Steering", ("_max_urad", "_span_urad", "_curves")
    ),
    Overwritten("firmware/core/motion/warm_up.py", "WarmUp", ("_for_us",)),
    # With its deadline
    Overwritten("firmware/core/stops/pairing.py", "PairedBox", ("_strange_says",)),
    Overwritten("firmware/core/stops/boxes.py", "Boxes", ("_next_us",)),  # when a challenge is said
    Overwritten(  # by configure(), by begin(), and by the step in which the loop opens
        "firmware/core/stops/loop_brake.py",
        "LoopBrake",
        ("_most_ms", "_promised", "_late_us", "_has_opened", "_opened_us", "_from_mm_s"),
    ),
)  # fmt: skip
_ATTRIBUTES = {(row.file, f"{row.name}.__init__"): row.attributes for row in OVERWRITTEN}


def tried(file: str, source: str, scope: tuple[str, ...] = ()) -> list[Mutant]:
    """All mutants of a source but those of defaults that are never read."""
    return [it for it in mutants_of(file, source, scope) if not is_left_out(it)]


def is_left_out(mutant: Mutant) -> bool:
    """Only where all that the statement writes is in the table."""
    attributes = _ATTRIBUTES.get((mutant.file, mutant.where))
    return bool(attributes) and set(_written(mutant.before)) <= set(attributes or ())


@functools.cache
def _written(statement: str) -> tuple[str, ...]:
    """Attributes of ``self`` that an assignment writes; a text that is in no table for all else."""
    try:
        (node,) = ast.parse(statement).body
    except SyntaxError:  # the head of a compound statement
        return ("",)
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    is_plain = isinstance(node, ast.Assign | ast.AnnAssign)
    return tuple(_attribute(it) if is_plain else "" for it in targets)


def _attribute(target: ast.AST) -> str:
    is_own = isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
    return target.attr if is_own and isinstance(target, ast.Attribute) else ""


def rows() -> list[tuple[Any, tuple[str, ...]]]:
    """Each class of the table, and its attributes."""
    return [
        (getattr(importlib.import_module(module_of(row.file)), row.name), row.attributes)
        for row in OVERWRITTEN
    ]


def taken_away(patch: pytest.MonkeyPatch, given: Iterable[tuple[Any, tuple[str, ...]]]) -> None:
    """From now on objects of these classes lack these attributes until something writes them."""
    for cls, attributes in given:
        patch.setattr(cls, "__init__", _without(cls.__init__, attributes))


def _without(begin: Callable[..., None], attributes: tuple[str, ...]) -> Callable[..., None]:
    @functools.wraps(begin)
    def made(self: object, *given: object, **named: object) -> None:
        begin(self, *given, **named)
        for name in attributes:
            delattr(self, name)  # raises AttributeError if it was never set

    return made
