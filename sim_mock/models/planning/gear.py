"""Gears: the car only rolls in the direction of its gear.

Numbers are those of autoware_vehicle_msgs/GearCommand.
"""

NONE = 0
NEUTRAL = 1
DRIVE = 2  # 3 to 19 are DRIVE_2 to DRIVE_18
# The numbers of Autoware's GearCommand
REVERSE = 20
REVERSE_2 = 21
PARK = 22
LOW = 23
LOW_2 = 24

FORWARD = frozenset(range(DRIVE, REVERSE)) | {LOW, LOW_2}
BACKWARD = frozenset({REVERSE, REVERSE_2})


def is_held(gear: int, vx_mps: float) -> bool:
    """Return whether the gear forbids the car to move at ``vx_mps`` (park, neutral, none: always).

    A geared model then stops at once, stays where the step began, and reports the deceleration of
    that stop.
    """
    if gear in FORWARD:
        return vx_mps < 0.0
    if gear in BACKWARD:
        return vx_mps > 0.0
    return True


def accel_along_x_mps2(gear: int, accel_mps2: float) -> float:
    """Return the model's acceleration for a command's: in reverse gear it speeds up backwards.

    The simulator's node does this before any model, geared or not; a model itself takes
    accelerations along its x axis.
    """
    if gear == NONE:
        return 0.0
    return -accel_mps2 if gear in BACKWARD else accel_mps2
