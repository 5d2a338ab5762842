"""Race-v0 by the check of Stable-Baselines3, which is set up by pip in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="the extra gym is not installed")

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / ".nightly" / "sb3"
# Without their dependencies: the rest is in .venv, and torch's would be 5 GB of CUDA
PACKAGES = (
    "stable-baselines3==2.9.2",
    "torch==2.13.0+cpu",
    *("cloudpickle", "filelock", "fsspec", "jinja2", "markupsafe", "networkx", "sympy", "mpmath"),
)


@pytest.fixture(scope="module")
def sb3():
    """The folder with Stable-Baselines3; skips where pip cannot have it."""
    stamp = FOLDER / "set_up.json"
    wanted = json.dumps([sys.version, *PACKAGES])
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(FOLDER, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
        done = subprocess.run(
            [*command, "--target", str(FOLDER), *PACKAGES],
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        if done.returncode:
            shutil.rmtree(FOLDER, ignore_errors=True)
            pytest.skip(f"pip has no Stable-Baselines3 here: {done.stderr.strip()[-300:]}")
        stamp.write_text(wanted, encoding="utf-8")
    return FOLDER


@pytest.mark.process
@pytest.mark.exhaustive(as_a_whole=True)  # 200 MB once, and then some seconds of torch
@pytest.mark.timeout(1200)
def test_stable_baselines3_checks_it_and_learns_in_it(sb3):
    script = Path(__file__).with_name("sb3_check.py")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(sb3)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["steps"] == 128
    assert found["told"] == []
