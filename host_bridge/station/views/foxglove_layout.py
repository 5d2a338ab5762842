"""Makes Foxglove's layout for cars by their names: its 3D panel takes topics as they are written.

``foxglove_layout.json`` is the layout for a car called nigel; a variable ``car`` names the car of
plots and tables, and cannot be used in the 3D panel.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LAYOUT = Path(__file__).with_suffix(".json")
_SCENE, _LOG = "3D!scene", "Log!log"


def layout_for(cars: Sequence[str]) -> dict[str, Any]:
    """Return the layout in which these cars are drawn; plots and tables show the first."""
    layout: dict[str, Any] = json.loads(LAYOUT.read_text(encoding="utf-8"))
    was = layout["globalVariables"]["car"]
    panels = layout["configById"]
    panels[_SCENE]["topics"] = {
        topic.replace(f"/{was}/", f"/{car}/"): shown
        for car in cars
        for topic, shown in panels[_SCENE]["topics"].items()
    }
    panels[_LOG]["topicToRender"] = panels[_LOG]["topicToRender"].replace(was, cars[0])
    layout["globalVariables"]["car"] = cars[0]
    return layout
