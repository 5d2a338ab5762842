"""The service for configurations of cars: read, write, commit and read back.

The values in which one car differs from its vehicle file are kept with its pairing, so that the
car is still recognised by its configuration.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from host_bridge.config import boards, image_of, parameter_count
from host_bridge.config.store.pairings import Pairing, Pairings
from host_bridge.config.store.vehicles import Vehicles
from host_bridge.core import CarIdentity, State, Vehicle
from host_bridge.core.codes import BoxPairing
from host_bridge.core.errors import NotHeldFault, UsageFault, VehicleFileFault
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services.parameter_dialogue import ParameterDialogue, Progress

# The image (firmware.core.settings.params): table hash, values of 4 bytes, name, hash of all of it
_TABLE_HASH_SIZE, _NAME_SIZE, _HASH_SIZE = 4, 16, 4
_STARTS_WITHIN_S = 12.0  # more than the longest neutral time that a vehicle file may require


@dataclass(frozen=True)
class AdjustableValue:
    """The key of a value in a vehicle file, and the firmware parameters that follow from it.

    ``scale`` times the first parameter is the file's value. ``is_most``: a car may have less than
    its file and never more, for the program on its board was made for the file's.
    """

    key: str
    parameters: tuple[str, ...]
    scale: float
    is_most: bool = False

    def refuse_more(self, file: Vehicle, name: str, value: float) -> None:
        """Raises errors.UsageFault where this car may not have as much."""
        most = file.parameters[self.parameters[0]][0] * self.scale
        if self.is_most and value > most + self.scale / 2:
            raise UsageFault(
                f"{name} of one car is at most its vehicle file's",
                expected=f"up to {most:g}",
                got=f"{value:g}",
                remedy="change the vehicle file, and flash the car: tandem flash",
            )


# The values in which one car may differ from its vehicle file, by name: how it answers, and when
# its battery is low. What decides how far it goes without its program is the file's alone.
ADJUSTABLE = {
    "step_s": AdjustableValue("timing.step_s", ("step_us", "motion_every"), 1e-6),
    "accel_mps2": AdjustableValue("limits.accel_mps2", ("accel_mm_s2",), 1e-3, is_most=True),
    "decel_mps2": AdjustableValue("limits.decel_mps2", ("decel_mm_s2",), 1e-3),
    "steer_rate_radps": AdjustableValue("limits.steer_rate_radps", ("steer_rate_urad_s",), 1e-6),
    "gain_per_mps": AdjustableValue("drive.gain_per_mps", ("gain_per_m_s",), 1e-4),
    "gain_per_m": AdjustableValue("drive.gain_per_m", ("gain_per_m",), 1e-4),
    "low_v": AdjustableValue("battery.low_v", ("battery_low_mv",), 1e-3),
}


class Configurations:
    """The service that reads and writes the configurations of open cars."""

    def __init__(self, vehicles: Vehicles, pairings: Pairings) -> None:
        self._vehicles = vehicles
        self._pairings = pairings

    async def read(self, opened: OpenCar, progress: Progress) -> list[int]:
        """Read all parameters, in the order of the table. Raises errors.TandemError."""
        return await ParameterDialogue(opened).read(parameter_count(), progress)

    async def write(
        self, opened: OpenCar, vehicle: Vehicle, car_name: str, progress: Callable[[str], Progress]
    ) -> int:
        """Give a bound car this vehicle's configuration and this name; read all of it back.

        Returns how many parameters changed. A car that was just switched on is waited for. Raises
        errors.TandemError; errors.UsageFault for a name too long.
        """
        values = self.values(vehicle, opened.identity, car_name)
        dialogue = ParameterDialogue(opened)
        self._vehicles.remember(vehicle, opened.identity.board_id, car_name)  # before it reports it
        await opened.until(partial(_has_started, opened), _STARTS_WITHIN_S)
        changed = await dialogue.write(values, progress("written"))
        await dialogue.commit(vehicle, opened.identity, car_name)
        if await dialogue.read(len(values), progress("read back")) != values:
            raise NotHeldFault("what was read back is not what was written", where=opened.uri)
        return changed

    def values(self, vehicle: Vehicle, identity: CarIdentity, car_name: str) -> list[int]:
        """Return all parameters of a car of this vehicle, on its board, in the order of the table.

        Raises errors.UsageFault for a name of more than 16 bytes.
        """
        try:
            image = image_of(vehicle, identity.board_id, car_name)
        except ValueError as error:
            raise UsageFault(str(error), remedy="give a shorter --name") from None
        body = image[_TABLE_HASH_SIZE : -_NAME_SIZE - _HASH_SIZE]
        return list(struct.unpack(f"<{len(body) // 4}i", body))

    async def adjust(
        self,
        opened: OpenCar,
        changes: Mapping[str, float],
        progress: Callable[[str], Progress],
        vehicle: Vehicle | None = None,
        name: str | None = None,
    ) -> tuple[Vehicle, int]:
        """Change values in which a bound car differs from its file, read all back, and keep them.

        ``changes`` are values by the names of ``ADJUSTABLE``. Returns the vehicle as this car is,
        and how many parameters changed. Raises errors.TandemError.
        """
        file = vehicle or opened.vehicle
        wanted = self._changed(file, changes)
        name = name or opened.identity.car_name or file.name
        before = await self.pairing_for(opened, file, name)
        trim = changed_from_file(before.trim, file, wanted, tuple(changes))
        known = replace(before, car_name=name, trim=trim)
        return known.of(file), await self.write_and_keep(
            opened, known.of(file), name, (before, known), progress
        )

    async def calibrate(
        self,
        opened: OpenCar,
        file: Vehicle,
        calibrated: Vehicle,
        progress: Callable[[str], Progress],
    ) -> int:
        """Write the parameters in which ``calibrated`` differs from its file, and keep them.

        The values of ``ADJUSTABLE`` stay; an earlier trim or calibration does not, for a
        calibration starts from the file's steering. Returns how many parameters changed. Raises
        errors.TandemError.
        """
        name = opened.identity.car_name or file.name
        before = await self.pairing_for(opened, file, name)
        own = {row for place in ADJUSTABLE.values() for row in place.parameters}
        kept = {row: values for row, values in before.trim.items() if row in own}
        found = {
            row: list(values)
            for row, values in calibrated.parameters.items()
            if values != file.parameters[row] and row not in own
        }
        known = replace(before, trim={**kept, **found})
        return await self.write_and_keep(opened, known.of(file), name, (before, known), progress)

    async def write_and_keep(
        self,
        opened: OpenCar,
        vehicle: Vehicle,
        name: str,
        pairings: tuple[Pairing, Pairing],
        progress: Callable[[str], Progress],
    ) -> int:
        """Write a car's configuration and keep its new pairing; if writing fails, keep the old one.

        ``pairings`` are the one before and the one after. Raises errors.DataFileFault, before the
        car is changed, if nothing can be kept.
        """
        before, after = pairings
        self._pairings.keep(after)  # first: the car's owner looks it up once the car reports it
        try:
            return await self.write(opened, vehicle, name, progress)
        except BaseException:
            self._pairings.keep(before)
            raise

    async def pairing_for(self, opened: OpenCar, vehicle: Vehicle, name: str) -> Pairing:
        """Return the pairing of a bound car, or a new one for a car that this host does not know.

        A new one keeps the control period that its board needs. Raises errors.TandemError;
        errors.UsageFault for a car that is kept as one of another type.
        """
        known = self._pairings.of(opened.identity)
        if known is None:
            on_board = await self.on_its_board(vehicle, opened)
            trim = changed_from_file({}, vehicle, on_board, ("step_s",))
            return replace(Pairing.new(opened.identity, name, vehicle.name), trim=trim)
        if known.vehicle != vehicle.name:
            raise UsageFault(
                f"this host knows that car as a {known.vehicle}, and another type is to be written",
                where=opened.uri,
                expected=f"the configuration of a {known.vehicle}",
                got=f"that of a {vehicle.name}",
                remedy="tandem flash it as what it is now, or tandem restore it",
            )
        return known

    async def on_its_board(self, vehicle: Vehicle, opened: OpenCar) -> Vehicle:
        """Return the vehicle as it is by default on the board of an open car.

        If this host has flashed the board, it knows which one it is; else the car's control period
        tells, where it is one that a board of Tandem's gives. Raises errors.TandemError.
        """
        known = self._pairings.of(opened.identity)
        name = known.flashed.get("board") if known else None
        if known and name in boards.board_names():
            board, release = boards.load_board(name), known.flashed.get("runtime", "")
            return boards.on_board(vehicle, board, release, is_paired=_may_have_key(opened))
        beat_us = await self.beat_us(opened)
        longer = boards.on_known_boards(vehicle)
        return next((it for it in longer if it.parameters["step_us"] == [beat_us]), vehicle)

    async def beat_us(self, opened: OpenCar) -> int:
        """Return the control period in a car's configuration, in us. Raises errors.TandemError."""
        return await ParameterDialogue(opened).beat_us()

    def _changed(self, file: Vehicle, changes: Mapping[str, float]) -> Vehicle:
        for name, value in changes.items():
            ADJUSTABLE[name].refuse_more(file, name, value)
        try:
            return self._vehicles.load(
                file.path, {ADJUSTABLE[name].key: value for name, value in changes.items()}
            )
        except VehicleFileFault as fault:  # without its place: it is not in the file
            raise UsageFault(fault.what, expected=fault.expected, got=fault.got) from None


def changed_from_file(
    trim: Mapping[str, list[int]], file: Vehicle, wanted: Vehicle, names: Sequence[str]
) -> dict[str, list[int]]:
    """Return the parameters that differ from the file's, with those of ``names`` as ``wanted``."""
    given = {row: wanted.parameters[row] for name in names for row in ADJUSTABLE[name].parameters}
    return {row: v for row, v in {**trim, **given}.items() if v != file.parameters[row]}


def _may_have_key(opened: OpenCar) -> bool:
    """Return whether a car has a runstop box's key, or has not reported that it has none."""
    inputs = opened.car.inputs
    return inputs is None or inputs.pairing is not BoxPairing.NO_KEY


def _has_started(opened: OpenCar) -> bool:
    status = opened.car.status
    return status is not None and status.state is not State.STARTING
