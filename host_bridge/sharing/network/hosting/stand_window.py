"""The time for which a guest may configure a car, at the program that serves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from firmware.protocol.codec import Message
from firmware.protocol.codes import ACTION_ARM, ACTIVE, HOLD, STOPPING
from firmware.protocol.messages import Act, Status
from host_bridge.sharing.network.hosting.attestation import (
    LONGEST_S,
    Attestation,
    AttestationFile,
)

_ARMED = (ACTIVE, HOLD, STOPPING)


class StandWindow:
    """The stand of one car, as a person attested it.

    It begins with an attestation, while the car stands unarmed, and ends with its time, with any
    arm, any measured motion, or a cable that was out. ``tell`` hears of either.
    """

    def __init__(
        self, file: AttestationFile, wall_s: Callable[[], float], tell: Callable[[str], None]
    ) -> None:
        """Forget what an earlier server left: nobody knows what was done to the car since."""
        self._file = file
        self._wall_s = wall_s
        self._tell = tell
        self._stamp: object = None
        self._open: Attestation | None = None
        self._ends_us = 0
        self._unfit = "the car has not said how it stands"
        file.forget()

    def refusal(self) -> str:
        """Return why nothing may be configured at this moment; "" if it may."""
        return "" if self._open else "no attestation that the car is on a stand"

    def hear(self, message: Message | object) -> None:
        """Take what the car reports, or what somebody asks of it."""
        if isinstance(message, Status):
            self._unfit = _unfit(message)
        elif isinstance(message, Act) and message.action == ACTION_ARM:
            self.end("somebody arms the car")
        if self._unfit:
            self.end(self._unfit)

    def step(self, now_us: int) -> None:
        """Take up a new attestation; end one whose time is over. Raises errors.DataFileFault."""
        if self._open and now_us >= self._ends_us:
            self.end("its time is over")
        is_new, stamp = self._file.changed_since(self._stamp)
        if not is_new:
            return
        self._stamp = stamp
        found = self._file.read()
        if found is None or found.ended:
            self.end("it was taken back")
        elif not found.opened:
            self._begin(found, now_us)

    def end(self, why: str) -> None:
        """End it, if there is one."""
        if self._open:
            ended, self._open = replace(self._open, ended=why), None
            self._write(ended)
            self._tell(f"the attestation of the stand is over: {why}")

    def _begin(self, found: Attestation, now_us: int) -> None:
        if self._unfit:
            self._write(replace(found, ended=self._unfit))
            self._tell(f"{found.login}: attested a stand in vain, {self._unfit}")
            return
        for_s = min(max(found.for_s, 0.0), LONGEST_S)
        self._ends_us = now_us + int(for_s * 1e6)
        self._open = replace(found, opened=True, until_s=self._wall_s() + for_s)
        self._write(self._open)
        self._tell(f"{found.login}: attested for {for_s:.0f} s that the wheels are off the ground")

    def _write(self, attestation: Attestation) -> None:
        self._file.write(attestation)
        _, self._stamp = self._file.changed_since(None)


def _unfit(status: Status) -> str:
    """Return why a car with this status is on no stand for guests; "" for one that may be."""
    if status.state in _ARMED:
        return "the car is armed"
    return "its wheels turn" if status.speed_mm_s else ""
