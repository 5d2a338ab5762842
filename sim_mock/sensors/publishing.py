"""Samples as lines of JSON into a file or a named pipe; writing never blocks the car."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import Any

from sim_mock.sensors.instruments import SensorSample


class SampleWriter:
    """A writer of samples to ``path``, a file or a named pipe (mkfifo).

    A file is truncated at the first sample, so a car that was made and never driven leaves its
    contents; a pipe does not wait for a reader. One line per sample: ``sensor``, ``taken_s`` (when
    it was measured), ``time_s`` (when it is out), the measured values, and ``truth``. A reader that
    does not keep up loses whole lines; the next line says how many (``lost``). Raises OSError for a
    path that cannot be written.
    """

    def __init__(self, path: str) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK  # O_RDWR: a pipe opens without a reader
        self._file = os.open(path, flags, 0o644)
        self._is_to_begin = stat.S_ISREG(os.fstat(self._file).st_mode)
        self._rest = b""
        self._lost = 0

    def put(self, sample: SensorSample) -> None:
        if self._is_to_begin:
            self._is_to_begin = False
            os.ftruncate(self._file, 0)
        self._flush()
        if self._rest:
            self._lost += 1
            return
        self._rest = json.dumps(self._row(sample)).encode() + b"\n"
        self._lost = 0
        self._flush()

    def _row(self, sample: SensorSample) -> dict[str, Any]:
        row = {
            "sensor": sample.sensor,
            "taken_s": sample.taken_us / 1e6,
            "time_s": sample.out_us / 1e6,
            **sample.measured,
            "truth": sample.truth,
        }
        return {**row, "lost": self._lost} if self._lost else row

    def _flush(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._rest:
                self._rest = self._rest[os.write(self._file, self._rest) :]

    def close(self) -> None:
        os.close(self._file)
