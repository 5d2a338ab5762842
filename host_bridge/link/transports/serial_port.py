"""``serial:///dev/ttyACM0?baud=921600``: a board on a cable, or a pseudo-terminal.

The only file that uses pyserial. It sets the port up; ``descriptor`` does the reading and writing.

A board must not be reset by being opened. Boards wire DTR and RTS to reset and boot pins through
capacitors or transistors, so every *edge* may reset them. The system raises both when a port is
first opened; we keep both up (USB boards also send only while DTR is up), and clear HUPCL, so that
closing does not lower them and the next open makes no edge.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import termios
from dataclasses import dataclass
from pathlib import Path

import serial
from serial.tools import list_ports

from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.base import TransportContext
from host_bridge.link.transports.descriptor import DescriptorTransport
from host_bridge.link.transports.port_faults import busy_fault, open_fault
from host_bridge.link.transports.port_holders import holders
from host_bridge.link.transports.uri import Uri

BAUD = 921_600  # five times what a board says at 100 Hz (sim_mock/hitl); USB boards ignore it
# Not lower: opening at 1200 baud tells many USB boards to restart into their loader.
BAUD_LOW, BAUD_HIGH = 9_600, 12_000_000
PSEUDO_TERMINAL_MAJORS = range(136, 144)  # Linux, Documentation/admin-guide/devices.txt
_CONTROL, _INPUT, _CHARACTERS = 2, 0, 6  # indices in the result of termios.tcgetattr


@dataclass(frozen=True)
class SerialPortInfo:
    """A serial port of this machine. The ids are None if it is not on USB."""

    device: str
    description: str
    vendor_id: int | None
    product_id: int | None
    serial_number: str | None
    latency_timer_ms: int | None  # FTDI chips only: how long they hold received bytes back


class SerialPort(DescriptorTransport):
    """One serial port, held exclusively while open."""

    def __init__(self, label: str, device: str, baud: int = BAUD) -> None:
        super().__init__(label)
        self._device = device
        self.bytes_per_s = baud / 10  # start and stop bit included
        self._port = serial.Serial(baudrate=baud, exclusive=True)
        self._port.port = device
        self._port.dtr = True
        self._port.rts = True

    def _connect(self) -> int:
        try:
            self._port.open()
            _settle(self._port)
        except (OSError, ValueError, termios.error) as error:
            self._port.close()
            raise open_fault(self.label, self._device, error, [p.device for p in ports()]) from None
        self._refuse_shared()
        return self._port.fileno()

    def _disconnect(self) -> None:
        # close() would wait for bytes that the device has not taken, for 30 s by default.
        with contextlib.suppress(termios.error):
            termios.tcflush(self._port.fileno(), termios.TCOFLUSH)
        self._port.close()

    def _lost_fault(self, error: OSError | None) -> DeviceFault:
        return DeviceFault(
            "the port went away",
            where=self.label,
            got=error.strerror if error and error.strerror else "hung up",
            remedy="check the cable, and that the board has power",
        )

    def _refuse_shared(self) -> None:
        """Refuse a port that another program has open: each would get half of the bytes.

        Some programs neither lock a port nor check whether it is in use.
        """
        others = [it for it in holders(self._device) if it.pid != os.getpid()]
        if others and not _is_pseudo_terminal(self._device):  # its creator may keep it open
            self._disconnect()
            raise busy_fault(self.label, others)


def make(uri: Uri, context: TransportContext) -> SerialPort:
    """Return the transport of a ``serial://`` URI. Raises errors.UsageFault."""
    uri.refuse_others("baud", "vehicle")  # the vehicle is for the code that opens the car
    if uri.authority or not uri.path:
        raise uri.fault("no device", "three slashes: serial:///dev/ttyACM0", uri.text)
    port = SerialPort(uri.text, uri.path, uri.integer("baud", BAUD, BAUD_LOW, BAUD_HIGH))
    port.vehicle = uri.query.get("vehicle")
    return port


def ports() -> list[SerialPortInfo]:
    """Return the serial ports of this machine, sorted by device."""
    found = sorted(list_ports.comports(), key=lambda port: port.device)
    return [
        SerialPortInfo(
            device=port.device,
            description=port.description or "",
            vendor_id=port.vid,
            product_id=port.pid,
            serial_number=port.serial_number,
            latency_timer_ms=latency_timer_ms(port.device),
        )
        for port in found
    ]


def latency_timer_ms(device: str, sys: Path = Path("/sys")) -> int | None:
    """Return for how long an FTDI chip holds received bytes back (16 ms by default); else None."""
    name = Path(os.path.realpath(device)).name
    with contextlib.suppress(OSError, ValueError):
        return int((sys / "bus/usb-serial/devices" / name / "latency_timer").read_text())
    return None


def _settle(port: serial.Serial) -> None:
    """Set what pyserial leaves open: raw mode, exclusive use, low latency."""
    fd = port.fileno()
    mode = termios.tcgetattr(fd)
    mode[_CONTROL] &= ~termios.HUPCL
    mode[_INPUT] &= ~termios.BRKINT  # a break arrives as a zero byte: a delimiter
    mode[_CHARACTERS][termios.VMIN] = 1  # else an idle read looks like an end of file
    termios.tcsetattr(fd, termios.TCSANOW, mode)
    # Not on a pseudo-terminal: it outlives its last user, and would stay locked after a kill.
    if not _is_pseudo_terminal(port.port or ""):
        fcntl.ioctl(fd, termios.TIOCEXCL)
    with contextlib.suppress(ValueError, NotImplementedError):  # not every driver can
        port.set_low_latency_mode(True)


def _is_pseudo_terminal(device: str) -> bool:
    """Return whether the device is a pseudo-terminal; False if it is gone, like a reset board's."""
    with contextlib.suppress(OSError):
        return os.major(os.stat(device).st_rdev) in PSEUDO_TERMINAL_MAJORS
    return False
