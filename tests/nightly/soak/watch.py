"""A host that holds every beat of its car against the promises. It imports nothing from core.

What is neutral, and between what limits an output may be, is in the vehicle file.
"""

from firmware.protocol import codes
from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import BEAT_US, RELEASED, SmallHost
from host_bridge.deploy.hil.host.storm import Storm
from sim_mock.world import TIME_MASK

FULL_ROOM = 1024
MAY_MOVE = (codes.ACTIVE, codes.HOLD, codes.STOPPING)


class WatchingHost(SmallHost):
    """Everything that ``SmallHost`` does; each beat ends with ``check``."""

    def __init__(self, world, **options) -> None:
        super().__init__(world, **options)
        vehicle = load_vehicle(world.name)
        self._limits = [vehicle.parameters[f"channel_{end}"] for end in ("low", "high")]
        neutral = vehicle.parameters["channel_neutral"]
        self._neutral = {
            number: neutral[number]
            for number, channel in enumerate(vehicle.channels)
            if channel["kind"] != "servo_steering"
        }
        self.states = dict.fromkeys(range(codes.FAULT + 1), 0)  # beats spent in each
        self._is_starved = False  # of room on its link: then statuses are missing

    def beat(self) -> None:
        was_starved, before = self._is_starved, self.latest.get("Status")
        super().beat()
        self._is_starved = self.world.link_room < FULL_ROOM
        self._check_outputs_are_within_limits()
        status = self.latest.get("Status")
        if not (was_starved or self._is_starved or before is None):
            since_us = status.time_us - before.time_us & TIME_MASK
            assert since_us == BEAT_US, self.told(f"{since_us} us from status to status")
        if status is not None and status is not before:  # of this very beat
            self.states[status.state] += 1
            self._check_state(status)

    def _check_state(self, status) -> None:
        assert not status.faults, self.told(f"a whole car has the faults {status.faults:b}")
        if status.state in (codes.ACTIVE, codes.HOLD):
            assert not status.causes, self.told(f"armed with the stop causes {status.causes:b}")
        if status.state not in MAY_MOVE:
            assert not self.world.enable, self.told("drive enable closed though not armed")
            shown = {number: self.world.values[number] for number in self._neutral}
            assert shown == self._neutral, self.told(f"not neutral though not armed: {shown}")

    def _check_outputs_are_within_limits(self) -> None:
        rows = zip(*self._limits, self.world.values, strict=True)
        for channel, (low, high, value) in enumerate(rows):
            assert low <= value <= high, self.told(f"channel {channel} is at {value}")

    def told(self, what: str) -> str:
        """With where it was, so that it can be found again."""
        status = self.latest.get("Status")
        state = status.state if status else None
        return f"{self.world.name}, {self.world.now_us * 1e-6:.2f} s, state {state}: {what}"

    def begin_session(self) -> None:
        """As a host does that was started anew. Numbers start anew too: of a claim that is far
        behind, a storm's 0 would come to be one ahead, and true ones would wait for the wrap.
        """
        self.epoch += 1
        self.sequence = 0
        self.connect()

    def forget(self) -> None:
        """What a soak need not keep; that the host of the tests does is no leak."""
        self.received.clear()
        self.events.clear()


class LongStorm(Storm):
    """A storm that can last: what was latched in STANDBY is cleared too, or it would end there."""

    def _arm_or_clear(self) -> None:
        host = self.host
        if host.state == codes.STANDBY and host.status.causes:
            host.world.runstop_closed = True
            host.world.charger = False
            host.drive(50, deadman=RELEASED)
            host.act(codes.ACTION_CLEAR)
        super()._arm_or_clear()
