"""The virtual car's world: time is what its caller makes of it."""

import random

import pytest

from firmware.boards.simulated.virtual import RECEIVE_SIZE
from firmware.protocol import codes
from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.board.stored_image import board_id_of, stored_image
from sim_mock.virtual_car.config import virtual_car_config
from sim_mock.world import TIME_MASK, World
from tests.firmware.worlds import VEHICLES, world_of


def truth_of(world):
    truth = world.plant.truth
    names = ("x_m", "y_m", "yaw_rad", "vx_mps", "vy_mps", "yaw_rate_radps")
    return [getattr(truth, name) for name in names]


class Script:
    """What a host said to a world, and when: to say it again to another."""

    def __init__(self, vehicle):
        self.vehicle = vehicle
        self.said = []
        world = world_of(vehicle)
        feed = world.feed

        def recorded(data):
            self.said.append((world.now_us, bytes(data)))
            feed(data)

        world.feed = recorded
        host = SmallHost(world)
        host.take_the_wheel()
        host.drive(1500, 1500, 200_000)
        world.feed(random.Random(8).randbytes(3000))  # noise
        host.drive(500, 800, -200_000)
        host.stop()
        host.rest(2000)
        host.act(codes.ACTION_CLEAR)
        host.act(codes.ACTION_ARM)
        host.drive(1000, 1500)
        self.sent = b"".join(host.received)
        self.truth = truth_of(world)
        self.end_us = world.now_us

    def play(self, world, cuts):
        """``cuts(from_us, until_us)`` are the instants between, to which time is advanced."""
        sent = b""
        for at_us, data in [*self.said, (self.end_us, b"")]:
            for until_us in [*cuts(world.now_us, at_us), at_us]:
                sent += world.advance(until_us)
            world.feed(data)
        return sent


@pytest.fixture(scope="module", params=VEHICLES)
def script(request):
    return Script(request.param)


def odd(from_us, until_us):
    cuts, draws = [], random.Random(from_us)
    while from_us < until_us:
        from_us += draws.choice((1, 17, 777, 1000, 1001, 9_999, 30_000))
        cuts.append(min(from_us, until_us))
    return cuts


@pytest.mark.parametrize(
    "cuts",
    [
        pytest.param(lambda a, b: (), id="in one go"),
        pytest.param(lambda a, b: range(a, b, 1000), id="each millisecond"),
        pytest.param(lambda a, b: range(a, b, 10_000), id="each beat"),
        pytest.param(odd, id="in odd pieces"),
        pytest.param(lambda a, b: (b, b, b), id="asked three times"),
    ],
)
def test_time_may_be_cut_anyhow_and_gives_the_same_bytes_and_the_same_truth(script, cuts):
    world = world_of(script.vehicle)
    assert script.play(world, cuts) == script.sent
    assert truth_of(world) == script.truth


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    def drive(seed):
        host = SmallHost(world_of(seed=seed))
        host.take_the_wheel()
        host.drive(500, 1500, 100_000)
        return host.outputs.hexdigest()

    assert drive(1) == drive(1)
    assert drive(1) != drive(2)


def status_times(world, instants):
    """The board's time in the status of each beat."""
    host = SmallHost(world)
    times = []
    for now_us in instants:
        host.latest.clear()
        host.hear(world.beat(now_us))
        times.append(host.latest["Status"].time_us)
    return times


def test_a_late_beat_is_late_for_the_program_too_and_for_the_plant():
    instants = [0, 10_000, 23_400, 30_000, 57_100, 60_000]
    world = world_of()
    assert status_times(world, instants) == instants
    assert world.now_us == 60_000


def test_after_a_late_beat_the_next_is_a_whole_step_later():
    world = world_of()
    world.beat(13_000)
    assert world.advance(22_999) == b""
    assert world.advance(23_000) != b""


def test_a_clock_that_begins_just_before_its_wrap_goes_on_from_zero():
    start_us = TIME_MASK + 1 - 20_000
    instants = [start_us + i * 10_000 for i in range(4)]
    times = status_times(world_of(start_us=start_us), instants)
    assert times == [start_us, start_us + 10_000, 0, 10_000]


def test_the_plant_is_observed_every_millisecond():
    world = world_of()
    seen = []
    world.observers.append(lambda world: seen.append(world.now_us))
    world.advance(20_000)
    assert seen == list(range(1000, 20_001, 1000))


def test_an_open_runstop_and_a_charger_are_felt_by_the_program():
    world = world_of()
    host = SmallHost(world)
    world.runstop_closed = False
    host.connect()
    assert host.status.causes & 1 << codes.CAUSE_RUNSTOP_LOOP
    world.runstop_closed = True
    host.rest(100)
    assert host.act(codes.ACTION_CLEAR) == 0
    world.charger = True
    host.rest(100)
    assert host.act(codes.ACTION_ARM) & 1 << codes.REFUSED_CHARGER


def test_what_does_not_fit_one_beat_is_lost_as_on_a_board():
    world = world_of()
    host = SmallHost(world)
    host.connect()
    rejected = host.latest["LinkCounters"].damaged
    room = world.feed_room
    world.feed(b"\1\2\3\0" * 2000)
    assert (0 < room <= RECEIVE_SIZE, world.feed_room) == (True, 0)
    host.rest(1500)
    assert host.latest["LinkCounters"].damaged == rejected + room // 4


def test_after_a_flood_the_next_host_connects_and_arms():
    """Two seconds of it: what waits is never more than a step takes."""
    world = world_of()
    for _ in range(200):
        for _ in range(40):
            world.feed(b"\1\2\3\0" * 64)
        world.advance(world.now_us + world.step_us)
    host = SmallHost(world)
    host.connect()
    assert host.act(codes.ACTION_ARM) == 0


# --- what is different about a car


class Works:
    """Builds cars, and keeps what was given to their programs."""

    def __init__(self):
        self.given = []

    def __call__(self, board_id, image, seed):
        self.given.append((board_id, image, seed))
        return InProcessRunner(board_id, image, seed)


def driven(works, **query):
    world = virtual_car_config(load_vehicle("f1tenth"), {"seed": "4", **query}).make_world(works)
    host = SmallHost(world)
    host.take_the_wheel()
    at_rest = b"".join(host.received)
    host.drive(3000, 2000, 150_000)
    return world, at_rest


@pytest.mark.parametrize(
    "query", [{"payload_kg": "1.5", "payload_x_m": "-0.1"}, {"patch": "2,0,30,0.2"}]
)
def test_a_load_and_a_slippery_floor_change_the_plant_and_nothing_else(query):
    works = Works()
    plain, plain_at_rest = driven(works)
    other, other_at_rest = driven(works, **query)
    assert works.given[0] == works.given[1]
    assert plain_at_rest == other_at_rest
    assert truth_of(plain) != truth_of(other)


def test_the_board_id_belongs_to_the_word_for_it():
    assert board_id_of("one") == board_id_of("one")
    assert board_id_of("one") != board_id_of("two")
    assert len(board_id_of("one")) == 8


def test_a_world_has_the_name_and_the_image_of_its_car():
    vehicle = load_vehicle("nigel")
    world = World(vehicle, name="henry")
    host = SmallHost(world)
    host.connect()
    identity = host.latest["Identity"]
    assert identity.car_name.rstrip(b"\0") == b"henry"
    assert bytes(identity.board_id) == board_id_of("henry")
    assert (identity.device, identity.flags, bytes(identity.answer)) == (1, 1, bytes(8))
    assert stored_image(vehicle, board_id_of("henry"), "henry") != stored_image(
        vehicle, board_id_of("henry"), "harry"
    )


@pytest.mark.parametrize(
    ("takes_us", "begins_us"),
    [
        (0, [0, 10_000, 20_000, 30_000]),
        (9_000, [0, 10_000, 20_000, 30_000]),
        (11_400, [0, 11_400, 22_800, 34_200]),
        (25_000, [0, 25_000, 50_000, 75_000]),
    ],
)
def test_a_step_that_takes_its_time_makes_the_next_one_late(takes_us, begins_us):
    world = World(load_vehicle("f1tenth"))
    world.step_takes_us = takes_us
    begun_us = []
    step = world.runner.step
    world.runner.step = lambda now_us, *rest: begun_us.append(now_us) or step(now_us, *rest)
    world.advance(begins_us[-1])
    assert begun_us == begins_us
    assert world.interval_us == begins_us[1]  # what paces it goes by this


def test_what_was_late_is_made_up_for_by_quicker_steps():
    world = World(load_vehicle("f1tenth"))
    world.step_takes_us = 16_000
    world.advance(0)
    world.step_takes_us = 7_000
    begun_us = []
    step = world.runner.step
    world.runner.step = lambda now_us, *rest: begun_us.append(now_us) or step(now_us, *rest)
    world.advance(50_000)
    assert begun_us == [16_000, 23_000, 30_000, 40_000, 50_000]


def test_another_boards_image_does_not_arm():
    vehicle = load_vehicle("f1tenth")
    host = SmallHost(
        World(vehicle, name="one", image=stored_image(vehicle, board_id_of("two"), "one"))
    )
    host.connect()
    host.drive(50, deadman=0)
    assert host.act(codes.ACTION_ARM) != 0


def test_a_blank_board_answers_and_does_not_arm():
    host = SmallHost(
        virtual_car_config(load_vehicle("f1tenth"), {"blank": "1"}).make_world(InProcessRunner)
    )
    host.connect()
    host.drive(50, deadman=0)
    assert host.act(codes.ACTION_ARM) != 0
    assert host.world.plant.truth.vx_mps == 0
