"""What a vehicle file says, read without the bridge's compiler: the limits tests hold it to."""

import sys
from functools import lru_cache
from importlib import import_module
from pathlib import Path

_toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
FOLDER = Path(__file__).resolve().parents[3] / "hardware" / "vehicles"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
_ENDS_US = {
    "servo_steering": ("low_us", "high_us"),
    "esc": ("reverse_us", "forward_us"),
    "brake_servo": ("released_us", "full_us"),
}
DUTY_FULL = 10_000


@lru_cache
def facts_of(name: str) -> dict:
    found = [FOLDER / f"{name}.toml", FOLDER / "bases" / f"{name}.toml"]
    own = _toml.loads(next(path for path in found if path.exists()).read_text())
    left_out = [key for key in own.get("without", []) if not key.startswith("plant.")]
    assert not left_out, "the limits below know nothing of it"
    return _over(facts_of(own["base"]) if "base" in own else {}, own)


def _over(base: dict, own: dict) -> dict:
    """What a file says itself, and what it takes over: tables key by key, all else whole."""
    both = {key: own.get(key, value) for key, value in {**base, **own}.items()}
    for key in base.keys() & own.keys():
        if isinstance(base[key], dict):
            both[key] = _over(base[key], own[key])
    return both


@lru_cache
def channels_of(name: str, kind: str) -> dict[int, dict]:
    """Output channel -> its table, of one kind."""
    tables = enumerate(facts_of(name)["channels"])
    return {at: table for at, table in tables if table["kind"] == kind}


def range_ns(table: dict) -> tuple[int, int]:
    """The calibrated range of a channel."""
    if table["kind"] == "h_bridge":
        most = round(table["duty_max"] * DUTY_FULL)
        return -most, most
    ends = sorted(round(table[key] * 1000) for key in _ENDS_US[table["kind"]])
    return ends[0], ends[1]


def drive_is_neutral(name: str, values) -> bool:
    """No torque is asked for on any drive channel."""
    escs = channels_of(name, "esc").items()
    bridges = channels_of(name, "h_bridge")
    moved = [at for at, table in escs if values[at] != round(table["neutral_us"] * 1000)]
    assert escs or bridges, f"{name} has no drive channel"
    return not moved and not any(values[at] for at in bridges)


def asks_backward(name: str, values) -> bool:
    """Some drive channel is on its reverse side."""
    for at, table in channels_of(name, "esc").items():
        away_us = values[at] / 1000 - table["neutral_us"]
        if away_us * (table["forward_us"] - table["neutral_us"]) < 0:
            return True
    return any(values[at] < 0 for at in channels_of(name, "h_bridge"))
