"""A car and the runstop box that it was paired with: the box's words, and the car's challenges.

The tags are those of ``tests/safety/support/paired_box.py``, which share no code with the car's. Of
the car's 32 challenges that may still be answered the machine keeps two: the newest, just said, and
one that is too old for any answer to count. Their numbers stand still, and when the next one is due
is asked as of a deadline.
"""

from collections.abc import Callable

from firmware.app import App
from firmware.core.deadlines import elapsed_us
from firmware.core.stops.boxes import Boxes
from firmware.protocol import codes
from firmware.protocol.boxes import HEARD_NONCE, BoxHeard, BoxWord
from firmware.protocol.codec import encode_into
from tests.safety.support.paired_box import KEY, tag_of

OTHER_KEY = b"another car's key"[:16]
CHALLENGE = "challenge"  # the time until the next one
EVERY_US = 40_000
KEPT = 32  # challenges that may still be answered
_STARTS = (5150, 6160)  # of a box: the number that it drew as it began
_EARLIER = 1  # of the car, in what is not its nonce
_MASK = (1 << 30) - 1
_SECOND = 10_000  # in 100 us

# What a word answers, and with which key's tag
RIGHT, AGAIN, OLD, AHEAD, EARLIER = "right", "again", "old", "ahead", "earlier"
UNAUTHENTICATED, BARE = "strange", "bare"


def boxes_of(app: App) -> Boxes | None:
    """The car's half of the talk; None in a car without a key."""
    return app.pairing._boxes if app.pairing else None


def is_due(boxes: Boxes, now_us: int) -> bool:
    """Whether it is time for a challenge, by a real clock."""
    return elapsed_us(now_us, boxes._next_us) >= 0


def fill_word(made: BoxWord, app: App, answer: str, start: int, runs: int, now_us: int) -> None:
    """Make it what a box says to this car now."""
    boxes = boxes_of(app)
    made.says = (codes.BOX_RUNS if runs else 0) | (codes.BOX_HAS_NO_KEY if answer == BARE else 0)
    made.epoch = _STARTS[start]
    made.challenge = made.since_100us = 0
    made.sequence = 1
    nonce = 0
    if boxes is not None and answer != BARE:
        nonce = boxes._heard.values[HEARD_NONCE]
        _number(made, app, boxes, answer, now_us)
    made.tag[:] = _tag(made, boxes, answer, nonce)


def _number(made: BoxWord, app: App, boxes: Boxes, answer: str, now_us: int) -> None:
    """Which challenge it answers, how long after, and which of the box's words it is."""
    made.challenge = boxes._newest
    made.sequence = boxes._sequence + 1
    said_us = boxes._sent_us[boxes._newest & KEPT - 1]
    made.since_100us = elapsed_us(now_us, said_us) // 100 if boxes._sent_count else 0
    if answer == AGAIN and boxes._epoch:
        made.epoch, made.sequence = boxes._epoch, boxes._sequence
    elif answer == AHEAD:
        made.since_100us += _SECOND
    elif answer == OLD:
        source = app.stop_sources.paired
        assert source is not None
        made.challenge = boxes._newest - _too_old(boxes, source.silence_us, now_us) & _MASK
        made.since_100us = 0


def _too_old(boxes: Boxes, silence_us: int, now_us: int) -> int:
    """How many challenges ago the first was said whose answer is too late; or one not kept."""
    for ago in range(boxes._sent_count):
        said_us = boxes._sent_us[boxes._newest - ago & KEPT - 1]
        if elapsed_us(now_us, said_us) >= silence_us:
            return ago
    return KEPT


def _tag(made: BoxWord, boxes: Boxes | None, answer: str, nonce: int) -> bytes:
    """The tag of the box that says it; of nobody where there is nothing to say again."""
    if answer == BARE:
        return bytes(8)
    payload = bytearray(64)
    encode_into(made, payload)
    is_first = boxes is not None and boxes._epoch == 0
    is_own = answer != UNAUTHENTICATED and not (answer == AGAIN and is_first)
    start = nonce ^ _EARLIER if answer == EARLIER else nonce
    return tag_of(KEY if is_own else OTHER_KEY, start, bytes(payload))


class Talk:
    """The pairing of a car without a clock."""

    def __init__(
        self,
        app: App,
        asks: Callable[[str, bool | None], bool],
        notes: Callable[[str, int], None],
        hears: Callable[[], None],
        now_us: int,
    ) -> None:
        self.app = app
        self._asks, self._notes, self._hears, self._now_us = asks, notes, hears, now_us
        assert app.pairing is not None
        self._boxes = boxes = app.pairing._boxes
        source = app.stop_sources.paired
        assert source is not None
        self._source = source
        self._newest = boxes._newest
        at = boxes._newest & KEPT - 1
        boxes._sent_us[at] = now_us
        boxes._sent_us[at - 1] = now_us - source.silence_us
        self._sent_us = tuple(boxes._sent_us)
        app.outbox.post = self._post

    def _post(self, payload_size: int) -> bool:
        if self.app.outbox.payload[0] == BoxHeard.ID:
            self._hears()
            self._notes(CHALLENGE, EVERY_US)
        return True

    def step(self, now_us: int) -> None:
        """As the car's report has it, last of all."""
        pairing, boxes = self.app.pairing, self._boxes
        if pairing is None or not pairing.is_spoken_to:
            return
        is_time = boxes._sent_count == 0 or self._asks(CHALLENGE, None)
        boxes._next_us = now_us if is_time else now_us + EVERY_US
        pairing.step(now_us)
        self.hold_still()

    def hold_still(self) -> None:
        """The numbers as they were, and of the challenges those two."""
        boxes = self._boxes
        if boxes._newest != self._newest:
            at = boxes._newest & KEPT - 1
            boxes._sent_us[at] = self._sent_us[at]
            boxes._newest = self._newest
        boxes._next_us = 0
        boxes._sent_count = 2 if boxes._sent_count else 0
        if not self._source.is_fresh:  # what its last word was is dead: any other may follow it
            self._source.says_stop = False
            boxes._epoch = _STARTS[0] if boxes._epoch else 0
