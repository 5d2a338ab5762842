"""The stops that a station is asked for: few threads, and nobody waits for another's car."""

from __future__ import annotations

import asyncio
import threading

import pytest

from host_bridge.core.errors import DeviceFault
from host_bridge.sharing.stop.stop_request import StopCall
from host_bridge.station.backend import stop_rounds as station_rounds
from host_bridge.station.backend.stop_rounds import FleetRounds, StopRounds
from tests.host_bridge.sharing.desk import run


class Cars:
    """Whoever is named "evil" hangs until ``release``; the others answer at once."""

    def __init__(self) -> None:
        self.rounds: list[tuple[str, ...]] = []
        self.release = threading.Event()
        self.fault: Exception | None = None

    def stop(self, names, tell, looked) -> None:
        self.rounds.append(names)
        if self.fault:
            raise self.fault
        served = [it for it in ("car", "evil") if not names or it in names]
        looked(served)
        for name in served:
            if name != "evil":
                tell(StopCall(name, 1))
        if "evil" in served:
            self.release.wait(30.0)
            tell(StopCall("evil", 1))


def told_of(found):
    return lambda call: found.append(call.name)


def test_120_who_ask_for_a_car_that_hangs_keep_nobody_waiting(monkeypatch):
    monkeypatch.setattr(station_rounds, "EVERY_S", 0.02)

    async def main():
        cars, told = Cars(), []
        rounds = StopRounds(cars.stop)
        evil = [asyncio.create_task(rounds.stop(("evil",), lambda call: None)) for _ in range(120)]
        await asyncio.sleep(0.01)
        mine = asyncio.create_task(rounds.stop(("car", "evil"), told_of(told)))
        while told != ["car"]:
            await asyncio.sleep(0.005)
        assert not mine.done()
        cars.release.set()
        assert await mine == {"car", "evil"}
        assert await asyncio.gather(*evil) == [{"evil"}] * 120
        assert cars.rounds == [("evil",), ("car", "evil")]
        rounds.close()

    run(main())


def test_who_asks_for_all_is_told_of_all_and_who_names_some_of_those(monkeypatch):
    async def main():
        cars, of_all, of_one = Cars(), [], []
        cars.release.set()
        rounds = StopRounds(cars.stop)
        both = rounds.stop((), told_of(of_all)), rounds.stop(("car", "gone"), told_of(of_one))
        assert await asyncio.gather(*both) == [{"car", "evil"}, {"car"}]
        assert cars.rounds == [()]
        assert (of_all, of_one) == (["car", "evil"], ["car"])
        rounds.close()

    run(main())


def test_what_went_wrong_is_told_to_each_who_asked_and_the_next_round_is_one_anew():
    async def main():
        cars = Cars()
        cars.release.set()
        cars.fault = DeviceFault("no file is left")
        rounds = StopRounds(cars.stop)
        for _ in range(2):
            with pytest.raises(DeviceFault, match="no file is left"):
                await rounds.stop(("car",), lambda call: None)
        cars.fault = None
        assert await rounds.stop(("car",), lambda call: None) == {"car"}
        assert len(cars.rounds) == 3
        rounds.close()

    run(main())


def test_a_round_s_car_that_hangs_is_waited_for_by_those_alone_who_mean_it():
    """They are of one round: what was asked for at once is one stop."""

    async def main():
        cars = Cars()
        rounds = StopRounds(cars.stop)
        evil = asyncio.create_task(rounds.stop(("evil",), lambda call: None))
        mine = asyncio.create_task(rounds.stop(("car",), lambda call: None))
        gone = asyncio.create_task(rounds.stop(("gone",), lambda call: None))
        assert await asyncio.wait_for(mine, 20.0) == {"car"}
        assert await asyncio.wait_for(gone, 20.0) == set()
        assert cars.rounds == [("car", "evil", "gone")]
        assert not evil.done()
        cars.release.set()
        assert await evil == {"evil"}
        rounds.close()

    run(main())


def test_of_two_cars_of_one_name_both_are_waited_for():
    def stop(names, tell, looked):
        tell(StopCall("car", 1))
        looked(["car", "car"])
        is_waited.wait(20.0)
        tell(StopCall("car", 2))

    is_waited = threading.Event()

    async def main():
        rounds, told = StopRounds(stop), []
        mine = asyncio.create_task(rounds.stop(("car",), told_of(told)))
        while told != ["car"]:
            await asyncio.sleep(0.005)
        assert not mine.done()
        is_waited.set()
        assert await mine == {"car"}
        assert told == ["car", "car"]
        rounds.close()

    run(main())


def test_who_goes_away_meanwhile_is_in_nobodys_way():
    async def main():
        cars = Cars()
        rounds = StopRounds(cars.stop)
        gone = asyncio.create_task(rounds.stop(("evil",), lambda call: None))
        await asyncio.sleep(0.01)
        gone.cancel()
        cars.release.set()
        assert await rounds.stop(("car",), lambda call: None) == {"car"}
        rounds.close()

    run(main())


class Fleet:
    """Cars of other machines: "far" answers at once, "mute" once it is released."""

    def __init__(self) -> None:
        self.calls = 0
        self.release = threading.Event()
        self.fault: Exception | None = None

    def stop(self, tell) -> bool:
        self.calls += 1
        if self.fault:
            raise self.fault
        tell({"name": "far", "is_seen": True})
        tell({"name": "mute", "is_seen": False})
        self.release.wait(30.0)
        tell({"name": "mute", "is_seen": True})
        return True


def test_a_fleet_is_called_once_a_second_and_whoever_asks_meanwhile_hears_of_each_car(monkeypatch):
    monkeypatch.setattr(station_rounds, "FLEET_EVERY_S", 0.3)

    async def scene():
        fleet = Fleet()
        rounds, told = FleetRounds(fleet.stop), [[], [], []]
        first = asyncio.create_task(rounds.stop(told[0].append))
        while len(told[0]) < 2:
            await asyncio.sleep(0.001)
        gone = asyncio.create_task(rounds.stop(told[1].append))
        await asyncio.sleep(0)
        gone.cancel()
        assert [it["name"] for it in told[1]] == ["far", "mute"], "what was known already"
        assert fleet.calls == 1
        await asyncio.sleep(0.35)
        later = asyncio.create_task(rounds.stop(told[2].append))
        while len(told[2]) < 2:
            await asyncio.sleep(0.001)
        assert fleet.calls == 2, "a stop of now is another one, though a car of the first hangs"
        fleet.release.set()
        assert await asyncio.gather(first, later) == [True, True]
        assert told[0][-1] == told[2][-1] == {"name": "mute", "is_seen": True}
        assert len(told[1]) == 2
        rounds.close()

    run(scene())


def test_what_went_wrong_with_a_fleet_is_told_and_the_next_call_is_one_anew():
    async def scene():
        fleet = Fleet()
        fleet.fault = DeviceFault("no network")
        rounds = FleetRounds(fleet.stop)
        with pytest.raises(DeviceFault, match="no network"):
            await rounds.stop(lambda row: None)
        fleet.fault = None
        fleet.release.set()
        assert await rounds.stop(lambda row: None)
        rounds.close()

    run(scene())
