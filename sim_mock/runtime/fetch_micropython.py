"""Installs a MicroPython (64 and 32 bit) into ``.micropython/``, where the system has none.

Debian 13 and Ubuntu 26.04 package the unix port; older releases of these families run the same
packages from a private folder, loader and C library included. The mirror is this machine's own,
from its apt sources, with the suite replaced. apt verifies signatures as always, with lists, cache
and status of its own: nothing of the system changes, and no root is needed.

    python -m sim_mock.runtime.fetch_micropython [--again]
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sim_mock.runtime import micropython


@dataclass(frozen=True)
class Build:
    """One build of the packages: apt's name for the architecture, and where its files are."""

    bits: int
    architecture: str
    libraries: str
    loader: str


@dataclass(frozen=True)
class Suite:
    """The distribution release whose packages are taken."""

    distribution: str
    name: str
    components: str


# dpkg's name of this machine's architecture -> the builds that run on it
BUILDS = {
    "amd64": (
        Build(64, "amd64", "usr/lib/x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
        Build(32, "i386", "usr/lib/i386-linux-gnu", "ld-linux.so.2"),
    ),
    "arm64": (
        Build(64, "arm64", "usr/lib/aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
        Build(32, "armhf", "usr/lib/arm-linux-gnueabihf", "ld-linux-armhf.so.3"),
    ),
}
# The first releases with MicroPython 1.22 or newer that are supported for years.
SUITES = (
    Suite("debian", "trixie", "main"),
    Suite("ubuntu", "resolute", "main universe"),
)
ELSEWHERE = """\
Without a MicroPython all but the tests and the part of the demo that need one work. To have it:
  Debian 13, Ubuntu 25.04 and newer   sudo apt install micropython
  macOS                               brew install micropython
  Arch                                sudo pacman -S micropython
  anything else                       build ports/unix of MicroPython, then set MICROPYTHON=/path
                                      (and MICROPYTHON32 for a 32-bit build)
then, in a clone, `make setup` again."""
ABSENT = "absent"  # the file in .micropython/ that keeps later runs from trying again


class Unobtainable(Exception):
    """This machine's own package sources do not provide a MicroPython; the text says why."""


def mirror_line(os_release: str, sources: list[str]) -> str:
    """Return the line of apt sources that offers the suite on this machine's own mirror.

    ``os_release`` and ``sources`` are the contents of /etc/os-release and of the files of /etc/apt.
    Raises Unobtainable on another system, or when no source names its release.
    """
    facts = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    family = " ".join(facts.get(key, "").strip('"') for key in ("ID", "ID_LIKE")).split()
    known = [suite for name in family for suite in SUITES if suite.distribution == name]
    if not known:
        raise Unobtainable("this is neither Debian nor Ubuntu nor a child of theirs")
    suite = known[0]  # the nearest relative: Ubuntu names Debian as an ancestor too
    parents = f"{suite.distribution.upper()}_CODENAME"  # a child's own codename means nothing
    release = facts.get(parents, facts.get("VERSION_CODENAME", "")).strip('"')
    for options, uri, suites, components in entries(sources):
        if release in suites and "main" in components:
            return f"deb {options}{uri} {suite.name} {suite.components}\n"
    raise Unobtainable(f"no source in /etc/apt offers {release or 'this release'} main")


def entries(sources: list[str]) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Yield options, URI, suites and components of each binary source, in both of apt's formats."""
    for text in sources:
        for line in text.splitlines():
            if line.startswith(("deb ", "deb\t")):
                yield from _one_line(line)
        for stanza in text.split("\n\n"):
            if "URIs:" in stanza:
                yield from _stanza(stanza)


def _one_line(line: str) -> Iterator[tuple[str, str, list[str], list[str]]]:
    options, rest = "", line[4:].split("#")[0].strip()
    if rest.startswith("["):
        inner, rest = rest[1:].split("]", 1)
        options = _signed_by(dict(word.partition("=")[::2] for word in inner.split()))
    words = rest.split()
    if len(words) >= 3:
        yield options, words[0], [words[1]], words[2:]


def _stanza(stanza: str) -> Iterator[tuple[str, str, list[str], list[str]]]:
    lines = [line for line in stanza.splitlines() if not line.startswith(("#", " ", "\t"))]
    fields = {key.lower(): value.strip() for key, _, value in (x.partition(":") for x in lines)}
    if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes") != "no":
        for uri in fields["uris"].split():
            yield (
                _signed_by(fields),
                uri,
                fields.get("suites", "").split(),
                fields.get("components", "").split(),
            )


def _signed_by(options: dict[str, str]) -> str:
    keyring = options.get("signed-by", "")  # an inline key cannot be put into one line
    return f"[signed-by={keyring}] " if keyring.startswith("/") else ""


def apt_options(folder: Path, build: Build) -> list[str]:
    """Return options that isolate apt from the system: own sources, lists, cache, status, locks."""
    settings = {
        "APT::Architecture": build.architecture,
        "APT::Architectures": build.architecture,
        "APT::Sandbox::User": "root",
        "APT::Update::Error-Mode": "any",
        "APT::Install-Recommends": "false",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "true",
        "Dir::Cache": f"{folder}/cache",
        "Dir::Cache::archives": f"{folder}/archives",
        "Dir::Etc::sourcelist": f"{folder}/sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::Etc::preferences": "-",
        "Dir::Etc::preferencesparts": "-",
        "Dir::State": f"{folder}/state",
        "Dir::State::Lists": f"{folder}/lists",
        "Dir::State::status": f"{folder}/status",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def fetch(build: Build, line: str, folder: Path) -> None:
    """Fill ``folder`` (``.micropython``) with ``build`` from the mirror of ``line``."""
    work = folder / build.architecture
    shutil.rmtree(work, ignore_errors=True)
    for name in ("cache", "archives/partial", "state", "lists/partial", "root"):
        (work / name).mkdir(parents=True)
    (work / "sources.list").write_text(line)
    (work / "status").write_text("")
    apt = ["apt-get", "-qq", *apt_options(work, build)]
    _run([*apt, "update"])
    _run([*apt, "--yes", "--download-only", "install", "micropython"])
    for package in sorted((work / "archives").glob("*.deb")):
        _run(["dpkg-deb", "--extract", str(package), str(work / "root")])
    _keep_what_runs(work, build)
    _write_command(folder, build)


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise Unobtainable(f"{command[0]} does not start: {error.strerror}") from error
    if done.returncode:
        words = done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}"
        raise Unobtainable(f"{command[0]} said: {words.splitlines()[0]}")
    return done.stdout


def _keep_what_runs(work: Path, build: Build) -> None:
    """Keep the interpreter and its shared libraries (8 of 60 MB); delete the rest."""
    root, slim = work / "root", work / "slim"
    slim.mkdir()
    shutil.copy2(root / "usr/bin/micropython", slim / "micropython")
    for folder in (root / build.libraries, root / "lib" / Path(build.libraries).name):
        for file in folder.glob("*.so*"):
            if not (slim / file.name).exists():
                shutil.copy2(file, slim / file.name)
    for path in work.iterdir():
        if path.is_dir() and path != slim:
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


def _write_command(folder: Path, build: Build) -> None:
    command = folder / "bin" / micropython.PLACES[build.bits][2].name
    command.parent.mkdir(exist_ok=True)
    here = '"${0%/*}"' + f"/../{build.architecture}/slim"
    command.write_text(
        f'#!/bin/sh\nexec {here}/{build.loader} --library-path {here} {here}/micropython "$@"\n'
    )
    command.chmod(0o755)


def obtain(folder: Path, say: Callable[[str], None]) -> None:
    """Fetch each missing build that runs here. Raises Unobtainable without a 64-bit one."""
    line = mirror_line(_read("/etc/os-release"), _apt_sources())
    for build in _builds_of_this_machine():
        if micropython.find(build.bits):
            continue
        say(f"setup: MicroPython, {build.bits} bit, from this machine's package mirror")
        try:
            fetch(build, line, folder)
            micropython.fault.cache_clear()
            if not micropython.find(build.bits):
                raise Unobtainable("the packages were unpacked but do not run on this machine")
        except Unobtainable as reason:
            shutil.rmtree(folder / build.architecture, ignore_errors=True)
            if build.bits == 64:  # without the usual one there is nothing to run
                raise
            say(f"setup: no 32-bit MicroPython ({reason}); the tests that need it are skipped")


def _builds_of_this_machine() -> tuple[Build, ...]:
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise Unobtainable("there is no apt here")
    machine = _run(["dpkg", "--print-architecture"]).strip()
    if machine not in BUILDS:
        raise Unobtainable(f"no packages are known for a machine of kind {machine or '(unknown)'}")
    return BUILDS[machine]


def _apt_sources() -> list[str]:
    etc = Path("/etc/apt")
    files = [etc / "sources.list", *sorted(etc.glob("sources.list.d/*"))]
    return [_read(file) for file in files if file.suffix in (".list", ".sources")]


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def main(arguments: list[str]) -> int:
    """Install what is missing; return 0 always, as Tandem works without, and says so."""
    parser = argparse.ArgumentParser(
        "python -m sim_mock.runtime.fetch_micropython", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--again", action="store_true", help="try again what did not work before")
    is_again = parser.parse_args(arguments).again
    folder = micropython.FOLDER
    absent = folder / ABSENT
    # Bits of whole numbers: 64 as this machine has, 32 as a board has
    if micropython.find(64) and (micropython.find(32) or _tried(absent, is_again)):
        return 0
    if _tried(absent, is_again):
        print(
            f"setup: {absent.read_text().strip()}; `make setup` in a clone tries again", flush=True
        )
        return 0
    try:
        obtain(folder, lambda line: print(line, flush=True))
        reason = "no 32-bit MicroPython here"
    except Unobtainable as why:
        reason = f"no MicroPython: {why}"
        print(f"setup: {reason}\n{ELSEWHERE}", flush=True)
    absent.unlink(missing_ok=True)
    if not (micropython.find(64) and micropython.find(32)):  # as above
        folder.mkdir(exist_ok=True)
        absent.write_text(reason + "\n")
    return 0


def _tried(absent: Path, is_again: bool) -> bool:
    return absent.exists() and not is_again


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
