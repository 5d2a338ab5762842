"""A seeded stress test with every fault: a ``Storm``, and faults of the hardware and the RC."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from firmware.protocol import codes, messages
from host_bridge.config import load_vehicle
from host_bridge.core import Vehicle
from host_bridge.deploy.hil.host.small_host import HELD, RELEASED, SCRIPT, SmallHost
from host_bridge.deploy.hil.host.storm import Storm
from sim_mock.board.firmware_runner import FirmwareRunner
from sim_mock.board.transmitter import Transmitter
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.world import World

HOT_C, SAG_MV = 85, 7_000  # beyond the limit below, and below the brown-out of these cars' packs
STOP_SOURCES = (1, 3, 4, 5)  # over the link; some are unregistered on purpose
MODES = ("stop", "manual", "manual", "manual", "autonomy")
FAILSAFES = ("silent", "flag", "hold")


class SaggingPlant(Plant):
    """A plant whose battery voltage can be made to collapse."""

    sag_mv: int | None = None

    @property
    def battery_mv(self) -> int:
        return super().battery_mv if self.sag_mv is None else self.sag_mv


def stormy_vehicle(name: str) -> Vehicle:
    """Load a vehicle with a temperature limit; a script's deadman has to be pressed anew in it."""
    vehicle = load_vehicle(name)
    repress_ms = list(vehicle.parameters["source_repress_ms"])
    repress_ms[SCRIPT] = 30_000  # the source that drives here: a press counts for 30 s
    # 80 degrees: below HOT_C
    changed = {"temperature_max_c": [80], "source_repress_ms": repress_ms}
    return dataclasses.replace(vehicle, parameters={**vehicle.parameters, **changed})


def stormy_plant(vehicle: Vehicle, seed: int) -> SaggingPlant:
    """Return the vehicle's plant, with a battery that can sag."""
    table = {**vehicle.plant, "channels": list(vehicle.channels)}
    return SaggingPlant(PlantParameters.from_mapping(table), seed)


class FullStorm(Storm):
    """A ``Storm`` with more faults; before it arms the car again it repairs what it broke."""

    def __init__(self, host: SmallHost[World], seed: int) -> None:
        super().__init__(host, seed)
        self._alive_sequence = 0
        # How often each comes, beside the others
        self._table += (
            (20, self._alive), (3, self._alive_stop), (12, self._cap), (2, self._freeze),
            (4, self._arm_in_another_profile), (1, self._step_clock),
            (6, self._glitch), (3, self._hang), (2, self._stuck_output), (2, self._weld),
            (3, self._heat), (3, self._sag), (3, self._kill_encoder), (2, self._stuck_throttle),
            (20, self._move_sticks), (6, self._gesture), (5, self._lose_radio), (1, self._restart),
        )  # fmt: skip

    @property
    def _hand(self) -> Transmitter | None:
        return self.host.world.transmitter

    # --- the person's acts

    def _arm_or_clear(self) -> None:
        self._clear()
        super()._arm_or_clear()

    def _clear(self) -> None:
        self._mend()
        host = self.host
        if host.state == codes.FAULT or host.status.causes:
            # ms: some claims, so that it sees the deadman released
            host.drive(50, deadman=RELEASED)
            host.act(codes.ACTION_CLEAR)

    def _act_once(self, action: int, value: int, nonce: int = 0) -> None:
        config_hash = bytes(self.host.latest["Identity"].config_hash)
        self.host.say(
            messages.Act, action=action, value=value, nonce=nonce, config_hash=config_hash
        )
        self.host.drive(20, deadman=RELEASED)  # ms: an answer comes with the next step but one

    def _cap(self) -> None:
        # mm/s: none, a walk, usual ones, more than a car may
        self._act_once(codes.ACTION_CAP, self._random.choice((0, 300, 1000, 2000, 30_000)))

    def _arm_in_another_profile(self) -> None:
        self._clear()
        if self.host.state == codes.ACTIVE:
            self.host.drive(300, deadman=RELEASED)  # ms: it brakes from a walk
        self._act_once(codes.ACTION_DISARM, 0)
        # 7: a profile that does not exist
        profile = self._random.choice((codes.PROFILE_STAND, codes.PROFILE_RACE, 7))
        self._act_once(codes.ACTION_ARM, profile)
        self._act_once(codes.ACTION_ARM, profile, self.host.latest["ActReply"].nonce)
        self._setpoint = (200, 0, HELD)  # mm/s: a slow walk

    def _alive(self) -> None:
        """Send a heartbeat of each stop source; now and then one that must not be believed."""
        for stop_source in STOP_SOURCES:
            self._say_alive(stop_source, 1)

    def _alive_stop(self) -> None:
        # 0 and 9 are no stop sources that come by the line
        self._say_alive(self._random.choice((*STOP_SOURCES, 0, 9)), 0)

    def _say_alive(self, stop_source: int, runs: int) -> None:
        self._alive_sequence = self._alive_sequence + 1 & 0xFFFF
        host = self.host
        # in time three times of six; late within the silence limit and beyond; early
        late_us = self._random.choice((0, 0, 0, 100_000, 400_000, -400_000))
        host.say(
            messages.Alive, stop_source=stop_source, runs=runs, sequence=self._alive_sequence,
            stamp_us=host.now_us() - late_us & (1 << 30) - 1,
            # 99: a session that is not bound
            epoch=self._random.choice((host.epoch, host.epoch, host.epoch, 99)),
        )  # fmt: skip

    def _freeze(self) -> None:
        # ms, mm/s: the input's count stands still beyond its limit of 200 ms
        self.host.drive(300, 500, input_count=self.host.input_count)

    def _step_clock(self) -> None:
        self.host.clock_ahead_us += 200_000  # 0.2 s: the host's clock jumps
        self.host.drive(200)  # ms: some claims by the new clock

    # --- the transmitter's faults

    def _move_sticks(self) -> None:
        if self._hand:
            self._hand.steering = self._random.uniform(-1, 1)
            # of full: neutral, both ways gently, all
            self._hand.throttle = self._random.choice((0.0, 0.3, -0.3, 1.0))
            self._hand.live_man = self._random.random() < 0.5
            self._hand.mode = self._random.choice(MODES)

    def _gesture(self) -> None:
        if self._hand:
            self._mend()
            self._hand.throttle, self._hand.mode, self._hand.live_man = 0.0, "manual", False
            # ms: longer than the second that the gesture takes
            self.host.drive(1100, deadman=RELEASED)
            self._hand.live_man = True
            self.host.drive(300, deadman=RELEASED)  # ms: held, and armed
            self._hand.throttle = 0.3  # of full
            self.host.drive(1000, deadman=RELEASED)
            self._hand.live_man = False

    def _lose_radio(self) -> None:
        if self._hand:
            self._hand.failsafe = self._random.choice(FAILSAFES)
            self._hand.is_on = False
            # ms: within the limit of a lost radio, about it, beyond
            self.host.drive(self._random.choice((30, 80, 300)))
            self._hand.is_on = True

    # --- the hardware's faults

    def _glitch(self) -> None:
        world = self.host.world
        # us: below, about and beyond the 100 us from which an open loop counts
        open_us = self._random.choice((10, 60, 99, 100, 150, 400))
        world.hardware.glitch(world.now_us + 1, world.now_us + 1 + open_us)

    def _hang(self) -> None:
        # ms: within the guard's limit and beyond it; three in ten hang the interrupts too
        for_us = self._random.randrange(20, 91) * 1000
        self.host.world.hang(for_us, interrupts_too=self._random.random() < 0.3)
        self.host.drive(120)  # ms: the hang is over

    def _stuck_output(self) -> None:
        channel = self._random.choice((0, 1, 4))  # servo, drive, and one that has nothing
        # ns: no pulse, neutral, nearly full
        self.host.world.hardware.stuck = {channel: self._random.choice((0, 1_500_000, 1_800_000))}

    def _weld(self) -> None:
        self.host.world.hardware.contact_stuck = self._random.random() < 0.5

    def _heat(self) -> None:
        self.host.world.temperature_c = HOT_C

    def _sag(self) -> None:
        plant: Any = self.host.world.plant  # a Sagging one
        plant.sag_mv = SAG_MV
        # ms: within one step, two, several, and for good
        self.host.drive(self._random.choice((10, 20, 50, 1500)))
        plant.sag_mv = None

    def _kill_encoder(self) -> None:
        self.host.drive(400, 1000)  # ms, mm/s: it rolls
        dead = self._random.choice(({"left"}, {"right"}, {"left", "right"}))
        self.host.world.dead_encoders = dead
        self.host.drive(400, 1000)  # ms, mm/s: the fault shows

    def _stuck_throttle(self) -> None:
        self.host.drive(200, 1000)  # ms, mm/s: it rolls
        self.host.world.plant.stuck_throttle = self._random.choice((1.0, -1.0))
        self.host.drive(400, 1000)  # ms, mm/s: the fault shows

    def _restart(self) -> None:
        if self._random.random() > 0.3:  # rare, as a process has to be started
            return
        self.host.world.restart(codes.RESET_BROWN_OUT)
        self.host.connect()

    def _mend(self) -> None:
        world = self.host.world
        world.hardware.stuck, world.hardware.contact_stuck = {}, None
        # Degrees of a room; as much room in the link as at the start
        world.temperature_c, world.dead_encoders = 25, set()
        world.plant.stuck_throttle = None
        world.runstop_closed, world.charger, world.link_room = True, False, 1024


def stormy_drive(
    name: str,
    runner: Callable[[bytes, bytes, int], FirmwareRunner],
    beats: int,
    seed: int,
    **options: Any,
) -> SmallHost[World]:
    """Drive through the stress test, with a receiver if the vehicle has one; return the host."""
    vehicle = stormy_vehicle(name)
    plant = stormy_plant(vehicle, seed)
    world = World(vehicle, seed, runner=runner, plant=plant, **options)
    if vehicle.has_rc:
        world.attach_rc()
    host = SmallHost(world)
    try:
        host.take_the_wheel()
        host.drive(2000, 1000, 100_000)  # ms, mm/s, urad: it drives, and steers
        FullStorm(host, seed).run(beats)
    finally:
        world.close()
    assert not world.losses  # a watchdog reset would have hidden that the program ended
    return host
