"""Deadlines are put off by what the machine withholds and by nothing else; limits are held against
the rest."""

import asyncio
import subprocess
import sys
import time

import pytest

from host_bridge.demo.judging.latency_probe import ProbeRow
from tests.support import patience


class Beside:
    """A witness of a machine that is so many times as slow as an idle one."""

    def __init__(self, slow, wake_s=0.0):
        self.slow, self.wake_s = slow, wake_s

    def rows(self):
        now_s = time.monotonic()
        return [ProbeRow(now_s - 100.0, now_s, self.wake_s, self.slow)]

    def granted_s(self, begun_s, ended_s=None):
        return ((time.monotonic() if ended_s is None else ended_s) - begun_s) / self.slow

    def worst_wake_s(self, begun_s, ended_s=None):
        return self.wake_s


@pytest.fixture
def slow(monkeypatch):
    """Ten times as slow, each wake 20 ms late."""
    monkeypatch.setattr(patience, "witness", lambda: Beside(10.0, 0.02))


@pytest.fixture
def idle(monkeypatch):
    monkeypatch.setattr(patience, "witness", lambda: Beside(1.0))


def waited_s(within_s):
    begun_s = time.monotonic()
    with pytest.raises(patience.Hang, match="waited in vain: what never comes"):
        patience.until(lambda: False, "what never comes", within_s)
    return time.monotonic() - begun_s


def test_what_never_comes_is_waited_for_as_long_as_was_said(idle):
    assert waited_s(0.1) >= 0.1


def test_and_on_a_slow_machine_as_much_longer_but_not_for_ever(slow):
    assert waited_s(0.1) >= 1.0


def test_a_task_that_never_ends_is_a_hang_and_is_cancelled(idle):
    async def main():
        never = asyncio.get_running_loop().create_future()
        with pytest.raises(patience.Hang):
            await patience.within(never, 0.05)
        assert never.cancelled()
        assert await patience.within(asyncio.sleep(0.0, "done"), 5.0) == "done"

    asyncio.run(main())


NOW_S = 1000.0


def held(took_s, cpu_s=0.0):
    return patience.took(NOW_S - took_s, 0.3, "a stop", cpu_s, NOW_S)


def test_on_an_idle_machine_a_limit_is_a_limit(idle):
    assert held(0.29, cpu_s=0.1) == pytest.approx(0.29)
    with pytest.raises(patience.TooLate, match=r"a stop: 0\.310 s, at most 0\.3"):
        held(0.31, cpu_s=0.1)


def test_what_the_machine_withheld_is_granted(slow):
    """Of 10 ms of a processor it withholds 90, and 20 ms of a wake."""
    assert held(0.40, cpu_s=0.01) == pytest.approx(0.40)
    with pytest.raises(patience.TooLate, match=r"0\.110 s late"):
        held(0.42, cpu_s=0.01)


def test_a_sleep_is_no_work_and_is_not_granted(slow):
    """300 ms of doing nothing are as long on a slow machine."""
    with pytest.raises(patience.TooLate):
        held(0.3 + 0.3, cpu_s=0.01)


def test_where_the_machine_withheld_more_than_the_limit_nothing_is_shown(slow):
    with pytest.raises(patience.NotMeasured, match=r"0\.920 s late"):
        held(0.9, cpu_s=0.1)
    with pytest.raises(patience.TooLate):
        held(1.3, cpu_s=0.1)


# --- of real processes

ECHO = "import sys; sys.stdout.write(sys.stdin.read().upper()); sys.exit(3)"


@pytest.mark.process
def test_a_program_is_run_to_its_end_with_what_it_is_told():
    done = patience.run([sys.executable, "-c", ECHO], within_s=30, data="word", text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "WORD", "")
    with pytest.raises(subprocess.CalledProcessError):
        patience.run([sys.executable, "-c", ECHO], within_s=30, data="", text=True, check=True)


@pytest.mark.process
def test_a_program_that_hangs_is_killed():
    begun = [
        sys.executable,
        "-c",
        "import os, time; print(os.getpid(), flush=True); time.sleep(9e9)",
    ]
    with subprocess.Popen(begun, stdout=subprocess.PIPE, text=True) as process:
        with pytest.raises(patience.Hang, match="the end of"):
            patience.communicate(process, 0.1)
        with pytest.raises(patience.Hang, match="the end of"):
            patience.wait(process, 0.1)
        assert process.poll() is None
        process.kill()
    with pytest.raises(patience.Hang):
        patience.run(begun, within_s=0.1)
