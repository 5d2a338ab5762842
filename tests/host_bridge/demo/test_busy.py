"""The demo on a busy machine: the same figures, no FAIL of what is sound, one of what is not."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

from tests.host_bridge.cli.programs import TANDEM
from tests.host_bridge.demo.test_demo import checks_in, processes_of
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support.evidence import some

pytestmark = [
    pytest.mark.soak,
    pytest.mark.process,
    pytest.mark.xdist_group("demo"),
    pytest.mark.timeout(900),
]
AT_MOST_S = 800  # of a machine on which others work too; alone it is a third of that
IN_LOCKSTEP = 8
RELEASES = {"deadman released", "gamepad: battery empty, ends with zeros"}  # no stop: it holds
# A car that lets go of the throttle instead of braking; one case of the wall is enough of it.
BROKEN = """
import sys
from host_bridge.cli.main import main
from host_bridge.demo import stops
from host_bridge.sharing.services import Vehicles
load, cases = Vehicles.load, stops.cases
def coasting(self, name, changes=None):
    return load(self, name, {**(changes or {}), "stop.policy": "neutral"})
def fewer():
    return [case for case in cases() if not case.is_real or "kill" in case.name]
Vehicles.load = coasting
from host_bridge.demo.stages import computed, measured
computed.cases = measured.cases = fewer
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


@contextlib.contextmanager
def hogs(count):
    """So many programs that want the processor all the time."""
    others = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def demo(out, *words, program=TANDEM):
    return subprocess.run(
        [*program, "demo", "--out", str(out), *words],
        capture_output=True,
        text=True,
        timeout=AT_MOST_S,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def test_part_one_gives_the_same_figures_on_each_run_and_at_every_load(tmp_path):
    """The wire, too: each frame that went to either car, and what they answered."""
    quiet, busy = tmp_path / "quiet", tmp_path / "busy"
    first = demo(quiet, "--only", "together")
    with hogs(8):
        second = demo(busy, "--only", "together")
    assert first.returncode == second.returncode == 0, first.stdout + second.stdout
    assert len(some(checks_in(quiet)["checks"])) == 5
    assert checks_in(quiet) == checks_in(busy)
    assert (quiet / "car-a.csv").read_text() == (busy / "car-a.csv").read_text()


def test_a_stop_that_is_broken_fails_beside_sixteen_hogs(tmp_path):
    with hogs(16):
        done = demo(tmp_path, "--only", "stops", program=[sys.executable, "-c", BROKEN])
    assert done.returncode == 1, done.stdout + done.stderr
    checks = checks_in(tmp_path)["checks"]
    assert len(checks) == IN_LOCKSTEP + 1
    found = {check["what"]: check["verdict"] for check in checks}
    assert {what for what, verdict in found.items() if verdict == "ok"} == RELEASES
    assert [found[check["what"]] for check in checks[:IN_LOCKSTEP]].count("fail") == 6
    assert not processes_of(tmp_path)


def test_beside_four_hogs_nothing_fails(tmp_path):
    with hogs(4):
        done = demo(tmp_path)
    verdicts = [
        check["verdict"] for check in json.loads((tmp_path / "demo.json").read_text())["checks"]
    ]
    assert len(verdicts) == 17
    assert "fail" not in verdicts, done.stdout
    assert verdicts[:13] == ["ok"] * 13
    assert done.returncode == (8 if "not shown" in verdicts else 0)
