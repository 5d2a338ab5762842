"""What happens to a car's commands, as a table: the line, and what becomes of who publishes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.ros.reaction.impairment import CLEAR, LineSettings

SPEED_MPS = 1.5
OTHER_MPS = 2.5  # of the second publisher, whom nobody may hear


class Event(Enum):
    """What ends the driving."""

    KILLED = "killed"
    PAUSED = "paused"
    RESUMED = "paused 0.6 s, then goes on"
    CUT = "the line is cut"
    NONE = "nothing: it goes on"


@dataclass(frozen=True)
class Talk:
    """Someone publishes."""

    topic: str = "drive"
    speed_mps: float = SPEED_MPS
    hz: int = 50
    qos: str = "reliable"


@dataclass(frozen=True)
class Scenario:
    """``event`` happens to the first of ``talks``, after so long on a line that is so."""

    name: str
    event: Event
    settings: LineSettings = CLEAR
    talks: tuple[Talk, ...] = (Talk(),)
    is_quick: bool = False
    impaired_s: float = 1.5

    @property
    def goes_on(self) -> bool:
        """Somebody publishes to the end."""
        return self.event in (Event.RESUMED, Event.NONE) or len(self.talks) > 1


BEST_EFFORT = (Talk(qos="best_effort"),)
SCENARIOS = (
    Scenario("clear line, killed", Event.KILLED, is_quick=True, impaired_s=0.3),
    Scenario("clear line, paused", Event.PAUSED, impaired_s=0.3),
    Scenario("clear line, best effort, killed", Event.KILLED, talks=BEST_EFFORT, impaired_s=0.3),
    Scenario("clear line, paused for a moment", Event.RESUMED, is_quick=True, impaired_s=0.3),
    Scenario("20 % lost, then cut", Event.CUT, LineSettings(loss=0.2)),
    Scenario("20 % lost, best effort, then cut", Event.CUT, LineSettings(loss=0.2), BEST_EFFORT),
    Scenario("60 % lost", Event.NONE, LineSettings(loss=0.6), impaired_s=3.0),
    Scenario("60 ms late, then cut", Event.CUT, LineSettings(delay_s=0.06)),
    Scenario(
        "20 % lost, 20 to 60 ms late, 10 % reordered, cut", Event.CUT,
        LineSettings(loss=0.2, delay_s=0.02, jitter_s=0.04, held_back=0.1, hold_s=0.05),
        is_quick=True,
    ),
    Scenario(
        "bursts: 80 ms of each 300 come at once, cut", Event.CUT,
        LineSettings(every_s=0.3, stall_s=0.08),
    ),
    Scenario(
        "bursts: 300 ms of each 600 come at once", Event.NONE,
        LineSettings(every_s=0.6, stall_s=0.3), is_quick=True,
    ),
    Scenario(
        "gaps: 300 ms of each 1000 are lost", Event.NONE,
        LineSettings(every_s=1.0, stall_s=0.3, is_gap=True),
    ),
    Scenario("1000 commands a second, killed", Event.KILLED, talks=(Talk(hz=1000),), is_quick=True,
             impaired_s=0.5),
    Scenario(
        "1000 a second, 20 % lost, cut", Event.CUT, LineSettings(loss=0.2), (Talk(hz=1000),),
    ),
    Scenario(
        "teleop and drive at once, teleop killed", Event.KILLED,
        talks=(Talk("teleop"), Talk("drive", OTHER_MPS)), is_quick=True, impaired_s=0.5,
    ),
)  # fmt: skip
