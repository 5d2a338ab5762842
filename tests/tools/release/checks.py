"""What a release has to be before anything is installed: its version, its changelog, its files."""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).resolve().parents[3]
_HEAD = re.compile(r"^## \[(?P<version>[\d.]+)\](?: - (?P<date>\S+))?$", re.MULTILINE)
BUILD_S = 300


class NotReady(Exception):
    """Something keeps it from being released; the text says what, and what to do."""


def version_of(root: Path = ROOT) -> str:
    """Return the version that `pyproject.toml` declares."""
    found = re.search(r'^version = "(.+)"$', (root / "pyproject.toml").read_text(), re.MULTILINE)
    if found is None:
        raise NotReady("pyproject.toml declares no version")
    return found[1]


def refuse_changelog(text: str, version: str) -> None:
    """Raises NotReady unless the newest section is of this version and has a date."""
    found = _HEAD.search(text)
    if found is None or found["version"] != version:
        newest = found["version"] if found else "none"
        raise NotReady(f"the newest version of CHANGELOG.md is {newest}, that to release {version}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"] or ""):
        raise NotReady(
            f"CHANGELOG.md gives no date to {version}: put the day for '{found['date']}'"
        )


def refuse_tree(root: Path, tag: str) -> None:
    """Raises NotReady where something is not committed, or the tag is there already."""
    changed = git(root, "status", "--porcelain")
    if changed:
        raise NotReady(f"not everything is committed; first: {changed.splitlines()[0]}")
    if git(root, "tag", "--list", tag):
        raise NotReady(f"there is a tag {tag} already: raise the version")


def git(root: Path, *words: str) -> str:
    """Return what git prints."""
    done = subprocess.run(
        ["git", *words], cwd=root, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def build(root: Path, folder: Path) -> tuple[Path, Path]:
    """Build the sdist and the wheel into a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("tandem_cars-*"):
        old.unlink()
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(
        words, check=False, cwd=root, capture_output=True, text=True, timeout=BUILD_S
    )
    if done.returncode:
        raise NotReady(f"hatchling could not build it:\n{done.stdout}{done.stderr}")
    (sdist,), (wheel,) = folder.glob("tandem_cars-*.tar.gz"), folder.glob("tandem_cars-*.whl")
    return sdist, wheel


def refuse_metadata(wheel: Path, version: str) -> Metadata:
    """Return the wheel's metadata. Raises NotReady where they are wrong, or say too little."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (it for it in archive.namelist() if it.endswith(".dist-info/METADATA"))
        data = Metadata.from_email(archive.read(name), validate=True)
    if str(data.version) != version:
        raise NotReady(f"{wheel.name} is of version {data.version}, not of {version}")
    needed = ("summary", "description", "license_expression", "requires_python", "classifiers")
    missing = [field for field in needed if not getattr(data, field)]
    if missing:
        raise NotReady(f"{wheel.name} says nothing of {', '.join(missing)}")
    return data


def refuse_other_wheel(sdist: Path, wheel: Path, folder: Path) -> int:
    """Return how many files the wheel has. Raises NotReady if the sdist builds another one."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = (path for path in folder.iterdir() if path.is_dir())
    _, again = build(root, folder / "again")
    first, second = _files_of(wheel), _files_of(again)
    other = sorted(
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
    )
    if other:
        raise NotReady(f"the wheel of the sdist is another one; first: {other[0]}")
    return len(first)


def _files_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
