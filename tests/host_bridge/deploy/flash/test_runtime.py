"""MicroPython onto a board in its loader: boot drives are folders, esptool a program of ours."""

import hashlib
import struct
import sys

import pytest

from host_bridge.config.boards import load_board
from host_bridge.config.boards.reading import board_names
from host_bridge.core.errors import DataFileFault, DeviceFault, UsageFault
from host_bridge.deploy.flash.board.runtime import install_runtime
from host_bridge.deploy.flash.program.image import FAMILIES, examine_image, where_to_get
from tests.host_bridge.cli.programs import tandem

PORT = "/dev/not-there"
# As Raspberry Pi's boot ROMs write it
INFO = "UF2 Bootloader v1.0\nModel: Raspberry Pi {model}\nBoard-ID: {board_id}\n"
MODELS = {"rp2040": ("RP2", "RPI-RP2"), "rp2350": ("RP2350", "RP2350")}


def drive_of(folder, chip):
    model, board_id = MODELS[chip]
    folder.mkdir()
    (folder / "INFO_UF2.TXT").write_text(INFO.format(model=model, board_id=board_id))
    return folder


BOARDS = {"rp2040": load_board("pico"), "rp2350": load_board("pico2")}


def blocks_of(chip, words):
    """As many blocks as the words take, each with its head and its end."""
    parts = [words[at : at + 256].ljust(256, b"\0") for at in range(0, len(words), 256)]
    return [
        struct.pack(
            "<8I", 0x0A324655, 0x9E5D5157, 0x2000, 0x1000_0000 + 256 * number, 256, number,
            len(parts), FAMILIES[chip],
        ) + part.ljust(476, b"\0") + struct.pack("<I", 0x0AB16F30)
        for number, part in enumerate(parts)
    ]  # fmt: skip


def workaround():
    """The block before all others in the vendor's files for an RP2350 (its erratum E10)."""
    head = struct.pack(
        "<8I", 0x0A324655, 0x9E5D5157, 0xA000, 0x10FF_FF00, 256, 0, 2, 0xE48B_FF57
    )  # fmt: skip
    data = b"\xef" * 256 + struct.pack("<I", 0x9957_E304)
    return head + data.ljust(476, b"\0") + struct.pack("<I", 0x0AB16F30)


def words_of(chip, version="1.28.0"):
    """As a build of MicroPython has them in its image; the version across two blocks."""
    told = f"3.4.0; MicroPython v{version} on 2026-04-06"
    return b"\0" * 240 + told.encode() + b"\0 with " + BOARDS[chip].machine.encode()


def uf2_for(chip, folder, words=None):
    path = folder / f"{chip}.uf2"
    path.write_bytes(b"".join(blocks_of(chip, words or words_of(chip))))
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


@pytest.mark.parametrize("chip", FAMILIES)
def test_a_uf2_says_its_version_and_its_hash(tmp_path, chip):
    file = uf2_for(chip, tmp_path)
    image = examine_image(file, BOARDS[chip])
    assert image.version == "1.28.0"
    assert image.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert examine_image(file, BOARDS[chip], image.sha256.upper()) == image
    with pytest.raises(DataFileFault, match="another file than was meant"):
        examine_image(file, BOARDS[chip], "0" * 64)


def test_a_file_for_an_rp2350_may_begin_with_the_block_that_works_around_its_erratum(tmp_path):
    file = uf2_for("rp2350", tmp_path)
    whole = file.read_bytes()
    file.write_bytes(workaround() + whole)
    assert examine_image(file, BOARDS["rp2350"]).version == "1.28.0"
    for damaged in (workaround() * 2 + whole, workaround() + whole[:512], whole + workaround()):
        file.write_bytes(damaged)
        with pytest.raises(DataFileFault):
            examine_image(file, BOARDS["rp2350"])


def test_a_uf2_for_another_chip_is_refused(tmp_path):
    with pytest.raises(DataFileFault, match="another chip"):
        examine_image(uf2_for("rp2040", tmp_path), BOARDS["rp2350"])


def test_a_uf2_for_another_board_of_the_chip_is_refused(tmp_path):
    with pytest.raises(DataFileFault, match="another board"):
        examine_image(uf2_for("rp2350", tmp_path), load_board("weact_rp2350b"))


@pytest.mark.parametrize(
    ("words", "what"), [(words_of("rp2040", "1.22.2"), "too old"), (b"CircuitPython", "no MicroP")]
)
def test_what_the_program_does_not_run_under_is_refused(tmp_path, words, what):
    with pytest.raises(DataFileFault, match=what) as refused:
        examine_image(uf2_for("rp2040", tmp_path, words), BOARDS["rp2040"])
    assert "https://micropython.org/download/RPI_PICO/" in refused.value.remedy


def test_a_uf2_that_is_not_whole_is_refused_wherever_it_is_cut_or_damaged(tmp_path):
    file = uf2_for("rp2040", tmp_path)
    whole = file.read_bytes()
    first, second = whole[:512], whole[512:]
    for damaged in (first, whole[:-1], whole[:700], second + first, whole + first, first + first,
                    whole[:-4] + b"\0\0\0\0", first + b"\0" + second[1:]):  # fmt: skip
        file.write_bytes(damaged)
        with pytest.raises(DataFileFault, match="cut short or damaged"):
            examine_image(file, BOARDS["rp2040"])


@pytest.mark.parametrize("content", [b"", b"UF2\n", bytes(512)])
def test_what_is_no_uf2_is_refused(tmp_path, content):
    file = tmp_path / "some.uf2"
    file.write_bytes(content)
    with pytest.raises(DataFileFault, match="no UF2"):
        examine_image(file, BOARDS["rp2040"])


def test_a_chip_without_a_boot_drive_takes_no_uf2(tmp_path):
    with pytest.raises(UsageFault, match="takes no UF2"):
        examine_image(uf2_for("rp2040", tmp_path), load_board("esp32s3_devkitc"))


@pytest.mark.parametrize("name", board_names())
def test_each_board_names_its_file_of_micropython_and_who_has_it(name):
    said = where_to_get(load_board(name))
    assert said.startswith("https://micropython.org/download/")
    assert said.endswith("1.23 or newer")


@pytest.mark.process
def test_a_dry_run_looks_at_the_runtime_or_says_where_one_is_to_be_had(tmp_path):
    words = ("flash", "--vehicle", "f1tenth", "--board", "pico", "--port", PORT, "--dry-run")
    without = tandem(*words, within_s=60)
    assert without.returncode == 0, without.stderr
    assert "https://micropython.org/download/RPI_PICO/" in without.stdout
    absent = tandem(*words, "--runtime", str(tmp_path / "nope.uf2"), within_s=60)
    assert absent.returncode == DataFileFault.exit_code
    assert "https://micropython.org/download/RPI_PICO/" in absent.stderr


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


@pytest.mark.process
def test_a_bin_is_given_to_esptool_for_this_port_at_its_beginning(tmp_path, esptool):
    words = esptool(0)
    assert "board.bin" in install_runtime(binary(tmp_path), "esp32s3", PORT)
    assert words.read_text().split() == f"--port {PORT} write_flash 0 {binary(tmp_path)}".split()


@pytest.mark.process
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


@pytest.mark.process
def test_what_is_no_runtime_or_not_there_is_refused_by_the_command(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    for name, said, exit_code in (
        ("notes.txt", "not a MicroPython", 2),
        ("none.uf2", "cannot be read", 7),
    ):
        words = ("--vehicle", "f1tenth", "--board", "pico", "--port", PORT)
        done = tandem("flash", *words, "--runtime", str(tmp_path / name), within_s=60)
        assert (done.returncode, said in done.stderr) == (exit_code, True), done.stderr
