"""The choice of who drives, who holds the deadman, and under which source, checked before arming.

A program may hold the deadman of virtual cars only. It drives a real car only while a person holds
the deadman: an attended program under the person's source, an autonomous one under its own, which
needs theirs.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import entry_points
from typing import Protocol, cast

from host_bridge.core import (
    DriveCommand,
    Input,
    InputLimits,
    Observed,
    OperatorRequest,
    SeenCar,
    SourceFacts,
    Vehicle,
    VirtualSensors,
)
from host_bridge.core.errors import UsageFault, VehicleFileFault
from host_bridge.core.texts.table import source_subject
from host_bridge.drive.options import DriveOptions

GROUP = "tandem.inputs"
_EXAMPLES = {"csv": "csv:commands.csv", "script": "script:slalom"}


class InputFactory(Protocol):
    """The callable that an entry point of ``tandem.inputs`` names; it makes an input from REST.

    ``options`` are those of the command line, as text. Raises errors.TandemError.
    """

    def __call__(
        self, rest: str, options: Mapping[str, str], now_us: Callable[[], int]
    ) -> Input: ...


def input_names() -> list[str]:
    """Return the kinds of input that are installed, sorted, those of other packages included."""
    return sorted(entry_points(group=GROUP).names)


def make_input(text: str, options: Mapping[str, str], now_us: Callable[[], int]) -> Input:
    """Return the input for ``NAME:REST``, not yet open. Raises errors.TandemError."""
    name, _, rest = text.partition(":")
    for entry in entry_points(group=GROUP, name=name):
        return cast(InputFactory, entry.load())(rest, options, now_us)
    known = input_names()
    near = difflib.get_close_matches(name, known, 1)
    raise UsageFault(
        f"unknown input {name!r}",
        expected=" or ".join(_EXAMPLES.get(it, it) for it in known),
        got=text,
        remedy=f"did you mean {near[0]}?" if near else "--input script:slalom",
    )


@dataclass(frozen=True)
class Controls:
    """The opened inputs: the one that drives, and the person who holds the deadman meanwhile.

    ``person`` is somebody at a terminal, whose stop counts whoever drives. With ``needs_hand`` the
    input drives only while that person holds the deadman; a person who ``has_separate_enable``
    drives while they hold their own deadman. ``guardian`` is the source of the deadman that lets an
    autonomous source drive. ``terminal`` shows the cars to a person who drives by other means, and
    may stop.
    """

    input: Input
    source: SourceFacts
    limits: InputLimits
    person: Input | None = None
    needs_hand: bool = False
    guardian: SourceFacts | None = None
    terminal: Input | None = None

    def step(
        self,
        now_us: int,
        cars: tuple[SeenCar, ...],
        is_driving: bool,
        *,
        is_between_ticks: bool = False,
    ) -> DriveCommand:
        """Return the command of this moment, with the deadman of whoever has to hold it."""
        person = self.person
        seen = Observed(cars, is_driving, is_permitted=True, is_between_ticks=is_between_ticks)
        if self.terminal:
            self.terminal.step(now_us, seen)
        if person is None or person is self.input:
            return self.input.step(now_us, seen)
        by_person = person.step(now_us, seen)
        if not self.needs_hand:
            return self.input.step(now_us, seen)
        is_permitted = by_person.is_held and (
            by_person.permits_autonomy or not person.has_separate_enable
        )
        command = self.input.step(
            now_us, Observed(cars, is_driving, is_permitted, is_between_ticks)
        )
        lost = by_person.lost or command.lost
        if by_person.is_held and not is_permitted:
            return replace(by_person, is_by_hand=True, lost=lost)
        if is_driving and is_permitted and not command.is_held:
            person.let_go()  # the permission counts only if given while the program is ready
        return replace(
            command,
            is_held=is_permitted and command.is_held,
            input_count=by_person.input_count,
            lost=lost,
        )

    def requests(self) -> list[OperatorRequest]:
        """Return the requests besides driving since the last call."""
        return [request for it in self._all() for request in it.requests()]

    def let_go(self) -> None:
        for it in self._all():
            it.let_go()

    def is_held_by_hand(self) -> bool:
        """Return whether a person holds the deadman, not a program."""
        return self.needs_hand or self.input.is_person

    def status_text(self, now_us: int) -> str:
        """Return a sentence about the state of a program that drives; "" if there is none."""
        return "" if self.input.is_person else self.input.status_text(now_us)

    def deadman_status_text(self, now_us: int) -> str:
        """Return a sentence about the device that holds the deadman; "" if there is none."""
        return self.person.status_text(now_us) if self.person and self.is_held_by_hand() else ""

    def hint(self, now_us: int) -> str:
        """Return what the person at the deadman has to do next."""
        return self.person.hint(now_us) if self.person else ""

    async def close(self) -> None:
        for it in self._all():
            await it.close()

    def _all(self) -> list[Input]:
        every = (self.terminal, self.person, self.input)
        return list(dict.fromkeys(it for it in every if it is not None))


def _ignore_wake() -> None:
    """Do nothing: the wake-up of an input that may not wake the session."""


REMOTE = "remote"  # the source of a person who looks at a screen
# Who stands beside the car, or drives a virtual one; from afar the same input is a guest's
_BESIDE = ("seat", "gamepad", "script")
_SLOW = "seat_slow"  # a terminal that reports no releases


class DriveContext:
    """The input context of a drive: its cars and its options."""

    def __init__(
        self,
        options: DriveOptions,
        vehicles: Sequence[Vehicle],
        now_us: Callable[[], int],
        stand_in: str | None = None,
        *,
        car_names: Sequence[str] = (),
        is_virtual: bool = False,
        is_afar: bool = False,
        guest_cap_mps: float | None = None,
        wake: Callable[[], None] = _ignore_wake,
        sensors: Callable[[], Sequence[VirtualSensors]] = tuple,
    ) -> None:
        """Keep the options; ``stand_in`` is the person's source for an attended program.

        ``guest_cap_mps`` is the cap of the token by which a car that ``is_afar`` is reached.
        """
        self.vehicles = tuple(vehicles)
        self.car_names = tuple(car_names)
        self.seconds = options.seconds
        self.speed_mps = options.speed_mps
        self._cap_mps = options.cap_mps
        self.now_us = now_us
        self.wake = wake
        self.is_virtual = is_virtual
        self.is_lockstep = options.is_lockstep
        self._sensors = sensors
        self._stand_in = stand_in
        self._is_afar = is_afar
        self._guest_cap_mps = guest_cap_mps
        self._profile = options.profile.name.lower() if options.profile is not None else None

    @property
    def sensors(self) -> Sequence[VirtualSensors]:
        """Those of the cars, in lockstep."""
        return self._sensors()

    def source(self, name: str) -> SourceFacts:
        """Return the source under which an input of this name claims. Raises errors.TandemError."""
        found = source_of_all(self.vehicles, source_name(name, is_afar=self._is_afar))
        if self._stand_in is None or not found.is_attended:
            return found
        stand_in = source_name(self._stand_in, is_afar=self._is_afar)
        return source_of_all(self.vehicles, stand_in)

    def lease_s(self, source: str) -> float:
        return self.source(source).lease_s

    def limits(self, source: str) -> InputLimits:
        """Return the limits of all cars, within the caps of source, profile and request."""
        name = self.source(source).name
        caps = [s.speed_cap_mps for v in self.vehicles for s in v.sources if s.name == name]
        caps += [v.profile_caps_mps[self._profile or v.profile] for v in self.vehicles]
        asked = (self.speed_mps, self._cap_mps, self._guest_cap_mps)
        caps += [cap for cap in asked if cap is not None]
        cap_mps = min(caps)
        return InputLimits(
            min(cap_mps, *(v.speed_max_mps for v in self.vehicles)),
            min(cap_mps, *(v.reverse_max_mps for v in self.vehicles)),
            min(v.steer_max_rad for v in self.vehicles),
        )


async def open_inputs(
    options: DriveOptions,
    vehicles: Sequence[Vehicle],
    is_virtual: bool,
    chosen: Input,
    person: Input | None,
    now_us: Callable[[], int],
    terminal: Input | None = None,
    wake: Callable[[], None] = _ignore_wake,
    car_names: Sequence[str] = (),
    *,
    is_afar: bool = False,
    guest_cap_mps: float | None = None,
    sensors: Callable[[], Sequence[VirtualSensors]] = tuple,
) -> Controls:
    """Open the chosen input, and the person's, if somebody is there.

    ``is_afar``: some car is another host's; ``guest_cap_mps``: the cap of the token for it.
    ``sensors`` are those of the cars, in lockstep.

    If that fails, whatever was opened is closed again. Raises errors.TandemError.
    """
    needs_hand = not chosen.is_person and (not is_virtual or options.hand is not None)
    if needs_hand and person is None:
        raise _needs_a_hand()
    wake = _ignore_wake if chosen.is_computed else wake  # virtual time advances by ticks alone
    make_context = partial(
        DriveContext,
        options,
        vehicles,
        now_us,
        car_names=car_names,
        wake=wake,
        is_afar=is_afar,
        guest_cap_mps=guest_cap_mps,
        sensors=sensors,
    )
    context = make_context(is_virtual=is_virtual)
    opened: list[Input] = []
    try:
        if terminal is not None:
            opened.append(terminal)
            await terminal.open(context)
        if person is not None:
            opened.append(person)
            await person.open(context)
            if needs_hand:
                context = make_context(person.source)
        if chosen is not person:
            opened.append(chosen)
            await chosen.open(context)
        source = context.source(chosen.source)
        guardian = source_of_all(vehicles, source.needs) if source.needs else None
        if needs_hand and guardian and person:
            _check_guardian(source, guardian, person.source, is_afar=is_afar)
    except BaseException:
        for it in reversed(opened):
            await it.close()
        raise
    limits = context.limits(chosen.source)
    return Controls(chosen, source, limits, person, needs_hand, guardian, terminal)


def source_name(name: str, *, is_afar: bool) -> str:
    """Return the source as which an input claims: a guest's from afar, else its own.

    Raises errors.UsageFault for a terminal that reports no releases, from afar: its lease is
    longer than a guest's.
    """
    if is_afar and name == _SLOW:
        raise UsageFault(
            "this terminal does not report the release of keys, and a guest is lent no source "
            "that may be silent for as long as it is",
            expected="kitty, foot, Ghostty or WezTerm, or a gamepad",
            remedy="run it in one of these, or with --input gamepad",
        )
    return REMOTE if is_afar and name in _BESIDE else name


def source_of_all(vehicles: Sequence[Vehicle], name: str) -> SourceFacts:
    """Return the source of this name, which all cars must have alike: they get the same claims.

    Raises errors.VehicleFileFault or errors.UsageFault if they have not.
    """
    found = [source for vehicle in vehicles for source in vehicle.sources if source.name == name]
    if len(found) < len(vehicles):
        raise VehicleFileFault(
            f"the vehicle has no source {name}",
            where=vehicles[0].path,
            expected=f"a table [sources.{name}]",
            remedy="add it, as the other vehicle files have it, and write the configuration",
        )
    if any(
        (s.id, s.mask, s.lease_s) != (found[0].id, found[0].mask, found[0].lease_s) for s in found
    ):
        raise UsageFault(
            f"these cars do not understand the same claims: their sources {name} differ",
            expected="the same place, actuators and lease in all vehicle files",
            remedy="drive cars of one vehicle together",
        )
    return found[0]


def _check_guardian(
    source: SourceFacts, guardian: SourceFacts, person: str, *, is_afar: bool
) -> None:
    """Raise errors.UsageFault if the person is not the one whom an autonomous source needs."""
    hand = person if person == _SLOW else source_name(person, is_afar=is_afar)
    if hand != guardian.name:
        raise _needs_releases() if hand == _SLOW else _no_guardian(source, hand)


def _needs_releases() -> UsageFault:
    return UsageFault(
        "this terminal does not report the release of keys, and a script drives a real car only "
        "while SPACE is held",
        expected="kitty, foot, Ghostty or WezTerm",
        remedy="run it in one of these; virtual cars (sim://nigel) need none",
    )


def _no_guardian(source: SourceFacts, hand: str) -> UsageFault:
    return UsageFault(
        f"{source_subject(source.name)} drives only while {source_subject(source.needs or '')} "
        f"holds the deadman, and here {source_subject(hand)} holds it",
        expected=f'[sources.{source.name}] with needs = "{hand}" in the vehicle file',
        remedy="write that into a vehicle file of your own, and the configuration to the car; or "
        "hold SPACE of a terminal instead",
    )


def _needs_a_hand() -> UsageFault:
    return UsageFault(
        "a real car is among them: a program drives only while somebody holds SPACE",
        expected="a terminal as standard input, or --hand gamepad",
        remedy="run it in a terminal, or hold RB of a gamepad; virtual cars (sim://nigel) play "
        "programs without one",
    )
