"""/launcher.mpy of a board: makes the outputs safe, then starts the program of the active slot.

A slot, /a or /b, holds a whole program with the pins and the configuration that belong to it. A new
program starts on trial: unless that start is marked healthy, the next one is the old program's.
Imports nothing of this project, because it outlives the programs that it starts.
"""

import binascii
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

SLOTS = ("a", "b")
PINS = "pins.mpy"  # written last and deleted first: a slot that has it is whole
RECORDS = ("starts_0.bin", "starts_1.bin")
TROUBLE = "trouble.txt"  # why the last start ended, for tandem flash to show
_MOUNTED = "/program"  # where the active slot is mounted for imports
_IN_VAIN = ("", "/lib")  # taken out of sys.path: no module of the program is there
_PACKAGES = (
    "/firmware",
    "/firmware/boards",
    "/firmware/core",
    "/firmware/drivers",
    "/firmware/protocol",
)
# What the file system calls a folder and a file (S_IFDIR, S_IFREG), without the rest
_FOLDER_STAT = (0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
_FILE_STAT = (0x8000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
# A record: counter (4 bytes, low first), slot, is it on trial, starts not marked healthy, REPL
# wanted, CRC-32 of these
_SIZE = 8
_CRC_SIZE = 4
_COUNTER_MASK = (1 << 30) - 1
_STARTS_MAX = 3  # failed ones in a row, as in firmware/core/stops/fault_monitor.py
_CTRL_C = 3
_TRIAL_MS = 8000  # until the program has its own watchdog; an RP2040's can wait 8388 ms


class Starts:
    """The record of starts: the active slot and how its starts went.

    ``root`` is the folder of main.py. There are two record files: the newer whole one counts, and
    the other one is written. So a power cut at any moment leaves one of them, whatever the file
    system promises.
    """

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.failed = 0  # starts in a row before this one that were not marked healthy
        self._counter = 0
        self._at = 1
        self.slot = self.is_on_trial = self._begun = self.wants_repl = 0
        self._load()
        had_its_chance = self.is_on_trial and self._begun
        if (had_its_chance or not self._is_whole(self.slot)) and self._is_whole(self.slot ^ 1):
            self.slot ^= 1
            self.is_on_trial = self._begun = had_its_chance = 0
        # No slot has a program that is worth another start
        self.is_waiting = bool(had_its_chance) or not self._is_whole(self.slot)

    @property
    def folder(self) -> str:
        return self.folder_of(self.slot)

    def folder_of(self, slot: int) -> str:
        return self.root + "/" + SLOTS[slot]

    def _is_whole(self, slot: int) -> bool:
        try:
            os.stat(self.folder_of(slot) + "/" + PINS)
        except OSError:
            return False
        return True

    def begin(self) -> bool:
        """Count this start; return False if it is to end in the REPL instead."""
        self.failed = self._begun
        is_wanted = self.wants_repl
        self.wants_repl = 0
        if not is_wanted:
            self._begun = min(self._begun + 1, 255)
        self._save()
        return not is_wanted

    def mark_healthy(self) -> None:
        if self.is_on_trial or self._begun:
            self.is_on_trial = self._begun = 0
            self._save()

    def withdraw(self) -> None:
        """Uncount this start, which a person ended, and let the next one end in the REPL."""
        self._begun = self.failed
        self.wants_repl = 1
        self._save()

    def switch(self, slot: int) -> None:
        """Make ``slot`` the active one and save that; its next start is on trial."""
        self.slot = slot
        self.is_on_trial = 1
        self._begun = self.wants_repl = 0
        self._save()

    def has_given_up(self) -> bool:
        """Return whether too many starts failed, outside of a trial, to try another one."""
        return not self.is_on_trial and self._begun >= _STARTS_MAX

    def _load(self) -> None:
        for at in range(len(RECORDS)):
            data = _read(self.root + "/" + RECORDS[at])
            counter = int.from_bytes(data[:4], "little")
            if data and (counter - self._counter & _COUNTER_MASK) <= _COUNTER_MASK // 2:
                self._at, self._counter = at, counter
                self.slot, self.is_on_trial, self._begun, self.wants_repl = data[4:_SIZE]

    def _save(self) -> None:
        self._counter = self._counter + 1 & _COUNTER_MASK
        self._at ^= 1
        data = self._counter.to_bytes(4, "little")
        data += bytes((self.slot, self.is_on_trial, self._begun, self.wants_repl))
        with open(self.root + "/" + RECORDS[self._at], "wb") as file:
            file.write(data + _crc(data))


class Slot:
    """A slot mounted as a file system that answers an import's look-ups without asking the flash.

    For each module MicroPython looks for a folder, a text and a compiled file, and for each of its
    own modules it searches the whole path first. Each look-up takes an RP2040 a millisecond of
    littlefs.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def mount(self, readonly: bool, mkfs: bool) -> None:
        pass

    def umount(self) -> None:
        pass

    def stat(self, path: str) -> "tuple[int, ...]":
        if path in _PACKAGES:
            return _FOLDER_STAT
        is_ours = path.startswith(_PACKAGES[0] + "/") or path == "/" + PINS
        if is_ours and path.endswith(".mpy") and not path.endswith("/__init__.mpy"):
            return _FILE_STAT
        raise OSError(2)

    def open(self, path: str, mode: str) -> "IO[bytes]":
        return open(self._folder + path, mode)


def _crc(data: bytes) -> bytes:
    crc: int = binascii.crc32(data)
    return crc.to_bytes(_CRC_SIZE, "little")


def _read(path: str) -> bytes:
    """Return a record without its CRC; nothing if it is missing or damaged."""
    try:
        with open(path, "rb") as file:
            data: bytes = file.read()
    except OSError:
        return b""
    is_whole = len(data) == _SIZE + _CRC_SIZE and _crc(data[:_SIZE]) == data[_SIZE:]
    return data[:_SIZE] if is_whole and data[4] < len(SLOTS) else b""


def launch(root: str = "") -> None:
    """Run the active program, then reset; return, to the REPL, if asked to or if none can run."""
    path = sys.path[:]
    for each in _IN_VAIN:
        if each in path:
            sys.path.remove(each)
    sys.path.insert(0, _MOUNTED)
    starts = Starts(root)
    import machine

    pins = _safe_pins(machine, starts)  # which pins are outputs depends on the slot
    if starts.is_waiting or pins is None:
        print("Tandem: no program here that is whole and came up; tandem flash brings one")
    elif not starts.begin():
        print("Tandem: the REPL was asked for; machine.reset() starts the car")
    elif _stays(starts, machine, pins):
        print("Tandem: the program ends at its start, /%s says why; see tandem flash" % TROUBLE)
    else:
        machine.reset()
    sys.path[:] = path


def _safe_pins(machine: "Any", starts: Starts) -> "Any":
    """Set the outputs to their safe levels and return the pins module of the active slot.

    If that cannot be read, return None; the outputs are then set as the other slot's pins module
    says, if it has one, and otherwise left alone.
    """
    for slot in (starts.slot, starts.slot ^ 1):
        _mount(starts.folder_of(slot))
        try:
            import pins  # type: ignore[import-not-found]

            _make_safe(machine, pins)
            return pins if slot == starts.slot else None
        except Exception:  # noqa: BLE001 - missing or damaged: the other one may be whole
            sys.modules.pop("pins", None)
    return None


def _mount(folder: str) -> None:
    import vfs

    try:
        vfs.umount(_MOUNTED)
    except OSError:  # nothing was mounted
        pass
    vfs.mount(Slot(folder), _MOUNTED)


def _make_safe(machine: "Any", pins: "Any") -> None:
    for pin, level in pins.SAFE_LEVELS:
        machine.Pin(pin, machine.Pin.OUT, value=level)


def _stays(starts: Starts, machine: "Any", pins: "Any") -> bool:
    """Run the program; return True if only the REPL is left, False if the board has to be reset."""
    try:
        if starts.is_on_trial:  # if it hangs, the next start is the old program's
            machine.WDT(timeout=_TRIAL_MS)
        if starts.failed >= _STARTS_MAX:  # Ctrl-C, off since main.py, may end a hang
            import micropython

            micropython.kbd_intr(_CTRL_C)
        from firmware.boards.start import start

        start(pins, starts).run()  # type: ignore[arg-type]
    except KeyboardInterrupt:  # Ctrl-C on a REPL that is not the link
        pass
    except Exception as error:  # noqa: BLE001 - whatever it was, the outputs come first
        _make_safe(machine, pins)
        _tell(starts.root, error)
        return starts.has_given_up()
    starts.withdraw()  # the watchdog runs on: the REPL comes after a reset
    return False


def _tell(root: str, error: Exception) -> None:
    try:
        with open(root + "/" + TROUBLE, "w") as file:
            sys.print_exception(error, file)
    except OSError:  # a full flash
        pass
