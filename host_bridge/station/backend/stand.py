"""Changes trim and configuration of a car on its stand for the page, by the commands themselves.

``tandem trim`` and ``tandem config`` do it, each as a separate program: what they or the board
refuse is refused here, in the same words. Nothing is changed unless a person attests that the
wheels are off the ground.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence

from host_bridge.config import parameter_limits
from host_bridge.config.vehicle.trim import MOST_US
from host_bridge.core import Vehicle
from host_bridge.sharing.services.configurations import ADJUSTABLE
from host_bridge.station.backend.programs import run_json_command
from host_bridge.station.server.page_seat import SEAT
from host_bridge.station.server.server import WHEELS_OFF_GROUND

_BRAKE = 4  # the brake's bit in a source's actuator mask
Row = dict[str, object]
Tell = Callable[[str], None]


def seat_limits(vehicles: Sequence[Vehicle], speed_mps: float, profile: str) -> dict[str, float]:
    """Return the range of each actuator for the seat, by name with unit: the least of all cars.

    ``profile`` is "" for the default of each vehicle file. An actuator that the seat may not claim
    has 0.
    """
    sources = [vehicle.source(SEAT) for vehicle in vehicles]
    caps = [it.profile_caps_mps[profile or it.profile] for it in vehicles]
    caps += [speed_mps, *(source.speed_cap_mps for source in sources)]
    has_brake = all(source.mask & _BRAKE for source in sources)
    return {
        "steer_deg": round(math.degrees(min(it.steer_max_rad for it in vehicles)), 1),
        "speed_mps": min(*caps, *(it.speed_max_mps for it in vehicles)),
        "reverse_mps": min(*caps, *(it.reverse_max_mps for it in vehicles)),
        "brake_percent": 100.0 if has_brake else 0.0,
        "trim_us": float(MOST_US),
    }


async def adjust(request: Row, tell: Tell) -> Row:
    """Do what is asked of one car; the answer has its rows, or why not. ``tell`` gets how far."""
    what = str(request.get("do"))
    if what not in _ACTIONS:
        return {"of": what, "is_done": False, "text": f"nothing is known of {what!r}"}
    if request.get("attest") != WHEELS_OFF_GROUND:
        return {
            "of": what,
            "is_done": False,
            "text": "say first that the wheels are off the ground",
        }
    return {"of": what, **await _ACTIONS[what](str(request["car"]), request, tell)}


async def _trims(car: str, request: Row, tell: Tell) -> Row:
    return _answer(*await run_json_command("trim", "--car", car, tell=tell))


async def _trim(car: str, request: Row, tell: Tell) -> Row:
    words = ("trim", "--car", car, *_change_words(request))
    return _answer(*await run_json_command(*words, tell=tell))


async def _config(car: str, request: Row, tell: Tell) -> Row:
    """Return every parameter with its unit and limits, and the vehicle file's value.

    Those that may differ in one car have the name and the scale with which they are written.
    """
    is_done, found = await run_json_command("config", "diff", car, "--all", tell=tell)
    if not is_done or not isinstance(found, list):
        return _answer(is_done, found)
    changes: dict[str, Row] = {
        it.parameters[0]: {"name": name, "scale": it.scale, "is_most": it.is_most}
        for name, it in ADJUSTABLE.items()
    }
    rows = []
    for index, held in enumerate(found):
        name, (unit, low, high) = held["parameter"], parameter_limits(index)
        row = {"name": name, "value": held["car"], "file": held["file"], "unit": unit}
        rows.append({**row, "low": low, "high": high, "change": changes.get(name)})
    return {"is_done": True, "rows": rows}


async def _write(car: str, request: Row, tell: Tell) -> Row:
    words = ("config", "write", car, *_change_words(request))
    return _answer(*await run_json_command(*words, tell=tell))


def _change_words(request: Row) -> list[str]:
    """Return the changes as ``NAME=NUMBER`` words; the commands check names and values."""
    changes = request.get("changes")
    if not isinstance(changes, dict):
        return []
    return [f"{str(name).lstrip('-')}={value}" for name, value in changes.items()]


def _answer(is_done: bool, answer: object) -> Row:
    return {"is_done": True, "rows": answer} if is_done else {"is_done": False, "text": str(answer)}


_ACTIONS: dict[str, Callable[[str, Row, Tell], Awaitable[Row]]] = {
    "trims": _trims,
    "trim": _trim,
    "config": _config,
    "write": _write,
}
