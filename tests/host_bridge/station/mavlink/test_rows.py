"""The least that makes a ground station content, row by row, against the library's own messages."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.core.texts.events import event_text
from host_bridge.station.mavlink.messages.frames import LocalFrame, Origin
from host_bridge.station.mavlink.messages.schedule import build
from tests.host_bridge.station.mavlink.rover import Rover, StationEnd
from tests.support.evidence import every, some

ACCEPTED, DENIED = mavlink.MAV_RESULT_ACCEPTED, mavlink.MAV_RESULT_DENIED
UNSUPPORTED = mavlink.MAV_RESULT_UNSUPPORTED
REQUEST = mavlink.MAV_CMD_REQUEST_MESSAGE
INTERVAL = mavlink.MAV_CMD_SET_MESSAGE_INTERVAL


@pytest.fixture(scope="module")
def seen():
    """A rover that a station watches for five seconds, with an origin."""
    origin = Origin(48.137, 11.575, LocalFrame(math.pi / 2))
    rover = Rover(origin=origin, frame=origin.frame)
    station = StationEnd(rover)
    station.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    rover.advance(5.0)
    return rover, station


def asked(seen, message):
    """What a station gets within 50 ms of asking, telemetry left out."""
    rover, station = seen
    station.got.clear()
    station.send(message)
    rover.advance(0.05)
    return station.got


def test_one_heartbeat_a_second_of_a_rover_that_is_neither_px4_nor_ardupilot(seen):
    beats = some(seen[1].all_of("HEARTBEAT"))
    assert len(beats) in (5, 6)
    assert {(it.type, it.autopilot, it.get_srcComponent()) for it in beats} == {
        (mavlink.MAV_TYPE_GROUND_ROVER, mavlink.MAV_AUTOPILOT_GENERIC, 1)
    }
    assert not any(it.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED for it in beats)


def test_a_car_that_is_not_online_has_no_heartbeat():
    rover = Rover()
    station = StationEnd(rover)
    station.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    rover.rig.is_plugged = False
    rover.advance(1.0)
    station.got.clear()
    rover.advance(3.0)
    assert station.all_of("HEARTBEAT") == []
    assert not rover.car.is_online()


def test_every_parameter_comes_with_its_count_and_index(seen):
    values = [
        it
        for it in asked(seen, mavlink.MAVLink_param_request_list_message(1, 1))
        if it.get_type() == "PARAM_VALUE"
    ]
    count = some(values)[0].param_count
    assert [it.param_index for it in values] == list(range(count))
    assert {it.param_count for it in values} == {count}
    names = [it.param_id for it in values]
    assert len(set(names)) == count
    assert every(len(it) <= 16 for it in names)


def test_a_car_of_no_known_vehicle_has_one_parameter_for_the_end_of_the_list():
    rover = Rover()
    rover.car.vehicle = None
    station = StationEnd(rover)
    station.send(mavlink.MAVLink_param_request_list_message(1, 1))
    values = some(station.all_of("PARAM_VALUE"))
    assert [(it.param_id, it.param_count) for it in values] == [("MAV_SYS_ID", 1)]


@pytest.mark.parametrize(
    ("index", "name", "found"),
    [
        (-1, b"blind_mm", "BLIND_MM"),
        (-1, b"BLIND_MM", "BLIND_MM"),
        (0, b"", "MAV_SYS_ID"),
        (-1, b"no_such", None),
        (999, b"", None),
    ],
)
def test_one_parameter_by_name_or_by_index(seen, index, name, found):
    got = asked(seen, mavlink.MAVLink_param_request_read_message(1, 1, name, index))
    values = [it.param_id for it in got if it.get_type() == "PARAM_VALUE"]
    assert values == ([found] if found else [])


def test_a_value_of_the_vehicle_file_is_not_written_and_the_old_one_is_told(seen):
    set_it = mavlink.MAVLink_param_set_message(
        1, 1, b"blind_mm", 9999.0, mavlink.MAV_PARAM_TYPE_REAL32
    )
    got = asked(seen, set_it)
    rover, station = seen
    (error,) = station.all_of("PARAM_ERROR")
    assert error.error == mavlink.MAV_PARAM_ERROR_READ_ONLY
    (value,) = [it for it in got if it.get_type() == "PARAM_VALUE"]
    assert value.param_value == rover.car.vehicle.parameters["blind_mm"][0]
    assert "vehicle file" in station.texts()
    assert rover.written == []


def test_the_control_period_is_handed_on_to_be_written(seen):
    asked(seen, mavlink.MAVLink_param_set_message(1, 1, b"STEP_US", 20_000.0, 9))
    assert seen[0].written == [20_000.0]


def test_there_is_no_mission_and_none_is_taken(seen):
    asked(seen, mavlink.MAVLink_mission_request_list_message(1, 1, 0))
    assert [it.count for it in some(seen[1].all_of("MISSION_COUNT"))] == [0]
    asked(seen, mavlink.MAVLink_mission_count_message(1, 1, 3, 0))
    assert [it.type for it in some(seen[1].all_of("MISSION_ACK"))] == [
        mavlink.MAV_MISSION_UNSUPPORTED
    ]
    asked(seen, mavlink.MAVLink_mission_clear_all_message(1, 1, 0))
    assert [it.type for it in some(seen[1].all_of("MISSION_ACK"))] == [mavlink.MAV_MISSION_ACCEPTED]


def test_a_command_that_nobody_knows_is_acknowledged_as_unsupported(seen):
    station = seen[1]
    station.got.clear()
    for number in (mavlink.MAV_CMD_NAV_TAKEOFF, mavlink.MAV_CMD_MISSION_START, 65_000):
        station.command(number, math.nan)
        assert station.acks(number) == [UNSUPPORTED]
    station.send(
        mavlink.MAVLink_command_int_message(
            1, 1, 0, mavlink.MAV_CMD_DO_REPOSITION, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0
        )
    )
    assert station.acks(mavlink.MAV_CMD_DO_REPOSITION) == [UNSUPPORTED]


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION, "AUTOPILOT_VERSION"),
        (mavlink.MAVLINK_MSG_ID_CURRENT_MODE, "CURRENT_MODE"),
        (mavlink.MAVLINK_MSG_ID_HOME_POSITION, "HOME_POSITION"),
        (mavlink.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN, "GPS_GLOBAL_ORIGIN"),
        (mavlink.MAVLINK_MSG_ID_HEARTBEAT, "HEARTBEAT"),
        (mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL, "MESSAGE_INTERVAL"),
        (300, ""),  # PROTOCOL_VERSION
        (397, ""),  # COMPONENT_METADATA
    ],
)
def test_a_requested_message_comes_or_is_unsupported(seen, number, name):
    station = seen[1]
    station.got.clear()
    station.command(REQUEST, number)
    assert station.acks(REQUEST) == [ACCEPTED if name else UNSUPPORTED]
    assert not name or station.all_of(name)


def test_modes_are_listed_one_by_one_and_all_at_once(seen):
    station = seen[1]
    station.got.clear()
    station.command(REQUEST, mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES, 2)
    station.command(REQUEST, mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES, 0)
    modes = some(station.all_of("AVAILABLE_MODES"))
    assert [(it.mode_index, it.mode_name, it.custom_mode) for it in modes] == [
        (2, "Hold", 4),
        (1, "Manual", 0),
        (2, "Hold", 4),
        (3, "Offboard", 15),
    ]


def test_a_mode_is_set_by_command_and_by_the_old_message(seen):
    rover, station = seen
    station.got.clear()
    station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 4)
    assert rover.gateway.driver.mode.name == "Hold"
    station.send(mavlink.MAVLink_set_mode_message(1, 1, 0))
    assert rover.gateway.driver.mode.name == "Manual"
    station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 77)
    assert station.acks(mavlink.MAV_CMD_DO_SET_MODE) == [ACCEPTED, UNSUPPORTED]


def test_intervals_are_honoured_within_bounds():
    rover = Rover()
    station = StationEnd(rover)
    attitude = mavlink.MAVLINK_MSG_ID_ATTITUDE
    station.command(INTERVAL, attitude, 20_000)
    rover.advance(1.0)
    assert 48 <= len(station.all_of("ATTITUDE")) <= 52
    station.command(INTERVAL, attitude, -1)
    station.got.clear()
    rover.advance(1.0)
    assert station.all_of("ATTITUDE") == []
    for interval_us in (1_000, 1e9, math.nan, -2):
        station.command(INTERVAL, attitude, interval_us)
    assert station.acks(INTERVAL) == [DENIED] * 4
    station.command(INTERVAL, mavlink.MAVLINK_MSG_ID_HEARTBEAT, -1)
    assert station.acks(INTERVAL)[-1] == DENIED
    station.command(mavlink.MAV_CMD_GET_MESSAGE_INTERVAL, attitude)
    assert station.all_of("MESSAGE_INTERVAL")[-1].interval_us == -1
    station.command(INTERVAL, attitude, 0)
    station.command(mavlink.MAV_CMD_GET_MESSAGE_INTERVAL, attitude)
    assert station.all_of("MESSAGE_INTERVAL")[-1].interval_us == 100_000


def test_old_streams_are_set_as_mavproxy_asks(seen):
    rover = Rover()
    station = StationEnd(rover)
    station.send(
        mavlink.MAVLink_request_data_stream_message(1, 1, mavlink.MAV_DATA_STREAM_EXTRA1, 2, 1)
    )
    rover.advance(2.0)
    assert 3 <= len(station.all_of("ATTITUDE")) <= 5


def test_time_and_ping_are_answered_and_files_refused_at_once(seen):
    rover = seen[0]
    got = asked(seen, mavlink.MAVLink_timesync_message(0, 4711))
    (answer,) = [it for it in got if it.get_type() == "TIMESYNC"]
    assert answer.ts1 == 4711
    assert 0 <= rover.now_us * 1000 - answer.tc1 < 100e6
    asked(seen, mavlink.MAVLink_ping_message(1, 7, 0, 0))
    assert [it.seq for it in some(seen[1].all_of("PING"))] == [7]
    asked(seen, mavlink.MAVLink_file_transfer_protocol_message(0, 1, 1, [5, 0, 1, 4] + [0] * 247))
    (no,) = seen[1].all_of("FILE_TRANSFER_PROTOCOL")
    assert (no.payload[0], no.payload[3], no.payload[5]) == (6, 129, 4)


def test_all_telemetry_comes_unasked(seen):
    rover = Rover(origin=Origin(48.0, 11.0, LocalFrame()))
    station = StationEnd(rover)
    station.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    rover.advance(6.0)
    names = {it.get_type() for it in some(station.got)}
    assert names >= {
        "SYS_STATUS",
        "BATTERY_STATUS",
        "ATTITUDE",
        "LOCAL_POSITION_NED",
        "ODOMETRY",
        "VFR_HUD",
        "WHEEL_DISTANCE",
        "EXTENDED_SYS_STATE",
        "SYSTEM_TIME",
        "CURRENT_MODE",
        "GLOBAL_POSITION_INT",
        "GPS_RAW_INT",
        "HOME_POSITION",
    }
    assert every(it.fix_type == mavlink.GPS_FIX_TYPE_NO_GPS for it in station.all_of("GPS_RAW_INT"))


def test_without_an_origin_nothing_puts_it_on_a_map():
    rover = Rover()
    station = StationEnd(rover)
    station.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    rover.advance(6.0)
    names = {it.get_type() for it in some(station.got)}
    assert not names & {"GLOBAL_POSITION_INT", "GPS_RAW_INT", "HOME_POSITION"}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (mavlink.MAVLink_rc_channels_override_message(1, 1, *[1500] * 8), "MANUAL_CONTROL"),
        (
            mavlink.MAVLink_set_attitude_target_message(0, 1, 1, 0, [1, 0, 0, 0], 0, 0, 0, 0),
            "not followed",
        ),
    ],
)
def test_what_is_not_followed_is_refused_in_words_once_in_5_s(message, words):
    rover = Rover()
    station = StationEnd(rover)
    for _ in range(20):
        station.send(message)
        rover.advance(0.1)
    assert station.texts().count(words) == 1


def test_a_message_to_another_system_is_nobodys_business():
    rover = Rover(is_watch_only=True)
    station = StationEnd(rover)
    stop_other = mavlink.MAVLink_command_long_message(
        2, 1, mavlink.MAV_CMD_DO_FLIGHTTERMINATION, 0, 1, 0, 0, 0, 0, 0, 0
    )
    station.send(stop_other)
    rover.advance(0.2)
    assert station.all_of("COMMAND_ACK") == []
    assert rover.car.status.first_cause is None


def test_garbage_is_counted_and_stops_nothing():
    rover = Rover()
    station = StationEnd(rover)
    good = station.frame(mavlink.MAVLink_param_request_read_message(1, 1, b"blind_mm", -1))
    rover.gateway.hear(bytes(range(256)) * 4, station.address)
    rover.gateway.hear(good[:-3], station.address)
    rover.gateway.hear(b"", station.address)
    rover.gateway.hear(bytes([*good[:-1], good[-1] ^ 1]), station.address)
    assert station.all_of("PARAM_VALUE") == []
    rover.gateway.hear(good, station.address)
    assert len(station.all_of("PARAM_VALUE")) == 1


def test_each_event_of_the_car_and_each_reason_to_stand_is_a_sentence():
    rover = Rover()
    station = StationEnd(rover)
    station.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    known = len(rover.car.events)
    station.arm()
    rover.advance(0.5)
    station.disarm()
    rover.advance(0.5)
    happened = [event_text(it, rover.car.vehicle) for it in list(rover.car.events)[known:]]
    assert len(happened) > 3
    told = station.texts()
    assert [it for it in happened if it not in told] == []
    assert rover.car.why_stopped() in told


def test_each_address_is_told_for_5_s_after_it_was_heard():
    rover = Rover()
    ends = [StationEnd(rover, ("127.0.0.1", 14_560 + it), system=250 + it) for it in range(3)]
    for end in ends:
        end.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    rover.advance(4.0)
    ends[0].send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    assert every(len(end.all_of("HEARTBEAT")) >= 4 for end in ends)
    rover.advance(1.1)
    for end in ends:
        end.got.clear()
    rover.advance(3.0)
    assert [bool(end.got) for end in ends] == [True, False, False]
    assert len(rover.gateway.attached()) == 1


def test_times_since_the_start_wrap_after_49_days():
    rover = Rover()
    view = replace(rover.gateway.view(), elapsed_us=(2**32 + 7) * 1000)
    assert build(mavlink.MAVLINK_MSG_ID_ATTITUDE, view).time_boot_ms == 7
