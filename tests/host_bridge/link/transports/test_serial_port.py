from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import subprocess
import sys
import termios
import tty
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from host_bridge.core.errors import DeviceFault, TandemError, UsageFault
from host_bridge.link.transports import serial_port
from host_bridge.link.transports.base import OnBytes
from host_bridge.link.transports.port_faults import open_fault
from host_bridge.link.transports.serial_port import SerialPort, latency_timer_ms
from host_bridge.link.transports.uri import open_transport
from tests.host_bridge.link.contract import Bench, BusContract, Ear, Wire, run_strictly

TIOCGEXCL = 0x80045440  # Linux: asks whether TIOCEXCL was given
HOLD_OPEN = "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print(flush=True); {}"
HOLD_LOCKED = (
    "import serial, sys; p = serial.Serial(sys.argv[1], exclusive=True); print(flush=True); {}"
)


class Terminal:
    """A pseudo-terminal: its master is the board's end."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        self.device = os.ttyname(self.slave)
        os.set_blocking(self.master, False)
        self._is_there = True

    async def connect(self, on_bytes: OnBytes) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self.master)
        loop.add_reader(self.master, lambda: on_bytes(os.read(self.master, 4096)))

    def write(self, data: bytes) -> None:
        assert os.write(self.master, data) == len(data)

    def cut(self) -> None:
        if self._is_there:
            self._is_there = False
            with contextlib.suppress(RuntimeError):  # no loop any more
                asyncio.get_running_loop().remove_reader(self.master)
            os.close(self.master)
            os.close(self.slave)


class TestSerialPort(BusContract):
    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        terminal = Terminal()
        port = open_transport(f"serial://{terminal.device}", Bench())
        yield Wire(port, terminal)
        port.close()
        terminal.cut()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    it = Terminal()
    yield it
    it.cut()


def open_port(device: str, baud: int = serial_port.BAUD) -> SerialPort:
    """Open it for a moment. Raises what opening raises."""

    async def run() -> SerialPort:
        port = SerialPort(f"serial://{device}", device, baud)
        ear = Ear()
        await port.open(ear.on_bytes, ear.on_closed)
        port.close()
        return port

    return run_strictly(run())


def fault_of_opening(device: str) -> TandemError:
    with pytest.raises(DeviceFault) as caught:
        open_port(device)
    return caught.value


@contextlib.contextmanager
def program(code: str, device: str) -> Iterator[int]:
    """Another program that has the device open; yields its pid."""
    command = [sys.executable, "-c", code.format("sys.stdin.read()"), device]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process.pid
        process.communicate()


def test_the_port_is_raw_fast_and_left_up_when_closed(terminal: Terminal) -> None:
    mode = termios.tcgetattr(terminal.slave)
    mode[0] |= termios.BRKINT | termios.ICRNL | termios.IXON
    mode[2] |= termios.HUPCL
    termios.tcsetattr(terminal.slave, termios.TCSANOW, mode)
    open_port(terminal.device)
    input_, output, control, local, speed_in, speed_out, cc = termios.tcgetattr(terminal.slave)
    assert (cc[termios.VMIN], cc[termios.VTIME]) == (1, 0)  # an idle read is none, not an end
    assert not local & (termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    assert not input_ & (termios.ICRNL | termios.IXON | termios.BRKINT | termios.ISTRIP)
    assert not output & termios.OPOST
    assert not control & termios.HUPCL
    assert speed_in == speed_out == termios.B921600


def test_the_baud_rate_is_the_one_asked_for(terminal: Terminal) -> None:
    open_port(terminal.device, 115_200)
    assert termios.tcgetattr(terminal.slave)[4] == termios.B115200


def test_what_arrived_before_it_was_opened_is_dropped(terminal: Terminal) -> None:
    async def run() -> None:
        tty.setraw(terminal.slave)
        terminal.write(b"stale")
        ear = Ear()
        port = SerialPort("serial://", terminal.device)
        await port.open(ear.on_bytes, ear.on_closed)
        terminal.write(b"fresh")
        await ear.until(lambda: len(ear.data) >= len(b"fresh"))
        port.close()
        assert ear.data == b"fresh"

    run_strictly(run())


def test_what_the_device_does_not_take_is_counted(terminal: Terminal) -> None:
    async def run() -> None:
        ear = Ear()
        port = SerialPort("serial://", terminal.device)
        await port.open(ear.on_bytes, ear.on_closed)
        frame = b"\0" + bytes(range(1, 40)) + b"\0"
        taken = sum(port.send(frame) for _ in range(10_000))
        port.close()
        assert port.dropped_bytes == 10_000 * len(frame) - taken > 0

    run_strictly(run())


def test_what_the_board_did_not_take_does_not_wait_for_whoever_opens_next(
    terminal: Terminal,
) -> None:
    async def run() -> int:
        ear = Ear()
        port = SerialPort("serial://", terminal.device)
        await port.open(ear.on_bytes, ear.on_closed)
        taken = sum(port.send(bytes(40)) for _ in range(10_000))
        port.close()
        return taken

    taken, left = run_strictly(run()), 0
    with contextlib.suppress(BlockingIOError):
        while True:
            left += len(os.read(terminal.master, 65_536))
    assert left < taken / 2  # the rest had reached the board's end already


def test_a_missing_port_is_named_with_those_that_are_there() -> None:
    fault = fault_of_opening("/dev/ttyNOTHERE")
    assert "no such port" in str(fault)
    assert "ports that are there" in fault.remedy or "no serial ports" in fault.remedy


def test_the_remedy_for_a_missing_port_lists_the_others() -> None:
    error = OSError(errno.ENOENT, "No such file")
    fault = open_fault("serial:///dev/x", "/dev/x", error, ["/dev/ttyACM1", "/dev/ttyUSB0"])
    assert fault.remedy.endswith("/dev/ttyACM1, /dev/ttyUSB0")


@pytest.mark.process
def test_a_port_locked_by_another_program_names_it(terminal: Terminal) -> None:
    with program(HOLD_LOCKED, terminal.device) as pid:
        fault = fault_of_opening(terminal.device)
    assert "in use" in fault.what
    assert f"pid {pid}" in fault.got
    assert "python" in fault.got
    open_port(terminal.device)  # it is gone: no lock stays behind


def test_a_port_locked_by_this_program_is_refused_too(terminal: Terminal) -> None:
    async def run() -> None:
        ear = Ear()
        first = SerialPort("serial://", terminal.device)
        await first.open(ear.on_bytes, ear.on_closed)
        second = SerialPort("serial://", terminal.device)
        with pytest.raises(DeviceFault, match="in use"):
            await second.open(ear.on_bytes, ear.on_closed)
        first.close()

    run_strictly(run())


@pytest.mark.process
def test_a_real_port_open_in_a_program_that_does_not_lock_is_refused(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serial_port, "_is_pseudo_terminal", lambda device: False)
    with program(HOLD_OPEN, terminal.device) as pid:
        fault = fault_of_opening(terminal.device)
    assert f"pid {pid}" in fault.got
    open_port(terminal.device)  # and it was not kept


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
@pytest.mark.parametrize("is_pseudo", [False, True])
def test_a_real_port_is_closed_to_programs_that_do_not_lock(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, is_pseudo: bool
) -> None:
    """And a pseudo-terminal is not: it would stay so after a kill."""

    async def run() -> bool:
        ear = Ear()
        port = SerialPort("serial://", terminal.device)
        await port.open(ear.on_bytes, ear.on_closed)
        is_exclusive = fcntl.ioctl(terminal.slave, TIOCGEXCL, bytes(4)) != bytes(4)
        port.close()
        return is_exclusive

    monkeypatch.setattr(serial_port, "_is_pseudo_terminal", lambda device: is_pseudo)
    assert run_strictly(run()) is not is_pseudo


@pytest.mark.process
def test_a_pseudo_terminal_that_its_maker_keeps_open_is_opened(terminal: Terminal) -> None:
    with program(HOLD_OPEN, terminal.device):
        open_port(terminal.device)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without permission")
def test_a_forbidden_port_names_the_group_to_join(terminal: Terminal) -> None:
    os.chmod(terminal.device, 0o660)
    os.chown(terminal.device, 0, 20)
    os.seteuid(65_534)
    try:
        fault = fault_of_opening(terminal.device)
    finally:
        os.seteuid(0)
    assert "permission" in fault.what
    assert "usermod -aG dialout" in fault.remedy


def test_a_forbidden_port_of_no_group_asks_for_udev_rules_only(tmp_path: Path) -> None:
    device = tmp_path / "port"
    device.touch(mode=0o600)
    error = OSError(errno.EACCES, "Permission denied")
    fault = open_fault("serial://x", str(device), error, [])
    assert "usermod" not in fault.remedy
    assert "udev" in fault.remedy


def test_a_file_is_not_a_serial_port(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "did not open as a serial port" in str(fault_of_opening(str(file)))


@pytest.mark.parametrize(
    "text",
    [
        "serial://",
        "serial://ttyACM0",
        "serial:///dev/ttyACM0?baud=1200",
        "serial:///dev/ttyACM0?baud=fast",
        "serial:///dev/ttyACM0?baude=115200",
    ],
)
def test_a_uri_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        open_transport(text, Bench())


def test_the_latency_timer_of_an_ftdi_chip_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "bus/usb-serial/devices/ttyUSB0"
    folder.mkdir(parents=True)
    (folder / "latency_timer").write_text("16\n")
    assert latency_timer_ms("/dev/ttyUSB0", tmp_path) == 16
    assert latency_timer_ms("/dev/ttyACM0", tmp_path) is None


def test_a_device_that_is_gone_meanwhile_is_no_pseudo_terminal(tmp_path):
    """A board that resets takes its port away between any two looks at it."""
    assert serial_port._is_pseudo_terminal(str(tmp_path / "gone")) is False
