"""A seeded stress test of a virtual car: everything that can come over its line and switches."""

from __future__ import annotations

import random
from collections.abc import Callable

from firmware.protocol import codes, messages
from host_bridge.deploy.hil.host.small_host import HELD, RELEASED, SmallHost, framed
from sim_mock.board.hardware import TIME_MASK
from sim_mock.world import World


class Storm:
    """Seeded commands, stops, faults and damaged frames, at most one per step."""

    def __init__(self, host: SmallHost[World], seed: int) -> None:
        self.host = host
        self._random = random.Random(seed)
        self._setpoint: tuple[int, int, int] = (0, 0, HELD)
        # frequency per thousand steps, action
        self._table: tuple[tuple[int, Callable[[], object]], ...] = (
            (20, self._change_setpoint),
            (4, self._let_go),
            (2, host.stop),
            (3, self._toggle_runstop),
            (1, self._toggle_charger),
            (25, self._damaged_frame),
            (5, self._noise),
            (20, self._bad_claim),
            (30, self._arm_or_clear),
            (3, self._silence),
            (2, self._rebind),
            (5, self._read_parameter),
            (3, self._starve_link),
        )

    def run(self, beats: int) -> None:
        for _ in range(beats):
            draw = self._random.randrange(1000)
            for often, what in self._table:
                draw -= often
                if draw < 0:
                    what()
                    break
            self.host.claim(*self._setpoint)
            self.host.beat()
        self.host.world.link_room = 1024  # bytes: as at the start
        self.host.rest(500)  # ms: what is on its way comes

    def _change_setpoint(self) -> None:
        self._setpoint = (
            # mm/s and urad: somewhat more than a car may, each way
            self._random.randrange(-1000, 4000),
            self._random.randrange(-500_000, 500_000),
            HELD,
        )

    def _let_go(self) -> None:
        self._setpoint = (0, 0, RELEASED)
        # ms: released beyond the time in which a deadman may flicker
        self.host.drive(200, deadman=RELEASED)
        self._setpoint = (0, 0, HELD)

    def _toggle_runstop(self) -> None:
        self.host.world.runstop_closed = not self.host.world.runstop_closed

    def _toggle_charger(self) -> None:
        self.host.world.charger = not self.host.world.charger

    def _damaged_frame(self) -> None:
        frame = bytearray(framed(messages.Stop()))
        # bits of the byte
        frame[self._random.randrange(1, len(frame) - 1)] ^= 1 << self._random.randrange(8)
        self.host.world.feed(bytes(frame))

    def _noise(self) -> None:
        # bytes: some frames' worth
        self.host.world.feed(self._random.randbytes(self._random.randrange(200)))

    def _bad_claim(self) -> None:
        wrong = self._random.choice(
            (
                # Of each field a value that is refused or clamped
                {"lease_ms": 1000},
                {"mask": 15},
                {"sequence": 0},
                {"source": 9},
                {"stamp_us": self.host.now_us() + 500_000 & TIME_MASK},
                {"stamp_us": self.host.now_us() - 500_000 & TIME_MASK},
                {"speed_mm_s": 30_000},
            )
        )
        self.host.claim(**{"speed_mm_s": 1000, **wrong})

    def _arm_or_clear(self) -> None:
        self.host.world.runstop_closed = True
        self.host.world.charger = False
        self._setpoint = (0, 0, RELEASED)
        if self.host.state == codes.STANDBY:
            self.host.act(codes.ACTION_ARM)
        elif self.host.state == codes.STOPPED:
            self.host.act(codes.ACTION_CLEAR)
        self._setpoint = (0, 0, HELD)

    def _silence(self) -> None:
        # ms: within a lease, and beyond every silence limit
        self.host.rest(self._random.randrange(50, 300))

    def _rebind(self) -> None:
        self.host.connect()

    def _read_parameter(self) -> None:
        # beyond the last parameter, too
        self.host.say(messages.ParameterRead, index=self._random.randrange(400))

    def _starve_link(self) -> None:
        # bytes: nothing fits, one frame does, all do
        self.host.world.link_room = self._random.choice((0, 60, 1024, 1024))
