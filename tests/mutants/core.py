"""What the safety core is, and which tests are held against it."""

from pathlib import Path
from typing import NamedTuple

from tests.mutants.trials import Tier

_APP = (
    "App.step", "App._watch", "App._watch_faults", "App.is_armed", "App._is_clock_lost",
    "App.is_standing", "App._supervise", "App._steer", "App._move", "App._follow", "App._put_out",
)  # fmt: skip


class Part(NamedTuple):
    """``scope`` are the functions that count, all if it is empty."""

    file: str
    scope: tuple[str, ...] = ()


PARTS = (
    Part("firmware/core/deadlines.py"),
    Part("firmware/core/latch.py"),
    Part("firmware/core/supervisor.py"),
    Part("firmware/core/stopping.py"),
    Part("firmware/core/limits.py"),
    Part("firmware/core/clock.py"),
    Part("firmware/core/arbiter.py"),
    Part("firmware/core/actions.py"),
    Part("firmware/app.py", _APP),
)
ROOT = Path(__file__).resolve().parents[2]
_FOLDER = "tests/firmware/core"
FAST = (_FOLDER,)  # what coverage is measured under
WHOLE_CAR = ("tests/firmware/test_core.py", "tests/firmware/test_driving.py")


def tiers(part: Part) -> tuple[Tier, ...]:
    """The tests that may kill a part's mutants, its own first, the slow ones last.

    A mutant loops for ever if it takes five times as long as the unchanged core.
    """
    own = sorted((ROOT / _FOLDER).glob(f"test_{Path(part.file).stem}*.py"))
    names = tuple(str(path.relative_to(ROOT)) for path in own)
    return (Tier(names, 5), Tier(FAST, 10), Tier(WHOLE_CAR, 60))
