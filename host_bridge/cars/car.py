"""The host's model of one car, real or virtual alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from host_bridge.cars.acceptance import Acceptance, AcceptanceReport
from host_bridge.cars.actions import ActionRequest, StopRequest
from host_bridge.cars.divergence import MotionSample
from host_bridge.cars.refusals import refusal_text
from host_bridge.core import (
    Action,
    ActionReply,
    CarEvent,
    CarIdentity,
    CarMotion,
    CarStatus,
    ClockReport,
    Inputs,
    KnownCar,
    LinkCounters,
    OperatorAction,
    Outputs,
    OwnClaim,
    Power,
    Profile,
    Refusal,
    Second,
    SeenCar,
    Sender,
    StopSeen,
    Vehicle,
    VescState,
    another_car_remedy,
    another_car_text,
    arm_action,
    stand_left_s,
    stop_age_s,
    why_stopped,
)
from host_bridge.link.protocol import requests
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import (
    CarRestarted,
    LinkEvent,
    LinkIdentified,
    LinkLost,
    LinkMismatched,
    LinkStranger,
)

OWN_SLOT = 4  # the car's own session (firmware/core/clock.py); slots 0 to 3 are for hosts
# The newest of each are kept: some seconds' worth at 100 Hz, in bounded memory
_EVENTS_KEPT = 256
_SAMPLES_KEPT = 256
_CLOCK_LIMIT_US = 10_000  # what a vehicle file says unless it says otherwise (clock_bound_s)
_CLOCK_MARGIN_US = 1_000  # ten seconds without an answer in time: a bound ages by 100 us a second


class Heartbeat(Protocol):
    """A heartbeat that is sent to the car for as long as its link is kept."""

    def step(self, now_us: int) -> None: ...


class ConnectedCar:
    """A car's newest reports, its link and its open requests. Times are the host's.

    Each report is None until it was heard. ``config_hash`` is the one that the car has to have (4
    bytes); with None any is accepted. ``stranger`` names both cars while another one answers in
    place of this one, and ``remedy`` says what to do.
    """

    def __init__(
        self,
        name: str,
        connection: Connection,
        vehicle: Vehicle | None = None,
        config_hash: bytes | None = None,
    ) -> None:
        self.name = name
        self.cli_name = name  # for command lines: its name while it is served, else its URI
        self.is_line_lossy = True  # a missing report may have been sent
        self.is_afar = (
            False  # whoever drives it here is elsewhere: a guest, or a person with a phone
        )
        self.connection = connection
        self.vehicle = vehicle
        self.config_hash = config_hash
        self.identity: CarIdentity | None = None
        self.status: CarStatus | None = None
        self.motion: CarMotion | None = None
        self.inputs: Inputs | None = None
        self.power: Power | None = None
        self.outputs: Outputs | None = None
        self.second: Second | None = None
        self.vesc: VescState | None = None
        self.counters: LinkCounters | None = None
        self.mismatch: LinkMismatched | None = None
        self.stranger = self.remedy = ""
        self.events: deque[CarEvent] = deque(maxlen=_EVENTS_KEPT)
        self.samples: deque[MotionSample] = deque(maxlen=_SAMPLES_KEPT)
        self.acceptance = Acceptance()
        self.compared_slot: int | None = None  # whose claims are compared; None: our session's
        self.own_epoch: int | None = None  # of the session of its own RC receiver
        self.on_own_claim: Callable[[OwnClaim], None] = lambda claim: None
        self.heartbeats: list[Heartbeat] = []  # sent while the link is kept
        self._actions: list[ActionRequest] = []
        self._stops: list[StopRequest] = []
        self._is_age_old = False
        self._token = connection.epoch or 0
        self._takes = self._table()

    def _table(self) -> dict[type, Callable[[Any, int], None]]:
        """Return the handler for each type of report and link event."""
        return {
            CarStatus: self._take_status,
            CarMotion: self._take_motion,
            ActionReply: self._take_reply,
            StopSeen: self._take_stop_seen,
            CarEvent: lambda event, _: self.events.append(event),
            ClockReport: self._take_clock,
            OwnClaim: lambda claim, _: self.on_own_claim(claim),
            CarIdentity: lambda identity, _: self._keep("identity", identity),
            Inputs: self._take_inputs,
            Power: lambda power, _: self._keep("power", power),
            Outputs: lambda outputs, _: self._keep("outputs", outputs),
            VescState: lambda vesc, _: self._keep("vesc", vesc),
            Second: lambda second, _: self._keep("second", second),
            LinkCounters: lambda counters, _: self._keep("counters", counters),
            LinkMismatched: lambda mismatch, _: self._keep("mismatch", mismatch),
            LinkIdentified: lambda _, __: self._recognise(),
            LinkStranger: self._take_stranger,
            LinkLost: lambda _, __: self._lose(),
            CarRestarted: lambda _, __: self._break_off("the car restarted"),
        }

    # --- the link, as the code that holds the transport uses it

    def opened(self, now_us: int) -> None:
        self.connection.opened(now_us)

    def closed(self, now_us: int) -> list[LinkEvent]:
        return self._take(self.connection.closed(now_us), now_us)

    def receive_data(self, data: bytes, now_us: int) -> list[LinkEvent]:
        return self._take(self.connection.receive_data(data, now_us), now_us)

    def step(self, now_us: int) -> list[LinkEvent]:
        found = self._take(self.connection.step(now_us), now_us)
        for heartbeat in self.heartbeats:
            heartbeat.step(now_us)
        for action in self._actions:
            action.step(now_us)
        for stop in self._stops:
            stop.step(now_us)
        self._actions = [action for action in self._actions if action.result is None]
        self._stops = [stop for stop in self._stops if not stop.is_over(now_us)]
        return found

    def seen(self) -> SeenCar:
        """Return the car as it was last heard, for whatever drives it or stops it."""
        return SeenCar(
            self.name,
            self.is_online(),
            self.vehicle,
            self.status,
            self.motion,
            self.inputs,
            self.power,
            self.stranger,
        )

    def next_due_us(self, now_us: int) -> int:
        return self.connection.next_due_us(now_us)

    def data_to_send(self) -> bytes:
        return self.connection.data_to_send()

    def leave(self) -> None:
        self.connection.leave()

    def on_output(self, call: Callable[[], None]) -> None:
        self.connection.on_output(call)

    # --- what a person does to it

    def stop(self, sender: Sender, sender_name: str, now_us: int) -> StopRequest:
        """Stop the car now; needs no session.

        The stop is repeated until the car acknowledges it.
        """
        self._token = self._token + 1 & 0xFFFF

        def send(stop: StopRequest) -> None:
            self.connection.send(requests.stop(stop.token, stop.sender, stop.sender_name))

        request = StopRequest(sender, sender_name, self._token, send)
        self._stops.append(request)
        request.step(now_us)
        return request

    def arm(self, now_us: int, sender: Sender, profile: Profile | None = None) -> ActionRequest:
        """Arm it in the named profile, or else in its vehicle file's default."""
        chosen = self.profile() if profile is None else profile
        return self.request(arm_action(chosen, sender), now_us)

    def clear(self, now_us: int, sender: Sender) -> ActionRequest:
        return self.request(OperatorAction(Action.CLEAR, sender), now_us)

    def disarm(self, now_us: int, sender: Sender) -> ActionRequest:
        return self.request(OperatorAction(Action.DISARM, sender), now_us)

    def profile(self) -> Profile:
        """Return the default profile of its vehicle file; TRACK without one."""
        return Profile[self.vehicle.profile.upper()] if self.vehicle else Profile.TRACK

    def clock_limit_us(self) -> int:
        """Return how far its clock may be off ours: beyond, it takes no claim of ours."""
        own = self.vehicle.parameters.get("clock_bound_us") if self.vehicle else None
        return own[0] if own else _CLOCK_LIMIT_US

    def is_clock_known(self) -> bool:
        """Return whether its clock is known to us well enough for claims, and stays so a while."""
        bound_us = self.connection.clock.bound_us
        return bound_us is not None and bound_us <= self.clock_limit_us() - _CLOCK_MARGIN_US

    def clock_text(self) -> str:
        """Return how well its clock is known, and how well it has to be, in words."""
        bound_us, limit_us = self.connection.clock.bound_us, self.clock_limit_us()
        if bound_us is None:
            return "nothing is known of it yet"
        return f"known to {bound_us * 1e-3:.1f} ms, and this car allows {limit_us * 1e-3:g}"

    def request(
        self, action: OperatorAction, now_us: int, *, may_proceed: bool = True
    ) -> ActionRequest:
        """Begin an action; its ``result`` is set within a second.

        Of a car afar nobody asks but as its guest.
        """
        if self.is_afar:
            action = replace(action, sender=Sender.GUEST)
        request = ActionRequest(self.name, action, self._send_action, now_us, self._explain)
        request.may_proceed = may_proceed
        if not self.connection.is_bound():
            request.abandon(self._unready())
        self._actions.append(request)
        request.step(now_us)
        return request

    def _send_action(self, action: OperatorAction, nonce: int) -> None:
        expected = self.config_hash or (self.identity.config_hash if self.identity else bytes(4))
        if self.connection.epoch is not None:
            message = requests.action(self.connection.epoch, action, nonce, expected)
            self.connection.send(message)

    def _unready(self) -> str:
        if self.stranger:
            return f"{self.stranger}; {self.remedy}"
        if self.mismatch:
            return str(self.mismatch).rstrip(".")
        return f"it is not connected to this session (link {self.connection.state.value})"

    def _explain(self, refusal: Refusal, reply: ActionReply) -> str:
        return refusal_text(refusal, reply, self)

    # --- what is known of it

    def is_online(self) -> bool:
        """Return whether the car is online and understood, so that its reports are current."""
        return self.connection.is_understood()

    def why_stopped(self, *, has_age: bool = False) -> str:
        """Return why it is stopped, as one sentence; "" if nothing stops it, or nothing is known.

        With ``has_age`` the sentence includes the stop's age, so it changes every second.
        """
        if self.stranger:
            return f"{self.stranger[0].upper()}{self.stranger[1:]}; {self.remedy}."
        if self.status is None:
            return ""
        age_s = self.stop_age_s() if has_age else None
        return why_stopped(self.status, tuple(self.events), self.vehicle, age_s)

    def stop_age_s(self) -> float | None:
        """Return for how many s it is stopped, by its board's count; None if it is not.

        None also if the board has not reported it yet.
        """
        if self.status is None or self.inputs is None or self._is_age_old:
            return None
        return stop_age_s(self.status, self.inputs)

    def stand_left_s(self) -> float | None:
        """Return for how many s it may stay armed with its wheels in the air; None if it is not."""
        return stand_left_s(self.status, tuple(self.events), self.vehicle)

    def _take(self, found: list[LinkEvent], now_us: int) -> list[LinkEvent]:
        for event in found:
            take = self._takes.get(type(event))
            if take:
                take(event, now_us)
        return found

    def _keep(self, name: str, value: object) -> None:
        setattr(self, name, value)

    def _take_inputs(self, inputs: Inputs, now_us: int) -> None:
        self.inputs = inputs
        self._is_age_old = False

    def _take_status(self, status: CarStatus, now_us: int) -> None:
        before, self.status = self.status, status
        if before and (before.first_cause, before.faults) != (status.first_cause, status.faults):
            self._is_age_old = True  # the age reported last belongs to another stop
        for action in self._actions:
            action.hear_status(status)
        slot = self.connection.slot if self.compared_slot is None else self.compared_slot
        if status.claim_slot == slot and status.claim_count:
            applied_us = None
            if status.applied_us is not None:
                applied_us = self.connection.clock.host_us(status.applied_us, now_us)
            self.acceptance.take(
                AcceptanceReport(
                    status.claim_sequence, status.claim_count, status.claim_crc, applied_us
                )
            )

    def _take_clock(self, report: ClockReport, now_us: int) -> None:
        if report.slot == OWN_SLOT:
            self.own_epoch = report.epoch

    def _take_motion(self, motion: CarMotion, now_us: int) -> None:
        self.motion = motion
        captured_us = self.connection.clock.host_us(motion.captured_us, now_us)
        if captured_us is not None and self.status is not None:
            self.samples.append(
                MotionSample(
                    captured_us,
                    self.status.steer_rad,
                    self.status.speed_mps,
                    motion.yaw_rate_radps,
                    motion.x_m,
                    motion.y_m,
                    motion.yaw_rad,
                )
            )

    def _take_reply(self, reply: ActionReply, now_us: int) -> None:
        for action in self._actions:
            action.hear_reply(reply, now_us)

    def _take_stop_seen(self, seen: StopSeen, now_us: int) -> None:
        for stop in self._stops:
            stop.hear_seen(seen, now_us)

    def _recognise(self) -> None:
        self.mismatch = None
        self.stranger = self.remedy = ""

    def _lose(self) -> None:
        self.stranger = self.remedy = ""
        self._break_off("the link was lost")

    def _take_stranger(self, there: LinkStranger, now_us: int) -> None:
        """Note that another car answers; its reports are not kept, ours stay."""
        identity = there.identity
        seen = KnownCar(identity.board_id, identity.car_name)
        known = self.as_known_car()
        self.stranger, self.remedy = another_car_text(known, seen), another_car_remedy(known, seen)
        self._break_off(self.stranger)

    def as_known_car(self) -> KnownCar:
        """Return its identity for later comparison; the board id is empty until it is known."""
        boards = self.connection.boards
        board_id = next(iter(boards)) if len(boards) == 1 else b""
        vehicle = self.vehicle.name if self.vehicle else ""
        return KnownCar(board_id, self.name, vehicle, self.config_hash or b"")

    def _break_off(self, reason: str) -> None:
        for action in self._actions:
            action.abandon(reason)
