"""A script's control of one car: its requests, and one claim for each call.

Nothing here repeats a claim. If calls stay away, whether the script hangs, has ended or waits for
something, the car's own deadline (the lease of the source ``script``) stops it.
"""

from __future__ import annotations

import difflib
import platform
import warnings
from collections.abc import Callable
from math import cos, inf, sin

from host_bridge.cars.fleet import Fleet, FleetRequest, is_ready
from host_bridge.core import NEUTRAL_US, CarMotion, CarStatus, DriveCommand, Profile, Sender, State
from host_bridge.core.errors import DeviceFault, RefusedFault, UsageFault
from host_bridge.drive.control_task import TICK_US, ControlTask
from host_bridge.drive.controls import source_name
from tandem.arguments import ArgumentFault, LimitWarning, number, whole
from tandem.lines import CarLine
from tandem.sensing import CarSensors, Located, PoseReader, no_sensors

SOURCE = "script"  # its name in the vehicle file
_FIRST_STATUS_S = 2.0
_START_S = 12.0  # the longest time in neutral that a vehicle file may require, and a margin
_READY_S = 5.0  # a clock good enough to arm: it takes some tenths of a second where nothing is lost
_ANSWER_S = 2.0
_REST_S = 6.0  # a car at its top speed brakes to a stop in less
_REST_MPS = 0.02  # chosen: nobody sees a car that moves more slowly
_HAIR = 1e-9  # rounding of a limit that a script computes
_DRIVEN = (State.HOLD, State.ACTIVE)


class StoppedFault(RefusedFault):
    """The car has stopped, or was never armed, so it cannot be driven."""


class CarDriver:
    """The common core of ``Car`` and ``AsyncCar``: one car, one source, one claim per call."""

    def __init__(self, line: CarLine) -> None:
        self.line = line
        self.car = line.car
        self._fleet: Fleet | None = None
        self._control_task: ControlTask | None = None
        self._command = DriveCommand()
        self._calls = 0
        self._held_us: int | None = None
        self._limits: dict[str, tuple[float, float]] = {}
        self._start = (0.0, 0.0, 0.0)  # where its dead reckoning was when it was last reset
        self._poses: PoseReader | None = None

    async def begin(self) -> None:
        """Wait until the car has reported and its program has started.

        Raises errors.DeviceFault.
        """
        if not await self.line.until(lambda: self.car.status is not None, _FIRST_STATUS_S):
            raise DeviceFault("nothing comes from the car", where=self.car.name)
        await self.line.until(self._has_started, _START_S)
        await self.line.until(lambda: is_ready(self.car), _READY_S)

    def _has_started(self) -> bool:
        return self.car.status is not None and self.car.status.state is not State.STARTING

    # --- the car's state

    @property
    def status(self) -> CarStatus:
        """The newest status. Raises errors.DeviceFault if the link is lost."""
        if not self.car.is_online() or self.car.status is None:
            raise DeviceFault("the car is lost", where=self.car.name, got=self.line.why_lost)
        return self.car.status

    @property
    def motion(self) -> CarMotion:
        """The newest measured motion. Raises errors.DeviceFault if there is none."""
        if self.car.motion is None:
            raise DeviceFault("the car has not said how it moves", where=self.car.name)
        return self.car.motion

    @property
    def pose(self) -> tuple[float, float, float]:
        """The dead-reckoned x and y in m and yaw in rad, from its start. Raises DeviceFault."""
        motion = self.motion
        x_m, y_m, yaw_rad = self._start
        dx_m, dy_m, c, s = motion.x_m - x_m, motion.y_m - y_m, cos(yaw_rad), sin(yaw_rad)
        return c * dx_m + s * dy_m, c * dy_m - s * dx_m, motion.yaw_rad - yaw_rad

    @property
    def sensors(self) -> CarSensors:
        """The sensors of a virtual car of this process. Raises errors.UsageFault for any other."""
        if self.line.sensors is None:
            raise no_sensors(self.car.name, self.line.why_no_sensors)
        return self.line.sensors

    def locate_by(self, text: str, start: tuple[float, float, float] | None) -> None:
        """Open a pose source in place of the one before. Raises errors.TandemError."""
        self.end_locating()
        sensors = self.line.sensors.on_board if self.line.sensors else None
        self._poses = PoseReader(text, self.line.vehicle, sensors, self.line.clock.now_us, start)

    def located(self) -> Located | None:
        """Return the pose by the source. Raises UsageFault without one, DeviceFault if unusable."""
        if self._poses is None:
            raise UsageFault(
                "nobody says where this car is",
                where=self.car.name,
                remedy='car.locate_by("truth"), or another source; car.pose is dead reckoning',
            )
        return self._poses.read(self.motion)

    def end_locating(self) -> None:
        """Release the pose source, if there is one."""
        if self._poses is not None:
            self._poses.close()
            self._poses = None

    # --- requests

    async def arm(self, profile: str | None = None) -> None:
        """Arm the car, in its vehicle file's profile or another.

        Raises RefusedFault with the reasons if it refuses; UsageFault for a real car.
        """
        if not self.line.is_virtual:
            raise _needs_a_person(self.car.name)
        chosen = _profile(profile) if profile is not None else None
        fleet = self._take_hold()
        await self._granted(fleet.arm(self.line.clock.now_us(), chosen))
        self._limits = self._limits_in(chosen)

    async def clear(self) -> None:
        """Clear a stop whose cause is gone. Raises RefusedFault."""
        await self._granted(self._take_hold().clear(self.line.clock.now_us()))

    async def disarm(self) -> None:
        """Disarm the car: from HOLD, at rest, back to STANDBY. Raises RefusedFault."""
        await self._granted(self._take_hold().disarm(self.line.clock.now_us()))

    async def stop(self) -> None:
        """Stop the car, and wait until it reports that. Raises errors.DeviceFault."""
        request = self.car.stop(Sender.COMMAND, _sender(), self.line.clock.now_us())
        if not await self.line.until(lambda: request.seen_us is not None, _ANSWER_S):
            raise DeviceFault(
                "the car has not said that it stops",
                where=self.car.name,
                got=self.line.why_lost or "no answer",
                remedy="a car that hears no claims stops by itself",
            )

    async def rest(self) -> None:
        """Release the deadman, wait until the car stands, and disarm it. Raises RefusedFault."""
        if self.car.status is None or self.car.status.state not in _DRIVEN:
            return
        await self._until_released(self._stands, _REST_S)
        if self.car.status.state in _DRIVEN:
            await self.disarm()

    async def reset(self) -> None:
        """Put a virtual car of this process back at its start, at rest and disarmed."""
        sensors = self.sensors
        await self.rest()
        if self.status.state is State.STOPPING:
            await self.line.until(lambda: self.status.state is not State.STOPPING, _REST_S)
        if self.status.state in (State.STOPPED, State.FAULT):
            await self.clear()
        if not await self.line.until(sensors.stands, _REST_S):
            raise DeviceFault("the car does not come to rest", where=self.car.name)
        sensors.put_back()
        motion = self.motion
        self._start = motion.x_m, motion.y_m, motion.yaw_rad
        self._held_us = None

    def _stands(self) -> bool:
        status = self.car.status
        if status is None or status.state not in _DRIVEN:
            return True
        return status.state is State.HOLD and abs(status.speed_mps) <= _REST_MPS

    async def _granted(self, request: FleetRequest) -> None:
        def is_settled() -> bool:
            return request.results is not None

        if not await self._until_released(is_settled, _ANSWER_S) or not request.is_done():
            raise StoppedFault(
                str(request),
                where=self.car.name,
                remedy="put that right; a stop whose cause is gone: car.clear()",
            )

    async def _until_released(self, is_so: Callable[[], bool], within_s: float) -> bool:
        """Wait until ``is_so``; return False if it did not become so in time.

        On each tick the deadman is claimed as released: that moves nothing, and keeps the source
        from falling silent.
        """
        due_us = self.line.clock.now_us()

        def is_so_by_now() -> bool:
            nonlocal due_us
            if self.line.clock.now_us() >= due_us:
                due_us += TICK_US
                self.let_go()
            return is_so()

        return await self.line.until(is_so_by_now, within_s)

    def _take_hold(self) -> Fleet:
        if self._fleet is None:
            epoch = self.car.connection.epoch
            assert epoch is not None, "a script's car is opened with one"
            self._fleet = Fleet([self.car], epoch)
            source = self.line.vehicle.source(self._source())
            self._control_task = ControlTask(self._fleet, source, lambda now_us: self._command)
        return self._fleet

    def _source(self) -> str:
        return source_name(SOURCE, is_afar=self.car.is_afar)

    # --- driving

    def drive(self, speed_mps: float, steer_rad: float, brake: float, lights: int) -> None:
        """Make one claim. Raises StoppedFault, and ArgumentFault for what is no number."""
        speed_mps, steer_rad = number("speed_mps", speed_mps), number("steer_rad", steer_rad)
        brake, lights = number("brake", brake, 0.0, 1.0), whole("lights", lights, 0, 255)
        self.refuse_stopped()
        now_us = self.line.clock.now_us()
        if self._held_us is None:
            self._held_us = now_us
        is_fresh = now_us - self._held_us < NEUTRAL_US  # a fresh hold begins in neutral
        self._claim(
            DriveCommand(
                steer_rad=steer_rad,
                speed_mps=0.0 if is_fresh else speed_mps,
                brake=brake,
                is_held=True,
                input_count=self._calls & 0xFFFF,
                lights=lights,
            ),
            now_us,
        )

    def let_go(self) -> None:
        """Claim the deadman as released: the car brakes, and holds."""
        self._held_us = None
        self._claim(DriveCommand(input_count=self._calls & 0xFFFF), self.line.clock.now_us())

    def refuse_stopped(self) -> None:
        """Raise StoppedFault for a car that cannot be driven now."""
        status = self.status
        if status.state not in _DRIVEN or self._control_task is None:
            why = self.car.why_stopped() or f"it is {status.shown_state.word}"
            remedy = "car.clear() once the cause is gone, then car.arm()"
            raise StoppedFault("nobody can drive the car", got=why, remedy=remedy)

    def _limits_in(self, profile: Profile | None) -> dict[str, tuple[float, float]]:
        vehicle = self.line.vehicle
        name = profile.name.lower() if profile is not None else vehicle.profile
        cap_mps = min(vehicle.source(self._source()).speed_cap_mps, vehicle.profile_caps_mps[name])
        return {
            "speed_mps": (
                -min(vehicle.reverse_max_mps, cap_mps),
                min(vehicle.speed_max_mps, cap_mps),
            ),
            "steer_rad": (-vehicle.steer_max_rad, vehicle.steer_max_rad),
        }

    def tell_limits(self, speed_mps: float, steer_rad: float) -> None:
        """Warn the caller's caller, once, of a value that the car does not obey as it is."""
        for name, value, unit in (("speed_mps", speed_mps, "m/s"), ("steer_rad", steer_rad, "rad")):
            low, high = self._limits.get(name, (-inf, inf))
            if not low - _HAIR <= number(name, value) <= high + _HAIR:
                del self._limits[name]
                words = f"{name}={value:g} is beyond what {self.car.name} and a script may: "
                words += f"{low if value < low else high:g} {unit} is driven; this is said once"
                warnings.warn(words, LimitWarning, stacklevel=3)

    def _claim(self, command: DriveCommand, now_us: int) -> None:
        if self._control_task is None:
            return
        self._calls += 1
        self._command = command
        self._control_task.tick(now_us)


def _profile(name: object) -> Profile:
    """Return the profile of this name. Raises ArgumentFault."""
    names = [profile.name.lower() for profile in Profile]
    if isinstance(name, str) and name.lower() in names:
        return Profile[name.upper()]
    near = difflib.get_close_matches(str(name), names, n=1)
    raise ArgumentFault(
        "there is no such profile",
        expected=" or ".join(names),
        got=repr(name),
        remedy=f"did you mean {near[0]}?" if near else "arm() arms in its vehicle file's own",
    )


def _sender() -> str:
    return f"script@{platform.node()}"


def _needs_a_person(name: str) -> UsageFault:
    return UsageFault(
        "a script drives a real car only while a person holds the deadman",
        where=name,
        expected="tandem.drive(decide, URI) in a terminal, with SPACE held down",
        remedy="virtual cars (sim://nigel) need nobody",
    )
