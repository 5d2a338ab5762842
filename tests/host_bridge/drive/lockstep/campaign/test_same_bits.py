"""The same cases give the same bits: by other Pythons, whose NumPys differ, and as machine code.

``stored_bits.toml`` has the figures that they gave when somebody last looked, to the last bit, with
the processor and the C library (whose libm computes them) that they are of. After a change that is
meant to change them, or for another machine, run

    python -m tests.host_bridge.drive.lockstep.campaign.test_same_bits

which prints this machine's entry.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from host_bridge.drive.lockstep.campaign.spec import CHANGES, KEYS
from sim_mock.files.documents import read_toml
from sim_mock.files.keys import REQUIRED
from sim_mock.runtime import compiled
from tests.support.evidence import every, some

ROOT = Path(__file__).resolve().parents[5]
PYTHONS = ("3.10", "3.12", "3.13")  # besides this one
INSTALLS_S, ANSWERS_S = 900, 600
CASES = (
    {"vehicle": "f1tenth", "track": "corridor", "controller": "path:centre?law=stanley&laps=0"},
    {"vehicle": "f1tenth_vesc", "link_loss": 0.3, "fault": "host_stall@4s", "payload_kg": 0.5},
    {"vehicle": "nigel", "track": "oval", "controller": "path:centre?law=pursuit&laps=0"},
    {"vehicle": "autorally", "fault": "dead_encoder@4s", "link_jitter_ms": 20.0},
)
STORED = Path(__file__).with_name("stored_bits.toml")
FIGURES = ("true_distance_m", "top_mps", "claim_to_rest_m", "path_error_rms_m")  # of no protocol


def lines():
    common = {key.name: key.default for key in KEYS if key.default is not REQUIRED}
    common |= {CHANGES: {}, "oracles": ["no_stop", "S1"], "files": {}, "duration_s": 3.0, "seed": 5}
    return "".join(json.dumps({**common, **case}) + "\n" for case in CASES)


def interpreter(version):
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for found in sorted(home.glob(f"{version}.*/bin/python{version}")):
        return str(found)
    pytest.skip(f"there is no Python {version} on this machine")


def install(python, *words):
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=INSTALLS_S,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"its libraries cannot be installed: {done.stderr.strip()[-200:]}")


def answers(python, fast="0"):
    done = subprocess.run(
        [python, "-m", "host_bridge.drive.lockstep.campaign.runners.worker"],
        input=lines(),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={
            **os.environ,
            compiled.ASKED: fast,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'host_bridge' / 'api'}",
        },
        timeout=ANSWERS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def entry(rows):
    """The machine that computed rows, and their figures as text that keeps every bit."""
    (cpu,), (libc,) = ({row["ran"][key] for row in rows} for key in ("cpu", "libc"))
    figures = [{name: float(row[name]).hex() for name in FIGURES if row[name]} for row in rows]
    return {"cpu": cpu, "libc": libc, "figures": figures}


@pytest.mark.process
def test_this_machine_still_gives_the_bits_that_are_stored():
    found = entry(some(answers(sys.executable)))
    here = {key: found[key] for key in ("cpu", "libc")}
    stored = some(read_toml(STORED).values["machine"])
    assert every(set(it) == set(found) for it in stored)
    mine = [it for it in stored if {key: it[key] for key in here} == here]
    if not mine:
        pytest.skip(f"no bits are stored for {here}")
    assert [found] == mine


@pytest.mark.process
@pytest.mark.exhaustive(as_a_whole=True)  # it installs libraries of other Pythons: minutes
@pytest.mark.timeout(INSTALLS_S + 2 * ANSWERS_S)
@pytest.mark.parametrize("version", PYTHONS)
def test_another_python_gives_the_same_bits(version, tmp_path):
    home = tmp_path / "other"
    subprocess.run([interpreter(version), "-m", "venv", home], check=True)
    python = str(home / "bin" / "python")
    install(python, "-r", "requirements-drive.lock")
    install(python, "--no-deps", "--no-build-isolation", "-e", ".")  # inputs are entry points
    ours, theirs = some(answers(sys.executable)), answers(python)
    assert [row["ran"]["python"].rpartition(".")[0] for row in theirs] == [version] * len(CASES)
    assert [row["outcome"] for row in ours] == [row["outcome"] for row in theirs]
    assert [row["result_hash"] for row in ours] == [row["result_hash"] for row in theirs]
    assert "not_measured" not in {row["outcome"] for row in ours}


@pytest.mark.process
@pytest.mark.timeout(INSTALLS_S + 2 * ANSWERS_S)
def test_machine_code_gives_the_same_bits():
    if not compiled.how_to_build():
        pytest.skip("no C compiler on this machine")
    build = subprocess.run(
        [sys.executable, "-m", "sim_mock.runtime.compiled"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=INSTALLS_S,
        check=False,
    )
    assert build.returncode == 0, build.stderr
    plain, quick = some(answers(sys.executable)), answers(sys.executable, fast="1")
    assert [row["ran"]["machine_code"] for row in plain + quick] == [False] * 4 + [True] * 4
    assert [row["result_hash"] for row in plain] == [row["result_hash"] for row in quick]
    assert "not_measured" not in {row["outcome"] for row in plain}


if __name__ == "__main__":
    machine = entry(answers(sys.executable))
    print("[[machine]]")
    for key in ("cpu", "libc"):
        print(f"{key} = {json.dumps(machine[key])}")
    print("figures = [")
    for case in machine["figures"]:
        print("  {", ", ".join(f'{name} = "{value}"' for name, value in case.items()), "},")
    print("]")
