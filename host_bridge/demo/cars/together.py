"""Part 1's drive: a car and its twin by the very same bytes, and the effect of one altered byte."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from host_bridge.cars.acceptance import Acceptance, newest_common
from host_bridge.cars.divergence import Divergence
from host_bridge.core import State
from host_bridge.demo.cars.demo_cars import DemoCars
from host_bridge.demo.output import DemoOutput
from host_bridge.inputs.manoeuvres import Constant, Manoeuvre, ManoeuvreSequence, Slalom
from host_bridge.link.protocol.wire import MessageDecoder
from host_bridge.link.transports.base import OnBytes, OnClosed, Transport

SLALOM = Slalom(speed_mps=2.8, duration_s=7.0, steer_rad=0.16, period_s=2.0)
SKIDPAD = Constant(speed_mps=2.0, duration_s=6.0, steer_rad=0.25)
MANOEUVRES = ManoeuvreSequence((SLALOM, SKIDPAD))
SHORT = Constant(speed_mps=1.0, duration_s=1.5)
# For half of the claims: a control period of the cars, which are not in phase, and 1 ms for each
# clock. In real time a busy machine delays the other half, with the twin's and car A's steps.
SKEW_LIMIT_US = 12_000
ENDS_IN_S = 4.0
_CARS = 2
REPORTS_IN_S = 2.0


@dataclass
class DriveResult:
    """The result of driving a fleet together."""

    agreed: int
    missed: int
    differs: bool
    crcs: dict[str, str]
    counts: dict[str, int]
    skews_us: list[int] = field(default_factory=list)  # claim by claim
    why_ended: str = ""  # for a drive that did not come to its end
    ticks_late: int = 0  # the number of claims that the host skipped
    alarms: list[str] = field(default_factory=list)
    alarm_s: float = 0.0  # the time of the first one, since the start
    path_m: float = 0.0
    paths: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    begun_s: float = 0.0  # by the loop's time
    ended_s: float = 0.0

    def is_identical(self) -> bool:
        """Return whether every car accepted the same bytes, all of them."""
        return (
            not self.missed
            and not self.differs
            and self.agreed > 0
            and len(self.crcs) > 1
            and len(set(self.crcs.values())) == 1
            and len(set(self.counts.values())) == 1
        )

    def is_shown_to_differ(self) -> bool:
        """Return whether the cars' reports show that they did not accept the same bytes.

        Missing reports show nothing.
        """
        return not self.lacks() and len(set(self.crcs.values())) == len(self.crcs)

    def lacks(self) -> str:
        """Return which of the cars' reports are missing for a verdict; "" if none is."""
        if len(self.crcs) < _CARS:
            return "a report of every car at one and the same claim"
        if not self.agreed or not all(self.counts.values()):
            return "a claim that all cars say they accepted"
        return ""

    def skew_us(self, share: float) -> int:
        """Return the skew in us that this share of the claims did not exceed; 0 without any.

        The skew is the time between the first and the last car to apply a claim.
        """
        ranked = sorted(self.skews_us)
        return ranked[min(int(share * len(ranked)), len(ranked) - 1)] if ranked else 0


class AlteredTransport:
    """A transport that changes one bit of the ``nth`` claim on the way to its car, once.

    Its owner hands it whole frames.
    """

    def __init__(self, inner: Transport, nth: int) -> None:
        self._inner = inner
        self._left = nth
        self._decoder = MessageDecoder()

    @property
    def label(self) -> str:
        return self._inner.label

    @property
    def is_virtual(self) -> bool:
        return self._inner.is_virtual

    @property
    def vehicle(self) -> str | None:
        return self._inner.vehicle

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        await self._inner.open(on_bytes, on_closed)

    def send(self, data: bytes) -> int:
        return self._inner.send(b"\0".join(map(self._passed_on, data.split(b"\0"))))

    def close(self) -> None:
        self._inner.close()

    def _passed_on(self, frame: bytes) -> bytes:
        kinds = [type(found).__name__ for found in self._decoder.feed(frame + b"\0")]
        if "Claim" in kinds:
            self._left -= 1
            if self._left == 0:
                middle = len(frame) // 2
                return frame[:middle] + bytes([frame[middle] ^ 0x04]) + frame[middle + 1 :]
        return frame


async def drive_together(
    demo_cars: DemoCars, manoeuvre: Manoeuvre, output: DemoOutput
) -> DriveResult:
    """Arm, drive the manoeuvre, let go, and compare. Raises errors.RefusedFault."""
    await demo_cars.arm()
    divergence = Divergence(demo_cars.vehicle.divergence)
    recorder = DriveRecorder(demo_cars, divergence)
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    demo_cars.scripted_input.take(manoeuvre)
    watching = asyncio.create_task(recorder.run())
    while demo_cars.scripted_input.position_s < manoeuvre.duration_s:
        await asyncio.sleep(0.1)  # as often as an eye can follow figures
        output.live(recorder.line())
        if not demo_cars.all_in(State.ACTIVE, State.HOLD):
            recorder.why_ended = "; ".join(
                f"{c.name}: {c.why_stopped()}" for c in demo_cars.fleet.cars
            )
            break
    ended_s = loop.time()
    demo_cars.scripted_input.let_go()
    await demo_cars.until(lambda: demo_cars.all_in(State.HOLD) and _at_rest(demo_cars), ENDS_IN_S)
    watching.cancel()
    # each car's report at one claim is compared: wait until there is one
    await demo_cars.until(lambda: newest_common(_records(demo_cars)) is not None, REPORTS_IN_S)
    return replace(_result(demo_cars, recorder), begun_s=begun_s, ended_s=ended_s)


def _records(demo_cars: DemoCars) -> list[Acceptance]:
    return [car.acceptance for car in demo_cars.fleet.cars]


def _at_rest(demo_cars: DemoCars) -> bool:
    # chosen: above the steps of a wheel counter, and hardly seen
    return all(car.status and abs(car.status.speed_mps) < 0.05 for car in demo_cars.fleet.cars)


class DriveRecorder:
    """The record of what both cars report while they drive."""

    def __init__(self, demo_cars: DemoCars, divergence: Divergence) -> None:
        self.alarms: list[str] = []
        self.alarm_s = 0.0
        self.path_m = 0.0
        self.skews_us: list[int] = []
        self.why_ended = ""
        self.paths: dict[str, list[tuple[float, float]]] = {name: [] for name in demo_cars.cars}
        self._demo_cars = demo_cars
        self._divergence = divergence
        self._begun_us = demo_cars.clock.now_us()
        self._taken_us = dict.fromkeys(demo_cars.cars, self._begun_us)

    async def run(self) -> None:
        while True:
            self._step()
            await asyncio.sleep(0.02)  # two steps of a car

    def _step(self) -> None:
        tracks = (self._divergence.car, self._divergence.twin)
        for (name, car), track in zip(self._demo_cars.cars.items(), tracks, strict=True):
            for sample in list(car.samples):
                if sample.time_us > self._taken_us[name]:
                    self._taken_us[name] = sample.time_us
                    track.add(sample)
                    self.paths[name].append((sample.x_m, sample.y_m))
        self._divergence.step()
        for difference in self._divergence.differences:
            if difference.what == "path":
                self.path_m = max(self.path_m, difference.amount)
        for alarm in self._divergence.alarms():
            if alarm.what not in self.alarms:
                since_us = self._demo_cars.clock.now_us() - self._begun_us
                self.alarm_s = self.alarm_s or since_us * 1e-6
                self.alarms.append(alarm.what)
        skew_us = self._demo_cars.fleet.skew_us()
        if skew_us is not None:
            self.skews_us.append(skew_us)

    def line(self) -> str:
        """Return a line of 80 columns; an alarm takes the place of the skew."""
        cars = "  ".join(
            f"{car.name[-1].upper()} {car.status.shown_state.word} {car.status.speed_mps:5.2f}"
            for car in self._demo_cars.fleet.cars
            if car.status
        )
        skew_ms = self.skews_us[-1] / 1000 if self.skews_us else 0.0
        last = f"ALARM: {', '.join(self.alarms)}" if self.alarms else f"skew {skew_ms:4.1f} ms"
        return f"{cars} m/s  {self.path_m:4.2f} m apart  {last}"


def _result(demo_cars: DemoCars, recorder: DriveRecorder) -> DriveResult:
    agreement = demo_cars.fleet.agreement()
    common = newest_common(_records(demo_cars)) or []
    reports = dict(zip(demo_cars.cars, common, strict=False))
    return DriveResult(
        agreement.agreed,
        agreement.missed,
        not agreement.is_equal(),
        {name: f"{report.crc:08x}" for name, report in reports.items()},
        {name: report.count for name, report in reports.items()},
        recorder.skews_us,
        recorder.why_ended,
        demo_cars.control_task.late,
        recorder.alarms,
        recorder.alarm_s,
        recorder.path_m,
        recorder.paths,
    )
