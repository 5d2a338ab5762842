"""The blocking API: one car for a script without asyncio; each call returns when it is done."""

from __future__ import annotations

import atexit
import math
from collections.abc import Callable, Coroutine, Iterator
from os import PathLike
from types import TracebackType
from typing import Any
from weakref import WeakSet

from host_bridge.core.errors import UsageFault
from host_bridge.drive.control_task import TICK_US
from host_bridge.sharing.services import Host, make_host
from tandem.arguments import ArgumentFault, number
from tandem.asynchronous import AsyncCar, open_driver
from tandem.car_driver import CarDriver
from tandem.car_reports import CarReports
from tandem.runners import CoroutineRunner, LockstepRunner, T, ThreadRunner

_OPEN: WeakSet[Car] = WeakSet()


class Car(CarReports):
    """An open car. ``with`` closes it: at rest and disarmed, or stopped after an error.

    A script that ends without closing it leaves it stopped. Its attributes are those of
    ``AsyncCar``, as last reported.
    """

    def __init__(self, driver: CarDriver, runner: CoroutineRunner) -> None:
        super().__init__(driver)
        self._car = AsyncCar(driver)
        self._running = runner
        _OPEN.add(self)

    @property
    def _runner(self) -> CoroutineRunner:
        if not self._is_open:
            raise UsageFault(
                "the car is closed",
                where=self.name,
                remedy="tandem.open() opens it anew; in a notebook leave the with block out",
            )
        return self._running

    def _ask(self, get: Callable[[], T]) -> T:
        return self._runner.call(get)

    def arm(self, profile: str | None = None) -> None:
        """Arm it, in its vehicle file's profile or in another: track, race, stand.

        Raises StoppedFault with the reasons if it refuses; UsageFault for a real car.
        """
        self._runner.result(self._car.arm(profile))

    def clear(self) -> None:
        """Clear a stop whose cause is gone. Raises StoppedFault if it refuses."""
        self._runner.result(self._car.clear())

    def disarm(self) -> None:
        """Bring it from HOLD back to STANDBY. Raises StoppedFault if it refuses."""
        self._runner.result(self._car.disarm())

    def stop(self) -> None:
        """Stop it at once, until ``clear`` is called. Raises TandemError without an answer."""
        self._runner.result(self._car.stop())

    def rest(self) -> None:
        """Release the deadman, wait until the car stands, and disarm it."""
        self._runner.result(self._car.rest())

    def reset(self) -> None:
        """Put a virtual car of this script back at its start: at rest, disarmed, no stop latched.

        Hits, laps and ``pose`` begin anew; time goes on. ``arm`` it to drive again. Raises
        UsageFault for any other car, and StoppedFault if a stop cannot be cleared.
        """
        self._runner.result(self._car.reset())

    def drive(
        self, speed_mps: float, steer_rad: float = 0.0, *, brake: float = 0.0, lights: int = 0
    ) -> None:
        """Claim this speed and steering angle once; the claim is valid for one lease.

        The lease is that of the source ``script`` in its vehicle file (0.12 s as a rule): call this
        on every tick. ``brake`` is 0 to 1. Raises StoppedFault with the reason once the car cannot
        be driven any more, and ArgumentFault for what is no number; what is beyond the car's
        limits is driven at the limit, with a LimitWarning.
        """
        self._driver.tell_limits(speed_mps, steer_rad)
        self._runner.call(lambda: self._driver.drive(speed_mps, steer_rad, brake, lights))

    def let_go(self) -> None:
        """Release the deadman once: the car brakes and holds for as long as this is called."""
        self._runner.call(self._car.let_go)

    def ticks(self, seconds: float | None = None) -> Iterator[float]:
        """Yield the time since the first tick in s, a hundred times a second, for ``seconds``."""
        begun_us = due_us = round(self.now_s * 1e6)
        until_s = math.inf if seconds is None else number("seconds", seconds, 0.0, unit="s")
        while due_us - begun_us < until_s * 1e6:
            yield self.now_s - begun_us * 1e-6
            due_us = max(due_us + TICK_US, round(self.now_s * 1e6) - TICK_US)
            self._runner.wait_until_us(self._car, due_us)

    def run(self, decide: Callable[[float, Car], tuple[float, float]], seconds: float) -> None:
        """Drive by a function for ``seconds``.

        On each tick it gets the time in s and the car, and returns speed in m/s and steering angle
        in rad. Raises StoppedFault once the car cannot be driven any more.
        """
        for t_s in self.ticks(seconds):
            self.drive(*_pair(decide(t_s, self)))

    def wait(self, seconds: float) -> None:
        """Let time pass without claims: a car that drives stops meanwhile."""
        wait_s = number("seconds", seconds, 0.0, unit="s")
        self._runner.wait_until_us(self._car, round((self.now_s + wait_s) * 1e6))

    def close(self) -> None:
        """Release the car; an armed one comes to rest and is disarmed before."""
        self._end(self._car.close)

    def abandon(self) -> None:
        """Stop the car, and release it."""
        self._end(self._car.abandon)

    def _end(self, way: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if not self._is_open:
            return
        self._is_open = False
        _OPEN.discard(self)
        try:
            self._running.result(way())
        finally:
            self._running.end()

    def __enter__(self) -> Car:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abandon()


def open(  # noqa: A001 - as in tandem.open
    uri: str | None = None,
    *,
    lockstep: bool = False,
    record: str | PathLike[str] | None = None,
    host: Host | None = None,
) -> Car:
    """Open a car, by a served name, a URI, or None for the only one that is served.

    ``lockstep`` runs a virtual car (``sim://``) as fast as it can be computed; its time stands
    still while the script computes. ``record`` is the path of a new log. Raises TandemError.
    """
    runner: CoroutineRunner = LockstepRunner() if lockstep else ThreadRunner()
    try:
        driver = runner.result(open_driver(host or make_host(), uri, lockstep, record))
    except BaseException:
        runner.end()
        raise
    return Car(driver, runner)


def ticks(*cars: Car, seconds: float | None = None) -> Iterator[float]:
    """Yield the time since the first tick in s, a hundred times a second, for all of these cars.

    In lockstep their times go on together.
    """
    if not cars:
        raise ArgumentFault("ticks() needs cars", expected="tandem.ticks(red, blue, seconds=10)")
    together = [car.ticks(seconds) for car in cars]
    while True:
        times = [next(own, None) for own in together]  # of all cars, after the last tick too
        if times[0] is None or None in times:
            return
        yield times[0]


def _pair(decided: object) -> tuple[float, float]:
    if isinstance(decided, tuple | list) and len(decided) == 2:
        return decided[0], decided[1]
    raise ArgumentFault(
        "the function decided nothing that can be driven",
        expected="a speed in m/s and a steering angle in rad: return 1.0, 0.2",
        got=repr(decided),
    )


@atexit.register
def _abandon_all() -> None:
    """Stop every car that the script left open, at the end of the process."""
    for car in list(_OPEN):
        car.abandon()
