"""Data files that other installed packages offer under a name, by an entry point.

The entry names ``package:file.toml``: a file in the folder of a package. Nothing of that package
is run to find it. The folder of its data is where Python would import the package from.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

VEHICLES = "tandem.vehicles"
CALIBRATIONS = "tandem.calibration_files"


def packaged_names(group: str) -> tuple[str, ...]:
    """Return the names under which packages offer files of this group, sorted."""
    return tuple(sorted(entry_points(group=group).names))


def packaged_file(group: str, name: str) -> Path | None:
    """Return the file that a package offers under this name, or None if none does.

    The file need not exist: whoever reads it says so.
    """
    for entry in entry_points(group=group, name=name):
        package, _, file = entry.value.partition(":")
        found = find_spec(package)
        for folder in found.submodule_search_locations or () if found else ():
            return Path(folder, file)
        return Path(package, file)
    return None
