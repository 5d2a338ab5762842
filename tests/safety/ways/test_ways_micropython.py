"""Every way of moving the wheels on the program under MicroPython, beside the same under CPython.

One drive of all that the suite is about, each: hold, driving on, a spike, a hang, silence; a clear,
a new arm, a runstop. What is said and put out must be the same, byte by byte.
"""

import pytest

from sim_mock.board.firmware_runner import SubprocessRunner
from tests.firmware.worlds import micropython_command
from tests.safety.support.facts import NAMES
from tests.safety.ways.ways import WAYS

ACTIVE, HOLD, STOPPED = 2, 3, 5
SILENCE = 3
# each way once on either MicroPython, the vehicles in turn
CASES = [
    (bits, way, fitting[(at + bits) % len(fitting)])
    for bits in (64, 32)
    for at, way in enumerate(WAYS)
    if (fitting := [name for name in NAMES if way.fits(name)])
]


def drive(car) -> str:
    """The digest of all bytes and outputs."""
    try:
        car.begin()
        car.come_to_speed()
        holds_and_drives_on(car)
        stops_and_is_armed_again(car)
        car.drive(200, car.cruise_mm_s)
        car.vanish()
        car.rest(40)
        assert car.state not in (ACTIVE, HOLD)
        assert car.host.status.causes >> SILENCE & 1
    finally:
        car.world.close()
    assert not car.world.losses
    return car.host.outputs.hexdigest()


def holds_and_drives_on(car) -> None:
    car.world.hardware.glitch(car.world.now_us + 100, car.world.now_us + 119)
    car.let_go(200)
    assert car.state == HOLD
    car.hold()
    car.drive(50, 0)
    car.drive(300, car.cruise_mm_s)
    assert car.state == ACTIVE


def stops_and_is_armed_again(car) -> None:
    car.world.hang(15_000)  # shorter than the guard's patience
    car.drive(100, car.cruise_mm_s)
    assert car.state == ACTIVE
    car.world.runstop_closed = False
    car.drive(30, car.cruise_mm_s)
    assert not car.world.enable
    car.world.runstop_closed = True
    while car.state != STOPPED:
        car.drive(10, 0)
    car.clear_and_arm()
    assert car.state == ACTIVE


def on_micropython(way: type, vehicle: str, bits: int):
    command = micropython_command(bits)
    return way(vehicle, runner=lambda *board: SubprocessRunner(command, *board))


@pytest.mark.micropython
@pytest.mark.parametrize(
    ("bits", "way", "vehicle"),
    CASES,
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_micropython_drives_and_stops_as_the_other_python_does(bits, way, vehicle):
    assert drive(on_micropython(way, vehicle, bits)) == drive(way(vehicle))
