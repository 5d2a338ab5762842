"""What is to be driven, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from host_bridge.domain import Input, Profile


@dataclass(frozen=True)
class Plan:
    """The command line, parsed. The first car is the one that the others are compared with."""

    cars: tuple[str | None, ...]  # names or URIs; None is the only one that is served
    # NAME:REST, as the entry points of tandem.inputs have it, or an input that is made already
    input: str | Input = "keyboard"
    options: Mapping[str, str] = field(default_factory=dict)  # of the input, by name
    hand: str | None = None  # who holds a program's deadman: an input of a person's
    vehicle: str | None = None
    record: Path | None = None
    seconds: float | None = None
    speed_mps: float | None = None  # top speed; the vehicle's and the source's hold besides
    profile: Profile | None = None  # None: as each vehicle file says
    cap_mps: float | None = None  # on the cars themselves, whoever drives them
    is_json: bool = False
    is_watched: bool = True  # whoever sits at the terminal has it: False for a second one's drive
    is_unarmed: bool = False  # begins stopped: a person arms, or whoever may arm virtual cars
    waits_for_reader: bool = False  # no line of its output is left out: whoever reads is waited for
    is_lockstep: bool = False  # in virtual time: the host's clock is a loop's that never waits
