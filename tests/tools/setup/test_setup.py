"""What a machine is set up with: by level, once, and the same versions at every level."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.evidence import some

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = "tests/tools/setup/setup.sh"
DEV, DRIVE, FAST, STUBS = LOCKS = tuple(
    f"requirements{part}.lock" for part in ("", "-drive", "-fast", "-micropython")
)
# Stands for every python: says what it was told to do, and makes the .venv that it is asked for.
PYTHON = """\
#!/bin/sh
case "$*" in
*version_info\\[:3\\]*) echo 3.12.0; exit ;;
-c*) exit ;;
"-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
*--target*) mkdir -p .venv/typings ;;
esac
echo "$*" >>told
case "$*" in *pip*) [ ! -e broken ] ;; esac
"""


class Clone:
    """A folder with the recipe, and programs that only note what they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tests/tools/setup").mkdir(parents=True)
        shutil.copy(ROOT / SCRIPT, folder / SCRIPT)
        self._write("tests/tools/setup/ros_setup.sh", "echo a ROS 2 >>told\n")
        for name in ("package.json", "package-lock.json"):
            self._write(f"tests/tools/setup/{name}", "{}\n")
        for name in ("pyproject.toml", *LOCKS):
            self._write(name, f"of-{name}==1\n")
        self._write("python", PYTHON)
        self._write("npm", "#!/bin/sh\necho a raw REPL >>../../told\n")

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def set_up(self, level: str) -> tuple[int, list[str], str]:
        """The exit code; what was installed, in order; what was printed."""
        told = self.folder / "told"
        told.write_text("")
        ran = subprocess.run(
            ["/bin/sh", SCRIPT, "./python", "", level],
            cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
            env={"PATH": f"{self.folder}:/usr/bin:/bin", "HOME": str(self.folder)},
        )  # fmt: skip
        kinds = r"requirements[a-z-]*\.lock|--editable|a ROS 2|a raw REPL"
        found = re.findall(kinds, told.read_text())
        return ran.returncode, found, ran.stdout + ran.stderr


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


INSTALLED = {
    "drive": [DRIVE, "--editable"],
    "fast": [DRIVE, FAST, "--editable"],
    "check": [DEV, STUBS, "--editable"],
    "test": [DEV, STUBS, "--editable", "a ROS 2", "a raw REPL"],
}


@pytest.mark.process
@pytest.mark.parametrize("level", INSTALLED)
def test_a_level_installs_what_it_needs_and_no_more(clone: Clone, level: str):
    code, installed, said = clone.set_up(level)
    assert (code, installed) == (0, INSTALLED[level]), said


@pytest.mark.process
@pytest.mark.parametrize("level", INSTALLED)
def test_what_is_there_at_a_level_is_there_for_the_smaller_ones(clone: Clone, level: str):
    clone.set_up(level)
    smaller = [*INSTALLED][: [*INSTALLED].index(level) + 1]
    assert {one: clone.set_up(one) for one in smaller} == {
        one: (0, ["a ROS 2"] * (one == "test"), "") for one in smaller
    }


@pytest.mark.process
def test_a_larger_level_comes_on_top_and_a_smaller_one_takes_nothing_away(clone: Clone):
    for level in INSTALLED:
        if level != "test":  # has the packages of check
            assert clone.set_up(level)[:2] == (0, INSTALLED[level])
    assert clone.set_up("test") == (0, ["a ROS 2", "a raw REPL"], "")
    assert clone.set_up("drive") == (0, [], "")


@pytest.mark.process
@pytest.mark.parametrize("file", ["pyproject.toml", *LOCKS])
def test_a_changed_recipe_is_followed_once_at_each_level(clone: Clone, file: str):
    clone.set_up("check")
    (clone.folder / file).write_text("other==2\n")
    assert clone.set_up("drive")[:2] == (0, INSTALLED["drive"])
    assert clone.set_up("drive") == (0, [], "")
    stubs = [STUBS] * (file == STUBS)  # they are there, unless they are what changed
    assert clone.set_up("check")[:2] == (0, [DEV, *stubs, "--editable"])
    assert clone.set_up("check") == (0, [], "")


@pytest.mark.process
def test_what_failed_is_not_taken_for_done(clone: Clone):
    (clone.folder / "broken").touch()
    code, _, said = clone.set_up("drive")
    assert code == 1
    assert "setup: pip could not install" in said
    (clone.folder / "broken").unlink()
    assert clone.set_up("drive")[:2] == (0, INSTALLED["drive"])


@pytest.mark.process
def test_an_unknown_level_is_refused(clone: Clone):
    assert clone.set_up("tests")[0] == 1
    assert "drive, fast, check or test" in clone.set_up("")[2]


def locked(name: str) -> dict[str, list[str]]:
    """The pinned packages of a lock file, by name and version: their hashes."""
    text = (ROOT / name).read_text(encoding="utf-8")
    pins: dict[str, list[str]] = {}
    for pin in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        pins.setdefault(pin.split()[0], []).extend(sorted(re.findall(r"sha256:\w+", pin)))
    return pins


@pytest.mark.parametrize("part", [DRIVE, FAST])
def test_a_part_of_the_lock_has_its_versions_and_hashes(part: str):
    """Else `make test` after `make demo` would take away what it had installed."""
    whole, pins = locked(DEV), some(locked(part).items())
    assert {pin: hashes for pin, hashes in pins if whole.get(pin) != hashes} == {}
    assert [pin for pin, hashes in pins if not hashes or "==" not in pin] == []


def test_what_drives_is_no_tool_of_developers():
    driving, every = locked(DRIVE), locked(DEV)
    tools = ("mypy==", "ruff==", "pytest==", "pymavlink==", "opencv", "hypothesis==", "foxglove")
    kept = {tool: [pin for pin in driving if pin.startswith(tool)] for tool in tools}
    assert kept == {tool: [] for tool in tools}
    assert [tool for tool in tools if not any(pin.startswith(tool) for pin in every)] == []
