"""Another login has put modules of the standard library's names into a folder: whoever starts a
program of Tandem's there runs none of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim_mock.programs import children
from tests.host_bridge.cli.programs import serving
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Notes, attacking
from tests.support import patience
from tests.support.evidence import every, some

pytestmark = pytest.mark.process
ROOT = Path(__file__).resolve().parents[3]
# Each leaves a file behind when it is imported
HOSTILE = """import os, sys
open(os.path.join({folder!r}, "ran." + __name__ + "." + str(os.getpid())), "w").close()
raise SystemExit(99)
"""
NAMES = (
    "argparse", "asyncio", "json", "multiprocessing", "runpy", "sim_mock", "host_bridge", "typing",
    "signal", "tempfile", "dataclasses", "pathlib", "random", "struct", "selectors", "tandem_ros",
)  # fmt: skip


_TURN_S = 0.05
_CPU_S = 0.05  # of one try: a program is started for each


@pytest.fixture
def hostile(tmp_path):
    """The folder that anybody may write."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    lay(folder)
    return folder


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that every login may write, with nothing in it yet."""
    with tempfile.TemporaryDirectory(prefix="tandem-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def lay(folder: Path) -> int:
    """Lay all of them there; how many those are."""
    for name in NAMES:
        (folder / f"{name}.py").write_text(HOSTILE.format(folder=str(folder)))
    return len(NAMES)


def lay_again_and_again(notes: Notes, folder: str) -> None:
    """Until killed. What it did are files that were written; it holds those that lie there."""
    written = 0
    while True:
        written += lay(Path(folder))
        notes.holds(len(list(Path(folder).glob("*.py"))))
        notes.did(written)
        time.sleep(_TURN_S)


def ran(folder):
    return sorted(path.name for path in folder.glob("ran.*"))


def python(code, cwd, *words, path=str(ROOT), interpreter=sys.executable):
    """A program that is itself started safely, and starts others, in this folder."""
    safe = f"import sys; sys.path[:] = [it for it in sys.path if it]\n{code}"
    env = {**os.environ, "PYTHONPATH": path}
    env.pop("PYTHONSAFEPATH", None)
    return patience.run([interpreter, "-c", safe, *words], cwd=cwd, env=env, text=True, within_s=60)


def test_the_attack_is_one(hostile):
    """What all of them did before: -m puts the current folder in front."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("PYTHONSAFEPATH", None)
    done = subprocess.run(
        [sys.executable, "-m", "host_bridge.cli.main", "--version"],
        cwd=hostile,
        env=env,
        check=False,
    )
    assert done.returncode == 99
    assert ran(hostile)


STARTS = {
    "a virtual car": """
from host_bridge.cars import virtual_cars
from host_bridge.config import load_vehicle
car = virtual_cars.start(load_vehicle("nigel"), {}, ["--runtime", "cpython"])
print(car.stdout.readline()); car.kill()
""",
    "a virtual car behind a URI": """
import asyncio
from sim_mock.programs import process
from sim_mock.virtual_car.config import virtual_car_config
from host_bridge.config import load_vehicle
async def main():
    car = await process.start(virtual_car_config(load_vehicle("nigel"), {}), "cpython")
    print(car.device); car.process.kill(); await car.process.wait()
asyncio.run(main())
""",
    "what the station asks for": """
import asyncio
from host_bridge.station.backend.programs import run_json_command
print(asyncio.run(run_json_command("cars")))
""",
    "a camera": """
import asyncio
from host_bridge.station.backend.camera_process import CameraProcess
async def main():
    camera = CameraProcess("/nowhere", 18099)
    task = asyncio.create_task(camera.run())
    for _ in range(400):
        await asyncio.sleep(0.05)
        if camera.row()["words"] != "its program starts":
            break
    print(camera.row()["words"])
    task.cancel()
asyncio.run(main())
""",
    "runs of faults": """
if __name__ == "__main__":
    from sim_mock.programs import children
    with children.pool(1) as pool:
        print(pool.submit(abs, -1).result())
""",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", sorted(STARTS))
def test_what_is_started_in_a_hostile_folder_runs_none_of_it(hostile, what):
    done = python(STARTS[what], hostile)
    assert ran(hostile) == [], done.stderr
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


PRINTS = "import sys, json; print(json.dumps([sys.path, sys.argv, __name__]))"


def interpreters():
    """This one, and a 3.10 if this machine has one: there is no -P."""
    found = [sys.executable]
    homes = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")]
    others = [it for home in homes for it in sorted(home.glob("3.10.*/bin/python3.10"))]
    if named := shutil.which("python3.10"):
        others.append(Path(named))
    for other in others:
        if patience.run([str(other), "-c", "1"], within_s=10, text=True).returncode == 0:
            found.append(str(other))
            break
    return found


def test_the_callers_path_stays_and_the_current_folder_is_not_on_it(hostile, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "shows.py").write_text(PRINTS)
    for interpreter in some(interpreters()):
        words = children.module("shows", "one", "-m")
        words[0] = interpreter
        env = {**os.environ, "PYTHONPATH": str(own)}
        done = patience.run(words, cwd=hostile, env=env, text=True, within_s=60)
        assert done.returncode == 0, done.stderr
        path, argv, name = json.loads(done.stdout)
        assert str(own) in path
        assert every(it not in ("", ".", str(hostile)) for it in path)
        assert argv == [str(own / "shows.py"), "one", "-m"]
        assert name == "__main__"
        assert ran(hostile) == []


# --- beside an attacker that lays them there again and again


def stops(count: int, cwd: str) -> tries.Tries:
    """Have a third login start ``tandem stop`` so often in this folder, as its users do: how long
    each took from its start to its end."""
    words = [str(Path(sys.executable).with_name("tandem")), "stop", "car"]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    env["TANDEM_STOP_DIR"] = os.environ["TANDEM_STOP_DIR"]
    line, rows = logins.as_login(words, logins.STOPPER), []
    for _ in range(count):
        begun_s = time.monotonic()
        done = patience.run(line, cwd=cwd, env=env, text=True, within_s=60)
        took_ms = (time.monotonic() - begun_s) * 1e3
        is_seen = done.returncode == 0 and "acknowledged" in done.stdout
        rows.append((begun_s, took_ms if is_seen else None))
        time.sleep(tries.PAUSE_S)
    return tries.of(rows)


@logins.as_root
@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [12, 300])
def test_a_third_login_stops_the_car_in_a_hostile_folder_as_soon_as_elsewhere(
    shared, open_to_all, count
):
    with serving("sim://nigel", "car"):
        control = stops(count, "/")
        with attacking(1, lay_again_and_again, str(open_to_all)) as attack:
            attacked = attack.beside(lambda: stops(count, str(open_to_all)))
    told = attack.told("files of a library's names written")
    tries.judged(control, attacked, told, _CPU_S)
    assert ran(open_to_all) == []
    assert every(look.held == (len(NAMES),) for look in attack.looks), "each lay there"


@logins.as_root
@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [1, 60])
@pytest.mark.parametrize("what", sorted(STARTS))
def test_what_starts_programs_there_beside_the_attacker_runs_none_of_it(open_to_all, what, count):
    with attacking(1, lay_again_and_again, str(open_to_all)) as attack:
        done = attack.beside(lambda: [python(STARTS[what], open_to_all) for _ in range(count)])
    logins.say(f"{attack.told('files written')}\n  {count} starts of {what}")
    assert ran(open_to_all) == []
    for it in some(done):
        assert it.returncode == 0, it.stderr
        assert it.stdout.strip()
