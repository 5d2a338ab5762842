"""Forgives silence, for virtual cars alone: the car rests while nobody speaks, and goes on after.

On metal a source that falls silent stops the car until a person permits motion again. A student's
node in a simulation pauses, is restarted, or speaks only while it brakes. With ``--forgiving`` a
source that falls silent yields to the next one of the mux, and a virtual car that was stopped by
silence alone is cleared and armed by this host. A stop by anybody else stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from host_bridge.core import Cause, Observed, SeenCar, State
from host_bridge.core.errors import UsageFault

_AGAIN_US = 1_000_000  # between two tries: as long as a car takes to clear and to arm
_STOPPED = (State.STOPPED, State.STANDBY)  # standby with a stop latched is a stop, too


class Forgiveness:
    """Decides when the cars are to be armed again; ``count`` says how often that was."""

    def __init__(self) -> None:
        self.count = 0
        self._asked_us: int | None = None

    def must_arm(self, observed: Observed, now_us: int) -> bool:
        """Return True, once a second, while all cars stand and silence alone has stopped them."""
        if observed.is_driving or not all(map(_is_forgivable, observed.cars)):
            return False
        if not any(it.status and it.status.causes for it in observed.cars):
            return False  # parked, and nobody has armed it yet
        if self._asked_us is not None and now_us - self._asked_us < _AGAIN_US:
            return False
        self._asked_us = now_us
        self.count += 1
        return True

    def words(self) -> str:
        """Return what the screen shows in front of who drives."""
        return f"FORGIVING, virtual cars alone: {self.count} silences forgiven. "


def _is_forgivable(car: SeenCar) -> bool:
    status = car.status
    if not car.is_online or status is None or status.state not in _STOPPED or status.faults:
        return False
    return set(status.causes) <= {Cause.SILENCE}


def real_car_refusal(names: Sequence[str]) -> UsageFault:
    """Return the refusal of a set with a real car."""
    return UsageFault(
        "--forgiving is for virtual cars: a real one stays stopped until a person has seen it",
        where=" ".join(names),
        expected="virtual cars alone, as sim://f1tenth",
        got="a set with a real car",
        remedy="leave --forgiving out, or leave the real car out",
    )
