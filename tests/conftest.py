"""What every test stands on: Ctrl-C as it is, and folders that no other program looks into."""

import os
import signal
import tempfile
from collections.abc import Iterator

import pytest

from firmware import c_library
from firmware.protocol import codec, frame
from tests.support.kinds import Kinds

# Started in the background, a shell has Ctrl-C ignored, and whoever is started here would too.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Tests are of the sources, which they patch and trace, also where machine code is built
os.environ.setdefault("TANDEM_FAST", "0")


def pytest_collection_finish() -> None:
    if left := _replaced_ctrl_c():
        raise pytest.UsageError(
            f"{left}: a module of tests, or what it imports, as it was collected"
        )


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    if left := _replaced_ctrl_c():
        pytest.fail(left, pytrace=False)


def _replaced_ctrl_c() -> str:
    """Put the handler of Ctrl-C back, and return what to say of another one; "" if none was."""
    left = signal.getsignal(signal.SIGINT)
    if left is signal.default_int_handler:
        return ""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return f"the handler of Ctrl-C was left replaced by {left}"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Kinds(config), "kinds of tests")


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


@pytest.fixture(params=["counterparts in C", "their own text"])
def text(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards run the own text, CPython its library's counterparts: all is asked of both."""
    if request.param == "counterparts in C":
        return
    for one in c_library.C_COUNTERPARTS:
        for module in (codec, frame, request.module):
            if getattr(module, one.__name__, None) is one:
                monkeypatch.setattr(module, one.__name__, one.__wrapped__)
