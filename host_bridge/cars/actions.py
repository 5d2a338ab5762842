"""Requests for a stop or an action at one car, repeated until it answers or the time is up.

A stop is one frame, repeated until it is acknowledged. Arming and clearing take two steps: the car
hands out a nonce, and acts when the nonce comes back. Since an answer may be lost, the car's own
state counts as one too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from host_bridge.core import Action, ActionReply, CarStatus, OperatorAction, Refusal, Sender, State
from host_bridge.core.reports import StopSeen

_AGAIN_US = 100_000  # an answer takes a step and the line: what is not answered by then was lost
_PASSING_US = 20_000  # two steps of the car: by then it may be different
_PASSING = {Refusal.RELAY, Refusal.BUSY}  # transient: they end by themselves within moments
_STOP_AGAIN_US = 20_000  # two steps of the car
_GIVE_UP_US = 1_000_000  # ten tries; a person waits for the answer
SENDER_BYTES = 16  # of Stop.sender_name in firmware/protocol/to_board.py, which is frozen

# The status that proves an action done, once the car has handed out its nonce
_PROOFS: dict[Action, Callable[[CarStatus], bool]] = {
    Action.ARM: lambda status: status.state in (State.HOLD, State.ACTIVE),
    Action.CLEAR: lambda status: status.state is State.STANDBY and not status.causes,
    Action.DISARM: lambda status: status.state is State.STANDBY,
}


def _nothing(status: CarStatus) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action on one car."""

    car_name: str
    action: Action
    is_done: bool
    refusals: tuple[Refusal, ...] = ()
    reasons: tuple[str, ...] = ()  # the refusals in words
    stop_sources: tuple[int, ...] = ()  # ids of required stop sources that are missing

    def __str__(self) -> str:
        if self.is_done:
            return f"{self.car_name}: {self.action.phrase} done."
        return f"{self.car_name} did not {self.action.phrase}: {'; '.join(self.reasons)}."


class ActionRequest:
    """One action on one car, under way until ``result`` is set.

    ``send(operator_action, nonce)`` puts one step on the wire. While ``may_proceed`` is False the
    second step waits, so that several cars can be asked first and then act together.
    """

    def __init__(
        self,
        car_name: str,
        operator_action: OperatorAction,
        send: Callable[[OperatorAction, int], None],
        now_us: int,
        explain: Callable[[Refusal, ActionReply], str],
    ) -> None:
        self.action = operator_action.kind
        self._operator_action = operator_action
        self.result: ActionResult | None = None
        self.may_proceed = True
        self.nonce = 0
        self._car_name = car_name
        self._send = send
        self._explain = explain
        self._has_answered = False
        self._is_sent_back = False
        self._passing: ActionReply | None = None
        self._give_up_us = now_us + _GIVE_UP_US
        self._again_us = now_us

    def is_granted(self) -> bool:
        """Return whether the car has handed out a nonce (it would act), or has acted."""
        return self.nonce != 0 or (self.result is not None and self.result.is_done)

    def abandon(self, reason: str) -> None:
        if self.result is None:
            self._fail(reason)

    def step(self, now_us: int) -> None:
        """Send what is due; give up once the time is over."""
        if self.result is not None:
            return
        if now_us >= self._give_up_us and self._passing:
            self._refuse(self._passing)
        elif now_us >= self._give_up_us:
            self._fail(self._silence())
        elif self.nonce and self.may_proceed and not self._is_sent_back:
            self._put(self.nonce, now_us)
            self._is_sent_back = True
        elif now_us >= self._again_us and (self.may_proceed or not self.nonce):
            self.nonce = 0  # a nonce is valid for one try only: begin again
            self._is_sent_back = False
            self._put(0, now_us)

    def _put(self, nonce: int, now_us: int) -> None:
        self._again_us = now_us + _AGAIN_US
        self._send(self._operator_action, nonce)

    def _silence(self) -> str:
        limit = f"within {_GIVE_UP_US / 1e6:.0f} s"
        return f"it did not finish {limit}" if self._has_answered else f"no answer {limit}"

    def hear_reply(self, reply: ActionReply, now_us: int) -> None:
        if reply.action is not self.action or self.result is not None:
            return
        self._has_answered = True
        if reply.refusals == (Refusal.NONCE,):
            self._again_us = now_us  # overtaken by another request of this session: begin again
        elif reply.refusals and set(reply.refusals) <= _PASSING:
            self._passing = reply
            self._is_sent_back = False
            self.nonce = 0
            self._again_us = now_us + _PASSING_US
        elif reply.refusals and not self._is_sent_back:
            self._refuse(reply)
        elif reply.refusals:
            self._is_sent_back = (
                False  # the first step's answer gives the reasons: ask for it again
            )
            self.nonce = 0
            self._again_us = now_us
        elif reply.nonce:
            self.nonce = reply.nonce
            self.step(now_us)
        else:
            self.result = ActionResult(self._car_name, self.action, True)

    def hear_status(self, status: CarStatus) -> None:
        is_proof = _PROOFS.get(self.action, _nothing)
        if self.result is None and self._is_sent_back and is_proof(status):
            self.result = ActionResult(self._car_name, self.action, True)

    def _refuse(self, reply: ActionReply) -> None:
        explained = (self._explain(refusal, reply) for refusal in reply.refusals)
        reasons = tuple(filter(None, explained))
        self.result = ActionResult(
            self._car_name, self.action, False, reply.refusals, reasons, reply.stop_sources
        )

    def _fail(self, reason: str) -> None:
        self.result = ActionResult(self._car_name, self.action, False, (), (reason,))


def short_sender(car_name: str, what: str) -> str:
    """Return the name under which a stop is sent because of what happened to a car.

    A Stop has room for 16 bytes: of the car's name there is as much as leaves room for ``what``.
    """
    end = f" {what}"
    room = max(SENDER_BYTES - len(end.encode()), 0)
    return car_name.encode()[:room].decode("utf-8", "ignore") + end


class StopRequest:
    """A stop of one car, repeated until it is acknowledged; ``seen_us`` is when that was heard."""

    def __init__(
        self, sender: Sender, sender_name: str, token: int, send: Callable[[StopRequest], None]
    ) -> None:
        self.sender = sender
        self.sender_name = sender_name
        self.token = token
        self.seen_us: int | None = None
        self.seen: StopSeen | None = None
        self._send = send
        self._again_us: int | None = None
        self._give_up_us = 0

    def step(self, now_us: int) -> None:
        if self._again_us is None:
            self._give_up_us = now_us + _GIVE_UP_US
        if not self.is_over(now_us) and (self._again_us is None or now_us >= self._again_us):
            self._again_us = now_us + _STOP_AGAIN_US
            self._send(self)

    def hear_seen(self, seen: StopSeen, now_us: int) -> None:
        if seen.token == self.token and self.seen_us is None:
            self.seen_us = now_us
            self.seen = seen

    def is_over(self, now_us: int) -> bool:
        return self.seen_us is not None or (
            self._again_us is not None and now_us >= self._give_up_us
        )
