"""The blocking API: one car for a script without asyncio; each call returns when it is done."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from os import PathLike
from types import TracebackType
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

from host_bridge.core import CarEvent, CarIdentity, CarMotion, CarStatus, State, Vehicle
from host_bridge.sharing.services import Host, make_host
from tandem.asynchronous import AsyncCar, open_driver
from tandem.lines import TICK_US

T = TypeVar("T")


class CoroutineRunner(Protocol):
    """The runner of a car's coroutines for a script that has no event loop."""

    def result(self, work: Coroutine[Any, Any, T]) -> T: ...

    def call(self, do: Callable[[], None]) -> None: ...

    def wait_until_us(self, car: AsyncCar, due_us: int) -> None: ...

    def end(self) -> None: ...


class ThreadRunner:
    """An event loop in its own thread, which keeps the link alive while the script computes."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="tandem")
        self._thread.start()

    def result(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, do: Callable[[], None]) -> None:
        async def done() -> None:
            do()

        self.result(done())

    def wait_until_us(self, car: AsyncCar, due_us: int) -> None:
        time.sleep(max(due_us * 1e-6 - car.now_s, 0.0))

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class LockstepRunner:
    """A runner that finishes a coroutine at once: in lockstep none of them waits for anything."""

    def result(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            work.send(None)
        except StopIteration as ended:
            found: T = ended.value
            return found
        work.close()
        raise RuntimeError("a car in lockstep waited for something that is not of its time")

    def call(self, do: Callable[[], None]) -> None:
        do()

    def wait_until_us(self, car: AsyncCar, due_us: int) -> None:
        self.result(car.wait(due_us * 1e-6 - car.now_s))

    def end(self) -> None:
        """Do nothing: there is nothing to close."""


_OPEN: WeakSet[Car] = WeakSet()


class Car:
    """An open car. ``with`` closes it: at rest and disarmed, or stopped after an error.

    A script that ends without closing it leaves it stopped. Its attributes are those of
    ``AsyncCar``, as last reported.
    """

    def __init__(self, car: AsyncCar, runner: CoroutineRunner) -> None:
        self._car = car
        self._runner = runner
        self._is_open = True
        _OPEN.add(self)

    @property
    def name(self) -> str:
        """Its name."""
        return self._car.name

    @property
    def vehicle(self) -> Vehicle:
        """Its type: sizes, limits, sources."""
        return self._car.vehicle

    @property
    def identity(self) -> CarIdentity | None:
        """The identity that its board reported, or None."""
        return self._car.identity

    @property
    def status(self) -> CarStatus:
        """Its state, stop causes and source in command. Raises TandemError if the car is lost."""
        return self._car.status

    @property
    def motion(self) -> CarMotion:
        """Wheel counts, odometry, yaw rate, acceleration. Raises TandemError if there is none."""
        return self._car.motion

    @property
    def state(self) -> State:
        """Its state: STANDBY, HOLD, ACTIVE, STOPPED, ..."""
        return self._car.state

    @property
    def speed_mps(self) -> float:
        """Its measured speed in m/s, forward positive."""
        return self._car.speed_mps

    @property
    def steer_rad(self) -> float:
        """Its steering angle in rad, to the left positive."""
        return self._car.steer_rad

    @property
    def pose(self) -> tuple[float, float, float]:
        """Its dead-reckoned pose: x and y in m, yaw in rad, from where it started."""
        return self._car.pose

    @property
    def why_stopped(self) -> str:
        """The reason why it cannot move, as a sentence; "" if it can."""
        return self._car.why_stopped

    @property
    def now_s(self) -> float:
        """The time of its ticks in s; the origin is arbitrary."""
        return self._car.now_s

    def on_event(self, tell: Callable[[CarEvent], None]) -> Callable[[], None]:
        """Call ``tell`` with each event that the car reports; return what unsubscribes it.

        In real time it is called in the link's own thread.
        """
        return self._car.on_event(tell)

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

    def drive(
        self, speed_mps: float, steer_rad: float = 0.0, *, brake: float = 0.0, lights: int = 0
    ) -> None:
        """Claim this speed and steering angle once; the claim is valid for one lease.

        The lease is that of the source ``script`` in its vehicle file (0.12 s as a rule): call this
        on every tick. ``brake`` is 0 to 1. Raises StoppedFault with the reason once the car cannot
        be driven any more.
        """
        self._runner.call(lambda: self._car.drive(speed_mps, steer_rad, brake=brake, lights=lights))

    def let_go(self) -> None:
        """Release the deadman once: the car brakes and holds for as long as this is called."""
        self._runner.call(self._car.let_go)

    def ticks(self, seconds: float | None = None) -> Iterator[float]:
        """Yield the time since the first tick in s, a hundred times a second, for ``seconds``."""
        begun_us = due_us = round(self.now_s * 1e6)
        while seconds is None or due_us - begun_us < seconds * 1e6:
            yield self.now_s - begun_us * 1e-6
            due_us = max(due_us + TICK_US, round(self.now_s * 1e6) - TICK_US)
            self._runner.wait_until_us(self._car, due_us)

    def run(self, decide: Callable[[float, Car], tuple[float, float]], seconds: float) -> None:
        """Drive by a function for ``seconds``.

        On each tick it gets the time in s and the car, and returns speed in m/s and steering angle
        in rad. Raises StoppedFault once the car cannot be driven any more.
        """
        for t_s in self.ticks(seconds):
            self.drive(*decide(t_s, self))

    def wait(self, seconds: float) -> None:
        """Let time pass without claims: a car that drives stops meanwhile."""
        self._runner.wait_until_us(self._car, round((self.now_s + seconds) * 1e6))

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
            self._runner.result(way())
        finally:
            self._runner.end()

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
    return Car(AsyncCar(driver), runner)


@atexit.register
def _abandon_all() -> None:
    """Stop every car that the script left open, at the end of the process."""
    for car in list(_OPEN):
        car.abandon()
