"""The virtual car as a program: a real process, a real port, a real signal."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from firmware.protocol import codes
from tests.sim_mock.programs.car_programs import Line, car_program, host_of, until
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)

CRUISE_MM_S = 2000
PATIENT_MS = 3000


@pytest.fixture
def car(tmp_path):
    with car_program(tmp_path, "--link", str(tmp_path / "port")) as program:
        yield program


@pytest.fixture
def link(tmp_path):
    return str(tmp_path / "port")


def cruising(host, speed_mm_s=CRUISE_MM_S):
    host.take_the_wheel()
    host.drive(1500, speed_mm_s)
    assert host.state == codes.ACTIVE
    return host


def test_it_says_how_to_reach_it_and_what_runs_it(car, link):
    assert car.ready["runtime"] == "CPython"
    assert car.ready["pid"] == car.process.pid
    assert os.readlink(link) == car.device


def test_any_serial_tool_can_open_it_and_drive(car, link):
    with host_of(link) as host:
        cruising(host)
        assert host.latest["Identity"].car_name.rstrip(b"\0") == b"f1tenth"
        assert host.status.speed_mm_s == pytest.approx(CRUISE_MM_S, rel=0.1)
        assert car.speed_mps() == pytest.approx(CRUISE_MM_S / 1000, rel=0.1)


@pytest.mark.micropython
def test_it_runs_the_firmware_under_micropython(tmp_path):
    from tests.firmware.worlds import micropython_command

    micropython_command(64)
    with car_program(tmp_path, runtime="micropython") as car:
        assert car.ready["runtime"] == "MicroPython, 64 bit"
        with host_of(car.device) as host:
            cruising(host)


def test_a_pulled_cable_is_known_at_once_and_comes_back_as_another_device(car, link):
    line = Line(link)
    car.tell("unplug")
    until(lambda: not os.path.lexists(link), "the device to go")
    with pytest.raises(OSError, match=os.strerror(errno.EIO)) as caught:
        os.write(line.port.fileno(), b"\0")
    assert caught.value.errno == errno.EIO
    car.tell("plug")
    device = car.line()["device"]
    assert device != line.port.port  # the old one is still ours
    assert os.readlink(link) == device
    line.close()
    with host_of(link) as host:
        host.connect()
        assert host.state == codes.STANDBY


def test_a_pulled_cable_stops_the_car(car, link):
    with host_of(link) as host:
        cruising(host)
        car.tell("unplug")
        until(lambda: car.speed_mps() < 0.02, "standstill without a cable", 4)


def test_two_commands_in_one_write_are_both_obeyed(car, link):
    """Neither may wait for a third."""
    car.tell("unplug", "plug")
    assert car.line()["device"]
    assert os.path.exists(link)


def test_the_deaf_car_goes_on_talking_and_stops(car, link):
    with host_of(link) as host:
        cruising(host)
        car.tell("deaf 500")
        host.drive(300, CRUISE_MM_S)
        assert host.state in (codes.STOPPING, codes.STOPPED)
        assert host.status.causes == 1 << codes.CAUSE_SILENCE


def test_the_runstop_opens_and_closes(car, link):
    with host_of(link) as host:
        cruising(host, 500)
        car.tell("runstop open")
        host.drive(200, CRUISE_MM_S)
        assert host.status.causes & 1 << codes.CAUSE_RUNSTOP_LOOP
        car.tell("runstop close")
        host.drive(PATIENT_MS, deadman=0)  # the drive is cut, the car coasts
        assert host.state == codes.STOPPED
        assert host.act(codes.ACTION_CLEAR) == 0


def test_nobody_who_reads_does_not_block_it(car):
    """A pseudo-terminal takes some 4 kB; the car sends that in a second and must go on."""
    deadline_s = time.monotonic() + 1.5
    until(lambda: time.monotonic() > deadline_s, "time")
    before = len(car.trace.read_text().splitlines())
    until(lambda: len(car.trace.read_text().splitlines()) > before + 20, "further beats", 1)
    with host_of(car.device) as host:
        host.connect()
        assert host.state == codes.STANDBY


def test_quit_ends_a_car_at_rest_and_takes_its_device_away(car, link):
    car.tell("quit")
    assert patience.wait(car.process, 5) == 0
    assert not os.path.lexists(link)
    assert not os.path.exists(car.device)


def test_quit_waits_for_a_moving_car_to_stand(car, link):
    with host_of(link) as host:
        cruising(host)
        car.tell("quit")
        assert car.process.poll() is None
        assert patience.wait(car.process, 10) == 0
    assert car.speed_mps() < 0.02


def test_it_ends_alone_after_its_starter_has_gone_and_it_has_come_to_rest(tmp_path):
    with car_program(tmp_path, "--ends-alone") as car, host_of(car.device) as host:
        cruising(host)
        car.process.stdin.close()
        host.drive(500, CRUISE_MM_S)
        assert car.process.poll() is None, "it ended while it was driven"
        assert patience.wait(car.process, 10) == 0
        assert car.speed_mps() < 0.02


def test_it_stays_after_its_starter_has_gone_unless_told_otherwise(car, link):
    car.process.stdin.close()
    with host_of(link) as host:
        host.connect()
        host.rest(500)
    assert car.process.poll() is None


def test_ctrl_c_for_the_whole_group_leaves_the_car_to_stop_by_itself(car, link):
    with host_of(link) as host:
        cruising(host)
        os.killpg(car.process.pid, signal.SIGINT)
        host.drive(300, CRUISE_MM_S)
        assert host.state == codes.ACTIVE


def test_a_polite_kill_takes_the_device_away(car, link):
    children = car.children()
    car.process.terminate()
    assert patience.wait(car.process, 5) == 0
    assert not os.path.lexists(link)
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children), "its program's end")


HOST = """
import sys
from host_bridge.deploy.hil.host.small_host import SmallHost
from tests.sim_mock.programs.car_programs import Line
host = SmallHost(Line(sys.argv[1]))
host.take_the_wheel()
host.drive(1500, 2000)
print(host.state, flush=True)
host.drive(60_000, 2000)
"""


def test_it_outlives_a_host_that_is_killed_and_comes_to_rest(car, link):
    host = subprocess.Popen([sys.executable, "-c", HOST, link], stdout=subprocess.PIPE, text=True)
    assert int(host.stdout.readline()) == codes.ACTIVE
    assert car.speed_mps() > 1.5
    host.kill()
    host.communicate()
    until(lambda: car.speed_mps() < 0.02, "standstill", 4)
    with host_of(link, epoch=777) as new_host:
        new_host.connect()
        assert new_host.state == codes.STOPPED
        assert new_host.status.causes == 1 << codes.CAUSE_SILENCE


def test_a_runtime_that_is_not_there_is_said(tmp_path):
    config = tmp_path / "config.json"
    config.write_text("{}")
    done = subprocess.run(
        [sys.executable, "-m", "sim_mock.programs.car", str(config), "--runtime", "micropython"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MICROPYTHON": "/bin/false"},
    )
    assert done.returncode != 0
    assert "no micropython on this machine" in done.stderr
    assert "Traceback" not in done.stderr
