"""The command line: what is wrong is said clearly, and the exit code says it to programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import tty
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path

import pytest

from firmware.protocol.messages import Identify, Identity, Stop, StopSeen
from host_bridge.cli import main as cli
from host_bridge.core.errors import DataFileFault, DeviceFault, ProtocolFault, UsageFault
from host_bridge.link.protocol import wire
from tests.host_bridge.cli.programs import TANDEM, program, serving, tandem, until, virtual_car
from tests.host_bridge.link.protocol.fields import fields_of
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience
from tests.support.evidence import every

pytestmark = pytest.mark.process(drives=True)


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def test_every_command_is_there_with_examples_and_help(capsys):
    for command in cli.COMMANDS:
        module = import_module(command.module)
        parser = cli.parser_of(command, module)
        text = parser.format_help()
        assert f"tandem {command.name}" in text.split("usage:")[1], command.name
        assert "example" in text, f"tandem {command.name} --help shows no example"
        assert parser.description, command.name


def test_the_overview_names_every_command():
    shown = tandem("--help")
    assert shown.returncode == 0
    assert every(command.name in shown.stdout for command in cli.COMMANDS)


def test_the_version_is_said():
    assert tandem("--version").stdout.startswith("tandem 0.")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("drive", "sim://nigel", "--spede", "1"), "no option --spede; did you mean --speed?"),
        (("drive", "--spede=1"), "no option --spede; did you mean --speed?"),
        (("drive", "--car", "sim://nigel", "--logg", "a.mcap"), "no option --logg; tandem drive"),
        (("drive", "sim://nigel", "--for", "3"), "no option --for; tandem drive --help lists"),
        (("cars", "--fro", "3"), "no option --fro; did you mean --for?"),
        (
            ("drive", "--car", "sim://nigel", "--car", "sim://f1tenth"),
            "--car names one car: got sim://nigel and sim://f1tenth",
        ),
        (("selftest", "--car", "red", "--car", "blue"), "--car names one car: got red and blue"),
        (("campaign", "run", "a.toml", "--wokers", "2"), "did you mean --workers?"),
        (("backup", "red", "red.json"), "red.json is one word too many; a car is --car CAR"),
        (("stop-source", "door", "a", "b"), "a b are too many words; a car is --car CAR"),
        (
            ("config", "write", "--car", "red", "step_s=0.02"),
            "step_s=0.02 stands too late; options",
        ),
        (("serve", "red", "blue"), "blue is one word too many; tandem serve --help has examples"),
        (("serve", "red", "-x"), "no option -x; tandem serve --help lists them"),
    ],
)
def test_a_misspelt_option_and_a_second_car_are_refused_by_name(words, told, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == UsageFault.exit_code
    assert told in capsys.readouterr().err


def test_a_shortened_option_and_words_after_two_dashes_are_taken_as_before():
    command = cli.find("drive")
    parser = cli.parser_of(command, import_module(command.module))
    assert parser.parse_args(["--sec", "3", "--", "sim://nigel"]).seconds == 3.0


def test_an_unknown_command_suggests_the_nearest():
    wrong = tandem("moniter")
    assert wrong.returncode == UsageFault.exit_code
    assert "did you mean tandem monitor?" in wrong.stderr


def test_what_may_be_left_out_of_config_is_not_said_to_be_required(capsys):
    with pytest.raises(SystemExit):
        cli.main(["config"])
    assert "are required: action\n" in capsys.readouterr().err


# what was written -> the words that write it, and a command that is shown for it
SHOWN = {
    "campaign": (["campaign", "new"], ["tandem", "campaign", "run"]),
    "vehicle file": (["vehicles", "new"], ["tandem", "vehicles"]),
}
SLASH = [
    "--like", "f1tenth", "--wheelbase-m", "0.324", "--track-m", "0.296", "--wheel-radius-m",
    "0.0545", "--mass-kg", "3.2", "--speed-max-mps", "4", "--full-speed-mps", "13", "--servo-us",
    "1900,1500,1100", "--steer-deg", "25", "--encoder", "hall", "--magnets", "4", "--gyro", "no",
    "--rc", "no", "--cells", "3", "--board", "pico",
]  # fmt: skip


@pytest.mark.parametrize("kind", SHOWN)
def test_a_shown_command_can_be_pasted_where_a_folder_has_a_space_in_its_name(
    kind, tmp_path, capsys
):
    (written, wanted), folder = SHOWN[kind], tmp_path / "my cars"
    folder.mkdir()
    path = str(folder / ("link" if kind == "campaign" else "slash.toml"))
    assert cli.main([*written, path, *([] if kind == "campaign" else SLASH)]) == 0
    shown = [line[line.find("tandem ") :] for line in capsys.readouterr().out.splitlines()]
    commands = [shlex.split(it) for it in shown if it.startswith("tandem ")]
    assert [*wanted, path] in [words[: len(wanted) + 1] for words in commands]


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (ImportError("TANDEM_FAST is set: run make fast"), "tandem: TANDEM_FAST is set: run"),
        (
            ImportError("No module named 'x'", name="x"),
            "remedy: make setup in a clone, else pip, installs what is missing",
        ),
    ],
)
def test_what_is_not_installed_is_said_without_a_traceback(monkeypatch, capsys, missing, said):
    def not_there(name):
        raise missing

    monkeypatch.setattr(cli, "import_module", not_there)
    assert cli.main(["cars"]) == DeviceFault.exit_code
    assert said in capsys.readouterr().err


# what is wrong -> words, exit code, what the message has to hold
BAD = {
    "unknown scheme": (
        ["monitor", "seriel:///dev/ttyACM0"],
        UsageFault,
        ["unknown scheme 'seriel'", "serial:///dev/ttyACM0", "did you mean serial://?"],
    ),
    "missing device": (
        ["monitor", "serial:///dev/ttyACM99"],
        DeviceFault,
        ["serial:///dev/ttyACM99: no such port", "remedy"],
    ),
    "no car at all": (
        ["monitor"],
        UsageFault,
        ["no car is served", "tandem serve --car sim://nigel"],
    ),
    "unknown name": (
        ["arm", "nigle"],
        DeviceFault,
        ["nobody serves a car by the name of nigle", "served here: no car"],
    ),
    "unknown vehicle": (["monitor", "sim://nigle"], None, ["did you mean nigel?"]),
    "unknown option of a virtual car": (
        ["monitor", "sim://nigel?sed=1"],
        UsageFault,
        ["unknown option 'sed'", "known are"],
    ),
    "a car of another machine": (
        ["monitor", "tandem://jetson/nigel"],
        UsageFault,
        ["nobody has invited you", "tandem invite", "To stop it needs no token"],
    ),
    "a log that is none": (
        ["log", __file__],
        DataFileFault,
        ["test_cli.py"],
    ),
    "arming what nobody serves": (
        ["arm", "sim://nigel"],
        DeviceFault,
        ["needs an owner that stays", "tandem serve --car sim://nigel"],
    ),
    "drive without a terminal": (["drive", "--car", "sim://nigel"], None, ["remedy"]),
    "an input that is none": (
        ["drive", "--car", "sim://nigel", "--input", "joystick"],
        UsageFault,
        ["unknown input 'joystick'"],
    ),
    "a file of commands that is none": (
        ["drive", "--car", "sim://nigel", "--input", f"csv:{__file__}"],
        DataFileFault,
        ["test_cli.py"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_said_clearly(case):
    words, fault, texts = BAD[case]
    wrong = tandem(*words)
    assert wrong.stderr.startswith("tandem: "), wrong.stderr
    assert "Traceback" not in wrong.stderr
    for text in texts:
        assert text in wrong.stderr
    assert wrong.returncode == fault.exit_code if fault else wrong.returncode > 0


class Device:
    """The far end of a port that is no car of ours: what it says is made of what it hears."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._master, self._slave = os.openpty()
        self.uri = f"serial://{os.ttyname(self._slave)}"
        self._answer = answer
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._talk)

    def __enter__(self) -> Device:
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        os.close(self._master)
        os.close(self._slave)

    def _talk(self) -> None:
        while not self._is_over.wait(0.01):
            with suppress(BlockingIOError):
                os.write(self._master, self._answer(self._heard()))

    def _heard(self) -> bytes:
        try:
            return os.read(self._master, 4096)
        except BlockingIOError:
            return b""


def other_version() -> Callable[[bytes], bytes]:
    """A car of another version of Tandem: only the frozen messages mean the same to it."""
    decoder = wire.MessageDecoder()
    identity = {"layout": 1, "protocol_hash": b"\xde\xad\xbe\xef", "config_hash": bytes(4)}
    identity |= {"board_id": bytes(8), "state": 1, "car_name": b"old".ljust(16, b"\0")}
    identity |= {"device": 1, "flags": 0, "answer": bytes(8)}

    def answer(data: bytes) -> bytes:
        said = b""
        for message in decoder.feed(data):
            if isinstance(message, Identify):
                said += wire.encode(wire.new(Identity, token=message.token, **identity))
            elif isinstance(message, Stop):
                fields = fields_of(message)
                said += wire.encode(wire.new(StopSeen, state=4, **fields))
        return said

    return answer


def test_noise_is_said_not_to_be_tandem():
    with Device(lambda heard: bytes(range(100, 140))) as device:
        wrong = tandem("monitor", device.uri)
    assert wrong.returncode == ProtocolFault.exit_code
    assert "this does not speak Tandem" in wrong.stderr
    assert "baud" in wrong.stderr


def test_a_car_of_another_version_is_refused_with_both_hashes_and_the_remedy():
    with Device(other_version()) as device:
        wrong = tandem("monitor", device.uri)
    assert wrong.returncode == ProtocolFault.exit_code
    assert f"expected: protocol {wire.own_protocol_hash().hex()}" in wrong.stderr
    assert "got: deadbeef" in wrong.stderr
    assert "reflash" in wrong.stderr


def test_a_car_of_another_version_is_stopped_all_the_same():
    with Device(other_version()) as device:
        directly = tandem("stop", device.uri)
        assert directly.returncode == 0, directly.stderr
        with serving(device.uri, "old"):
            through_owner = tandem("stop", "old")
    assert through_owner.returncode == 0, through_owner.stderr
    assert "STOPPING, acknowledged" in through_owner.stdout


def test_silence_is_said_to_be_silence():
    master, slave = os.openpty()
    try:
        wrong = tandem("monitor", f"serial://{os.ttyname(slave)}")
    finally:
        os.close(master)
        os.close(slave)
    assert wrong.returncode == DeviceFault.exit_code
    assert "nothing comes from the car" in wrong.stderr


@pytest.mark.parametrize("is_served", [False, True])
def test_a_car_at_a_port_is_named_by_its_path_in_every_command(folder, is_served):
    port = str(folder / "port")
    with virtual_car("nigel", Path(port)), ExitStack() as stack:
        if is_served:
            stack.enter_context(serving(port, "desk"))
        for words in (("monitor", port, "--seconds", "0.2"), ("identify", port),
                      ("config", "diff", port), ("stop", port), ("clear", port),
                      ("drive", "--car", port, "--input", "script:straight",
                       "--seconds", "1")):  # fmt: skip
            done = tandem(*words)
            assert done.returncode == 0, (words, done.stdout, done.stderr)


def test_a_busy_port_is_said_to_be_busy_and_by_whom(folder):
    with virtual_car("nigel", folder / "port"):
        port = Path(os.path.realpath(folder / "port"))
        with program("monitor", f"serial://{port}") as other:
            until((folder / "nigel.sock").exists, "the other program to have the port")
            wrong = tandem("serve", "--car", f"serial://{folder / 'port'}", "--name", "again")
        assert wrong.returncode == DeviceFault.exit_code
        assert str(other.pid) in wrong.stderr


def test_ctrl_c_ends_in_order_with_130(folder):
    with program("monitor", "sim://nigel", "--json") as process:
        until((folder / "nigel.sock").exists, "the monitor to serve its car")
        process.send_signal(signal.SIGINT)
        _, errors = patience.communicate(process, 10)
        assert process.returncode == cli.INTERRUPTED
    assert errors == ""
    assert list(folder.iterdir()) == []  # nothing is left that says it were served


def test_nobody_reading_any_more_is_no_error():
    with program("monitor", "sim://nigel", "--json") as process:
        process.stdout.readline()
        process.stdout.close()
        patience.wait(process, 10)
        assert process.returncode == 0
        assert process.stderr.read() == ""
        process.stdout = None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "words",
    [("--version",), ("vehicles",), ("drive", "sim://nigel", "--input", "script:straight")],
    ids=lambda words: words[0],
)
def test_a_full_disk_below_what_is_printed_is_one_sentence(folder, words):
    with open("/dev/full", "w") as full:
        ended = patience.run(
            [*TANDEM, *words], 20.0, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == DataFileFault.exit_code
    assert ended.stderr.startswith("tandem: there is no room for what is printed or written\n")
    assert "Traceback" not in ended.stderr
    assert "Exception" not in ended.stderr


COMPLETING = """
source "$1"; shift
tandem() { echo '[ { "name": "x" },'; echo '  "name": "red",'; }
COMP_WORDS=(tandem "$@"); COMP_CWORD=$#
_tandem
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["dri"], {"drive"}),
        (["flash", "--board", "pico"], {"pico", "pico2"}),
        (["drive", "--profile", ""], {"stand", "track", "race"}),
        (["monitor", "--car", "r"], {"red"}),
        (["monitor", "re"], {"red"}),
        (["drive", "--prof"], {"--profile"}),
        (["vehicles", "--vehicle", "no such"], {""}),
    ],
)
@pytest.mark.skipif(not shutil.which("bash"), reason="no bash on this machine")
def test_bash_completes_commands_options_their_words_and_cars(folder, typed, offered):
    script = folder / "completion.bash"
    script.write_text(tandem("completion", "bash").stdout)
    words = ["bash", "-c", COMPLETING, "bash", str(script), *typed]
    done = patience.run(words, text=True, within_s=20, check=True)
    assert set(done.stdout.split("\n")[:-1]) == offered, done.stderr


IN_FISH = """
function tandem; echo '[ { "name": "x" },'; echo '  "name": "red",'; end
source $argv[1]
complete -C $argv[2]
"""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tandem dri", {"drive"}),
        ("tandem flash --board pico", {"pico", "pico2"}),
        ("tandem drive --profile ", {"stand", "track", "race"}),
        ("tandem monitor re", {"red"}),
        ("tandem drive --prof", {"--profile"}),
    ],
)
@pytest.mark.skipif(not shutil.which("fish"), reason="no fish on this machine")
def test_fish_completes_the_same(folder, typed, offered):
    script = folder / "completion.fish"
    script.write_text(tandem("completion", "fish").stdout)
    words = ["fish", "--no-config", "-c", IN_FISH, str(script), typed]
    done = patience.run(words, text=True, within_s=20, check=True)
    assert {line.partition("\t")[0] for line in done.stdout.splitlines()} == offered, done.stderr


IN_ZSH = """
zmodload zsh/zpty
zpty car 'zsh -f -i'
zpty -w car "PS1= TERM=dumb; autoload -Uz compinit; compinit -u -D; source $1; print RE''ADY"
zpty -r car seen '*READY*'
zpty -w -n car "$2"$'\t'
zpty -r car seen "*$3*" && print -r -- found
"""


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("tandem iden", "tandem identify "),
        ("tandem flash --board pi", "tandem flash --board pico"),
        ("tandem drive --prof", "tandem drive --profile "),
    ],
)
@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh on this machine")
def test_zsh_completes_the_same(folder, typed, completed):
    script = folder / "_tandem"
    script.write_text(tandem("completion", "zsh").stdout)
    words = ["zsh", "-f", "-c", IN_ZSH, "zsh", str(script), typed, completed]
    done = patience.run(words, text=True, within_s=20)
    assert done.stdout == "found\n", done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_is_printed_for_a_shell_names_every_command_and_option(shell):
    text = tandem("completion", shell).stdout
    for command in cli.COMMANDS:
        assert re.search(rf"\b{command.name}\b", text)
    for option in ("--attest", "--runtime-sha256", "--calibration"):
        assert option.removeprefix("--") in text
    if program_of_shell := shutil.which(shell):
        checked = patience.run([program_of_shell, "-n"], data=text, text=True, within_s=20)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.xdist_group("wall clock")
def test_a_car_that_just_started_is_waited_for_before_it_is_trimmed(folder, monkeypatch):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(folder / "data"))
    trimmed = tandem("trim", "--car", "sim://nigel", "steering=5")
    assert trimmed.returncode == 0, trimmed.stderr
    assert "+5.0" in trimmed.stdout


@pytest.mark.xdist_group("wall clock")
def test_a_drive_takes_its_car_as_a_word_too():
    driven = tandem("drive", "sim://nigel", "--input", "script:straight", "--seconds", "1")
    assert driven.returncode == 0, driven.stderr
    twice = tandem("drive", "sim://nigel", "--car", "sim://nigel")
    assert twice.returncode == 2
