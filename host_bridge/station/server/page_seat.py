"""The page's deadman as an input: each frame is one animation frame of a browser.

A frame is sent while a finger or a key is down. Without frames there is no hold: nothing here
renews one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from host_bridge.core import (
    DriveCommand,
    Input,
    InputContext,
    InputLimits,
    Observed,
    OperatorRequest,
)

SEAT = "seat"  # its source in the vehicle file
FRAME = struct.Struct("<BBhhI")  # kind, flags (held, by a pad), steering, speed, the pad's count
STAND_FRAME = struct.Struct("<BBhhIH")  # the same, and the brake; only on the stand
_KIND, _STAND_KIND = 1, 2
_FULL_BRAKE = 0xFFFF
_HELD, _BY_PAD = 1, 2
_FULL = 32_767.0  # of a stick: 16 bits with a sign
PAD_SPEED_MPS = 0.3  # firmware/core/SAFETY.md, Numbers: for a device that cannot prove it is alive
PAD_AGAIN_US = 1_000_000  # a pad whose reports show nothing new for so long is let go
_TAKES_OVER = 0.1  # chosen, of full steering: more than a thumb that rests trembles
_COUNT_MASK = 0xFFFF


class PageSeat(Input):
    """The input of the one page that drives; ``tell`` gets lines for the page, ten times a second.

    ``is_on_stand``: a person attested that the wheels are off the ground. Only then it has a brake.
    ``is_guard``: a program drives while the page is held. Steering by more than a tenth takes over,
    and the program waits for a new hold.
    """

    is_person = True
    is_afar = False  # its person sits at the cars' own computer

    def __init__(
        self,
        now_us: Callable[[], int],
        tell: Callable[[list[str]], None],
        *,
        is_on_stand: bool = False,
        is_guard: bool = False,
    ) -> None:
        self.source = SEAT
        self.has_separate_enable = is_guard
        self.takes_over = False  # its person steers in the program's place, until the release
        self._lease_us = 0
        self.is_on_stand = is_on_stand
        self._brake = 0.0
        self.frames = 0
        self._now_us = now_us
        self._tell = tell
        self._limits = InputLimits(0.0, 0.0, 0.0)
        self._requests: list[OperatorRequest] = []
        self._lost = ""
        self._heard_us = 0
        self.held_us: int | None = None  # when a frame last said that it is held
        self._is_held = False
        self._steer = self._speed = 0.0
        self._is_pad = False
        self._pad_count, self._pad_new_us = -1, 0
        self._needs_release = True

    async def open(self, context: InputContext) -> None:
        self._limits = context.limits(self.source)
        if self.has_separate_enable:
            self._lease_us = round(context.lease_s(self.source) * 1e6)

    def hear(self, frame: bytes) -> bool:
        """Take a frame of the page; return False if it is none. Only the newest counts."""
        shape, kind = (STAND_FRAME, _STAND_KIND) if self.is_on_stand else (FRAME, _KIND)
        if len(frame) != shape.size or frame[0] != kind:
            return False
        _, flags, steer, speed, count, *brake = shape.unpack(frame)
        self._brake = brake[0] / _FULL_BRAKE if brake else 0.0
        self.frames += 1
        now_us = self._now_us()
        self._heard_us = now_us
        self._steer, self._speed = _part(steer), _part(speed)
        self._is_pad = bool(flags & _BY_PAD)
        if count != self._pad_count:
            self._pad_count, self._pad_new_us = count, now_us
        if not flags & _HELD:
            self._is_held = self._needs_release = self.takes_over = False
        else:
            self.held_us = now_us
            self._is_held = not self._needs_release
        return True

    def request(self, request: OperatorRequest) -> None:
        """Add a request besides driving."""
        self._requests.append(request)

    def leave(self) -> None:
        """Take the loss of the page's socket: during a hold it stops the cars.

        It is no release of the deadman then.
        """
        if self._is_held:
            self._lost = "The page that drove is gone"
            self._requests.append(OperatorRequest.STOP)
        self._is_held = False
        self._requests.append(OperatorRequest.QUIT)

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        if self._lost:
            return DriveCommand(lost=self._lost)
        if self._is_pad and self._is_held and now_us - self._pad_new_us >= PAD_AGAIN_US:
            self.let_go()
        if not self._is_held:
            return DriveCommand()
        if self.has_separate_enable:
            self.takes_over |= abs(self._steer) > _TAKES_OVER
            if not self.takes_over:
                return self._permission(now_us)
        speed_mps = self._speed * (
            self._limits.speed_mps if self._speed > 0 else self._limits.reverse_mps
        )
        if self._is_pad:
            speed_mps = min(max(speed_mps, -PAD_SPEED_MPS), PAD_SPEED_MPS)
        return DriveCommand(
            steer_rad=self._steer * self._limits.steer_rad,
            speed_mps=speed_mps,
            brake=self._brake,
            is_held=True,
            input_count=self.frames & _COUNT_MASK,
            heard_us=self._heard_us,
        )

    def _permission(self, now_us: int) -> DriveCommand:
        """Return the hold that lets a program drive.

        The program's own claims are fresh whatever the page does, so a silence of the page, which
        would be the car's to judge, is judged here, and stops the cars.
        """
        if now_us - self._heard_us >= self._lease_us:
            self.let_go()
            return DriveCommand(lost="The page was silent while it let a program drive")
        return DriveCommand(
            is_held=True, permits_autonomy=True, input_count=self.frames & _COUNT_MASK
        )

    def requests(self) -> Sequence[OperatorRequest]:
        requests, self._requests = self._requests, []
        return requests

    def let_go(self) -> None:
        self._is_held = False
        self._needs_release = True

    def screen(self) -> PageSeat:
        return self

    def size(self) -> tuple[int, int]:
        """Return columns and rows."""
        return 200, 100  # columns and rows: the page wraps and scrolls by itself

    def show(self, lines: Sequence[str]) -> None:
        """Send the drive's lines to the page."""
        self._tell(list(lines))


def _part(raw: int) -> float:
    return max(raw / _FULL, -1.0)
