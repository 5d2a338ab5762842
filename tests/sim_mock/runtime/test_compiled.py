"""Machine code: the same to the last bit, never of other sources, only when asked."""

import importlib.machinery
import json
import os
import shutil
import subprocess
import sys

import pytest

from sim_mock.runtime import compiled
from tests.support import patience
from tests.support.evidence import every

BUILD_S = 1200  # two minutes of one core, of which a loaded machine leaves a tenth
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def run(*words, fast):
    """``fast``: True as machine code, False plainly, None as it does by itself."""
    environment = {key: value for key, value in os.environ.items() if key != compiled.ASKED}
    if fast is not None:
        environment[compiled.ASKED] = str(int(fast))
    return patience.run(
        [sys.executable, *words],
        text=True,
        within_s=BUILD_S,
        env=environment,
        cwd=compiled.ROOT,
        stdin=subprocess.DEVNULL,
    )


def drives(*, fast):
    done = run("-m", "tests.sim_mock.runtime.same_drive", fast=fast)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.process
@pytest.mark.skipif(not COMPILER, reason="no C compiler on this machine")
@pytest.mark.timeout(2 * BUILD_S)
def test_machine_code_gives_every_number_of_every_drive_to_the_last_bit():
    done = run("-m", "sim_mock.runtime.compiled", fast=False)
    assert done.returncode == 0, done.stderr
    plain, quick = drives(fast=False), drives(fast=True)
    assert every(file.endswith(".py") for file in plain["files"])
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    assert every(file.endswith(suffix) for file in quick["files"])
    assert quick["drives"] == plain["drives"]
    assert every(moved > 0.3 for _, moved in plain["drives"].values()), "they drove"


# Programs whose cars are all virtual, and one that may drive a real car
DRIVE = "drive sim://f1tenth --input script:slalom --seconds 1"
CALL = "from host_bridge.cli.main import main; main({words!r})"
BY_ITSELF = {
    "a campaign": (CALL.format(words=["campaign", "status", "no_such_folder"]), True),
    "a drive in lockstep": (CALL.format(words=[*DRIVE.split(), "--lockstep"]), True),
    "a drive by the clock": (CALL.format(words=["drive", "no://such"]), False),
    "import tandem": ("import tandem", True),
    "import tandem.gym": ("import tandem.gym", True),
    "whoever has the sources already": ("import sim_mock.world, tandem", False),
}


@pytest.mark.process
@pytest.mark.skipif(not COMPILER, reason="no C compiler on this machine")
@pytest.mark.timeout(2 * BUILD_S)
@pytest.mark.parametrize("name", BY_ITSELF)
def test_where_it_is_built_it_is_used_by_itself(name):
    assert run("-m", "sim_mock.runtime.compiled", fast=False).returncode == 0
    code, is_expected = BY_ITSELF[name]
    says = "; from sim_mock.runtime import compiled; print(compiled.is_in_use())"
    for fast, expected in ((None, is_expected), (False, False)):
        done = run("-c", code + says, fast=fast)
        assert done.stdout.split()[-1:] == [str(expected)], done.stderr


def test_it_is_not_used_by_itself_where_it_is_not_built_or_not_wanted(monkeypatch, tmp_path):
    for name in compiled.MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setenv(compiled.ASKED, "0")
    assert not compiled.use_if_built()
    monkeypatch.delenv(compiled.ASKED)
    monkeypatch.setattr(compiled, "HOME", tmp_path)
    assert not compiled.use_if_built()
    assert not compiled.is_in_use()


def test_how_to_build_it_is_said_where_a_compiler_is(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{sys.executable} -O2")
    assert compiled.how_to_build() == "make fast"
    monkeypatch.setattr(compiled, "ROOT", tmp_path)  # an installed package
    assert compiled.how_to_build().endswith("-m sim_mock.runtime.compiled")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert compiled.how_to_build() == ""


def test_what_is_asked_for_and_is_not_there_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(compiled, "HOME", tmp_path)
    with pytest.raises(compiled.NotCompiledError, match="make fast, or unset"):
        compiled.use()
    assert not [one for one in sys.meta_path if isinstance(one, compiled.Finder)]


def test_a_changed_source_asks_for_another_folder(monkeypatch, tmp_path):
    before = compiled.folder()
    source = tmp_path / "body.py"
    monkeypatch.setattr(compiled, "sources", lambda: [source])
    source.write_text("a = 1\n")
    one = compiled.folder()
    source.write_text("a = 2\n")
    assert len({before, one, compiled.folder()}) == 3


def test_every_module_and_what_it_rests_on_is_among_the_sources():
    found = {str(file.relative_to(compiled.ROOT)) for file in compiled.sources()}
    assert {f"{name.replace('.', '/')}.py" for name in compiled.MODULES} <= found
    assert {
        "sim_mock/runtime/rewritten.py",
        "firmware/core/settings/params.py",
        "firmware/protocol/codes.py",
    } <= found


@pytest.mark.process
def test_nothing_is_compiled_or_looked_for_unless_asked():
    code = "import sys, sim_mock.world; print('sim_mock.runtime.compiled' in sys.modules)"
    assert run("-c", code, fast=False).stdout.strip() == "False"


@pytest.mark.process
def test_where_nothing_is_compiled_the_host_is_there_and_its_command_can_say_so():
    code = "import sys; sys.modules['sim_mock'] = None; import host_bridge.cli.main; print('there')"
    done = run("-c", code, fast=True)
    assert done.stdout.strip() == "there", done.stderr
