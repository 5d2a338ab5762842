"""The very files that ``tandem flash`` puts on a board, started by the launcher that it puts there.

Compiled for this machine's MicroPython where a board gets its chip's code; the rest is theirs.
"""

import os
import struct
import subprocess
from pathlib import Path

import pytest

from firmware.launcher import TROUBLE, Starts
from firmware.protocol import codes, messages
from host_bridge.config import image_of, load_vehicle
from host_bridge.deploy.flash.build import build_program, sources_of
from host_bridge.deploy.flash.program.program import compile_program, launcher_files
from host_bridge.deploy.hil.host.small_host import SmallHost, framed
from host_bridge.link.protocol.wire import own_protocol_hash
from tests.firmware.worlds import micropython_command
from tests.host_bridge.deploy.flash.far_end import RESET, repl_board
from tests.host_bridge.deploy.flash.test_raw_repl import flash
from tests.support import patience

pytestmark = pytest.mark.micropython
HERE = Path(__file__).parent
VIRTUAL = HERE.parent / "drivers" / "virtual"
POWER_OFF = "power off at 125 MHz"
HEALTHY_MS = 11_500  # ten seconds, from the first step on
WITHIN_S = 300
EPOCH = 77


def quiet(done, total):
    pass


def program(wiring, board="pico2", **pins):
    """``pins`` are names of the pins module that are to have another value."""
    sources = sources_of(board, wiring)
    for name, value in pins.items():
        sources["pins.py"] += f"{name} = {value!r}\n"
    return compile_program(sources, "x64", quiet)


class FlashedBoard:
    def __init__(self, root):
        self.root = root
        self.heard = {}

    def put(self, slot, files):
        """Into a slot, which starts next: on trial."""
        for path, data in files.items():
            place = self.root / "ab"[slot] / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        self.starts.switch(slot)

    def power_up(self, ms=HEALTHY_MS):
        """How that ended. Somebody asks at once who it is."""
        reader, writer = os.pipe()
        os.write(writer, said(messages.Identify, token=1))
        words = (str(HERE / "beat" / "launched_board.py"), str(VIRTUAL), str(self.root), str(ms))
        done = patience.run([*micropython_command(64), *words], stdin=reader, within_s=WITHIN_S)
        os.close(reader)
        os.close(writer)
        host = SmallHost(None)
        host.hear(done.stdout)
        self.heard = host.latest
        return done.stderr.decode().strip()

    def configure(self, vehicle, name, ms=60_000):
        """Write and commit all numbers over the link of a board that has none; the answer."""
        words = (str(HERE / "beat" / "launched_board.py"), str(VIRTUAL), str(self.root), str(ms))
        process = subprocess.Popen(
            [*micropython_command(64), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        host = SmallHost(None)
        with process:
            process.stdin.write(said(messages.Identify, token=1))
            process.stdin.flush()
            while "Identity" not in host.latest or _state(host) != codes.FAULT:
                heard = os.read(process.stdout.fileno(), 4096)
                assert heard, process.stderr.read().decode()
                host.hear(heard)
            identity = host.latest["Identity"]
            image = image_of(vehicle, bytes(identity.board_id), name)
            values = struct.unpack(f"<{(len(image) - 24) // 4}i", image[4:-20])
            bind = said(messages.Bind, protocol_hash=own_protocol_hash())
            frames = [bind]
            for index, value in enumerate(values):
                frames += [said(messages.ParameterWrite, index=index, value=value)]
                frames += [bind] * (index % 20 == 0)
            car_name = name.encode().ljust(16, b"\0")
            frames += [said(messages.ConfigCommit, config_hash=image[-4:], car_name=car_name)]
            process.stdin.write(b"".join(frames))
            process.stdin.flush()
            while "Committed" not in host.latest and (
                heard := os.read(process.stdout.fileno(), 4096)
            ):
                host.hear(heard)
            process.kill()
            assert "Committed" in host.latest, process.stderr.read().decode()
        return host.latest["Committed"]

    @property
    def starts(self):
        """As the launcher reads them at its next start."""
        return Starts(str(self.root))

    @property
    def trouble(self):
        return (self.root / TROUBLE).read_text()


def said(kind, **fields):
    """The frame of a message, of the session if it names one."""
    message = kind()
    if hasattr(message, "epoch"):
        message.epoch = EPOCH
    for name, value in fields.items():
        if isinstance(value, bytes):
            getattr(message, name)[:] = value
        else:
            setattr(message, name, value)
    return framed(message)


def _state(host):
    return host.latest["Status"].state if "Status" in host.latest else None


@pytest.fixture
def board(tmp_path):
    for path, data in launcher_files().items():
        (tmp_path / path[1:]).write_bytes(data)
    return FlashedBoard(tmp_path)


def test_these_are_the_files_that_tandem_flash_puts_there():
    flashed = build_program("pico2", "f1tenth", load_vehicle, quiet).program
    assert sorted(flashed) == sorted(program("f1tenth"))


@pytest.mark.parametrize(
    ("chip", "wiring", "clock_mhz"),
    [("pico2", "f1tenth", 125), ("pico2", "f1tenth_vesc", 125), ("pico", "f1tenth", 200)],
)
def test_a_new_car_answers_on_its_link_and_is_marked_healthy_after_ten_seconds(
    board, chip, wiring, clock_mhz
):
    """The virtual chip is an RP2040, and refuses another clock once a peripheral has its own."""
    board.put(0, program(wiring, chip))
    assert board.power_up() == f"power off at {clock_mhz} MHz"
    identity = board.heard["Identity"]
    assert identity.token == 1
    assert (identity.device, identity.flags, bytes(identity.answer)) == (1, 0, bytes(8))
    assert board.heard["Status"].time_us > 10_000_000
    assert (board.starts.slot, board.starts.is_on_trial) == (0, 0)


def test_a_board_takes_its_first_configuration_in_a_step_whose_heap_is_locked(board):
    """It is written to a file, and every part is set anew: all of that takes from the heap."""
    board.put(0, program("f1tenth"))
    assert board.power_up() == POWER_OFF
    committed = board.configure(load_vehicle("f1tenth"), "red")
    assert committed.result == codes.PARAMETER_OK
    board.power_up(3_000)
    identity = board.heard["Identity"]
    assert bytes(identity.config_hash) == bytes(committed.config_hash)
    assert bytes(identity.car_name).rstrip(b"\0") == b"red"


def test_what_came_over_a_raw_repl_is_what_starts_neutral_and_answers(tmp_path):
    """One file system: MicroPython under Node takes the files, the virtual chip runs them."""
    files = program("f1tenth")
    with repl_board(tmp_path / "board") as (port, process):
        flash(port, files)
        assert patience.wait(process, WITHIN_S) == RESET
    board = FlashedBoard(tmp_path / "board")
    assert {path: (board.root / "a" / path).read_bytes() for path in files} == files
    for path, data in launcher_files().items():
        assert (board.root / path[1:]).read_bytes() == data
    assert (board.starts.slot, board.starts.is_on_trial) == (0, 1)
    assert board.power_up() == POWER_OFF
    assert board.heard["Identity"].token == 1
    assert board.heard["Status"].time_us > 10_000_000
    assert (board.starts.slot, board.starts.is_on_trial) == (0, 0)


def test_a_new_runstop_box_is_marked_healthy_too(board):
    board.put(0, program("runstop_box"))
    assert board.power_up() == POWER_OFF
    assert (board.starts.slot, board.starts.is_on_trial) == (0, 0)


def test_a_car_without_power_before_it_was_healthy_is_not_started_again(board):
    board.put(0, program("f1tenth"))
    assert board.power_up() == POWER_OFF
    board.put(1, program("f1tenth"))
    assert board.power_up(5_000) == POWER_OFF
    assert board.heard["Identity"]
    assert board.starts.slot == 0


def test_a_second_program_that_raises_at_its_start_is_taken_back(board):
    board.put(0, program("f1tenth"))
    assert board.power_up() == POWER_OFF
    board.put(1, program("f1tenth", RUNSTOP=99))  # a pin that no Pico 2 has
    assert (board.starts.slot, board.starts.is_on_trial) == (1, 1)
    assert board.power_up() == "reset"
    assert board.heard == {}
    assert "ValueError: invalid pin" in board.trouble
    assert board.power_up() == POWER_OFF
    assert board.heard["Identity"]
    assert (board.starts.slot, board.starts.is_on_trial, board.starts.failed) == (0, 0, 0)
