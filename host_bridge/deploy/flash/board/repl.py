"""The way from whatever a board runs to its raw REPL, and out of it by a reset."""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.progress import show_step
from host_bridge.deploy.flash.board.board import RawBoard, unprinted
from host_bridge.link.transports.port_faults import open_fault
from host_bridge.link.transports.serial_port import BAUD as LINK_BAUD
from host_bridge.link.transports.serial_port import ports

# A car that is not armed ends its program on this (firmware/boards/link.py); while a
# board is starting, or at its REPL, the first of them is an ordinary Ctrl-C.
ASK = b"\x03" * 16
BAUD = 115_200  # of a REPL on a UART; USB ignores it
WITHIN_S = 20.0  # a reset, the port's return, and mounting it take some seconds
_ANSWER_S = 1.5  # on the first try; each further one waits twice as long
_LATE_S = 10.0  # once it has answered, as mpremote has it: a busy machine reads late
_QUIET_S = 0.3
_LONGEST_S = 60.0  # for one answer of a REPL that is not asked to run anything long
_FRIENDLY = b"\r\x02\x03"  # leaves any mode that stray bytes have brought it into


class ReplLine(SerialTransport):  # type: ignore[misc]  # mpremote has no types
    """mpremote's line to a REPL, whose waits end although something else talks on.

    mpremote looks at its time only while nothing comes. A board that was reset meanwhile runs the
    car's program, which is never silent.
    """

    def read_until(
        self,
        min_num_bytes: int,
        ending: bytes,
        timeout: float | None = 10,  # as mpremote has it
        data_consumer: Callable[[bytes], object] | None = None,
        timeout_overall: float | None = None,
    ) -> bytes:
        """Return what was read up to this ending, or what came until the time was over."""
        if data_consumer is not None or timeout is None:  # a script, for as long as it runs
            read: bytes = super().read_until(
                min_num_bytes, ending, timeout, data_consumer, timeout_overall
            )
            return read
        return _answer(self.serial, ending, timeout, timeout_overall or _LONGEST_S)


def _answer(line: Any, ending: bytes, silent_s: float, longest_s: float) -> bytes:
    """Read until this ending; what came, where it is silent for so long or the time is over."""
    data = b""
    begun_s = heard_s = time.monotonic()
    while not data.endswith(ending):
        now_s = time.monotonic()
        if now_s >= min(heard_s + silent_s, begun_s + longest_s):
            break
        if line.in_waiting:
            data += line.read(1)
            heard_s = now_s
        else:
            time.sleep(0.01)  # as mpremote does
    return data


def ask_for_repl(link: str, baud: int = LINK_BAUD) -> None:
    """Ask a car for its REPL over its link, where that is a UART and the REPL is another port.

    A car that is not armed ends its program by itself, after a whole step. Raises
    errors.DeviceFault.
    """
    try:
        line = SerialTransport(link, baud)
        line.serial.write(ASK)
        line.close()
    except (TransportError, OSError) as error:
        raise DeviceFault(
            "the port of the car's link cannot be opened",
            where=link,
            got=str(error),
            remedy="name the port of its UART, and end what else holds it; tandem identify lists "
            "ports",
        ) from None


@contextlib.contextmanager
def raw_board(port: str, baud: int = BAUD, within_s: float = WITHIN_S) -> Iterator[RawBoard]:
    """Yield the board at this port, at its raw REPL; reset it on leaving, even after an error.

    Raises errors.DeviceFault.
    """
    transport = _entered(port, baud, time.monotonic() + within_s)
    try:
        yield RawBoard(transport, port)
    finally:
        try:
            with unprinted(), contextlib.suppress(TransportError, OSError):
                transport.exec_raw_no_follow("import machine\nmachine.reset()")
        finally:  # whatever else ends the reset, a Ctrl-C among it
            with contextlib.suppress(OSError):
                transport.close()


def _entered(port: str, baud: int, give_up_s: float) -> SerialTransport:
    answer_s, is_told = _ANSWER_S, False
    while True:
        got = ""
        try:
            transport = ReplLine(port, baud, timeout=answer_s)
            try:
                return _enter(transport, answer_s)
            except (TransportError, OSError):
                transport.close()
                raise
        except (TransportError, OSError) as error:
            got = str(error)
        left_s = give_up_s - time.monotonic()
        if left_s <= 0:
            raise _no_repl(port, got) if Path(port).exists() else _no_port(port)
        if not is_told:
            show_step(f"{port}: no REPL yet; {left_s:.0f} s more to ask, a reset makes it listen")
            is_told = True
        time.sleep(0.3)  # between two tries: a port takes some tenths of a second to come back
        answer_s = min(2 * answer_s, _LATE_S, max(left_s, _ANSWER_S))


def _enter(transport: SerialTransport, answer_s: float) -> SerialTransport:
    is_quiet = False
    for keys in (ASK, _FRIENDLY):
        transport.serial.write(keys)
        is_quiet = _drain(transport)
    if not is_quiet:  # mpremote checks its timeout only while nothing comes
        raise TransportError("a program that talks on, and takes no notice of 16 times Ctrl-C")
    with unprinted():
        transport.enter_raw_repl(soft_reset=True, timeout_overall=answer_s)
        transport.exec("pass")  # stray bytes left in its line spoil this harmless command
    transport.serial.timeout = _LATE_S
    return transport


def _drain(transport: SerialTransport) -> bool:
    """Read until the line is quiet; return whether that happened in time.

    What comes after earlier bytes, a car's frames among it, is no answer.
    """
    begun_s = quiet_s = time.monotonic()
    while time.monotonic() < quiet_s + _QUIET_S:
        if time.monotonic() > begun_s + _ANSWER_S:
            return False
        size = transport.serial.in_waiting
        if size:
            transport.serial.read(size)
            quiet_s = time.monotonic()
        time.sleep(0.01)  # ten bytes at 9600 baud
    return True


def refuse_missing_port(port: str) -> None:
    """Raises errors.DeviceFault for a path at which nothing is, before anybody waits for it."""
    if "://" not in port and not Path(port).exists():
        raise _no_port(port)


def _no_port(port: str) -> DeviceFault:
    there = [found.device for found in ports()]
    return open_fault(port, port, FileNotFoundError(errno.ENOENT, "nothing there"), there)


def _no_repl(port: str, got: str) -> DeviceFault:
    return DeviceFault(
        "no MicroPython answers here",
        where=port,
        expected="its REPL",
        got=got,
        remedy="disarm the car; or press the board's reset button while tandem flash waits: it "
        "asks again and again, and a board that starts listens. A board without MicroPython: "
        "--runtime FILE; tandem flash --dry-run says where that file is to be had",
    )
