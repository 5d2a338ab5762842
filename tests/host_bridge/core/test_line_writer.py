"""Lines that nobody reads hold up nobody: against real pipes, and a drive in a process."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import subprocess
import time

import pytest

from host_bridge.core.system.line_writer import MOST, LineWriter
from tests.host_bridge.cli.programs import TANDEM
from tests.support import patience

SMALL = 16384  # bytes: some pages, of which a pipe has to have a free one


@pytest.fixture
def pipe():
    """A small pipe: the end that is read, and a stream into it."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, SMALL)
    stream = open(writes, "w")  # noqa: SIM115 - closed below
    yield reads, stream
    for close in (stream.close, lambda: os.close(reads)):
        with contextlib.suppress(OSError):
            close()


def read(reads) -> str:
    """All that is there."""
    os.set_blocking(reads, False)
    text = b""
    with contextlib.suppress(BlockingIOError):
        while data := os.read(reads, 1 << 16):
            text += data
    return text.decode()


def test_what_is_read_in_time_comes_whole_and_in_order(pipe):
    reads, stream = pipe
    print("printed before", file=stream)
    writer = LineWriter(stream)
    writer.put(["one", "two"])
    writer.finish(["the end"])
    assert read(reads) == "printed before\none\ntwo\nthe end\n"
    assert writer.lost == 0


def test_a_full_pipe_holds_up_nobody_and_the_newest_lines_are_kept(pipe):
    reads, stream = pipe
    writer = LineWriter(stream)
    begun_s = time.monotonic()
    for number in range(1000):
        writer.put([f"{number:6} {'x' * 100}"])
    patience.took(begun_s, 5.0, "a thousand lines into a full pipe", 0.1)
    text = ""
    for _ in range(100):
        text += read(reads)
        writer.put([])
    numbers = [int(line.removesuffix("x" * 100)) for line in text.splitlines()]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (0, 999)
    assert 0 < writer.lost == 1000 - len(numbers)
    assert numbers[-MOST:] == list(range(1000 - MOST, 1000))


def test_a_line_longer_than_the_pipe_waits_for_no_one(pipe):
    reads, stream = pipe
    writer = LineWriter(stream)
    writer.put(["y" * 3 * SMALL])
    text = ""
    for _ in range(10):
        text += read(reads)
        writer.put([])
    assert text == "y" * 3 * SMALL + "\n"


def test_the_end_is_not_waited_for_for_long(pipe):
    _, stream = pipe
    writer = LineWriter(stream)
    writer.put(["z" * SMALL])
    begun_s = time.monotonic()
    writer.finish(["the end"])
    patience.took(begun_s, 10.0, "the end of a pipe that nobody reads", 0.1)
    assert writer.lost == 2


def test_where_nobody_will_ever_read_it_says_so(pipe):
    reads, stream = pipe
    os.close(reads)
    with pytest.raises(BrokenPipeError):
        LineWriter(stream).put(["one"])


def test_a_stream_without_a_file_gets_everything():
    stream = io.StringIO()
    writer = LineWriter(stream)
    writer.put(["one"])
    writer.finish(["two"])
    assert stream.getvalue() == "one\ntwo\n"


def test_control_characters_are_written_as_escapes(pipe):
    reads, stream = pipe
    LineWriter(stream).put(["a\x1b[2Jb"])
    assert read(reads) == "a\\x1b[2Jb\n"


@pytest.mark.process(drives=True)
def test_a_drive_whose_output_nobody_reads_comes_to_its_end():
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, SMALL)
    try:
        drive = subprocess.Popen(
            [*TANDEM, "drive", "--car", "sim://nigel", "--input", "script:slalom",
             "--seconds", "4", "--json"],
            stdin=subprocess.DEVNULL, stdout=writes, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        _, output = patience.communicate(drive, 120)
    finally:
        os.close(writes)
    rows = [json.loads(line) for line in os.read(reads, SMALL).decode().splitlines()[:-1]]
    os.close(reads)
    assert "lines of its output are left out" in output
    assert drive.returncode in (0, 1), output  # 1: a busy machine stopped it
    assert {row["phase"] for row in rows} <= {"arming", "driving", "stopped", "coming to rest"}
