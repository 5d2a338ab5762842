"""A Python with the libraries that the Devkit pins, made once and kept in .devkit/."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.support import patience

FOLDER = Path(__file__).resolve().parents[4] / ".devkit"
# python-socketio and python-engineio decide about the wire, Flask's are what its examples import.
# eventlet is not the pinned one: that one knows no Python after 3.11.
PINS = (
    "python-socketio==4.2.0",
    "python-engineio==3.13.0",
    "Flask==1.1.1",
    "Jinja2==3.0.3",
    "itsdangerous==2.0.1",
    "werkzeug==2.0.3",
    "eventlet>=0.36",
    "numpy",
    "pillow",
)
_MINUTES = 3


def devkit_python() -> tuple[str, str]:
    """Its executable, or "" and why there is none. The file `ready` is the last thing written."""
    folder = FOLDER / f"{sys.version_info.major}.{sys.version_info.minor}"
    if not _is_ready(folder):
        made = folder.with_name(f"{folder.name}-{os.getpid()}")  # two workers may want it at once
        try:
            if why_not := _make(made):
                return "", why_not
            if not _is_ready(folder):  # else the other one has it in use
                shutil.rmtree(folder, ignore_errors=True)
                made.replace(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return str(folder / "bin" / "python"), ""


def _is_ready(folder: Path) -> bool:
    ready = folder / "ready"
    return ready.exists() and ready.read_text() == "\n".join(PINS)


def _make(folder: Path) -> str:
    """Why it could not be made; "" if it is there."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PINS]
    try:
        done = patience.run(install, text=True, within_s=60 * _MINUTES, stdin=subprocess.DEVNULL)
    except patience.Hang:
        return f"the Devkit's libraries did not come within {_MINUTES} minutes"
    if done.returncode:
        return f"the Devkit's libraries cannot be fetched: {done.stderr.strip()[-300:]}"
    (folder / "ready").write_text("\n".join(PINS))
    return ""
