"""Non-blocking output of lines, so that a slow reader never delays the program.

A pipe that nobody reads is full after some seconds, and writing to it blocks: cars would stop for
silence, and no stop would be heard. Here lines that are not read in time are dropped whole, the
oldest first, and counted.
"""

from __future__ import annotations

import io
import select
import time
from collections import deque
from collections.abc import Sequence
from os import write
from typing import TextIO

from host_bridge.core.system.printable import printable

MOST = 200  # lines that may wait: some ten seconds of two cars
_PATIENCE_S = 1.0  # how long a slow reader is waited for at the end
_CHUNK = select.PIPE_BUF  # writing this much does not block once poll(2) reports room


class LineWriter:
    """A writer of lines to a stream, in order; ``lost`` counts the lines that were dropped.

    With ``waits`` it drops nothing and blocks for the reader, for programs whose virtual time
    stands still meanwhile.
    """

    def __init__(self, stream: TextIO, *, waits: bool = False) -> None:
        self.lost = 0
        self._stream = stream
        self._lines: deque[bytes] = deque()
        self._begun = b""  # the unwritten rest of a line
        try:
            self._file = None if waits else stream.fileno()
        except (io.UnsupportedOperation, AttributeError, ValueError):
            self._file = None  # a stream without a file: a test's, or a notebook's
        if self._file is not None:
            stream.flush()  # what was printed before comes first
            self._poll = select.poll()
            self._poll.register(self._file, select.POLLOUT)

    def put(self, lines: Sequence[str]) -> None:
        """Write the lines now, as far as there is room.

        Raises BrokenPipeError if nobody reads any more.
        """
        if self._file is None:
            for line in lines:
                print(line, file=self._stream, flush=True)
            return
        encoding = self._stream.encoding or "utf-8"
        for line in lines:
            self._lines.append((printable(line) + "\n").encode(encoding, "backslashreplace"))
        self._write(0)
        while len(self._lines) > MOST:
            self._lines.popleft()
            self.lost += 1

    def finish(self, lines: Sequence[str]) -> None:
        """Write the last lines, waiting at most 1 s for a slow reader. Raises as ``put`` does."""
        self.put(lines)
        if self._file is not None:
            ends_s = time.monotonic() + _PATIENCE_S
            while self._has_more() and (left_s := ends_s - time.monotonic()) > 0:
                self._write(left_s)
            self.lost += len(self._lines) + bool(self._begun)

    def _has_more(self) -> bool:
        return bool(self._begun or self._lines)

    def _write(self, wait_s: float) -> None:
        assert self._file is not None, "asked where there is a file"
        while self._has_more() and self._poll.poll(wait_s * 1e3):
            self._begun = self._begun or self._lines.popleft()
            self._begun = self._begun[write(self._file, self._begun[:_CHUNK]) :]
            wait_s = 0
