"""The schemas of a drive's two tables: a driver's commands, and the car's odometry.

``tandem log --csv`` writes both; ``tandem drive --input csv:`` and ``tandem replay`` read them.
"""

from __future__ import annotations

from host_bridge.core.files import TableSchema, choice, number

CHANNELS = ("throttle", "steering")
_TIMES_S = 1e10  # epochs of other clocks are within; only differences count
_APART_M = 1e6  # from where dead reckoning began; more is not in metres
_TURNS_RAD = 1e4  # a yaw that is counted on over many turns

COMMANDS = TableSchema(
    "file of commands",
    (
        number("t_s", -_TIMES_S, _TIMES_S),
        choice("channel", CHANNELS),
        number("value_norm", -1.0, 1.0),
    ),
    rows="commands",
    rising="t_s",
    example="t_s,channel,value_norm / 0.00,steering,0.2 / 0.01,throttle,1.0",
)
ODOMETRY = TableSchema(
    "table of odometry",
    (
        number("header_t_s", -_TIMES_S, _TIMES_S),
        number("x_m", -_APART_M, _APART_M),
        number("y_m", -_APART_M, _APART_M),
        number("yaw_rad", -_TURNS_RAD, _TURNS_RAD),
    ),
    rows="poses",
    rising="header_t_s",
    example="header_t_s,x_m,y_m,yaw_rad / 0.00,0.0,0.0,0.0",
)
