"""The plots as data: options and series for ECharts. Pure functions."""

from __future__ import annotations

import io
from collections.abc import Iterable
from csv import writer
from typing import Any, NamedTuple

from host_bridge.station.views.feed import Point


class Theme(NamedTuple):
    """The colours of night or day, as page/style/tokens.css has them."""

    ink: str
    dim: str
    line: str
    panel: str
    raised: str
    cars: tuple[str, ...]  # 1 to 8
    bands: dict[str, str]  # of the words of states; of all others it is park
    park: str


NIGHT = Theme(
    ink="#f4f7f9",
    dim="#b7c3cd",
    line="#3a4751",
    panel="#161c21",
    raised="#222b32",
    cars=(
        "#ff8270", "#6fb9ff", "#f2dc5c", "#cda8ff", "#45d6c1", "#ffae5c", "#e8eef2", "#ff9fd0",
    ),
    bands={"DRIVING": "#4fe38a", "ARMED": "#ffc93f", "STOPPING": "#ffa69c", "STOPPED": "#ffa69c",
           "FAULT": "#ffa69c"},
    park="#b9d3ea",
)  # fmt: skip
DAY = Theme(
    ink="#080c0f",
    dim="#36434d",
    line="#aab6c0",
    panel="#ffffff",
    raised="#eef2f5",
    cars=(
        "#a51e16", "#0a559f", "#6b5200", "#6a2bb0", "#005f56", "#8a4200", "#3d4a55", "#9c1268",
    ),
    bands={"DRIVING": "#06592a", "ARMED": "#6b4300", "STOPPING": "#8f0016", "STOPPED": "#8f0016",
           "FAULT": "#8f0016"},
    park="#204a6e",
)  # fmt: skip
LEFT, RIGHT, TOP, BOTTOM = 45, 12, 54, 24  # margins around the plot, in pixels
# Units whose values lie far from 0: a plot of any other begins or ends there
_FROM_ANYWHERE = ("m", "V", "degrees C", "counts")
# title, unit, lines of a car (or of a pair): each the key of a number, and a line style
PLOTS = (
    ("speed", "m/s", (("speed_mps", "solid"), ("target_mps", "dotted"))),
    ("steering, to the left", "degrees", (("steer_deg", "solid"),)),
    ("battery", "V", (("battery_v", "solid"),)),
)
PAIR_PLOTS = (
    ("paths apart", "m", (("path", "solid"),)),
    ("skew of the same command", "ms", (("skew_ms", "solid"),)),
)


def theme_of(name: str) -> Theme:
    """Return the colours by the name that the station's page gives: "day", or any other."""
    return DAY if name == "day" else NIGHT


def options(title: str, unit: str, theme: Theme, *, is_map: bool = False) -> dict[str, Any]:
    """Return the options of an empty plot; a map has its own scales, and no cursor."""
    axis = {
        "splitLine": {"lineStyle": {"color": theme.line}},
        "axisLabel": {"color": theme.dim, "showMinLabel": False, "showMaxLabel": False},
    }
    return {
        **({} if is_map else _cursor_and_zoom(title, theme)),
        "animation": False,
        "aria": {"enabled": True},
        "title": {
            "text": f"{title}, {unit}",
            "left": 0,
            "padding": 0,
            # Pixels of a title and of the legend below it
            "textStyle": {"fontSize": 13, "color": theme.ink},
        },
        "legend": {
            "top": 24,  # pixels below the top, under the title
            "left": 0,
            "type": "scroll",
            "textStyle": {"color": theme.dim, "fontSize": 11},  # pixels, as axes have
            # so short that four lines of a car and its twin have room beside one another
            "itemWidth": 24,
            "itemStyle": {"opacity": 0},  # of the disc that ECharts draws on a stroke
            "itemGap": 8,
            "pageIconColor": theme.ink,
            "pageTextStyle": {"color": theme.dim},
        },
        "grid": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "xAxis": {"type": "value", "min": "dataMin", "max": "dataMax", **axis},
        # In some 3 parts: below the page's map a plot is 70 px high, and a number 12
        "yAxis": {"type": "value", "scale": unit in _FROM_ANYWHERE, "splitNumber": 3, **axis},
        "series": [],
    }


def _cursor_and_zoom(title: str, theme: Theme) -> dict[str, Any]:
    """Return the options by which a plot shows its values, is zoomed, and is kept as a picture."""
    return {
        "tooltip": {"trigger": "axis", "confine": True, "transitionDuration": 0},
        # the wheel zooms, a drag moves; options without an end keep what a person chose
        "dataZoom": [{"type": "inside", "xAxisIndex": 0, "filterMode": "none"}],
        "toolbox": {
            "right": 0,
            "top": -6,  # its own padding lies above the title
            "itemSize": 13,  # pixels: no higher than the title beside it
            "iconStyle": {"borderColor": theme.dim},
            "feature": {
                "saveAsImage": {"title": "PNG", "name": title, "backgroundColor": theme.panel},
                "restore": {"title": "All of it"},
            },
        },
    }


def line(name: str, data: list[Point], colour: str, style: str, width: int = 2) -> dict[str, Any]:
    """Return a line of a plot, or a path of the map."""
    return {
        "name": name,
        "type": "line",
        "symbol": "none",  # so that the legend shows the stroke alone, dashed or not
        "sampling": "minmax",  # of more points than pixels no peak is lost
        "data": data,
        "color": colour,
        "lineStyle": {"type": style, "width": width},
    }


def csv(plots: Iterable[dict[str, Any]]) -> str:
    """Return what these plots show as CSV, a row for each point."""
    rows = [("plot", "line", "t_s", "value")]
    for plot in plots:
        title = plot["title"]["text"]
        for one in plot["series"]:
            rows += [(title, one["name"], t_s, value) for t_s, value in one["data"]]
    text = io.StringIO()
    writer(text).writerows(rows)
    return text.getvalue()


def dots(name: str, data: list[Point], colour: str) -> dict[str, Any]:
    """Return the points of a LIDAR scan."""
    return {
        "name": name,
        "type": "scatter",
        "symbolSize": 3,
        "data": data,
        "color": colour,
        "silent": True,
        "itemStyle": {"opacity": 0.7},  # points that overlap are seen as more
    }


def car(pose: tuple[float, float, float], colour: str) -> dict[str, Any]:
    """Return an arrow at a car's pose."""
    x_m, y_m, yaw_rad = pose
    return {
        "type": "scatter",
        "symbol": "arrow",
        "symbolSize": [14, 18],  # pixels
        "symbolRotate": yaw_rad * 57.29578 - 90.0,  # degrees; the arrow points upwards
        "data": [[x_m, y_m]],
        "color": colour,
        "silent": True,
        "z": 5,  # above the trails
    }


def marker(at_s: float, theme: Theme) -> dict[str, Any]:
    """Return the line that marks the slider's time in a log."""
    style = {"color": theme.ink, "type": "solid"}
    return {"silent": True, "symbol": "none", "lineStyle": style, "data": [{"xAxis": at_s}],
            "label": {"show": False}}  # fmt: skip


def frame(plot: dict[str, Any], points: list[Point], wide: float) -> None:
    """Set the axis limits of a plot ``wide`` times as wide as high, with equal scales."""
    xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
    # a tenth of room around
    half = max((max(xs) - min(xs)) / (2 * wide), (max(ys) - min(ys)) / 2, 0.5) * 1.1
    middle_x, middle_y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    plot["xAxis"] |= {"min": middle_x - wide * half, "max": middle_x + wide * half}
    plot["yAxis"] |= {"min": middle_y - half, "max": middle_y + half}
