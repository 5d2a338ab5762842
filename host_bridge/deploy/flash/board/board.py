"""A board at its raw REPL, over any of mpremote's transports: its facts, its files, its slots."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mpremote.transport import Transport, TransportError

from host_bridge.core.errors import DeviceFault, NotHeldFault
from host_bridge.deploy.flash.plan import Slots
from host_bridge.deploy.flash.program.program import hash_of

# Run on the board, which has neither os.walk nor makedirs. What is taken before any of it is there
# is a boot.py's, and stays taken beside the car's program.
HELPERS = """
import gc
gc.collect()
_taken = gc.mem_alloc()
import os, sys, binascii, hashlib
def _hash(path):
    h = hashlib.sha256()
    buffer = bytearray(256)
    view = memoryview(buffer)
    with open(path, "rb") as file:
        while True:
            n = file.readinto(buffer)
            if not n:
                return binascii.hexlify(h.digest()).decode()
            h.update(view[:n])
def _hashes(folder):
    try:
        rows = list(os.ilistdir(folder))
    except OSError:
        return
    for row in rows:
        path = folder + "/" + row[0]
        if row[1] & 0x4000:
            _hashes(path)
        else:
            print(_hash(path) + " " + path)
def _folders(path):
    at = path.find("/", 1)
    while at > 0:
        try:
            os.mkdir(path[:at])
        except OSError:
            pass
        at = path.find("/", at + 1)
def _starts():
    try:
        from main import Starts
    except (ImportError, AttributeError):
        return None
    return Starts()
"""
_FACTS = """
import gc, sys, machine
_it = sys.implementation
_heap = gc.mem_alloc() + gc.mem_free()
_who = getattr(_it, "_machine", ""), tuple(_it.version[:3]), machine.unique_id()
print(repr(_who + (_heap, _taken)))
"""
# Bytes that count as MicroPython's own, the text of HELPERS included: a bare emulated RP2040 told
# 5776 under 1.29
TAKEN_BARE = 6144
_CHUNK = 512  # bytes of a file per exchange; as source text some 1500 bytes of the board's heap
OLDEST = (1, 23)  # the first that runs what mpy-cross makes of native code (format 6.3)
_T = TypeVar("_T")


@dataclass(frozen=True)
class BoardFacts:
    """A board's own report: machine, MicroPython's version, the chip's id, its heap in bytes.

    ``taken`` is what of the heap a boot.py of the board's owner holds before any program starts.
    """

    machine: str
    version: tuple[int, ...]
    unique_id: bytes
    heap: int
    taken: int = 0

    @property
    def left(self) -> int:
        """Return the bytes of heap that a car's program has."""
        return self.heap - self.taken


def unprinted() -> contextlib.redirect_stdout[io.StringIO]:
    """Return a context in which nothing is printed: mpremote prints what it did not understand."""
    return contextlib.redirect_stdout(io.StringIO())


class RawBoard:
    """The operations at a board's raw REPL.

    Every method raises errors.DeviceFault if the board does not answer, or refuses.
    """

    def __init__(self, transport: Transport, where: str) -> None:
        self.where = where
        self._transport = transport
        self._done(lambda: transport.exec(HELPERS))

    def facts(self) -> BoardFacts:
        machine, version, unique_id, heap, taken = self._answer(_FACTS)
        return BoardFacts(machine, version, unique_id, heap, max(0, taken - TAKEN_BARE))

    def slots(self) -> Slots | None:
        """Return the launcher's slots; None if there is no launcher on it."""
        fields = "(s.slot, bool(s.is_on_trial), s.failed, bool(s.is_waiting))"
        code = f"s = _starts()\nprint(repr(s and {fields}))"
        found = self._answer(code)
        return Slots(*found) if found else None

    def hashes(self, folder: str) -> dict[str, str]:
        """Return hashes by path within the folder; empty if there is no such folder.

        The board prints a line for each: after so many opened files the text of all of them would
        not fit into its fragmented heap.
        """
        output = self._done(lambda: self._transport.exec(f"_hashes({folder!r})"))
        rows = [line.split(" ", 1) for line in output.decode().splitlines()]
        return {path[len(folder) + 1 :]: value for value, path in rows}

    def put(self, path: str, data: bytes) -> None:
        """Write a file into a slot that is not started from."""
        self._done(lambda: self._transport.exec(f"_folders({path!r})"))
        self._done(lambda: self._transport.fs_writefile(path, data, _CHUNK))

    def replace(self, path: str, data: bytes) -> None:
        """Replace a file that must be whole at any moment: write beside it, check, rename."""
        beside = path + ".new"
        self.put(beside, data)
        got = self._answer(f"print(repr(_hash({beside!r})))")
        if got != hash_of(data):
            raise verification_fault(self.where, beside)
        self._done(lambda: self._transport.exec(f"os.rename({beside!r}, {path!r})"))

    def has(self, path: str, data: bytes) -> bool:
        code = f"try:\n print(repr(_hash({path!r})))\nexcept OSError:\n print('None')"
        return bool(self._answer(code) == hash_of(data))

    def remove(self, path: str) -> None:
        self._done(lambda: self._transport.exec(f"os.remove({path!r})"))

    def rename(self, path: str, new: str) -> None:
        """Rename a file; do nothing if it does not exist."""
        code = f"try:\n os.rename({path!r}, {new!r})\nexcept OSError:\n pass"
        self._done(lambda: self._transport.exec(code))

    def switch(self, slot: int) -> None:
        """Make the next start this slot's, on trial."""
        self._done(lambda: self._transport.exec(f"_starts().switch({slot})"))

    def read(self, path: str) -> bytes:
        """Return a file's bytes; none if it does not exist."""
        code = f"try:\n print(repr(open({path!r}, 'rb').read()))\nexcept OSError:\n print(\"b''\")"
        data: bytes = self._answer(code)
        return data

    def evaluate(self, code: str) -> object:
        """Run a line of Python that prints a literal; return its value."""
        answer: object = self._answer(code)
        return answer

    def begin(self, code: str) -> Transport:
        """Start code that goes on by itself; return the line over which it talks."""
        self._done(lambda: self._transport.exec_raw_no_follow(code))
        return self._transport

    def _answer(self, code: str) -> Any:
        text = self._done(lambda: self._transport.exec(code))
        return ast.literal_eval(text.decode())

    def _done(self, call: Callable[[], _T]) -> _T:
        try:
            with unprinted():
                return call()
        except (TransportError, OSError) as error:
            raise DeviceFault(
                "the board did not do what it was asked at its REPL",
                where=self.where,
                got=str(error).strip().split("\n")[-1],
                remedy="the old program still starts; see to the cable, then run the command again",
            ) from None


def verification_fault(where: str, path: str) -> NotHeldFault:
    """Return the fault that a file read back is not what was sent."""
    return NotHeldFault(
        f"{path} is not on the board as it was sent",
        where=where,
        remedy="the old program still starts; run the command again; if it happens again, the "
        "board's flash is worn",
    )
