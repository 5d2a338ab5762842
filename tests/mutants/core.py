"""What small mistakes are made in, and which tests are held against each file of it."""

from pathlib import Path
from typing import NamedTuple

from tests.mutants.trials import Tier

_APP = (
    "App.step", "App.begin", "App.finish", "App._hear_board", "App._hear_stop", "App._measure",
    "App.is_armed", "App._supervise", "App._settle_requests", "App._conditions", "App._put_out",
)  # fmt: skip

# All but its table, which is the definition itself
_PARAMS = (
    "count", "draft", "drafted", "Params.__init__", "Params.get", "Params.get_all",
    "Params.index", "Params.is_in_range", "Params.hash_into", "Params.first_wrong",
    "Params._first_inconsistent", "Params.image_size", "Params.write_image", "Params.draft_into",
    "Params.take_draft", "Params.read_image",
)  # fmt: skip


class Part(NamedTuple):
    """``scope`` are the functions that count, all if it is empty; ``tests`` are its own tests: of
    the core by what follows ``tests/firmware/core/test_``, others by their path in ``tests``."""

    file: str
    tests: tuple[str, ...]
    scope: tuple[str, ...] = ()


# What safety.md asks it of: arbiter, runstop, supervisor, deadlines, limits, as they are laid out
CORE = (
    Part("firmware/core/deadlines.py", ("deadlines",)),
    Part("firmware/core/latch.py", ("latch",)),
    Part("firmware/core/supervisor.py", ("supervisor",)),
    Part("firmware/core/stopping.py", ("stopping",)),
    Part("firmware/core/limits.py", ("limits", "limits_ramp")),
    Part("firmware/core/runstop.py", ("runstop", "runstop_link")),
    Part("firmware/core/source.py", ("arbiter_sources", "arbiter_winners", "arbiter")),
    Part("firmware/core/guard.py", ("guard",)),
    Part("firmware/core/arbiter.py", ("arbiter", "arbiter_winners", "arbiter_sources")),
)
# What else decides
BESIDE = (
    Part("firmware/core/rc_receiver.py", ("rc_receiver", "rc_gesture")),
    Part("firmware/core/clock.py", ("clock",)),
    Part("firmware/core/actions.py", ("actions", "actions_on_board")),
    Part("firmware/core/plausibility.py", ("plausibility",)),
    Part("firmware/core/punctuality.py", ("punctuality",)),
    Part("firmware/core/outputs.py", ("outputs",)),
    Part("firmware/core/drive.py", ("drive", "drive_braking", "drive_directions", "drive_rested")),
    Part("firmware/core/motion.py", ("motion", "app_moves")),
    Part("firmware/core/watch.py", ("watch_edges", "watch", "app")),
    Part("firmware/core/params.py", ("params",), _PARAMS),
    Part("firmware/core/configuration.py", ("configuration",)),
    Part(
        "firmware/app.py",
        ("app", "app_moves", "hearing", "watch_edges", "gyro_lost", "watch"),
        _APP,
    ),
)
# What carries the board's program and the host's: each row's own tests are all that is asked.
AROUND = (Part("host_bridge/session.py", ("host_bridge/test_session.py",)),)
PARTS = CORE + BESIDE + AROUND
ROOT = Path(__file__).resolve().parents[2]
_FOLDER = "tests/firmware/core"
FAST = (_FOLDER,)  # what coverage is measured under
WHOLE_CAR = ("tests/firmware/test_core.py", "tests/firmware/test_driving.py")


def own_tests(part: Part) -> tuple[str, ...]:
    """Paths of the tests that are asked first, and from which a part is known to be touched."""
    return tuple(
        f"tests/{name}" if "/" in name else f"{_FOLDER}/test_{name}.py" for name in part.tests
    )


def tiers(part: Part) -> tuple[Tier, ...]:
    """The tests that may kill a part's mutants, its own first, the slow ones last.

    A mutant loops for ever if it takes five times as long as the unchanged source.
    """
    if part in AROUND:
        return (Tier(own_tests(part), 40),)
    return (Tier(own_tests(part), 10), Tier(FAST, 30), Tier(WHOLE_CAR, 120))
