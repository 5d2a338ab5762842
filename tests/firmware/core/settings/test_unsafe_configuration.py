"""The board itself refuses numbers that no car may have, whoever sends them (S8)."""

from __future__ import annotations

import pytest

from firmware.core.settings.checked_params import CheckedParams
from firmware.core.settings.params import CHANNEL_ESC, HUMAN_STOP_SOURCES, TABLE
from firmware.protocol import codes, messages
from firmware.protocol.frame import crc_table
from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.vehicle.schema import STOP_SOURCES
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.board.stored_image import board_id_of, stored_image
from tests.firmware.core.desk import parameters_of
from tests.firmware.worlds import world_of


def params_of(vehicle, **values):
    params = CheckedParams(crc_table())
    assert params.read_image(bytearray(stored_image(load_vehicle(vehicle), board_id_of("x"), "x")))
    for name, value in values.items():
        at = params.index(name)
        given = value if isinstance(value, list) else [value]
        params.values[at : at + len(given)] = given
    return params


def wrong(vehicle, is_virtual=1, **values):
    """The name of what is refused."""
    params = params_of(vehicle, **values)
    assert params.first_wrong() < 0, "in its range: what is looked at here is what it means"
    at = params.first_unsafe(is_virtual)
    names = [name for name, _, many, *_ in TABLE for _ in range(many)]
    return names[at] if at >= 0 else ""


@pytest.mark.parametrize("vehicle", vehicle_names())
def test_every_vehicle_file_is_one_that_a_car_may_have(vehicle):
    assert wrong(vehicle) == ""
    assert params_of(vehicle).first_unsafe(1) == -1


@pytest.mark.parametrize("vehicle", vehicle_names())
@pytest.mark.parametrize("profile", range(codes.PROFILE_COUNT))
def test_a_profile_in_which_no_person_can_stop_it(vehicle, profile):
    needs = load_vehicle(vehicle).parameters["stop_source_need"]
    given = list(needs)
    for source in HUMAN_STOP_SOURCES:
        given[profile * 16 + source] = codes.NOT_NEEDED
    assert wrong(vehicle, stop_source_need=given) == "stop_source_need"
    assert wrong(vehicle, stop_source_kind=[0] * 16) == "stop_source_need"
    for source in HUMAN_STOP_SOURCES:  # one is enough
        if load_vehicle(vehicle).parameters["stop_source_kind"][source]:
            given[profile * 16 + source] = codes.OPTIONAL
            assert wrong(vehicle, stop_source_need=given) == ""
            given[profile * 16 + source] = codes.NOT_NEEDED


def test_a_profile_that_is_not_offered_needs_nobody():
    needs = [0] * 16 + load_vehicle("nigel").parameters["stop_source_need"][16:]
    caps = load_vehicle("nigel").parameters["profile_cap_mm_s"]
    assert wrong("nigel", stop_source_need=needs) == "stop_source_need"
    assert wrong("nigel", stop_source_need=needs, profile_cap_mm_s=[0, *caps[1:]]) == ""


@pytest.mark.parametrize(
    ("vehicle", "blind_mm", "is_right"),
    [
        ("nigel", 283, True),
        ("nigel", 284, False),
        ("nigel", 10_000, False),
        ("f1tenth", 660, True),
        ("f1tenth", 661, False),
        ("autorally", 1_000, True),
        ("autorally", 1_001, False),
        ("rzr", 1_000, True),
        ("rzr", 1_001, False),
    ],
)
def test_no_car_is_driven_blind_farther_than_two_of_its_lengths_or_a_metre(
    vehicle, blind_mm, is_right
):
    assert wrong(vehicle, blind_mm=blind_mm) == ("" if is_right else "blind_mm")


def test_what_an_esc_drives_needs_something_to_brake_with():
    assert wrong("f1tenth", brake_effort_max=0) == "brake_effort_max"
    assert wrong("f1tenth", brake_effort_max=100) == ""
    assert wrong("autorally", brake_effort_max=0) == ""  # a servo pulls its brake
    assert wrong("nigel", brake_effort_max=0) == ""  # its bridges short the motors


def committed(host, own, at, value):
    """What the board says to one value of its own changed."""
    wanted = CheckedParams(crc_table())
    wanted.values[:] = own.values
    wanted.values[at] = value
    wanted.car_name[:] = own.car_name
    wanted.hash_into(wanted.config_hash)
    host.say(messages.ParameterWrite, index=at, value=value)
    host.rest(30)
    name, config_hash = bytes(own.car_name), bytes(wanted.config_hash)
    host.say(messages.ConfigCommit, config_hash=config_hash, car_name=name)
    host.rest(30)
    return host.latest["Committed"]


@pytest.mark.parametrize("vehicle", vehicle_names())
def test_only_a_virtual_car_whose_esc_brakes_by_a_measured_direction_brakes_before_it_is_cut(
    vehicle,
):
    parameters = load_vehicle(vehicle).parameters
    may_brake = CHANNEL_ESC in parameters["channel_kind"] and parameters["encoder_signed"] == [1]
    assert wrong(vehicle, loop_brake_ms=600) == ("" if may_brake else "loop_brake_ms")
    assert wrong(vehicle, is_virtual=0, loop_brake_ms=600) == "loop_brake_ms"
    assert wrong(vehicle, is_virtual=0) == ""
    if may_brake:
        assert wrong(vehicle, loop_brake_ms=1, encoder_signed=0) == "loop_brake_ms"


@pytest.mark.parametrize(
    ("vehicle", "is_virtual", "result"),
    [
        ("f1tenth", 1, codes.PARAMETER_OK),
        ("f1tenth", 0, codes.PARAMETER_INVALID),  # a board of metal
        ("nigel", 1, codes.PARAMETER_INVALID),  # no ESC
        ("autorally", 1, codes.PARAMETER_INVALID),  # its encoders tell no direction
    ],
)
def test_the_board_refuses_to_be_asked_to_brake_before_it_is_cut(vehicle, is_virtual, result):
    world = world_of(vehicle)
    host = SmallHost(world)
    host.connect()
    world.runner.board.is_virtual = is_virtual
    params = parameters_of(world.runner.app)
    at = params.index("loop_brake_ms")
    told = committed(host, params, at, 600)
    assert told.result == result
    assert told.where == (at if result == codes.PARAMETER_INVALID else 0)


@pytest.mark.parametrize("vehicle", ["nigel", "f1tenth"])
def test_a_program_that_only_stops_is_no_person(vehicle):
    """``external`` may be required beside a person, and is never the only one who can stop it."""
    external = STOP_SOURCES["external"].id
    vehicle_numbers = load_vehicle(vehicle).parameters
    kinds, needs = vehicle_numbers["stop_source_kind"], vehicle_numbers["stop_source_need"]
    kinds[external] = codes.STOP_SOURCE_LINK
    for profile in range(codes.PROFILE_COUNT):
        needs[profile * 16 + external] = codes.REQUIRED
    assert wrong(vehicle, stop_source_kind=kinds, stop_source_need=needs) == ""
    kinds = [kind if source == external else 0 for source, kind in enumerate(kinds)]
    assert wrong(vehicle, stop_source_kind=kinds, stop_source_need=needs) == "stop_source_need"


def test_the_persons_are_those_of_the_vehicle_files():
    humans = tuple(kind.id for kind in STOP_SOURCES.values() if kind.is_human)
    assert humans == HUMAN_STOP_SOURCES


def test_a_car_that_has_such_numbers_stored_stays_in_fault():
    params = params_of("nigel", blind_mm=10_000)
    at = params.index("board_id")
    world = world_of()
    params.values[at : at + 4] = [
        world.board_id[2 * i] | world.board_id[2 * i + 1] << 8 for i in range(4)
    ]
    image = bytearray(params.image_size())
    params.write_image(image)
    world.runner.board.image = bytes(image)
    world.runner.board.save([image])
    world.restart(codes.RESET_POWER_ON)
    host = SmallHost(world)
    host.connect()
    assert host.status.state == codes.FAULT
    assert host.status.faults & 1 << codes.FAULT_CONFIGURATION
