"""One car as the host sees it, real or virtual alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from host_bridge.cars.acceptance import Acceptance, Accepted
from host_bridge.cars.actions import ActionRequest, StopRequest
from host_bridge.cars.divergence import Sample
from host_bridge.domain import (
    Action,
    ActionReply,
    CarEvent,
    CarIdentity,
    CarMotion,
    CarStatus,
    Cause,
    Inputs,
    LinkCounters,
    Outputs,
    Power,
    Refusal,
    Sender,
    StopSeen,
    Vehicle,
    why_stopped,
)
from host_bridge.link import requests
from host_bridge.link.connection import Connection
from host_bridge.link.events import (
    CarRestarted,
    LinkEvent,
    LinkIdentified,
    LinkLost,
    LinkMismatched,
)

_EVENTS_KEPT = 256
_SAMPLES_KEPT = 256


class Car:
    """Holds what was last heard; every attribute is None until then. Times are the host's.

    ``config_hash`` is the one that the car has to have (4 bytes); None takes what it reports.
    """

    def __init__(
        self,
        name: str,
        connection: Connection,
        vehicle: Vehicle | None = None,
        config_hash: bytes | None = None,
    ) -> None:
        self.name = name
        self.connection = connection
        self.vehicle = vehicle
        self.config_hash = config_hash
        self.identity: CarIdentity | None = None
        self.status: CarStatus | None = None
        self.motion: CarMotion | None = None
        self.inputs: Inputs | None = None
        self.power: Power | None = None
        self.outputs: Outputs | None = None
        self.counters: LinkCounters | None = None
        self.mismatch: LinkMismatched | None = None
        self.events: deque[CarEvent] = deque(maxlen=_EVENTS_KEPT)
        self.samples: deque[Sample] = deque(maxlen=_SAMPLES_KEPT)
        self.acceptance = Acceptance()
        self._actions: list[ActionRequest] = []
        self._stops: list[StopRequest] = []
        self._token = connection.epoch or 0
        self._takes: dict[type, Callable[[Any, int], None]] = {
            CarStatus: self._take_status,
            CarMotion: self._take_motion,
            ActionReply: self._take_reply,
            StopSeen: self._take_stop_seen,
            CarEvent: lambda event, _: self.events.append(event),
            CarIdentity: lambda identity, _: self._keep("identity", identity),
            Inputs: lambda inputs, _: self._keep("inputs", inputs),
            Power: lambda power, _: self._keep("power", power),
            Outputs: lambda outputs, _: self._keep("outputs", outputs),
            LinkCounters: lambda counters, _: self._keep("counters", counters),
            LinkMismatched: lambda mismatch, _: self._keep("mismatch", mismatch),
            LinkIdentified: lambda _, __: self._keep("mismatch", None),
            LinkLost: lambda _, __: self._break_off("the link was lost"),
            CarRestarted: lambda _, __: self._break_off("the car restarted"),
        }

    # --- the link, as whoever holds the transport needs it

    def opened(self, now_us: int) -> None:
        self.connection.opened(now_us)

    def closed(self, now_us: int) -> list[LinkEvent]:
        return self._take(self.connection.closed(now_us), now_us)

    def receive_data(self, data: bytes, now_us: int) -> list[LinkEvent]:
        return self._take(self.connection.receive_data(data, now_us), now_us)

    def step(self, now_us: int) -> list[LinkEvent]:
        found = self._take(self.connection.step(now_us), now_us)
        for action in self._actions:
            action.step(now_us)
        for stop in self._stops:
            stop.step(now_us)
        self._actions = [action for action in self._actions if action.result is None]
        self._stops = [stop for stop in self._stops if not stop.is_over(now_us)]
        return found

    def next_due_us(self, now_us: int) -> int:
        return self.connection.next_due_us(now_us)

    def data_to_send(self) -> bytes:
        return self.connection.data_to_send()

    def on_output(self, call: Callable[[], None]) -> None:
        self.connection.on_output(call)

    # --- what a person does to it

    def stop(self, sender: Sender, sender_name: str, now_us: int) -> StopRequest:
        """Stop, now; needs no session. Repeated until the car has seen it."""
        self._token = self._token + 1 & 0xFFFF

        def send(stop: StopRequest) -> None:
            self.connection.send(requests.stop(stop.token, stop.sender, stop.sender_name))

        request = StopRequest(sender, sender_name, self._token, send)
        self._stops.append(request)
        request.step(now_us)
        return request

    def arm(self, now_us: int) -> ActionRequest:
        return self.request(Action.ARM, now_us)

    def clear(self, now_us: int) -> ActionRequest:
        return self.request(Action.CLEAR, now_us)

    def disarm(self, now_us: int) -> ActionRequest:
        return self.request(Action.DISARM, now_us)

    def request(self, action: Action, now_us: int, *, may_proceed: bool = True) -> ActionRequest:
        """Begin an action; its ``result`` is there within a second."""
        request = ActionRequest(self.name, action, self._send_action, now_us, self._explain)
        request.may_proceed = may_proceed
        if not self.connection.is_bound():
            request.abandon(self._unready())
        self._actions.append(request)
        request.step(now_us)
        return request

    def _send_action(self, action: Action, nonce: int) -> None:
        expected = self.config_hash or (self.identity.config_hash if self.identity else bytes(4))
        if self.connection.epoch is not None:
            message = requests.action(self.connection.epoch, action, nonce, expected)
            self.connection.send(message)

    def _unready(self) -> str:
        if self.mismatch:
            return str(self.mismatch).rstrip(".")
        return f"it is not connected to this session (link {self.connection.state.value})"

    def _explain(self, refusal: Refusal, present: tuple[Cause, ...]) -> str:
        if refusal is Refusal.STATE and self.status:
            return f"{refusal.phrase} ({self.status.state.name})"
        if refusal is Refusal.CAUSE_PRESENT and present:
            return f"{refusal.phrase} ({', '.join(cause.phrase for cause in present)})"
        if refusal is Refusal.FAULT and self.status and self.status.faults:
            return f"{refusal.phrase} ({', '.join(fault.phrase for fault in self.status.faults)})"
        if refusal is Refusal.CONFIGURATION and self.identity and self.config_hash:
            hashes = f"expected {self.config_hash.hex()}, got {self.identity.config_hash.hex()}"
            return f"{refusal.phrase} ({hashes})"
        return refusal.phrase

    # --- what is known of it

    def is_known(self) -> bool:
        """Whether the car is there, and understood: what is held is of this moment."""
        return self.connection.is_understood()

    def why_stopped(self) -> str:
        """One sentence; "" if nothing keeps it from moving, or nothing is known."""
        return why_stopped(self.status, tuple(self.events), self.vehicle) if self.status else ""

    def _take(self, found: list[LinkEvent], now_us: int) -> list[LinkEvent]:
        for event in found:
            take = self._takes.get(type(event))
            if take:
                take(event, now_us)
        return found

    def _keep(self, name: str, value: object) -> None:
        setattr(self, name, value)

    def _take_status(self, status: CarStatus, now_us: int) -> None:
        self.status = status
        for action in self._actions:
            action.hear_status(status)
        if status.claim_slot == self.connection.slot and status.claim_count:
            applied_us = None
            if status.applied_us is not None:
                applied_us = self.connection.clock.host_us(status.applied_us, now_us)
            self.acceptance.take(
                Accepted(status.claim_sequence, status.claim_count, status.claim_crc, applied_us)
            )

    def _take_motion(self, motion: CarMotion, now_us: int) -> None:
        self.motion = motion
        captured_us = self.connection.clock.host_us(motion.captured_us, now_us)
        if captured_us is not None and self.status is not None:
            self.samples.append(
                Sample(
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

    def _break_off(self, reason: str) -> None:
        for action in self._actions:
            action.abandon(reason)
