"""Clean environments of several Pythons, in which a release is installed without the network."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

EXTRAS = "[pads,station]"  # what requirements-drive.lock has wheels of
INSTALL_S = 1200
_LOOPBACK_ALONE = (
    "unshare",
    "--map-root-user",
    "--net",
    "sh",
    "-c",
    'ip link set lo up && exec "$@"',
    "sh",
)


class InstallFailed(Exception):
    """A command in a clean environment failed; the text has its output."""


def interpreter(version: str) -> Path | None:
    """Return a Python of this version ("3.12") that can make environments, or None."""
    for path in _candidates(version):
        words = [str(path), "-c", "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
        if done.stdout.strip() == version:
            return path
    return None


def _candidates(version: str) -> Iterator[Path]:
    for name in (f"python{version}", "python3"):
        if path := shutil.which(name):
            yield Path(path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python3"))


def alone() -> tuple[str, ...]:
    """Return the words that run a command with no network but loopback; none where that fails."""
    if shutil.which("unshare") is None:
        return ()
    done = subprocess.run([*_LOOPBACK_ALONE, "true"], check=False, capture_output=True, timeout=60)
    return () if done.returncode else _LOOPBACK_ALONE


class Environment:
    """A new virtual environment, a new home, and nothing of whoever runs this."""

    def __init__(self, python: Path, folder: Path, isolated: tuple[str, ...]) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder = folder
        self._isolated = isolated
        for name in ("home", "run", "work"):
            (folder / name).mkdir(parents=True, mode=0o700)
        self._run([str(python), "-m", "venv", str(folder / "env")])

    def install(self, wheel: Path, wheels: Path) -> None:
        """Install the wheel with its extras from a folder of wheels, and check what it needs."""
        pip = [str(self.program("python")), "-m", "pip", "--disable-pip-version-check"]
        offline = ["--no-index", "--find-links", str(wheels), "--only-binary", ":all:"]
        self._run([*self._isolated, *pip, "install", "-q", *offline, f"{wheel}{EXTRAS}"])
        self._run([*self._isolated, *pip, "check"])

    def fetch(self, lock: Path, wheels: Path) -> None:
        """Fetch the wheels of a lock file for this Python, or make them where only a source is
        there; the network is needed."""
        pip = [str(self.program("python")), "-m", "pip", "--disable-pip-version-check"]
        asked = ["--require-hashes", "-r", str(lock), "--prefer-binary", "-w", str(wheels)]
        self._run([*pip, "wheel", "-q", *asked], with_index=True)

    def run(self, *words: str, may_end: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        """Run one of its programs in an empty folder, without the network. Raises InstallFailed."""
        return self._run(
            [*self._isolated, str(self.program(words[0])), *words[1:]], may_end=may_end
        )

    def program(self, name: str) -> Path:
        return self.folder / "env" / "bin" / name

    def _run(
        self, words: list[str], may_end: tuple[int, ...] = (0,), with_index: bool = False
    ) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "TANDEM_RUNTIME_DIR": str(self.folder / "run"),
            "TANDEM_STOP_DIR": str(self.folder / "run"),
        }
        if with_index:
            env = {**os.environ, "PYTHONPATH": ""}
        done = subprocess.run(
            words, check=False, cwd=self.folder / "work", env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=INSTALL_S,
        )  # fmt: skip
        if done.returncode not in may_end:
            raise InstallFailed(f"{' '.join(words)}\nended with {done.returncode}:\n{done.stdout}")
        return done
