"""The walls between the folders hold: a planted import through one is found, by name and line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.rules.program import walls

CONFIGURATION = """\
[importlinter]
root_packages =
    car
    desk
include_external_packages = True
contract_types =
    walls: tests.tools.rules.program.walls.WallsContract
    circles: tests.tools.rules.program.walls.CirclesContract
    one_way: tests.tools.rules.program.walls.OneWayContract

[importlinter:contract:3]
name = one way
type = one_way

[importlinter:contract:2]
name = circles
type = circles

[importlinter:contract:1]
name = walls
type = walls
rules =
    car ->
    car.core -> car.wire
    car.wire ->
    desk -> car.wire
    desk.seats.* -> desk.domain
    desk.hall -> desk !desk.seats desk.seats.keys
rooms =
    struct: car.wire
"""
ROOT = Path(__file__).resolve().parents[4]

PLANTED = [
    ("car/core.py", "from desk import domain\n", "car.core:1 imports desk.domain"),
    ("car/core.py", "import sys\nimport car.wheels\n", "car.core:2 imports car.wheels"),
    ("car/wire.py", "from car import core\n", "car.wire:1 imports car.core"),
    ("car/wheels.py", "import struct\n", "car.wheels:1 imports struct"),
    ("desk/domain.py", "from car import core\n", "desk.domain:1 imports car.core"),
    ("desk/seats/pad.py", "from desk.seats import keys\n", "seats.pad:1 imports desk.seats.keys"),
    ("desk/seats/pad.py", "from car import wire\n", "desk.seats.pad:1 imports car.wire"),
    ("desk/hall.py", "from desk.seats import pad\n", "desk.hall:1 imports desk.seats.pad"),
    ("desk/hall.py", "import desk.seats\n", "desk.hall:1 imports desk.seats"),
]
SOUND = [
    ("car/core.py", "from car import wire\n"),
    ("car/wire.py", "import struct\n"),
    ("desk/domain.py", "from car import wire\n"),
    ("desk/seats/pad.py", "from desk import domain\n"),
    ("desk/hall.py", "from desk import domain\nfrom desk.seats import keys\n"),
]


@pytest.fixture
def lint(tmp_path: Path):
    for file in (
        "car/core",
        "car/wire",
        "car/wheels",
        "desk/domain",
        "desk/hall",
        "desk/seats/pad",
    ):
        path = tmp_path / f"{file}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        (path.parent / "__init__.py").touch()
    (tmp_path / "desk/seats/keys.py").touch()
    (tmp_path / ".importlinter").write_text(CONFIGURATION)

    def run(file: str, source: str) -> "tuple[int, str]":
        (tmp_path / file).write_text(source)
        done = subprocess.run(
            [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, " ".join(done.stdout.split())

    return run


@pytest.mark.process
@pytest.mark.parametrize(("file", "source", "words"), PLANTED)
def test_an_import_through_a_wall_is_found_by_name_and_line(lint, file, source, words):
    code, said = lint(file, source)
    assert code == 1, said
    assert words in said


@pytest.mark.process
@pytest.mark.parametrize(("file", "source"), SOUND)
def test_what_the_table_allows_passes(lint, file, source):
    code, said = lint(file, source)
    assert code == 0, said


@pytest.mark.process
def test_a_circle_of_imports_is_found_a_type_s_too(lint):
    code, said = lint("car/brakes.py", "from car import wheels\n")
    assert code == 0, said
    code, said = lint(
        "car/wheels.py",
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from car.brakes import Brake\n",
    )
    assert code == 1
    assert "car.brakes -> car.wheels" in said


@pytest.mark.process
def test_folders_that_import_each_other_are_found_though_no_module_of_theirs_does(lint):
    code, said = lint("desk/hall.py", "from desk.seats import keys\n")
    assert code == 0, said
    code, said = lint("desk/seats/pad.py", "import sys\nfrom desk import hall\n")
    assert code == 1
    assert "desk.hall and desk.seats import each other" in said
    assert "desk.hall:1 imports desk.seats.keys" in said
    assert "desk.seats.pad:2 imports desk.hall" in said


def test_the_longest_importer_that_fits_counts():
    table = walls.walls(["a -> b", "a.c -> d"])
    assert walls.is_allowed("a.x", "b.y", table)
    assert not walls.is_allowed("a.c", "b", table)
    assert walls.is_allowed("a.c.z", "d", table)


def test_who_is_not_in_the_table_may_import_nothing_of_ours():
    assert not walls.is_allowed("stranger", "b", walls.walls(["a -> b"]))


def test_a_rule_without_an_arrow_is_refused():
    with pytest.raises(ValueError, match="expected `importer -> allowed"):
        walls.walls(["a: b"])
