"""Scenes of more than one vehicle, their lights and sky, and pedals as the simulator has them."""

import asyncio
import json

import pytest
from websockets.asyncio.client import connect

from host_bridge.config import load_vehicle
from sim_mock.autodrive import wire
from sim_mock.autodrive.command import Scenery, VehicleAnswer, VehicleCommand, write_answer
from sim_mock.autodrive.transport import LOOPBACK, make, server_options
from tests.sim_mock.autodrive.test_driving import in_motion
from tests.sim_mock.autodrive.unity import READS, Unity
from tests.support import patience


def reads_of_two(vehicle):
    reads = READS[vehicle]
    return (*reads, *(key.replace("V1 ", "V2 ") for key in reads if key.startswith("V1 ")))


@pytest.mark.parametrize("vehicle", READS)
def test_a_scene_with_two_vehicles_finds_the_keys_of_both_and_the_other_one_stands(vehicle):
    """It stalled for ever: its handler ended at the first V2."""
    keys = write_answer({1: VehicleAnswer(VehicleCommand(0.05, -0.25))}, ".", Scenery())
    assert set(reads_of_two(vehicle)) <= set(keys)
    assert (keys["V1 Throttle"], keys["V2 Throttle"], keys["V2 Brake"]) == ("0.0500", "0", "1.0000")


def test_signals_are_left_as_the_scene_says_they_are():
    drive = in_motion(for_ms=100)
    drive.unity.says = {"TL1 State": "3", "TL2 State": "1", "TL3 State": "rubbish"}
    drive.host.drive(100, 200)
    told = drive.unity.told
    assert (told["TL1 State"], told["TL2 State"], told["TL3 State"]) == (3, 1, 0)
    assert drive.unity.swallowed == []


def test_sky_and_lights_are_what_was_asked_for():
    options = server_options(
        {"time": "1200", "weather": "6", "headlights": "1", "indicators": "3"}, 4567
    )
    keys = write_answer({1: VehicleAnswer()}, ".", options.scenery)
    assert (keys["Time"], keys["Weather"]) == ("1200", "6")
    assert (keys["V1 Headlights"], keys["V1 Indicators"], keys["V2 Headlights"]) == ("1", "3", "0")
    for wrong in (
        {"time": "noon"},
        {"slot": "9"},
        {"wait": "long"},
        {"headlights": "-1"},
        {"wait": "-1"},
        {"wait": "nan"},
        {"reset": "no"},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            server_options(wrong, 4567)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["opencav", "rzr"])
def test_all_four_wheels_of_a_full_scale_car_brake(name):
    """The simulator's rear wheels brake by the handbrake alone; they rolled free."""
    drive = in_motion(name, speed_mps=2.0, for_ms=4000)
    drive.host.stop()
    drive.host.drive(400, 2000)
    assert drive.unity.brake > 0.0
    assert drive.unity.handbrake == drive.unity.brake


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["opencav", "rzr"])
def test_in_reverse_it_brakes_by_its_pedal_and_not_by_a_throttle_that_its_gearbox_ignores(name):
    drive = in_motion(name, speed_mps=-0.8, for_ms=5000)
    assert drive.unity.driven.box.gear == -1
    told = []
    for _ in range(100):
        drive.host.drive(10, 0)
        told.append((drive.unity.throttle, drive.unity.speed))
    assert not [pair for pair in told if pair[0] > 0.0 and pair[1] < -0.3]
    assert drive.unity.speed == pytest.approx(0.0, abs=0.05)


class Opening:
    """What whoever opens a URI hands in."""

    def now_us(self):
        return round(asyncio.get_running_loop().time() * 1e6)

    def vehicle(self, name, changes=None):
        return load_vehicle(name)


class Uri:
    def __init__(self, authority, **query):
        self.authority, self.query = authority, query
        self.text = f"autodrive://{authority}?{query}"


def two_unities(text):
    """What a scene of two vehicles is told, by vehicle."""
    keys = wire.read_bridge(text)
    return {slot: float(keys[f"V{slot} Throttle"]) for slot in (1, 2)}


def frame_of_two(angle):
    keys = {f"V{slot} Encoder Angles": f"{angle:.4f} {angle:.4f}" for slot in (1, 2)}
    return "42" + json.dumps(["Bridge", keys])


def test_two_cars_of_one_scene_share_its_connection_and_each_hears_its_own():
    async def main():
        port = free_port()
        first = make(Uri(f":{port}", vehicle="nigel"), Opening())
        second = make(Uri(f":{port}", vehicle="nigel", slot="2", name="b"), Opening())
        again = make(Uri(f":{port}", vehicle="nigel", slot="2", name="c"), Opening())
        for transport in (first, second):
            await transport.open(lambda _data: None, lambda _why: None)
        with pytest.raises(RuntimeError, match="V2 of the scene"):
            await again.open(lambda _data: None, lambda _why: None)
        async with connect(
            f"ws://{LOOPBACK}:{port}/socket.io/?EIO=4&transport=websocket"
        ) as socket:
            for _ in range(2):
                await socket.recv()
            for i in range(5):
                await socket.send(frame_of_two(0.01 * i))
                told = two_unities(await socket.recv())
            assert told == {1: 0.0, 2: 0.0}
            assert (first.fault_text, second.fault_text) == ("", "")
            first.close()
            await socket.send(frame_of_two(0.1))
            assert two_unities(await socket.recv()) == {1: 0.0, 2: 0.0}
        second.close()

    asyncio.run(main())


def test_a_car_that_waits_is_switched_on_once_its_simulator_is_there():
    """So nothing is latched when it begins, and nobody has to clear anything."""

    async def main():
        port = free_port()
        car = make(Uri(f":{port}", vehicle="nigel", wait="5"), Opening())
        opening = asyncio.ensure_future(car.open(lambda _data: None, lambda _why: None))
        await asyncio.sleep(0.2)
        assert not opening.done()
        unity = Unity("nigel")
        async with connect(
            f"ws://{LOOPBACK}:{port}/socket.io/?EIO=4&transport=websocket"
        ) as socket:
            for _ in range(2):
                unity.on_text(await socket.recv())
            await socket.send(unity.on_open())
            await patience.within(opening, 5.0)
            assert car.world.runstop_closed
            assert car.world.now_us < 1_000_000
        car.close()

    asyncio.run(main())


def test_nobody_there_for_as_long_as_it_waits_is_an_error_that_says_what_to_do():
    async def main():
        port = free_port()
        car = make(Uri(f":{port}", vehicle="nigel", wait="0.1"), Opening())
        with pytest.raises(RuntimeError, match=rf"no simulator within 0.1 s.*-port {port}"):
            await car.open(lambda _data: None, lambda _why: None)

    asyncio.run(main())


def free_port():
    import socket

    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return one.getsockname()[1]
