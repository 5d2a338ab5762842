"""``tandem serve`` and its clients, around the real firmware."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from host_bridge.core.errors import DataFileFault, DeviceFault, RefusedFault
from host_bridge.logs.reading import read, summary
from host_bridge.sharing.endpoints.served import served
from tests.host_bridge.cli.programs import program, serving, tandem, until, virtual_car
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)

KNOWN_WITHIN_S = 0.25  # an unplugged cable
BACK_WITHIN_S = 2.0  # telemetry, after replugging
SLACK_S = 0.15  # of a test on a machine with other things to do: ten samples a second are printed


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def state_of(name: str) -> str | None:
    rows = json.loads(tandem("cars", "--json").stdout)
    return next((row["state"] for row in rows if row["name"] == name), None)


def cause_of(name: str) -> str | None:
    rows = json.loads(tandem("cars", "--json").stdout)
    return next((row["cause"] for row in rows if row["name"] == name), None)


def rows_of(process, topic, until_is):
    """Lines of JSON of one topic, up to the first that is so."""
    for line in process.stdout:
        row = json.loads(line)
        if row["topic"] == topic and until_is(row):
            return row
    raise AssertionError(f"the program ended without {topic}")


def test_a_served_car_is_armed_cleared_and_disarmed_by_name():
    with serving("sim://nigel", "car"):
        # armed, it waits three seconds for somebody to drive it: nothing is asked in between
        for command in ("arm", "disarm", "arm"):
            done = tandem(command, "car")
            assert done.returncode == 0, done.stderr
        assert state_of("car") in ("HOLD", "STOPPING", "STOPPED")
        assert tandem("stop").returncode == 0
        refused = tandem("arm")
        assert refused.returncode == RefusedFault.exit_code
        assert "its state does not allow it" in refused.stderr
        assert "a stop is locked: clear it first" in refused.stderr
        assert tandem("clear").returncode == 0
        assert state_of("car") == "STANDBY"


def test_more_commands_in_a_row_than_a_car_has_room_for_sessions():
    with serving("sim://nigel", "car"):
        for _ in range(3):
            assert tandem("arm").returncode == 0
            done = tandem("disarm")
            if "STOPPED" in done.stderr:  # later than an armed car waits for its driver
                done = tandem("clear")
            assert done.returncode == 0, done.stderr


def test_a_monitor_says_why_a_car_stopped():
    with serving("sim://nigel", "car"), program("monitor", "car", "--json") as monitor:
        rows_of(monitor, "status", lambda row: row["state"] == "STANDBY")
        assert tandem("arm").returncode == 0
        assert tandem("stop").returncode == 0
        why = rows_of(monitor, "why_stopped", lambda row: "asked" in row["text"])
        assert why["text"].startswith("Stopped because somebody at the computer (")
        assert rows_of(monitor, "why_stopped", lambda row: row.get("age_s", 0.0) >= 1.0)
        (car,) = json.loads(tandem("cars", "--json").stdout)
        assert car["age_s"] >= 1.0
        monitor.send_signal(signal.SIGINT)
        monitor.communicate()


def test_who_ends_while_the_car_is_armed_stops_it(folder):
    with virtual_car("nigel", folder / "port"):
        uri = f"serial://{folder / 'port'}"
        with serving(uri, "car") as owner:
            assert tandem("arm").returncode == 0
            owner.send_signal(signal.SIGINT)
            patience.communicate(owner, 5)
            assert owner.returncode == 130
        assert served() == []
        with serving(uri, "car"):
            assert state_of("car") == "STOPPED"
            assert cause_of("car") == "a stop was requested"


def test_a_car_that_was_not_armed_is_left_as_it_was(folder):
    with virtual_car("nigel", folder / "port"):
        uri = f"serial://{folder / 'port'}"
        for _ in range(2):
            with serving(uri, "car"):
                assert cause_of("car") is None


def test_an_owner_that_is_killed_leaves_no_name_behind():
    with serving("sim://nigel", "car") as owner:
        owner.kill()
        owner.wait()
        assert served() == []
        assert tandem("arm", "car").returncode == DeviceFault.exit_code
    with serving("sim://nigel", "car"):  # what it left behind is in nobody's way
        assert tandem("stop").returncode == 0


def test_who_takes_over_an_armed_car_stops_it(folder):
    with virtual_car("nigel", folder / "port"):
        uri = f"serial://{folder / 'port'}"
        with serving(uri, "car") as owner:
            assert tandem("arm").returncode == 0
            owner.kill()
            owner.wait()
        with serving(uri, "car"):
            until(lambda: state_of("car") == "STOPPED", "the car to be stopped")
            assert tandem("clear").returncode == 0


def test_a_second_owner_of_a_name_is_refused():
    with serving("sim://nigel", "car") as first:
        second = tandem("serve", "--car", "sim://nigel?seed=2", "--name", "car")
        assert second.returncode == DeviceFault.exit_code
        assert "served by the name of car already" in second.stderr
        assert str(first.pid) in second.stderr
        assert state_of("car") is not None


def test_two_cars_that_call_themselves_the_same_are_told_apart(folder):
    with serving("sim://nigel", "nigel"), program("monitor", "sim://nigel?seed=2") as monitor:
        until(lambda: len(served()) == 2, "the second car to be served")
        assert {car.name for car in served()} == {"nigel", "nigel-2"}
        monitor.send_signal(signal.SIGINT)
        monitor.communicate()


def test_a_recorded_car_can_be_watched_again(folder):
    with serving("sim://nigel", "car"):
        log = folder / "drive.mcap"
        until(lambda: state_of("car") == "STANDBY", "a car that has warmed up")
        assert tandem("record", "car", "-o", str(log), "--seconds", "2").returncode == 0
    with program("monitor", f"replay://{log}?car=car&speed=0.5", "--json") as monitor:
        assert rows_of(monitor, "status", lambda row: True)["state"] == "STANDBY"
        monitor.send_signal(signal.SIGINT)
        monitor.communicate()


def test_the_uri_of_a_served_car_finds_its_owner_by_any_name_of_its_port(folder):
    with virtual_car("nigel", folder / "port"):
        port = os.path.realpath(folder / "port")
        with (
            serving(f"serial://{folder / 'port'}", "car"),
            program("monitor", f"serial://{port}", "--json") as monitor,
        ):
            assert rows_of(monitor, "status", lambda row: True)["car"] == "car"
            monitor.send_signal(signal.SIGINT)
            monitor.communicate()


def test_a_car_that_nobody_serves_is_served_by_the_command_meanwhile(folder):
    with program("monitor", "sim://nigel", "--json") as monitor:
        rows_of(monitor, "status", lambda row: row["state"] == "STANDBY")
        assert [car.name for car in served()] == ["nigel"]
        stopped = json.loads(tandem("stop", "--json").stdout)
        assert stopped[0]["is_seen"]
        monitor.send_signal(signal.SIGINT)
        monitor.communicate()


@contextmanager
def unplugged(car):
    car.stdin.write("unplug\n")
    car.stdin.flush()
    yield
    car.stdin.write("plug\n")
    car.stdin.flush()


def test_an_unplugged_cable_is_known_and_a_replugged_one_used_but_not_to_arm(folder):
    with (
        virtual_car("nigel", folder / "port") as car,
        serving(f"serial://{folder / 'port'}", "car") as owner,
    ):
        assert tandem("arm").returncode == 0
        with program("monitor", "car", "--json") as monitor:
            rows_of(monitor, "status", lambda row: row["state"] == "HOLD")
            with unplugged(car):
                pulled_s = time.monotonic()
                rows_of(monitor, "link", lambda row: not row["is_up"])
                patience.took(
                    pulled_s, KNOWN_WITHIN_S + SLACK_S, "an unplugged cable is known", 0.1
                )
            replugged_s = time.monotonic()
            rows_of(monitor, "status", lambda row: row["state"] == "STOPPED")
            patience.took(replugged_s, BACK_WITHIN_S, "a replugged cable is used", 0.1)
            monitor.send_signal(signal.SIGINT)
            monitor.communicate()
        owner.send_signal(signal.SIGINT)
        output, _ = patience.communicate(owner, 5)
        assert "no line: " in output


def test_a_log_of_a_served_car_holds_what_others_said_too(folder):
    with serving("sim://nigel", "car"):
        with program("record", "car", "-o", str(folder / "drive.mcap")) as record:
            assert "recording" in record.stderr.readline()
            assert tandem("arm").returncode == 0
            assert tandem("stop").returncode == 0
            record.send_signal(signal.SIGINT)
            record.communicate()
            assert record.returncode == 130
        again = tandem("record", "car", "-o", str(folder / "drive.mcap"))
        assert again.returncode == DataFileFault.exit_code
    log = summary(folder / "drive.mcap")
    assert log.is_complete
    assert log.facts["car/car"]["vehicle"] == "nigel"
    topics = Counter(record.topic for record in read(folder / "drive.mcap"))
    assert topics["stop_seen"] >= 1
    assert topics["action_reply"] >= 2  # asked, granted
    assert topics["up"] >= 3
    assert topics["status"] > 10


def test_the_owners_own_log_holds_what_was_said_at_its_end(folder):
    log = folder / "own.mcap"
    with serving("sim://nigel", "car", "--record", str(log)) as owner:
        assert tandem("arm").returncode == 0
    assert owner.returncode == 130
    assert summary(log).is_complete
    stops_seen = [record for record in read(log) if record.topic == "stop_seen"]
    assert stops_seen, "an armed car is stopped as its owner ends"


def test_the_owners_own_log_survives_its_kill(folder):
    with serving("sim://nigel", "car", "--record", str(folder / "own.mcap")) as owner:
        assert tandem("arm").returncode == 0
        until(lambda: (folder / "own.mcap").stat().st_size > 20_000, "the log to grow")
        owner.kill()
        owner.wait()
    topics = Counter(record.topic for record in read(folder / "own.mcap"))
    assert topics["status"] > 10
    assert topics["up"] >= 3


def test_a_blank_car_becomes_one_of_a_type_over_the_wire():
    with serving("sim://f1tenth?blank=1", "car"):
        shown = json.loads(tandem("config", "show", "--json").stdout)
        assert (shown["vehicle"], shown["state"]) == (None, "FAULT")
        refused = tandem("arm")
        assert "tandem config write car --vehicle NAME" in refused.stderr
        written = tandem("config", "write", "--vehicle", "f1tenth", "--name", "red")
        assert written.returncode == 0, written.stderr
        shown = json.loads(tandem("config", "show", "--json").stdout)
        assert (shown["vehicle"], shown["car"]) == ("f1tenth", "red")
        assert tandem("config", "diff").returncode == 0
        assert tandem("clear").returncode == 0
        assert tandem("arm").returncode == 0
        assert [car.vehicle for car in served()] == ["f1tenth"]


def test_a_configuration_gets_over_a_bad_line_whole():
    with serving("lossy+sim://f1tenth?blank=1&loss=0.05&corrupt=0.0005&seed=2", "car"):
        written = tandem("config", "write", "--vehicle", "f1tenth")
        assert written.returncode == 0, written.stderr
        assert tandem("config", "diff").returncode == 0


def test_a_configuration_is_not_written_to_an_armed_car():
    with serving("sim://nigel", "car"):
        assert tandem("arm").returncode == 0
        refused = tandem("config", "write", "--vehicle", "f1tenth")
        assert refused.returncode == RefusedFault.exit_code
        assert "only in PARKED or FAULT" in refused.stderr
        assert "state ARMED" in refused.stderr


def test_a_difference_to_the_vehicle_file_is_shown_by_name():
    with serving("sim://nigel", "car"):
        differs = tandem("config", "diff", "--vehicle", "f1tenth", "--json")
        assert differs.returncode == 1
        rows = {row["parameter"]: row for row in json.loads(differs.stdout)}
        assert rows["speed_max_mm_s"]["car"] < rows["speed_max_mm_s"]["file"]
        read_back = json.loads(tandem("config", "read", "--json").stdout)
        assert read_back["speed_max_mm_s"] == rows["speed_max_mm_s"]["car"]


def test_a_virtual_car_says_where_it_is_and_ends_with_ctrl_c(folder):
    with program("sim", "nigel", "--json", "--seed", "3", "--payload-kg", "0.5") as process:
        ready = json.loads(process.stdout.readline())
        assert os.path.exists(ready["device"])
        looked = tandem("config", "show", f"serial://{ready['device']}", "--json")
        assert json.loads(looked.stdout)["car"] == "nigel"
        process.send_signal(signal.SIGINT)
        patience.communicate(process, 10)
        assert process.returncode == 130
        assert not os.path.exists(ready["device"])


def test_a_virtual_car_that_cannot_begin_is_told_in_words():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = tandem("serve", "--car", f"autodrive://:{port}?vehicle=nigel")
    assert done.returncode == DeviceFault.exit_code
    assert f"cannot listen on 127.0.0.1 port {port}" in done.stderr
    assert "Traceback" not in done.stderr
