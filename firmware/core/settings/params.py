"""The parameters of a car: the table that the host compiles vehicle files against.

The board stores them as one image: hash of this table, board id within, values, CRC. A row is
(name, unit, how many, lowest, highest, default). Never read one by name inside a step: modules take
what they need in their ``configure``.
"""

from firmware.compat import TYPE_CHECKING, array
from firmware.core.settings.configuration import NAME_SIZE as NAME_SIZE
from firmware.protocol import codes
from firmware.protocol.frame import CRC_SIZE
from firmware.protocol.rows import make_names

if TYPE_CHECKING:
    from firmware.core.settings.configuration import Configuration

# Command sources by their ids, and outputs of a board: as many as the tables below have room for
SOURCES = 16
CHANNELS = 8
CURVE_POINTS = 9  # from full right to full left; with 30 degrees of lock one is 7.5 degrees apart

# Kinds of output channel
(
    CHANNEL_NONE,
    CHANNEL_SERVO,  # steers
    CHANNEL_ESC,
    CHANNEL_H_BRIDGE,
    CHANNEL_BRAKE,  # a servo that pulls a brake: from neutral to high
    CHANNEL_LEVEL,  # anything else that a claim sets: from neutral to high
) = range(6)
STOP_SOURCES = 16
HUMAN_STOP_SOURCES = (0, 1, 3, 4)  # ids: the loop, the receiver, the seat, the runstop box
RC_CHANNELS = 4
RC_STEERING, RC_THROTTLE, RC_LIVE_MAN, RC_MODE = 0, 1, 2, 3

# How to stop; and what the steering does meanwhile
POLICY_BRAKE, POLICY_NEUTRAL, POLICY_CUT = 0, 1, 2
STEERS_ON, STEERING_HELD, STEERING_CENTRED = 0, 1, 2

BLIND_MAX_MM = 1_000  # and never farther than two wheelbases

_NS = 3_000_000  # no servo or ESC pulse is longer than 3 ms

TABLE = (
    ("board_id", "", 4, 0, 65535, 0),  # 16 bits each; the board refuses another board's numbers
    ("step_us", "us", 1, 1_000, 20_000, 10_000),
    ("start_ms", "ms", 1, 0, 10_000, 1_000),  # in neutral after power-up; ESCs arm in it
    ("motion_every", "steps", 1, 1, 100, 1),
    # how it stops
    ("stop_policy", "", codes.CAUSE_COUNT, 0, 2, POLICY_BRAKE),  # by stop cause
    ("fault_policy", "", codes.FAULT_COUNT, 0, 2, POLICY_CUT),  # by fault
    ("steer_in_stop", "", 1, 0, 2, STEERS_ON),
    ("aux_in_stop", "actuator bits", 1, 0, 255, 0),  # a claim sets these while not armed, too
    # who can stop it, by stop source id; then by profile and stop source
    ("stop_source_kind", "", STOP_SOURCES, 0, 4, codes.STOP_SOURCE_NONE),
    ("stop_source_silence_ms", "ms", STOP_SOURCES, 20, 1_000, 250),
    ("stop_source_policy", "", STOP_SOURCES, 0, 2, POLICY_BRAKE),
    ("stop_source_need", "", codes.PROFILE_COUNT * STOP_SOURCES, 0, 2, codes.NOT_NEEDED),
    ("profile_default", "", 1, 0, 2, codes.PROFILE_TRACK),
    ("profile_cap_mm_s", "mm/s", codes.PROFILE_COUNT, 0, 30_000, 0),
    ("stand_ms", "ms", 1, 1_000, 300_000, 60_000),  # the longest time off the ground
    ("may_arm", "bits by sender", 1, 0, 127, 0),
    ("may_clear", "bits by sender", 1, 0, 127, 0),
    ("stop_timeout_ms", "ms", 1, 100, 10_000, 3_000),
    # from the runstop loop's opening, where an off-delay keeps the drive's power: 0 cuts at once
    ("loop_brake_ms", "ms", 1, 0, 600, 0),
    ("brake_decel_mm_s2", "mm/s^2", 1, 100, 20_000, 2_000),
    ("standstill_mm_s", "mm/s", 1, 1, 500, 30),
    ("standstill_ms", "ms", 1, 10, 1_000, 50),
    ("frozen_ms", "ms", 1, 50, 1_000, 200),
    ("clock_bound_us", "us", 1, 1_000, 30_000, 10_000),
    ("blind_mm", "mm", 1, 10, 10_000, 100),
    # limits
    ("speed_max_mm_s", "mm/s", 1, 10, 30_000, 300),
    ("reverse_max_mm_s", "mm/s", 1, 0, 30_000, 0),
    ("accel_mm_s2", "mm/s^2", 1, 50, 30_000, 1_000),
    ("decel_mm_s2", "mm/s^2", 1, 50, 30_000, 2_000),
    ("jerk_mm_s3", "mm/s^3", 1, 1_000, 1_000_000, 20_000),
    ("brake_jerk_mm_s3", "mm/s^3", 1, 1_000, 1_000_000, 100_000),
    ("limp_mm_s", "mm/s", 1, 0, 30_000, 30_000),  # the cap while the battery is low
    ("steer_max_urad", "urad", 1, 10_000, 1_000_000, 300_000),
    ("steer_rate_urad_s", "urad/s", 1, 10_000, 50_000_000, 3_000_000),
    ("lateral_accel_mm_s2", "mm/s^2", 1, 100, 30_000, 4_000),
    ("wheelbase_um", "um", 1, 10_000, 5_000_000, 300_000),
    ("steer_centres", "", 1, 0, 1, 0),  # when nobody steers: 0 holds, 1 centres
    # drive
    ("full_effort_mm_s", "mm/s", 1, 10, 60_000, 1_000),  # speed at effort 10000
    ("gain_per_m_s", "effort per m/s", 1, 0, 100_000, 2_000),
    ("gain_per_m", "effort per m/s per s", 1, 0, 100_000, 2_000),
    ("correction_max", "1/10000", 1, 100, 10_000, 1_500),  # of the loop, beyond the feed-forward
    ("effort_max", "1/10000", 1, 100, 10_000, 10_000),
    ("brake_effort_max", "1/10000", 1, 0, 10_000, 5_000),
    ("brake_full_mm_s", "mm/s", 1, 100, 30_000, 30_000),  # faster, that effort would lock wheels
    ("reverse_pause_ms", "ms", 1, 0, 2_000, 300),  # neutral before the other direction
    # measuring
    ("stuck_effort", "1/10000", 1, 100, 10_000, 1_500),  # that must move the wheels ...
    ("stuck_ms", "ms", 1, 100, 2_000, 300),  # ... within this time
    ("too_fast_ms", "ms", 1, 50, 1_000, 200),
    ("runaway_mm_s", "mm/s", 1, 50, 5_000, 500),  # beyond the target, and not slowing down
    ("nm_per_count", "nm", 1, 1_000, 100_000_000, 100_000),
    ("encoder_signed", "", 1, 0, 1, 1),
    ("gyro_fitted", "", 1, 0, 1, 0),
    ("battery_low_mv", "mV", 1, 0, 60_000, 0),
    ("battery_empty_mv", "mV", 1, 0, 60_000, 0),
    ("brown_out_mv", "mV", 1, 0, 60_000, 0),
    ("temperature_max_c", "degrees C", 1, 0, 200, 0),  # 0: there is no sensor
    ("curvature_per_10km", "1/10 km", CURVE_POINTS, -85_000, 85_000, 0),
    # sources, by source id; a mask of 0 is a source that this car does not know
    ("source_mask", "actuator bits", SOURCES, 0, 255, 0),
    ("source_priority", "", SOURCES, 0, 255, 0),
    ("source_lease_ms", "ms", SOURCES, 0, 1_000, 0),
    ("source_cap_mm_s", "mm/s", SOURCES, 0, 30_000, 0),
    ("source_flags", "bits", SOURCES, 0, 3, 0),
    ("source_on_silence", "", SOURCES, 0, 1, 0),
    ("source_needs", "source id", SOURCES, 0, 255, codes.NOBODY),
    ("source_kill_switch", "stop source id", SOURCES, 0, 255, codes.NOBODY),
    ("source_repress_ms", "ms", SOURCES, 0, 300_000, 0),  # how long a deadman counts; 0: for ever
    # the receiver on the board: steering, throttle, live-man, mode; all 0 is a channel not there
    ("rc_fitted", "", 1, 0, 1, 0),
    ("rc_low_us", "us", RC_CHANNELS, 0, 2_200, 0),
    ("rc_centre_us", "us", RC_CHANNELS, 0, 2_200, 0),
    ("rc_high_us", "us", RC_CHANNELS, 0, 2_200, 0),
    ("rc_dead_band", "1/1000", 1, 0, 300, 50),
    # output channels
    ("channel_kind", "", CHANNELS, 0, 5, 0),
    ("channel_actuator", "", CHANNELS, 0, 7, 0),  # of a level
    ("channel_low", "ns or 1/10000", CHANNELS, -10_000, _NS, 0),
    ("channel_neutral", "ns or 1/10000", CHANNELS, -10_000, _NS, 0),
    ("channel_high", "ns or 1/10000", CHANNELS, -10_000, _NS, 0),
    ("channel_curve", "ns", CHANNELS * CURVE_POINTS, 0, _NS, 0),
)


class Params:
    """The values in table order, to be read by name by whoever configures.

    They are the values ``held`` by a car that has some, and otherwise the defaults.
    """

    def __init__(self, held: "Configuration | None" = None) -> None:
        self.values: "list[int]" = held.values if held else []
        self.car_name = held.car_name if held else bytearray(NAME_SIZE)
        self.config_hash = held.config_hash if held else bytearray(CRC_SIZE)
        self._names = make_names(TABLE)
        # Of each row, and where the last one ends; a dict of the names would be the largest block
        # of a load, for which a paired car has no room
        self._starts = array("H", bytes(2 * len(self._names) + 2))
        has_values = len(self.values) > 0
        row = self.size = 0
        for _name, _unit, many, _low, _high, default in TABLE:
            row += 1
            self.size += many
            self._starts[row] = self.size
            if not has_values:
                self.values.extend([default] * many)

    def get(self, name: str) -> int:
        return self.values[self.index(name)]

    def get_all(self, name: str) -> "list[int]":
        row = self._names.index(name)
        return self.values[self._starts[row] : self._starts[row + 1]]

    def index(self, name: str) -> int:
        return self._starts[self._names.index(name)]
