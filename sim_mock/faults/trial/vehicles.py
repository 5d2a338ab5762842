"""The properties of a vehicle that the catalogue needs, and vehicles with altered parameters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from firmware.core.settings.params import CHANNEL_BRAKE, CHANNEL_ESC, CHANNEL_H_BRIDGE, STOP_SOURCES
from firmware.protocol import codes
from sim_mock.board.stored_image import VehicleSpec

LEASE_MS = 120  # the lease that firmware/core/SAFETY.md assumes
_DRIVER_FLAGS = codes.SOURCE_ATTENDED | codes.SOURCE_HAS_COUNTER
_MOTORS = (CHANNEL_ESC, CHANNEL_H_BRIDGE)


class AlteredVehicle(NamedTuple):
    """A vehicle whose car has other parameters."""

    name: str
    plant: Mapping[str, Any]
    channels: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Sequence[int]]


def with_parameters(vehicle: VehicleSpec, changes: Mapping[str, int]) -> VehicleSpec:
    """Return the vehicle with these parameters in place of its own."""
    if not changes:
        return vehicle
    parameters = {**vehicle.parameters, **{name: [value] for name, value in changes.items()}}
    return AlteredVehicle(vehicle.name, vehicle.plant, vehicle.channels, parameters)


def driver_of(vehicle: VehicleSpec) -> int:
    """Return the attended source with the best priority whose device numbers its reports."""
    flags, priorities = (vehicle.parameters["source_" + name] for name in ("flags", "priority"))
    return max(
        (i for i, flag in enumerate(flags) if flag == _DRIVER_FLAGS), key=lambda i: priorities[i]
    )


def lease_ms(vehicle: VehicleSpec, source: int | None = None) -> int:
    """Return the lease of the source's claims, by default of the driver's."""
    chosen = driver_of(vehicle) if source is None else source
    return min(LEASE_MS, vehicle.parameters["source_lease_ms"][chosen])


def motors_of(vehicle: VehicleSpec) -> list[int]:
    """Return the channels that drive."""
    return [i for i, kind in enumerate(vehicle.parameters["channel_kind"]) if kind in _MOTORS]


def has_brake(vehicle: VehicleSpec) -> bool:
    """Return whether the vehicle has a brake apart from its motor."""
    return CHANNEL_BRAKE in vehicle.parameters["channel_kind"]


def rolls_free(vehicle: VehicleSpec) -> bool:
    """Return whether the car can be pushed, turning its motor; an H-bridge at rest holds it."""
    return CHANNEL_H_BRIDGE not in vehicle.parameters["channel_kind"]


def brakes_by_motor(vehicle: VehicleSpec) -> bool:
    """Return whether its motor may brake: only if its encoders tell the direction."""
    return vehicle.parameters["encoder_signed"][0] == 1


def brakes_by_esc_alone(vehicle: VehicleSpec) -> bool:
    """Return whether the car has no brake but its ESC.

    An ESC without power coasts: such a car gains by an off-delay of its runstop circuit.
    """
    kinds = vehicle.parameters["channel_kind"]
    is_esc_alone = CHANNEL_ESC in kinds and not has_brake(vehicle) and "vesc" not in vehicle.plant
    return is_esc_alone and brakes_by_motor(vehicle)


def has_rc(vehicle: VehicleSpec) -> bool:
    """Return whether the board has an RC receiver."""
    return vehicle.parameters["rc_fitted"][0] == 1


def needs_rc_to_race(vehicle: VehicleSpec) -> bool:
    """Return whether the profile race requires a live transmitter."""
    kinds = vehicle.parameters["stop_source_kind"]
    needs = vehicle.parameters["stop_source_need"][codes.PROFILE_RACE * STOP_SOURCES :]
    pairs = zip(kinds, needs, strict=False)
    return (codes.STOP_SOURCE_RC, codes.REQUIRED) in pairs


# Requirements of cases by name, and whether a vehicle meets them.
NEEDS: dict[str, Callable[[VehicleSpec], bool]] = {
    "": lambda _v: True,
    "rc": has_rc,
    "rc to race": needs_rc_to_race,
    "thermometer": lambda v: v.parameters["temperature_max_c"][0] > 0,
    "direction": brakes_by_motor,
    "rolls": rolls_free,
    "off-delay": brakes_by_esc_alone,
}
