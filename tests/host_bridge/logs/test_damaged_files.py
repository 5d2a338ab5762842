"""Foreign and damaged files: one clear error, never a traceback, of every reader there is.

A good file of each kind is changed at random, 200 times here and 10 000 in `make soak`: bytes
flipped, cut, doubled, put in from elsewhere; and, of texts, words put in the place of others.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from calibration.files.calibration_file import FOLDER, read_calibration
from calibration.logs.run_csv import read_odometry
from calibration.logs.trace_csv import read_trace_csv
from calibration.logs.trace_tandem import read_tandem_tables
from calibration.logs.tracked_positions import read_tracked_positions
from hardware.drawing.harness import PARTS_LIST
from host_bridge import config
from host_bridge.config.boards import heap, load_board, measured
from host_bridge.config.store import Pairings, backup_file
from host_bridge.core.errors import DataFileFault, TandemError
from host_bridge.core.files import read_table
from host_bridge.core.system.clock import ManualClock
from host_bridge.deploy.hil.report import analyser
from host_bridge.inputs.gamepad.mapping import PadMapping, PadMappings
from host_bridge.inputs.manoeuvres import CsvManoeuvre
from host_bridge.inputs.paths import read_path
from host_bridge.logs import reading
from host_bridge.ros2.planning_simulator.parameter_files import read_setup
from host_bridge.ros2.vocabularies.autorally.priorities import read_priorities
from host_bridge.ros2.vocabularies.f1tenth.config_files import read_mux, read_vesc
from host_bridge.sharing.owner.recording import new_recorder
from sim_mock.bodies.table import parse_model
from sim_mock.faults.named import read_scenario
from sim_mock.models.planning.acceleration_map import read_acceleration_map
from sim_mock.tracks.ros_map import load_map
from tests.host_bridge.cli.programs import tandem
from tests.support.evidence import some

HARDWARE = Path(__file__).parents[3] / "hardware"
WORDS = ("", "-1", "1e999", "nan", "null", "[]", "{}", '""', "\x1b[2J", "9" * 30, "true", "*x", "é")
FEW, MANY = 200, 10_000


def log_of(folder):
    path = folder / "log.mcap"
    log = new_recorder(path, ManualClock())
    log.car("car", {"uri": "sim://nigel"})
    for n in range(20):
        log.frame("car", "down", b"\0" + bytes(range(1, 40)) + b"\0", n * 1000)
    log.close()
    return path


def csv_of(folder):
    path = folder / "drive.csv"
    rows = "".join(f"{n / 10},{'throttle' if n % 2 else 'steering'},0.1\n" for n in range(20))
    path.write_text("t_s,channel,value_norm\n" + rows)
    return path


def map_of(folder):
    Image.fromarray(np.full((8, 8), 200, np.uint8)).save(folder / "cells.png")
    path = folder / "map.yaml"
    path.write_text(
        "image: cells.png\nresolution: 0.05\norigin: [0.0, 0.0, 0.0]\n"
        "negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
    )
    return path


def cells_of(folder):
    map_of(folder)
    return folder / "cells.png"


def model_of(folder):
    path = folder / "model.yaml"
    path.write_text(
        "/**:\n  ros__parameters:\n    vehicle_model_type: DELAY_STEER_ACC\n"
        "    vel_lim: 50.0\n    steer_lim: 1.0\n"
    )
    return path


def backup_of(folder):
    """With the hash that is right for what it was changed to: only its form protects it."""
    path = folder / "backup.json"
    row = {
        "what": backup_file.KIND,
        "car_name": "red",
        "vehicle": "nigel",
        "board_id": "00" * 8,
        "parameters": {"step_us": [10_000], "blind_mm": [100]},
        "pairing": None,
    }
    path.write_text(json.dumps(row))
    return path


def read_backup(path):
    try:
        row = json.loads(path.read_text())
        path.write_text(json.dumps({**row, "sha256": backup_file.content_hash(row)}))
    except (ValueError, TypeError, AttributeError, OSError):
        pass
    backup_file.read_backup(path)


def pairing_of(folder):
    path = folder / "cars" / f"{'00' * 8}.json"
    path.parent.mkdir()
    row = {"board_id": "00" * 8, "car_name": "red", "vehicle": "nigel", "key": "00" * 16}
    path.write_text(json.dumps({**row, "trim": {"step_us": [10_000]}, "flashed": {}}))
    return path


def read_pairing(path):
    Pairings().of(SimpleNamespace(board_id=bytes(8)))


def copy_of(path):
    """A maker of a copy of a file of ours."""
    return lambda folder: Path(shutil.copy(path, folder))


def text_of(name, text):
    """A maker of a file with this text."""

    def make(folder):
        path = folder / name
        path.write_text(text)
        return path

    return make


def rows_of(names, *cells):
    """Twenty rows of cells, in which N is the row's number."""
    rows = "".join(f"{','.join(cells)}\n".replace("N", str(n)) for n in range(20))
    return f"{names}\n{rows}"


LINE = rows_of("x_m,y_m,speed_mps", "N", "1.5", "2.0")
DRIVEN = rows_of("t_s,steer_rad,speed_mps,yaw_rate_radps", "N", "0.1", "1.0", "0.2")
POSES = rows_of("t_s,header_t_s,x_m,y_m,yaw_rad", "N", "N", "0.1", "0.2", "3.1")
PLACES = rows_of("t_s,x_m,y_m", "N", "0.5", "1.0")
SAMPLES = "".join(
    f'{{"sensor": "position", "taken_s": {n}.0, "x_m": 1.0, "y_m": {n}.5}}\n' for n in range(20)
)
ACCELERATIONS = "default, 0, 1, 2\n-1, -1, -1, -1\n0, 0, 0, 0\n1, 1.5, 1.2, 1\n"
FAULTS = (
    '[[fault]]\nname = "stuck_servo"\nat_s = 3.0\n\n[[fault]]\nname = "lossy_wire"\nshare = 0.2\n'
)
MUX = (
    "mux:\n  ros__parameters:\n    topics:\n      joystick:\n"
    "        topic: teleop\n        timeout: 0.2\n        priority: 100\n"
)
VESC = "/**:\n  ros__parameters:\n    speed_to_erpm_gain: 4614.0\n    servo_min: 0.15\n"
PRIORITIES = "mppi_controller: 1\njoystick: 2\nRC: 3\n"
PLANNING = (
    "/**:\n  ros__parameters:\n    vehicle_model_type: DELAY_STEER_ACC\n    wheel_base: 0.33\n"
    "    initial_engage_state: true\n    vel_lim: 50.0\n"
)


def capture_of(folder):
    """A logic analyser's, as sigrok-cli writes it."""
    path = folder / "capture.csv"
    rows = "".join(f"{41 * n},{n & 1},{n >> 1 & 1}\n" for n in range(1, 21))
    path.write_text(
        f"; CSV generated by libsigrok\n; Samplerate: 24 MHz\nTime,esc_pin,servo_pin\n{rows}"
    )
    return path


def pad_of(folder):
    path = folder / "pads" / "03.json"
    path.parent.mkdir()
    path.write_text(json.dumps(PadMapping("03", "red").row(), indent=2))
    return path


def calibration_of(folder):
    path = folder / "c.toml"
    path.write_text(
        'vehicle = "nigel"\ndate = "2026-05-01"\ncommand = "made"\nmethod = "logs"\n\n'
        '[[data]]\nfile = "a.mcap"\nsha256 = "00"\nkind = "log"\nseconds = 3.0\ntape_m = 0.0\n\n'
        "[parameters.steer_trim_rad]\nvalue = 0.03\nlow = 0.02\nhigh = 0.04\n"
    )
    return path


def table_folder_of(folder):
    """The tables of a log: one of them is changed."""
    tables = {
        "status": rows_of("log_t_s,time_us,state,brake,steer_rad,target_mps", "N", "N0000",
                          "ACTIVE", "0.0", "0.1", "0.3"),
        "motion": rows_of("log_t_s,captured_us,count_left,count_right,accel_x_mps2,accel_y_mps2,"
                          "yaw_rate_radps", "N", "N0000", "N", "N", "0.1", "0.1", "0.1"),
        "power": rows_of("log_t_s,battery_v", "N", "12.0"),
        "outputs": rows_of("log_t_s,channels,is_enabled", "N", "1500 1500 0 0", "True"),
    }  # fmt: skip
    for topic, text in tables.items():
        (folder / f"nigel_{topic}.csv").write_text(text)
    return folder / "nigel_motion.csv"


def nigel():
    return config.load_vehicle("nigel")


def read_map(path):
    """In the words of whoever opens a virtual car: ValueError and OSError are what it tells."""
    load_map(path.with_name("map.yaml"))


READERS = {
    "log": (log_of, reading.summary, TandemError),
    "csv": (csv_of, lambda path: CsvManoeuvre(path, config.load_vehicle("nigel")), TandemError),
    "map": (map_of, read_map, (ValueError, OSError)),
    "cells": (cells_of, read_map, (ValueError, OSError)),
    "model": (model_of, lambda path: parse_model(str(path)), ValueError),
    "vehicle": (
        copy_of(HARDWARE / "vehicles/nigel.toml"),
        lambda path: config.load_vehicle(str(path)),
        TandemError,
    ),
    "board": (
        copy_of(HARDWARE / "boards/pico2.toml"),
        lambda path: load_board(str(path)),
        TandemError,
    ),
    "steps": (copy_of(measured.TABLE), measured.read_measured, TandemError),
    "needs": (copy_of(heap.NEEDS_TABLE), heap.read_needs, TandemError),
    "runtimes": (copy_of(heap.RUNTIMES_TABLE), heap.read_runtimes, TandemError),
    "parts": (
        copy_of(HARDWARE / "bom/f1tenth_esc.csv"),
        lambda path: read_table(path, PARTS_LIST),
        TandemError,
    ),
    "backup": (backup_of, read_backup, TandemError),
    "pairing": (pairing_of, read_pairing, TandemError),
    "path": (text_of("line.csv", LINE), read_path, TandemError),
    "trace": (
        text_of("drive.csv", DRIVEN),
        lambda path: read_trace_csv(path, nigel()),
        TandemError,
    ),
    "odometry": (text_of("o.csv", POSES), read_odometry, TandemError),
    "places": (text_of("places.csv", PLACES), read_tracked_positions, TandemError),
    "samples": (text_of("run.jsonl", SAMPLES), read_tracked_positions, TandemError),
    "tables": (
        table_folder_of,
        lambda path: read_tandem_tables(path.parent, "nigel", nigel()),
        TandemError,
    ),
    "capture": (
        capture_of,
        lambda path: analyser.read(path, {"esc": "esc_pin", "servo": "servo_pin"}),
        TandemError,
    ),
    "pad": (pad_of, lambda path: PadMappings(path.parent).of("03"), TandemError),
    "fit": (copy_of(FOLDER / "nigel.toml"), read_calibration, TandemError),
    "calibration": (calibration_of, read_calibration, TandemError),
    "accelerations": (text_of("a.csv", ACCELERATIONS), read_acceleration_map, ValueError),
    "scenario": (text_of("f.toml", FAULTS), lambda path: read_scenario(str(path)), ValueError),
    "mux": (text_of("mux.yaml", MUX), read_mux, TandemError),
    "vesc": (text_of("vesc.yaml", VESC), read_vesc, TandemError),
    "priorities": (text_of("p.yaml", PRIORITIES), read_priorities, TandemError),
    "planning": (
        text_of("s.param.yaml", PLANNING),
        lambda path: read_setup([path], {}).simulator(1),
        TandemError,
    ),
}


def changed(data, draw):
    """One of the operators, at a place drawn."""
    at = draw.randrange(len(data) + 1)
    size = draw.choice((1, 2, 8, 64))
    kind = draw.randrange(7)
    if kind == 0 and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + data[at + size :]
    if kind == 3:
        return data[:at] + data[at : at + size] + data[at:]
    if kind == 4:
        return data[:at] + draw.randbytes(size) + data[at:]
    words = data.split(b" ")
    words[draw.randrange(len(words))] = draw.choice(WORDS).encode()
    if kind == 5:
        return b" ".join(words)
    lines = data.split(b"\n")
    place = draw.randrange(len(lines))
    head, mark, _ = lines[place].partition(b"=" if b"=" in lines[place] else b":")
    lines[place] = head + mark + b" " + draw.choice(WORDS).encode()
    return b"\n".join(lines)


def run_changes(name, folder, monkeypatch, count):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(folder))
    make, read, faults = READERS[name]
    path = make(folder)
    good = path.read_bytes()
    read(path)  # what is not changed is read
    draw = random.Random(f"{name} {count}")
    refused = 0
    for n in range(count):
        data = changed(good, draw)
        path.write_bytes(data)
        try:
            read(path)
        except faults as fault:
            refused += bool(str(fault).strip())
        except Exception as error:
            raise AssertionError(f"change {n} of {name}: {error!r}: {data[:2000]!r}") from error
    assert refused > count // 10, f"{name}: of {count} changes only {refused} were noticed"


@pytest.mark.parametrize("name", READERS)
def test_a_changed_file_is_read_or_refused_with_one_error(name, tmp_path, monkeypatch):
    run_changes(name, tmp_path, monkeypatch, FEW)


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_ten_thousand_changed_files(name, tmp_path, monkeypatch):
    run_changes(name, tmp_path, monkeypatch, MANY)


@pytest.mark.process
@pytest.mark.parametrize(
    "words",
    [
        ("log", "{}"),
        ("drive", "--car", "sim://nigel", "--input", "csv:{}"),
        ("drive", "--car", "sim://nigel?map={}"),
        ("drive", "--car", "sim://nigel?model={}.yaml"),
        ("serve", "--car", "replay://{}"),
        ("serve", "--car", "sim://{}"),
        ("vehicles", "{}", "--check"),
        ("restore", "--car", "sim://nigel", "{}"),
        ("replay", "--commands", "{}", "--against", "{}"),
    ],
    ids=lambda words: " ".join(words[:2]) + words[-1],
)
def test_no_command_shows_a_traceback_for_a_foreign_file(words, tmp_path):
    path = tmp_path / "foreign"
    path.write_bytes(random.Random(1).randbytes(4000))
    path.with_suffix(".yaml").write_bytes(b"\x00\xff: [")
    done = tandem(*(word.format(path) for word in words))
    assert done.returncode not in (0, 1), done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(("tandem: ", "usage: ")), done.stderr


def test_a_foreign_log_with_our_metadata_is_no_log_of_ours(tmp_path):
    from mcap.writer import Writer

    path = tmp_path / "foreign.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        writer.add_metadata(reading.FACTS, {reading.ORIGIN: "0"})
        schema = writer.register_schema("x", "jsonschema", b"{}")
        channel = writer.register_channel("/odom", "json", schema)
        writer.add_message(channel, 1, b"{}", 1)
        writer.finish()
    with pytest.raises(DataFileFault, match="holds what no log of Tandem does"):
        reading.summary(path)


def test_what_would_keep_a_reader_waiting_for_ever_is_no_log(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, what in ((tmp_path / "pipe", "a named pipe"), (Path("/dev/zero"), "a device")):
        with pytest.raises(DataFileFault, match=f"expected: an ordinary file\n  got: {what}"):
            reading.summary(path)
    with pytest.raises(DataFileFault, match="name a file in it"):
        reading.summary(tmp_path)


@pytest.mark.parametrize("origin", ["", "x"])
def test_metadata_that_is_not_ours_is_no_traceback(origin, tmp_path):
    from mcap.writer import Writer

    path = tmp_path / "foreign.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        writer.add_metadata(reading.FACTS, {reading.ORIGIN: origin} if origin else {})
        writer.finish()
    with pytest.raises(DataFileFault, match="no log of Tandem"):
        reading.summary(path)


@pytest.mark.parametrize("lost", [512, 1000, 4096, 5000])
def test_a_log_that_ends_in_zeros_after_a_power_cut_is_read_to_there(lost, tmp_path):
    """The file system had written the length, and not the content."""
    path = log_of(tmp_path)
    whole = path.read_bytes()
    frames = reading.summary(path).counts
    path.write_bytes(whole + bytes(lost))
    assert reading.summary(path).counts == frames
    begun = len(whole) - len(whole) // 4  # the metadata stand before that
    for cut in range(lost, begun, max(begun // 20, 1)):
        path.write_bytes(whole[: len(whole) - cut] + bytes(cut))
        found = reading.summary(path)
        assert not found.is_complete
        assert sum(found.counts.values()) <= sum(frames.values())


def mcap_with(folder, make_chunk):
    """A log with our metadata and one chunk of somebody else's."""
    from mcap.writer import Writer

    path = folder / "bomb.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        writer.add_metadata(reading.FACTS, {reading.ORIGIN: "0"})
        stream.write(make_chunk())
        writer.finish()
    return path


def chunk_of(data, size, compression=b"zstd"):
    """The bytes of a chunk record that says that it has ``size`` bytes."""
    body = struct.pack("<QQQI", 0, 0, size, 0) + struct.pack("<I", len(compression)) + compression
    body += struct.pack("<Q", len(data)) + data
    return struct.pack("<BQ", 6, len(body)) + body


def test_a_log_that_grows_beyond_all_bounds_is_refused(tmp_path):
    from zstandard import ZstdCompressor

    def packed(size):
        """One record of a kind that nobody knows, in some kB."""
        return ZstdCompressor(level=1).compress(
            struct.pack("<BQ", 0x80, size - 9) + bytes(size - 9)
        )

    large, fair = packed(20 << 20), packed(6 << 20)
    chunks = {
        "a chunk of 20971520 bytes": lambda: chunk_of(large, 1000),
        "a chunk of 99999999999 bytes": lambda: chunk_of(b"", 99_999_999_999),
        "too large when it is unpacked": lambda: chunk_of(fair, 6 << 20) * 3,
        "in zstd": lambda: chunk_of(b"", 0, b"lz4"),
    }
    for what, make in some(list(chunks.items())):
        path = mcap_with(tmp_path, make)
        with pytest.raises(DataFileFault, match=what):
            reading.summary(path)
        assert reading.FACTS in reading.facts(path)  # which lie outside of chunks
