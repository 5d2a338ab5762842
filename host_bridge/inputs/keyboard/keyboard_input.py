"""The keyboard input of a person at a terminal: keyboard, seat and screen together."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from logging.handlers import MemoryHandler

from host_bridge.core import DriveCommand, Input, InputContext, Observed, OperatorRequest
from host_bridge.inputs.keyboard.keyboard import Keyboard
from host_bridge.inputs.keyboard.seat import SEAT, SLOW_SEAT, KeyboardSeat
from host_bridge.inputs.keyboard.terminal import Terminal
from host_bridge.inputs.keyboard.terminal_queries import ReleaseSupport

_POLL_S = 0.01  # a tick of the drive
_KEPT_WARNINGS = 1000  # lines; more than these are printed at once, and painted over
_HOME, _TO_EOL, _BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
# Synchronised update: a terminal that knows it never shows half a screen; others ignore it
_BEGIN_SCREEN, _END_SCREEN = "\x1b[?2026h", "\x1b[?2026l"
_SLOW = "This terminal does not report the release of keys: press SPACE at least once a second;"


class KeyboardInput(Input):
    """The keyboard input; ``open`` takes the terminal, and ``close`` restores it in any case."""

    is_person = True
    reads_terminal = True

    def __init__(self, terminal: Terminal, now_us: Callable[[], int]) -> None:
        self.source = SEAT
        self._terminal = terminal
        self._now_us = now_us
        self._keyboard = Keyboard()
        self._requests: list[OperatorRequest] = []
        self._stack = ExitStack()

    async def open(self, context: InputContext) -> None:
        """Find out what the terminal can do, which takes a second at most, and choose the source.

        Raises asyncio.CancelledError if Esc is pressed meanwhile.
        """
        keyboard, terminal = self._keyboard, self._terminal
        self._stack.enter_context(_warnings_kept())
        self._stack.enter_context(terminal)
        terminal.listen(self._receive, lambda: self._requests.extend(keyboard.closed()))
        self._stack.callback(terminal.deafen)
        loop = asyncio.get_running_loop()
        # SIGTSTP releases the deadman and does not suspend the program; Ctrl-Z comes as a key
        loop.add_signal_handler(signal.SIGTSTP, keyboard.let_go)
        self._stack.callback(loop.remove_signal_handler, signal.SIGTSTP)
        while keyboard.releases is ReleaseSupport.UNKNOWN:
            self._step_keyboard(self._now_us())
            if {OperatorRequest.QUIT, OperatorRequest.INTERRUPT} & set(self._requests):
                raise asyncio.CancelledError
            await asyncio.sleep(_POLL_S)
        has_releases = keyboard.releases is ReleaseSupport.REPORTED
        self.source = SEAT if has_releases else SLOW_SEAT
        keyboard.seat = KeyboardSeat(context.limits(self.source), has_releases)

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        self._step_keyboard(now_us)
        return self._keyboard.seat.read(now_us) if self._keyboard.seat else DriveCommand()

    def requests(self) -> Sequence[OperatorRequest]:
        requests, self._requests = self._requests, []
        return requests

    def let_go(self) -> None:
        self._keyboard.let_go()

    def status_text(self, now_us: int) -> str:
        seat = self._keyboard.seat
        is_slow = seat is not None and not seat.has_releases
        return f"{_SLOW} {seat.limits.speed_mps:.2g} m/s at most." if seat and is_slow else ""

    def hint(self, now_us: int) -> str:
        seat = self._keyboard.seat
        if seat is None or not seat.is_held(now_us):
            return "hold SPACE to drive"
        left_us = seat.left_us(now_us)
        return f"press SPACE again within {left_us * 1e-6:.1f} s" if left_us else ""

    async def close(self) -> None:
        self._stack.close()

    def screen(self) -> KeyboardInput | None:
        """Return itself, or None where nothing can be drawn: then the drive prints lines."""
        return self if self._terminal.can_draw else None

    def size(self) -> tuple[int, int]:
        """Return columns and rows."""
        return self._terminal.size()

    def show(self, lines: Sequence[str]) -> None:
        """Draw the whole screen; drop it while the terminal has not taken the last one."""
        body = f"{_TO_EOL}\r\n".join(lines)
        drawn = f"{_BEGIN_SCREEN}{_HOME}{body}{_TO_EOL}{_BELOW}{_END_SCREEN}"
        self._terminal.write(drawn.encode())

    def _receive(self, data: bytes) -> None:
        self._requests += self._keyboard.receive_data(data, self._now_us())

    def _step_keyboard(self, now_us: int) -> None:
        self._requests += self._keyboard.step(now_us)
        self._terminal.write(self._keyboard.data_to_send())


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> KeyboardInput:
    """Make the input of ``--input keyboard``.

    Raises errors.UsageFault where standard input is no terminal.
    """
    return KeyboardInput(Terminal(sys.stdin.fileno()), now_us)


@contextmanager
def _warnings_kept() -> Iterator[None]:
    """Keep log warnings, which would be painted over, until the terminal is restored."""
    kept = MemoryHandler(_KEPT_WARNINGS, flushLevel=sys.maxsize, target=logging.lastResort)
    root = logging.getLogger()
    root.addHandler(kept)
    try:
        yield
    finally:
        root.removeHandler(kept)
        kept.close()
