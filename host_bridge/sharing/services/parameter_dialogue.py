"""The dialogue with one car about its parameters: read, write, commit, over a line that loses.

A car answers one parameter per step, and answers may be lost: several requests are under way at
once, and unanswered ones are repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from firmware.protocol.codec import Message
from host_bridge.config import config_hash, parameter_index, parameter_name
from host_bridge.core import CarIdentity, Committed, ParameterReply, Vehicle
from host_bridge.core.codes import WriteResult
from host_bridge.core.errors import DeviceFault, ProtocolFault, RefusedFault, TandemError
from host_bridge.core.texts.table import clause
from host_bridge.link.protocol.connection import SILENCE_US
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.link.protocol.requests import commit_parameters, read_parameter, write_parameter
from host_bridge.sharing.open_car import OpenCar

_WINDOW = 8  # requests under way at once: at 115200 baud they fit into three steps
_AGAIN_S = 0.06  # three times what a car takes to answer on its next step
_TRIES = 50  # consecutive ones without any answer
_COMMIT_AGAIN_S = 1.0  # an RP2040 takes 0.3 s to store it in its flash
_COMMIT_TRIES = 5  # seconds in all: as long as a person waits for it
# Of a car while it loads or stores: a paired VESC's took 0.33 s on an RP2040. What it says first
# after that is its answer, which a link that had lost it would not take.
_SILENT_US = 1_000_000
_MORE_IF_HEARD = 6  # factor on the tries for a car that is online, so only slow

Progress = Callable[[int, int], None]  # done, of how many


class ParameterDialogue:
    """The requests about parameters to one open car, one after another.

    Parameters go by their index in the table of firmware.core.settings.params, in its raw units.
    """

    def __init__(self, opened: OpenCar) -> None:
        self._opened = opened
        self._replies: dict[int, ParameterReply] = {}
        self._wanted: Mapping[int, int] = {}
        self._committed: Committed | None = None

    async def read(self, count: int, progress: Progress) -> list[int]:
        """Return the first ``count`` parameters of the draft. Raises errors.TandemError."""
        requests = {index: read_parameter(index) for index in range(count)}
        replies = await self._ask(requests, {}, progress)
        return [replies[index].value for index in range(count)]

    async def beat_us(self) -> int:
        """Return the control period of the draft, in us. Raises errors.TandemError."""
        index = parameter_index("step_us")
        replies = await self._ask({index: read_parameter(index)}, {}, lambda *_: None)
        return replies[index].value

    async def write(self, values: Sequence[int], progress: Progress) -> int:
        """Change the draft to these values; return how many differed. Raises errors.TandemError."""
        epoch = self._epoch()
        before = await self.read(len(values), lambda done, total: None)
        wanted = {i: value for i, value in enumerate(values) if before[i] != value}
        requests = {i: write_parameter(epoch, i, value) for i, value in wanted.items()}
        await self._ask(requests, wanted, progress)
        return len(wanted)

    async def commit(self, vehicle: Vehicle, identity: CarIdentity, car_name: str) -> bytes:
        """Make the draft the configuration; return its hash. Raises errors.RefusedFault."""
        expected = config_hash(vehicle, identity.board_id, car_name)
        request = commit_parameters(self._epoch(), expected, car_name)
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
        if done.result != WriteResult.OK:
            place = f" (first wrong: {parameter_name(done.where)})" if done.where else ""
            did = "does not go by" if done.result == WriteResult.NOT_TAKEN else "refused"
            raise self._refused(f"the car {did} the configuration{place}", done.result)
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
        connection = self._opened.car.connection
        unsubscribe = self._opened.events.subscribe(self._hear)
        connection.silence_us = _SILENT_US
        try:
            yield
        finally:
            connection.silence_us = SILENCE_US
            unsubscribe()

    def _has_all(self, indices: Sequence[int]) -> bool:
        return all(index in self._replies for index in indices)

    def _refuse_wrong(self, batch: Sequence[int]) -> None:
        for index in batch:
            reply = self._replies.get(index)
            if reply and reply.result != WriteResult.OK:
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

    def _refused(self, what: str, number: int) -> TandemError:
        status, result = self._opened.car.status, WriteResult(number)
        return RefusedFault(
            f"{what}: {result.phrase}",
            where=self._opened.uri,
            got=f"state {status.shown_state.word}" if status else "",
            remedy=clause(result.remedy),
        )

    def _unanswered(self, what: str) -> TandemError:
        remedy = "is the car still there?"
        if self._opened.car.is_afar:  # its host drops in silence what a guest may not
            remedy += " A guest writes while it is attested there: tandem attest wheels-off-ground"
        return DeviceFault(what, where=self._opened.uri, remedy=remedy)
