"""What every test stands on: Ctrl-C as it is, and folders that no other program looks into."""

import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from firmware import c_library
from firmware.protocol import codec, frame

# Started in the background, a shell has Ctrl-C ignored, and whoever is started here would too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Of what a test's file names, what starts programs, builds machine code or keeps real time
_STARTS = re.compile(
    r"subprocess|programs import|multiprocessing|micropython|wall clock|mypy|enumerated|stateful"
    r"|time\.sleep|asyncio\.sleep|compiled\b|pseudo|os\.openpty|flash|hypothesis|spurious|chromium"
    r"|real_ros"
)
_LONG = ("bench", "mutants", "proof", "safety", "soak", "tools", "hardware", "calibration")
# Logic, and dear: they drive every full-scale model there is, whole laps, and every stop of every
# vehicle; a third of what would be left
_DEAR = (
    "sim_mock/bodies/test_driven_models.py",
    "sim_mock/autodrive/test_driving.py",
    "sim_mock/faults/test_off_delay.py",
    "sim_mock/faults/test_hang_moments.py",
    "host_bridge/interfaces/autodrive/test_manner.py",
    "host_bridge/interfaces/paths/test_driven.py",
)


def _all_of_some(values: Iterable[object]) -> bool:
    """``all``, which is not true of nothing: a check may not pass because it looked at nothing.

    Where nothing is good evidence too, a test says ``not any``.
    """
    is_empty = True
    for value in values:
        if not value:
            return False
        is_empty = False
    assert not is_empty, "all() of nothing: there was nothing to check"
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="tests of logic only: none that starts a program"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --quick what starts programs, keeps real time or takes long by itself is left out."""
    if not config.getoption("--quick"):
        return
    slow = {path for path in {item.path for item in items} if not _is_quick(path)}
    config.hook.pytest_deselected(items=[item for item in items if item.path in slow])
    items[:] = [item for item in items if item.path not in slow]


def _is_quick(path: Path) -> bool:
    name = path.relative_to(Path(__file__).parent)
    if name.parts[0] in _LONG or name.as_posix() in _DEAR:
        return False
    return not _STARTS.search(path.read_text(encoding="utf-8"))


def pytest_collection_finish() -> None:
    """In all that tests are written in, ``all`` has to be of something."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith("tests."):
            vars(module).setdefault("all", _all_of_some)


@pytest.fixture(scope="session", autouse=True)
def own_folders_of_this_run() -> Iterator[None]:
    """Cars that somebody serves here, or another worker of the same run, are none of our business.

    The path is short enough for a socket's.
    """
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        os.environ["TANDEM_RUNTIME_DIR"] = os.path.join(folder, "run")
        os.environ["TANDEM_STOP_DIR"] = folder
        os.environ["TANDEM_DATA_DIR"] = os.path.join(folder, "data")
        yield


@pytest.fixture(params=["their own text", "counterparts in C"])
def text(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards run the own text, CPython its library's counterparts: all is asked of both."""
    if request.param == "counterparts in C":
        return
    for one in c_library.SOONER:
        for module in (codec, frame, request.module):
            if getattr(module, one.__name__, None) is one:
                monkeypatch.setattr(module, one.__name__, one.__wrapped__)
