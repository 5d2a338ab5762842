"""A keyboard behind a terminal: bytes in; requests, commands and bytes to the terminal out. No I/O.

Any doubt whether SPACE is still held releases the deadman: a lost focus, a broken sequence, a
terminal that no longer answers or no longer reports releases.
"""

from __future__ import annotations

from host_bridge.core import OperatorRequest
from host_bridge.inputs.keyboard.keys import (
    FlagsReported,
    KeyDecoder,
    KeyEvent,
    TerminalEvent,
    TerminalSignal,
)
from host_bridge.inputs.keyboard.seat import KeyboardSeat
from host_bridge.inputs.keyboard.terminal_queries import (
    POP,
    LivenessProbe,
    ReleaseQuery,
    ReleaseSupport,
)

# The alternate screen has its own stack of keyboard flags: flags that a killed run left there are
# popped first.
OPENING = b"\x1b[?1049h" + POP * 4 + b"\x1b[?1004h\x1b[?2004h\x1b[?25l"
CLOSING = b"\x1b[?25h\x1b[?2004l\x1b[?1004l" + POP + b"\x1b[?1049l"


class Keyboard:
    """The key logic; ``seat`` is set once the terminal's abilities are known.

    Until then only Esc and Ctrl-C count.
    """

    def __init__(self) -> None:
        self.seat: KeyboardSeat | None = None
        self._decoder = KeyDecoder()
        self._release_query = ReleaseQuery()
        self._liveness_probe = LivenessProbe()
        self._out = bytearray(OPENING + self._release_query.opening())

    @property
    def releases(self) -> ReleaseSupport:
        return self._release_query.verdict

    def data_to_send(self) -> bytes:
        data = bytes(self._out)
        self._out.clear()
        return data

    def receive_data(self, data: bytes, now_us: int) -> list[OperatorRequest]:
        return self._requests(self._decoder.feed(data, now_us), now_us)

    def step(self, now_us: int) -> list[OperatorRequest]:
        """Advance the timeouts; return the requests. Call it a hundred times a second."""
        requests = self._requests(self._decoder.step(now_us), now_us)
        self._out += self._release_query.step(now_us)
        if self.seat:
            self.seat.step(now_us)
            if self.seat.has_releases and self.seat.is_held(now_us):
                self._out += self._liveness_probe.step(now_us)
                requests += self._judge_liveness(self.seat, now_us)
        return requests

    def closed(self) -> list[OperatorRequest]:
        """Release the deadman and quit, because the terminal is gone."""
        self.let_go()
        return [OperatorRequest.QUIT]

    def let_go(self) -> None:
        if self.seat:
            self.seat.let_go()

    def _judge_liveness(self, seat: KeyboardSeat, now_us: int) -> list[OperatorRequest]:
        if not self._liveness_probe.is_dead(now_us):
            return []
        self._liveness_probe.give_up()
        seat.let_go()
        return [OperatorRequest.FROZE]

    def _requests(self, events: list[TerminalEvent], now_us: int) -> list[OperatorRequest]:
        found = (self._event(event, now_us) for event in events)
        return [request for request in found if request]

    def _event(self, event: TerminalEvent, now_us: int) -> OperatorRequest | None:
        if isinstance(event, KeyEvent):
            return self._key(event, now_us)
        if isinstance(event, FlagsReported):
            self._hear_flags(event.flags)
        elif event is TerminalSignal.ATTRIBUTES:
            self._release_query.hear_attributes()
        elif event is not TerminalSignal.FOCUS_GAINED:
            self.let_go()
        return None

    def _key(self, key: KeyEvent, now_us: int) -> OperatorRequest | None:
        if self.seat:
            return self.seat.on_key(key, now_us)
        if key.name == "c" and key.has_ctrl:
            return OperatorRequest.INTERRUPT
        return OperatorRequest.QUIT if key.name == "escape" else None

    def _hear_flags(self, flags: int) -> None:
        is_opening = self.releases is ReleaseSupport.UNKNOWN
        self._out += self._release_query.hear_flags(flags)
        self._decoder.has_releases = self.releases is ReleaseSupport.REPORTED
        if not is_opening and not self._liveness_probe.hear_flags(flags):
            self.let_go()
