"""A vehicle file is taken as it is meant, or refused with line, expectation and remedy."""

import re

import pytest

from firmware.core.settings import params
from firmware.protocol import codes
from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.vehicle import schema
from host_bridge.config.vehicle.bases import FOLDER
from host_bridge.core.errors import VehicleFileFault
from sim_mock.files.keys import REQUIRED
from tests.hardware.vehicle_files import whole
from tests.support.evidence import some

NIGEL = whole("nigel")
F1TENTH = whole("f1tenth")


def changed(text, old, new):
    """The text with its one place of ``old`` changed; a test that changes nothing shows nothing."""
    assert len(re.findall(old, text, re.MULTILINE)) >= 1, old
    return re.sub(old, new, text, count=1, flags=re.MULTILINE)


def load(tmp_path, text):
    path = tmp_path / "car.toml"
    path.write_text(text)
    return load_vehicle(str(path))


def refusal(tmp_path, text):
    with pytest.raises(VehicleFileFault) as caught:
        load(tmp_path, text)
    return caught.value


def line_of(text, start):
    return next(i for i, line in enumerate(text.splitlines(), 1) if line.startswith(start))


GAMEPAD = r"(\[sources\.gamepad\](?:.|\n)*?)"  # up to a key of that table
LOOP = r"^\[stop\.sources\.runstop_loop\]"

# what is done to nigel.toml, the line that has to be named, and words of the error
KEY_MISTAKES = [
    ("^wheelbase_m = .*", "wheelbase = 0.33", "wheelbase =", ("no unit", "wheelbase_m, in metres")),
    ("^wheelbase_m = .*", "wheelbase_mm = 330", "wheelbase_mm", ("wrong unit", "wheelbase_m?")),
    ("^steer_max_rad = .*", "steer_max_deg = 30", "steer_max_deg", ("steer_max_rad, in radians",)),
    ("^track_m", "trakc_m", "trakc_m", ("not a key of this table", "did you mean track_m?")),
    ("^\\[limits\\]", "[limit]", "[limit]", ("limit is not known here", "did you mean limits?")),
    ("^\\[sources.ros2\\].*", "[sources.ros]", "[sources.ros]", ("did you mean ros2?",)),
    ("^track_m = .*\n", "", "[geometry]", ("track_m is missing", "add track_m")),
    ("^title = .*\n", "", "", ("title is missing", "add title")),
    ("^speed_max_mps = .*", 'speed_max_mps = "fast"', "speed_max_mps", ('"fast"', "a number from")),
    ("^speed_max_mps = .*", "speed_max_mps = 99", "speed_max_mps", ("0.01 to 30 metres per sec",)),
    ("^speed_max_mps = .*", "speed_max_mps = nan", "speed_max_mps", ("nan",)),
    ("^speed_max_mps = .*", "speed_max_mps = true", "speed_max_mps", ("true",)),
    ("^is_signed = .*", "is_signed = 1", "is_signed", ("true or false",)),
    ("^baud = .*", "baud = 921600.5", "baud", ("a whole number from 9600",)),
    ("^baud = .*", "baud = 19200", "baud", ("too slow", "raise baud")),
    ("^policy = .*", 'policy = "hope"', "policy =", ('"hope"', "one of brake, neutral, cut")),
    ("runstop_loop = ", "runstop_lop = ", "runstop_lop", ("runstop_lop", "mean runstop_loop?")),
    ("^may_arm = .*", "may_arm = []", "may_arm =", ("a list of some of",)),
    ("^race = .*", 'race = "maybe"', "race =", ("one of no, optional, required",)),
    ("^\\[stop.sources.seat\\]", "[stop.sources.seats]", "[stop.sources.seats]", ("mean seat?",)),
    ("^actuators = .*", 'actuators = ["steer"]', "actuators", ("steering, drive",)),
    ('^kind = "h_bridge"', 'kind = "hbridge"', 'kind = "hbridge"', ("servo_steering, esc",)),
    ("^points = .*", "points = [[0.0, 1500]]", "points", ("angles rising",)),
    ("^points = .*", "points = [[-1, 544], [0, 900], [1, 800]]", "points", ("rising or falling",)),
    ("^points = .*", "points = [[1, 544], [-1, 2400]]", "points", ("angles rising",)),
]


@pytest.mark.parametrize(("old", "new", "place", "words"), KEY_MISTAKES)
def test_a_mistake_in_a_key_names_its_line_and_the_remedy(tmp_path, old, new, place, words):
    text = changed(NIGEL, old, new)
    fault = refusal(tmp_path, text)
    if place:
        assert f"car.toml:{line_of(text, place)}, " in fault.where
    for word in words:
        assert word in str(fault)
    assert fault.what
    assert fault.expected


# what is done to a file, the line that has to be named, and words of the error
IMPOSSIBLE = [
    (F1TENTH, f"{GAMEPAD}^speed_cap_mps = 4.0", r"\1speed_cap_mps = 4.2", "speed_cap_mps",
     "lease times cap"),
    (F1TENTH, "^cut_decel_mps2 = .*", "cut_decel_mps2 = 0.53", "speed_cap_mps", "go too far"),
    (F1TENTH, "^cut_decel_mps2 = .*", "cut_decel_mps2 = 0.534", "", None),
    (F1TENTH, "^cut_decel_mps2 = .*", r"\g<0>\nloop_brake_s = 0.6", "", None),
    (F1TENTH, "^cut_decel_mps2 = .*", r"\g<0>\nloop_brake_s = 0.61", "loop_brake_s", "0.6"),
    (NIGEL, "^cut_decel_mps2 = .*", r"\g<0>\nloop_brake_s = 0.6", "loop_brake_s", "cuts at once"),
    (F1TENTH, "^lease_s = 0.3", "lease_s = 0.31", "", None),
    (F1TENTH, "^lease_s = 0.12$", "lease_s = 0.4", "lease_s", "too long for a source"),
    (F1TENTH, "^steer_max_rad = .*", "steer_max_rad = 0.6", "points", "cannot follow"),
    (F1TENTH, "^low_us = .*", "low_us = 1250.0", "low_us", "cannot follow"),
    (F1TENTH, "^high_us = .*", "high_us = 1100.0", "high_us", "not in order"),
    (F1TENTH, "^neutral_us = .*", "neutral_us = 2100.0", "forward_us", "not in order"),
    (F1TENTH, "^full_effort_mps = .*", "full_effort_mps = 5.0", "speed_max_mps", "beyond what"),
    (F1TENTH, "^reverse_max_mps = .*", "reverse_max_mps = 15", "reverse_max_mps", "beyond what"),
    (F1TENTH, "^neutral_us = .*", "neutral_us = 1000", "neutral_us", "not in order"),
    (F1TENTH, "^high_us = .*", "high_us = 1600.0", "low_us", "cannot follow"),
    (F1TENTH, "^attended = true", 'attended = true\nneeds = "seat"', "needs", "take them out"),
    (F1TENTH, "^is_signed = true", "is_signed = false", "reverse_max_mps", "backward from forward"),
    (F1TENTH, "^empty_v = .*", "empty_v = 11.0", "empty_v", "empty before it is low"),
    (F1TENTH, '^needs = "seat"', 'needs = "ros2"', "needs", "needs somebody's"),
    (F1TENTH, '^needs = "seat"\n', "", "[sources.ros2]", "needs somebody's"),
    (F1TENTH, "^priority = 100", "priority = 120", "priority = 120", "the same priority"),
    (F1TENTH, '^kind = "esc"', 'kind = "none"', "reverse_us", "not a key"),
    (F1TENTH, r"^counts_per_rev = .*((?:.|\n)*?)^counts_per_rev = .*",
     r"counts_per_rev = 3\1counts_per_rev = 3", "counts_per_rev", "nm_per_count"),
    (F1TENTH, "^counts_per_rev = .*", "counts_per_rev = 96", "counts_per_rev", "otherwise than"),
    (NIGEL, '^kind = "h_bridge"\nduty_max = .*', 'kind = "esc"\nreverse_us = 1000\n'
     "neutral_us = 1500\nforward_us = 2000", "[[channels]]", "more than one kind"),
    (NIGEL, "^rear_steer_ratio = .*\n", "", "axle = \"rear\"", "rear wheels do not turn"),
    (NIGEL, "^wheelbase_m = .*", "wheelbase_m = 0.12", "", "cannot follow"),
    (NIGEL, f"{LOOP}(?:.|\\n)*?(?=^\\[profiles.stand\\])",
     '[stop.sources.owner]\ntrack = "required"\n\n', "", "no person can stop"),
    (F1TENTH, r"^\[rc\](?:.|\n)*?(?=^\[)", "", "", "has no RC receiver"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "old", "new", "place", "words"), IMPOSSIBLE)
def test_limits_that_contradict_each_other_are_refused(tmp_path, text, old, new, place, words):
    text = changed(text, old, new)
    if words is None:  # the control: as near to the edge, and right
        load(tmp_path, text)
        return
    fault = refusal(tmp_path, text)
    assert words in str(fault)
    if place and "[[" not in place:
        lines = [i for i, line in enumerate(text.splitlines(), 1) if line.startswith(place)]
        assert any(f"car.toml:{line}, " in fault.where for line in lines), fault.where


def test_a_program_that_only_stops_is_registered_and_no_person(tmp_path):
    """A file may require ``external``; without a person beside it the file is refused."""
    table = "[stop.sources.external]\n" + "".join(f'{p} = "required"\n' for p in schema.PROFILES)
    beside = NIGEL.replace("[profiles.stand]", f"{table}\n[profiles.stand]", 1)
    sources = {source.name: source for source in load(tmp_path, beside).stop_sources}
    assert not sources["external"].is_human
    assert sources["external"].id == 6
    head, _, rest = NIGEL.partition("[stop.sources.runstop_loop]")
    alone = head + table + "\n" + rest[rest.index("[profiles.stand]") :]
    assert "no person can stop this vehicle" in str(refusal(tmp_path, alone))


@pytest.mark.parametrize("name", vehicle_names())
def test_a_person_from_afar_is_outranked_by_who_is_beside_the_car(name):
    vehicle = load_vehicle(name)
    remote, seat = vehicle.source("remote"), vehicle.source("seat")
    assert (remote.id, remote.priority, remote.lease_s) == (7, 80, 0.12)
    assert (remote.is_attended, remote.has_counter, remote.yields_on_silence) == (
        True,
        False,
        False,
    )
    assert remote.mask == seat.mask
    assert 0 < remote.speed_cap_mps <= seat.speed_cap_mps
    beside = [vehicle.source(who).priority for who in ("gamepad", "seat", "seat_slow")]
    assert remote.priority < min(beside)


@pytest.mark.parametrize("name", vehicle_names())
def test_no_vehicle_lets_a_guest_arm_or_clear_it(name):
    numbers = load_vehicle(name).parameters
    assert not (numbers["may_arm"][0] | numbers["may_clear"][0]) >> codes.SENDER_GUEST & 1


def test_a_clock_may_be_off_by_thirty_milliseconds_where_the_file_says_so(tmp_path):
    assert load_vehicle("nigel").parameters["clock_bound_us"] == [10_000]
    at_most = changed(NIGEL, "^clock_bound_s = 0.01", "clock_bound_s = 0.03")
    assert load(tmp_path, at_most).parameters["clock_bound_us"] == [30_000]
    beyond = changed(NIGEL, "^clock_bound_s = 0.01", "clock_bound_s = 0.031")
    assert "clock_bound_s" in str(refusal(tmp_path, beyond))


def test_a_long_lease_is_taken_from_a_slow_source_only(tmp_path):
    slow = changed(F1TENTH, "^lease_s = 0.3", "lease_s = 1.0")
    assert load(tmp_path, slow).source("seat_slow").lease_s == 1.0
    text = changed(slow, "^speed_cap_mps = 0.3", "speed_cap_mps = 0.35")
    assert "too long for a source of its speed" in str(refusal(tmp_path, text))


def test_a_file_that_is_not_toml_names_the_line(tmp_path):
    text = changed(NIGEL, "^track_m = .*", "track_m 0.153")
    fault = refusal(tmp_path, text)
    assert fault.where.endswith(f"car.toml:{line_of(text, 'track_m')}")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "car.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(VehicleFileFault, match="not text in UTF-8"):
        load_vehicle(str(path))


@pytest.mark.parametrize("name", ["nigle", "f1tent", "./no/such.toml", ""])
def test_a_vehicle_that_is_not_there_is_answered_with_those_that_are(name):
    with pytest.raises(VehicleFileFault) as caught:
        load_vehicle(name)
    assert ", ".join(vehicle_names()) in caught.value.expected
    assert caught.value.exit_code == 5


def keys_of_all_tables():
    for keys in (*schema.TABLES.values(), *schema.CHANNEL_KEYS.values()):
        yield from (key for key in keys if key.kind != "table")
    yield from (*schema.SOURCE_KEYS, *schema.STOP_SOURCE_KEYS, *schema.RC_KEYS)


NEEDED = {key.name for key in keys_of_all_tables() if key.default is REQUIRED}
DEFAULTS = {key.name for key in keys_of_all_tables()} - NEEDED | {"policies"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", vehicle_names())
def test_every_key_of_a_vehicle_file_is_needed_or_has_a_default(tmp_path, name):
    """Taking any one line out is noticed, or changes nothing but that key."""
    text = whole(name)
    head = text[: text.index("[plant.")]
    for line in some(re.findall(r"^\w+ = .*\n", head, re.MULTILINE)):
        key = line.split(" ")[0]
        if key in DEFAULTS:
            continue
        assert refusal(tmp_path, text.replace(line, "", 1)), key


def test_a_relative_path_and_a_name_give_the_same(tmp_path):
    by_path = load(tmp_path, NIGEL)
    by_name = load_vehicle("nigel")
    assert by_path.parameters == by_name.parameters
    assert by_path.name == "car"


def test_the_tables_hold_what_the_cars_program_calls_the_same():
    assert len(schema.STOP_CAUSES) == codes.CAUSE_COUNT
    assert schema.STOP_POLICIES.index("brake") == params.POLICY_BRAKE
    assert schema.STOP_POLICIES.index("neutral") == params.POLICY_NEUTRAL
    assert schema.STOP_POLICIES.index("cut") == params.POLICY_CUT
    assert schema.ON_SILENCE.index("yield") == codes.ON_SILENCE_YIELD
    assert schema.ACTUATOR_BITS == {
        "steering": codes.STEERING_BIT,
        "drive": codes.DRIVE_BIT,
        "brake": codes.BRAKE_BIT,
        "lights": codes.LIGHTS_BIT,
        "aux_1": 1 << codes.AUX_1,
        "aux_2": 1 << codes.AUX_2,
        "aux_3": 1 << codes.AUX_3,
        "aux_4": 1 << codes.AUX_4,
    }
    assert schema.STOP_SOURCES["runstop_loop"].kind == codes.STOP_SOURCE_LOOP
    assert schema.STOP_SOURCES["rc"].kind == codes.STOP_SOURCE_RC
    assert schema.STOP_SOURCES["seat"].kind == codes.STOP_SOURCE_LINK
    assert schema.NEEDS.index("required") == codes.REQUIRED
    assert schema.CHANNEL_KINDS.index("servo_steering") == params.CHANNEL_SERVO
    assert schema.CHANNEL_KINDS.index("esc") == params.CHANNEL_ESC
    assert schema.CHANNEL_KINDS.index("h_bridge") == params.CHANNEL_H_BRIDGE


def test_source_ids_are_fixed_for_ever():
    assert schema.SOURCE_IDS == {
        "rc": 0, "seat": 1, "gamepad": 2, "script": 3, "ros2": 4, "seat_slow": 5,
        "devkit": 6, "remote": 7, "offboard": 8,
    }  # fmt: skip
    assert {name: kind.id for name, kind in schema.STOP_SOURCES.items()} == {
        "runstop_loop": 0, "rc": 1, "owner": 2, "seat": 3, "runstop_box": 4, "fleet": 5,
        "external": 6,
    }  # fmt: skip


def test_the_readme_names_every_table_source_and_kind_of_channel():
    text = (FOLDER / "README.md").read_text()
    named_twice = ("profiles",)  # [profiles.NAME] is what is written
    plain = [name for name in schema.TABLES if name and "." not in name]
    tables = [f"[{name}]" for name in (*plain, "rc") if name not in named_twice]
    names = (*schema.SOURCE_IDS, *schema.STOP_SOURCES, *schema.PROFILES, "[profiles.NAME]")
    for word in (*tables, *names, *schema.CHANNEL_KINDS, *schema.STOP_POLICIES):
        assert word in text, word


# what is changed in a file, the parameter that follows, its place, before and after
FOLLOWS = [
    (NIGEL, '^steer_with_nobody = .*', 'steer_with_nobody = "centre"', "steer_centres", 0, 0, 1),
    (NIGEL, "^gyro_fitted = true", "gyro_fitted = false", "gyro_fitted", 0, 1, 0),
    (NIGEL, "^reverse_max_mps = \\S+((?:.|\\n)*?^is_signed = )true",
     r"reverse_max_mps = 0.0 \1false", "encoder_signed", 0, 1, 0),
    (NIGEL, f"{LOOP}(?:.|\\n)*?(?=^\\[)", "", "stop_source_kind", 0, 1, 0),
    (NIGEL, '^race = "required"', 'race = "optional"', "stop_source_need", 2 * 16, 2, 1),
    (NIGEL, "^silence_s = 0.25", "silence_s = 0.2", "stop_source_silence_ms", 3, 250, 200),
    (NIGEL, r"^\[profiles.track\]\nspeed_cap_mps = 0.44", "[profiles.track]\nspeed_cap_mps = 0.4",
     "profile_cap_mm_s", 1, 440, 400),
    (NIGEL, "^may_arm = .*", 'may_arm = ["seat"]', "may_arm", 0, 0b11011, 0b10),
    (F1TENTH, "^live_man_us = .*", "live_man_us = [1100, 1500, 1900]", "rc_high_us", 2, 2000, 1900),
    (NIGEL, '^policy = "brake"', 'policy = "neutral"', "stop_policy", 1, 0, 1),
    (NIGEL, 'runstop_loop = "cut"', 'silence = "cut"', "stop_policy", codes.CAUSE_SILENCE, 0, 2),
    (NIGEL, 'steering = "follow"', 'steering = "hold"', "steer_in_stop", 0, 0, 1),
    (NIGEL, 'steering = "follow"', 'steering = "centre"', "steer_in_stop", 0, 0, 2),
    (NIGEL, r'aux = \["lights"\]', "aux = []", "aux_in_stop", 0, 8, 0),
    (NIGEL, r'aux = \["lights"\]', 'aux = ["lights", "aux_1"]', "aux_in_stop", 0, 8, 24),
    (NIGEL, '^on_silence = "stop"', 'on_silence = "yield"', "source_on_silence", 2, 0, 1),
    (NIGEL, "^counter = true", "counter = false", "source_flags", 2, 3, 1),
    (NIGEL, "^lease_s = 0.12", "lease_s = 0.1", "source_lease_ms", 2, 120, 100),
    (NIGEL, f"{GAMEPAD}^speed_cap_mps = 0.44", r"\1speed_cap_mps = 0.4",
     "source_cap_mm_s", 2, 440, 400),
    (NIGEL, "^priority = 120", "priority = 121", "source_priority", 2, 120, 121),
    (NIGEL, ', "lights"\\]', "]", "source_mask", 2, 15, 7),
    (NIGEL, '^needs = "seat"', 'needs = "gamepad"', "source_needs", 4, 1, 2),
    (NIGEL, "^duty_max = 1.0", "duty_max = 0.8", "channel_high", 4, 10_000, 8_000),
    (NIGEL, "^duty_max = 1.0", "duty_max = 0.8", "channel_low", 4, -10_000, -8_000),
    (NIGEL, "^high_us = .*", "high_us = 1900\ntrim_us = 10", "channel_neutral", 0,
     1_472_000, 1_482_000),
    (NIGEL, "^rear_steer_ratio = .*", "rear_steer_ratio = -0.5", "curvature_per_10km", 8,
     81_576, 59_718),
    (F1TENTH, "^neutral_us = .*", "neutral_us = 1510", "channel_neutral", 1, 1_500_000, 1_510_000),
    (F1TENTH, "^baud = .*", "baud = 115200", "motion_every", 0, 1, 5),
    (F1TENTH, "^accel_mps2 = .*", "accel_mps2 = 1.234", "accel_mm_s2", 0, 2_500, 1_234),
    (F1TENTH, "^gain_per_mps = .*", "gain_per_mps = 0.25", "gain_per_m_s", 0, 3_000, 2_500),
]  # fmt: skip


@pytest.mark.parametrize(("text", "old", "new", "name", "at", "before", "after"), FOLLOWS)
def test_a_parameter_follows_its_key(tmp_path, text, old, new, name, at, before, after):
    assert load(tmp_path, text).parameters[name][at] == before
    assert load(tmp_path, changed(text, old, new)).parameters[name][at] == after


def test_the_rear_wheels_of_the_plant_turn_by_their_ratio(tmp_path):
    assert load(tmp_path, NIGEL).channels[2]["wheel_ratio"] == -1.0
    text = changed(NIGEL, "^rear_steer_ratio = .*", "rear_steer_ratio = -0.5")
    assert load(tmp_path, text).channels[2]["wheel_ratio"] == -0.5
    assert load(tmp_path, text).channels[0]["wheel_ratio"] == 1.0


def test_driven_blind_exactly_as_far_as_allowed_is_allowed(tmp_path):
    text = changed(F1TENTH, "^lease_s = 0.12", "lease_s = 0.125")
    assert load(tmp_path, text).source("gamepad").lease_s == 0.125  # * 4.0 m/s = 0.5 m


@pytest.mark.parametrize(("line", "does"), [("", "tell"), ('on_exceed = "stop"', "stop")])
def test_cars_that_differ_are_told_of_unless_the_file_says_stop(tmp_path, line, does):
    text = changed(F1TENTH, r"^path_m = 0\.5$", f"path_m = 0.5\n{line}")
    assert load(tmp_path, text).divergence.on_exceed == does


def test_there_is_nothing_else_to_do_about_cars_that_differ(tmp_path):
    text = changed(F1TENTH, r"^path_m = 0\.5$", 'path_m = 0.5\non_exceed = "steer"')
    assert "on_exceed" in str(refusal(tmp_path, text))


def test_a_name_that_is_nearly_one_is_answered_with_it():
    with pytest.raises(VehicleFileFault) as caught:
        load_vehicle("f1tneth")
    assert caught.value.remedy == "did you mean f1tenth?"
