"""Serves a camera's picture for the station's page, as a separate program: a V4L2 device or MJPEG.

OpenCV reads the camera; a page gets the newest picture, and never an older one than before. If the
camera, its network or this program hangs, the page shows how old the picture is, and nothing waits.
"""

from __future__ import annotations

import argparse
import hmac
import json
import os
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# A stream that sends nothing for _PATIENCE_MS is closed and opened again
os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")

import cv2

_PATIENCE_MS = 3_000  # a camera that gives no picture for so long has gone
_EVERY_S = 0.1  # ten pictures a second are enough beside a map
_AGAIN_S = 1.0
_TELL_S = 0.5  # between two lines that tell how it is
_WIDEST = 640  # pixels: as wide as the page shows it
_QUALITY = 70  # of JPEG, of 100: artefacts are hardly seen, at a third of the bytes
_VIEWERS = 8  # at once: each has a thread
_BOUNDARY = "tandem"


class NewestPicture:
    """The newest picture, as JPEG; ``fault`` says why there is none."""

    def __init__(self) -> None:
        self.fault = "not opened yet"
        self._jpeg = b""
        self._taken_s: float | None = None
        self._news = threading.Condition()

    def put(self, jpeg: bytes) -> None:
        with self._news:
            self._jpeg, self._taken_s, self.fault = jpeg, time.monotonic(), ""
            self._news.notify_all()

    def wait_newer(self, taken_s: float | None, within_s: float) -> tuple[bytes, float | None]:
        """Return a picture newer than ``taken_s``, and its time.

        The same one if none comes in time.
        """
        with self._news:
            self._news.wait_for(lambda: self._taken_s != taken_s, within_s)
            return self._jpeg, self._taken_s

    def age_s(self) -> float | None:
        """Return the picture's age in s; None before the first."""
        return None if self._taken_s is None else time.monotonic() - self._taken_s


def read_camera(source: str, newest: NewestPicture) -> None:
    """Read the camera for ever; open it again whenever it ends."""
    while True:
        capture = _opened(source)
        if not capture.isOpened():
            newest.fault = f"{source} cannot be opened"
        while capture.isOpened():
            is_there, picture = capture.read()
            if not is_there:
                newest.fault = f"{source} says nothing more"
                break
            _show(picture, newest)
        capture.release()
        time.sleep(_AGAIN_S)


def _opened(source: str) -> Any:
    number = source.removeprefix("/dev/video")
    if number.isdecimal():
        return cv2.VideoCapture(int(number), cv2.CAP_V4L2)
    if source.startswith("/dev/"):  # a link that udev made: /dev/video-front, /dev/v4l/by-id/...
        return cv2.VideoCapture(source, cv2.CAP_V4L2)
    patience = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, _PATIENCE_MS]
    patience += [cv2.CAP_PROP_READ_TIMEOUT_MSEC, _PATIENCE_MS]
    return cv2.VideoCapture(source, cv2.CAP_FFMPEG, patience)


def _show(picture: Any, newest: NewestPicture) -> None:
    """Keep a picture every 0.1 s, and drop those between."""
    age_s = newest.age_s()
    if age_s is not None and age_s < _EVERY_S:
        return
    height, width = picture.shape[:2]
    if width > _WIDEST:
        picture = cv2.resize(picture, (_WIDEST, height * _WIDEST // width))
    is_made, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    if is_made:
        newest.put(jpeg.tobytes())


class PictureServer(ThreadingHTTPServer):
    """An HTTP server with a thread per viewer: one that does not read keeps no other waiting."""

    daemon_threads = True

    def __init__(self, port: int, key: str, newest: NewestPicture) -> None:
        super().__init__(("127.0.0.1", port), _PictureRequest)
        self.key = key
        self.newest = newest
        self.places = threading.Semaphore(_VIEWERS)


class _PictureRequest(BaseHTTPRequestHandler):
    timeout = 5.0  # s: a page that does not ask within them is sent away
    server: PictureServer

    def do_GET(self) -> None:
        """Stream pictures while the page reads them; the path has to be the key, else it is 404."""
        if not hmac.compare_digest(self.path.encode(), f"/{self.server.key}".encode()):
            self.send_error(404)  # not found
        elif not self.server.places.acquire(blocking=False):
            self.send_error(503)  # busy
        else:
            try:
                with suppress(OSError):
                    self._stream()
            finally:
                self.server.places.release()

    def _stream(self) -> None:
        self.send_response(200)  # here it is
        self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={_BOUNDARY}")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        taken_s: float | None = None
        while True:
            jpeg, found_s = self.server.newest.wait_newer(taken_s, 1.0)
            if found_s == taken_s:
                continue
            taken_s = found_s
            head = (
                f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
            )
            self.wfile.write(head.encode() + jpeg + b"\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Drop the log line: nobody reads it."""


def main() -> None:
    """Serve, and print the picture's age twice a second, until nobody reads that."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="/dev/videoN, or the URL of a stream")
    parser.add_argument("port", type=int)
    arguments = parser.parse_args()
    newest = NewestPicture()
    server = PictureServer(arguments.port, input(), newest)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=read_camera, args=(arguments.source, newest), daemon=True).start()
    with suppress(BrokenPipeError):
        while True:
            print(json.dumps({"age_s": newest.age_s(), "fault": newest.fault}), flush=True)
            time.sleep(_TELL_S)
    os._exit(0)  # OpenCV may be waiting for its camera


if __name__ == "__main__":
    main()
