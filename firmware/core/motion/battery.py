"""The battery's stages, good, low and empty, and its brown-out.

A stage is taken only after a second, because motors make the voltage sag for moments. A collapse
that lasts two steps is a brown-out: the load has to end before the board itself goes down.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline

if TYPE_CHECKING:
    from firmware.core.settings.params import Params

GOOD, LOW, EMPTY = 0, 1, 2
const = micropython.const

_SETTLE_US = const(1_000_000)  # a sag while it accelerates is shorter, and is no lower stage
_BROWN_OUT_STEPS = const(2)


class Battery:
    def __init__(self) -> None:
        self.millivolts = 0
        self.stage = GOOD
        self._low_mv = 0
        self._empty_mv = 0
        self.is_browned_out = False
        self._brown_out_mv = 0
        self._low_steps = 0
        self._settling = Deadline()

    def configure(self, params: "Params") -> None:
        self._low_mv = params.get("battery_low_mv")
        self._empty_mv = params.get("battery_empty_mv")
        self._brown_out_mv = params.get("brown_out_mv")

    def step(self, millivolts: int, now_us: int) -> None:
        self.millivolts = millivolts
        if millivolts >= self._brown_out_mv:
            self._low_steps = 0
        else:
            self._low_steps = min(self._low_steps + 1, _BROWN_OUT_STEPS)
        self.is_browned_out = self._low_steps == _BROWN_OUT_STEPS
        stage = GOOD if millivolts >= self._low_mv else LOW
        if millivolts < self._empty_mv:
            stage = EMPTY
        if stage == self.stage:
            self._settling.set(now_us, _SETTLE_US)
        else:
            self._settling.step(now_us)
            if not self._settling.is_open:
                self.stage = stage
