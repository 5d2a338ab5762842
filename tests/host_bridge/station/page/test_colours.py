"""Every pair of colours that the page writes text in, by day and by night, computed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from host_bridge import station
from host_bridge.station.views import charts
from tests.support.evidence import every, some

TOKENS = Path(station.__file__).parent / "page/style/tokens.css"
CARS = [f"car-{number}" for number in range(1, 9)]
# Text, and what it may stand on
PAIRS = {
    "ink": ("ground", "panel", "raised", "bad-ground", "stripe"),
    "dim": ("ground", "panel", "raised"),
    "faint": ("panel",),
    "go": ("panel",),
    "on-go": ("go",),
    "armed": ("panel", "armed-ground"),
    "bad": ("ground", "panel", "raised", "bad-ground"),
    "park": ("panel", "park-ground"),
    "on-stop": ("stop",),
    "ground": ("ink", "bad"),
    "on-car": CARS,
    **dict.fromkeys(CARS, ("panel",)),
}


def themes() -> dict[str, dict[str, str]]:
    night, day = TOKENS.read_text().split(':root[data-theme="day"]')
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text)) for text in (night, day)]
    return {"night": found[0], "day": {**found[0], **found[1]}}


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["night", "day"])
@pytest.mark.parametrize("text", PAIRS)
def test_text_has_seven_to_one_on_all_that_it_stands_on(theme, text):
    colours = themes()[theme]
    found = {ground: contrast(colours[text], colours[ground]) for ground in PAIRS[text]}
    assert every(ratio >= 7.0 for ratio in found.values()), found


def test_contrast_is_wcags():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_plots_have_the_colours_of_the_tiles():
    for name, tokens in some(themes().items()):
        theme = charts.theme_of(name)
        assert list(theme.cars) == [tokens[car] for car in CARS]
        named = ("ink", "dim", "line", "panel", "raised")
        assert {it: getattr(theme, it) for it in named} == {it: tokens[it] for it in named}
        tones = {"DRIVING": "go", "ARMED": "armed", "STOPPED": "bad", "FAULT": "bad"}
        assert {it: theme.bands[it] for it in tones} == {it: tokens[t] for it, t in tones.items()}
        assert theme.park == tokens["park"]
