"""One virtual car: its program, its plant and its sensors in lockstep, in virtual time.

``advance`` is all there is to time here: whoever calls it decides whether a second takes a
second. The plant takes steps of 1 ms, the program one beat every ``step_us`` of its configuration.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from firmware.boards.virtual import RECEIVE_SIZE, SEND_SIZE
from firmware.core.params import Params
from firmware.protocol.frame import crc_table
from sim_mock.firmware_runner import FirmwareRunner, InProcess
from sim_mock.plant.parameters import Patch, PlantParameters
from sim_mock.plant.vehicle_plant import Plant

PLANT_STEP_US = 1000
TIME_MASK = (1 << 30) - 1


class VehicleFacts(Protocol):
    """What the world needs of a parsed vehicle file."""

    @property
    def name(self) -> str: ...
    @property
    def plant(self) -> Mapping[str, Any]: ...
    @property
    def channels(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def parameters(self) -> Mapping[str, Sequence[int]]: ...


def board_id_of(name: str) -> bytes:
    """8 bytes that stay the same for a virtual car of this name."""
    low = zlib.crc32(name.encode())
    return low.to_bytes(4, "little") + zlib.crc32(name.encode(), low).to_bytes(4, "little")


def stored_image(vehicle: VehicleFacts, board_id: bytes, car_name: str) -> bytes:
    """The configuration as the board of a virtual car has it stored when it leaves the works."""
    params = Params(crc_table())
    for name, values in vehicle.parameters.items():
        at = params.index(name)
        params.values[at : at + len(values)] = values
    at = params.index("board_id")
    for i in range(4):
        params.values[at + i] = board_id[2 * i] | board_id[2 * i + 1] << 8
    name_bytes = car_name.encode()[: len(params.car_name)]
    params.car_name[: len(name_bytes)] = name_bytes
    image = bytearray(params.image_size())
    params.write_image(image)
    return bytes(image)


def plant_of(
    vehicle: VehicleFacts,
    seed: int,
    payload_kg: float = 0.0,
    payload_x_m: float = 0.0,
    patches: Sequence[Patch] = (),
) -> Plant:
    """The vehicle's plant, with a load and slippery patches if it is to be different."""
    table = {**vehicle.plant, "channels": list(vehicle.channels)}
    parameters = PlantParameters.from_mapping(table)
    if payload_kg:
        parameters = parameters.with_payload(payload_kg, payload_x_m)
    if patches:
        parameters = parameters.with_patches(tuple(patches))
    return Plant(parameters, seed)


class World:
    """``start_us`` is where the board's clock begins; ``feed`` is the link towards the car."""

    def __init__(
        self,
        vehicle: VehicleFacts,
        seed: int = 0,
        *,
        name: str | None = None,
        plant: Plant | None = None,
        runner: Callable[[bytes, bytes, int], FirmwareRunner] = InProcess,
        image: bytes | None = None,
        start_us: int = 0,
    ) -> None:
        self.name = name or vehicle.name
        self.board_id = board_id_of(self.name)
        self.plant = plant or plant_of(vehicle, seed)
        self.now_us = start_us
        self.step_us = vehicle.parameters["step_us"][0]
        self.runstop_closed = True
        self.charger = False
        self.encoder_works = True
        self._counts = (0, 0)
        self.link_room = SEND_SIZE  # bytes a step that the host's end takes
        self.observer: Callable[[World], None] | None = None
        if image is None:
            image = stored_image(vehicle, self.board_id, self.name)
        self.runner = runner(self.board_id, image, seed)
        self.values: Sequence[int] = (0,) * 8
        self.enable = False
        self._incoming = bytearray()
        self._next_beat_us = start_us

    def feed(self, data: bytes) -> None:
        """Bytes that arrive at the car before its next beat."""
        self._incoming += data

    def advance(self, until_us: int) -> bytes:
        """Run up to and including ``until_us``; returns what the car sent on the way."""
        sent = bytearray()
        while self._next_beat_us <= until_us:
            sent += self.beat(self._next_beat_us)
        self._run_plant(until_us)
        return bytes(sent)

    def beat(self, now_us: int) -> bytes:
        """Run the plant up to ``now_us`` and take one beat then: for whoever paces by a clock.

        A paced beat that comes late is late for the program too, as on a board: its clock must be
        as steady as the one that it is compared with.
        """
        self._run_plant(now_us)
        self._next_beat_us = now_us + self.step_us
        received = bytes(self._incoming[:RECEIVE_SIZE])
        del self._incoming[:RECEIVE_SIZE]
        beat = self.runner.step(now_us & TIME_MASK, self._readings(), received)
        self.values = list(beat.values)
        self.enable = beat.enable
        return beat.sent

    def _run_plant(self, until_us: int) -> None:
        while self.now_us + PLANT_STEP_US <= until_us:
            self.plant.step(PLANT_STEP_US * 1e-6, self.values, self.enable)
            self.now_us += PLANT_STEP_US
            if self.observer:
                self.observer(self)

    def _readings(self) -> Sequence[int]:
        plant = self.plant
        if self.encoder_works:  # a dead one keeps its last counts
            self._counts = plant.counts()
        left, right = self._counts
        return (
            left,
            right,
            int(self.runstop_closed),
            int(self.enable),  # the contact follows; it was commanded a beat ago
            int(self.charger),
            plant.battery_mv,
            plant.yaw_rate_mrad_s,
            plant.accel_x_mm_s2,
            plant.accel_y_mm_s2,
            0,  # a step of virtual time takes none
            self.link_room,
        )

    def close(self) -> None:
        self.runner.close()
