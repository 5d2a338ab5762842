"""What a log says in Foxglove's schemas: decoded by Foxglove's own, and true to our channels."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from math import cos, hypot, pi, sin

import mcap.reader
import pytest
from PIL import Image

from host_bridge.core import CarEvent, CarMotion, EventCode
from host_bridge.core.system.clock import ManualClock
from host_bridge.logs.foxglove_rows import SCHEMAS, StandardRows, start_in_map
from host_bridge.logs.reading import read, summary
from host_bridge.logs.recorder import create
from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.sharing.owner.car_place import place_of
from tests.host_bridge.drive.drives import vehicle as known_vehicle
from tests.support.evidence import some

pytest.importorskip("foxglove", reason="the official schemas are foxglove-sdk's")
pytest.importorskip("google.protobuf", reason="they are descriptors of Protobuf")

from tests.host_bridge.logs.official_schemas import decoded, message_class

WALL_NS = 1_790_000_000_123_456_789
START_US = 5_000_000
MOTION = CarMotion(0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
URI = "sim://f1tenth?track=corridor&start=1,2,90"
RADIUS_M = 2.0


@pytest.fixture(scope="module")
def vehicle():
    return known_vehicle("f1tenth")


@pytest.fixture(scope="module")
def log(tmp_path_factory, vehicle):
    """A circle of 10 s at 100 Hz, with an event, a note, a scan and a picture."""
    path = tmp_path_factory.mktemp("log") / "drive.mcap"
    clock = ManualClock(START_US)
    recorder = create(path, clock, WALL_NS, {"version": "0", "protocol_hash": "00"})
    recorder.car("car", {"uri": URI, "vehicle": "f1tenth"})
    recorder.place("car", vehicle, *place_of(URI, vehicle))
    for step in range(1000):
        clock.advance(10_000)
        turned = step * 0.005
        here = {"x_m": RADIUS_M * sin(turned), "y_m": RADIUS_M * (1 - cos(turned))}
        recorder.report("car", replace(MOTION, **here, yaw_rad=turned), clock.now_us())
    recorder.report("car", CarEvent(1, 0, EventCode.STOP_LATCHED, 1, 0), clock.now_us())
    recorder.note("a remark")
    recorder.scan("car", LidarScan(1.0, -2.0, 0.5, [1.0, None, 3.25]), clock.now_us())
    file = io.BytesIO()
    Image.new("RGB", (8, 6), (200, 30, 40)).save(file, "JPEG")
    recorder.image(file.getvalue(), clock.now_us())
    recorder.close()
    assert recorder.fault is None
    return path


@pytest.fixture(scope="module")
def messages(log):
    """Each standard message by topic, as Foxglove's library decodes it, with its log time."""
    found: dict[str, list] = {}
    with log.open("rb") as stream:
        for schema, channel, message in mcap.reader.make_reader(stream).iter_messages():
            if schema is not None and schema.name.startswith("foxglove."):
                assert (channel.message_encoding, schema.encoding) == ("json", "jsonschema")
                it = decoded(schema.name, json.loads(message.data))
                found.setdefault(channel.topic, []).append((message.log_time, it))
    return found


def test_every_schema_that_the_issue_of_a_viewer_needs_is_there(messages):
    assert set(messages) == {
        "/car/tf", "/car/pose", "/car/scan", "/car/log", "/log", "/car/driven", "/car/track",
        "/camera/image",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_our_text_of_each_schema_names_fields_of_the_official_one_alone(name):
    _same_fields(SCHEMAS[name], message_class(name).DESCRIPTOR)


def _same_fields(schema, descriptor):
    if descriptor.full_name.startswith("google.protobuf."):
        assert set(schema["properties"]) == {"sec", "nsec"}
        return
    for key, part in some(schema["properties"].items()):
        field = descriptor.fields_by_name[key]
        if field.is_repeated:
            assert part["type"] == "array"
            part = part["items"]
        if field.message_type is not None:
            _same_fields(part, field.message_type)


def test_a_message_has_every_field_of_its_official_schema_that_is_not_a_list(messages):
    for topic in ("/car/pose", "/car/log", "/camera/image"):
        for _, it in some(messages[topic]):
            missing = {f.name for f in it.DESCRIPTOR.fields if f.message_type and not
                       f.is_repeated and not it.HasField(f.name)}  # fmt: skip
            assert not missing


def test_transforms_lead_from_the_map_to_the_lidar_and_are_of_their_moment(messages, vehicle):
    rows = messages["/car/tf"]
    assert 480 <= len(rows) <= 520  # of 10 s: 50 Hz
    for log_ns, it in some(rows):
        chain = [(t.parent_frame_id, t.child_frame_id) for t in it.transforms]
        assert chain == [("map", "car/odom"), ("car/odom", "car/base_link"),
                         ("car/base_link", "car/laser")]  # fmt: skip
        stamp = it.transforms[1].timestamp
        assert stamp.seconds * 1_000_000_000 + stamp.nanos == log_ns
    in_map, here, mount = rows[-1][1].transforms
    rear_m = vehicle.turns_behind_centre_m
    assert (in_map.translation.x, in_map.translation.y) == pytest.approx((1, 2 - rear_m), abs=1e-3)
    assert in_map.rotation.z == pytest.approx(sin(pi / 4))
    assert hypot(here.translation.x, here.translation.y - RADIUS_M) == pytest.approx(2, abs=1e-3)
    lidar = vehicle.plant["lidar"]
    assert mount.translation.x == pytest.approx(lidar["ahead_m"] - vehicle.turns_ahead_m)


def test_the_pose_is_the_motions(messages, log):
    last = [it.value for it in read(log) if it.topic == "motion"][-1]
    pose = messages["/car/pose"][-1][1]
    assert pose.frame_id == "car/odom"
    assert pose.pose.position.x == pytest.approx(last["x_m"], abs=0.02)
    assert 2 * pose.pose.orientation.w**2 - 1 == pytest.approx(cos(last["yaw_rad"]), abs=0.02)


def test_the_way_driven_grows_and_the_walls_are_the_tracks(messages):
    lines = [it.entities[0].lines[0] for _, it in messages["/car/driven"]]
    assert [len(it.points) for it in lines] == sorted(len(it.points) for it in lines)
    assert 70 <= len(lines[-1].points) <= 100  # 9 m of a circle, a point each 0.1 m or little more
    ((_, track),) = messages["/car/track"]
    assert track.entities[0].frame_id == "map"
    walls = place_of(URI, None).walls
    assert len(track.entities[0].lines[0].points) == 2 * len(walls) > 0


def test_a_scan_begins_at_the_lidar_and_a_ray_without_a_return_at_no_distance(messages):
    ((_, scan),) = messages["/car/scan"]
    assert list(scan.ranges) == [1.0, 0.0, 3.25]
    assert (scan.start_angle, scan.end_angle) == (-2.0, -1.0)
    assert scan.frame_id == "car/base_link"
    assert scan.pose.position.x > 0


def test_events_and_notes_are_lines_of_a_log(messages):
    ((_, event),) = messages["/car/log"]
    ((_, note),) = messages["/log"]
    assert (event.name, event.level) == ("car", 4)
    assert event.message
    assert (note.message, note.level) == ("a remark", 2)


def test_a_picture_is_the_cameras(messages):
    ((_, picture),) = messages["/camera/image"]
    assert picture.format == "jpeg"
    assert Image.open(io.BytesIO(picture.data)).size == (8, 6)


def test_who_reads_the_log_gets_each_thing_once(log):
    assert {it.topic for it in read(log)} == {"motion", "event", "notes", "lidar"}
    assert summary(log).notes == ["a remark"]
    assert summary(log).counts["car", "tf"] > 0


def test_the_way_driven_begins_anew_where_the_car_was_put_elsewhere(vehicle):
    rows = StandardRows("car", vehicle)
    second_ns = 1_000_000_000
    rows.of(replace(MOTION, x_m=0.2), second_ns)
    found = rows.of(replace(MOTION, x_m=9.0), 3 * second_ns)
    (driven,) = [it for it in found if it.topic == "driven"]
    assert len(driven.row["entities"][0]["lines"][0]["points"]) == 1


@pytest.mark.parametrize(
    "uri", ["serial:///dev/ttyACM0", "sim://f1tenth", "sim://f1tenth?track=no"]
)
def test_a_car_without_a_track_is_at_the_maps_origin(uri, vehicle):
    start, walls = place_of(uri, vehicle)
    assert not walls
    assert start in ((0.0, 0.0, 0.0), start_in_map((0.0, 0.0, 0.0), vehicle))
