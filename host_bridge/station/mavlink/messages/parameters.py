"""A car's configuration as MAVLink parameters: at most 16 capitals each, as 32-bit floats.

All values are in the units of the car's program (``mm_s``, ``ms``), which their names end with.
Tables are left out but for the caps, leases and priorities of its sources; `tandem config read`
has all. One can be written, under the rules of `tandem config write`.
"""

from __future__ import annotations

from typing import Any

from host_bridge.core import Vehicle
from host_bridge.station.mavlink.messages.dialect import mavlink

_LONGEST = 16  # letters of PARAM_VALUE.param_id
WRITABLE = "STEP_US"
_OF_SOURCES = ("source_cap_mm_s", "source_lease_ms", "source_priority")
_PROFILES = ("stand", "track", "race")  # the order of profile_cap_mm_s
SYSTEM_ID = "MAV_SYS_ID"


class Parameters:
    """The parameters of one car in a fixed order. There is always one: the number of its system.

    A station waits for the end of the list before it is content, and cannot tell none from silence.
    """

    def __init__(self, vehicle: Vehicle | None, system: int) -> None:
        self.values: dict[str, float] = {SYSTEM_ID: float(system)}
        if vehicle is not None:
            self.values.update(_values(vehicle))
        self._names = list(self.values)

    def all(self) -> list[Any]:
        """Return PARAM_VALUE of each."""
        return [self._message(index) for index in range(len(self._names))]

    def find(self, name: str, index: int = -1) -> Any | None:
        """Return PARAM_VALUE by index, or by name with the index -1; None if there is none."""
        if index < 0:
            index = self._names.index(name.upper()) if name.upper() in self.values else -1
        return self._message(index) if 0 <= index < len(self._names) else None

    def _message(self, index: int) -> Any:
        name = self._names[index]
        return mavlink.MAVLink_param_value_message(
            name.encode(),
            self.values[name],
            mavlink.MAV_PARAM_TYPE_REAL32,
            len(self._names),
            index,
        )


def short_name(name: str) -> str:
    """Return a name of at most 16 capitals: its underscores are dropped from the right.

    Capitals, because MAVProxy turns what a person types into them.
    """
    while len(name) > _LONGEST and "_" in name:
        name = "".join(name.rpartition("_")[::2])
    return name[:_LONGEST].upper()


def _values(vehicle: Vehicle) -> dict[str, float]:
    rows = vehicle.parameters
    named = {name: values[0] for name, values in rows.items() if len(values) == 1}
    for profile, cap in zip(_PROFILES, rows["profile_cap_mm_s"], strict=True):
        named[f"{profile}_cap_mm_s"] = cap
    for source in vehicle.sources:
        for row in _OF_SOURCES:
            named[f"{source.name}_{row.partition('_')[2]}"] = rows[row][source.id]
    return {short_name(name): float(value) for name, value in named.items()}
