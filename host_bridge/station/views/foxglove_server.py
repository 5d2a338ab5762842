"""A Foxglove server: the cars' reports live, and services that stop; nothing that moves a car.

Foxglove's server accepts any origin and has no login, so only watching and calling "stop" are
switched on. Topics and rows are those of a recorded log: one layout shows both.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

from host_bridge.core.errors import DeviceFault
from host_bridge.logs import rows

StopCars = Callable[[tuple[str, ...]], list[dict[str, object]]]


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
        try:
            self._server = foxglove.start_server(
                name="Tandem",
                host="127.0.0.1",
                port=port,
                capabilities=[foxglove.Capability.Services],
                supported_encodings=["json"],
                services=[_service(foxglove, "/stop", lambda: stop(()))],
                message_backlog_size=64,  # a client that does not read loses the oldest
            )
        except Exception as error:  # noqa: BLE001 - its errors have no common base class
            raise DeviceFault(
                "Foxglove's server did not start", where=f"127.0.0.1:{port}", got=str(error)
            ) from None
        self._stop = stop
        self._cars: set[str] = set()

    def add_car(self, name: str) -> None:
        """Add a service that stops this car."""
        if name in self._cars:
            return
        self._cars.add(name)
        service = _service(self._library, f"/{name}/stop", lambda: self._stop((name,)))
        self._server.add_services([service])

    def publish(self, car: str, event: object) -> None:
        """Publish one event of a car."""
        if not is_dataclass(event) or isinstance(event, type):
            return
        topic = f"/{car}/{rows.topic_of(type(event))}"
        if topic not in self._channels:
            self._channels[topic] = self._channel(topic, type(event))
        self._channels[topic].log(json.dumps(rows.row_of(event)).encode())

    def _channel(self, topic: str, kind: type) -> Any:
        library = self._library
        name = f"tandem.{rows.topic_of(kind)}"
        text = json.dumps(rows.schema_of(kind)).encode()
        schema = library.Schema(name=name, encoding="jsonschema", data=text)
        return library.Channel(topic, schema=schema, message_encoding="json")

    def close(self) -> None:
        self._server.stop()


def _service(library: Any, name: str, call: Callable[[], list[dict[str, object]]]) -> Any:
    def handle(request: object) -> bytes:
        return json.dumps(call()).encode()

    schema = library.ServiceSchema(name="stop")
    return library.Service(name, schema=schema, handler=handle)
