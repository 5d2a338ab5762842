"""A runstop box in a fault trial: the box's real program, on a radio that faults can alter."""

from __future__ import annotations

from sim_mock.board.firmware_runner import FlashContents
from sim_mock.board.pairing_keys import stored_key
from sim_mock.board.runstop_box import BOARD_ID, STEP_US, VirtualRunstopBox
from sim_mock.board.stored_image import VehicleSpec, board_id_of, stored_image
from sim_mock.faults.trial.wire import FaultyWire
from sim_mock.world import World

_KEY = b"of a scene's box"
_AHEAD_US = 123_000  # its clock differs from the car's


def paired_image(vehicle: VehicleSpec) -> FlashContents:
    """Return the stored configuration of a trial's car, with the key of its box."""
    board_id = board_id_of(vehicle.name)
    image = stored_image(vehicle, board_id, vehicle.name)
    return FlashContents(image, stored_key(_KEY, board_id))


class RadioRunstopBox(FaultyWire):
    """A runstop box on a radio link.

    ``hears``: it receives what the car sends. ``runs``: its program runs. ``runs_on`` False: its
    button is pressed, so that it stops the car.
    """

    def __init__(self, world: World, phase_us: int) -> None:
        super().__init__(world.feed, lambda: world.now_us)
        self.runs_on = True
        self.sent_frames: list[bytes] = []
        self._world = world
        self._box = VirtualRunstopBox(key=stored_key(_KEY, BOARD_ID, world.name))
        self._next_us = world.now_us + phase_us

    def tick(self, sent: bytes) -> None:
        """Pass one millisecond: receive what the car sent in it, and send what is due."""
        if self.runs and self.hears:
            self._box.feed(sent)
        while self._world.now_us >= self._next_us:
            self._next_us += STEP_US
            if self.runs:
                self._beat()
        self.deliver_due()

    def _beat(self) -> None:
        self._box.is_pressed = not self.runs_on
        for part in filter(None, self._box.beat(self._world.now_us + _AHEAD_US).split(b"\0")):
            frame = b"\0" + part + b"\0"
            self.sent_frames.append(frame)
            self.send(frame)
