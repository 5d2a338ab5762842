"""The options of a drive: what is driven, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from host_bridge.core import Input, Profile


@dataclass(frozen=True)
class DriveOptions:
    """The options of a drive. The first car is the one that the others are compared with."""

    cars: tuple[str | None, ...]  # names or URIs; None is the only car that is served
    # NAME:REST, see the entry points of tandem.inputs, or an input that is made already
    input: str | Input = "keyboard"
    input_options: Mapping[str, str] = field(default_factory=dict)  # of the input, by name
    hand: str | Input | None = None  # the person's input that holds a program's deadman
    vehicle: str | None = None
    record: Path | None = None
    seconds: float | None = None
    speed_mps: float | None = None  # top speed, besides the vehicle's and the source's caps
    profile: Profile | None = None  # None: as each vehicle file says
    cap_mps: float | None = None  # on the cars themselves, whoever drives them
    is_json: bool = False
    is_watched: bool = True  # it has the terminal; False for the second of two drives
    is_unarmed: bool = False  # begins stopped, until a person (or a virtual cars' input) arms
    arm_clears: bool = True  # to arm clears a stop first; False: a person unlocks it before
    is_afar: bool = False  # the person looks at a screen elsewhere: a person beside the cars arms
    waits_for_reader: bool = False  # drop no line of output: block for the reader instead
    is_lockstep: bool = False  # in virtual time: the host's clock is that of a virtual loop
