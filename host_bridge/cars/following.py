"""Cars that follow a leader driven by its own RC receiver: they get the very frames it reports.

The leader reports each claim of its receiver that it accepted, in its own epoch and by its own
clock. The followers are bound to that epoch and synchronised to the leader's time. They are armed
when the leader is, in its profile, and stopped when it stops. The leader depends on nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

from host_bridge.cars.acceptance import Agreement
from host_bridge.cars.actions import ActionRequest, short_sender
from host_bridge.cars.car import OWN_SLOT, ConnectedCar
from host_bridge.cars.divergence import Divergence
from host_bridge.cars.stop_source_heartbeat import FLEET, StopSourceHeartbeat
from host_bridge.core import Action, OperatorAction, OwnClaim, Sender, State, arm_action


class Follower:
    """One car that follows the leader; ``notice`` is why its last action was refused."""

    def __init__(self, leader: ConnectedCar, car: ConnectedCar) -> None:
        self.car = car
        self.notice = ""
        self.agreement = Agreement(leader.acceptance, car.acceptance)
        self.divergence = Divergence(leader.vehicle.divergence) if leader.vehicle else None
        self._leader = leader
        self._heartbeat = StopSourceHeartbeat(car, FLEET)
        self._pending_actions: list[OperatorAction] = []
        self._request: ActionRequest | None = None

    def is_armed(self) -> bool:
        """Return whether it is online and its last status says armed."""
        status = self.car.status
        return self.car.is_online() and status is not None and status.state.is_armed

    def arm(self) -> None:
        """Arm in the leader's profile; an earlier stop of this car is cleared first."""
        status = self._leader.status
        if status is None or self.is_armed():
            return
        self.notice = ""
        mine = self.car.status
        needs_clear = mine is not None and (mine.state.is_halted or bool(mine.causes))
        clear = [OperatorAction(Action.CLEAR, Sender.FLEET)] if needs_clear else []
        self._pending_actions = [*clear, arm_action(status.profile, Sender.FLEET)]

    def disarm(self, now_us: int) -> None:
        self._pending_actions = []
        if self.is_armed():
            self.car.disarm(now_us, Sender.FLEET)

    def stop(self, why: str, now_us: int) -> None:
        self._pending_actions = []
        if self.is_armed():
            self.car.stop(Sender.FLEET, why, now_us)

    def step(self, now_us: int) -> None:
        self._heartbeat.step(now_us)
        self.agreement.step()
        if self._request and self._request.result:
            result, self._request = self._request.result, None
            if not result.is_done:
                self.notice = str(result)
                self._pending_actions = []
        if self._pending_actions and self._request is None:
            self._request = self.car.request(self._pending_actions.pop(0), now_us)

    def compare(self) -> None:
        """Add the samples since the last call, and compare.

        The leader's are added by ``Following``.
        """
        if self.divergence is None:
            return
        for sample in self.car.samples:
            self.divergence.twin.add(sample)
        self.car.samples.clear()
        self.divergence.step()


class Following:
    """A leader and its followers. Call ``step`` a hundred times a second."""

    def __init__(self, leader: ConnectedCar, cars: Sequence[ConnectedCar]) -> None:
        for car in cars:
            if car.connection.epoch != leader.own_epoch:
                got = car.connection.epoch
                raise ValueError(f"{car.name}: expected epoch {leader.own_epoch}, got {got}")
        self.leader = leader
        self.epoch = leader.own_epoch
        self.followers = tuple(Follower(leader, car) for car in cars)
        self.forwarded = 0  # claims
        self._state: State | None = None
        leader.compared_slot = OWN_SLOT
        leader.on_own_claim = self._forward

    def has_new_leader(self) -> bool:
        """Return whether the leader restarted, so that its claims have another epoch."""
        return self.leader.own_epoch != self.epoch

    def step(self, now_us: int) -> None:
        self._follow(now_us)
        for follower in self.followers:
            follower.step(now_us)
        self._compare()
        for follower in self.followers:
            self._stop_if_apart(follower, now_us)

    def end(self, now_us: int) -> None:
        """Stop all followers that are armed."""
        for follower in self.followers:
            follower.stop("no more followed", now_us)

    def _forward(self, claim: OwnClaim) -> None:
        if claim.epoch == self.epoch:
            self.forwarded += 1
            for follower in self.followers:
                if follower.car.connection.is_bound():
                    follower.car.connection.send_frame(claim.frame)

    def _follow(self, now_us: int) -> None:
        """Arm followers on the leader's transition only.

        A leader that was armed before it was followed gives no permission by that.
        """
        status = self.leader.status
        before, self._state = self._state, status.state if status else None
        if status is None or before is None or before == status.state:
            return
        for follower in self.followers:
            if status.state.is_armed and not before.is_armed:
                follower.arm()
                self._begin_comparing(follower)
            elif status.state.is_halted and not before.is_halted:
                follower.stop(short_sender(self.leader.name, "stopped"), now_us)
            elif status.state is State.STANDBY:
                follower.disarm(now_us)

    def _stop_if_apart(self, follower: Follower, now_us: int) -> None:
        what = follower.divergence.must_stop() if follower.divergence else ""
        if what and follower.is_armed():
            self.leader.stop(Sender.FLEET, f"apart: {what}", now_us)
            follower.stop(f"apart: {what}", now_us)

    def _begin_comparing(self, follower: Follower) -> None:
        if follower.divergence:
            follower.divergence.reset()

    def _compare(self) -> None:
        for sample in self.leader.samples:
            for follower in self.followers:
                if follower.divergence:
                    follower.divergence.car.add(sample)
        self.leader.samples.clear()
        for follower in self.followers:
            follower.compare()
