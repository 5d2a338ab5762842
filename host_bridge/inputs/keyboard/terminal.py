"""The terminal device: unechoed single keys, non-blocking output, and its settings restored."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import termios
from collections.abc import Callable
from types import TracebackType
from typing import Any

from host_bridge.core.errors import UsageFault
from host_bridge.inputs.keyboard.keyboard import CLOSING

_READ_BYTES = 4096  # what a terminal hands over at once
_CLOSING_S = 0.5  # how long the last bytes wait for a terminal that does not take them
_INPUT, _OUTPUT, _LOCAL, _CHARACTERS = 0, 1, 3, 6  # indices into the list of tcgetattr
_OWN_INPUT = termios.ICRNL | termios.IXON | termios.IXOFF
# ISIG too: Ctrl-C and Ctrl-Z come as keys, and release the deadman
_OWN_LOCAL = termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN
_SANE_LOCAL = _OWN_LOCAL | termios.ECHOE | termios.ECHOK
_RESET = b"\x1b[0m"  # no colour


class Terminal:
    """A context manager: inside it keys come one by one and unechoed.

    The terminal is restored after it.

    Writing never blocks, because a terminal whose line hangs must not delay the claims. Output that
    finds no room is dropped, whole writes at a time.
    """

    def __init__(self, input_fd: int) -> None:
        """Remember the terminal's settings.

        Raises errors.UsageFault if it is no terminal.
        """
        if not os.isatty(input_fd):
            raise UsageFault(
                "driving by keys needs a terminal, and standard input is none",
                remedy="run it in a terminal, or play a file on virtual cars: --input csv:FILE",
            )
        self._fd = input_fd
        self.can_draw = os.environ.get("TERM") != "dumb"  # if False, nothing is written to it
        self._before = _sane(termios.tcgetattr(input_fd))
        self._rest = b""
        # Opened anew: O_NONBLOCK on the given descriptor would affect every program that shares it
        self._out = os.open(_name(input_fd), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)

    def __enter__(self) -> Terminal:
        mode = termios.tcgetattr(self._fd)
        mode[_INPUT] &= ~_OWN_INPUT
        mode[_LOCAL] &= ~_OWN_LOCAL
        mode[_CHARACTERS][termios.VMIN], mode[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self._fd, termios.TCSADRAIN, mode)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore the terminal, whatever happened inside; one that is gone is left alone."""
        with contextlib.suppress(OSError, termios.error):
            self._hand_over(self._rest + _RESET + CLOSING if self.can_draw else b"")
            termios.tcsetattr(self._fd, termios.TCSANOW, self._before)
            termios.tcflush(self._fd, termios.TCIFLUSH)  # answers and repeats are not for the shell
        os.close(self._out)

    def listen(self, on_bytes: Callable[[bytes], None], on_closed: Callable[[], None]) -> None:
        """Hand keys over as they come, in the running event loop."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except OSError:
                data = b""
            if data:
                on_bytes(data)
            else:
                loop.remove_reader(self._fd)
                on_closed()

        loop.add_reader(self._fd, read)

    def deafen(self) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)

    def write(self, data: bytes) -> bool:
        """Return whether the data was taken; if so, all of it is written before anything else."""
        if not self.can_draw:
            return True
        self._rest = self._put(self._rest)
        if self._rest:
            return False
        self._rest = self._put(data)
        return True

    def size(self) -> tuple[int, int]:
        """Return columns and rows; 80 and 24 if the terminal does not tell (a serial console)."""
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(self._fd)
            return columns or 80, rows or 24  # as terminals have been since the VT100
        return 80, 24  # the same

    def _hand_over(self, data: bytes) -> None:
        while data and select.select([], [self._out], [], _CLOSING_S)[1]:
            data = self._put(data)

    def _put(self, data: bytes) -> bytes:
        """Write without waiting; return what was not taken."""
        try:
            return data[os.write(self._out, data) :] if data else b""
        except BlockingIOError:
            return data
        except OSError:  # the terminal is gone; reading reports that
            return b""


def _name(fd: int) -> str:
    """Return the terminal's device; in some containers it has no name but /dev/tty."""
    try:
        return os.ttyname(fd)
    except OSError:
        return "/dev/tty"


def _sane(mode: list[Any]) -> list[Any]:
    """Return the settings to restore, with the echo and line mode that a killed run left off."""
    if not mode[_LOCAL] & (termios.ICANON | termios.ECHO):
        mode[_LOCAL] |= _SANE_LOCAL
        mode[_INPUT] |= termios.ICRNL | termios.IXON
    return mode
