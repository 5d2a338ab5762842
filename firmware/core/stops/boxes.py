"""The car's half of the protocol with its runstop box: it challenges, and judges the answers.

A challenge is a number that the car says every 40 ms, with the tag of their key; a word of the box
names the newest that it heard, and how long ago that was. So the car tells the word's age by its
own clock: the time since it said that number, less what the box says. A word that was recorded or
held back, or is of an older start of either, or of another car's box, is too old or has the wrong
tag. Words may be lost, and challenges for a second; the loss of both is noticed as silence.
"""

from firmware.compat import TYPE_CHECKING, array, micropython
from firmware.core.deadlines import elapsed_us
from firmware.core.stops.tag import BLOCK, KEY, TAG, Tag
from firmware.protocol.boxes import (
    BOX_CHALLENGE,
    BOX_EPOCH,
    BOX_SEQUENCE,
    BOX_SINCE,
    HEARD_CHALLENGE,
    HEARD_COUNTS,
    HEARD_EPOCH,
    HEARD_NONCE,
    HEARD_SEQUENCE,
    BoxHeard,
)
from firmware.protocol.codec import copy, encode_values_into

if TYPE_CHECKING:
    from firmware.core.contract import Board
    from firmware.core.link.outbox import Outbox
    from firmware.core.stops.runstop import StopSourceInput

const = micropython.const
_KEPT = const(32)  # challenges that may still be answered: 1.3 s
_EVERY_US = const(40_000)  # 25 challenges a second: a box may miss some within its silence limit
_GRAIN_US = const(2_000)  # what a box's clock may gain meanwhile, and its rounding
_MASK = const((1 << 30) - 1)


class Boxes:
    """The challenges that may still be answered, and the box's word that was taken last.

    Raises ValueError where the board has no cipher.
    """

    def __init__(self, board: "Board", outbox: "Outbox") -> None:
        self._tag = Tag(board.key[:KEY])
        self._outbox = outbox
        self._sent_us = array("i", [0] * _KEPT)  # when each challenge was sent, by its number
        self._sent_count = 0  # how many of these can be answered
        self._newest = board.entropy()
        self._epoch = self._sequence = 0  # of the word that was taken last
        self._next_us = 0
        self._mask = bytearray(BLOCK)
        self._heard = BoxHeard()
        nonce = board.entropy()
        self._heard.values[HEARD_NONCE] = nonce
        self._tag.begin(self._mask, nonce)

    def left_us(
        self, values: "array[int]", payload: bytearray, source: "StopSourceInput", now_us: int
    ) -> int:
        """Return for how long this word keeps its source fresh, in us; 0 or less if it does not.

        The tag is looked at last, so that a foreign word seldom costs the encryption of a block.
        """
        number, epoch, sequence = values[BOX_CHALLENGE], values[BOX_EPOCH], values[BOX_SEQUENCE]
        if self._newest - number & _MASK >= self._sent_count:
            return 0
        if epoch == self._epoch:
            if sequence <= self._sequence:
                return 0
        elif source.is_fresh:  # one writer at a time: a box that began anew waits for its silence
            return 0
        age_us = elapsed_us(now_us, self._sent_us[number & _KEPT - 1]) - values[BOX_SINCE] * 100
        if age_us < -_GRAIN_US:
            return 0
        left_us = source.silence_us - max(age_us, 0)
        if left_us <= 0 or not self._tag.is_right(self._mask, payload, BLOCK):
            return 0
        self._epoch, self._sequence = epoch, sequence
        return left_us

    def step(self, counts: bool, now_us: int) -> bool:
        """Say a challenge if it is time for one; return whether it was."""
        if self._sent_count and elapsed_us(now_us, self._next_us) < 0:
            return False
        self._next_us = now_us + _EVERY_US & _MASK
        number = self._newest + 1 & _MASK
        self._newest = number = number if number else 1
        self._sent_us[number & _KEPT - 1] = now_us
        if self._sent_count < _KEPT:
            self._sent_count += 1
        values, payload = self._heard.values, self._outbox.payload
        values[HEARD_COUNTS] = 1 if counts else 0
        values[HEARD_CHALLENGE] = number
        values[HEARD_EPOCH] = self._epoch
        values[HEARD_SEQUENCE] = self._sequence
        size = encode_values_into(self._heard, payload)
        self._tag.make(self._mask, payload)
        copy(self._tag.block, 0, payload, size - TAG, TAG)
        self._outbox.post(size)
        return True

    def forget(self) -> None:
        """Forget all challenges, after a silence so long that times may be taken for later ones."""
        self._sent_count = 0
