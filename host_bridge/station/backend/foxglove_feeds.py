"""Gives Foxglove the scans of cars and the camera's pictures, which are no reports of a car."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.station.backend.camera_pictures import CameraPictures
from host_bridge.station.backend.camera_process import CameraProcess
from host_bridge.station.views.foxglove_server import FoxgloveServer

_EVERY_S = 0.1  # as often as the page draws a scan, and as the camera's program has a picture


async def feed(
    server: FoxgloveServer,
    lidars: Mapping[str, str],
    camera: CameraProcess | None,
) -> None:
    """Publish the newest scans and pictures until cancelled; ``lidars`` are scan files by car.

    A file that is not there yet is looked for again, as the page does.
    """
    pipes: dict[str, SensorPipe] = {}
    pictures = CameraPictures(str(camera.row()["url"])) if camera else None
    loop = asyncio.get_running_loop()
    try:
        while True:
            for car, path in lidars.items():
                if car not in pipes:
                    with suppress(OSError):
                        pipes[car] = SensorPipe(path)
            for car, pipe in pipes.items():
                pipe.step(round(loop.time() * 1e6))
                if scan := pipe.take_scan():
                    server.scan(car, scan)
            if pictures and (jpeg := pictures.take()):
                server.image(jpeg)
            await asyncio.sleep(_EVERY_S)
    finally:
        for pipe in pipes.values():
            pipe.close()
        if pictures:
            pictures.close()
