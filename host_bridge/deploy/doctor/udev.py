"""The udev rules: a stable name for each board, and no access by ModemManager."""

from __future__ import annotations

RULES_PATH = "/etc/udev/rules.d/71-tandem.rules"
INSTALL = (
    f"tandem doctor --udev | sudo tee {RULES_PATH} && "
    "sudo udevadm control --reload && sudo udevadm trigger"
)

# USB vendor ids (the USB-IF's) of boards, and of adapters that connect boards
VENDORS = (
    ("2e8a", "Raspberry Pi: Pico, Pico 2"),
    ("f055", "MicroPython: pyboard and other STM32 boards"),
    ("0483", "STMicroelectronics: Nucleo, VESC"),
    ("303a", "Espressif: ESP32-S2, -S3, -C3"),
    ("0403", "FTDI adapters"),
    ("10c4", "Silicon Labs adapters: CP210x"),
    ("1a86", "QinHeng adapters: CH340, CH343"),
)

_HEAD = """\
# Tandem: /dev/tandem/<board id> for each board, whatever port it is plugged into. Where a board
# hangs on an adapter, the number is the adapter's; one without a number gets no name.
# To install:
#   {install}
# 71: before 73-seat-late.rules, which acts on the uaccess tag, and 77-mm-*.rules (ModemManager).
ACTION=="remove", GOTO="tandem_end"
"""

# ModemManager talks to every new serial port; a car would hear it as noise, and be kept busy.
_DEVICE = """
# {title}
SUBSYSTEM=="usb", ENV{{DEVTYPE}}=="usb_device", ATTR{{idVendor}}=="{vendor}", \
ENV{{ID_MM_DEVICE_IGNORE}}="1"
SUBSYSTEM=="tty", SUBSYSTEMS=="usb", ATTRS{{idVendor}}=="{vendor}", ATTRS{{serial}}=="?*", \
SYMLINK+="tandem/$attr{{serial}}"
SUBSYSTEM=="tty", SUBSYSTEMS=="usb", ATTRS{{idVendor}}=="{vendor}", ENV{{ID_MM_PORT_IGNORE}}="1", \
GROUP="{group}", MODE="0660", TAG+="uaccess"
"""

_TAIL = """
# FTDI chips hold received bytes back for 16 ms unless told otherwise; 1 ms is their shortest.
SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"

LABEL="tandem_end"
"""


def udev_rules(group: str) -> str:
    """Return the whole file; ``group`` is the system's own for serial ports (dialout, uucp)."""
    devices = (_DEVICE.format(vendor=vendor, title=title, group=group) for vendor, title in VENDORS)
    return _HEAD.format(install=INSTALL) + "".join(devices) + _TAIL
