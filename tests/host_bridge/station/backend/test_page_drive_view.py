"""The page's lines on a drive: where a terminal has its key R the page has two buttons."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.station.backend.page_drive_view import PageDriveView


@pytest.mark.parametrize(
    ("notice", "said"),
    [
        ("The link was lost. Press R to clear and arm.",
         "The link was lost. If a stop is locked, unlock it; then arm."),
        ("Stopped all cars: press R to clear it and to arm again.",
         "Stopped all cars: unlock it, then arm again."),
        ("Press R to arm.", "Press Arm."),
    ],
)  # fmt: skip
def test_what_a_terminal_does_by_a_key_the_page_says_by_its_buttons(notice, said):
    controls = SimpleNamespace(limits=SimpleNamespace(speed_mps=2.0), status_text=lambda now: "")
    drive = SimpleNamespace(
        notice=notice,
        controls=controls,
        fleet=SimpleNamespace(cars=[]),
        phase=SimpleNamespace(value="stopped"),
    )
    phase, words, program, limit = PageDriveView().screen(drive, 0, 80, 24)
    assert (phase, words, program) == ("stopped", said, "")
    assert limit == "drives at 2 m/s at most"
