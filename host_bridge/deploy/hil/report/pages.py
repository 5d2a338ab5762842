"""The page and the place on it that waits for each figure.

The figures on these pages are unmeasured, or an emulated chip's, until a real board has been on a
bench. A reader of a report finds here where its figures go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from host_bridge.deploy.hil.report.limits import LIMITS


class PageReference(NamedTuple):
    """A place on a page of this repository, given by words that stand there."""

    page: str
    words: str

    def __str__(self) -> str:
        return f"{self.page}, {self.words!r}"


_FITS = PageReference("firmware/RP2040.md", "Does it fit an RP2040?")
_HEAP = PageReference("firmware/RP2040.md", "No board of metal has started the program yet")
_STACK = PageReference("firmware/RP2040.md", "Its C stack holds it")
_START = PageReference("firmware/RP2040.md", "The start")
_GUARD = PageReference("firmware/RP2040.md", "What the guard takes")
_LINK = PageReference("firmware/boards/README.md", "how soon it answers")
_REPL = PageReference(
    "firmware/boards/README.md", "a byte of 0x03 really interrupts nothing over USB"
)
_POWER = PageReference("firmware/boards/README.md", "that it comes back from a power cut")
_FLASH = PageReference("firmware/boards/README.md", "that `tandem flash` brings a board up")
_PULSES = PageReference("firmware/drivers/README.md", "Pulse widths on the wire")
_LATE = PageReference(
    "firmware/drivers/README.md", "interrupt lateness against the 200 us of the runstop"
)
_RELAY = PageReference("firmware/drivers/README.md", "relay pull-in and welding")
_ENCODER = PageReference(
    "firmware/drivers/README.md", "an encoder's sign and its counts by a turn by hand"
)
_LOOP = PageReference(
    "tests/safety/case/FIGURES.md", "the runstop loop opens while the program hangs"
)
_STOP = PageReference("firmware/core/SAFETY.md", "Stop received to STOPPING")
_BYTES = PageReference("firmware/core/SAFETY.md", "put out the same bytes for the same inputs")
_RATES = PageReference("sim_mock/hitl/README.md", "rates and start-up times there are unmeasured")

CELLS: dict[str, PageReference] = {
    "stop_answer": _LINK,
    "identify_answer": _LINK,
    "stop_driving": _LINK,
    "identify_driving": _LINK,
    "frames_damaged": _LINK,
    "step_longest": _FITS,
    "beats_1": _FITS,
    "beats_4": _FITS,
    "repl": _REPL,
    "step_median": _FITS,
    "step_p99": _FITS,
    "step_max": _FITS,
    "c_stack": _STACK,
    "stop_output": _STOP,
    "guard_share": _GUARD,
    "link_out": _RATES,
    "link_in": _RATES,
    "first_step": _START,
    "heap_spare": _HEAP,
    "heap_spare_hitl": _HEAP,
    "same_bytes": _BYTES,
    "first_pulse": _START,
    "pulse_width": _PULSES,
    "runstop_pulse": _LOOP,
    "runstop_life": _LATE,
    "runstop_brake": _LOOP,
    "runstop_word": _LOOP,
    "runstop_bridge": _LOOP,
    "flash": _FLASH,
    "runstop_hand": _RELAY,
    "encoder_ahead": _ENCODER,
    "encoder_turn": _ENCODER,
    "power_standby": _POWER,
    "power_commit": _POWER,
    "power_trial": _POWER,
}


def by_what() -> Mapping[str, str]:
    """Return the page that waits for each row of a report, by what it measures."""
    return {LIMITS[key].what: str(cell) for key, cell in CELLS.items()}
