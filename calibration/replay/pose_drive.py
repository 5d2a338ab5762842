"""A drive as poses: its speed and yaw rate, and what those of a changed twin would have been.

So it is with bags, with tables, and with whoever tracked the car from outside. Nothing there says
what its wheels counted or its motor got, so fewer causes can be told apart.
"""

from __future__ import annotations

import numpy as np

from calibration.arrays import Floats
from calibration.logs.run import Run
from calibration.simulation.causes import COMMAND_DELAY, GYRO, SingleCause
from calibration.simulation.log_drive import roughness
from calibration.simulation.plant_numbers import Values
from calibration.simulation.poses import Poses, as_odometry
from calibration.simulation.twin import Twin, commands_in_effect
from host_bridge.core.errors import NotHeldFault

WINDOW_S = 0.2  # so short that a turn of the steering shows, so long that poses' noise does not
STEP_S = 0.002  # as log_drive.py has it
_LEAST_WINDOWS = 20  # twice as many as there are causes
_PER_WINDOW = 2  # poses: with fewer a window would repeat its neighbour
_LEAST_NOISE = np.array([0.02, 0.01])  # m/s and rad/s; chosen: a good tracking's, in a window
_BIAS_RADPS = 0.003  # of a yaw rate throughout: as a gyro's after zeroing
_AFTER_S = 3.0  # after the last command: it comes to rest


class PoseDrive:
    """One drive as its poses tell it; see ``cause_fit.ComparedDrive``.

    ``seen`` has speed and yaw rate (2, windows), ``twin`` those of the twin, and ``least_noise``
    the least noise of each.
    """

    least_noise = _LEAST_NOISE

    def __init__(self, twin: Twin, values: Values, run: Run) -> None:
        """Raises errors.NotHeldFault for a drive with too few poses."""
        self._twin, self._values, self._run = twin, values, run
        o = run.odometry
        step_s = float(np.median(np.diff(o.t_s))) if len(o.t_s) > 1 else np.inf
        begin_s, end_s = float(run.commands.t_s[0]), float(run.commands.t_s[-1]) + _AFTER_S
        self._edges_s = np.arange(
            begin_s, min(end_s, float(o.t_s[-1])), max(WINDOW_S, _PER_WINDOW * step_s)
        )
        if len(self._edges_s) <= _LEAST_WINDOWS:
            raise NotHeldFault(
                "the drive has too few poses to look for a cause",
                expected=f"{_LEAST_WINDOWS + 1} of them, {WINDOW_S:g} s apart or more",
                got=f"{len(self._edges_s)}",
            )
        seen = self.seen = self._motion(Poses(o.x_m, o.y_m, o.yaw_rad))
        own = self.twin = self._motion(self._poses(None, 0.0))
        noise = np.maximum([roughness(row) for row in seen - own], _LEAST_NOISE)
        self.measured, self.own = seen.ravel(), own.ravel()
        self.noise = np.repeat(noise, seen.shape[1])
        bias = np.zeros(seen.shape)
        bias[1] = _BIAS_RADPS
        self.constants = [bias.ravel()]

    def can_have(self, cause: SingleCause) -> bool:
        """Return whether such poses could show the cause: a gyro is not in them.

        How far it rolls per count is the same as how strong it is where no counts are followed.
        """
        if cause.name == "brake":
            return self._twin.has_loop  # what drives by H-bridges has none of its own
        of_speed = "strength" if self._twin.has_loop else "wheels"
        return cause.name not in (GYRO, of_speed)

    def simulated(self, cause: SingleCause, amount: float) -> Floats:
        """Return the motion of the twin if it differs by this."""
        return self._motion(self._poses(cause, amount)).ravel()

    def _poses(self, cause: SingleCause | None, amount: float) -> Poses:
        values, run = dict(self._values), self._run
        if cause and cause.name == COMMAND_DELAY:
            values["queue_delay_s"] += amount
        tuned = self._twin.tuned(values)
        way = self._twin.drive(
            cause.change(tuned, amount) if cause else tuned,
            commands_in_effect(run, values),
            run.odometry.t_s,
            STEP_S,
            is_ramped=run.commands.is_ramped,
            brakes=run.commands.brakes,
        )
        return as_odometry(way, run.start_pose(), values["mount_yaw_rad"], values["mount_x_m"])

    def _motion(self, poses: Poses) -> Floats:
        """Return speed along its own heading and yaw rate (2, windows)."""
        t_s, edges = self._run.odometry.t_s, self._edges_s
        x, y, yaw = (np.interp(edges, t_s, it) for it in (poses.x_m, poses.y_m, poses.yaw_rad))
        middle = 0.5 * (yaw[1:] + yaw[:-1])
        along_m = np.cos(middle) * np.diff(x) + np.sin(middle) * np.diff(y)
        return np.asarray(np.array([along_m, np.diff(yaw)]) / (edges[1] - edges[0]))
