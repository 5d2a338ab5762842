"""The service for configurations of cars: read, write, commit and read back.

The values in which one car differs from its vehicle file are kept with its pairing, so that the
car is still recognised by its configuration. Over the wire a car answers one parameter per step,
and answers may be lost: several requests are under way at once, and unanswered ones are repeated.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from firmware.protocol.codec import Message
from host_bridge.config import (
    boards,
    config_hash,
    image_of,
    parameter_count,
    parameter_index,
    parameter_name,
)
from host_bridge.config.store.pairings import Pairing, Pairings
from host_bridge.config.store.vehicles import Vehicles
from host_bridge.core import CarIdentity, Committed, ParameterReply, State, Vehicle
from host_bridge.core.codes import BoxPairing
from host_bridge.core.errors import (
    DeviceFault,
    NotHeldFault,
    ProtocolFault,
    RefusedFault,
    TandemError,
    UsageFault,
    VehicleFileFault,
)
from host_bridge.link.protocol import parameter_requests
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.sharing.open_car import OpenCar

# The image (firmware.core.settings.params): table hash, values of 4 bytes, name, hash of all of it
_TABLE_HASH_SIZE, _NAME_SIZE, _HASH_SIZE = 4, 16, 4
_WINDOW = 8  # requests under way at once: at 115200 baud they fit into three steps
_AGAIN_S = 0.06  # three times what a car takes to answer on its next step
_TRIES = 50  # consecutive ones without any answer
_COMMIT_AGAIN_S = 1.0  # an RP2040 takes 0.3 s to store it in its flash
_COMMIT_TRIES = 5
_MORE_IF_HEARD = 6  # factor on the tries for a car that is online, so only slow
_STARTS_WITHIN_S = 12.0  # more than the longest neutral time that a vehicle file may require

# firmware.protocol.codes, PARAMETER_*
_OK, _NOT_BOUND = 0, 4
_WHAT = {
    1: "it knows no such parameter",
    2: "the value is out of its range",
    3: f"only in {State.STANDBY.word} or {State.FAULT.word}, at rest",
    4: "it does not know this session",
    5: "it could not store it",
    6: "it is not what it was announced to be, or is for another board",
    7: "only at rest: its wheels turn",
    8: "no other request open: one was, so run the command again",
    9: "it found no room in memory for what writes one: restart it, and run the command again",
}

Progress = Callable[[int, int], None]  # done, of how many


@dataclass(frozen=True)
class AdjustableValue:
    """The key of a value in a vehicle file, and the firmware parameters that follow from it."""

    key: str
    parameters: tuple[str, ...]


# The values in which one car may differ from its vehicle file, by name
ADJUSTABLE = {"step_s": AdjustableValue("timing.step_s", ("step_us", "motion_every"))}


class Configurations:
    """The service that reads and writes the configurations of open cars."""

    def __init__(self, vehicles: Vehicles, pairings: Pairings) -> None:
        self._vehicles = vehicles
        self._pairings = pairings

    async def read(self, opened: OpenCar, progress: Progress) -> list[int]:
        """Read all parameters, in the order of the table. Raises errors.TandemError."""
        return await _Dialogue(opened).read(parameter_count(), progress)

    async def write(
        self, opened: OpenCar, vehicle: Vehicle, car_name: str, progress: Callable[[str], Progress]
    ) -> int:
        """Give a bound car this vehicle's configuration and this name; read all of it back.

        Returns how many parameters changed. A car that was just switched on is waited for. Raises
        errors.TandemError; errors.UsageFault for a name too long.
        """
        values = self.values(vehicle, opened.identity, car_name)
        dialogue = _Dialogue(opened)
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
        return known.of(file), await self._keep(
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

        The car's own control period stays; an earlier trim or calibration does not, for a
        calibration starts from the file's steering. Returns how many parameters changed. Raises
        errors.TandemError.
        """
        name = opened.identity.car_name or file.name
        before = await self.pairing_for(opened, file, name)
        beat = {row for place in ADJUSTABLE.values() for row in place.parameters}
        kept = {row: values for row, values in before.trim.items() if row in beat}
        found = {
            row: list(values)
            for row, values in calibrated.parameters.items()
            if values != file.parameters[row] and row not in beat
        }
        known = replace(before, trim={**kept, **found})
        return await self._keep(opened, known.of(file), name, (before, known), progress)

    async def _keep(
        self,
        opened: OpenCar,
        vehicle: Vehicle,
        name: str,
        pairings: tuple[Pairing, Pairing],
        progress: Callable[[str], Progress],
    ) -> int:
        """Write a car's configuration and keep its new pairing; if writing fails, keep the old one.

        ``pairings`` are the one before and the one after.
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
                f"this host knows that car as a {known.vehicle}",
                where=opened.uri,
                got=vehicle.name,
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
        return await _Dialogue(opened).beat_us()

    def _changed(self, file: Vehicle, changes: Mapping[str, float]) -> Vehicle:
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


class _Dialogue:
    """The requests to one open car over the wire, one after another."""

    def __init__(self, opened: OpenCar) -> None:
        self._opened = opened
        self._replies: dict[int, ParameterReply] = {}
        self._wanted: Mapping[int, int] = {}
        self._committed: Committed | None = None

    async def read(self, count: int, progress: Progress) -> list[int]:
        """Return the first ``count`` parameters of the draft. Raises errors.TandemError."""
        requests = {index: parameter_requests.read(index) for index in range(count)}
        replies = await self._ask(requests, {}, progress)
        return [replies[index].value for index in range(count)]

    async def beat_us(self) -> int:
        """Return the control period of the draft, in us. Raises errors.TandemError."""
        index = parameter_index("step_us")
        replies = await self._ask({index: parameter_requests.read(index)}, {}, lambda *_: None)
        return replies[index].value

    async def write(self, values: Sequence[int], progress: Progress) -> int:
        """Change the draft to these values; return how many differed. Raises errors.TandemError."""
        epoch = self._epoch()
        before = await self.read(len(values), lambda done, total: None)
        wanted = {i: value for i, value in enumerate(values) if before[i] != value}
        requests = {i: parameter_requests.write(epoch, i, value) for i, value in wanted.items()}
        await self._ask(requests, wanted, progress)
        return len(wanted)

    async def commit(self, vehicle: Vehicle, identity: CarIdentity, car_name: str) -> bytes:
        """Make the draft the configuration; return its hash. Raises errors.RefusedFault."""
        expected = config_hash(vehicle, identity.board_id, car_name)
        request = parameter_requests.commit(self._epoch(), expected, car_name)
        with self._listening():
            tries = 0
            while tries < self._most(_COMMIT_TRIES):
                tries += 1
                self._committed = None
                self._opened.car.connection.send(request)
                if await self._opened.until(lambda: self._committed is not None, _COMMIT_AGAIN_S):
                    return self._taken(expected)
        raise self._unanswered("the configuration was not committed")

    def _taken(self, expected: bytes) -> bytes:
        done = self._committed
        assert done is not None, "only called once it is there"
        if done.result != _OK:
            place = f" (first wrong: {parameter_name(done.where)})" if done.where else ""
            raise self._refused(f"the car refused the configuration{place}", done.result)
        if done.config_hash != expected:
            raise ProtocolFault(
                "the car reports another configuration than was written",
                where=self._opened.uri,
                expected=expected.hex(),
                got=done.config_hash.hex(),
                remedy="write it again; if it stays so, reflash the car",
            )
        return expected

    async def _ask(
        self, requests: Mapping[int, Message], wanted: Mapping[int, int], progress: Progress
    ) -> dict[int, ParameterReply]:
        """Send requests until each has its reply, with the ``wanted`` value where there is one."""
        self._replies, self._wanted = {}, wanted
        tries = 0
        with self._listening():
            while missing := [i for i in requests if i not in self._replies]:
                before = len(self._replies)
                batch = missing[:_WINDOW]
                for index in batch:
                    self._opened.car.connection.send(requests[index])
                await self._opened.until(partial(self._has_all, batch), _AGAIN_S)
                progress(len(self._replies), len(requests))
                tries = tries + 1 if len(self._replies) == before else 0
                if tries >= self._most(_TRIES):
                    raise self._unanswered(f"no answer about {parameter_name(batch[0])}")
                self._refuse_wrong(batch)
        return self._replies

    def _most(self, tries: int) -> int:
        """Return how many tries to make before giving up."""
        return tries * (_MORE_IF_HEARD if self._opened.car.is_online() else 1)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        unsubscribe = self._opened.events.subscribe(self._hear)
        try:
            yield
        finally:
            unsubscribe()

    def _has_all(self, indices: Sequence[int]) -> bool:
        return all(index in self._replies for index in indices)

    def _refuse_wrong(self, batch: Sequence[int]) -> None:
        for index in batch:
            reply = self._replies.get(index)
            if reply and reply.result != _OK:
                raise self._refused(f"the car refused {parameter_name(index)}", reply.result)

    def _hear(self, events: list[LinkEvent]) -> None:
        for event in events:
            if isinstance(event, ParameterReply):
                # Another value is the late answer to an earlier request.
                if self._wanted.get(event.index, event.value) == event.value:
                    self._replies[event.index] = event
            elif isinstance(event, Committed):
                self._committed = event

    def _epoch(self) -> int:
        epoch = self._opened.car.connection.epoch
        assert epoch is not None, "opened with an epoch by whoever writes"
        return epoch

    def _refused(self, what: str, result: int) -> TandemError:
        status = self._opened.car.status
        return RefusedFault(
            what,
            where=self._opened.uri,
            expected=_WHAT.get(result, f"unknown ({result})"),
            got=f"state {status.state.word}" if status else "",
            remedy="tandem disarm, or tandem stop and tandem clear, bring it to "
            f"{State.STANDBY.word}",
        )

    def _unanswered(self, what: str) -> TandemError:
        return DeviceFault(what, where=self._opened.uri, remedy="is the car still there?")
