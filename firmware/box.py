"""The runstop box: a button and a radio, as a program of its own on a second board.

It says "run" fifty times a second while its button's loop is closed, and "stop" once it opens.
It claims nothing, so it can only stop a car; one that requires it stops when it falls silent, be it
for its battery, its program or its radio.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline
from firmware.core.outbox import Outbox
from firmware.core.receiver import Receiver
from firmware.protocol.codes import SENDER_RUNSTOP_BOX, STOP_SOURCE_RUNSTOP_BOX
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import Alive, Bind, Inputs, Status, Stop, StopSeen, Sync
from firmware.protocol.version import protocol_hash

if TYPE_CHECKING:
    from firmware.boards.contract import Board

GREEN, RED, YELLOW = 1, 2, 4  # LEDs: a car counts on it; the button is pressed; no car hears it
_WORD_US = 20_000  # 50 Hz: twelve words in the 250 ms after which a car stops
_BIND_US = 500_000
_SYNC_US = 50_000
_KNOWN_US = 1_500_000  # a car reports its stop sources in turn with other slow things
_NAME = b"runstop box"


class Box:
    """One box for the car at the other end of its radio. ``step`` is called every 10 ms or less.

    The button's loop is ``board.runstop_closed``, the LEDs are bits of ``board.write``'s lights.
    """

    def __init__(self, board: "Board") -> None:
        table = crc_table()
        self._board = board
        self._receiver = Receiver(board, table)
        self._outbox = Outbox(board, table)
        self._bind = Bind()
        self._alive = Alive()
        self._sync = Sync()
        self._stop = Stop()
        self._no_values = [0] * 8
        self._known = Deadline()  # open: the car counts on this box
        self._next_word = Deadline()
        self._next_bind = Deadline()
        self._next_sync = Deadline()
        self._deadlines = (self._known, self._next_word, self._next_bind, self._next_sync)
        self._was_closed = True
        self._is_seen = True
        self._begin(board.entropy() or 1, protocol_hash(table))
        self._receiver.route(
            ((Status(), self._status), (Inputs(), self._inputs), (StopSeen(), self._seen))
        )

    def _begin(self, epoch: int, own_hash: bytearray) -> None:
        self._bind.epoch = self._alive.epoch = self._sync.epoch = epoch
        self._bind.protocol_hash[:] = own_hash
        self._alive.stop_source = STOP_SOURCE_RUNSTOP_BOX
        self._stop.sender = SENDER_RUNSTOP_BOX
        self._stop.token = epoch & 0x7FFF
        for i in range(len(_NAME)):
            self._stop.sender_name[i] = _NAME[i]

    @micropython.native
    def step(self, now_us: int) -> None:
        """One beat of the box. ``now_us`` is the board's time, modulo 2**30."""
        self._board.read(now_us)
        self._receiver.step(now_us)
        for deadline in self._deadlines:
            deadline.step(now_us)
        self._press(self._board.runstop_closed == 1)
        if not self._known.is_open and not self._next_bind.is_open:
            self._next_bind.set(now_us, _BIND_US)
            self._outbox.send(self._bind)
        if not self._next_word.is_open:
            self._next_word.set(now_us, _WORD_US)
            self._say(now_us)
        self._board.write(self._no_values, False, self._leds())

    @micropython.native
    def _press(self, is_closed: bool) -> None:
        if self._was_closed and not is_closed:
            self._stop.token = self._stop.token + 1 & 0xFFFF
            self._is_seen = False
            self._next_word.shut()  # at once
        self._was_closed = is_closed

    @micropython.native
    def _say(self, now_us: int) -> None:
        """A Stop needs no session and no clock: it is said until a car has seen it."""
        if not self._is_seen:
            self._outbox.send(self._stop)
        alive = self._alive
        alive.sequence = alive.sequence + 1 & 0xFFFF
        alive.runs = 1 if self._was_closed else 0
        alive.stamp_us = now_us
        self._outbox.send(alive)

    def _leds(self) -> int:
        pressed = 0 if self._was_closed else RED
        return pressed | (GREEN if self._known.is_open else YELLOW)

    # --- what it hears

    @micropython.native
    def _status(self, status: Status, now_us: int) -> None:
        """The car measures our clock by the echo of its own."""
        if self._next_sync.is_open:
            return
        self._next_sync.set(now_us, _SYNC_US)
        sync = self._sync
        sync.board_us = status.time_us
        sync.received_us = sync.sent_us = now_us
        self._outbox.send(sync)

    def _inputs(self, inputs: Inputs, now_us: int) -> None:
        if inputs.stop_fresh >> STOP_SOURCE_RUNSTOP_BOX & 1:
            self._known.set(now_us, _KNOWN_US)

    def _seen(self, seen: StopSeen, now_us: int) -> None:
        if seen.sender == SENDER_RUNSTOP_BOX and seen.token == self._stop.token:
            self._is_seen = True
