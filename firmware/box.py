"""The runstop box's program: a button and a radio, on a second board of its own.

It sends "run" 50 times a second while its button's loop is closed, and "stop" once that opens. It
claims nothing, so it can only stop cars. Only the car that it was paired with, by cable, accepts
its "run", if that answers the car's challenge with a tag of their key (core/stops/boxes.py). So a
car that requires a box stops when its own falls silent, whether by its battery, its program or its
radio.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline, elapsed_us
from firmware.core.link.outbox import Outbox
from firmware.core.link.receiver import Receiver
from firmware.core.stops.tag import BLOCK, KEY, TAG, Tag
from firmware.protocol.boxes import (
    BOX_CHALLENGE,
    BOX_EPOCH,
    BOX_SAYS,
    BOX_SEQUENCE,
    BOX_SINCE,
    HEARD_CHALLENGE,
    HEARD_COUNTS,
    HEARD_EPOCH,
    HEARD_NONCE,
    HEARD_SEQUENCE,
    BoxHeard,
    BoxWord,
)
from firmware.protocol.codec import copy, encode_values_into
from firmware.protocol.codes import BOX_HAS_NO_KEY, BOX_RUNS, SENDER_RUNSTOP_BOX
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import Stop, StopSeen

if TYPE_CHECKING:
    from firmware.compat import array
    from firmware.core.contract import Board

# LED bits: green, the car relies on this box now; red, the button is pressed; yellow, the car does
# not rely on it, blinking where the box has no key
GREEN, RED, YELLOW = 1, 2, 4
_WORD_US = 20_000  # 50 Hz: twelve words in the 250 ms after which a car stops
_ANSWERED_US = 200_000  # a green lamp's answer is no older
_PRESSED_US = 500_000
_CHALLENGED_US = 2_000_000  # no car accepts the answer to an older challenge
_BLINK_STEPS = 32
_MASK = (1 << 30) - 1
_HALF = 1 << 29
_NAME = b"runstop box"
_OF = b"box of "  # then its car's name, as far as the field has room


class Box:
    """The state of one runstop box, for one car; call ``step`` every 10 ms or more often.

    The button's loop is ``board.runstop_closed``, the LEDs are bits of ``board.write``'s lights.
    """

    def __init__(self, board: "Board") -> None:
        table = crc_table()
        self._board = board
        self._receiver = Receiver(board, table)
        self._outbox = Outbox(board, table)
        self._word = BoxWord()
        self._stop = Stop()
        self._no_values = [0] * 8
        self._answered = Deadline()  # open: the car counts on this box
        self._challenged = Deadline()
        self._next_word = Deadline()
        self._pressed = Deadline()  # open: Stop is sent in any case, for other cars
        self._deadlines = (self._answered, self._challenged, self._next_word, self._pressed)
        self._was_closed = True
        self._is_seen = True
        self._pressed_at = 0  # sequence number of the first word that says stop
        self._steps = 0
        self._tag: "Tag | None" = None
        self._mask = bytearray(BLOCK)  # the tag's first block, by its car's newest nonce
        self._nonce = -1
        self._other_mask = bytearray(BLOCK)  # the same, by a nonce that may be another car's
        self._challenge = 0
        self._challenged_us = 0
        self._begin(board.entropy() or 1)
        self._receiver.route_by_values(((BoxHeard(), self._heard),))
        self._receiver.route(((StopSeen(), self._seen),))

    def _begin(self, epoch: int) -> None:
        self._word.values[BOX_EPOCH] = epoch
        self._stop.sender = SENDER_RUNSTOP_BOX
        self._stop.token = epoch & 0x7FFF
        try:
            self._tag = Tag(self._board.key[:KEY]) if self._board.key else None
        except ValueError:  # its MicroPython has no cipher: as without a key
            self._tag = None
        self._name(_OF if self._tag else _NAME, 0)
        if self._tag:
            self._name(self._board.key[KEY:], len(_OF))

    def _name(self, name: bytes, at: int) -> None:
        for i in range(min(len(name), len(self._stop.sender_name) - at)):
            self._stop.sender_name[at + i] = name[i]

    @micropython.native
    def step(self, now_us: int) -> None:
        """Run one control period of the box; ``now_us`` is the board's time, modulo 2**30."""
        self._board.read(now_us)
        self._receiver.step(now_us)
        for deadline in self._deadlines:
            deadline.step(now_us)
        self._press(self._board.runstop_closed == 1, now_us)
        if not self._next_word.is_open:
            self._next_word.set(now_us, _WORD_US)
            self._say(now_us)
        self._steps = (self._steps + 1) % _BLINK_STEPS
        self._board.write(self._no_values, False, self._leds())

    @micropython.native
    def _press(self, is_closed: bool, now_us: int) -> None:
        if self._was_closed and not is_closed:
            self._stop.token = self._stop.token + 1 & 0xFFFF
            self._is_seen = False
            self._pressed_at = self._word.values[BOX_SEQUENCE] + 1
            self._pressed.set(now_us, _PRESSED_US)
            self._next_word.shut()  # at once
        self._was_closed = is_closed

    @micropython.native
    def _say(self, now_us: int) -> None:
        """Send the next word, and a Stop while one is due.

        A Stop needs neither key nor challenge. It is repeated until the car has acknowledged it,
        and for ``_PRESSED_US`` in any case.
        """
        if not self._is_seen or self._pressed.is_open:
            self._outbox.send(self._stop)
        word, payload, tag = self._word, self._outbox.payload, self._tag
        values = word.values
        is_known = tag is not None and self._challenged.is_open
        says = BOX_RUNS if self._was_closed else 0
        values[BOX_SAYS] = says if tag else says | BOX_HAS_NO_KEY
        values[BOX_CHALLENGE] = self._challenge if is_known else 0
        values[BOX_SEQUENCE] = values[BOX_SEQUENCE] + 1 & _MASK
        since_us = elapsed_us(now_us, self._challenged_us) if is_known else 0
        values[BOX_SINCE] = since_us // 100
        size = encode_values_into(word, payload)
        if tag and is_known:
            tag.make(self._mask, payload)
            copy(tag.block, 0, payload, size - TAG, TAG)
        self._outbox.post(size)

    def _leds(self) -> int:
        pressed = 0 if self._was_closed else RED
        if self._answered.is_open:
            return pressed | GREEN
        return (
            pressed if self._tag is None and self._steps < _BLINK_STEPS // 2 else pressed | YELLOW
        )

    # --- received messages

    @micropython.native
    def _heard(self, heard: BoxHeard, now_us: int) -> None:
        """Handle a car's challenge; one of another car has the wrong tag and is ignored."""
        tag, values = self._tag, heard.values
        if tag is None:
            return
        payload, nonce = self._receiver.reader.frame, values[HEARD_NONCE]
        is_new = nonce != self._nonce
        mask = self._mask
        if is_new:
            mask = self._other_mask
            tag.begin(mask, nonce)
        if not tag.is_right(mask, payload, self._receiver.size - TAG):
            return
        if is_new:
            self._nonce = nonce
            self._other_mask = self._mask
            self._mask = mask
        self._take(values, is_new, now_us)

    @micropython.native
    def _take(self, values: "array[int]", is_new: bool, now_us: int) -> None:
        ahead = values[HEARD_CHALLENGE] - self._challenge & _MASK
        if not is_new and not 0 < ahead < _HALF and self._challenged.is_open:
            return  # an old challenge, delayed or replayed
        self._challenge = values[HEARD_CHALLENGE]
        self._challenged_us = now_us
        self._challenged.set(now_us, _CHALLENGED_US)
        word = self._word.values
        if values[HEARD_EPOCH] != word[BOX_EPOCH]:
            return
        sequence = values[HEARD_SEQUENCE]
        age_us = (word[BOX_SEQUENCE] - sequence) * _WORD_US
        if values[HEARD_COUNTS] and 0 <= age_us < _ANSWERED_US:
            self._answered.set(now_us, _ANSWERED_US - age_us)
        if sequence >= self._pressed_at:
            self._is_seen = True

    def _seen(self, seen: StopSeen, now_us: int) -> None:
        """Take a car's StopSeen as the acknowledgement of the Stop, if this box has no key.

        StopSeen has no tag: with two cars on the air it may be the other one's. A box with a key
        waits for the tagged answer of its own car (``_take``).
        """
        is_ours = seen.sender == SENDER_RUNSTOP_BOX and seen.token == self._stop.token
        if is_ours and self._tag is None:
            self._is_seen = True
