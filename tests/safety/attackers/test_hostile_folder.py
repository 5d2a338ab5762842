"""Another login has put modules of the standard library's names into a folder: whoever starts a
program of Tandem's there runs none of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim_mock.programs import children
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


@pytest.fixture
def hostile(tmp_path):
    """The folder that anybody may write."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(HOSTILE.format(folder=str(folder)))
    return folder


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
