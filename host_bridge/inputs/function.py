"""An input that calls a Python function: ``--input python:FILE.py:FUNCTION --trust-code FILE.py``.

The function gets the time in s since driving began and the newest reports of the cars. It returns
speed in m/s and steering in rad, a ``DriveCommand``, or None to let go of the deadman. A class is
made anew for each drive and called likewise, so it may remember what it likes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from host_bridge.core import DriveCommand, Input, InputContext, Observed
from host_bridge.core.errors import DataFileFault, UsageFault
from sim_mock.bodies import trust

Decide: TypeAlias = Callable[[float, Observed], "DriveCommand | tuple[float, float] | None"]
_EXAMPLE = "python:FILE.py:FUNCTION"


class FunctionInput(Input):
    """The input that calls a function on each step; None from it releases the deadman."""

    is_computed = True

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._begun_us: int | None = None
        self._count = 0

    async def open(self, context: InputContext) -> None:
        """Do nothing: the function's time begins when the cars drive."""

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        """Return the function's command, once the cars are armed and a person permits it."""
        self._count += 1
        if not observed.is_driving or not observed.is_permitted:
            return DriveCommand(input_count=self._count)
        self._begun_us = now_us if self._begun_us is None else self._begun_us
        decided = self._decide((now_us - self._begun_us) * 1e-6, observed)
        if decided is None:
            return DriveCommand(input_count=self._count)
        if isinstance(decided, DriveCommand):
            return decided
        speed_mps, steer_rad = decided
        return DriveCommand(steer_rad, speed_mps, is_held=True, input_count=self._count)


def file_of(rest: str) -> str:
    """Return the file of ``FILE.py:FUNCTION``."""
    return rest.rpartition(":")[0]


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> FunctionInput:
    """Make the input of ``--input python:FILE.py:FUNCTION``.

    Raises errors.UsageFault for a file that nobody trusts, errors.DataFileFault for one that has no
    such function.
    """
    file, name = file_of(rest), rest.rpartition(":")[2]
    if not file.endswith(".py") or not name.isidentifier():
        raise UsageFault("which function?", expected=_EXAMPLE, got=f"python:{rest}")
    if not trust.is_trusted(file):
        raise UsageFault(
            "this file is code, which runs with all that you may do",
            where=file,
            remedy=f"read it; if you trust it: --trust-code {file}",
        )
    return FunctionInput(_loaded(Path(file), name))


def _loaded(path: Path, name: str) -> Decide:
    """Return the function, of a module that is loaded anew: no drive finds another one's state."""
    spec = importlib.util.spec_from_file_location(f"tandem_input_{path.stem}", path)
    assert spec is not None, "its name ends with .py"
    assert spec.loader is not None, "likewise"
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        found: Any = getattr(module, name)
        decide: Decide = found() if isinstance(found, type) else found
    except Exception as error:  # noqa: BLE001 - whatever their code raises
        raise DataFileFault(
            "this file cannot be loaded",
            where=f"{path}:{name}",
            expected="a function of time and observation, or a class of such",
            got=f"{type(error).__name__}: {error}",
        ) from None
    if not callable(decide):
        raise DataFileFault("this is no function", where=f"{path}:{name}", got=repr(decide))
    return decide
