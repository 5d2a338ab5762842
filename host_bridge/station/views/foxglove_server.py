"""A Foxglove server: the cars' reports live, and services that stop; nothing that moves a car.

Foxglove's server accepts any origin and has no login, so only watching and calling "stop" are
switched on. Topics and rows are those of a recorded log, Foxglove's standard schemas among them:
one layout shows both.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.core.errors import DeviceFault
from host_bridge.logs import rows
from host_bridge.logs.foxglove_rows import (
    ORIGIN,
    SCHEMAS,
    Place,
    StandardRow,
    StandardRows,
    image_row,
)
from host_bridge.logs.recorder import CAMERA
from host_bridge.logs.sensor_lines import LidarScan

StopCars = Callable[[tuple[str, ...]], list[dict[str, object]]]
_KEPT = ("foxglove.SceneUpdate",)  # said once or seldom: whoever comes later gets the newest


class FoxgloveServer:
    """The server on the loopback, until it is closed; ``stop`` is called in a separate thread."""

    def __init__(self, port: int, stop: StopCars) -> None:
        """Start the server.

        Raises errors.DeviceFault without foxglove-sdk, or if the port is taken.
        """
        try:
            import foxglove
        except ImportError as error:
            raise DeviceFault(
                "--foxglove needs foxglove-sdk, which is not installed here",
                got=str(error),
                remedy="pip install 'tandem-cars[foxglove]'",
            ) from None
        self._library = foxglove
        self._channels: dict[str, Any] = {}
        self._kept: dict[str, bytes] = {}
        try:
            self._server = foxglove.start_server(
                name="Tandem",
                host="127.0.0.1",
                port=port,
                capabilities=[foxglove.Capability.Services],
                supported_encodings=["json"],
                services=[_service(foxglove, "/stop", lambda: stop(()))],
                message_backlog_size=64,  # a client that does not read loses the oldest
                server_listener=_latecomers(foxglove, self._repeat),
            )
        except Exception as error:  # noqa: BLE001 - its errors have no common base class
            raise DeviceFault(
                "Foxglove's server did not start", where=f"127.0.0.1:{port}", got=str(error)
            ) from None
        self._stop = stop
        self._cars: dict[str, StandardRows] = {}

    def add_car(
        self,
        name: str,
        vehicle: Vehicle | None = None,
        start: Place = ORIGIN,
        walls: Sequence[Sequence[float]] = (),
    ) -> None:
        """Add a service that stops this car, and draw it; one that is served anew begins anew."""
        is_new = name not in self._cars
        self._cars[name] = drawn = StandardRows(name, vehicle, start)
        if len(walls):
            self._log_standard(name, drawn.track(walls, time.time_ns()))
        if is_new:
            service = _service(self._library, f"/{name}/stop", lambda: self._stop((name,)))
            self._server.add_services([service])

    def publish(self, car: str, event: object) -> None:
        """Publish one event of a car."""
        if not is_dataclass(event) or isinstance(event, type):
            return
        kind = type(event)
        topic = rows.topic_of(kind)
        schema = lambda: rows.schema_of(kind)  # noqa: E731
        self._log(car, topic, f"tandem.{topic}", schema, rows.row_of(event))
        for row in self._drawn(car).of(event, time.time_ns()):
            self._log_standard(car, row)

    def scan(self, car: str, scan: LidarScan) -> None:
        """Publish a scan of a car."""
        self._log_standard(car, self._drawn(car).scan(scan, time.time_ns()))

    def image(self, jpeg: bytes) -> None:
        """Publish a picture of the camera."""
        self._log_standard(CAMERA, image_row(CAMERA, jpeg, time.time_ns()))

    def close(self) -> None:
        self._server.stop()

    def _drawn(self, car: str) -> StandardRows:
        return self._cars.get(car) or StandardRows(car)

    def _log_standard(self, car: str, row: StandardRow) -> None:
        data = self._log(car, row.topic, row.schema, lambda: SCHEMAS[row.schema], row.row)
        if row.schema in _KEPT:
            self._kept[f"/{car}/{row.topic}"] = data

    def _log(
        self,
        car: str,
        topic: str,
        name: str,
        schema: Callable[[], rows.Schema],
        row: dict[str, Any],
    ) -> bytes:
        full = f"/{car}/{topic}"
        if full not in self._channels:
            text = json.dumps(schema()).encode()
            made = self._library.Schema(name=name, encoding="jsonschema", data=text)
            self._channels[full] = self._library.Channel(full, schema=made, message_encoding="json")
        data = json.dumps(row).encode()
        self._channels[full].log(data)
        return data

    def _repeat(self, topic: str) -> None:
        """Say once more what a client that has just subscribed to this topic has missed."""
        kept = self._kept.get(topic)
        if kept is not None:
            self._channels[topic].log(kept)


def _latecomers(library: Any, repeat: Callable[[str], None]) -> Any:
    """Return a listener that calls ``repeat`` with each topic that a client subscribes to."""

    class Latecomers(library.ServerListener):  # type: ignore[misc]
        """The listener; it hears nothing else."""

        def on_subscribe(self, client: Any, channel: Any) -> None:
            repeat(channel.topic)

    return Latecomers()


def _service(library: Any, name: str, call: Callable[[], list[dict[str, object]]]) -> Any:
    def handle(request: object) -> bytes:
        return json.dumps(call()).encode()

    schema = library.ServiceSchema(name="stop")
    return library.Service(name, schema=schema, handler=handle)
