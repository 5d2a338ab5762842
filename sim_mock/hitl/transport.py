"""``serial:///dev/ttyACM0?hitl=nigel``: a bare board on a cable, with a plant for its peripherals.

Options: those of ``sim://`` but blank, for the plant; any other is the inner URI's (``baud``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim_mock.hitl.handshake import TICK_S, HitlHandshake
from sim_mock.virtual_car.config import QUERY, VirtualCarConfig, vehicle_for, virtual_car_config

if TYPE_CHECKING:
    from sim_mock.virtual_car.transport import Context, VirtualCarUri
    from sim_mock.world import World

OPTION = "hitl"
_CABLES = ("serial", "lossy+serial")
_LOOK_S = 0.01  # between two looks: a step of a car
# A board that is driven at 100 Hz sends 18.3 kB/s (README.md), with ten bits a byte: 183000 baud.
LEAST_BAUD = 230_400


class HitlTransport:
    """A transport around ``cable``, the board's own.

    Each ``open`` is a new car at its start, on the board of the first one: another board is not
    brought into the loop, and stays a real car.
    """

    is_virtual = False  # there is a board, which can be told to stop

    def __init__(self, label: str, config: VirtualCarConfig, cable: Any, vehicle: str) -> None:
        self.label = label
        self.vehicle = vehicle
        self.cable = cable
        self._config = config
        self._board = b""  # its id in the loop, once it was there
        self._handshake: HitlHandshake | None = None
        self._task: asyncio.Task[None] | None = None
        self._on_closed: Callable[[Exception | None], None] | None = None
        self._why: Exception | None = None

    @property
    def world(self) -> World | None:
        """The plant around the board; None while the transport is closed."""
        return self._handshake.chip_plant.world if self._handshake else None

    async def open(
        self, on_bytes: Callable[[bytes], None], on_closed: Callable[[Exception | None], None]
    ) -> None:
        """Open the cable and wait until the plant is the board's peripherals.

        Raises RuntimeError if that fails, and what the cable raises.
        """
        handshake = HitlHandshake(self._config, self.cable.send, on_bytes, self._board)
        self._why = None
        await self.cable.open(handshake.hear_board, self._ended)
        self._handshake = handshake
        self._task = asyncio.get_running_loop().create_task(self._run(handshake))
        try:
            while not handshake.is_open:
                await asyncio.sleep(_LOOK_S)
                if self._handshake is not handshake:
                    raise RuntimeError(str(self._why))
        except BaseException:
            self.close()
            raise
        self._board = handshake.board
        self._on_closed = on_closed

    def send(self, data: bytes) -> int:
        return self._handshake.hear_host(data) if self._handshake else 0

    def close(self) -> None:
        self.cable.close()

    async def _run(self, handshake: HitlHandshake) -> None:
        while not handshake.fault:
            handshake.tick()
            await asyncio.sleep(TICK_S)
        self._why = RuntimeError(handshake.fault)
        self.cable.close()

    def _ended(self, why: Exception | None) -> None:
        self._why = self._why or why
        if self._task:
            self._task.cancel()
        if self._handshake:
            self._handshake.chip_plant.world.close()
        self._task = self._handshake = None
        on_closed, self._on_closed = self._on_closed, None
        if on_closed:
            on_closed(self._why)


def make(uri: VirtualCarUri, context: Context) -> HitlTransport:
    """Return the transport of a URI with ``hitl=VEHICLE``. Raises ValueError for what is unfit."""
    scheme, _, _ = uri.text.partition("://")
    if scheme not in _CABLES:
        raise ValueError(
            f"hitl= is for a board on a cable: serial:///dev/ttyACM0?hitl=nigel, not {scheme}://"
        )
    if "blank" in uri.query:
        raise ValueError("blank=1: a board with a plant has the configuration that the plant sends")
    _check_baud(uri.query.get("baud", ""))
    own = {key: value for key, value in uri.query.items() if key in QUERY}
    config = virtual_car_config(vehicle_for(own, uri.query[OPTION], context), own)
    cable = context.transport(_cable_text(uri.text))
    return HitlTransport(uri.text, config, cable, uri.query[OPTION])


def _check_baud(baud: str) -> None:
    """Raise ValueError for a baud rate that is too low; the cable refuses what is no number."""
    if baud.isdecimal() and int(baud) < LEAST_BAUD:
        raise ValueError(
            "hardware in the loop does not fit through this line: readings, outputs and telemetry "
            f"would queue up and the car would stutter; expected baud={LEAST_BAUD} or more, got "
            f"baud={baud}; leave it out (921600), with a line and a board file that do as much"
        )


def _cable_text(text: str) -> str:
    """Return the cable's URI: as written, without the plant's options."""
    head, _, query = text.partition("?")
    items = [it for it in query.split("&") if it.partition("=")[0] not in (OPTION, *QUERY)]
    return "?".join([head, "&".join(items)] if items else [head])
