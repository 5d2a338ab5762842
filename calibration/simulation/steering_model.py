"""The steering map that a fit may find: from a commanded share of full lock to the wheels' share.

    share(u) = (1 + asymmetry * sign(u)) * (gain * u + (lock - gain) * u |u|),   u = command - trim

Near straight ahead the slope is ``gain``, at full lock on either side the wheels reach ``lock``; a
progressive linkage lies between. Left and right may differ. Beyond full lock, and where the curve
would turn back, the wheels stay: that is the end stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.simulation.plant_numbers import Values

STEERING_PARAMETERS = ("steer_trim_norm", "steer_gain", "steer_lock_ratio", "steer_asymmetry")
_RISE = 1e-4  # slope at the end stop: a curve that is inverted has to rise strictly


def wheel_shares(command_norm: npt.ArrayLike, values: Values) -> npt.NDArray[np.float64]:
    """Return the wheels' angles as shares of the commanded full lock, rising with the command."""
    off = np.asarray(command_norm, float) - values["steer_trim_norm"]
    amount = np.minimum(np.abs(off), 1.0)
    gain, lock = values["steer_gain"], values["steer_lock_ratio"]
    if lock < 0.5 * gain:  # the slope is 0 before full lock
        amount = np.minimum(amount, 0.5 * gain / (gain - lock))
    bent = gain * amount + (lock - gain) * amount**2
    side = np.sign(off)
    return np.asarray((side + values["steer_asymmetry"]) * bent * side**2 + _RISE * off)


def remapped_curve(curve: Any, steer_max_rad: float, values: Values) -> list[list[float]]:
    """Return a servo's curve [[commanded rad, pulse ns], ...] with the wheels' real angles.

    Points are added between those of the given curve, so that straight lines follow the map.
    """
    commanded_rad, pulses_ns = np.array(curve, float).T
    fine_rad = np.interp(
        np.linspace(0.0, len(commanded_rad) - 1.0, POINTS_BETWEEN * (len(commanded_rad) - 1) + 1),
        np.arange(len(commanded_rad)),
        commanded_rad,
    )
    shares = wheel_shares(fine_rad / steer_max_rad, values)
    pulses = np.interp(fine_rad, commanded_rad, pulses_ns)
    found: list[list[float]] = np.column_stack([steer_max_rad * shares, pulses]).tolist()
    return found


POINTS_BETWEEN = 8  # 33 points for 5: 0.2 mrad off where the linkage is most progressive
