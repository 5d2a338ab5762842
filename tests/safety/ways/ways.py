"""Every way of moving the wheels: who commands, by what, and what it takes to begin.

A way speaks the wire (or moves the sticks) of one virtual car. It can be copied together with its
car, so that what all tests begin with is driven once.
"""

from firmware.protocol import codes, messages
from firmware.protocol.version import protocol_hash
from host_bridge.deploy.hil.host.small_host import (
    GAMEPAD,
    HELD,
    RELEASED,
    ROS2,
    SCRIPT,
    SEAT,
    TABLE,
    SmallHost,
)
from sim_mock.world import World
from tests.safety.support.desk import Facts
from tests.safety.support.facts import facts_of
from tests.safety.support.hosts import host_of
from tests.safety.support.paired_box import PairedBox, flash_of

ACTIVE, HOLD = 2, 3
STAND, TRACK, RACE = 0, 1, 2
PROFILES = ("stand", "track", "race")
BOX = 4
MOTION = codes.STEERING_BIT | codes.DRIVE_BIT


class Way:
    """A host's claims: what all other ways differ from. ``source`` is the name in the file."""

    source, source_id, profile = "gamepad", GAMEPAD, TRACK
    has_counter = True
    starts_from_neutral = True  # attended; a program needs a fresh permission instead
    claims: dict = {}  # noqa: RUF012 - what its claims have besides
    parameters: dict = {}  # noqa: RUF012 - of the car, other than its file has them

    def __init__(self, vehicle: str, **options) -> None:
        self.vehicle = vehicle
        facts = Facts(vehicle, **self.parameters)
        if self.profile == RACE:
            options = {"image": flash_of(facts), **options}
        self.world = World(facts, 1, **options)
        self.host = host_of(self.world, source=self.source_id)
        self.speed_mm_s = self.steer_urad = 0
        self.deadman = HELD
        self.is_frozen = False
        self.box = PairedBox(self.host) if self.profile == RACE else None
        self.others: list[SmallHost] = []
        self.beats = 0

    @classmethod
    def fits(cls, vehicle: str) -> bool:
        return cls.source in facts_of(vehicle)["sources"]

    # --- facts

    @property
    def lease_s(self) -> float:
        return facts_of(self.vehicle)["sources"][self.source]["lease_s"]

    @property
    def cap_mm_s(self) -> int:
        facts = facts_of(self.vehicle)
        profile = facts["profiles"][PROFILES[self.profile]]["speed_cap_mps"]
        source = facts["sources"][self.source]["speed_cap_mps"]
        return round(1000 * min(profile, source, facts["limits"]["speed_max_mps"]))

    @property
    def cruise_mm_s(self) -> int:
        return min(round(0.8 * self.cap_mm_s), 3000)

    @property
    def state(self) -> int:
        return self.host.state

    # --- one beat

    def say(self) -> None:
        """What arrives before the next beat."""
        if self.is_frozen:
            self.host.input_count -= 1
        fields = {"lease_ms": round(self.lease_s * 1000), **self.claims}
        self.host.claim(self.speed_mm_s, self.steer_urad, self.deadman, **fields)

    def beat(self) -> None:
        self.say()
        self.rest()

    def rest(self, beats: int = 1) -> None:
        """Only the others are there: a runstop box, whoever keeps its clock."""
        for _ in range(beats):
            self.let_others_say()
            self.host.beat()

    def let_others_say(self) -> None:
        self.beats += 1
        for other in self.others:
            self.keep_clock(other)
        if self.box and self.beats % 2 == 0:
            self.press_box(1)

    def press_box(self, runs: int) -> bytes:
        return self.box.say(runs)

    def keep_clock(self, other: SmallHost) -> None:
        status = self.host.latest.get("Status")
        if status and self.beats % 5 == 0:
            now_us = other.now_us()
            other.say(messages.Sync, board_us=status.time_us, received_us=now_us, sent_us=now_us)

    def drive(self, ms: int, speed_mm_s: int, steer_urad: int = 0) -> None:
        self.speed_mm_s, self.steer_urad = speed_mm_s, steer_urad
        for _ in range(ms // 10):
            self.beat()

    def let_go(self, ms: int = 10) -> None:
        """The deadman is released, by a live device."""
        self.deadman = RELEASED
        self.drive(ms, self.speed_mm_s)

    def hold(self) -> None:
        self.deadman = HELD

    def vanish(self) -> None:
        """Whatever it says from now on does not arrive."""
        self.say = lambda: None  # type: ignore[method-assign]

    # --- procedures

    def begin(self) -> None:
        """From power-up to ACTIVE, at rest."""
        self.take_up()
        self.let_go(50)
        assert self.arm() == 0, hex(self.host.latest["ActReply"].refusals)
        self.let_go(50)
        self.hold()
        self.drive(50, 0)
        assert self.state == ACTIVE

    def take_up(self) -> None:
        stop = facts_of(self.vehicle)["stop"]["sources"]
        if stop.get("rc", {}).get(PROFILES[self.profile]) == "required":
            self.world.attach_rc()
        self.world.plant.is_on_stand = self.profile == STAND
        self.host.connect()
        for other in self.others:
            other.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))
        self.rest(30)

    def arm(self) -> int:
        return self._act(codes.ACTION_ARM)

    def clear(self) -> int:
        return self._act(codes.ACTION_CLEAR)

    def _act(self, action: int) -> int:
        """Two steps; the refusals."""
        identity = self.host.latest["Identity"]
        fields = {"action": action, "value": self.profile}
        fields["config_hash"] = bytes(identity.config_hash)
        self.host.say(messages.Act, nonce=0, **fields)
        self.drive(20, 0)
        reply = self.host.latest["ActReply"]
        if reply.refusals == 0:
            self.host.say(messages.Act, nonce=reply.nonce, **fields)
            self.drive(20, 0)
        return self.host.latest["ActReply"].refusals

    def clear_and_arm(self) -> None:
        self.let_go(50)
        assert self.clear() == 0, hex(self.host.latest["ActReply"].refusals)
        assert self.arm() == 0, hex(self.host.latest["ActReply"].refusals)
        self.let_go(50)
        self.hold()
        self.drive(50, 0)

    def come_to_speed(self) -> None:
        for _ in range(60):
            self.drive(100, self.cruise_mm_s)
            if self.host.status.speed_mm_s > 0.8 * self.cruise_mm_s:
                return
        raise AssertionError(f"{self.vehicle} did not come to speed")


class Seat(Way):
    """A person at a screen: its keys have no counter."""

    source, source_id, has_counter = "seat", SEAT, False


class SlowSeat(Way):
    """A terminal that repeats a held key and reports no release: a longer lease, a lower cap."""

    source, source_id, has_counter = "seat_slow", 5, False


class Speeds(Way):
    """A program's file under a scripted deadman: another speed with every claim."""

    source, source_id = "script", SCRIPT

    def say(self) -> None:
        command = self.speed_mm_s
        self.speed_mm_s = command - abs(command) // 8 * (self.beats % 3)
        super().say()
        self.speed_mm_s = command


class Brakes(Way):
    """Claims that brake as well; until it has come to speed once they do not."""

    claims = {"mask": MOTION | codes.BRAKE_BIT, "brake": 0}  # noqa: RUF012

    def come_to_speed(self) -> None:
        super().come_to_speed()
        self.claims = {**self.claims, "brake": 60}
        self.beat()


class Stand(Way):
    """Wheels off the ground."""

    profile = STAND
    parameters = {"stand_ms": 7_000}  # noqa: RUF012 - a minute in the files; no shorter drive here


class Race(Way):
    """The profile in which a runstop box has to be there."""

    profile = RACE


class Autonomous(Way):
    """A program drives while a person at the seat permits it."""

    source, source_id, has_counter = "ros2", ROS2, False
    starts_from_neutral = False

    def __init__(self, vehicle: str, **options) -> None:
        super().__init__(vehicle, **options)
        self.seat = host_of(self.world, epoch=777, source=SEAT)
        self.others.append(self.seat)

    def say(self) -> None:
        permits = HELD | codes.PERMITS_AUTONOMY if self.deadman else RELEASED
        lease_ms = round(facts_of(self.vehicle)["sources"]["seat"]["lease_s"] * 1000)
        self.seat.claim(0, 0, permits, mask=0, lease_ms=lease_ms)
        held, self.deadman = self.deadman, RELEASED
        super().say()
        self.deadman = held


class Rc(Way):
    """The transmitter in somebody's hand; no host is there at all."""

    source, source_id, has_counter = "rc", codes.SOURCE_RC, False

    @classmethod
    def fits(cls, vehicle: str) -> bool:
        return super().fits(vehicle) and "rc" in facts_of(vehicle)

    def take_up(self) -> None:
        self.transmitter = self.world.attach_rc()
        self.rest(10)
        while self.state == codes.STARTING:
            self.beat()

    def say(self) -> None:
        self.transmitter.live_man = self.deadman == HELD
        self.transmitter.throttle = self._stick(self.speed_mm_s)
        limit_rad = facts_of(self.vehicle)["limits"]["steer_max_rad"]
        self.transmitter.steering = max(min(self.steer_urad * 1e-6 / limit_rad, 1.0), -1.0)

    def _stick(self, speed_mm_s: int) -> float:
        """Beyond the dead band, in parts of the cap."""
        dead = facts_of(self.vehicle)["rc"]["dead_band"]
        share = min(abs(speed_mm_s) / self.cap_mm_s, 1.0)
        beyond = dead + (1.0 - dead) * share if share else 0.0
        return beyond if speed_mm_s > 0 else -beyond

    def vanish(self) -> None:
        super().vanish()
        self.transmitter.is_on = False

    def arm(self) -> int:
        """The gesture: let go and in neutral for a second, then held."""
        self.deadman = RELEASED
        self.drive(1100, 0)
        self.deadman = HELD
        self.drive(50, 0)
        return 0 if self.state in (ACTIVE, HOLD, codes.STANDBY) else 1

    clear = arm


WAYS = (Way, Seat, SlowSeat, Speeds, Brakes, Stand, Race, Autonomous, Rc)
