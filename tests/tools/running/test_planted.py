"""Faults that are planted into a program are red on a busy machine, and its slowness alone is not.

What a test of real processes grants a busy machine must not hide these two: a stop that comes
300 ms late, and a program that hangs.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.kinds import EXIT_NOT_MEASURED

ROOT = Path(__file__).resolve().parents[3]
HOGS = 8
TEST = (
    "tests/host_bridge/sharing/stop/test_quick_stop.py"
    "::test_an_armed_car_is_stopping_within_300_ms_of_exec"
)
# Python runs it at the start of each program; the words are those of the program's command line
PLANT = """
import sys
if "stop" in sys.orig_argv:
    {fault}
"""
LATE = "__import__('time').sleep(0.3)"
HANGS = "__import__('threading').Event().wait()"
FINE = "pass"


def beside_hogs(folder: Path, fault: str) -> subprocess.CompletedProcess[str]:
    """The test of `tandem stop` beside programs that compute, with a fault in that command."""
    (folder / "sitecustomize.py").write_text(PLANT.format(fault=fault))
    words = [sys.executable, "-m", "tests.tools.running.busy", str(HOGS),
             sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", TEST]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.soak
@pytest.mark.process
@pytest.mark.parametrize(
    ("fault", "told"), [(LATE, "TooLate"), (HANGS, "Hang")], ids=["a late stop", "a hang"]
)
def test_a_planted_fault_is_red_beside_eight_hogs(tmp_path, fault, told):
    done = beside_hogs(tmp_path, fault)
    assert done.returncode == 1, done.stdout
    assert told in done.stdout


@pytest.mark.soak
@pytest.mark.process
def test_without_a_fault_eight_hogs_make_nothing_red(tmp_path):
    done = beside_hogs(tmp_path, FINE)
    assert done.returncode in (0, EXIT_NOT_MEASURED), done.stdout
