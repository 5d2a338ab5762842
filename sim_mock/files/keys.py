"""The keys of a table in a TOML file: name, kind and range; a name's ending is its unit."""

from __future__ import annotations

from dataclasses import dataclass

REQUIRED: object = object()

# The ending of a key is its unit; the longest that fits counts.
UNITS = {
    "mps3": "metres per second cubed",
    "mps2": "metres per second squared",
    "mps": "metres per second",
    "radps": "radians per second",
    "rad_s": "radians per second",
    "rad": "radians",
    "deg": "degrees",
    "per_rad": "per radian",
    "vs_per_rad": "volt seconds per radian",
    "per_mps": "full effort per metre per second",
    "radps_per_mps": "radians per second per metre per second",
    "mps2_per_mps": "metres per second squared per metre per second",
    "n_per_mps2": "newtons per metre per second squared",
    "per_m": "full effort per metre",
    "per_rev": "counts per turn of the wheel",
    "kg": "kilograms",
    "kgm2": "kilogram square metres",
    "n": "newtons",
    "nm": "newton metres",
    "m": "metres",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
    "v": "volts",
    "a": "amperes",
    "c": "degrees Celsius",
    "ohm": "ohms",
    "mohm": "thousandths of an ohm",
    "hz": "hertz",
    "ut": "microteslas",
    "pa": "pascals",
}
# Endings of other units, which people may write by mistake
FOREIGN = ("mm", "cm", "degps", "mm_s", "mm_s2", "kmh", "mv", "g", "ma")
# unit -> units that people mistake for it, and how many of them make one
_SLIPS = {
    "m": (("millimetres", 1000.0), ("centimetres", 100.0)),
    "rad": (("degrees", 57.3),),
    "radps": (("degrees per second", 57.3),),
    "s": (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)),
    "mps": (("km/h", 3.6), ("millimetres per second", 1000.0)),
    "v": (("millivolts", 1000.0),),
    "norm": (("percent", 100.0),),
}
_ENDINGS = sorted(("_" + ending for ending in (*UNITS, *FOREIGN)), key=len, reverse=True)


def unit_of(name: str) -> str:
    """Return the unit of a key's name in words; empty for a name without one."""
    for ending in _ENDINGS:
        if name.endswith(ending):
            return UNITS.get(ending[1:], "")
    return UNITS.get(name, "")  # such as a fault's key ms, which is only a unit


def stem_of(name: str) -> str:
    """Return a name without its unit, known or foreign."""
    for ending in _ENDINGS:
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name


@dataclass(frozen=True)
class Key:
    """One key of a table; ``parameter`` and ``scale`` map it to a parameter of the firmware."""

    name: str
    kind: str  # a word of ``_EXPECTED``, or number, integer, choice, names
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()
    default: object = REQUIRED
    parameter: str = ""
    scale: float = 1.0
    meaning: str = ""  # in words, where the name does not say it

    @property
    def unit(self) -> str:
        return unit_of(self.name) if self.kind in ("number", "integer") else ""

    @property
    def expected(self) -> str:
        """The value that a person has to write, in words, with unit and range."""
        if self.kind in ("number", "integer"):
            unit = f" {self.unit}" if self.unit else ""
            whole = "whole " if self.kind == "integer" else ""
            return f"a {whole}number from {self.low:g} to {self.high:g}{unit}"
        if self.kind in ("choice", "names"):
            some = "one of" if self.kind == "choice" else "a list of some of"
            return f"{some} {', '.join(self.choices)}"
        return _EXPECTED[self.kind]


_EXPECTED = {
    "flag": "true or false",
    "numbers": "numbers with blanks between",
    "text": "a text in quotes",
    "points": "two or more [angle_rad, pulse_us], angles rising, pulses rising or falling",
    "pulses": "three pulses in microseconds, rising or falling: [one end, centre, other end]",
    "table": "a table",
    "list": "a list",
    "pin": "the number or the name of a pin",
    "pins": "pins with blanks between, 0-3 for 0 1 2 3",
    "integers": "a list of integers",
    "texts": "a list of texts in quotes",
}


def number(
    name: str, low: float, high: float, default: object = REQUIRED, meaning: str = ""
) -> Key:
    """Return the key of a number with the unit that ends its name."""
    return Key(name, "number", low, high, default=default, meaning=meaning)


def integer(name: str, low: int, high: int, default: object = REQUIRED) -> Key:
    """Return the key of a whole number."""
    return Key(name, "integer", low, high, default=default)


def choice(name: str, choices: tuple[str, ...], default: object = REQUIRED) -> Key:
    """Return the key of one word of several."""
    return Key(name, "choice", choices=choices, default=default)


def names(name: str, choices: tuple[str, ...], may_be_none: bool = False) -> Key:
    """Return the key of a list of some of these words."""
    return Key(name, "names", low=0.0 if may_be_none else 1.0, choices=choices)


def text(name: str, default: object = REQUIRED) -> Key:
    """Return the key of a text."""
    return Key(name, "text", default=default)


def flag(name: str, default: object = REQUIRED) -> Key:
    """Return the key of true or false."""
    return Key(name, "flag", default=default)


def slip_of(key: Key, value: float) -> str:
    """Return a question whether a number that is out of range is in another unit; "" if not."""
    unit = "norm" if key.high == 1.0 else key.name.rpartition("_")[2]  # a share of 1
    for name, per_unit in _SLIPS.get(unit, ()):
        if key.low <= value / per_unit <= key.high:
            return f"are these {name}?"
    return ""
