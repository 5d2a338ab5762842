"""A program's velocities at a station: SET_POSITION_TARGET_LOCAL_NED to setpoints. No I/O.

Only velocities along the car's own axis are followed, with a yaw rate: a car cannot go sideways,
and where north is only its user knows.
"""

from __future__ import annotations

import math
from typing import Any

from host_bridge.core import NEUTRAL_US, DriveCommand, InputLimits, Vehicle
from host_bridge.station.mavlink.messages.dialect import mavlink
from host_bridge.station.mavlink.messages.frames import left

SOURCE = "offboard"  # of the vehicle file
_BODY_FRAMES = (
    mavlink.MAV_FRAME_BODY_NED,
    mavlink.MAV_FRAME_BODY_OFFSET_NED,
    mavlink.MAV_FRAME_BODY_FRD,
)
_NO_VELOCITY: int = (
    mavlink.POSITION_TARGET_TYPEMASK_VX_IGNORE | mavlink.POSITION_TARGET_TYPEMASK_VY_IGNORE
)
_NO_YAW_RATE: int = mavlink.POSITION_TARGET_TYPEMASK_YAW_RATE_IGNORE
_SLOWEST_MPS = 0.05  # below it no steering makes the yaw rate: the wheels stay straight
_COUNT_MASK = 0xFFFF
ONLY_BODY = "Only velocities in a body frame are followed: vx along the car, and a yaw rate."
NOT_A_NUMBER = "A velocity that is no number is not followed."


class OffboardProgram:
    """The newest velocity of a program. Times are the host's, in us.

    Its own deadman, for virtual cars, is its stream: held once it was fresh for a moment.
    """

    def __init__(self, vehicle: Vehicle, limits: InputLimits, lease_us: int) -> None:
        self._turns_m = vehicle.wheelbase_m - vehicle.turns_ahead_m
        self._limits = limits
        self._lease_us = lease_us
        self.cap_mps: float | None = None  # of the station's invitation
        self._speed_mps = self._yaw_rate = 0.0
        self._heard_us: int | None = None
        self._since_us: int | None = None  # since when its stream is fresh
        self._count = 0

    def hear(self, message: Any, now_us: int) -> str:
        """Take a message; return why it is not followed, "" if it is."""
        if message.coordinate_frame not in _BODY_FRAMES or message.type_mask & _NO_VELOCITY:
            return ONLY_BODY
        yaw_rate = 0.0 if message.type_mask & _NO_YAW_RATE else message.yaw_rate
        if not (math.isfinite(message.vx) and math.isfinite(yaw_rate)):
            return NOT_A_NUMBER
        self._speed_mps, self._yaw_rate = message.vx, left(yaw_rate)
        self._heard_us = now_us
        self._count = self._count + 1 & _COUNT_MASK
        return ""

    def let_go(self) -> None:
        """Require the stream to be fresh for a moment before it holds again."""
        self._since_us = None

    def step(self, now_us: int, *, is_permitted: bool | None) -> DriveCommand:
        """Return the command of this moment.

        ``is_permitted`` is the person's word; None: there is none, and the stream itself holds.
        """
        is_fresh = self._heard_us is not None and now_us - self._heard_us < self._lease_us
        if not is_fresh:
            self._since_us = None
        elif self._since_us is None:
            self._since_us = now_us
        lasts = self._since_us is not None and now_us - self._since_us >= NEUTRAL_US
        return DriveCommand(
            steer_rad=self._steer_rad(),
            speed_mps=self._clamped(self._speed_mps),
            is_held=lasts and is_permitted is not False,
            input_count=self._count,
            heard_us=self._heard_us,
        )

    def _clamped(self, speed_mps: float) -> float:
        cap_mps = math.inf if self.cap_mps is None else self.cap_mps
        forward_mps = min(self._limits.speed_mps, cap_mps)
        return max(-min(self._limits.reverse_mps, cap_mps), min(speed_mps, forward_mps))

    def _steer_rad(self) -> float:
        speed_mps = self._clamped(self._speed_mps)
        if abs(speed_mps) < _SLOWEST_MPS:
            return 0.0
        steer_rad = math.atan(self._turns_m * self._yaw_rate / speed_mps)
        return max(-self._limits.steer_rad, min(steer_rad, self._limits.steer_rad))
