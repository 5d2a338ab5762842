"""Batches the stop requests of a station into rounds, so that a few threads serve all callers.

Whatever is asked for within a round's wait is one stop of all that is meant; each caller is told as
its cars acknowledge, and none waits for another's car that hangs. A round begins at once where none
goes on, else within a quarter of a second. Who asks is done when each car that they mean has
acknowledged, whatever else of their round hangs.

A fleet on other machines is called besides, once a second at most. A call goes on to whoever is
silent, and each second there may be another one, for a car that was stopped may drive again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from host_bridge.sharing.network.invitations import reached_cars
from host_bridge.sharing.network.stops.fleet_messages import fleet_tag
from host_bridge.sharing.network.stops.fleet_sockets import own_addresses
from host_bridge.sharing.network.stops.fleet_stop import FleetStop
from host_bridge.sharing.stop.stop_request import StopCall

EVERY_S = 0.25  # a round lasts a little more than 1 s at most, so about five run at once
_MOST = 6  # threads
FLEET_EVERY_S = 1.0  # in its first second a call goes out to everybody each 0.1 s and sooner
_FLEETS_MOST = 12  # threads: a call lasts 10 s at most, and its answers a little longer
Tell = Callable[[StopCall], object]
Looked = Callable[[list[str]], object]
# Stops the cars of these names, or all: in a thread. Tells of each as it acknowledges, or does not,
# and the name of each once all were looked for
StopFunction = Callable[[tuple[str, ...], Tell, Looked], object]


class StopRounds:
    """The rounds of one station; ``stop`` may be called by any task at any time."""

    def __init__(self, stop_them: StopFunction) -> None:
        self._stop_them = stop_them
        self._threads = ThreadPoolExecutor(_MOST, thread_name_prefix="stop")
        self._waiting: list[_CallerRequest] = []
        self._is_planned = False
        self._going_on = 0
        self._begun_s = 0.0

    async def stop(self, names: tuple[str, ...], tell: Tell) -> set[str]:
        """Stop these cars, or all; return the names of those whose outcome was reported.

        Raises errors.TandemError.
        """
        asked = _CallerRequest(names, tell)
        self._waiting.append(asked)
        if not self._is_planned:
            self._is_planned = True
            loop = asyncio.get_running_loop()
            wait_s = self._begun_s + EVERY_S - loop.time() if self._going_on else 0.0
            loop.call_later(max(wait_s, 0.0), self._begin)
        await asked.is_over
        return asked.answered

    def close(self) -> None:
        """End without waiting; stops that are being sent are finished."""
        self._threads.shutdown(wait=False)

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._is_planned, self._begun_s = False, loop.time()
        round_of, self._waiting = self._waiting, []
        names = {name for asked in round_of for name in asked.names}
        if any(not asked.names for asked in round_of):
            names = set()
        self._going_on += 1

        def hear(call: StopCall) -> None:
            loop.call_soon_threadsafe(_hear, round_of, call)

        def look(found: list[str]) -> None:
            loop.call_soon_threadsafe(_look, round_of, found)

        asked = tuple(sorted(names)), hear, look
        done = loop.run_in_executor(self._threads, self._stop_them, *asked)
        done.add_done_callback(partial(self._end, round_of))

    def _end(self, round_of: list[_CallerRequest], done: asyncio.Future[object]) -> None:
        self._going_on -= 1
        fault = None if done.cancelled() else done.exception()
        for asked in round_of:
            asked.end(fault)


Row = dict[str, object]
# Stops a fleet on other machines, in a thread; tells what each car says, as it is known. Returns
# whether there is one
FleetFunction = Callable[[Callable[[Row], object]], bool]


class FleetRounds:
    """The calls to a fleet on other machines; ``stop`` may be called by any task at any time."""

    def __init__(self, stop_fleet: FleetFunction) -> None:
        self._stop_fleet = stop_fleet
        self._threads = ThreadPoolExecutor(_FLEETS_MOST, thread_name_prefix="fleet")
        self._newest: _FleetCall | None = None

    async def stop(self, tell: Callable[[Row], object]) -> bool:
        """Stop the fleet; return whether it has a car. Raises errors.TandemError."""
        call = self._newest
        if call is None or call.is_over.done() or call.is_old():
            call = self._newest = _FleetCall(self._stop_fleet, self._threads)
        return await call.follow(tell)

    def close(self) -> None:
        """End without waiting; stops that are being sent are finished."""
        self._threads.shutdown(wait=False)


class _FleetCall:
    """One call to a fleet, and who is told of its cars."""

    def __init__(self, stop_fleet: FleetFunction, threads: ThreadPoolExecutor) -> None:
        self._loop = loop = asyncio.get_running_loop()
        self._begun_s = loop.time()
        self._rows: list[Row] = []
        self._told: list[Callable[[Row], object]] = []

        def hear(row: Row) -> None:
            loop.call_soon_threadsafe(self._hear, row)

        self.is_over = loop.run_in_executor(threads, stop_fleet, hear)

    def is_old(self) -> bool:
        return self._loop.time() - self._begun_s >= FLEET_EVERY_S

    async def follow(self, tell: Callable[[Row], object]) -> bool:
        """Tell what is known, and what comes, until it is over."""
        for row in self._rows:
            tell(row)
        self._told.append(tell)
        try:
            return await asyncio.shield(self.is_over)
        finally:
            self._told.remove(tell)

    def _hear(self, row: Row) -> None:
        self._rows.append(row)
        for tell in self._told:
            tell(row)


def fleet_function(fleet: str) -> FleetFunction:
    """Return what stops the cars of this fleet that other machines serve."""

    def stop(tell: Callable[[Row], object]) -> bool:
        wanted = fleet_tag(fleet)

        def tell_so_far(_progress: str) -> None:
            for it in call.cars.values():
                if it.is_known:
                    text = str(it) if it.is_seen else f"{it.called}: not proven yet"
                    tell({**it.row(), "name": it.called, "text": text})

        call = FleetStop(wanted, lambda: reached_cars(wanted), tell_so_far, own_addresses())
        heard = [it for it in call.run() if it.is_known]
        for it in heard:
            tell({**it.row(), "name": it.called, "text": str(it)})
        if call.fault:
            tell({"name": "", "is_seen": False, "text": str(call.fault)})
        return bool(heard)

    return stop


class _CallerRequest:
    """One caller's request, and the cars whose outcome it was told."""

    def __init__(self, names: tuple[str, ...], tell: Tell) -> None:
        self.names = names
        self.answered: set[str] = set()
        self.is_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tell = tell
        self._answers = 0
        self._expected: int | None = None  # of two cars one may have the other's name

    def hear(self, call: StopCall) -> None:
        if self.is_over.done() or not self._means(call.name):
            return
        self.answered.add(call.name)
        self._answers += 1
        self._tell(call)
        self._end_if_all_answered()

    def look(self, found: list[str]) -> None:
        """Take all names that were found, so that it ends once each of them has answered."""
        self._expected = sum(map(self._means, found))
        self._end_if_all_answered()

    def _means(self, name: str) -> bool:
        return not self.names or name in self.names

    def _end_if_all_answered(self) -> None:
        if self._answers == self._expected:
            self.end(None)

    def end(self, fault: BaseException | None) -> None:
        if self.is_over.done():  # the caller has been cancelled
            return
        if fault:
            self.is_over.set_exception(fault)
        else:
            self.is_over.set_result(None)


def _look(round_of: list[_CallerRequest], found: list[str]) -> None:
    for asked in round_of:
        asked.look(found)


def _hear(round_of: list[_CallerRequest], call: StopCall) -> None:
    for asked in round_of:
        asked.hear(call)
