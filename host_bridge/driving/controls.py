"""Who holds the deadman, and under which source: chosen once it is known what the terminal can do.

A program may hold it for virtual cars only. With a real car a file is played while SPACE is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from host_bridge.domain import Input, SourceFacts, Vehicle
from host_bridge.driving.plan import Plan
from host_bridge.errors import UsageFault, VehicleFileFault
from host_bridge.interfaces.autodrive import Script, SimulatedCar, simulated_car
from host_bridge.interfaces.csv_file import CsvFile
from host_bridge.interfaces.keyboard import SEAT, SLOW_SEAT, Keyboard, Reach, Releases, Seat
from host_bridge.interfaces.script import Constant, Manoeuvre, Player, Slalom

DEVKIT = "devkit"  # the source of Devkit scripts
SCRIPT = "script"  # the source with a scripted deadman
MANOEUVRES = ("straight", "slalom", "skidpad")
_SECONDS = 10.0
_PART = 0.5  # of the top speed and of full lock, where a manoeuvre is not told otherwise
_SLALOM_M = 4.0  # wheelbases per radian of the slalom's phase: a bend that every car can follow


@dataclass(frozen=True)
class Controls:
    """An input of the session, and what it is made of."""

    source: SourceFacts
    reach: Reach
    person: Input
    seat: Seat | None = None  # whose deadman counts
    player: Player | None = None
    script: Script | None = None  # an autonomous source, and whose deadman lets it drive:
    guardian: SourceFacts | None = None

    def words(self, now_us: int) -> str:
        """What has to be known of a program that drives; "" without one."""
        return self.script.words(now_us) if self.script else ""

    def let_go(self) -> None:
        if self.seat:
            self.seat.let_go()
        if self.player:
            self.player.is_started = False


def choose(
    plan: Plan, vehicles: Sequence[Vehicle], is_virtual: bool, keyboard: Keyboard | None
) -> Controls:
    """The controls that are permitted. Raises errors.TandemError.

    The keyboard, if there is one, gets the seat: its E and Esc count whoever drives.
    """
    is_scripted = plan.input_kind != "keyboard" and is_virtual
    if keyboard is None and not is_scripted:
        raise _needs_a_hand(plan)
    has_releases = keyboard is not None and keyboard.releases is Releases.REPORTED
    if plan.input_kind == "devkit":
        return _let_script(plan, vehicles, is_scripted, has_releases, keyboard)
    name = SCRIPT if is_scripted else SEAT if has_releases else SLOW_SEAT
    source = source_of_all(vehicles, name)
    reach = reach_of(plan, vehicles, source)
    seat = Seat(reach, has_releases)
    if keyboard:
        keyboard.seat = seat
    if plan.input_kind == "keyboard":
        return Controls(source, reach, seat, seat)
    manoeuvre = manoeuvre_of(plan, vehicles[0], reach)
    hand = None if is_scripted else seat
    player = Player(manoeuvre, hand)
    return Controls(source, reach, player, hand, player)


def _let_script(
    plan: Plan,
    vehicles: Sequence[Vehicle],
    is_scripted: bool,
    has_releases: bool,
    keyboard: Keyboard | None,
) -> Controls:
    """A Devkit script under its own source, while the seat's deadman is held."""
    if not (has_releases or is_scripted):
        raise _needs_releases()
    source = source_of_all(vehicles, DEVKIT)
    guardian = source_of_all(vehicles, str(source.needs))
    reach = reach_of(plan, vehicles, source)
    seat = Seat(reach, has_releases)
    if keyboard:
        keyboard.seat = seat
    hand = None if is_scripted else seat
    like = _like(plan, vehicles[0])
    script = Script(plan.input_name, like, reach, source.lease_s, hand)
    return Controls(source, reach, script, hand, script=script, guardian=guardian)


def _like(plan: Plan, vehicle: Vehicle) -> SimulatedCar:
    try:
        return simulated_car(plan.like or vehicle.name)
    except ValueError as error:
        raise UsageFault(
            str(error), remedy="say which one the script was written for: --like roboracer"
        ) from None


def source_of_all(vehicles: Sequence[Vehicle], name: str) -> SourceFacts:
    """One claim goes to all cars, so all have to know its source alike."""
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


def reach_of(plan: Plan, vehicles: Sequence[Vehicle], source: SourceFacts) -> Reach:
    """What every car can do, within the source's cap and the one that was asked for."""
    caps = [s.speed_cap_mps for v in vehicles for s in v.sources if s.name == source.name]
    cap_mps = min([*caps, *([plan.speed_mps] if plan.speed_mps is not None else [])])
    return Reach(
        min(cap_mps, *(v.speed_max_mps for v in vehicles)),
        min(cap_mps, *(v.reverse_max_mps for v in vehicles)),
        min(v.steer_max_rad for v in vehicles),
    )


def manoeuvre_of(plan: Plan, vehicle: Vehicle, reach: Reach) -> Manoeuvre:
    """What a file or a name stands for. Raises errors.DataFileFault, errors.UsageFault."""
    if plan.input_kind == "csv":
        top_mps = vehicle.speed_max_mps if plan.speed_mps is None else reach.speed_mps
        return CsvFile(Path(plan.input_name), replace(vehicle, speed_max_mps=top_mps))
    speed_mps = reach.speed_mps * (1.0 if plan.speed_mps is not None else _PART)
    seconds = plan.seconds or _SECONDS
    steer_rad = reach.steer_rad * _PART
    if plan.input_name == "slalom":
        period_s = 6.2832 * _SLALOM_M * vehicle.wheelbase_m / max(speed_mps, 0.01)
        return Slalom(speed_mps, seconds, steer_rad, period_s)
    if plan.input_name in MANOEUVRES:
        return Constant(speed_mps, seconds, steer_rad if plan.input_name == "skidpad" else 0.0)
    raise UsageFault(
        f"unknown manoeuvre {plan.input_name!r}",
        expected=f"one of {', '.join(MANOEUVRES)}",
        remedy="--input script:slalom",
    )


def _needs_releases() -> UsageFault:
    return UsageFault(
        "this terminal does not report the release of keys, and a script drives a real car only "
        "while SPACE is held",
        expected="kitty, foot, Ghostty or WezTerm",
        remedy="run it in one of these; virtual cars (sim://nigel) need none",
    )


def _needs_a_hand(plan: Plan) -> UsageFault:
    if plan.input_kind == "keyboard":
        what = "driving by keys needs a terminal, and standard input is none"
    else:
        what = "a real car is among them: a program drives only while somebody holds SPACE"
    return UsageFault(
        what,
        expected="a terminal as standard input",
        remedy="run it in a terminal; virtual cars (sim://nigel) play programs without one",
    )
