"""What writes a configuration is in a board's memory only while it is asked for (S12)."""

import os
from pathlib import Path

import pytest

from sim_mock.runtime import micropython
from tests.support import patience

ROOT = Path(__file__).resolve().parents[2]
MODULES = 3
NOBODY, OK, INVALID, NOT_LOADED = -1, 0, 6, 9
DRAFT = 2_500  # bytes, of 1840 and what else is kept in a while
ALL = 10_000  # what is saved while driving: seven thousand and more, and the draft


@pytest.mark.process
@pytest.mark.parametrize("bits", [32, 64])
def test_it_comes_and_goes_in_steps_whose_heap_is_locked(bits):
    command = micropython.find(bits)
    if command is None:
        pytest.skip(f"no {bits}-bit MicroPython here; make setup fetches one where it can")
    done = patience.run(
        [*command, str(ROOT / "tests/support/device/overlay.py")],
        cwd=ROOT,
        text=True,
        within_s=60,
        env={**os.environ, "MICROPYPATH": f"{ROOT}{os.pathsep}.frozen"},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    rows = [line.rsplit(maxsplit=3) for line in done.stdout.splitlines()]
    assert [(what, int(answer), int(loaded)) for what, answer, loaded, _ in rows] == [
        ("started", NOBODY, 0),
        ("written", OK, MODULES),
        ("let go with a draft", OK, 0),
        ("committed in vain", INVALID, 0),
        ("without room", NOT_LOADED, 0),
        ("with room", OK, MODULES),
        ("committed", OK, 0),
    ]
    started, written, *others = [int(used) for *_, used in rows]
    assert written - started > ALL
    _, _, without_room, with_room, committed = others
    assert with_room - without_room > ALL
    assert committed - started < DRAFT * bits // 32
    assert without_room - started < DRAFT * bits // 32
