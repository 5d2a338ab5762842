"""Several cars under one session: one frame to all of them, armed together, stopped together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from host_bridge.cars.acceptance import Agreement, newest_common
from host_bridge.cars.actions import ActionRequest, ActionResult, StopRequest
from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.refusals import can_have_longer_period
from host_bridge.cars.stop_source_heartbeat import FLEET, SEAT, StopSourceHeartbeat
from host_bridge.core import (
    Action,
    Claim,
    OperatorAction,
    Profile,
    Refusal,
    Sender,
    arm_action,
    cap_action,
)
from host_bridge.link.protocol.units import claim_message
from host_bridge.link.protocol.wire import encode

_NUMBERS = 0xFFFF


class FleetRequest:
    """One action on all cars, in two phases: all are asked first, and act only if every one would.

    ``results`` is set when all have finished. If only some of them were armed, all are stopped.
    """

    def __init__(self, fleet: Fleet, actions: Sequence[OperatorAction], now_us: int) -> None:
        """Begin with one request per car, all of the same action."""
        self.results: tuple[ActionResult, ...] | None = None
        self._fleet = fleet
        self._action = actions[0].kind
        self._parts = [
            car.request(action, now_us, may_proceed=False)
            for car, action in zip(fleet.cars, actions, strict=True)
        ]
        self._has_proceeded = False
        self.step(now_us)

    def is_done(self) -> bool:
        return self.results is not None and all(result.is_done for result in self.results)

    def overrunning_cars(self) -> list[ConnectedCar]:
        """Return the cars that refused for overruns and that a longer control period would help."""
        refused = [r.car_name for r in self.results or () if Refusal.OFF_BEAT in r.refusals]
        return [c for c in self._fleet.cars if c.name in refused and can_have_longer_period(c)]

    def __str__(self) -> str:
        wrong = [str(result) for result in self.results or () if not result.is_done]
        return " ".join(wrong) if wrong else f"All cars: {self._action.phrase} done."

    def step(self, now_us: int) -> None:
        if self.results is not None:
            return
        if not self._has_proceeded:
            self._proceed(now_us)
        results = [part.result for part in self._parts]
        finished = tuple(result for result in results if result is not None)
        if len(finished) == len(self._parts):
            self.results = finished
            self._end(now_us)

    def _proceed(self, now_us: int) -> None:
        if not all(part.is_granted() or part.result for part in self._parts):
            return
        if any(_has_failed(part) for part in self._parts):
            for part in self._parts:
                part.abandon("another car of the fleet did not")
        else:
            self._has_proceeded = True
            for part in self._parts:
                part.may_proceed = True
                part.step(now_us)

    def _end(self, now_us: int) -> None:
        if self._action is Action.ARM and self._has_proceeded and not self.is_done():
            self._fleet.stop(Sender.FLEET, "partial arm", now_us)


def is_ready(car: ConnectedCar) -> bool:
    """Return whether a car may be armed: it is bound and its clock is known well enough."""
    return car.connection.is_bound() and car.is_clock_known()


def _has_failed(part: ActionRequest) -> bool:
    return part.result is not None and not part.result.is_done


@dataclass(frozen=True, slots=True)
class FleetAgreement:
    """The comparison of all cars with the first: claims agreed, claims lost, first difference."""

    agreed: int
    missed: int
    differs_at: int | None

    def is_equal(self) -> bool:
        return self.differs_at is None


class Fleet:
    """The cars of one session, whose ``epoch`` all their connections share.

    It sends the heartbeats of two stop sources: of the seat that drives, and, for several cars, of
    the fleet. Who drives from elsewhere is no seat (``is_seat`` False): a car that requires one
    waits for the person beside it.
    """

    def __init__(self, cars: Sequence[ConnectedCar], epoch: int, *, is_seat: bool = True) -> None:
        for car in cars:
            if car.connection.epoch != epoch:
                raise ValueError(f"{car.name}: expected epoch {epoch}, got {car.connection.epoch}")
        self.cars = tuple(cars)
        self.epoch = epoch
        self.claims_sent = 0
        self._sequence = 0
        self._has_begun = False
        self._requests: list[FleetRequest] = []
        self._agreements = [Agreement(cars[0].acceptance, car.acceptance) for car in cars[1:]]
        names = [*([SEAT] if is_seat else []), *([FLEET] if len(cars) > 1 else [])]
        self._heartbeats = [StopSourceHeartbeat(car, name) for car in cars for name in names]

    # --- what moves and stops them

    def next_sequence(self) -> int:
        """Return the sequence number of the next claim, modulo 2**16.

        One count serves all sources of this session, so a gap is a loss.
        """
        self._sequence = self._sequence + 1 & _NUMBERS
        return self._sequence

    def offer(self, claim: Claim) -> bytes:
        """Send one frame, the very same bytes, to every bound car; return it.

        The first one waits until all cars are bound and know our clock, so that none refuses it
        and their running CRCs begin together.
        """
        frame = encode(claim_message(claim, self.epoch))
        if not self._has_begun and all(map(is_ready, self.cars)):
            self._has_begun = True
            for agreement in self._agreements:
                agreement.begin(claim.sequence)
        if self._has_begun:
            self.claims_sent += 1
            for car in self.cars:
                if car.connection.is_bound():
                    car.connection.send_frame(frame)
        return frame

    def stop(self, sender: Sender, sender_name: str, now_us: int) -> list[StopRequest]:
        return [car.stop(sender, sender_name, now_us) for car in self.cars]

    def set_heartbeat(self, name: str, *, runs: bool) -> None:
        """Set what the heartbeat of this stop source says from now on: run or stop."""
        for heartbeat in self._heartbeats:
            if heartbeat.name == name:
                heartbeat.set_state(runs=runs)

    def are_heartbeats_heard(self, now_us: int) -> bool:
        """Return whether all cars can be assumed to have heard the heartbeats' present state."""
        return all(heartbeat.is_heard(now_us) for heartbeat in self._heartbeats)

    def arm(self, now_us: int, profile: Profile | None = None) -> FleetRequest:
        """Arm all cars in the named profile, or else each in its vehicle file's default."""
        profiles = [car.profile() if profile is None else profile for car in self.cars]
        actions = [arm_action(chosen, Sender.SEAT) for chosen in profiles]
        return self._request(actions, now_us)

    def clear(self, now_us: int) -> FleetRequest:
        return self._request([OperatorAction(Action.CLEAR, Sender.SEAT)] * len(self.cars), now_us)

    def cap(self, now_us: int, speed_mps: float) -> FleetRequest:
        """Cap the speed of each car on its board.

        Raises ValueError beyond the range of the wire.
        """
        return self._request([cap_action(speed_mps, Sender.SEAT)] * len(self.cars), now_us)

    def disarm(self, now_us: int) -> FleetRequest:
        return self._request([OperatorAction(Action.DISARM, Sender.SEAT)] * len(self.cars), now_us)

    def _request(self, actions: Sequence[OperatorAction], now_us: int) -> FleetRequest:
        request = FleetRequest(self, actions, now_us)
        self._requests.append(request)
        return request

    def step(self, now_us: int) -> None:
        """Advance requests, send due heartbeats, and compare what the cars accepted."""
        for heartbeat in self._heartbeats:
            heartbeat.step(now_us)
        for request in self._requests:
            request.step(now_us)
        self._requests = [request for request in self._requests if request.results is None]
        for agreement in self._agreements:
            agreement.step()

    # --- what they did

    def skew_us(self) -> int | None:
        """Return the time from the first to the last car's application of a claim, in us.

        The claim is the newest that all cars applied; None without one, or if its times are not
        known.
        """
        common = newest_common([car.acceptance for car in self.cars])
        times = [report.applied_us for report in common or () if report.applied_us is not None]
        return max(times) - min(times) if times and len(times) == len(self.cars) else None

    def agreement(self) -> FleetAgreement:
        differs = [a.differs_at for a in self._agreements if a.differs_at is not None]
        return FleetAgreement(
            min((a.agreed for a in self._agreements), default=0),
            sum(a.missed for a in self._agreements),
            differs[0] if differs else None,
        )
