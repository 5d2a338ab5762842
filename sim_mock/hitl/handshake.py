"""The protocol that brings a board on a cable into hardware in the loop; without I/O.

    MEETING -> ENTERING -> LOADING -> FEEDING

Until the plant is the board's peripherals, and again as soon as the board is silent, nothing but
Identify, Stop and StopSeen passes between host and board: no real car is mistaken for a virtual
one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from enum import Enum

from firmware.protocol.codes import ACTIVE, HOLD, STOPPING
from firmware.protocol.enter_hitl import EnterHitl
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import Identify, Identity, Stop, StopSeen
from firmware.protocol.plant import (
    CHUNK,
    HITL_MARK,
    PlantBegin,
    PlantImage,
    PlantOutputs,
    hitl_id,
)
from firmware.protocol.version import protocol_hash
from sim_mock.board.stored_image import stored_image
from sim_mock.faults.trial.host import framed
from sim_mock.hitl.chip_plant import ChipPlant
from sim_mock.hitl.frames import FrameDecoder, FrameSplitter, kind_of
from sim_mock.virtual_car.config import VirtualCarConfig

ALWAYS = (Identify.ID, Stop.ID)  # messages that pass to a board in any stage
_DELIMITERS = 2  # of each frame, as the host sends it
_CHUNKS = 2  # chunks of the image per step of the board: half of its UART's buffer
_AGAIN_STEPS = 50  # steps after the last chunk until the image is sent again
TICK_S = 0.05  # five steps of a board: it answers within one
_ENTERS = 100  # ticks without success until a stage before FEEDING fails
_GATE_CLOSES = 4  # ticks without outputs of the board until the gate to the host closes
_IS_LOST = 20  # ticks without outputs of the board until it counts as lost

_ARMED = (ACTIVE, HOLD, STOPPING)


class HandshakeStage(Enum):
    """The stage of the protocol; its value is the error if it ends there."""

    MEETING = "nothing of Tandem is heard from the board"
    ENTERING = "the board does not begin; has it the firmware, and does its car stand?"
    LOADING = "the board did not take its configuration"
    FEEDING = "the board fell silent, or was reset"


class HitlHandshake:
    """The state machine that brings a board into the loop and relays frames.

    ``to_board`` and ``to_host`` take bytes; ``fault`` is the error if it fails. ``board`` is the
    id, in the loop, that the board must have; if empty, it is set to that of the first board that
    answers.
    """

    def __init__(
        self,
        config: VirtualCarConfig,
        to_board: Callable[[bytes], object],
        to_host: Callable[[bytes], object],
        board: bytes = b"",
    ) -> None:
        self.stage = HandshakeStage.MEETING
        self.fault = ""
        self.board = board
        self.chip_plant = ChipPlant(config, to_board)
        self._config = config
        self._to_board = to_board
        self._to_host = to_host
        self._from_board, self._from_host = FrameSplitter(), FrameSplitter()
        self._decoder = FrameDecoder(Identity, PlantBegin, PlantOutputs)
        self._hash = bytes(protocol_hash(crc_table()))
        self._enter = EnterHitl()
        self._chunks: list[bytes] = []
        self._at = 0
        self._token = 0
        self._ticks = 0  # since the last progress

    @property
    def is_open(self) -> bool:
        """True while frames pass between host and board."""
        return self.stage is HandshakeStage.FEEDING and self._ticks < _GATE_CLOSES

    def hear_host(self, data: bytes) -> int:
        """Pass the host's whole frames on; return how many bytes were taken.

        Frames that may not pass are dropped and not counted, with both delimiters of each.
        """
        frames = self._from_host.feed(data)
        passing = [frame for frame in frames if self.is_open or kind_of(frame) in ALWAYS]
        if passing:
            self._to_board(b"".join(b"\0" + frame + b"\0" for frame in passing))
        if len(passing) == len(frames):
            return len(data)
        passed = sum(len(frame) + _DELIMITERS for frame in passing)
        return min(passed, len(data))  # a frame may have begun in earlier data

    def hear_board(self, data: bytes) -> None:
        """Take bytes of the board, cut anywhere, and pass the car's frames on to the host."""
        passing = [frame for frame in self._from_board.feed(data) if not self._take(frame)]
        if passing:
            self._to_host(b"".join(b"\0" + frame + b"\0" for frame in passing))

    def tick(self) -> None:
        """Ask again, and give up after too many ticks; call it each ``TICK_S``."""
        self._ticks += 1
        if self.stage is HandshakeStage.MEETING:
            self._to_board(framed(Identify()))
        elif self.stage is HandshakeStage.ENTERING:
            self._to_board(framed(self._enter) + framed(Identify()))
        if self._ticks > (_IS_LOST if self.stage is HandshakeStage.FEEDING else _ENTERS):
            self.fault = self.fault or f"no hardware in the loop: {self.stage.value}"

    def _take(self, frame: bytes) -> bool:
        """Handle one frame; return True if it must not go to the host."""
        kind = kind_of(frame)
        if kind == PlantOutputs.ID:
            self._beat(self._decoder.message(frame))
        elif kind == PlantBegin.ID:
            self._begun(self._decoder.message(frame))
        elif kind == Identity.ID and self.stage is not HandshakeStage.FEEDING:
            self._met(self._decoder.message(frame))
        else:
            return not (self.is_open or kind == StopSeen.ID)
        return True

    def _met(self, identity: Identity | None) -> None:
        if identity is None or self.stage is HandshakeStage.LOADING:
            return
        if bytes(identity.protocol_hash) != self._hash:
            self.fault = "the board's program is of another version: flash it with this one"
        elif self._is_another(bytes(identity.board_id)):
            name = bytes(identity.car_name).rstrip(b"\0").decode(errors="replace")
            seen = _in_loop(bytes(identity.board_id)).hex()
            self.fault = (
                f"another board is at the port: {self.board.hex()} is meant, and this is {seen}, "
                f"of {name or 'no car'}; plug the other one in again, or begin anew with this one"
            )
        elif identity.board_id[: len(HITL_MARK)] == HITL_MARK:
            self._prepare(bytes(identity.board_id))
        elif identity.state in _ARMED:
            self.fault = "this board drives a real car, which is armed: stop it, and disarm it"
        else:
            self._enter.board_id[:] = identity.board_id
            self.stage = HandshakeStage.ENTERING

    def _is_another(self, board_id: bytes) -> bool:
        """Return whether this is another board than before; such a one gets no message."""
        seen = _in_loop(board_id)
        self.board = self.board or seen
        return seen != self.board

    def _prepare(self, board_id: bytes) -> None:
        """Cut the vehicle's configuration, for a board of this id, into chunks."""
        self._token = secrets.randbelow(0xFFFF) + 1
        image = stored_image(self._config, board_id, self.chip_plant.world.name)
        starts = range(0, len(image), CHUNK)
        self._chunks = [framed(self._chunk(image, at)) for at in starts]
        self._at = self._ticks = 0
        self.stage = HandshakeStage.LOADING

    def _chunk(self, image: bytes, at: int) -> PlantImage:
        chunk = PlantImage()
        chunk.token, chunk.total, chunk.at = self._token, len(image), at
        data = image[at : at + CHUNK].ljust(CHUNK, b"\0")
        third = CHUNK // 3
        chunk.data_0[:], chunk.data_1[:] = data[:third], data[third : 2 * third]
        chunk.data_2[:] = data[2 * third :]
        return chunk

    def _beat(self, outputs: PlantOutputs | None) -> None:
        """Handle the outputs of a board's step, which paces the sending of the image too."""
        if outputs is None:
            return
        if self.stage is HandshakeStage.FEEDING:
            self._ticks = 0
            self.chip_plant.beat(outputs)
        elif self.stage is HandshakeStage.LOADING:
            self._to_board(b"".join(self._chunks[self._at : self._at + _CHUNKS]))
            self.chip_plant.rest(outputs)
            self._at = (self._at + _CHUNKS) % (len(self._chunks) + _AGAIN_STEPS * _CHUNKS)

    def _begun(self, begin: PlantBegin | None) -> None:
        if begin is None or begin.token != self._token or not self._token:
            return
        self.chip_plant.begin(begin)
        if self.stage is HandshakeStage.LOADING:
            self.stage = HandshakeStage.FEEDING
            self._ticks = 0


def _in_loop(board_id: bytes) -> bytes:
    """Return the id that a board has as hardware in the loop, whether it is that already or not."""
    return board_id if board_id[: len(HITL_MARK)] == HITL_MARK else hitl_id(board_id)
