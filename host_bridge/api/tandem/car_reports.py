"""Everything that a car reports and senses: the same names with asyncio and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from host_bridge.core import CarEvent, CarIdentity, CarMotion, CarStatus, State, Vehicle
from host_bridge.core.errors import TandemError
from host_bridge.logs.sensor_lines import TruePose
from tandem.car_driver import CarDriver
from tandem.sensing import LapTimes, Located, Scan

T = TypeVar("T")


class CarReports:
    """The state of an open car as it was last reported; of a virtual one also what it senses."""

    def __init__(self, driver: CarDriver) -> None:
        self._driver = driver
        self._is_open = True

    # --- where it is

    def locate_by(self, source: str, start: tuple[float, float, float] | None = None) -> None:
        """Take poses of this source from now on: ``"truth"``, ``"localise:lab.yaml"``, a file.

        ``source`` is what ``pose=`` of a path is (``tandem path --help``); ``start`` is where a
        localiser has to begin: x and y in m, yaw in rad, of the centre of gravity. Raises
        TandemError for a source that is none, or is not here.
        """
        self._ask(lambda: self._driver.locate_by(source, start))

    @property
    def located(self) -> Located | None:
        """Its pose by that source; None before the first one, UsageFault without a source.

        Read it on every tick. Raises DeviceFault for a pose that is not to be driven by.
        """
        return self._ask(self._driver.located)

    # --- its state, as it was last reported

    @property
    def name(self) -> str:
        """Its name."""
        return self._driver.car.name

    @property
    def vehicle(self) -> Vehicle:
        """Its type: sizes, limits, sources."""
        return self._driver.line.vehicle

    @property
    def identity(self) -> CarIdentity | None:
        """The identity that its board reported, or None."""
        return self._driver.car.identity

    @property
    def status(self) -> CarStatus:
        """Its state, stop causes and source in command. Raises DeviceFault if the car is lost."""
        return self._driver.status

    @property
    def motion(self) -> CarMotion:
        """Wheel counts, odometry, yaw rate, acceleration. Raises DeviceFault if there is none."""
        return self._driver.motion

    @property
    def state(self) -> State:
        """Its state: STANDBY, HOLD, ACTIVE, STOPPED, ..."""
        return self.status.state

    @property
    def speed_mps(self) -> float:
        """Its measured speed in m/s, forward positive."""
        return self.status.speed_mps

    @property
    def steer_rad(self) -> float:
        """Its steering angle in rad, to the left positive."""
        return self.status.steer_rad

    @property
    def pose(self) -> tuple[float, float, float]:
        """Its dead-reckoned pose: x and y in m, yaw in rad, from where it started."""
        return self._driver.pose

    @property
    def why_stopped(self) -> str:
        """The reason why it cannot move, as a sentence; "" if it can."""
        return self._driver.car.why_stopped()

    @property
    def now_s(self) -> float:
        """The time of its ticks in s; the origin is arbitrary."""
        return self._driver.line.clock.now_us() * 1e-6

    def on_event(self, tell: Callable[[CarEvent], None]) -> Callable[[], None]:
        """Call ``tell`` with each event that the car reports; return what unsubscribes it.

        For a ``Car`` in real time it is called in the link's own thread.
        """

        def hear(events: object) -> None:
            for event in events if isinstance(events, list) else ():
                if isinstance(event, CarEvent):
                    tell(event)

        return self._driver.line.events.subscribe(hear)

    # --- what a virtual car of this script senses; UsageFault for any other car

    def scan(self) -> Scan:
        """Return the newest turn of its LIDAR. Raises UsageFault for a car that has none."""
        return self._ask(self._driver.sensors.scan)

    def truth(self) -> TruePose:
        """Return where its centre of gravity really is, and how it moves. Raises UsageFault."""
        return self._ask(self._driver.sensors.truth)

    @property
    def hits(self) -> int:
        """Return the number of hits on walls and other cars since it was opened or reset."""
        return self._driver.sensors.hits

    @property
    def is_off_track(self) -> bool:
        """True while its centre is where no car may be."""
        return self._driver.sensors.is_off_track

    @property
    def laps(self) -> LapTimes:
        """Its laps over the line at its start, since it was opened or reset."""
        return self._driver.sensors.laps

    def _ask(self, get: Callable[[], T]) -> T:
        """Return what ``get`` returns, asked where the car's events happen."""
        return get()

    def __repr__(self) -> str:
        head = f"<tandem.{type(self).__name__} {self.name}"
        if not self._is_open:
            return f"{head}: closed>"
        try:
            x_m, y_m, _ = self.pose
            where = f"{self.speed_mps:.2f} m/s at ({x_m:.2f}, {y_m:.2f}) m"
            return f"{head}: {self.state.word}, {where}>"
        except TandemError as fault:
            return f"{head}: {fault.what}>"
