"""A driver of one drive in lockstep: it begins once the car lets it, and says when it is over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from host_bridge.core import DriveCommand, Input, Observed, OperatorRequest


class OneDrive(Input):
    """An input that drives by ``driven`` from when the car is ready, until it ``is_over``."""

    is_computed = True
    source = "script"

    def __init__(self) -> None:
        self.began_us: int | None = None
        self.now_us = 0
        self._steps = 0
        self._has_ended = False

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether the drive has come to its end."""

    @abstractmethod
    def driven(self, since_us: int) -> DriveCommand:
        """The command so long after the beginning."""

    def begin(self, now_us: int) -> None:
        """Note that the drive begins now."""
        self.began_us = now_us

    def held(self, steer_rad: float, speed_mps: float) -> DriveCommand:
        """A command with the deadman held."""
        return DriveCommand(steer_rad, speed_mps, is_held=True, input_count=self._steps)

    def released(self, heard_us: int | None = None) -> DriveCommand:
        """A command that lets go; ``heard_us`` is 0 of a driver who says nothing more."""
        return DriveCommand(input_count=self._steps, heard_us=heard_us)

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        self._steps, self.now_us = self._steps + 1, now_us
        if not observed.is_driving or not observed.is_permitted:
            return self.released()
        if self.began_us is None:
            self.begin(now_us)
        assert self.began_us is not None
        return self.driven(now_us - self.began_us)

    def requests(self) -> Sequence[OperatorRequest]:
        if not self.is_over or self._has_ended:
            return ()
        self._has_ended = True
        return (OperatorRequest.END,)
