"""The questions of ``tandem vehicles new`` about a car, as a table, and how an answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import degrees, isfinite
from typing import Any, TypeAlias

from host_bridge.core.errors import UsageFault

Tables: TypeAlias = Mapping[str, Any]  # the checked tables of the vehicle file that is the base
Answers: TypeAlias = dict[str, Any]

LIKE = "like"
QUADRATURE, HALL = "quadrature", "hall"
UART = "uart"
CELL_LOW_V = 3.5  # the files' low_v of a LiPo cell
_WORDS = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


@dataclass(frozen=True)
class Question:
    """One question: ``name`` is the answer's and, with dashes, the option's.

    ``kind`` is text, number, count, flag, three or choice. ``default`` makes an answer of the
    base's tables; None: it has to be given. ``is_asked`` says of the answers so far and the base's
    tables whether it concerns this car.
    """

    name: str
    kind: str
    text: str
    hint: str
    default: Callable[[Tables], Any] | None = None
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()
    is_asked: Callable[[Answers, Tables], bool] = lambda _answers, _tables: True

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")


def servo_of(tables: Tables) -> Mapping[str, Any] | None:
    """Return the channel of the only steering servo; None if there are several, or none."""
    found = [it for it in tables["channels"] if it["kind"] == "servo_steering"]
    return found[0] if len(found) == 1 else None


def cells_of(tables: Tables) -> int:
    """Return of how many LiPo cells the base's voltages are; 0: they are not a LiPo's."""
    cells = tables["battery"]["low_v"] / CELL_LOW_V
    return round(cells) if abs(cells - round(cells)) < 1e-6 else 0  # exact but for binary fractions


def _servo_us(tables: Tables) -> tuple[float, float, float]:
    (first, *_, last) = (servo_of(tables) or {})["points"]
    return (first[1], round((first[1] + last[1]) / 2.0, 2), last[1])


def _steer_deg(tables: Tables) -> float:
    return round(degrees((servo_of(tables) or {})["points"][-1][0]), 1)


def _has_servo(_answers: Answers, tables: Tables) -> bool:
    return servo_of(tables) is not None


def _counts(answers: Answers, _tables: Tables) -> bool:
    return bool(answers["encoder"] == QUADRATURE)


def _magnets(answers: Answers, _tables: Tables) -> bool:
    return bool(answers["encoder"] == HALL)


def _has_cells(_answers: Answers, tables: Tables) -> bool:
    return cells_of(tables) > 0


def _at(table: str, key: str) -> Callable[[Tables], Any]:
    return lambda tables: tables[table][key]


# The ranges are those of people's mistakes, a slip of unit above all; the file's own are checked
# when it is read.
QUESTIONS = (
    Question(
        LIKE, "text", "Which car is most like yours?",
        "what it does not ask stays as it is there: a name of tandem vehicles, or a vehicle file",
    ),
    Question("title", "text", "What is it called?", "a line for people"),
    Question(
        "wheelbase_m", "number", "Wheelbase, m?", "from axle to axle",
        _at("geometry", "wheelbase_m"), 0.05, 5.0,
    ),
    Question(
        "track_m", "number", "Track, m?", "from the middle of a front tyre to the other's",
        _at("geometry", "track_m"), 0.03, 3.0,
    ),
    Question(
        "wheel_radius_m", "number", "Radius of a wheel, m?",
        "roll it ten turns with the car on it, and divide the way by 62.8",
        _at("geometry", "wheel_radius_m"), 0.01, 1.0,
    ),
    Question(
        "mass_kg", "number", "Mass, kg?", "ready to drive, with its battery",
        lambda tables: tables["plant"]["body"]["mass_kg"], 0.1, 5000.0,
    ),
    Question(
        "speed_max_mps", "number", "Fastest speed that it shall ever drive, m/s?",
        "what no program and no person gets past", _at("limits", "speed_max_mps"), 0.1, 30.0,
    ),
    Question(
        "full_speed_mps", "number", "Its speed at full throttle, m/s?",
        "measured, or its maker's; trim and calibration correct it",
        _at("drive", "full_effort_mps"), 0.1, 30.0,
    ),
    Question(
        "servo_us", "three", "Servo pulses, us: full right, straight, full left?",
        "three numbers with commas, as its wheels may turn without binding", _servo_us, 500.0,
        2500.0, is_asked=_has_servo,
    ),
    Question(
        "steer_deg", "number", "Angle of the wheels there, degrees?",
        "of the mean of both, to either side", _steer_deg, 5.0, 60.0, is_asked=_has_servo,
    ),
    Question(
        "encoder", "choice", "How are its wheels counted?",
        "quadrature: A and B, or three halls of a motor, or a VESC: they tell the direction; hall: "
        "one sensor and some magnets, which do not, so that it neither brakes by its motor nor "
        "drives backward",
        lambda tables: QUADRATURE if tables["encoder"]["is_signed"] else HALL,
        choices=(QUADRATURE, HALL),
    ),
    Question(
        "counts", "count", "Counts per turn of a wheel?",
        "all edges: 4 for each line of A and B; 6 for each pole pair of a motor; times the gear",
        _at("encoder", "counts_per_rev"), 1.0, 1e6, is_asked=_counts,
    ),
    Question(
        "magnets", "count", "Magnets that pass the sensor in a turn of a wheel?",
        "the board measures the time between them",
        lambda tables: tables["plant"]["encoder"].get("magnets") or None, 1.0, 100.0,
        is_asked=_magnets,
    ),
    Question(
        "gyro", "flag", "Is a gyroscope wired to the board?", "else yaw comes from the steering",
        _at("imu", "gyro_fitted"),
    ),
    Question(
        "rc", "flag", "Is an RC receiver wired to the board?",
        "somebody beside it holds its transmitter",
        lambda tables: tables["rc"] is not None,
        is_asked=lambda _answers, tables: tables["rc"] is not None,
    ),
    Question(
        "link", "choice", "How does its computer reach the board?",
        "usb: its plug; uart: two pins of the board, at 3.3 V, as a Jetson's header has them; it "
        "is flashed by USB all the same",
        lambda _tables: "usb", choices=("usb", UART),
    ),
    Question(
        "cells", "count", "LiPo cells in series?", "3 for 11.1 V", cells_of, 1.0, 14.0,
        is_asked=_has_cells,
    ),
)  # fmt: skip
BY_NAME = {question.name: question for question in QUESTIONS}


def read_answer(question: Question, text: str) -> Any:
    """Return the answer that a text gives. Raises UsageFault with what was expected and got."""
    text = text.strip()
    value = _READERS[question.kind](question, text) if text else None
    if value is None:
        raise UsageFault(
            f"this is no answer to: {question.text}",
            where=question.option,
            expected=_expected(question),
            got=text or "nothing",
            remedy=question.hint,
        )
    return value


def _text(_question: Question, text: str) -> str | None:
    return text if text.isprintable() else None


def _number(question: Question, text: str) -> float | None:
    try:
        value = float(text.replace(",", ".") if text.count(",") == 1 else text)
    except ValueError:
        return None
    return value if isfinite(value) and question.low <= value <= question.high else None


def _count(question: Question, text: str) -> float | None:
    value = _number(question, text)
    return value if value is None or value != int(value) else int(value)


def _flag(_question: Question, text: str) -> bool | None:
    return _WORDS.get(text.lower())


def _three(question: Question, text: str) -> tuple[float, ...] | None:
    found = [_number(question, part) for part in text.replace(",", " ").split()]
    values = tuple(value for value in found if value is not None)
    is_whole = len(values) == len(found) == 3
    return values if is_whole and sorted(values) in (list(values), list(values[::-1])) else None


def _choice(question: Question, text: str) -> str | None:
    near = [choice for choice in question.choices if choice.startswith(text.lower())]
    return near[0] if len(near) == 1 else None


_READERS: dict[str, Callable[[Question, str], Any]] = {
    "text": _text,
    "number": _number,
    "count": _count,
    "flag": _flag,
    "three": _three,
    "choice": _choice,
}


def _expected(question: Question) -> str:
    span = f"{question.low:g} to {question.high:g}"
    return {
        "text": "a line of text",
        "flag": "yes or no",
        "choice": "one of " + ", ".join(question.choices),
        "three": f"three numbers from {span}, rising or falling: 2000,1500,1000",
    }.get(question.kind, f"a number from {span}")


def shown(value: Any) -> str:
    """Return an answer as a person would type it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(f"{each:g}" for each in value)
    return f"{value:g}" if isinstance(value, int | float) else str(value)
