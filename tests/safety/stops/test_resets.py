"""A reset at any line of a step, with any part of its bytes sent, at any byte of a commit (S5).

The program is cut off where it is: what is left is what the line, the pins and the store have.
"""

import sys
from pathlib import Path
from random import Random

import pytest

from firmware.app import App
from firmware.boards.simulated.virtual import VirtualBoard
from firmware.boards.store import Store
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol import codes, messages
from host_bridge.config import load_vehicle, values_hash
from sim_mock.board.firmware_runner import InProcessRunner, key_record_in
from sim_mock.world import World
from tests.firmware.copies import saved
from tests.firmware.core.desk import parameters_of
from tests.firmware.protocol.streams import read
from tests.safety.support.facts import NAMES
from tests.safety.support.hosts import host_of
from tests.safety.ways.suite import is_neutral
from tests.safety.ways.ways import Way

STARTING, STANDBY, ACTIVE, HOLD = range(4)
FIRMWARE = str(Path(sys.modules[App.__module__].__file__ or "").parent)
CUTS = 5  # of each kind and vehicle, evenly spread, each time from another line on
COMMIT_CUTS = 12
NAME = b"a car".ljust(16, b"\0")
_CRUISING: dict = {}


class CutOff(BaseException):
    """The board begins anew, here."""


def step(world: World, cut_at: int = -1) -> tuple[int, bytes]:
    """A beat, its program cut off before that line; how many lines it ran, and what it sent."""
    count, app = 0, world.runner.app
    whole = app.step

    def part(now_us: int) -> None:
        nonlocal count
        count = lines_of(lambda: whole(now_us), cut_at)

    app.step = part
    sent = world.advance(world.now_us + world.step_us)
    app.step = whole
    return count, sent


def lines_of(act, cut_at: int) -> int:
    """How many lines of the firmware ``act`` runs; cut off before that one."""
    count = 0

    def trace(frame, event, _arg):
        nonlocal count
        if not frame.f_code.co_filename.startswith(FIRMWARE):
            return None
        if event == "line":
            if count == cut_at:
                raise CutOff
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except CutOff:
        assert count == cut_at
    finally:
        sys.settrace(before)
    return count


@pytest.fixture(params=NAMES)
def car(request):
    """A copy of a car that was brought to speed once."""
    if request.param not in _CRUISING:
        driver = Way(request.param)
        driver.begin()
        driver.come_to_speed()
        _CRUISING[request.param] = saved(driver)
    return _CRUISING[request.param]()


def stops(car) -> None:
    car.host.stop()


def asks_to_arm(car) -> None:
    car.host.say(messages.Act, action=codes.ACTION_ARM)


def drives(car) -> None:
    car.say()


@pytest.mark.parametrize("what", [drives, stops, asks_to_arm])
def test_a_reset_at_any_line_of_a_step_leaves_it_neutral_and_disarmed(car, what):
    what(car)
    again = saved(car)
    whole, _ = step(again().world)
    first = Random(f"{car.vehicle} {what.__name__}").randrange(whole // CUTS)
    for cut_at in range(first, whole, whole // CUTS):
        one = again()
        one.host.hear(step(one.world, cut_at)[1])
        one.world.restart(codes.RESET_WATCHDOG)
        is_silent(one)
        for _ in range(130):
            one.beat()
            assert one.state in (STARTING, STANDBY), cut_at
            assert not one.world.enable
            assert is_neutral(one)
        assert one.state == STANDBY


def is_silent(car) -> None:
    """No pulse at all, until the program has begun."""
    car.world.advance(car.world.now_us + 1000)
    assert not any(car.world.values)
    assert not car.world.enable


def test_the_driver_s_claims_move_nothing_until_a_person_has_armed_it_again(car):
    car.world.restart(codes.RESET_BROWN_OUT)
    for _ in range(150):
        car.beat()
    assert car.state == STANDBY
    car.take_up()
    car.let_go(50)
    while car.host.status.speed_mm_s:  # it may roll on for long
        car.beat()
    assert car.arm() == 0
    car.let_go(50)
    car.hold()
    car.drive(50, car.cruise_mm_s)
    assert car.state == HOLD, "not from neutral"
    car.drive(50, 0)
    car.drive(100, car.cruise_mm_s)
    assert car.state == ACTIVE


def test_whatever_part_of_its_bytes_was_sent_all_that_follows_is_understood(car):
    sent = car.world.advance(car.world.now_us + car.world.step_us)
    car.world.restart(codes.RESET_SOFT)
    anew = car.world.advance(car.world.now_us + 5 * car.world.step_us)
    expected = read([anew]).payloads
    assert [payload[0] for payload in expected].count(messages.Status.ID) >= 4
    for cut in range(len(sent)):
        assert read([sent[:cut], anew]).payloads[-len(expected) :] == expected


# --- while a configuration is committed


class StoredBoard(VirtualBoard):
    """Its configuration is in files, as on a real board."""

    paths: "tuple[str, str]"

    def load_into(self, image: bytearray) -> int:
        return Store(self.paths).load_into(image)

    def save(self, pieces: "list[bytearray]") -> bool:
        return Store(self.paths).save(pieces)


class Desk:
    """A car whose store is in ``folder``, bound, with another steering rate in its draft."""

    def __init__(self, folder: Path) -> None:
        self.vehicle = load_vehicle("f1tenth")
        self.paths = str(folder / "a"), str(folder / "b")
        self.world = World(self.vehicle, runner=self._run)
        self.host = host_of(self.world)

    def _run(self, board_id: bytes, image: bytes, seed: int) -> InProcessRunner:
        runner = InProcessRunner.__new__(InProcessRunner)
        runner.board = StoredBoard(board_id, image, seed)
        runner.board.paths = self.paths
        runner._key = key_record_in(image)
        if not Path(self.paths[0]).exists():
            Store(self.paths).save([bytearray(image)])
        runner.app = App(runner.board)
        return runner

    def is_valid(self) -> bool:
        return bool(self.world.runner.app.configuration.is_valid)

    def hash(self) -> bytes:
        return bytes(self.world.runner.app.configuration.config_hash)

    def draft(self) -> bytes:
        """Write one parameter; the hash of what a commit makes of it."""
        self.host.connect()
        while self.host.state == STARTING:
            self.host.beat()
        params: CheckedParams = parameters_of(self.world.runner.app)
        values = list(params.values)
        at = params.index("steer_rate_urad_s")
        values[at] += 1000
        self.host.say(messages.ParameterWrite, index=at, value=values[at])
        self.host.rest(20)
        return values_hash(values, NAME.rstrip(b"\0").decode())

    def commit(self, wanted: bytes, cut_at: int = -1) -> int:
        """How many lines that took."""
        self.host.say(messages.ConfigCommit, config_hash=wanted, car_name=NAME)
        return step(self.world, cut_at)[0]


def begun_anew(desk: Desk) -> bytes:
    """The hash of what it holds after a reset; it is whole, and nothing is armed."""
    desk.world.restart(codes.RESET_BROWN_OUT)
    desk.host.rest(50)
    assert desk.is_valid()
    assert desk.host.status.faults == 0
    assert desk.host.state == STARTING
    assert not desk.world.enable
    return desk.hash()


def test_a_reset_at_any_line_of_a_commit_leaves_the_old_configuration_or_the_new(tmp_path):
    desk = Desk(tmp_path)
    wanted, before = desk.draft(), desk.hash()
    stored = {path: path.read_bytes() for path in tmp_path.iterdir()}
    again = saved(desk)
    whole = again().commit(wanted)
    cuts = [*range(0, whole, whole // COMMIT_CUTS), *range(whole - 1, whole - 2000, -400)]
    found = []
    for cut_at in cuts:
        for path in tmp_path.iterdir():
            path.unlink()
        for path, data in stored.items():
            path.write_bytes(data)
        one = again()
        one.commit(wanted, cut_at)
        found.append(begun_anew(one))
    assert set(found) == {before, wanted}
    assert found[0] == before


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99, 0.9999])
def test_power_that_goes_while_a_commit_is_written_leaves_the_old_configuration(tmp_path, share):
    desk = Desk(tmp_path)
    wanted, before = desk.draft(), desk.hash()
    desk.commit(wanted)
    assert desk.hash() == wanted
    newer = Path(desk.paths[1])
    data = newer.read_bytes()
    newer.write_bytes(data[: int(share * len(data))])
    assert begun_anew(desk) == before
