"""A case that a ROS node drives: behind /clock, as fast as the world's time, and so impure.

The node is a program of its own, which hears ``/clock`` and the topics of its vocabulary, and
commands when it gets round to it. So a case is paced, and run again it has other bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, cast

from host_bridge.core import Input
from host_bridge.drive.control_task import TICK_US
from host_bridge.drive.controls import make_input
from host_bridge.drive.lockstep.campaign.spec import Spec, is_impure


class _Timed(Protocol):
    def use_time(self, steps: Any) -> None: ...


class UnheldTime:
    """The time of a case, which a node sees on /clock and can neither pause nor step."""

    meanwhile: Any = None
    is_paused = False

    def pause(self) -> None:
        """Do nothing: a case goes on."""

    def resume(self) -> None:
        """Do nothing: it was not paused."""

    def advance(self, seconds: float) -> None:
        """Do nothing: it was not paused."""


def ros_node(text: str, now_us: Callable[[], int]) -> Input:
    """Return the input of ``ros2:VOCABULARY`` in the time of a case. Raises errors.TandemError."""
    made = make_input(text, {}, now_us)
    cast(_Timed, made).use_time(UnheldTime())
    return made


class CasePace:
    """Holds a case that a ROS node drives to the time of the world, and no other one."""

    def __init__(self, spec: Spec) -> None:
        self._is_held = is_impure(spec)
        self._next_s: float | None = None

    def tick(self) -> None:
        """Wait until the time of the tick that was made is over; what is late is not made up."""
        if not self._is_held:
            return
        now_s = time.monotonic()
        wanted_s = (now_s if self._next_s is None else self._next_s) + TICK_US * 1e-6
        time.sleep(max(wanted_s - now_s, 0.0))
        self._next_s = max(wanted_s, now_s)
