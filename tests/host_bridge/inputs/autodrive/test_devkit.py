"""`tandem devkit` and a script, unchanged, under the libraries that the Devkit pins."""

import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from statistics import median

import pytest

from tests.host_bridge.cli.programs import tandem, until
from tests.host_bridge.drive.terminal.terminals import Far, Program
from tests.host_bridge.inputs.autodrive.pinned import devkit_python

SCRIPT = Path(__file__).with_name("devkit_script.py")

pytestmark = [
    pytest.mark.process(drives=True),
    pytest.mark.xdist_group("wall clock"),
]


@pytest.fixture(scope="module")
def python():
    path, why_not = devkit_python()
    if why_not:
        pytest.skip(why_not)
    return path


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="tandem") as path:  # short: a socket's path is
        yield Path(path)


class Running:
    """The script as a process, and what it printed."""

    def __init__(self, python, folder, *words, period_s=0.1):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.place = f"127.0.0.1:{self.port}"
        self._log = folder / "script.log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [python, str(SCRIPT), str(self.port), str(period_s), *words],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        until(self._listens, "the script to listen")

    def _listens(self):
        assert self.process.poll() is None, self._log.read_text()
        with socket.socket() as peer:
            return peer.connect_ex(("127.0.0.1", self.port)) == 0

    def poses(self):
        """x, y, speed, yaw of each frame that it read."""
        lines = self._log.read_text().splitlines()
        return [tuple(map(float, x.split()[1:])) for x in lines if x.startswith("at ")]

    def seen(self):
        """Number of ranges, ticks, laps and phase of each frame."""
        lines = self._log.read_text().splitlines()
        rows = [x.split()[1:] for x in lines if x.startswith("saw ")]
        return [(*map(int, row[:3]), row[3]) for row in rows]

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def script(python, folder, request):
    running = Running(python, folder, *getattr(request, "param", ()))
    yield running
    running.end()


@pytest.fixture
def start(folder, script):
    programs = []

    def start(far, *words):
        words = ("--connect", script.place, *words)
        programs.append(Program(far, folder, *words, command="devkit"))
        return programs[-1]

    yield start
    for program in programs:
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()


@pytest.fixture
def kitty():
    far = Far(knows_kitty=True)
    yield far
    far.close()


def test_a_script_written_for_the_simulator_drives_a_car_by_what_it_reads(start, script):
    program = start(None, "--car", "sim://nigel?seed=1", "--seconds", "9")
    code, said = program.end()
    assert (code, said) == (0, ""), program.rows[-1]
    assert program.summary["source"] == "devkit"
    assert program.summary["cars"][0]["stops"] == []
    poses = script.poses()
    x, y, _, yaw = poses[-1]
    assert x > 0.3, "ahead until it had read 0.3 m"
    assert yaw > 0.3, "then to the left, as it says"
    assert y > 0.0
    driven = median(speed for *_, speed, _ in poses[-20:])  # the last one may be coming to rest
    assert driven == pytest.approx(0.0846, abs=0.01)


def test_a_quick_script_is_a_program_whose_answers_are_counted(start, script):
    """A car stops for a program whose counter stands still; each answer is one more."""
    program = start(None, "--car", "sim://nigel?seed=1", "--seconds", "5", "--quick")
    code, said = program.end()
    assert (code, said) == (0, ""), program.rows[-1]
    assert program.summary["source"] == "script"
    assert program.summary["cars"][0]["stops"] == []
    assert program.summary["cars"][0]["distance_m"] > 0.1


@pytest.mark.parametrize("script", [("reset",)], indirect=True)
def test_a_script_sees_walls_and_puts_its_car_back_to_its_start(start, script):
    words = ("--car", "sim://f1tenth?track=corridor&seed=1", "--like", "roboracer")
    program = start(None, *words, "--seconds", "20")
    program.until(lambda: script.seen() and script.seen()[-1][3] == "again", "back at its start")
    program.until(lambda: script.poses()[-1][0] > 0.15, "driving again")
    code, said = program.end()
    assert (code, said) == (0, ""), program.rows[-1]
    assert program.summary["cars"][0]["stops"] == []
    rows = script.seen()
    assert {ranges for ranges, *_ in rows} <= {0, 1081}, "no scan yet, or whole ones"
    assert rows[-1][0] == 1081
    before = max(ticks for _, ticks, _, phase in rows if phase == "away")
    after = next(ticks for _, ticks, _, phase in rows if phase == "again")
    assert before > 1000 > abs(after), "its encoders begin anew, as there"


def test_when_no_script_ever_drove_that_is_said_and_no_success(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    done = tandem("devkit", "--car", "sim://nigel", "--connect", place, "--seconds", "2")
    assert done.returncode == 3
    assert f"{place}: no script drove the car" in done.stderr
    assert "start the script first" in done.stderr


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_script_that_is_killed_or_hangs_stops_the_car(start, script, how):
    program = start(None, "--car", "sim://nigel?seed=1")
    program.until(lambda: (program.latest("speed_mps") or 0) > 0.05, "moving")
    script.process.send_signal(how)
    code, said = program.end()
    assert code == 1
    assert "stopped before the end" in said
    assert "the Devkit script fell silent" in program.summary["cars"][0]["stops"][0]


def test_the_person_at_the_terminal_stops_it_and_lets_it_go_on(start, kitty):
    program = start(kitty, "--car", "sim://nigel")
    program.until(lambda: (program.latest("speed_mps") or 0) > 0.05, "moving")
    assert program.latest("commanded_by") == "devkit"
    kitty.type(b"\x1b[101u")
    program.until_state("STOPPED")
    assert "the driver's seat" in program.latest("why_stopped")
    kitty.type(b"\x1b[114u")
    program.until_state("ACTIVE")
    kitty.type(b"\x1b[27u")
    assert program.end() == (0, "")


def test_an_unknown_car_of_the_simulator_is_refused_with_those_there_are():
    done = tandem("devkit", "--car", "sim://autorally")
    assert done.returncode == 2
    assert "has no 'autorally'" in done.stderr
    assert "--like roboracer" in done.stderr


@pytest.mark.parametrize(
    "place", ["4567", "here", ":4567", "here:port", "here:0", "::1:4567", "[]:4567"]
)
def test_a_place_without_host_or_port_is_refused(place):
    done = tandem("devkit", "--car", "sim://nigel", "--connect", place)
    assert done.returncode == 2
    assert "expected: HOST:PORT" in done.stderr
