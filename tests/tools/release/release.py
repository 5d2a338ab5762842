"""Builds a release, tries it where a user would, and makes its tag: `make release`.

    python -m tests.tools.release.release [--python 3.12 ...] [--no-tag]

It builds the sdist and the wheel into `dist/`, holds the two against each other, and installs the
wheel in a clean environment of each Python, from a folder of wheels and without the network. There
`tandem --version`, `tandem doctor` and `tandem demo` run. The wheels are fetched once, into
`build/release/wheels`. The tag is made last, if all of that held, everything is committed, and
CHANGELOG.md gives the version a date; with --no-tag nothing of that is asked.

Exit code 0 if all held, 1 if something did not, 8 if nothing failed, but a Python was not there or
the demo could not judge all: then there is no tag.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from tests.tools.release import checks, environments

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
NOT_SHOWN = 8
BUILD = checks.ROOT / "build" / "release"
LOCK = checks.ROOT / "requirements-drive.lock"
MB = 1e6


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser("make release", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--python", nargs="+", default=PYTHONS, help="try it with these versions only"
    )
    parser.add_argument("--no-tag", action="store_true", help="try everything, and make no tag")
    args = parser.parse_args(words)
    try:
        return release(tuple(args.python), is_tagged=not args.no_tag)
    except (checks.NotReady, environments.InstallFailed) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1


def release(pythons: tuple[str, ...], is_tagged: bool) -> int:
    """Do all of it; return the exit code. Raises checks.NotReady, environments.InstallFailed."""
    version = checks.version_of()
    tag = f"v{version}"
    if is_tagged:
        checks.refuse_changelog((checks.ROOT / "CHANGELOG.md").read_text("utf-8"), version)
        checks.refuse_tree(checks.ROOT, tag)
    wheel = _built(version)
    isolated = environments.alone()
    if not isolated:
        print("release: this machine takes no network away; only pip is told to use none")
    unshown = [it for it in pythons if not _tried(it, wheel, isolated)]
    if unshown:
        print(f"release: nothing failed; not shown on {', '.join(unshown)}: no tag")
        return NOT_SHOWN
    if is_tagged:
        checks.git(checks.ROOT, "tag", "-a", tag, "-m", f"Tandem {version}")
        print(f"release: {tag} is made; git push origin {tag} publishes it")
    return 0


def _built(version: str) -> Path:
    sdist, wheel = checks.build(checks.ROOT, checks.ROOT / "dist")
    checks.refuse_metadata(wheel, version)
    with tempfile.TemporaryDirectory() as folder:
        count = checks.refuse_other_wheel(sdist, wheel, Path(folder))
    for path in (sdist, wheel):
        print(f"release: dist/{path.name}, {path.stat().st_size / MB:.1f} MB")
    print(f"release: the sdist builds the same wheel, of {count} files", flush=True)
    return wheel


def _tried(python: str, wheel: Path, isolated: tuple[str, ...]) -> bool:
    """Whether all was shown with this Python."""
    path = environments.interpreter(python)
    if path is None:
        print(f"release: Python {python}: not shown, for it is not on this machine", flush=True)
        return False
    began = time.monotonic()
    wheels = BUILD / "wheels" / python
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="release-") as folder:  # short, for sockets
        there = environments.Environment(path, Path(folder) / python, isolated)
        try:
            there.install(wheel, wheels)
        except environments.InstallFailed:
            there.fetch(LOCK, wheels)
            there.install(wheel, wheels)
        installed_s = time.monotonic() - began
        print(f"release: Python {python}: installed in {installed_s:.0f} s", flush=True)
        said = there.run("tandem", "--version").stdout.strip()
        there.run("tandem", "doctor", may_end=(0, 1, 3))
        began = time.monotonic()
        done = there.run("tandem", "demo", may_end=(0, NOT_SHOWN))
        demo = json.loads((there.folder / "work" / "demo-out" / "demo.json").read_text())
    verdict = "all held" if done.returncode == 0 else "nothing failed, not all was shown"
    demo_s = time.monotonic() - began
    print(
        f"release: Python {python}: {said}; demo {verdict}, {len(demo)} parts, {demo_s:.0f} s",
        flush=True,
    )
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
