"""Builds what a car says as MAVLink messages, each by a function of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from host_bridge.core import BatteryStage, CarMotion, CarStatus, SeenCar, Vehicle
from host_bridge.station.mavlink.messages.dialect import mavlink
from host_bridge.station.mavlink.messages.frames import LocalFrame, Origin, left
from host_bridge.station.mavlink.messages.modes import MANUAL, Mode

_MILLI, _CENTI, _DEG_E7 = 1e3, 1e2, 1e7  # the units of MAVLink's whole numbers
_U16_UNKNOWN, _I16_UNKNOWN, _U8_UNKNOWN = 0xFFFF, 0x7FFF, 0xFF
_U32 = 0xFFFF_FFFF
_UNKNOWN_COVARIANCE = [math.nan, *[0.0] * 20]  # as ODOMETRY has it
_NO_MOTION = CarMotion(0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_WHOLE_TURN = 36_000  # hundredths of a degree
_CELLS = 10  # BATTERY_STATUS.voltages
_WHEELS = 16  # WHEEL_DISTANCE.distance
_CHARGES = {
    BatteryStage.GOOD: mavlink.MAV_BATTERY_CHARGE_STATE_OK,
    BatteryStage.LOW: mavlink.MAV_BATTERY_CHARGE_STATE_LOW,
    BatteryStage.EMPTY: mavlink.MAV_BATTERY_CHARGE_STATE_CRITICAL,
}


@dataclass
class View:
    """The moment of a car that messages are made of. ``elapsed_us`` is since the gateway began."""

    car: SeenCar
    elapsed_us: int = 0
    unix_us: int = 0
    mode: Mode = MANUAL
    frame: LocalFrame = field(default_factory=LocalFrame)
    origin: Origin | None = None
    lost_frames: int = 0

    @property
    def boot_ms(self) -> int:
        """MAVLink's time since start; it wraps after 49 days."""
        return self.elapsed_us // 1000 & _U32

    @property
    def motion(self) -> CarMotion:
        return self.car.motion or _NO_MOTION

    @property
    def speed_mps(self) -> float:
        return self.car.status.speed_mps if self.car.status else 0.0

    @property
    def status(self) -> CarStatus | None:
        return self.car.status

    @property
    def vehicle(self) -> Vehicle | None:
        return self.car.vehicle

    def velocity(self) -> tuple[float, float]:
        """Return the velocity to the north and to the east, in m/s: along the car's axis."""
        yaw_rad = self.frame.yaw(self.motion.yaw_rad)
        return self.speed_mps * math.cos(yaw_rad), self.speed_mps * math.sin(yaw_rad)


def sys_status(view: View) -> Any:
    """Return SYS_STATUS: what is fitted and healthy, the load of the car's program, the battery."""
    inputs, power = view.car.inputs, view.car.power
    motors = mavlink.MAV_SYS_STATUS_SENSOR_MOTOR_OUTPUTS
    battery = mavlink.MAV_SYS_STATUS_SENSOR_BATTERY
    gyro = mavlink.MAV_SYS_STATUS_SENSOR_3D_GYRO
    is_fitted = view.vehicle is not None and view.vehicle.parameters["gyro_fitted"][0] == 1
    present = motors | battery | (gyro if is_fitted else 0)
    healthy = motors if view.status and not view.status.faults else 0
    healthy |= mavlink.MAV_SYS_STATUS_GEOFENCE  # there is none, so none is breached
    healthy |= battery if power and power.stage is BatteryStage.GOOD else 0
    healthy |= gyro if is_fitted and inputs and inputs.has_imu else 0
    load = inputs.takes_us / inputs.beat_us if inputs and inputs.beat_us else 0.0
    return mavlink.MAVLink_sys_status_message(
        present,
        present,
        healthy,
        min(round(load * _MILLI), 1000),
        _millivolts(view),
        -1,
        -1,
        0,
        min(view.lost_frames, _U16_UNKNOWN),
        0,
        0,
        0,
        0,
    )


def _millivolts(view: View) -> int:
    power = view.car.power
    return _U16_UNKNOWN if power is None else min(round(power.battery_v * _MILLI), _U16_UNKNOWN - 1)


def battery(view: View) -> Any:
    """Return BATTERY_STATUS: the whole voltage as its first cell's, and the stage."""
    power = view.car.power
    cells = [_millivolts(view), *[_U16_UNKNOWN] * (_CELLS - 1)]
    charge = _CHARGES.get(power.stage) if power else None
    return mavlink.MAVLink_battery_status_message(
        0,
        mavlink.MAV_BATTERY_FUNCTION_ALL,
        mavlink.MAV_BATTERY_TYPE_UNKNOWN,
        _I16_UNKNOWN,
        cells,
        -1,
        -1,
        -1,
        -1,
        charge_state=mavlink.MAV_BATTERY_CHARGE_STATE_UNDEFINED if charge is None else charge,
    )


def attitude(view: View) -> Any:
    """Return ATTITUDE of a level car."""
    yaw_rad = view.frame.yaw(view.motion.yaw_rad)
    rate = left(view.motion.yaw_rate_radps)
    return mavlink.MAVLink_attitude_message(view.boot_ms, 0.0, 0.0, yaw_rad, 0.0, 0.0, rate)


def local_position(view: View) -> Any:
    """Return LOCAL_POSITION_NED, from where the car started."""
    north, east = view.frame.north_east(view.motion.x_m, view.motion.y_m)
    to_north, to_east = view.velocity()
    return mavlink.MAVLink_local_position_ned_message(
        view.boot_ms, north, east, 0.0, to_north, to_east, 0.0
    )


def odometry(view: View) -> Any:
    """Return ODOMETRY; its frame is NED only where the user gave an origin."""
    north, east = view.frame.north_east(view.motion.x_m, view.motion.y_m)
    return mavlink.MAVLink_odometry_message(
        view.elapsed_us,
        mavlink.MAV_FRAME_LOCAL_FRD if view.origin is None else mavlink.MAV_FRAME_LOCAL_NED,
        mavlink.MAV_FRAME_BODY_FRD,
        north,
        east,
        0.0,
        list(view.frame.quaternion(view.motion.yaw_rad)),
        view.speed_mps,
        0.0,
        0.0,
        0.0,
        0.0,
        left(view.motion.yaw_rate_radps),
        _UNKNOWN_COVARIANCE,
        _UNKNOWN_COVARIANCE,
        estimator_type=mavlink.MAV_ESTIMATOR_TYPE_NAIVE,
    )


def vfr_hud(view: View) -> Any:
    """Return VFR_HUD; the throttle is the share of top speed that is asked for."""
    target = view.status.target_mps if view.status else 0.0
    most_mps = view.vehicle.speed_max_mps if view.vehicle else 0.0
    throttle = round(min(abs(target) / most_mps, 1.0) * _CENTI) if most_mps else 0
    heading = int(view.frame.degrees(view.motion.yaw_rad))
    speed_mps = abs(view.speed_mps)
    return mavlink.MAVLink_vfr_hud_message(speed_mps, speed_mps, heading, throttle, 0.0, 0.0)


def wheels(view: View) -> Any | None:
    """Return WHEEL_DISTANCE, left and right; None before the car has told its motion."""
    if view.vehicle is None or view.car.motion is None:
        return None
    metres = view.vehicle.parameters["nm_per_count"][0] * 1e-9
    sides = [view.motion.count_left * metres, view.motion.count_right * metres]
    rolled = [*sides, *[0.0] * (_WHEELS - len(sides))]
    return mavlink.MAVLink_wheel_distance_message(view.elapsed_us, len(sides), rolled)


def extended_state(view: View) -> Any:
    """Return EXTENDED_SYS_STATE: a car is on the ground."""
    return mavlink.MAVLink_extended_sys_state_message(
        mavlink.MAV_VTOL_STATE_UNDEFINED, mavlink.MAV_LANDED_STATE_ON_GROUND
    )


def system_time(view: View) -> Any:
    """Return SYSTEM_TIME."""
    return mavlink.MAVLink_system_time_message(view.unix_us, view.boot_ms)


def _degrees(view: View) -> tuple[int, int] | None:
    if view.origin is None:
        return None
    north, east = view.frame.north_east(view.motion.x_m, view.motion.y_m)
    place = view.origin.position(north, east)
    return round(place[0] * _DEG_E7), round(place[1] * _DEG_E7)


def global_position(view: View) -> Any | None:
    """Return GLOBAL_POSITION_INT; None without an origin."""
    place = _degrees(view)
    if place is None:
        return None
    north, east = (round(it * _CENTI) for it in view.velocity())
    heading = round(view.frame.degrees(view.motion.yaw_rad) * _CENTI) % _WHOLE_TURN
    return mavlink.MAVLink_global_position_int_message(
        view.boot_ms, *place, 0, 0, north, east, 0, heading
    )


def gps(view: View) -> Any | None:
    """Say that there is no receiver: the place is reckoned from the origin."""
    place = _degrees(view)
    if place is None:
        return None
    unknown = _U16_UNKNOWN
    return mavlink.MAVLink_gps_raw_int_message(
        view.elapsed_us,
        mavlink.GPS_FIX_TYPE_NO_GPS,
        *place,
        0,
        unknown,
        unknown,
        unknown,
        unknown,
        _U8_UNKNOWN,
    )


def home(view: View) -> Any | None:
    """Return HOME_POSITION: the origin; None without one."""
    if view.origin is None:
        return None
    place = (round(it * _DEG_E7) for it in view.origin.position(0.0, 0.0))
    level = [1.0, 0.0, 0.0, 0.0]
    zeros = [0.0] * 3
    return mavlink.MAVLink_home_position_message(*place, 0, *zeros, level, *zeros)


def global_origin(view: View) -> Any | None:
    """Return GPS_GLOBAL_ORIGIN; None without an origin."""
    if view.origin is None:
        return None
    place = (round(it * _DEG_E7) for it in view.origin.position(0.0, 0.0))
    return mavlink.MAVLink_gps_global_origin_message(*place, 0)
