"""What is taken for a MicroPython, by what it answers."""

from __future__ import annotations

import pytest

from sim_mock.runtime import micropython


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("micropython 1 22 64", ""),
        ("micropython 2 0 64", ""),
        ("", "does not answer as a MicroPython"),
        ("micropython 1 22", "does not answer as a MicroPython"),
        ("cpython 3 11 64", "does not answer as a MicroPython"),
        ("micropython 1 21 64", "is 1.21; 1.22 or newer is needed"),
        ("micropython 1 22 32", "is a 32-bit MicroPython; a 64-bit one is expected here"),
    ],
)
def test_a_command_is_a_micropython_or_it_is_said_why_not(monkeypatch, answer, fault):
    monkeypatch.setattr(micropython, "_ask", lambda command: answer.split())
    found = micropython.fault.__wrapped__("/opt/it", 64)
    assert fault in found
    assert found.startswith("/opt/it " if fault else found)
    assert bool(found) is bool(fault)
