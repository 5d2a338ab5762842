"""Another board at the port is another car: named, stopped if asked, and nothing else (S2)."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from host_bridge.config.store import Pairing
from host_bridge.core import Sender, State
from host_bridge.core.errors import AnotherCarFault
from host_bridge.link.protocol.transitions import LinkState
from host_bridge.logs.reading import cars_in, read, summary
from host_bridge.sharing.endpoints.served import served
from host_bridge.sharing.owner.board_verification import BoardTrust
from host_bridge.sharing.owner.recording import new_recorder
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.sharing.ports import PORT, Board, at_desk
from tests.support.evidence import every, some

# What may be said to a board of which nobody knows whose it is, or that is another car's
HARMLESS = {"Identify", "EventRequest", "Stop", "Bind", "Leave", "Sync", "Alive"}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with runtime_folder(monkeypatch) as path:
        yield path


def twins():
    """Equal in all but the board."""
    return Board("1"), Board("2")


@asynccontextmanager
async def serving(desk, port=0, **options):
    service = await desk.host.cars.serve(
        f"{PORT}{port}", epoch=desk.host.cars.new_epoch(), **options
    )
    try:
        yield service
    finally:
        await service.close()


@asynccontextmanager
async def opened(desk, name):
    car = await desk.host.cars.open(name, epoch=desk.host.cars.new_epoch())
    try:
        yield car
    finally:
        await car.close()


async def armed(desk, car):
    """What became of it."""
    request = car.car.arm(desk.now_us(), Sender.COMMAND)
    await car.until(lambda: request.result is not None, 2.0)
    return request.result


async def swap(port, board):
    """The cable goes out, and comes back with this board at its end."""
    out = port.pull()
    await asyncio.sleep(0.5)
    port.plug(board)
    await asyncio.sleep(1.5)
    return out


def is_armed(board):
    return board.world.enable


@pytest.mark.parametrize("by", ["cable", "adapter"])
def test_a_board_of_equal_configuration_is_neither_armed_nor_driven_as_the_other(by):
    red, other = twins()

    async def test(desk):
        async with serving(desk) as service, opened(desk, "red") as car:
            assert (await armed(desk, car)).is_done
            car.car.disarm(desk.now_us(), Sender.COMMAND)
            await asyncio.sleep(1.0)
            if by == "cable":
                await swap(desk.ports[0], other)
            else:
                desk.ports[0].swap_silently(other)
                await asyncio.sleep(2.0)
            assert car.car.connection.state is LinkState.STRANGER
            assert service.owner.verification.state is BoardTrust.FOREIGN
            result = await armed(desk, car)
            assert not result.is_done
            for part in ("red (f1tenth, board", red.id, other.id, "plug red in again"):
                assert part in str(result)
            assert "write" not in str(result)
            assert car.identity.board_id == red.world.board_id
            assert other.heard_kinds() <= HARMLESS
            assert not is_armed(other)

    at_desk(test, red, other)


def test_it_can_be_stopped_all_the_same():
    red, other = twins()

    async def test(desk):
        async with serving(desk), opened(desk, "red") as car:
            await swap(desk.ports[0], other)
            stop = car.car.stop(Sender.COMMAND, "anybody", desk.now_us())
            await car.until(lambda: stop.seen_us is not None, 1.0)
            assert "Stop" in other.heard_kinds()

    at_desk(test, red, other)


def test_whoever_comes_later_is_told_too_and_gets_it_under_no_name():
    red, other = Board("1"), Board("2", "blue", "nigel")

    async def test(desk):
        async with serving(desk):
            await swap(desk.ports[0], other)
            with pytest.raises(AnotherCarFault) as wrong:
                await desk.host.cars.open("red", epoch=desk.host.cars.new_epoch())
            for part in ("red", red.id, "blue", other.id):
                assert part in wrong.value.what
            [row] = served()
            assert (row.name, row.vehicle, row.board_id) == ("red", "f1tenth", red.id)

    at_desk(test, red, other)


def test_the_same_board_is_the_same_car_when_it_is_back():
    red, other = twins()

    async def test(desk):
        async with serving(desk), opened(desk, "red") as car:
            await swap(desk.ports[0], other)
            await swap(desk.ports[0], red)
            assert not car.car.stranger
            assert (await armed(desk, car)).is_done
            assert is_armed(red)

    at_desk(test, red, other)


def test_ports_that_are_renumbered_change_no_car():
    red, blue = Board("1"), Board("2", "blue")

    async def test(desk):
        async with (
            serving(desk, 0),
            serving(desk, 1),
            opened(desk, "red") as one,
            opened(desk, "blue") as two,
        ):
            for port in desk.ports:
                port.pull()
            await asyncio.sleep(0.5)
            for port, board in zip(desk.ports, (blue, red), strict=True):
                port.plug(board)
            await asyncio.sleep(1.5)
            for car in (one, two):
                assert not (await armed(desk, car)).is_done
            assert not any(map(is_armed, (red, blue)))
            for board in (red, blue):
                board.heard_kinds()
            for port, board in zip(desk.ports, (red, blue), strict=True):
                port.pull()
                await asyncio.sleep(0.5)
                port.plug(board)
            await asyncio.sleep(1.5)
            for car in (one, two):
                assert (await armed(desk, car)).is_done

    at_desk(test, red, blue)


def test_a_board_that_is_flashed_anew_is_the_same_car_as_what_it_is_now(tmp_path):
    red = Board("1")
    path = tmp_path / "drive.mcap"

    async def test(desk):
        async with serving(desk) as service, opened(desk, "red") as car:
            log = new_recorder(path, desk.host.cars.clock)
            service.record(log)
            red_id = red.id
            desk.ports[0].pull()
            red.flash("red", "nigel")
            assert red.id == red_id
            await swap(desk.ports[0], red)
            assert service.vehicle_name() == "nigel"
            assert [row.vehicle for row in served()] == ["nigel"]
            assert service.owner.verification.state is BoardTrust.TRUSTED
            # whoever began with the other numbers is not armed with these
            result = await armed(desk, car)
            assert not result.is_done
            assert "begin anew" in str(result)
            assert "write" not in str(result).replace("written", "")
            async with opened(desk, "red") as again:
                assert again.vehicle.name == "nigel"
                assert (await armed(desk, again)).is_done
            log.close()

    at_desk(test, red)
    [note] = summary(path).notes
    assert note.startswith("red was flashed anew: red (f1tenth")
    assert "nigel" in note


def test_a_log_is_cut_once_for_each_stay_of_another_board(tmp_path):
    red, other = Board("1"), Board("2", "blue", "nigel")
    path = tmp_path / "drive.mcap"

    async def test(desk):
        async with serving(desk) as service:
            log = new_recorder(path, desk.host.cars.clock)
            service.record(log)
            for board in (other, other, red, other, other):
                await swap(desk.ports[0], board)
            log.close()

    at_desk(test, red, other)
    first, second = summary(path).notes
    assert first == second
    assert first.startswith("cut here: ")


def test_a_log_holds_no_frame_of_another_board(tmp_path):
    red, other = Board("1"), Board("2", "blue", "nigel")
    path = tmp_path / "drive.mcap"

    async def test(desk):
        async with serving(desk) as service:
            log = new_recorder(path, desk.host.cars.clock)
            service.record(log)
            await asyncio.sleep(0.5)
            await swap(desk.ports[0], other)
            await swap(desk.ports[0], red)
            log.close()

    at_desk(test, red, other)
    rows = [it for it in read(path) if it.topic == "identity"]
    assert every(row.value["board_id"] == red.id for row in some(rows))
    whole = summary(path)
    assert cars_in(whole.facts)["red"]["board_id"] == red.id
    [note] = whole.notes
    assert "cut here" in note
    assert red.id in note
    assert other.id in note
    times = [it.time_us for it in read(path) if it.topic == "down"]
    gaps_s = sorted((b - a) * 1e-6 for a, b in pairwise(times))
    assert gaps_s[-1] > 2.0  # the whole of the stranger's stay
    assert gaps_s[-2] < 0.1  # and from its first byte on everything of red that is back


def test_a_stranger_that_comes_armed_is_stopped_as_any_car_on_a_new_line():
    red, other = twins()

    async def test(desk):
        async with serving(desk, 1), opened(desk, "red") as car:
            assert (await armed(desk, car)).is_done
            async with serving(desk, 0, name="first"):
                desk.ports[1].pull()
                desk.ports[0].pull()
                desk.ports[0].plug(other)
                await asyncio.sleep(0.6)
                assert "Stop" in other.heard_kinds()

    at_desk(test, red, other)


def test_a_name_that_this_host_keeps_of_another_board_is_not_given_away():
    red, other = twins()
    blue = Board("3", "blue", "nigel")

    async def test(desk):
        desk.host.pairings.keep(Pairing(red.id, "red", "f1tenth", "00"))
        async with serving(desk, 0, name="red"):
            pass
        for stranger in (other, blue):
            await swap(desk.ports[0], stranger)
            with pytest.raises(AnotherCarFault) as wrong:
                await desk.host.cars.serve(f"{PORT}0", name="red")
            assert red.id in wrong.value.what
            assert stranger.id in wrong.value.what
            assert served() == []
        async with serving(desk, 0, name="red", board_id=blue.world.board_id) as service:
            assert service.board_id == blue.id

    at_desk(test, red, other, blue)


def test_a_board_that_is_said_to_be_meant_is_the_only_one():
    red, other = twins()

    async def test(desk):
        with pytest.raises(AnotherCarFault, match="is meant"):
            await desk.host.cars.serve(f"{PORT}0", board_id=other.world.board_id)

    at_desk(test, red, other)


def test_a_car_that_comes_back_drives_on_in_nobodys_hands():
    """What was armed and unplugged stands when it is there again: nothing arms it by itself."""
    red, other = twins()

    async def test(desk):
        async with serving(desk), opened(desk, "red") as car:
            assert (await armed(desk, car)).is_done
            await swap(desk.ports[0], other)
            await swap(desk.ports[0], red)
            await car.until(lambda: car.car.status.state is State.STOPPED, 5.0)
            assert car.car.status.state is State.STOPPED

    at_desk(test, red, other)
