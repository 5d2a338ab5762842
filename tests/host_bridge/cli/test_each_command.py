"""Each command once, as the program that a person starts: what it says, and its exit code.

What each of them can do is in the tests of its own; here is one of every command in ``make test``.
"""

import re
import signal

import pytest

from host_bridge.cli.main import COMMANDS
from tests.host_bridge.cli.programs import program, serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience

pytestmark = [pytest.mark.process, pytest.mark.smoke]

# What Python prints by itself of an error, an object, an enumeration's member, a data class
PYTHONS_OWN = re.compile(
    r"Traceback|<[\w.]+ (object )?at 0x|<\w+\.\w+: |\b[A-Z][a-z]\w+\([a-z]\w*="
)
# In this order, to a car that is served: words, exit code, some of what is said
SERVED = (
    ("cars", 0, "car"),
    ("cap 0.3 --car car", 0, "0.3"),
    ("arm car", 0, "arm done"),
    ("disarm car", 0, "disarm done"),
    ("monitor car --seconds 1", 0, "PARKED"),
    ("record car -o {folder}/told.mcap --seconds 1", 0, "told.mcap"),
    ("stop car", 0, "acknowledged after"),
    ("clear car", 0, "clear done"),
    ("config show car", 0, "config hash"),
    ("trim steering=5 --car car", 0, "steering"),
    ("backup {folder}/numbers.json --car car", 0, "numbers.json"),
    ("restore {folder}/numbers.json --car car", 0, ""),
)
# Without any car but their own
ALONE = (
    (
        "drive --car sim://nigel --input script:slalom --seconds 2 --lockstep"
        " --record {folder}/drive.mcap",
        0,
        "no stops",
    ),
    ("log {folder}/drive.mcap", 0, "nigel"),
    ("path record {folder}/drive.mcap -o {folder}/path.csv", 0, "with two ends"),
    ("drive replay://{folder}/drive.mcap --input script:slalom", 2, "nobody drives it"),
    ("map {folder}/drive.mcap -o {folder}/lab.yaml", 7, "with scans in it"),
    ("localise {folder}/lab.yaml {folder}/drive.mcap", 7, "lab.yaml"),
    ("replay {folder}/drive.mcap", 0, "nigel"),
    ("why {folder}/drive.mcap", 0, "nigel stood at"),
    ("calibrate {folder}/drive.mcap", 1, "to tell: "),
    ("demo --runtime micropython --only together --out {folder}/demo --board /dev/nowhere", 3, ""),
    ("follow sim://nigel sim://nigel?name=twin", 5, "no RC receiver"),
    ("devkit --car sim://nowhere", 5, "there is no vehicle file nowhere"),
    ("ros --car sim://f1tenth", 3, "no rclpy"),
    ("planning-simulator", 7, "wheel_base"),
    ("mavlink --car sim://nigel --to 192.0.2.7:14550", 2, "nobody is invited"),
    ("invite", 2, "no car is served"),
    ("accept {folder}/drive.mcap", 2, "no token of a guest"),
    ("guests", 2, "no car is served"),
    ("attest wheels-off-ground", 2, "no car is served"),
    ("linktest tandem://192.0.2.7/red", 2, "nobody has invited you"),
    ("stop-source nowhere:door", 2, "there is no stop source 'nowhere'"),
    ("pads", 0, ""),
    ("vehicles", 0, "f1tenth"),
    ("identify --json", 0, ""),
    ("flash --vehicle f1tenth --board pico2 --port /dev/nowhere --dry-run", 0, "pico2"),
    ("pair", 2, "the boards to pair are not named"),
    ("selftest --car sim://f1tenth", 2, "off the ground"),
    ("hil", 2, "neither a port nor a capture is given"),
    ("faults --case loss --vehicle nigel", 0, "loss"),
    ("campaign new {folder}/campaign", 0, "campaign.toml"),
    ("completion bash", 0, "_tandem"),
    ("doctor", 0, "python"),
)
# Until Ctrl-C: words, the beginning of the first line
LASTING = (
    ("serve --car sim://nigel --name car", "sim://nigel"),
    ("station --port 8797 --no-plots", "http://"),
    ("sim nigel --link {folder}/port", ""),
)


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last)",
        "<host_bridge.cars.Car object at 0x7f12>",
        "<State.HOLD: 4>",
        "CarStatus(state=4)",
    ],
)
def test_what_python_prints_by_itself_is_seen(text):
    assert PYTHONS_OWN.search(f"it is {text}, here")


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def wrong(rows, folder):
    """The rows that ended otherwise, or said something else."""
    found = []
    for words, code, said in rows:
        done = tandem(*(word.format(folder=folder) for word in words.split()))
        text = done.stdout + done.stderr
        if done.returncode != code or said not in text or PYTHONS_OWN.search(text):
            found.append((words, done.returncode, text[-600:]))
    return found


def test_every_command_is_here():
    named = {row[0].split()[0] for row in (*SERVED, *ALONE, *LASTING)}
    assert named == {command.name for command in COMMANDS}


@pytest.mark.process(drives=True)  # its clock has to agree with that of `tandem arm`
def test_each_command_to_a_car_that_is_served(folder, tmp_path):
    with serving("sim://nigel", "car"):
        assert wrong(SERVED, tmp_path) == []


def test_each_command_that_needs_none(tmp_path):
    assert wrong(ALONE, tmp_path) == []


@pytest.mark.parametrize(("words", "said"), LASTING)
def test_each_command_that_goes_on_ends_in_order_with_ctrl_c(words, said, tmp_path):
    with program(*(word.format(folder=tmp_path) for word in words.split())) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(said)
        process.send_signal(signal.SIGINT)
        _, complaints = patience.communicate(process, 20)
    assert "Traceback" not in complaints
    assert process.returncode in (0, 130)
