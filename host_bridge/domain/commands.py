"""What people and programs want of a car."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Claim:
    """One source's wish for some actuators, for a lease's time. Angles to the left."""

    source_id: int
    sequence: int  # modulo 2**16, one writer per epoch and source
    mask: int  # actuator bits
    steer_rad: float
    speed_mps: float
    brake: float  # 0 to 1
    is_held: bool
    lease_s: float
    stamp_us: int  # when it was decided, the host's clock
    permits_autonomy: bool = False
    input_count: int = 0  # of the input device's own reports, modulo 2**16
    lights: int = 0


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person at an input wants at this moment. The default is to let go."""

    steer_rad: float = 0.0
    speed_mps: float = 0.0
    brake: float = 0.0  # 0 to 1
    is_held: bool = False  # the deadman, now
    permits_autonomy: bool = False
    input_count: int = 0
    lights: int = 0


class Input(Protocol):
    """A person's hands, or a program's."""

    def read(self, now_us: int) -> Wish:
        """The wish at this moment. Never blocks; called a hundred times a second."""
