"""The protocol of one connection to a Devkit script, without its socket: the simulator's side.

The script is a Socket.IO server that answers each frame with one command; the next frame is sent
when the one before was answered, and not before the next tick. In the simulator a frame that is
never answered (its handler raised) ends the exchange; here another frame restarts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sim_mock.autodrive import wire
from sim_mock.autodrive.command import ScriptCommand, read_script_command

# The simulator asks for EIO=4, though it speaks EIO=3, in the packets of 2014
URL = f"ws://{{}}{wire.PATH}?EIO=4&transport=websocket"
_PING_US = 25_000_000  # engine.io 3: the client pings; the server closes after 60 s of silence
# The wait doubles: if the script is only slow, each restart adds one more frame in flight
_RESTART_US = 1_000_000
_RESTART_MAX_US = 32_000_000


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """A script's decision, and when it was received."""

    command: ScriptCommand
    heard_us: int


class ScriptExchange:
    """The state of the exchange.

    ``answers`` and ``unread`` count all and the unreadable answers; ``latest`` is the last readable
    one.
    """

    def __init__(self, now_us: int) -> None:
        self.latest: ScriptAnswer | None = None
        self.answers = self.unread = 0
        self._is_answered = True  # the first frame is due at once
        self._sent_us = self._pinged_us = now_us
        self._wait_us = _RESTART_US

    def take(self, text: str, now_us: int) -> str | None:
        """Read a packet; return the reply to send, or None."""
        if not wire.is_bridge(text):
            return wire.pong(text)
        self._is_answered = True
        self._wait_us = _RESTART_US
        self.answers += 1
        found = read_script_command(wire.read_bridge(text) or {})
        if found is None:
            self.unread += 1
        else:
            self.latest = ScriptAnswer(found, now_us)
        return None

    def due_packets(self, now_us: int, frame: Callable[[], Mapping[str, str]]) -> list[str]:
        """Return the packets to send now, among them one of ``frame`` if due.

        Call it on each tick.
        """
        packets = [wire.PING] if now_us - self._pinged_us >= _PING_US else []
        if packets:
            self._pinged_us = now_us
        if self._is_frame_due(now_us):
            self._is_answered = False
            self._sent_us = now_us
            packets.append(wire.write_bridge(frame()))
        return packets

    def _is_frame_due(self, now_us: int) -> bool:
        if self._is_answered:
            return True
        if now_us - self._sent_us < self._wait_us:
            return False
        self._wait_us = min(2 * self._wait_us, _RESTART_MAX_US)
        return True
