"""The pictures of the guide (``hardware/bring_up.md``): boxes and lines, from tables.

They show which parts are connected, where they sit and which computer drives; the names, sizes and
pins of wires are in the harness. Coordinates are in units of a box's height, y goes up.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TypeAlias

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle

At: TypeAlias = tuple[float, float]
BoxRow: TypeAlias = tuple[str, float, float, float, float, str]  # text, left, bottom, w, h, kind
LineRow: TypeAlias = tuple[str, tuple[At, ...], str, At]  # kind, corners, text, its place
TextRow: TypeAlias = tuple[str, At, float]  # text, left and middle, size

_FILLS = {
    "board": "#cfe2f3",
    "stop": "#f4cccc",
    "power": "#fce5cd",
    "motion": "#d9ead3",
    "computer": "#d9d2e9",
    "person": "#ffffff",
    "deck": "#f6f6f6",
    "wheel": "#777777",
}
_STROKES = {  # colour, width, dashes
    "drive": ("#c00000", 3.5, "-"),
    "supply": ("#e69138", 2.0, "-"),
    "signal": ("#1155cc", 1.4, "-"),
    "loop": ("#000000", 1.8, "--"),
    "usb": ("#6a329f", 2.0, "-"),
    "radio": ("#6a329f", 1.6, ":"),
}
_KEY = {
    "drive": "drive: thick and short",
    "supply": "supplies, by F2",
    "signal": "signal, 3.3 V",
    "loop": "runstop loop",
    "usb": "USB",
    "radio": "WiFi",
}


@dataclass(frozen=True)
class GuidePicture:
    """One picture: its boxes, lines and texts, and its size."""

    title: str
    width: float
    height: float
    boxes: tuple[BoxRow, ...]
    lines: tuple[LineRow, ...] = ()
    texts: tuple[TextRow, ...] = ()


GUIDE_PICTURES = {
    "guide_overview": GuidePicture(
        "What hangs together (F1TENTH with a plain ESC; a VESC has no K2)",
        16.4,
        8.9,
        (
            ("B1\nbattery, LiPo", 0.3, 7.0, 2.0, 1.0, "power"),
            ("F1\nfuse", 3.3, 7.0, 1.1, 1.0, "power"),
            ("S1\nswitch by hand", 5.4, 7.0, 2.1, 1.0, "stop"),
            ("K2\ndrive relay", 8.5, 7.0, 1.9, 1.0, "stop"),
            ("ESC", 11.4, 7.0, 1.5, 1.0, "motion"),
            ("Motor", 14.2, 7.0, 1.6, 1.0, "motion"),
            ("F2\nfuse", 0.7, 5.2, 1.1, 0.9, "power"),
            ("PS1  5 V", 0.4, 3.4, 1.7, 0.9, "power"),
            ("PS2  6 V", 13.9, 4.5, 1.6, 0.9, "power"),
            ("RS1\nrunstop board\n(K1 is on it)", 4.6, 3.2, 2.4, 1.8, "stop"),
            ("SB1\nrunstop button", 4.6, 0.6, 2.4, 1.1, "stop"),
            ("Pico 2\nthe car's program", 9.0, 2.6, 2.6, 1.8, "board"),
            ("Servo", 13.9, 2.9, 1.6, 0.9, "motion"),
            ("Encoder, IMU,\nRC receiver", 13.4, 0.9, 2.4, 1.1, "motion"),
            ("Computer that rides along", 8.6, 0.5, 3.4, 0.9, "computer"),
        ),
        (
            ("drive", ((2.3, 7.5), (3.3, 7.5)), "", (0, 0)),
            ("drive", ((4.4, 7.5), (5.4, 7.5)), "", (0, 0)),
            ("drive", ((7.5, 7.5), (8.5, 7.5)), "", (0, 0)),
            ("drive", ((10.4, 7.5), (11.4, 7.5)), "", (0, 0)),
            ("drive", ((12.9, 7.5), (14.2, 7.5)), "", (0, 0)),
            ("supply", ((1.25, 7.0), (1.25, 6.1)), "", (0, 0)),
            ("supply", ((1.25, 5.2), (1.25, 4.3)), "", (0, 0)),
            ("supply", ((1.8, 5.7), (14.7, 5.7), (14.7, 5.4)), "", (0, 0)),
            ("supply", ((2.1, 3.85), (4.6, 3.85)), "", (0, 0)),
            ("supply", ((3.3, 3.85), (3.3, 2.3), (8.0, 2.3), (8.0, 3.0), (9.0, 3.0)), "", (0, 0)),
            ("supply", ((14.7, 4.5), (14.7, 3.8)), "", (0, 0)),
            ("supply", ((6.3, 5.0), (6.3, 6.3), (9.4, 6.3), (9.4, 7.0)), "coil of K2", (6.5, 6.55)),
            ("loop", ((5.2, 3.2), (5.2, 1.7)), "L+", (4.65, 2.65)),
            ("loop", ((6.4, 3.2), (6.4, 1.7)), "L-", (6.5, 2.65)),
            ("signal", ((7.0, 4.1), (9.0, 4.1)), "LIFE", (7.6, 4.3)),
            ("signal", ((7.0, 3.7), (9.0, 3.7)), "LOOP, CONTACT", (7.1, 3.5)),
            (
                "signal",
                ((10.6, 4.4), (10.6, 5.1), (12.1, 5.1), (12.1, 7.0)),
                "throttle",
                (10.7, 5.3),
            ),
            ("signal", ((11.6, 3.4), (13.9, 3.4)), "steering", (12.1, 3.6)),
            ("signal", ((13.4, 1.5), (12.6, 1.5), (12.6, 2.9), (11.6, 2.9)), "", (0, 0)),
            ("usb", ((10.3, 1.4), (10.3, 2.6)), "USB", (10.4, 1.9)),
        ),
    ),
    "guide_deck": GuidePicture(
        "Where it sits: a 1:10 car from above, its front to the right",
        15.4,
        9.4,
        (
            ("", 1.0, 1.6, 13.4, 5.8, "deck"),
            ("", 1.6, 7.5, 2.2, 0.8, "wheel"),
            ("", 1.6, 0.7, 2.2, 0.8, "wheel"),
            ("", 11.2, 7.5, 2.2, 0.8, "wheel"),
            ("", 11.2, 0.7, 2.2, 0.8, "wheel"),
            ("Motor,\nencoder", 1.7, 3.4, 1.6, 1.4, "motion"),
            ("ESC or\nVESC", 3.8, 3.4, 1.5, 1.4, "motion"),
            ("Battery, strapped, low", 3.8, 1.9, 5.0, 1.1, "power"),
            ("K2", 3.8, 5.1, 1.0, 0.9, "stop"),
            ("F1-F3", 5.1, 5.1, 1.2, 0.9, "power"),
            ("Computer, upper deck", 5.8, 3.4, 3.2, 1.4, "computer"),
            ("RS1", 7.0, 5.1, 1.4, 0.9, "stop"),
            ("Pico 2", 9.0, 5.1, 1.7, 0.9, "board"),
            ("PS1", 9.4, 1.9, 0.9, 0.9, "power"),
            ("PS2", 10.5, 1.9, 0.9, 0.9, "power"),
            ("IMU", 9.4, 3.7, 0.9, 0.8, "motion"),
            ("RC", 11.2, 5.3, 0.9, 0.7, "motion"),
            ("Servo", 12.5, 3.5, 1.5, 1.1, "motion"),
            ("SB1", 1.7, 6.2, 1.2, 0.9, "stop"),
            ("S1", 3.2, 6.3, 1.0, 0.8, "stop"),
        ),
        (("usb", ((9.85, 6.0), (9.85, 8.3)), "", (0, 0)),),
        (
            ("SB1 and S1 at the rear, on top: a hand finds them", (0.9, 8.65), 9),
            ("USB plug of the board to the outside", (8.2, 8.65), 9),
            ("thick wires in the rear ...", (4.2, 1.1), 9),
            ("... signals in front", (8.6, 1.1), 9),
            ("where they meet they cross at a right angle", (4.2, 0.6), 9),
            ("flat, near the middle", (10.5, 4.1), 8),
        ),
    ),
    "guide_loop": GuidePicture(
        "The runstop loop: one wire from L+ to L-, through every button",
        14.6,
        8.4,
        (
            ("RS1", 0.6, 2.0, 2.4, 4.4, "stop"),
            ("SB1 on the car\nnormally closed", 4.8, 5.1, 2.7, 1.2, "stop"),
            ("a second button:\nin series", 11.2, 3.5, 2.7, 1.3, "stop"),
            ("Pico 2\npin LOOP", 4.8, 0.3, 2.7, 1.1, "board"),
        ),
        (
            ("loop", ((3.0, 5.7), (4.8, 5.7)), "L+", (3.6, 5.95)),
            ("loop", ((7.5, 5.7), (12.5, 5.7), (12.5, 4.8)), "", (0, 0)),
            ("loop", ((12.5, 3.5), (12.5, 2.6), (3.0, 2.6)), "L-", (3.6, 2.85)),
            ("signal", ((1.8, 2.0), (1.8, 0.85), (4.8, 0.85)), "", (0, 0)),
        ),
        (
            (
                "It carries the coil of K1: open anywhere, K1 falls, and the drive's power.",
                (0.6, 7.4),
                9,
            ),
            ("closed:  LOOP 3.3 V, K1 pulls once the program's LIFE toggles", (3.5, 4.5), 9),
            ("open:     LOOP 0 V, K1 at rest, whatever the program does", (3.5, 4.0), 9),
            ("A button in parallel to another one stops nothing.", (8.1, 0.85), 9),
        ),
    ),
    "guide_computers": GuidePicture(
        "Which computer drives",
        15.0,
        7.9,
        (
            ("You", 0.4, 5.6, 1.2, 1.0, "person"),
            ("Laptop\ntandem drive runs here", 2.6, 5.5, 3.6, 1.2, "computer"),
            ("Board of a car\non its stand", 9.6, 5.5, 3.4, 1.2, "board"),
            ("You", 0.4, 1.5, 1.2, 1.0, "person"),
            ("Laptop\na terminal, ssh", 2.6, 1.4, 2.8, 1.2, "computer"),
            ("", 7.2, 0.7, 7.4, 2.5, "deck"),
            ("Jetson, Pi, small PC\ntandem drive runs here", 7.5, 1.4, 3.6, 1.2, "computer"),
            ("Board", 12.5, 1.4, 1.8, 1.2, "board"),
        ),
        (
            ("usb", ((6.2, 6.1), (9.6, 6.1)), "a USB cable", (7.0, 6.35)),
            ("radio", ((5.4, 2.0), (7.5, 2.0)), "WiFi", (5.9, 2.25)),
            ("usb", ((11.1, 2.0), (12.5, 2.0)), "USB", (11.4, 2.25)),
        ),
        (
            ("On the stand, steps 1 to 6", (0.4, 7.15), 11),
            ("On the floor, from step 7 on: the program that drives rides along", (0.4, 4.1), 11),
            ("WiFi gone: the drive on the car hears no key, and lets go", (0.4, 3.5), 9.5),
            ("on the car", (7.4, 2.95), 9),
        ),
    ),
}


def guide_names() -> tuple[str, ...]:
    """Return the names of the guide's pictures."""
    return tuple(GUIDE_PICTURES)


def guide_source(name: str) -> list[object]:
    """Return all data that a picture is drawn from."""
    picture = GUIDE_PICTURES[name]
    rows = [
        picture.title,
        picture.width,
        picture.height,
        picture.boxes,
        picture.lines,
        picture.texts,
    ]
    return [*rows, _FILLS, _STROKES, _KEY]


def draw_guide(name: str) -> tuple[str, bytes]:
    """Return a picture as SVG and PNG; text in the SVG stays text."""
    picture = GUIDE_PICTURES[name]
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.5}):
        figure = _figure(picture)
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=110, metadata={"Software": None})
    return svg.getvalue(), png.getvalue()


def _figure(picture: GuidePicture) -> Figure:
    figure = Figure(figsize=(picture.width * 0.62, (picture.height + 0.9) * 0.62))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, picture.width)
    axes.set_ylim(-0.6, picture.height + 0.3)
    axes.set_axis_off()
    axes.text(0.3, picture.height - 0.1, picture.title, fontsize=12, weight="bold", va="center")
    for kind, corners, text, at in picture.lines:
        colour, width, dashes = _STROKES[kind]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        axes.plot(xs, ys, dashes, color=colour, linewidth=width, solid_capstyle="round", zorder=2)
        axes.text(*at, text, fontsize=8.5, color=colour, va="center", zorder=4)
    for text, left, bottom, width, height, fill in picture.boxes:
        shape = _shape(left, bottom, width, height, is_plain=fill in ("deck", "wheel"))
        shape.set(facecolor=_FILLS[fill], edgecolor="#444444", linewidth=1.0)
        axes.add_patch(shape)
        centre = left + width / 2, bottom + height / 2
        axes.text(*centre, text, ha="center", va="center", zorder=4)
    for text, left_middle, size in picture.texts:
        axes.text(*left_middle, text, fontsize=size, va="center", zorder=4)
    kinds = list(dict.fromkeys(kind for kind, *_ in picture.lines))
    for place, kind in enumerate(kinds):
        colour, width, dashes = _STROKES[kind]
        x = 0.4 + place * 3.0 + (1.2 if place and "drive" in kinds else 0.0)
        axes.plot((x, x + 0.5), (-0.25, -0.25), dashes, color=colour, linewidth=width)
        axes.text(x + 0.65, -0.25, _KEY[kind], fontsize=8, va="center")
    return figure


def _shape(left: float, bottom: float, width: float, height: float, *, is_plain: bool) -> Patch:
    """Return a box: background boxes are plain and below the lines, others rounded and above."""
    if is_plain:
        return Rectangle((left, bottom), width, height, zorder=1)
    style = "round,pad=0,rounding_size=0.15"
    return FancyBboxPatch((left, bottom), width, height, boxstyle=style, zorder=3)
