"""How the car comes to rest: by the strictest policy of its stop causes, until the wheels stand."""

from firmware.compat import TYPE_CHECKING
from firmware.core.deadlines import Deadline
from firmware.core.params import POLICY_BRAKE, POLICY_CUT, POLICY_NEUTRAL
from firmware.protocol.codes import CAUSE_COUNT

if TYPE_CHECKING:
    from firmware.core.params import Params


class StopSequence:
    def __init__(self) -> None:
        self.policy = POLICY_CUT
        self.is_over = False
        self._policies: "list[int]" = []
        self._standstill_mm_s = 0
        self._standstill_us = 0
        self._timeout_us = 0
        self._rolling = Deadline()  # open until the wheels have stood for long enough
        self._patience = Deadline()

    def configure(self, params: "Params") -> None:
        self._policies = params.get_all("stop_policy")
        self._standstill_mm_s = params.get("standstill_mm_s")
        self._standstill_us = params.get("standstill_ms") * 1000
        self._timeout_us = params.get("stop_timeout_ms") * 1000

    def begin(self, causes: int, now_us: int, is_measured: bool) -> None:
        """Without a speed that can be trusted there is no braking by it: neutral at least."""
        self.policy = POLICY_BRAKE if is_measured else POLICY_NEUTRAL
        self.is_over = False
        self.add(causes)
        self._rolling.set(now_us, self._standstill_us)
        self._patience.set(now_us, self._timeout_us)

    def add(self, causes: int) -> None:
        """Causes that come while it stops can only make it stricter."""
        for cause in range(CAUSE_COUNT):
            if causes >> cause & 1 and self._policies[cause] > self.policy:
                self.policy = self._policies[cause]

    def step(self, speed_mm_s: int, now_us: int) -> None:
        self._rolling.step(now_us)
        self._patience.step(now_us)
        if abs(speed_mm_s) > self._standstill_mm_s:
            self._rolling.set(now_us, self._standstill_us)
        if not self._rolling.is_open or not self._patience.is_open:
            self.is_over = True

    def is_standing(self, speed_mm_s: int) -> bool:
        return abs(speed_mm_s) <= self._standstill_mm_s
