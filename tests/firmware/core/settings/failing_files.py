"""Files as a store opens them, of which a call fails: without memory, or by the flash.

As with littlefs, what was written counts once the file is closed.
"""

import binascii
import os
from types import SimpleNamespace

from firmware.boards import store

READING, WRITING = "rb", "wb"


class FailingFiles:
    """While planted, the ``at``-th call that a store makes raises ``error``; 0: none does.

    With ``lasts`` each one after it does so too. ``calls`` counts them.
    """

    def __init__(self, monkeypatch, error, at: int, lasts: bool) -> None:
        self.calls = 0
        self._error, self._at, self._lasts = error, at, lasts
        monkeypatch.setattr(store, "open", self._open, raising=False)
        failing_os = SimpleNamespace(stat=self._of(os.stat), remove=self._of(os.remove))
        monkeypatch.setattr(store, "os", failing_os)
        failing_crc = SimpleNamespace(crc32=self._of(binascii.crc32))
        monkeypatch.setattr(store, "binascii", failing_crc)

    def call(self) -> None:
        self.calls += 1
        if self.calls == self._at or (self._lasts and 0 < self._at < self.calls):
            raise self._error("planted")

    def _of(self, function):
        def failing(*arguments):
            self.call()
            return function(*arguments)

        return failing

    def _open(self, path, mode):
        self.call()
        return _File(self, path, mode)


class _File:
    def __init__(self, files: FailingFiles, path, mode) -> None:
        self._files, self._path, self._mode = files, path, mode
        self._written = b""
        self._file = open(path, READING) if mode == READING else None  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._file:
            self._file.close()
        else:
            self._files.call()
            with open(self._path, WRITING) as file:
                file.write(self._written)

    def read(self, size):
        self._files.call()
        return self._file.read(size)

    def readinto(self, buffer):
        self._files.call()
        return self._file.readinto(buffer)

    def write(self, data):
        self._files.call()
        self._written += bytes(data)
