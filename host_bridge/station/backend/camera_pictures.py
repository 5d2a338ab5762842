"""Reads the pictures that the camera's program serves, for Foxglove and for a log."""

from __future__ import annotations

import http.client
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

_PATIENCE_S = 5.0  # it gives up a camera after 3 s and opens it again
_AGAIN_S = 0.5  # between two tries: its program takes a second or two to start
_LINE_MAX = 1024  # bytes of a header's line
_BYTES_MAX = 8 << 20  # of one picture; ours are 640 pixels wide, and have some 50 kB


class CameraPictures:
    """The newest picture at an address of ``CameraProcess``, read in a thread until ``close``."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._newest: bytes | None = None
        self._is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def take(self) -> bytes | None:
        """Return the newest picture as JPEG, once; None until there is a new one."""
        found, self._newest = self._newest, None
        return found

    def close(self) -> None:
        """Let the thread end after its next picture."""
        self._is_over = True

    def _run(self) -> None:
        while not self._is_over:
            with suppress(OSError, ValueError, http.client.HTTPException):
                self._read()
            time.sleep(_AGAIN_S)  # the program starts, or its camera has gone

    def _read(self) -> None:
        place = self._address
        line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_PATIENCE_S)
        try:
            line.request("GET", place.path)
            answer = line.getresponse()
            while answer.status == http.client.OK and not self._is_over:
                size = _next_size(answer)
                if not 0 < size <= _BYTES_MAX:
                    return
                self._newest = answer.read(size)
        finally:
            line.close()


def _next_size(answer: http.client.HTTPResponse) -> int:
    """Read the header of the next part; return how many bytes its picture has, 0 at the end."""
    size = 0
    while line := answer.readline(_LINE_MAX):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            size = int(value)
        elif size and not line.strip():
            return size
    return 0
