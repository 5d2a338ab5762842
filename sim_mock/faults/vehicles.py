"""What the catalogue needs to know of a vehicle, and a vehicle with a number changed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from firmware.core.params import CHANNEL_BRAKE, CHANNEL_ESC, CHANNEL_H_BRIDGE, STOP_SOURCES
from firmware.protocol import codes
from sim_mock.world import VehicleFacts

LEASE_MS = 120  # what firmware/core/SAFETY.md counts with
_DRIVER_FLAGS = codes.SOURCE_ATTENDED | codes.SOURCE_HAS_COUNTER
_MOTORS = (CHANNEL_ESC, CHANNEL_H_BRIDGE)


class Altered(NamedTuple):
    """A vehicle whose car has other parameters."""

    name: str
    plant: Mapping[str, Any]
    channels: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Sequence[int]]


def altered(vehicle: VehicleFacts, changes: Mapping[str, int]) -> VehicleFacts:
    """The vehicle, with these parameters in place of its own."""
    if not changes:
        return vehicle
    parameters = {**vehicle.parameters, **{name: [value] for name, value in changes.items()}}
    return Altered(vehicle.name, vehicle.plant, vehicle.channels, parameters)


def driver_of(vehicle: VehicleFacts) -> int:
    """The attended source with the best priority whose device numbers its reports."""
    flags, priorities = (vehicle.parameters["source_" + name] for name in ("flags", "priority"))
    return max(
        (i for i, flag in enumerate(flags) if flag == _DRIVER_FLAGS), key=lambda i: priorities[i]
    )


def lease_ms(vehicle: VehicleFacts, source: int | None = None) -> int:
    """How long its claims last."""
    chosen = driver_of(vehicle) if source is None else source
    return min(LEASE_MS, vehicle.parameters["source_lease_ms"][chosen])


def motors_of(vehicle: VehicleFacts) -> list[int]:
    """The channels that drive."""
    return [i for i, kind in enumerate(vehicle.parameters["channel_kind"]) if kind in _MOTORS]


def has_brake(vehicle: VehicleFacts) -> bool:
    """A brake that is not its motor."""
    return CHANNEL_BRAKE in vehicle.parameters["channel_kind"]


def rolls_free(vehicle: VehicleFacts) -> bool:
    """Whoever pushes it turns its motor; an H-bridge at rest holds it."""
    return CHANNEL_H_BRIDGE not in vehicle.parameters["channel_kind"]


def brakes_by_motor(vehicle: VehicleFacts) -> bool:
    """Its encoders tell the direction: only then its motor may brake."""
    return vehicle.parameters["encoder_signed"][0] == 1


def brakes_by_esc_alone(vehicle: VehicleFacts) -> bool:
    """An ESC without power coasts: such a car gains by an off-delay of its runstop circuit."""
    kinds = vehicle.parameters["channel_kind"]
    is_esc_alone = CHANNEL_ESC in kinds and not has_brake(vehicle) and "vesc" not in vehicle.plant
    return is_esc_alone and brakes_by_motor(vehicle)


def has_rc(vehicle: VehicleFacts) -> bool:
    """A receiver on the board."""
    return vehicle.parameters["rc_fitted"][0] == 1


def needs_rc_to_race(vehicle: VehicleFacts) -> bool:
    """The profile race takes a live transmitter."""
    kinds = vehicle.parameters["stop_source_kind"]
    needs = vehicle.parameters["stop_source_need"][codes.PROFILE_RACE * STOP_SOURCES :]
    pairs = zip(kinds, needs, strict=False)
    return (codes.STOP_SOURCE_RC, codes.REQUIRED) in pairs


# What a case may need of a vehicle: its word, and whether it is there
NEEDS: dict[str, Callable[[VehicleFacts], bool]] = {
    "": lambda _v: True,
    "rc": has_rc,
    "rc to race": needs_rc_to_race,
    "thermometer": lambda v: v.parameters["temperature_max_c"][0] > 0,
    "direction": brakes_by_motor,
    "rolls": rolls_free,
    "off-delay": brakes_by_esc_alone,
}
