"""The pairing of a car with its runstop box: the boxes' words, heard by a car that has a key.

A stop is obeyed whoever says it. A "run" counts only from the box that has this car's key and
answers its challenge (core/stops/boxes.py). A car without a key loads none of this, to save heap;
it obeys a box all the same, which says its stop as a Stop too. This file and boxes.py are bytecode:
a box says only fifty words a second, and machine code would take 2.3 kB more of the heap.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline
from firmware.core.stops.boxes import Boxes
from firmware.core.stops.runstop import UNAUTHENTICATED
from firmware.protocol.boxes import BOX_SAYS, BoxWord
from firmware.protocol.codes import (
    BOX_HAS_NO_KEY,
    BOX_RUNS,
    PAIRING_ANSWERS,
    PAIRING_BARE_BOX,
    PAIRING_NO_CIPHER,
    PAIRING_SILENT,
    PAIRING_STRANGE,
    STOP_SOURCE_RUNSTOP_BOX,
)

if TYPE_CHECKING:
    from firmware.core.contract import Board
    from firmware.core.link.outbox import Outbox
    from firmware.core.link.receiver import Receiver
    from firmware.core.stops.runstop import StopSources

const = micropython.const
_STRANGE_US = const(1_000_000)  # how long a word that was not believed shows in ``pairing``
_SPOKEN_US = const(2_000_000)  # how long a box that fell silent is still challenged


def make_pairing(
    board: "Board", stop_sources: "StopSources", receiver: "Receiver", outbox: "Outbox"
) -> "PairedBox | None":
    """Return a PairedBox; None where the board has no cipher, which ``board.pairing`` then says."""
    try:
        return PairedBox(board, stop_sources, receiver, outbox)
    except ValueError:
        board.pairing = PAIRING_NO_CIPHER
        return None


class PairedBox:
    """The handler of runstop boxes' words, which keeps the paired stop source fresh.

    Raises ValueError where the board has no cipher.
    """

    def __init__(
        self, board: "Board", stop_sources: "StopSources", receiver: "Receiver", outbox: "Outbox"
    ) -> None:
        self.is_spoken_to = False  # a box was heard lately: ``step`` has to be called
        self._board = board
        self._boxes = Boxes(board, outbox)
        self._stop_sources = stop_sources
        self._receiver = receiver
        self._spoken = Deadline()
        self._strange = Deadline()
        self._strange_says = 0
        receiver.route_by_values(((BoxWord(), self._word),))

    def _word(self, word: BoxWord, now_us: int) -> None:
        self.is_spoken_to = True
        self._spoken.set(now_us, _SPOKEN_US)
        says, source = word.values[BOX_SAYS], self._stop_sources.paired
        left_us = 0
        if source:
            left_us = self._boxes.left_us(word.values, self._receiver.reader.frame, source, now_us)
            if left_us > 0:
                source.says_stop = not says & BOX_RUNS
                source.heard.set(now_us, left_us)
                source.is_fresh = True
        if left_us <= 0:
            self._strange.set(now_us, _STRANGE_US)
            self._strange_says = says
        if not says & BOX_RUNS:
            bit = 1 << STOP_SOURCE_RUNSTOP_BOX
            self._stop_sources.heard_mask |= bit if left_us > 0 else bit << UNAUTHENTICATED | bit

    def step(self, now_us: int) -> None:
        """Challenge the box and update ``board.pairing``; called only while a box is heard."""
        self._spoken.step(now_us)
        self._strange.step(now_us)
        self.is_spoken_to = self._spoken.is_open
        source = self._stop_sources.paired
        if source and self._boxes.step(source.is_fresh, now_us):
            self._board.pairing = self.state()
        if not self.is_spoken_to:
            self._board.pairing = PAIRING_SILENT
            self._boxes.forget()

    def state(self) -> int:
        """Return how it stands with the box on this step, a code PAIRING_."""
        source = self._stop_sources.paired
        if source and source.is_fresh:
            return PAIRING_ANSWERS
        if not self._strange.is_open:
            return PAIRING_SILENT
        return PAIRING_BARE_BOX if self._strange_says & BOX_HAS_NO_KEY else PAIRING_STRANGE
