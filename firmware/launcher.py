"""/launcher.mpy of a board: outputs safe first, then the program of the slot that counts.

A program lives whole in a slot, /a or /b, with the pins and the configuration that belong to it. A
new one starts on trial: unless that start is marked healthy, the next one is the old program's.
Imports nothing of ours, for it outlives the programs that it starts.
"""

import binascii
import gc
import os
import sys

SLOTS = ("a", "b")
PINS = "pins.mpy"  # the last that a slot gets, and the first that goes: with it a program is whole
RECORDS = ("starts_0.bin", "starts_1.bin")
TROUBLE = "trouble.txt"  # why the last start ended, for tandem flash to show
# A record: counter (4 bytes, low first), slot, is it on trial, starts not marked healthy, REPL
# wanted, CRC-32 of these
_SIZE = 8
_CRC_SIZE = 4
_COUNTER_MASK = (1 << 30) - 1
_STARTS_MAX = 3  # in a row that fail, as firmware/core/watch.py has it
# Bytes of garbage that imports may leave behind: an RP2040's heap has room for the program, but not
# for the program and the holes between its parts
_CRUMBS_SIZE = 8_000
_TRIAL_MS = 8000  # to come as far as the program's own watchdog; RP2040's can wait 8388 ms


class Starts:
    """Which slot counts, and how its starts went. ``root`` is the folder of main.py.

    Two records, the newer whole one counts and the other one is written: a cut at any moment
    leaves one of them, whatever the file system promises.
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
        # Nothing is left to be started but the launcher itself
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
        """Count this start; False if it is to end in the REPL instead."""
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
        """This start neither failed nor was healthy: a person ended it, for the REPL."""
        self._begun = self.failed
        self.wants_repl = 1
        self._save()

    def switch(self, slot: int) -> None:
        """The next start is that of this slot, on trial."""
        self.slot = slot
        self.is_on_trial = 1
        self._begun = self.wants_repl = 0
        self._save()

    def has_given_up(self) -> bool:
        """Whether starting once more would only do the same again."""
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


def _crc(data: bytes) -> bytes:
    crc: int = binascii.crc32(data)
    return crc.to_bytes(_CRC_SIZE, "little")


def _read(path: str) -> bytes:
    """A record without its CRC; nothing if it is not there or damaged."""
    try:
        with open(path, "rb") as file:
            data: bytes = file.read()
    except OSError:
        return b""
    is_whole = len(data) == _SIZE + _CRC_SIZE and _crc(data[:_SIZE]) == data[_SIZE:]
    return data[:_SIZE] if is_whole and data[4] < len(SLOTS) else b""


def launch(root: str = "") -> None:
    """Returns into the REPL if that was asked for, or if nothing else makes sense."""
    import machine

    starts = Starts(root)  # reads some bytes: which pins are outputs depends on the slot
    pins = _safe_pins(machine, starts)
    if starts.is_waiting or pins is None:
        print("Tandem: no whole program that was healthy is here; tandem flash brings one")
    elif not starts.begin():
        print("Tandem: the REPL was asked for; machine.reset() starts the car")
    elif not _stays(starts, machine, pins):
        machine.reset()
    else:
        print("Tandem: the program ends at its start, /%s says why; see tandem flash" % TROUBLE)


def _safe_pins(machine: "object", starts: Starts) -> "object | None":
    """The pins module of the slot that counts, else of the other one, its outputs at their safe
    levels. Without one nothing is touched."""
    for slot in (starts.slot, starts.slot ^ 1):
        folder = starts.folder_of(slot)
        sys.path.insert(0, folder)
        try:
            import pins  # type: ignore[import-not-found]

            _make_safe(machine, pins)
            return pins  # type: ignore[no-any-return]
        except Exception:  # noqa: BLE001 - not there or not whole: the other one may be
            sys.modules.pop("pins", None)
            sys.path.remove(folder)
    return None


def _make_safe(machine: "object", pins: "object") -> None:
    for pin, level in pins.SAFE_LEVELS:  # type: ignore[attr-defined]
        machine.Pin(pin, machine.Pin.OUT, value=level)  # type: ignore[attr-defined]


def _stays(starts: Starts, machine: "object", pins: "object") -> bool:
    """Run the program. True if the REPL is what is left; else the board has to be reset."""
    try:
        if starts.is_on_trial:  # whatever hangs, the next start is the old program's
            machine.WDT(timeout=_TRIAL_MS)  # type: ignore[attr-defined]
        gc.threshold(_CRUMBS_SIZE)
        from firmware.boards.start import start

        start(pins, starts)  # type: ignore[arg-type]
    except KeyboardInterrupt:  # Ctrl-C on a REPL that is not the link
        pass
    except Exception as error:  # noqa: BLE001 - whatever it was, the outputs come first
        _make_safe(machine, pins)
        _tell(starts.root, error)
        return starts.has_given_up()
    starts.withdraw()  # a watchdog runs on: the REPL comes after a reset
    return False


def _tell(root: str, error: Exception) -> None:
    try:
        with open(root + "/" + TROUBLE, "w") as file:
            sys.print_exception(error, file)  # type: ignore[attr-defined]
    except OSError:  # a full flash
        pass
