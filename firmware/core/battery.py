"""The battery in stages; a stage is taken only after a second, for motors sag it for moments."""

from firmware.compat import TYPE_CHECKING
from firmware.core.deadlines import Deadline

if TYPE_CHECKING:
    from firmware.core.params import Params

GOOD, LOW, EMPTY = 0, 1, 2
_SETTLE_US = 1_000_000


class Battery:
    def __init__(self) -> None:
        self.millivolts = 0
        self.stage = GOOD
        self._low_mv = 0
        self._empty_mv = 0
        self._settling = Deadline()

    def configure(self, params: "Params") -> None:
        self._low_mv = params.get("battery_low_mv")
        self._empty_mv = params.get("battery_empty_mv")

    def step(self, millivolts: int, now_us: int) -> None:
        self.millivolts = millivolts
        self._settling.step(now_us)
        stage = GOOD if millivolts >= self._low_mv else LOW
        if millivolts < self._empty_mv:
            stage = EMPTY
        if stage == self.stage:
            self._settling.set(now_us, _SETTLE_US)
        elif not self._settling.is_open:
            self.stage = stage
