"""Runs the camera's program beside the station: starts, reads, restarts and ends it."""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import suppress
from importlib.util import find_spec

from host_bridge.core.errors import DeviceFault
from sim_mock.programs import children

_AGAIN_S = 2.0
_SILENT_S = 2.0  # its program reports twice a second


def open_camera(source: str, port: int) -> CameraProcess:
    """Return the camera, to be run. Raises errors.DeviceFault without OpenCV."""
    if find_spec("cv2") is None:
        raise DeviceFault(
            "--camera needs OpenCV, which is not installed here",
            remedy="pip install 'tandem-cars[camera]'",
        )
    return CameraProcess(source, port)


class CameraProcess:
    """The state of one camera for the page; the picture is served by a program of its own."""

    def __init__(self, source: str, port: int) -> None:
        self._source = source
        self._port = port
        # bytes: a key in the pictures' address that nobody guesses
        self._key = secrets.token_urlsafe(16)
        self._told: dict[str, object] = {}
        self._told_s: float | None = None

    @property
    def origin(self) -> str:
        """The picture's origin: another site than the page's, with connections of its own."""
        return f"http://localhost:{self._port}"

    def row(self) -> dict[str, object]:
        """Return the picture's address, its age in s, and why there is none."""
        now_s = asyncio.get_running_loop().time()
        silent_s = None if self._told_s is None else now_s - self._told_s
        age_s = self._told.get("age_s")
        fault = str(self._told.get("fault", "its program starts"))
        if silent_s is not None and silent_s > _SILENT_S:
            fault = f"its program has said nothing for {silent_s:.0f} s"
        if isinstance(age_s, float) and silent_s is not None:
            age_s = round(age_s + silent_s, 1)
        return {
            "url": f"{self.origin}/{self._key}",
            "source": self._source,
            "age_s": age_s,
            "words": fault,
        }

    async def run(self) -> None:
        """Run the program until cancelled; restart it when it ended."""
        while True:
            await self._once()
            self._told = {"age_s": None, "fault": "its program ended"}
            await asyncio.sleep(_AGAIN_S)

    async def _once(self) -> None:
        process = await asyncio.create_subprocess_exec(
            *children.module(
                "host_bridge.station.views.camera_server", self._source, str(self._port)
            ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        try:
            process.stdin.write(self._key.encode() + b"\n")
            while line := await process.stdout.readline():
                with suppress(ValueError):
                    self._told = json.loads(line)
                    self._told_s = asyncio.get_running_loop().time()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
