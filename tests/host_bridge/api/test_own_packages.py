"""A student's files beside a script: they are in nobody's way, or are named in the error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tandem import own_packages

from tests.support import patience

DRIVES = """
import hardware, calibration
import tandem
print(hardware.__file__, calibration.__file__)
with tandem.open("sim://nigel", lockstep=True) as car:
    car.arm()
    print(car.state.name)
"""
CALIBRATED = """
import tandem
try:
    tandem.open("sim://nigel?calibration=own", lockstep=True)
except tandem.UsageFault as fault:
    print(fault)
"""


def script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    path = folder / "student.py"
    path.write_text(text)
    return patience.run([sys.executable, str(path)], cwd=folder, text=True, within_s=60)


@pytest.mark.process
def test_files_of_a_student_with_names_of_ours_are_in_nobody_s_way(tmp_path):
    for name in ("hardware", "calibration"):
        (tmp_path / f"{name}.py").write_text("MINE = True\n")
    done = script(tmp_path, DRIVES)
    assert done.returncode == 0, done.stderr
    files, state = done.stdout.splitlines()
    assert files.split() == [str(tmp_path / "hardware.py"), str(tmp_path / "calibration.py")]
    assert state in ("HOLD", "ACTIVE")


@pytest.mark.process
def test_a_calibration_file_that_is_needed_is_named(tmp_path):
    (tmp_path / "calibration.py").write_text("MINE = True\n")
    done = script(tmp_path, CALIBRATED)
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/calibration.py has the name of a package" in done.stdout


@pytest.mark.process
@pytest.mark.parametrize("name", own_packages.NEEDED)
def test_a_file_in_the_way_is_named_and_not_run(tmp_path, name):
    (tmp_path / f"{name}.py").write_text("print('it was run')\n")
    done = script(tmp_path, "import tandem\n")
    assert done.returncode == 1
    assert f"ImportError: {tmp_path}/{name}.py: this file has the name" in done.stderr
    assert "rename your file" in done.stderr
    assert "it was run" not in done.stdout


def test_the_packages_of_tandem_are_found_beside_it_or_above_it():
    assert (own_packages.root() / "host_bridge" / "cli").is_dir()
    own_packages.refuse_shadows(own_packages.root())


def test_a_module_that_was_imported_already_is_in_the_way_too(monkeypatch, tmp_path):
    with pytest.raises(ImportError, match="this file has the name of a package") as refused:
        own_packages.refuse_shadows(tmp_path)
    assert refused.value.name == own_packages.NEEDED[0]
