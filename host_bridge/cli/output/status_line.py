"""One status line per car, redrawn in place."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.car_text import (
    angle_text,
    cap_text,
    others_in_command,
    profile_text,
    source_text,
    temperature_text,
)
from host_bridge.core.system.printable import can_draw, one_line, styled
from host_bridge.core.texts.table import NO_LINK

_UP = "\x1b[{}A"
_REST_OF_LINE = "\x1b[K"
_REST_OF_SCREEN = "\x1b[J"
_INDENT = "        "


def status_line(car: ConnectedCar) -> str:
    """Return the line of one car: state, source in command, speed, steering, link, stop cause."""
    return "  ".join(filter(None, _parts(car)))


def short_line(car: ConnectedCar) -> str:
    """Return what stands on one row of a narrow terminal: name, state, speed, who commands."""
    state = shown_state(car)
    if car.status is None or state == NO_LINK:
        return f"{car.name:12}  {state}"
    by = source_text(car, car.status.drive_source)
    return f"{car.name:12}  {state:8}  {car.status.speed_mps:+6.2f} m/s  {by}".rstrip()


def shown_state(car: ConnectedCar) -> str:
    """Return the word of its state; without a link, that."""
    return car.status.shown_state.word if car.is_online() and car.status else NO_LINK


def _parts(car: ConnectedCar) -> Iterator[str]:
    yield f"{car.name:12}"
    if not car.is_online() or car.status is None:
        yield "ANOTHER CAR" if car.stranger else NO_LINK
        yield car.stranger or str(car.mismatch or "")
        return
    yield "HITL" if car.identity and car.identity.is_hitl else ""
    yield f"{car.status.shown_state.word:8}"
    yield f"{source_text(car, car.status.drive_source) or 'nobody':10}"
    yield ", ".join(others_in_command(car))
    yield profile_text(car)
    yield f"{car.status.speed_mps:+6.2f} m/s"
    yield cap_text(car)
    yield f"steer {angle_text(car.status.steer_rad):9}"
    rate_hz = car.connection.statistics.rates_hz.get("Status")
    yield f"{rate_hz:3.0f} Hz" if rate_hz else ""
    yield f"{car.power.battery_v:.1f} V" if car.power else ""
    yield temperature_text(car)
    yield car.why_stopped()


class LiveLines:
    """Lines that are redrawn in place; without a terminal they are printed when they change."""

    def __init__(self, out: TextIO) -> None:
        self._out = styled(out)
        self._is_terminal = can_draw(out)
        self._drawn: list[str] = []

    def draw(self, lines: Sequence[str], columns: int, paint: Callable[[str], str] = str) -> None:
        """Draw the lines, on a terminal each folded; ``paint`` gives what is there its colours."""
        lines = [one_line(line) for line in lines]
        if self._is_terminal:
            lines = [paint(part) for line in lines for part in folded(line, columns)]
            back = _UP.format(len(self._drawn)) if self._drawn else ""
            text = "".join(f"{line}{_REST_OF_LINE}\n" for line in lines)
            self._out.write(f"{back}\r{text}{_REST_OF_SCREEN}")
        elif lines != self._drawn:
            self._out.write("".join(f"{line}\n" for line in lines))
        self._drawn = list(lines)
        self._out.flush()


def folded(line: str, columns: int) -> list[str]:
    """Wrap a line that is too long, with the rest indented. An empty line stays one line."""
    # columns: a terminal that tells less, or nothing, gets lines that can be read
    return textwrap.wrap(line, max(columns, 20), subsequent_indent=_INDENT) or [""]
