"""A bare process knows what a busy machine gives, and an idle one owes nothing."""

import subprocess
import sys
import time

import pytest

from host_bridge.demo.judging.latency_probe import SLOWEST, LatencyProbe, ProbeRow

HOGS = 8


class Told(LatencyProbe):
    """A probe that noted what a test says."""

    def __init__(self, *rows):
        super().__init__()
        self._rows = list(rows)

    def rows(self):
        return self._rows


QUIET = Told(*(ProbeRow(i / 10, (i + 1) / 10, 0.0, 1.0) for i in range(100)))
BUSY = Told(*(ProbeRow(i / 10, (i + 1) / 10, 0.02 if i == 7 else 0.001, 4.0) for i in range(100)))


def test_what_a_quiet_machine_gives_is_all_of_the_time():
    assert QUIET.granted_s(1.0, 3.0) == pytest.approx(2.0)
    assert QUIET.late_s(1.0, 3.0) == pytest.approx(0.0)


def test_where_others_compute_it_is_the_share_of_one():
    assert BUSY.granted_s(1.0, 3.0) == pytest.approx(0.5)
    assert BUSY.late_s(1.0, 3.0) == pytest.approx(1.5 + 0.001)


@pytest.mark.parametrize(
    ("begun_s", "ended_s", "late_s"),
    [(0.0, 0.65, 0.001), (0.65, 0.75, 0.02), (0.79, 0.95, 0.02), (0.81, 0.95, 0.001)],
)
def test_the_worst_wake_is_the_worst_of_that_time(begun_s, ended_s, late_s):
    assert BUSY.worst_wake_s(begun_s, ended_s) == late_s


def test_a_part_of_a_row_counts_as_a_part():
    assert BUSY.granted_s(1.05, 1.15) == pytest.approx(0.025)


def test_one_that_fell_silent_is_as_late_as_it_is_overdue():
    """It notes ten times a second: where it was not heard of for a second, nobody ran."""
    assert QUIET.worst_wake_s(9.5, 11.0) == pytest.approx(0.9)
    assert QUIET.granted_s(9.5, 11.0) == pytest.approx(1.5)


@pytest.mark.process
def test_of_real_processes_a_busy_machine_gives_each_its_share():
    """Each of eight that compute, and the probe: two cores give a ninth of two to each."""
    with LatencyProbe() as probe:
        others = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(HOGS)]
        try:
            begun_s = time.monotonic()
            while len(probe.rows()) < 30:
                time.sleep(0.05)
            slow = [row.slow for row in probe.rows() if row.begun_s > begun_s + 1.5]
            ended_s = time.monotonic()
        finally:
            for other in others:
                other.kill()
                other.wait()
    assert 1.5 < min(slow) <= max(slow) <= SLOWEST
    assert probe.granted_s(begun_s + 1.5, ended_s) < 0.7 * (ended_s - begun_s - 1.5)


@pytest.mark.process
def test_it_ends_when_it_is_no_longer_wanted():
    code = (
        "import os\n"
        "from host_bridge.demo.judging.latency_probe import LatencyProbe\n"
        "probe = LatencyProbe().__enter__()\n"
        "print(probe._process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    pid = int(done.stdout)
    give_up_s = time.monotonic() + 30
    while _runs(pid):
        assert time.monotonic() < give_up_s, "it outlived whoever started it"
        time.sleep(0.05)


def _runs(pid):
    return subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], check=False).returncode == 0
