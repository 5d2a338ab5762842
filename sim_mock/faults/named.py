"""Faults by name, for a URI or a scenario file.

The catalogue tests the car's program with the same injections; here they act on a car that somebody
drives. Each comes at its time, in seconds of the car's world since its power-up. Written:

    stuck_servo@3s;lossy_wire:share=0.3@5s;slippery_patch:x_m=4,y_m=0,radius_m=1,mu=0.2

or, in a TOML file, as a table of ``[[fault]]``: ``name``, ``at_s`` and the fault's own keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import radians
from pathlib import Path
from typing import Any

from sim_mock.faults.cases import breakages as broken
from sim_mock.faults.cases import injections as inject
from sim_mock.faults.cases import lines
from sim_mock.faults.trial.target import Injection
from sim_mock.files.documents import Document, read_toml
from sim_mock.files.keys import Key, choice, number
from sim_mock.files.plain_reading import as_mapping, as_number, read_by
from sim_mock.plant.tables import TABLES

SCENARIOS = Path(__file__).with_name("scenarios")
_KEY = re.compile(r"\w+\.(\w+): ")  # begins an error about a key of a fault
_MOST_S = 1e6  # twelve days: beyond any trial
_SIDES = {"both": ("left", "right"), "left": ("left",), "right": ("right",)}


@dataclass(frozen=True)
class NamedFault:
    """A fault with a name and keys, each of which has a default (as in ``plant.tables``).

    ``injection`` makes its injection. A fault without one exists from the start, and ``options``
    returns its changes of the car's options.
    """

    title: str
    injection: Callable[..., Injection] | None = None
    options: Callable[..., dict[str, Any]] | None = None
    keys: tuple[Key, ...] = ()


def _ms(default: int) -> Key:
    """Return the key of a duration in milliseconds."""
    return number("ms", 1, 600_000, default=default)  # ten minutes: beyond any trial


def _like(table: str, **defaults: float) -> tuple[Key, ...]:
    """Return the keys of a table of the plant, with these names and defaults."""
    renamed = zip(TABLES[table], defaults.items(), strict=True)
    return tuple(replace(key, name=name, default=value) for key, (name, value) in renamed)


FAULTS: dict[str, NamedFault] = {
    "stuck_servo": NamedFault(
        "the steering servo stays where it is", lambda: broken.set_plant(is_steering_stuck=True)
    ),
    "dead_encoder": NamedFault(
        "encoders keep their counts",
        lambda side: broken.encoders_dead(*_SIDES[side]),
        keys=(choice("side", tuple(_SIDES), default="both"),),
    ),
    "esc_unarmed": NamedFault(
        "the ESC is not armed, and never arms: no drive",
        lambda: broken.set_plant(is_drive_dead=True),
    ),
    "stuck_throttle": NamedFault(
        "full throttle, whatever is put out", lambda: broken.throttle_stuck
    ),
    "brown_out": NamedFault(
        "the battery collapses for so long",
        lambda ms: broken.battery_under("brown_out_mv", round(ms)),
        keys=(_ms(200),),
    ),
    "board_reset": NamedFault("the board begins anew", lambda: broken.board_resets),
    "program_hang": NamedFault(
        "the car's program stands still for so long",
        lambda ms: broken.hangs(round(ms)),
        keys=(_ms(150),),
    ),
    "slow_step": NamedFault(
        "each step of the program takes so long from then on; 0: no time at all",
        lambda ms: broken.steps_last(round(ms * 1000)),
        keys=(number("ms", 0, 1_000, default=11.4),),
    ),
    "runstop": NamedFault("the runstop loop opens", lambda: inject.set_world(runstop_closed=False)),
    "lossy_wire": NamedFault(
        "this share of the frames to the car is lost from then on",
        lambda share: inject.replace_line(lambda target: lines.lossy(target.random, share)),
        keys=(number("share", 0.0, 1.0, default=0.1),),
    ),
    "late_wire": NamedFault(
        "every frame to the car is so late from then on",
        lambda ms: inject.replace_line(lambda _target: lines.late(round(ms))),
        keys=(_ms(30),),
    ),
    "host_stall": NamedFault(
        "the host neither speaks nor reads for so long",
        lambda ms: inject.host_stopped(round(ms)),
        keys=(_ms(600),),
    ),
    "pose_freezes": NamedFault(
        "its localiser says the last pose again, as if new, from then on",
        lambda: inject.set_poses(is_frozen=True),
    ),
    "pose_jumps": NamedFault(
        "its localiser is so far off from then on: ahead, to the left, turned",
        lambda ahead_m, left_m, turned_deg: inject.set_poses(
            offset=(ahead_m, left_m, radians(turned_deg))
        ),
        keys=(
            number("ahead_m", -100.0, 100.0, default=0.0),
            number("left_m", -100.0, 100.0, default=0.5),
            number("turned_deg", -180.0, 180.0, default=0.0),
        ),
    ),
    "pose_lags": NamedFault(
        "its localiser's poses are so late from then on",
        lambda ms: inject.set_poses(late_us=round(ms * 1000)),
        keys=(_ms(800),),
    ),
    "slippery_patch": NamedFault(
        "a round piece of floor with mu times its friction, from the start",
        options=lambda x_m, y_m, radius_m, mu: {"patch": [[x_m, y_m, radius_m, mu]]},
        keys=_like("patch", x_m=3.0, y_m=0.0, radius_m=1.0, mu=0.3),
    ),
    "payload": NamedFault(
        "a load, ahead of the centre of gravity, from the start",
        options=lambda kg, ahead_m: {"payload_kg": kg, "payload_x_m": ahead_m},
        keys=_like("payload", kg=1.0, ahead_m=0.0),
    ),
}


def parse_faults(text: str) -> list[dict[str, Any]]:
    """Return the faults in a URI: ``NAME[:KEY=VALUE,...][@SECONDS[s]];...``. Raises ValueError."""
    return [_parsed(part) for part in text.split(";")]


def _parsed(text: str) -> dict[str, Any]:
    head, _, at = text.partition("@")
    name, _, rest = head.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",") if pair]
    given = {key.strip(): _value(value) for key, _, value in pairs}
    return checked({"name": name.strip(), "at_s": _value(at.removesuffix("s") or "0"), **given})


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def describe_scenarios() -> list[dict[str, Any]]:
    """Return name and title of each scenario that Tandem brings along."""
    found = sorted(SCENARIOS.glob("*.toml"))
    return [{"name": it.stem, "title": read_toml(it).values.get("title", "")} for it in found]


def scenario_path(text: str) -> str:
    """Return the path of a scenario: a word is one of those that Tandem brings along, else a file.

    Raises ValueError, with the words that there are.
    """
    path = Path(text)
    if path.suffix or len(path.parts) > 1:
        return str(path.absolute())
    there = {one.stem: one for one in sorted(SCENARIOS.glob("*.toml"))}
    if text not in there:
        raise ValueError(f"no scenario {text!r}; there is {', '.join(there)}, or a FILE.toml")
    return str(there[text])


def read_scenario(path: str) -> list[dict[str, Any]]:
    """Return the faults in a file.

    Raises ValueError with its name, the line and what is wrong in it.
    """
    document = read_toml(Path(path))
    unknown = sorted(set(document.values) - {"title", "fault"})
    if unknown:
        where = document.where(unknown[0])
        raise ValueError(f"{where}: unknown key; there is title, and [[fault]]")
    given = document.values.get("fault")
    if not isinstance(given, list):
        raise ValueError(f"{document.where('fault')}: expected [[fault]] above each fault's keys")
    return [_checked_in(document, n, one) for n, one in enumerate(given)]


def _checked_in(document: Document, place: int, given: object) -> dict[str, Any]:
    """Return a file's fault at this place, as ``checked`` does; errors have its line."""
    try:
        return checked(as_mapping("fault", given))
    except ValueError as fault:
        named = _KEY.match(str(fault))
        key = f"fault.{place}.{named[1]}" if named else f"fault.{place}"
        raise ValueError(f"{document.where(key)}: {fault}") from None


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return one fault with all of its keys. Raises ValueError if it is no valid fault."""
    own = dict(given)
    name, at_s = own.pop("name", None), own.pop("at_s", 0.0)
    if not isinstance(name, str) or name not in FAULTS:
        what = f"no fault {name!r}" if name is not None else "a fault without a name"
        raise ValueError(f"{what}; there is {', '.join(FAULTS)}")
    named = FAULTS[name]
    values = read_by(name, named.keys, own)
    at_s = as_number(f"{name}.at_s", at_s, 0.0, _MOST_S)
    if named.options and at_s > 0.0:
        raise ValueError(f"{name} is there from the start: leave its time out, got {at_s:g} s")
    return {"name": name, "at_s": at_s, **values}


def options_of(faults: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the changes of a car's options by the faults that exist from the start.

    Raises ValueError if two change the same; patches add up.
    """
    changes: dict[str, Any] = {}
    for fault in faults:
        options = FAULTS[fault["name"]].options
        for key, value in (options(**_own(fault)) if options else {}).items():
            if key in changes and key != "patch":
                raise ValueError(f"{fault['name']} is said twice")
            changes[key] = [*changes.get(key, []), *value] if key == "patch" else value
    return changes


def injections_of(faults: Sequence[Mapping[str, Any]]) -> list[tuple[float, Injection]]:
    """Return the time in s and the injection of each fault that comes later."""
    found = []
    for fault in faults:
        make = FAULTS[fault["name"]].injection
        if make:
            found.append((float(fault["at_s"]), make(**_own(fault))))
    return found


def _own(fault: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fault.items() if key not in ("name", "at_s")}


def describe_faults() -> list[dict[str, Any]]:
    """Return the list of faults for people and programs: name, title, keys with their defaults."""
    return [
        {"name": name, "title": named.title, "keys": {key.name: key.default for key in named.keys}}
        for name, named in FAULTS.items()
    ]
