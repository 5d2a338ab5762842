"""A host at full speed at the far end of a virtual car: the bridge's codec, 100 claims a second.

The small host of the tests arms the car; then this one drives on in its place.
"""

from math import sin
from time import perf_counter_ns

from firmware.protocol import codes
from firmware.protocol.messages import Claim, Status, Sync
from host_bridge.deploy.hil.host.small_host import BEAT_US, HELD, SmallHost
from host_bridge.link.protocol import wire
from sim_mock.world import TIME_MASK, World

SYNC_EVERY = 5  # beats: 20 a second, as the bridge does
SLALOM_RAD_S = 2.0  # once from side to side and back in 3 s
SLALOM_URAD = 150_000


class Pilot:
    """Drives a slalom at ``speed_mm_s``. ``codec_ns`` is what its own side of the wire took."""

    def __init__(self, world: World, speed_mm_s: int) -> None:
        host = SmallHost(world)
        host.take_the_wheel()
        self.codec_ns = 0
        self.received_bytes = 0
        self._world = world
        self._speed_mm_s = speed_mm_s
        self._decoder = wire.MessageDecoder()
        self._beats = host.sequence
        self._status: Status | None = None
        self._fixed = {
            "epoch": host.epoch,
            "source": host.source,
            "mask": codes.STEERING_BIT | codes.DRIVE_BIT,
            "speed_mm_s": speed_mm_s,
            "brake": 0,
            "lights": 0,
            "aux_1": 0,
            "aux_2": 0,
            "aux_3": 0,
            "aux_4": 0,
            "deadman": HELD,
            "lease_ms": 120,
        }

    def drive(self, beats: int) -> None:
        """Raises AssertionError if the car has stopped: then nothing was measured."""
        world = self._world
        for _ in range(beats):
            began_ns = perf_counter_ns()
            data = self._say()
            self.codec_ns += perf_counter_ns() - began_ns
            world.feed(data)
            sent = world.advance(world.now_us + BEAT_US)
            began_ns = perf_counter_ns()
            self._hear(sent)
            self.codec_ns += perf_counter_ns() - began_ns
        assert self._status is not None
        assert self._status.state == codes.ACTIVE, f"state {self._status.state}"

    def _say(self) -> bytes:
        self._beats += 1
        now_us = self._world.now_us & TIME_MASK
        claim = wire.new(
            Claim,
            **self._fixed,
            sequence=self._beats & 0xFFFF,
            input_count=self._beats & 0xFFFF,
            steer_urad=int(SLALOM_URAD * sin(SLALOM_RAD_S * self._world.now_us * 1e-6)),
            stamp_us=now_us,
        )
        data = wire.encode(claim)
        if self._status and self._beats % SYNC_EVERY == 0:
            sync = wire.new(
                Sync,
                epoch=self._fixed["epoch"],
                board_us=self._status.time_us,
                received_us=now_us,
                sent_us=now_us,
            )
            data += wire.encode(sync)
        return data

    def _hear(self, data: bytes) -> None:
        self.received_bytes += len(data)
        for message in self._decoder.feed(data):
            if isinstance(message, Status):
                self._status = message
