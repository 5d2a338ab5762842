"""The protocol state machine of one car's link, without clock, socket or task (sans-I/O).

The problem. A cable is pulled, a board is reset, a host is suspended, another program flashes
other firmware: all of it in the middle of a frame. A link has to find out who is there, whether
both mean the same by a message, and keep the board's idea of our clock good, for as long as the
line is there, and begin again by itself when it comes back.

``transitions.TRANSITIONS`` has everything that changes the state. A car is asked for its identity
until it answers. If its protocol differs from ours it can be named and stopped, by messages that
never change (frozen ones), and nothing else. The same holds for a board that is not the one met
before: a link is to one board, and any other board at its port is another car. If it is the same,
the car is asked to bind our session (``epoch``), and from then on its clock is kept synchronised.
A connection without an epoch only listens; it can stop the car all the same.

What is never done here is as important. A claim is never repeated or stamped anew, for then a host
that hangs would go on driving. A car is never armed by the link itself: after a loss it is
identified and bound again, and stays where it was stopped. A message that is not frozen counts
only once the protocols are known to be equal.

Silence is judged by ``step``, not by an arrival. So is noise: bytes without any message for a
second have a name of their own, because a wrong baud rate looks like that. Whatever holds only
while the link does (slot, clock, statistics, what waits to be sent) is cleared in one place.

Since neither time nor bytes come from in here, a test can lose, reorder, cut and delay what it
likes, and wait for nothing. ``runner`` adds the transport and the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from firmware.protocol import messages
from firmware.protocol.codec import Message
from host_bridge.core import reports
from host_bridge.core.codes import BindResult, Cause, EventCode
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.clock_sync import ClockSync, RestartDetector
from host_bridge.link.protocol.event_stream import EventStream
from host_bridge.link.protocol.events import (
    CarRestarted,
    LinkBound,
    LinkEvent,
    LinkIdentified,
    LinkLost,
    LinkMismatched,
    LinkNoisy,
    LinkRefused,
    LinkStranger,
)
from host_bridge.link.protocol.session_time import SessionTime
from host_bridge.link.protocol.statistics import LinkStatistics
from host_bridge.link.protocol.transitions import MET, TRANSITIONS, UNDERSTOOD, LinkState, Trigger
from host_bridge.link.protocol.units import report_of

SILENCE_US = 200_000  # twenty statuses at 100 Hz; with a step's slack it is noticed within 250 ms
# a car's restart prints less; a program that prints for so long is none of Tandem's
_NOISE_US = 1_000_000
# an answer takes a step and the line: what is not answered by then was lost
_ASK_EVERY_US = 100_000
_NO_SLOT_WAIT_US = 1_000_000  # until another host may have left
_HEARTBEAT_US = 1_000_000  # requests events lost unnoticed, and measures the round trip
_NO_CHALLENGE = bytes(8)  # asks for no authenticated answer: no device has a key yet
_TICK_US = 10_000  # the longest time between two calls of ``step``


class Connection:
    """The link to one car: bytes in, events out.

    ``epoch`` names our session to the cars, 1 to 2**30 - 1; with None it only listens and stops.
    ``boards`` are the ids of those that the link may be to; if empty, it is to the first that
    answers. From then on it is to that one alone. With ``is_past`` the bytes come out of a log,
    and nothing is ever answered. A car that says nothing for ``silence_us`` is lost; whoever asks
    it for what takes longer may raise that for as long. All times are our monotonic microseconds;
    so are the session's, unless another ``session_time`` is given.
    """

    def __init__(
        self,
        own_hash: bytes,
        epoch: int | None,
        session_time: SessionTime | None = None,
        *,
        boards: frozenset[bytes] = frozenset(),
        is_past: bool = False,
    ) -> None:
        self.epoch = epoch
        self.boards = boards
        self.silence_us = SILENCE_US
        self._is_past = is_past
        self.state = LinkState.LOST
        self.slot: int | None = None
        self.statistics = LinkStatistics()
        self.clock = ClockSync(session_time)
        self._session_time = session_time
        self._wake: Callable[[], None] = lambda: None
        self._own_hash = own_hash
        self._decoder = wire.MessageDecoder()
        self._restart_detector = RestartDetector()
        self._event_stream = EventStream(is_past=self._is_past)
        self._out = bytearray()
        self._heard_us = 0
        self._ask_us = 0
        self._beat_us = 0
        self._noise_size = 0
        self._token = (epoch or 0) & 0xFFFF
        self._stopped_by = ""
        self._routes: dict[type, Callable[[Any, int], Iterator[LinkEvent]]] = {
            reports.CarStatus: self._status,
            reports.CarIdentity: self._identity,
            reports.SessionBound: self._bound,
            reports.ClockReport: self._clock_report,
            reports.CarEvent: self._event,
            reports.EventsLost: self._events_lost,
            reports.StopSeen: self._stop_seen,
            reports.ActionReply: self._action_reply,
        }

    def opened(self, now_us: int) -> None:
        self._heard_us = self._ask_us = self._beat_us = now_us
        self._noise_size = 0
        self._move(Trigger.OPENED)

    def closed(self, now_us: int) -> list[LinkEvent]:
        was_met = self.state in MET
        self._decoder.reset()
        self._forget()
        self._move(Trigger.CLOSED)
        return [LinkLost(now_us - self._heard_us)] if was_met else []

    def receive_data(self, data: bytes, now_us: int) -> list[LinkEvent]:
        """Take received bytes, in pieces of any size; return the events in them."""
        found: list[LinkEvent] = []
        self._noise_size += len(data)
        for item in self._decoder.feed(data):
            if isinstance(item, wire.RejectedFrame):
                self.statistics.rejected[item.kind] += 1
            else:
                found.extend(self._message(item, now_us))
        return found

    def data_to_send(self) -> bytes:
        data, self._out = bytes(self._out), bytearray()
        self.statistics.bytes_out += len(data)
        return data

    def leave(self) -> None:
        """Release our session's slot at the car; its claims end with it."""
        if self.is_bound() or self.state is LinkState.BINDING:
            self.send(wire.new(messages.Leave, epoch=self.epoch or 0))

    def on_output(self, call: Callable[[], None]) -> None:
        """Set a callback for when there is something to send, so that it waits for no step."""
        self._wake = call

    def send(self, message: Message) -> None:
        """Queue a message; it is dropped while there is no transport."""
        self.send_frame(wire.encode(message))

    def send_frame(self, frame: bytes) -> None:
        """Queue a frame as it is."""
        if self.state is not LinkState.LOST:
            self._out += frame
            self._wake()

    def is_understood(self) -> bool:
        """Return whether a car is there that speaks our protocol."""
        return self.state in UNDERSTOOD

    def is_bound(self) -> bool:
        return self.state is LinkState.BOUND

    # --- time

    def next_due_us(self, now_us: int) -> int:
        """Return when ``step`` has to be called again, unless bytes come before."""
        due_us = self.clock.due_us if self.is_bound() else None  # only a bound session answers
        tick_us = now_us + _TICK_US
        return tick_us if due_us is None else min(due_us, tick_us)

    def step(self, now_us: int) -> list[LinkEvent]:
        """Judge silence, send the requests that are due, answer the clock; return the events."""
        if self.state is LinkState.LOST:
            return []
        found = list(self._judge_silence(now_us))
        if now_us >= self._ask_us:
            self._ask(now_us)
        if now_us >= self._beat_us:
            self._beat(now_us)
        if self.is_bound():
            self._send_echo(now_us)
        return found

    def _judge_silence(self, now_us: int) -> Iterator[LinkEvent]:
        silent_us = now_us - self._heard_us
        if silent_us > self.silence_us and self._move(Trigger.SILENT):
            self._forget()
            self._ask_us = now_us
            yield LinkLost(silent_us)
        if silent_us > _NOISE_US and self._noise_size:
            yield LinkNoisy(self._noise_size)
            self._noise_size = 0
            self._heard_us = now_us  # reported again after another second of it

    def _ask(self, now_us: int) -> None:
        self._ask_us = now_us + _ASK_EVERY_US
        if self.state is LinkState.IDENTIFYING:
            self._send_identify(now_us)
        elif self.state is LinkState.BINDING:
            self._send_bind()
        elif self.state in UNDERSTOOD and self._event_stream.has_gap:
            self._send_event_request()

    def _beat(self, now_us: int) -> None:
        self._beat_us = now_us + _HEARTBEAT_US
        self.statistics.step(now_us)
        if self.state in MET:
            self._send_identify(now_us)
        if self.state in UNDERSTOOD:
            self._send_event_request()

    def _send_identify(self, now_us: int) -> None:
        self._token = self._token + 1 & 0xFFFF
        self.statistics.ask(self._token, now_us)
        self.send(wire.new(messages.Identify, token=self._token, challenge=_NO_CHALLENGE))

    def _send_bind(self) -> None:
        assert self.epoch is not None, "a listener is never binding"
        self.send(wire.new(messages.Bind, epoch=self.epoch, protocol_hash=self._own_hash))

    def _send_echo(self, now_us: int) -> None:
        echo = self.clock.echo(now_us)
        if echo:
            self.send(
                wire.new(
                    messages.Sync,
                    epoch=self.epoch or 0,
                    board_us=echo.board_us,
                    received_us=echo.received_us,
                    sent_us=echo.sent_us,
                )
            )

    def _send_event_request(self) -> None:
        self.send(wire.new(messages.EventRequest, first=self._event_stream.next_number))

    def ask_for_all(self, now_us: int) -> None:
        """Ask for the identity and for all events that the car still holds, for a new log.

        Clients that have heard the events ignore the repetitions.
        """
        self._send_identify(now_us)
        self.send(wire.new(messages.EventRequest, first=0))

    # --- what the car says

    def _message(self, message: Message, now_us: int) -> Iterator[LinkEvent]:
        self._heard_us = now_us
        self._noise_size = 0
        if self.state not in UNDERSTOOD and type(message) not in messages.FROZEN:
            return  # its meaning is known only once the protocols are known to be equal
        try:
            report = report_of(message)
        except KeyError:  # another host's message
            self.statistics.rejected[wire.UNKNOWN] += 1
            return
        self.statistics.heard[type(message).__name__] += 1
        if isinstance(message, messages.Identity):
            self.statistics.answer(message.token, now_us)
        route = self._routes.get(type(report))
        if route is None:
            yield report
        else:
            yield from route(report, now_us)

    def _status(self, status: reports.CarStatus, now_us: int) -> Iterator[LinkEvent]:
        if self._restart_detector.has_restarted(status.time_us, now_us):
            self._forget()
            self._event_stream = EventStream(is_past=self._is_past)
            self._move(Trigger.RESTARTED)
            self._ask_us = now_us
            yield CarRestarted()
            return
        self.statistics.hear_status(status.time_us, self.clock.step_us)
        self.clock.hear_status(status.time_us, now_us)
        yield status

    def _identity(self, identity: reports.CarIdentity, now_us: int) -> Iterator[LinkEvent]:
        if self.boards and identity.board_id not in self.boards:
            if self._move(Trigger.STRANGE):
                self._forget()
                yield LinkStranger(identity)
            return
        self.boards = frozenset([identity.board_id])
        if identity.protocol_hash != self._own_hash:
            if self._move(Trigger.DIFFERS):
                yield LinkMismatched(self._own_hash, identity.protocol_hash)
        elif self._move(Trigger.RECOGNISED):
            yield LinkIdentified(identity)
            self._send_event_request()
            if self.epoch is not None:
                self._move(Trigger.ASKED)
                self._ask(now_us)
        yield identity

    def _bound(self, bound: reports.SessionBound, now_us: int) -> Iterator[LinkEvent]:
        if bound.epoch != self.epoch:
            return
        if bound.result is BindResult.PROTOCOL_MISMATCH and self._move(Trigger.DIFFERS):
            yield LinkMismatched(self._own_hash, bound.protocol_hash)
        elif bound.slot is None:
            self._ask_us = now_us + _NO_SLOT_WAIT_US
            yield LinkRefused(bound.result)
        else:
            self.slot = bound.slot
            if self._move(Trigger.TAKEN_IN):
                yield LinkBound(bound.slot)

    def _clock_report(self, report: reports.ClockReport, now_us: int) -> Iterator[LinkEvent]:
        if report.epoch == self.epoch:
            self.clock.hear_report(report)
        yield report

    def _event(self, event: reports.CarEvent, now_us: int) -> Iterator[LinkEvent]:
        if event.code is EventCode.STOP_LATCHED and event.a == Cause.STOP_REQUEST:
            name = self._stopped_by
            if self._event_stream.hear(event):
                yield replace(event, sender_name=name)
        elif self._event_stream.hear(event):
            yield event

    def _events_lost(self, lost: reports.EventsLost, now_us: int) -> Iterator[LinkEvent]:
        news = self._event_stream.hear_lost(lost)
        if news:
            yield news

    def _stop_seen(self, seen: reports.StopSeen, now_us: int) -> Iterator[LinkEvent]:
        self._stopped_by = seen.sender_name
        yield seen

    def _action_reply(self, reply: reports.ActionReply, now_us: int) -> Iterator[LinkEvent]:
        if reply.epoch == self.epoch:
            yield reply

    # --- state

    def _move(self, trigger: Trigger) -> bool:
        """Take the transition of this trigger; return whether there is one in this state."""
        then = TRANSITIONS.get((self.state, trigger))
        if then is None:
            return False
        self.state = then
        return True

    def _forget(self) -> None:
        """Clear whatever is valid only while the link is up."""
        self.slot = None
        self.clock = ClockSync(self._session_time)
        self._restart_detector = RestartDetector()
        self.statistics.interrupt()
        self._out.clear()
