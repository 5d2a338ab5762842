"""MicroPython onto a board in its loader: boot drives are folders, esptool a program of ours."""

import struct
import sys

import pytest

from host_bridge.errors import DataFileFault, DeviceFault, UsageFault
from host_bridge.flash.runtime import FAMILIES, install_runtime
from tests.host_bridge.programs import tandem

PORT = "/dev/not-there"
# As Raspberry Pi's boot ROMs write it
INFO = "UF2 Bootloader v1.0\nModel: Raspberry Pi {model}\nBoard-ID: {board_id}\n"
MODELS = {"rp2040": ("RP2", "RPI-RP2"), "rp2350": ("RP2350", "RP2350")}


def drive_of(folder, chip):
    model, board_id = MODELS[chip]
    folder.mkdir()
    (folder / "INFO_UF2.TXT").write_text(INFO.format(model=model, board_id=board_id))
    return folder


def uf2_for(chip, folder):
    """Two blocks of 512 bytes, each with its head and its end."""
    path = folder / f"{chip}.uf2"
    blocks = []
    for number in range(2):
        words = (0x0A324655, 0x9E5D5157, 0x2000, 0x1000_0000 + 256 * number, 256, number, 2)
        head = struct.pack("<8I", *words, FAMILIES[chip][0])
        blocks.append(head + bytes([number]) * 476 + struct.pack("<I", 0x0AB16F30))
    path.write_bytes(b"".join(blocks))
    return path


@pytest.mark.parametrize("chip", FAMILIES)
def test_a_uf2_is_copied_whole_to_the_boot_drive_of_its_chip(tmp_path, chip):
    drives = [drive_of(tmp_path / each, each) for each in FAMILIES]
    file = uf2_for(chip, tmp_path)
    said = install_runtime(file, chip, PORT, [tmp_path / "no drive", *drives])
    assert file.name in said
    for drive in drives:
        names = {path.name for path in drive.iterdir()}
        assert names == {"INFO_UF2.TXT"} | ({file.name} if drive.name == chip else set())
    assert (tmp_path / chip / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(("chip", "other"), [("rp2040", "rp2350"), ("rp2350", "rp2040")])
def test_a_board_of_the_other_chip_is_refused_and_nothing_is_copied(tmp_path, chip, other):
    drive = drive_of(tmp_path / "drive", other)
    with pytest.raises(DeviceFault, match="no boot drive") as refused:
        install_runtime(uf2_for(chip, tmp_path), chip, PORT, [drive])
    assert MODELS[other][1] in str(refused.value)
    assert [path.name for path in drive.iterdir()] == ["INFO_UF2.TXT"]


def test_a_uf2_for_another_chip_is_refused_before_a_drive_is_looked_for(tmp_path):
    with pytest.raises(DataFileFault, match="another chip"):
        install_runtime(uf2_for("rp2040", tmp_path), "rp2350", PORT, [])


@pytest.mark.parametrize("content", [b"", b"UF2\n", bytes(512)])
def test_what_is_no_uf2_is_refused(tmp_path, content):
    file = tmp_path / "some.uf2"
    file.write_bytes(content)
    with pytest.raises(DataFileFault, match="no UF2"):
        install_runtime(file, "rp2040", PORT, [drive_of(tmp_path / "drive", "rp2040")])


def test_a_chip_without_a_boot_drive_takes_no_uf2(tmp_path):
    with pytest.raises(UsageFault, match="takes no UF2"):
        install_runtime(uf2_for("rp2040", tmp_path), "esp32s3", PORT, [])


@pytest.fixture
def esptool(tmp_path, monkeypatch):
    """Instead of the chip at the port: a program that notes its words, and ends as it is told."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(exit_code):
        script = f"""#!{sys.executable}
import sys
open({str(tmp_path / "words")!r}, "w").write(" ".join(sys.argv[1:]))
sys.exit({exit_code})
"""
        (folder / "esptool").write_text(script)
        (folder / "esptool").chmod(0o755)
        return tmp_path / "words"

    return make


def binary(tmp_path):
    (tmp_path / "board.bin").write_bytes(b"\xe9")
    return tmp_path / "board.bin"


def test_a_bin_is_given_to_esptool_for_this_port_at_its_beginning(tmp_path, esptool):
    words = esptool(0)
    assert "board.bin" in install_runtime(binary(tmp_path), "esp32s3", PORT)
    assert words.read_text().split() == f"--port {PORT} write_flash 0 {binary(tmp_path)}".split()


def test_an_esptool_that_fails_is_said_so_with_its_exit_code(tmp_path, esptool):
    esptool(2)
    with pytest.raises(DeviceFault, match="did not write") as failed:
        install_runtime(binary(tmp_path), "esp32s3", PORT)
    assert "exit code 2" in str(failed.value)


def test_without_esptool_it_is_said_how_to_have_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageFault, match="not installed") as missing:
        install_runtime(binary(tmp_path), "esp32s3", PORT)
    assert "pip install esptool" in str(missing.value)


def test_dfu_is_told_step_by_step(tmp_path):
    (tmp_path / "board.dfu").write_bytes(b"DfuSe")
    with pytest.raises(UsageFault) as told:
        install_runtime(tmp_path / "board.dfu", "stm32f767", PORT)
    assert f"dfu-util -a 0 -D {tmp_path / 'board.dfu'}" in str(told.value)


def test_what_is_no_runtime_or_not_there_is_refused_by_the_command(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    for name, said, exit_code in (("notes.txt", "not a runtime", 2), ("none.uf2", "no such", 7)):
        words = ("--vehicle", "f1tenth", "--board", "pico", "--port", PORT)
        done = tandem("flash", *words, "--runtime", str(tmp_path / name), within_s=60)
        assert (done.returncode, said in done.stderr) == (exit_code, True), done.stderr
