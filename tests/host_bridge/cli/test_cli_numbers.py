"""``tandem trim``, ``backup``, ``restore`` and ``identify`` on a car that is a real process."""

import json
import stat

import pytest

from host_bridge.config import load_vehicle
from host_bridge.config.vehicle.trim import parse_trim, trimmed_parameters
from host_bridge.core.errors import UsageFault
from tests.host_bridge.cli.programs import program, serving, tandem, until

pytestmark = pytest.mark.process

F1TENTH = load_vehicle("f1tenth")


@pytest.fixture
def car(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with serving("sim+process://f1tenth", "red"):
        yield "red"


def said(*words):
    done = tandem(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def parameters(car):
    return said("config", "read", car)


def test_a_trim_moves_the_whole_curve_and_the_neutral_and_the_car_is_still_known(car):
    before = parameters(car)
    rows = said("trim", "--car", car, "steering=12", "throttle=-5")
    assert [(row["channel"], row["trim_us"]) for row in rows] == [(0, 12.0), (1, -5.0)]
    after = parameters(car)
    moved = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert {moved[name] for name in moved if name.startswith("channel_curve")} == {12_000}
    assert moved["channel_neutral[1]"] == -5_000
    assert said("identify", car)[0]["vehicle"] == "f1tenth"
    assert tandem("arm", car).returncode == 0  # its configuration's hash is the expected one


def test_trims_are_beside_the_file_not_beside_each_other(car):
    for _ in range(2):
        said("trim", "--car", car, "steering=12")
    said("trim", "--car", car, "throttle=3")
    assert [row["trim_us"] for row in said("trim", "--car", car)] == [12.0, 3.0]
    said("trim", "--car", car, "steering=0", "throttle=0")
    assert [row["trim_us"] for row in said("trim", "--car", car)] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("trim", "sim://nigel"), "meant: --car sim://nigel"),
        (("trim", "red", "steering=3"), "meant: --car red"),
        (("backup", "sim://nigel"), "name the car by --car"),
        (("restore", "serial:///dev/ttyACM0"), "name the car by --car"),
    ],
)
def test_a_car_in_the_place_of_something_else_is_told_where_it_belongs(words, remedy):
    done = tandem(*words)
    assert done.returncode == UsageFault.exit_code
    assert remedy in done.stderr


def test_an_armed_car_is_not_trimmed(car):
    before = parameters(car)
    drive = ("drive", "--car", car, "--input", "script:straight", "--seconds", "30")
    with program(*drive):
        until(lambda: said("identify", car)[0]["state"] in ("ACTIVE", "HOLD"), "to be armed")
        done = tandem("trim", "--car", car, "steering=12")
    assert done.returncode == 6
    assert "PARKED" in done.stderr
    assert parameters(car) == before


def test_a_backup_brings_back_every_number_the_name_and_the_key(car, tmp_path):
    file = tmp_path / "red.json"
    said("trim", "--car", car, "steering=12")
    kept, key = parameters(car), said("identify", car)[0]["pairing"]
    assert tandem("backup", "--car", car, str(file)).returncode == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    said("trim", "--car", car, "steering=-20")
    for path in (tmp_path / "data" / "cars").iterdir():
        path.unlink()  # another host, which never saw this car
    said("restore", "--car", car, str(file))
    assert parameters(car) == kept
    assert said("identify", car)[0]["pairing"] == key
    assert said("identify", car)[0]["vehicle"] == "f1tenth"


def test_a_backup_that_was_changed_is_refused_and_changes_nothing(car, tmp_path):
    file = tmp_path / "red.json"
    tandem("backup", "--car", car, str(file))
    file.write_text(file.read_text().replace("f1tenth", "nigel"))
    before = parameters(car)
    done = tandem("restore", "--car", car, str(file))
    assert done.returncode == 7
    assert "hash" in done.stderr
    assert parameters(car) == before


def test_a_backup_of_another_type_is_refused_and_changes_nothing(car, tmp_path):
    file = tmp_path / "green.json"
    with serving("sim://nigel", "green"):
        tandem("backup", "--car", "green", str(file))
    before = parameters(car)
    done = tandem("restore", "--car", car, str(file))
    assert done.returncode == UsageFault.exit_code
    assert "expected: a backup of a f1tenth\n  got: one of a nigel" in done.stderr
    assert parameters(car) == before


def test_identify_alone_shows_every_car_that_is_served(car):
    until(lambda: said("identify")[0]["state"] == "STANDBY", "a car that has warmed up")
    assert said("identify")[0]["at"] == "sim+process://f1tenth"  # serial ports follow


@pytest.mark.parametrize(
    "word", ["steering", "steering=", "wings=1", "steering=1e9", "7=1", "steering=nan", "-1=3"]
)
def test_what_is_no_trim_is_refused(word):
    with pytest.raises(UsageFault):
        parse_trim(word, F1TENTH)


def test_a_trim_beyond_what_the_servo_may_do_is_refused_and_names_the_range():
    with pytest.raises(UsageFault, match="1150 to 1850"):
        trimmed_parameters(F1TENTH, {}, [parse_trim("steering=190", F1TENTH)])


def test_only_the_named_channel_moves():
    nigel = load_vehicle("nigel")
    found = trimmed_parameters(nigel, {}, [parse_trim("0=10", nigel)])
    file = nigel.parameters["channel_curve"]
    moved = [i for i, ns in enumerate(found["channel_curve"]) if ns != file[i]]
    assert moved == list(range(len(file) // 8))
