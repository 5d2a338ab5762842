"""The stop sequence brings the car to rest, by the strictest policy of its stop causes.

The problem. A stop has to be short and certain at once. Braking is shorter than rolling, but it
needs power, a working program and a measured speed. Opening the drive enable needs none of these,
and on many cars it means rolling for metres. So each stop cause has a policy in the vehicle file:
brake, neutral or cut, from the mildest to the strictest.

Policies only become stricter. Causes pile up: a silent host is followed by an opened loop. The
strictest of all counts, and none that goes away makes a stop milder again, for then the order of
two events would decide how the car stops. The runstop loop is always a cut, because who presses
that button must not depend on this program; where an off-delay keeps the drive's power for a while,
a vehicle file may let the program brake within that time first (loop_brake.py).

A stop ends for one of two reasons. Either the wheels have stood for a while: a single reading below
the limit is no standstill, because a wheel that locks stands too. Or the time for a stop is up:
then the car is taken to be at rest, and its drive enable opens, whatever the encoders say. If the
speed may lie, because a fault puts an encoder in doubt, only the time counts.

While it brakes, the drive opposes the motion that is measured (S1), inside the limits of jerk and
deceleration (S8), so that a stop does not turn a car over. ``is_over`` tells the supervisor, which
then leaves STOPPING for STOPPED or FAULT. Nothing here can start the wheels, and nothing here
decides that the car should stop: that is the fault monitor's part (S3).
"""

from firmware.compat import TYPE_CHECKING
from firmware.core.deadlines import Deadline
from firmware.core.settings.params import POLICY_BRAKE, POLICY_CUT
from firmware.protocol.codes import CAUSE_COUNT, CAUSE_RUNSTOP_LOOP, FAULT_COUNT

if TYPE_CHECKING:
    from firmware.core.settings.params import Params


class StopSequence:
    def __init__(self) -> None:
        self.policy = POLICY_CUT
        self.is_over = False
        self._policies: "list[int]" = []
        self._fault_policies: "list[int]" = []
        self._standstill_mm_s = 0
        self._standstill_us = 0
        self._timeout_us = 0
        self._rolling = Deadline()  # open until the wheels have stood for long enough
        self._patience = Deadline()

    def configure(self, params: "Params") -> None:
        self._policies = params.get_all("stop_policy")
        is_braked = params.get("loop_brake_ms") > 0  # loop_brake.py then says for how long
        self._policies[CAUSE_RUNSTOP_LOOP] = POLICY_BRAKE if is_braked else POLICY_CUT
        self._fault_policies = params.get_all("fault_policy")
        self._standstill_mm_s = params.get("standstill_mm_s")
        self._standstill_us = params.get("standstill_ms") * 1000
        self._timeout_us = params.get("stop_timeout_ms") * 1000

    def begin(self, now_us: int) -> None:
        self.policy = POLICY_BRAKE
        self.is_over = False
        self._rolling.set(now_us, self._standstill_us)
        self._patience.set(now_us, self._timeout_us)

    def add(self, causes: int, faults: int) -> None:
        """Tighten the policy by these causes and faults; in a stop it only gets stricter."""
        for cause in range(CAUSE_COUNT):
            if causes >> cause & 1:
                self.tighten(self._policies[cause])
        for fault in range(FAULT_COUNT):
            if faults >> fault & 1:
                self.tighten(self._fault_policies[fault])

    def tighten(self, policy: int) -> None:
        if policy > self.policy:
            self.policy = policy

    def step(self, speed_mm_s: int, is_trusted: bool, now_us: int) -> None:
        """Set ``is_over`` once the wheels have stood for long enough, or the time for a stop is up.

        A speed that is not trusted shows no standstill: then only the time counts.
        """
        rolling, patience = self._rolling, self._patience
        patience.step(now_us)
        if abs(speed_mm_s) > self._standstill_mm_s or not is_trusted:
            rolling.set(now_us, self._standstill_us)
        else:
            rolling.step(now_us)
        if not rolling.is_open or not patience.is_open:
            self.is_over = True

    def is_standing(self, speed_mm_s: int) -> bool:
        return abs(speed_mm_s) <= self._standstill_mm_s
