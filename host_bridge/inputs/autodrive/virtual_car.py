"""The simulator's features that a virtual car offers: scans, true pose, laps, collisions, reset.

A car is put back to its start, or wherever a script moves it, when it stands. That is no stop and
clears none: a car that was stopped stays stopped.
"""

from __future__ import annotations

from contextlib import suppress

from host_bridge.core import SeenCar
from host_bridge.core.laps import Laps
from host_bridge.inputs.autodrive.telemetry_frame import ExtraTelemetry
from host_bridge.logs import pose_lines
from host_bridge.logs.pose_lines import Place
from host_bridge.logs.sensor_lines import SensorPipe
from sim_mock.autodrive.command import ScriptCommand
from sim_mock.autodrive.values import packed

_AGAIN_US = 100_000  # a pose is sent again: it may come before the car knows that it stands
# a virtual car is put elsewhere within a step, if it stands and there is room
_PATIENCE_US = 2_000_000
_RESTS_US = 10_000_000  # twice as long as any vehicle file lets a car brake
NOT_HERE = "It is asked to go elsewhere, which only a virtual car of this command does: it stands."
NO_ROOM = "It was not put elsewhere: a wall, or another car, is in the way there."
NOT_AT_REST = (
    f"It was not put elsewhere: it did not come to rest within {_RESTS_US // 1_000_000} s."
)


class VirtualCarPipes:
    """A virtual car's sensors, laps and teleports.

    ``words`` says why it is not where the script wants it.
    """

    words = ""

    def __init__(self, sensors: str, poses: str = "") -> None:
        """Open the pipes: the car writes ``sensors``, a pipe or file, and reads ``poses``.

        Raises OSError.
        """
        self._pipe = SensorPipe(sensors)
        self._poses = poses
        self._scan = ""
        self._start: Place | None = None
        self._laps: Laps | None = None
        self._hits = 0  # collisions before the last reset
        self._zero = (0, 0)
        self._was_reset = False
        self._moved: Place | None = None  # where the script moved it last
        self._wanted: Place | None = None
        self._wanted_us: int | None = None  # when the teleport was first looked at
        self._since_us: int | None = None  # when the car stood
        self._put_us = 0

    def step(self, car: SeenCar, now_us: int) -> None:
        """Read its sensors, and continue a teleport."""
        self._pipe.step(now_us)
        scan = self._pipe.take_scan()
        if scan:
            self._scan = packed(scan.ranges_m)
        truth = self._pipe.truth
        if truth is None:
            if self._wanted is not None:
                self._go_on(self._wanted, car, now_us)
            return
        here = truth.x_m, truth.y_m, truth.yaw_rad
        if self._start is None or self._laps is None:
            self._start, self._laps = here, _laps_from(here, car)
        if self._wanted is None:
            self._laps.step(truth.x_m, truth.y_m, now_us)
        else:
            self._go_on(self._wanted, car, now_us)

    def must_stand(self, command: ScriptCommand) -> bool:
        """Begin the teleport that the script asks for; return whether the car has to stand for it.

        A reset begins when its value becomes true, and holds the car for as long as it is true.
        """
        if not self._poses:
            self.words = NOT_HERE if command.holds else ""
            return command.holds
        is_new = command.is_reset and not self._was_reset
        self._was_reset = command.is_reset
        if is_new and self._start:
            self._want(self._start)
        elif command.pose and command.pose != self._moved and not command.is_reset:
            self._want(command.pose)
        self._moved = command.pose
        return command.holds or self._wanted is not None

    def extra_telemetry(self, command: ScriptCommand) -> ExtraTelemetry:
        """Return the telemetry for a frame."""
        hits = max(self._pipe.hits - self._hits, 0)
        return ExtraTelemetry(self._scan, self._pipe.truth, self._laps, hits, self._zero, command)

    def close(self) -> None:
        self._pipe.close()

    def _want(self, place: Place) -> None:
        self._wanted, self.words = place, ""
        self._wanted_us = self._since_us = None

    def _go_on(self, wanted: Place, car: SeenCar, now_us: int) -> None:
        truth = self._pipe.truth
        if pose_lines.is_there(truth, wanted):
            self._arrive(wanted, car)
            return
        if self._wanted_us is None:
            self._wanted_us = now_us
        if car.status is None or not pose_lines.stands(truth, car.status.speed_mps):
            if now_us - self._wanted_us > _RESTS_US:  # else the script could never drive again
                self._wanted, self.words = None, NOT_AT_REST
            return
        if self._since_us is None:
            self._since_us, self._put_us = now_us, now_us - _AGAIN_US
        if now_us - self._since_us > _PATIENCE_US:
            self._wanted, self.words = None, NO_ROOM
        elif now_us - self._put_us >= _AGAIN_US:
            self._put_us = now_us
            with suppress(OSError):  # its pipe is full or gone: it ends like a lack of room
                pose_lines.put(self._poses, wanted)

    def _arrive(self, wanted: Place, car: SeenCar) -> None:
        """End the teleport.

        At the start, reset laps, collisions and counts, as the simulator does.
        """
        self._wanted = None
        if wanted == self._start:
            self._laps = _laps_from(wanted, car)
            self._hits = self._pipe.hits
            if car.motion:
                self._zero = car.motion.count_left, car.motion.count_right


def _laps_from(start: Place, car: SeenCar) -> Laps:
    return Laps(*start, car.vehicle.wheelbase_m) if car.vehicle else Laps(*start)
