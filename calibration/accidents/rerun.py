"""The twin that drives a log's last seconds again: the car's program, its plant, and the claims.

The twin is the complete virtual car. What is not in a log is made up for: the car is armed without
the stop sources that the real one needed, under the speed cap that was in force.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import hypot
from typing import NamedTuple

import numpy as np

from calibration.accidents.log_tail import MEAN_US, MotionTrack
from firmware.protocol import codes
from host_bridge.core import Vehicle
from host_bridge.core.commands import Claim
from host_bridge.core.errors import NotHeldFault
from sim_mock.faults.trial.host import TrialHost
from sim_mock.world import World

MS_US = 1000  # a millisecond: the plant's step
_U16 = 0xFFFF  # sequence numbers and input counts are 16 bits on the wire
WARM_UP_CLAIMS = 4_000  # the numbers of a warm-up's claims are so much before those of the log's
_EVERY_MS = 10  # a warm-up sends a claim so often: 100 a second, as Tandem's drivers do
_RELEASED, _NEUTRAL, _MOVING = range(3)
_SETTLED_MPS = 0.01  # chosen: nearer to the speed wanted is there
_GATE_MS = 300  # chosen: a source has begun from neutral, and the car is ACTIVE, long before
_STEP_MS = 60  # chosen: one step of arming and its answer take two beats
_SETTLE_MS = 600  # after the speed was reached: most drives' overshoot is over
# A slow speed loop is over its target for seconds more. So near to the log's own speed the twin is
# 2 mm off in each metre, and after so long it is as near as it will be
_ALIKE_SHARE, _ALIKE_MS = 0.002, 6_000
_REST_MPS, _REST_MS = 0.005, 150  # chosen: slower, for so long, is at rest
_SEED = 0  # of its sensors' noise


class Delivery(NamedTuple):
    """A claim, the time of its arrival, and a time by which a Stop comes instead of one."""

    arrives_us: int
    claim: Claim | None  # None: a Stop


@dataclass(frozen=True)
class Outcome:
    """One re-run: the way in m from the trigger to rest, and the motion that its program reports.

    ``is_at_rest``: it came to rest in the time that it had.
    """

    way_m: float
    is_at_rest: bool
    motion: MotionTrack


class RerunStart:
    """A twin at one moment of the log, from which it can go on in several ways.

    ``shift_us`` is the host's time less the twin's.
    """

    def __init__(self, world: World, host: TrialHost, shift_us: int) -> None:
        self._world, self._host = world, host
        self.shift_us = shift_us
        self._rows: list[tuple[float, ...]] = []

    def copy(self) -> RerunStart:
        """Return an equal twin of its own."""
        world = deepcopy(self._world)
        host = TrialHost(world, self._host.source, epoch=self._host.epoch)
        host.latest = dict(self._host.latest)
        host.claims = False
        twin = RerunStart(world, host, self.shift_us)
        twin._rows = list(self._rows)
        return twin

    @property
    def now_us(self) -> int:
        """The host's time."""
        return self._world.now_us + self.shift_us

    @property
    def pose(self) -> tuple[float, ...]:
        """The pose that its program reported last: x_m, y_m, yaw_rad."""
        return self._rows[-1][1:4]

    @property
    def reported_mps(self) -> float:
        """The speed that its program reported, as ``MotionTrack.speed_mps`` has the log's."""
        last = self._rows[-1]
        first = next(row for row in reversed(self._rows) if row[0] <= last[0] - MEAN_US)
        return hypot(last[1] - first[1], last[2] - first[2]) / ((last[0] - first[0]) * 1e-6)

    def set_grip(self, mu: float) -> None:
        """Give the whole floor this grip from now on."""
        self._world.plant.set_grip(mu)

    @property
    def mu(self) -> float:
        """The grip of its floor."""
        return self._world.plant.parameters.mu

    def tick(self, due: Iterable[Claim | None] = ()) -> None:
        """Pass a millisecond; ``due`` are what arrives in it."""
        for claim in due:
            if claim is None:
                self._host.stop()
            else:
                self._say(claim)
        self._host.tick(self._world.advance(self._world.now_us + MS_US))
        self._note_motion()

    def _say(self, claim: Claim) -> None:
        self._host.claim(
            source=claim.source_id,
            sequence=claim.sequence & _U16,
            mask=claim.mask,
            steer_urad=round(claim.steer_rad * 1e6),
            speed_mm_s=round(claim.speed_mps * 1e3),
            brake=round(claim.brake * 255),
            deadman=codes.HELD * claim.is_held + codes.PERMITS_AUTONOMY * claim.permits_autonomy,
            input_count=claim.input_count & _U16,
            lease_ms=round(claim.lease_s * 1e3),
            stamp_us=claim.stamp_us - self.shift_us,
        )

    def _note_motion(self) -> None:
        found = self._host.latest.get("Motion")
        if found is None:
            return
        t_us = float(found.captured_us + self.shift_us)
        if not self._rows or self._rows[-1][0] != t_us:
            pose = found.x_mm * 1e-3, found.y_mm * 1e-3, found.yaw_urad * 1e-6
            self._rows.append((t_us, *pose, found.accel_x_mm_s2 * 1e-3))

    def run(self, deliveries: Sequence[Delivery], from_us: int, until_us: int) -> Outcome:
        """Go on with these deliveries until rest; metres count from ``from_us``.

        At ``until_us`` it ends in any case.
        """
        truth, at, rested_ms = self._world.plant.truth, 0, 0
        way_m, x_m, y_m = 0.0, truth.x_m, truth.y_m
        order = sorted(deliveries, key=lambda it: it.arrives_us)
        while self.now_us < until_us:
            begin = at
            while at < len(order) and order[at].arrives_us <= self.now_us + MS_US:
                at += 1
            self.tick(it.claim for it in order[begin:at])
            if self.now_us > from_us:
                way_m += hypot(truth.x_m - x_m, truth.y_m - y_m)
                is_slow = hypot(truth.vx_mps, truth.vy_mps) < _REST_MPS
                rested_ms = rested_ms + 1 if is_slow else 0
            x_m, y_m = truth.x_m, truth.y_m
            if rested_ms >= _REST_MS:
                break
        return Outcome(way_m, rested_ms > 0, MotionTrack(*np.array(self._rows).T))


def set_out(
    vehicle: Vehicle,
    cap_mps: float,
    at_begin: Sequence[Claim],
    speed_mps: float,
    driven_mps: float,
    status_us: int,
) -> RerunStart:
    """Return a twin that drives as the claims of each source at the beginning want it.

    ``speed_mps`` is the speed to wait for, 0 to stand, and ``driven_mps`` the one that the log's
    car really had; ``status_us`` is when that car took the step at which the twin is. Raises
    errors.NotHeldFault if it does not come to that.
    """
    world = World(_alike(vehicle, cap_mps, at_begin), _SEED)
    host = TrialHost(world, at_begin[0].source_id)
    moment = RerunStart(world, host, 0)
    warm_up = _WarmUp(moment, host, at_begin)
    warm_up.arm()
    if speed_mps:
        warm_up.reach(world, speed_mps, driven_mps)
    elif any(it.is_held for it in at_begin):
        warm_up.pass_ms(_GATE_MS, _NEUTRAL)
    while world.now_us % world.step_us:  # the twin's beats are at the log's
        warm_up.pass_ms(1, _MOVING if speed_mps else _RELEASED)
    moment.shift_us = status_us - world.now_us
    moment._rows = [(row[0] + moment.shift_us, *row[1:]) for row in moment._rows]
    return moment


class _WarmUp:
    """A warm-up: claims of all sources of the log, from let go to moving."""

    def __init__(self, moment: RerunStart, host: TrialHost, at_begin: Sequence[Claim]) -> None:
        self._moment, self._host, self._at_begin = moment, host, at_begin
        self._ms = 0

    def arm(self) -> None:
        """Bring the car from power-up to HOLD."""
        self._until(codes.STANDBY, 3000)  # ms: neutral after power-up for up to 2 s
        self._host.bind()
        self.pass_ms(400, _RELEASED)  # by then its clock is good enough to arm
        for _ in range(2):
            reply = self._host.latest.get("ActReply")
            self._host.ask(codes.ACTION_ARM, reply.nonce if reply else 0)
            self.pass_ms(_STEP_MS, _RELEASED)
        self._until(codes.HOLD, _GATE_MS)
        self.pass_ms(100, _RELEASED)

    def reach(self, world: World, speed_mps: float, driven_mps: float) -> None:
        """Bring the car from HOLD to this steady speed, and then as near to the driven one."""
        self.pass_ms(_GATE_MS, _NEUTRAL)
        for _ in range(10_000):  # ms: longer than any of these cars takes to its top speed
            self.pass_ms(1, _MOVING)
            if abs(world.plant.truth.vx_mps) >= abs(speed_mps) - _SETTLED_MPS:
                break
        else:
            raise NotHeldFault(
                "the twin does not come to the speed of the log",
                expected=f"{speed_mps:.2f} m/s",
                got=f"{world.plant.truth.vx_mps:.2f} m/s",
                remedy="is the vehicle file this car's? tandem calibrate finds its numbers",
            )
        self.pass_ms(_SETTLE_MS, _MOVING)
        for _ in range(_ALIKE_MS):
            if abs(self._moment.reported_mps - driven_mps) <= _ALIKE_SHARE * driven_mps:
                break
            self.pass_ms(1, _MOVING)

    def pass_ms(self, ms: int, stage: int) -> None:
        """Send claims of this stage for some milliseconds."""
        for _ in range(ms):
            is_due = self._ms % _EVERY_MS == 0
            self._moment.tick(self._claims(stage) if is_due else ())
            self._ms += 1

    def _claims(self, stage: int) -> Iterable[Claim]:
        number = self._ms // _EVERY_MS - WARM_UP_CLAIMS
        for claim in self._at_begin:
            yield replace(
                claim,
                sequence=number,
                input_count=number,
                speed_mps=claim.speed_mps if stage == _MOVING else 0.0,
                is_held=claim.is_held and stage != _RELEASED,
                permits_autonomy=claim.permits_autonomy and stage != _RELEASED,
                stamp_us=self._moment._world.now_us,
            )

    def _until(self, state: int, within_ms: int) -> None:
        for _ in range(within_ms):
            if self._host.state == state:
                return
            self.pass_ms(1, _RELEASED)
        raise NotHeldFault(
            "the twin cannot be armed as the car of the log was",
            expected=f"state {state}",
            got=f"state {self._host.state}",
            remedy="tandem faults shows what keeps this vehicle from driving",
        )


def _alike(vehicle: Vehicle, cap_mps: float, at_begin: Sequence[Claim]) -> Vehicle:
    """Return the vehicle without required stop sources, and with the log's cap and leases.

    The cap is that of the profile track, in which a twin is armed. A car whose file was changed
    since may have let its drivers have more than the file does.
    """
    of = vehicle.parameters
    profiles = list(of["profile_cap_mm_s"])
    profiles[codes.PROFILE_TRACK] = round(cap_mps * 1e3)
    caps, leases = list(of["source_cap_mm_s"]), list(of["source_lease_ms"])
    for claim in at_begin:
        source = claim.source_id
        leases[source] = max(leases[source], round(claim.lease_s * 1e3))
        # A board refuses more than so far blind: who had a longer lease had a lower cap
        caps[source] = min(caps[source], of["blind_mm"][0] * 1000 // leases[source])
        caps[source] = max(caps[source], round(min(claim.speed_mps, cap_mps) * 1e3))
    blind = [-(-cap * lease // 1000) for cap, lease in zip(caps, leases, strict=True)]
    changed = {
        "profile_cap_mm_s": profiles,
        "source_cap_mm_s": caps,
        "source_lease_ms": leases,
        "blind_mm": [max(of["blind_mm"][0], *blind)],
        "stop_source_need": [min(it, codes.OPTIONAL) for it in of["stop_source_need"]],
    }
    return replace(vehicle, parameters={**of, **changed})
