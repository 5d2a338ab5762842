"""The schema of vehicle files: every table, key, unit and range. The reader walks these tables.

Keys that become a parameter of the car's program take their range from the program's own table.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.core.settings.params import CHANNELS, TABLE
from firmware.protocol import codes
from host_bridge.core import Actuator, Cause, Fault, Profile, Sender
from sim_mock.files.keys import REQUIRED, Key, choice, flag, names, number

STOP_CAUSES = tuple(cause.name.lower() for cause in Cause)
STOP_POLICIES = ("brake", "neutral", "cut")  # in the order of the parameter's values
STEERING_IN_STOP = ("follow", "hold", "centre")  # likewise

FAULTS = tuple(fault.name.lower() for fault in Fault)
PROFILES = tuple(profile.name.lower() for profile in Profile)
SENDERS = tuple(sender.name.lower() for sender in Sender)
NEEDS = ("no", "optional", "required")  # by the parameter's value


@dataclass(frozen=True)
class StopSourceKind:
    """The properties of a stop source that are the same on all vehicles."""

    id: int
    kind: int  # the parameter's value: STOP_SOURCE_ of firmware.protocol.codes
    is_human: bool


STOP_SOURCES = {
    "runstop_loop": StopSourceKind(0, codes.STOP_SOURCE_LOOP, True),
    "rc": StopSourceKind(1, codes.STOP_SOURCE_RC, True),
    "owner": StopSourceKind(2, codes.STOP_SOURCE_LINK, False),
    "seat": StopSourceKind(3, codes.STOP_SOURCE_LINK, True),
    "runstop_box": StopSourceKind(codes.STOP_SOURCE_RUNSTOP_BOX, codes.STOP_SOURCE_PAIRED, True),
    "fleet": StopSourceKind(5, codes.STOP_SOURCE_LINK, False),
    "external": StopSourceKind(6, codes.STOP_SOURCE_LINK, False),  # a program that only stops
}

# The ids of the sources are the same on all vehicles, because one frame drives several cars.
SOURCE_IDS = {
    "rc": codes.SOURCE_RC,  # the receiver on the board
    "seat": 1,  # a person at a keyboard that reports release
    "gamepad": 2,
    "script": 3,  # a file or a program, for virtual cars, under a scripted deadman
    "ros2": 4,
    "seat_slow": 5,  # a person at a terminal that does not report release
    "devkit": 6,  # an AutoDRIVE Devkit script
    "remote": 7,  # a person who looks at a screen, from afar
    "offboard": 8,  # a MAVLink program's velocities
}
ACTUATOR_BITS = {actuator.name.lower(): 1 << actuator for actuator in Actuator}
ON_SILENCE = ("stop", "yield")
CHANNEL_KINDS = (
    "none",
    "servo_steering",
    "esc",
    "h_bridge",
    "brake_servo",
    "level",
)  # by the parameter's value
CHANNEL_COUNT = CHANNELS

PARAMETERS = {row[0]: row for row in TABLE}


def compiled(name: str, parameter: str, scale: float, default: object = REQUIRED) -> Key:
    """Return the key of a number that is the parameter divided by ``scale``, within its range."""
    low, high = PARAMETERS[parameter][3:5]
    return Key(name, "number", low / scale, high / scale, (), default, parameter, scale)


TABLES: dict[str, tuple[Key, ...]] = {
    "": (
        Key("base", "text", default=""),
        Key("without", "texts", default=()),
        Key("title", "text"),
        Key("unwired", "text", default=""),
        Key("wired_as", "text", default=""),
        Key("calibration", "text", default=""),  # of a twin of a real car
    ),
    "geometry": (
        compiled("wheelbase_m", "wheelbase_um", 1e6),
        number("track_m", 0.01, 3.0),
        number("wheel_radius_m", 0.005, 1.0),
        # road-wheel angle of the rear axle over the front's: -1 is counter-phase, 0 is fixed
        number("rear_steer_ratio", -1.0, 1.0, default=0.0),
    ),
    "limits": (
        compiled("speed_max_mps", "speed_max_mm_s", 1e3),
        compiled("reverse_max_mps", "reverse_max_mm_s", 1e3),
        compiled("accel_mps2", "accel_mm_s2", 1e3),
        compiled("decel_mps2", "decel_mm_s2", 1e3),
        compiled("jerk_mps3", "jerk_mm_s3", 1e3),
        compiled("brake_jerk_mps3", "brake_jerk_mm_s3", 1e3),
        compiled("lateral_accel_mps2", "lateral_accel_mm_s2", 1e3),
        compiled("steer_max_rad", "steer_max_urad", 1e6),
        compiled("steer_rate_radps", "steer_rate_urad_s", 1e6),
        choice("steer_with_nobody", ("hold", "centre")),
        compiled("temperature_max_c", "temperature_max_c", 1, default=0.0),  # 0: no sensor
    ),
    "stop": (
        Key("sources", "table"),
        choice("profile", PROFILES[1:]),  # any but "stand", which is never a default
        names("may_arm", SENDERS),
        names("may_clear", SENDERS),
        choice("policy", STOP_POLICIES),
        Key("policies", "table", default={}),
        Key("fault_policies", "table", default={}),
        choice("steering", STEERING_IN_STOP),
        names(
            "aux", tuple(ACTUATOR_BITS)[3:], may_be_none=True
        ),  # actuators that a claim may set while the car is not armed, too
        compiled("stand_s", "stand_ms", 1e3),
        compiled("brake_decel_mps2", "brake_decel_mm_s2", 1e3),
        compiled("timeout_s", "stop_timeout_ms", 1e3),
        compiled("loop_brake_s", "loop_brake_ms", 1e3, default=0.0),
        compiled("standstill_mps", "standstill_mm_s", 1e3),
        compiled("standstill_s", "standstill_ms", 1e3),
        compiled("frozen_s", "frozen_ms", 1e3),
        compiled("clock_bound_s", "clock_bound_us", 1e6),
        compiled("blind_m", "blind_mm", 1e3),
        number("cut_decel_mps2", 0.01, 20.0),  # the deceleration after a cut
        number("coast_decel_mps2", 0.01, 20.0, default=None),  # without power; None: as in a cut
        number("cut_max_m", 0.1, 100.0),  # the longest allowed way after a cut
    ),
    "stop.policies": tuple(choice(cause, STOP_POLICIES, default=None) for cause in STOP_CAUSES),
    "stop.fault_policies": tuple(choice(fault, STOP_POLICIES, default=None) for fault in FAULTS),
    "profiles": tuple(Key(profile, "table") for profile in PROFILES),
    "drive": (
        compiled("full_effort_mps", "full_effort_mm_s", 1e3),
        compiled("gain_per_mps", "gain_per_m_s", 1e4),
        compiled("gain_per_m", "gain_per_m", 1e4),
        compiled("effort_max", "effort_max", 1e4),
        compiled("brake_effort_max", "brake_effort_max", 1e4),
        compiled("brake_full_mps", "brake_full_mm_s", 1e3, default=30.0),
        compiled("reverse_pause_s", "reverse_pause_ms", 1e3),
        compiled("stuck_s", "stuck_ms", 1e3, default=0.3),  # driven without moving
    ),
    "encoder": (number("counts_per_rev", 1, 1e6), flag("is_signed")),
    "imu": (flag("gyro_fitted"),),
    "battery": (
        compiled("low_v", "battery_low_mv", 1e3),
        compiled("empty_v", "battery_empty_mv", 1e3),
        compiled("brown_out_v", "brown_out_mv", 1e3),
        compiled("limp_mps", "limp_mm_s", 1e3),
    ),
    "timing": (
        compiled("step_s", "step_us", 1e6),
        Key("baud", "integer", 9_600, 12_000_000),
    ),
    "divergence": (
        number("steer_rad", 0.001, 1.0),
        number("speed_mps", 0.01, 10.0),
        number("yaw_rate_radps", 0.01, 10.0),
        number("path_m", 0.01, 100.0),
        choice("on_exceed", ("tell", "stop"), default="tell"),
    ),
}

SOURCE_KEYS = (
    Key("priority", "integer", *PARAMETERS["source_priority"][3:5]),
    names("actuators", tuple(ACTUATOR_BITS)),
    number("lease_s", 0.02, PARAMETERS["source_lease_ms"][4] / 1e3),
    number("speed_cap_mps", 0.0, PARAMETERS["source_cap_mm_s"][4] / 1e3),
    flag("attended"),
    flag("counter"),
    choice("on_silence", ON_SILENCE),
    Key("needs", "text", default=None),  # the attended source whose deadman lets it drive, or
    Key("kill_switch", "text", default=None),  # the stop source that has to be present
    number("repress_s", 0.0, PARAMETERS["source_repress_ms"][4] / 1e3, default=0.0),
)

STOP_SOURCE_KEYS = (
    *(choice(profile, NEEDS, default="no") for profile in PROFILES),
    number("silence_s", 0.02, 1.0, default=0.25),
    choice("policy", STOP_POLICIES, default="brake"),
)
ACCEPTED_COAST_KEYS = (number("distance_m", 0.1, 100.0), Key("reason", "text"))
PROFILE_KEYS = (number("speed_cap_mps", 0.0, PARAMETERS["profile_cap_mm_s"][4] / 1e3),)

# The receiver on the board: right or backward or off, centre, left or forward or on
RC_CHANNELS = ("steering_us", "throttle_us", "live_man_us", "mode_us")
RC_KEYS = (
    *(Key(name, "pulses") for name in RC_CHANNELS[:3]),
    Key("mode_us", "pulses", default=[0, 0, 0]),  # stop, manual, autonomy; without: manual
    number("dead_band", 0.0, 0.3, default=0.05),
)

_NAME = Key("name", "text")
_PULSE_MAX_US = PARAMETERS["channel_high"][4] / 1e3
CHANNEL_KEYS: dict[str, tuple[Key, ...]] = {
    "none": (_NAME,),
    "servo_steering": (
        _NAME,
        choice("axle", ("front", "rear")),
        choice("side", ("left", "centre", "right")),
        number("low_us", 0, _PULSE_MAX_US),
        number("high_us", 0, _PULSE_MAX_US),
        Key("points", "points"),
        number("trim_us", -200, 200, default=0.0),
    ),
    "esc": (
        _NAME,
        number("reverse_us", 0, _PULSE_MAX_US),
        number("neutral_us", 0, _PULSE_MAX_US),
        number("forward_us", 0, _PULSE_MAX_US),
    ),
    "h_bridge": (_NAME, number("duty_max", 0.01, 1.0)),
    "brake_servo": (
        _NAME,
        number("released_us", 0, _PULSE_MAX_US),
        number("full_us", 0, _PULSE_MAX_US),
    ),
    "level": (  # what a claim sets from 0 to 255: a horn, a winch, a lamp
        _NAME,
        choice("actuator", tuple(ACTUATOR_BITS)[3:]),
        number("off_us", 0, _PULSE_MAX_US),
        number("full_us", 0, _PULSE_MAX_US),
    ),
}
