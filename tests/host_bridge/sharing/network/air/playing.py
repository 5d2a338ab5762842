"""Plays scenarios: a guest drives a car through air, the air ends, and two logs are measured."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from host_bridge.core import State
from tests.host_bridge.sharing.network.air.field import Login, Program, invite, served
from tests.host_bridge.sharing.network.air.hub import Hub
from tests.host_bridge.sharing.network.air.measured import (
    Standstill,
    messages,
    quantile,
    round_trips_ms,
    standstill,
    ways_ms,
)
from tests.host_bridge.sharing.network.air.scenarios import Scenario
from tests.ros.reaction.impairment import CUT, Counts
from tests.support import patience

ECHO = Path(__file__).with_name("udp_echo.py")
ECHO_PORT = 27_500
VEHICLE = "f1tenth"
SPEED_MPS = 1.5
STARTS_S = 60.0
ENDS_S = 4.0  # after the end of the air: the car has stopped, and the guest has given up
DRIVEN = {int(State.ACTIVE), int(State.HOLD)}
LONGEST_S = 900.0


@dataclass
class Result:
    """What came of a scenario. ``why`` says what a person was told where nothing was driven."""

    scenario: str
    drove: bool
    why: str = ""
    stops: int = 0  # while the air was as it is said to be
    claims: int = 0
    accepted: int = 0
    way_p50_ms: float | None = None
    way_p99_ms: float | None = None
    trip_p50_ms: float | None = None
    trip_p99_ms: float | None = None
    echo_p50_ms: float | None = None
    echo_p99_ms: float | None = None
    echo_lost: float | None = None
    cut_s: float = 0.0  # when the air ended, of the monotonic clock
    halt: Standstill | None = None
    into: Counts | None = None
    out: Counts | None = None

    def plain(self) -> dict[str, Any]:
        return asdict(self)


class Field:
    """A car's host and a guest's, in air."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self.hub = hub
        self.folder = folder
        self.owner = Login(hub.hosts[0], folder / "owner")
        self.guest = Login(hub.hosts[1], folder / "guest")

    def play(self, scenario: Scenario) -> Result:
        """Serve a car, drive it through the scenario's air, and measure."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        vehicle = _vehicle(scenario, folder)
        address = "::" if scenario.is_ipv6 else "0.0.0.0"
        logs = folder / "host.mcap", folder / "guest.mcap"
        self.hub.impair(0, scenario.out, scenario.into)
        with served(self.owner, f"sim://{vehicle}", "red", address, "--record", str(logs[0])):
            host = self.hub.hosts[0]
            place = f"[{host.ipv6}]" if scenario.is_ipv6 else host.ipv4
            invite(self.owner, self.guest, "red")
            result, at_s, cut_s = self._drive(
                scenario, ("--car", f"tandem://{place}/red", "--vehicle", vehicle), logs[1]
            )
        if result.drove:
            _measure(result, logs, at_s, cut_s)
        return result

    def _drive(
        self, scenario: Scenario, car: Sequence[str], log: Path
    ) -> tuple[Result, float, float]:
        before = [replace(self.hub.into[0].counts), replace(self.hub.out_of[0].counts)]
        drive = self.guest.start(
            "drive", *car, "--input", "script:straight", "--speed", str(SPEED_MPS),
            "--seconds", str(LONGEST_S), "--record", str(log), "--json",
        )  # fmt: skip
        result = Result(scenario.name, drove=False)
        try:
            why = _armed(drive, self.owner)
            if why:
                result.why = why
                return result, 0.0, 0.0
            with self._echo(scenario) as echo:
                result.why = _until_it_drives(drive)
                if result.why:
                    result.stops = 1
                    return result, 0.0, 0.0
                at_s = time.monotonic()
                time.sleep(scenario.seconds)
            _note_echo(result, echo)
            ways = [scenario.out, scenario.into]
            ends = [scenario.cuts in ("both", it) for it in ("down", "up")]
            ways = [CUT if is_end else way for is_end, way in zip(ends, ways, strict=True)]
            cut_s = self.hub.impair(0, *ways)
            now = [self.hub.into[0].counts, self.hub.out_of[0].counts]
            result.into, result.out = map(_since, before, now)
            time.sleep(ENDS_S)
            result.drove = True
            return result, at_s, cut_s
        finally:
            drive.end()

    @contextmanager
    def _echo(self, scenario: Scenario) -> Iterator[list[float | None]]:
        """A bare echo through the same air at the same time; its round trips, once it is over."""
        address = self.hub.hosts[0].ipv6 if scenario.is_ipv6 else self.hub.hosts[0].ipv4
        words = [sys.executable, "-I", "-S", str(ECHO)]
        answers = Program(
            self.hub.hosts[0].words(*words, "serve", address, str(ECHO_PORT)),
            self.owner.environment,
        )
        try:
            answers.line_with("ready")
            asks = Program(
                self.hub.hosts[1].words(
                    *words, "ask", address, str(ECHO_PORT), "100", str(scenario.seconds)
                ),
                self.guest.environment,
            )
            found: list[float | None] = []
            yield found
            found += json.loads(asks.line_with("["))
            asks.end()
        finally:
            answers.process.kill()
            answers.end()


def _vehicle(scenario: Scenario, folder: Path) -> str:
    """Return the vehicle, a file of its own where its bound is another one."""
    if scenario.clock_bound_s is None:
        return VEHICLE
    path = folder / "wide.toml"
    path.write_text(f'base = "{VEHICLE}"\n[stop]\nclock_bound_s = {scenario.clock_bound_s}\n')
    return str(path)


def _armed(drive: Program, owner: Login) -> str:
    """Arm the car beside it once the guest is there; return why the guest never came."""
    deadline = patience.Deadline(STARTS_S)
    while drive.process.poll() is None:
        if any("Nothing is armed yet" in line for line in drive.lines):
            owner.said("arm", "red")
            return ""
        time.sleep(0.05)
        deadline.check(drive.told)
    drive.end()
    return drive.told()


def _until_it_drives(drive: Program) -> str:
    """Wait until it is fast; return what it told if it stopped before, else ""."""
    deadline = patience.Deadline(STARTS_S)
    while True:
        row = json.loads(drive.lines[-1])
        if row.get("speed_mps", 0.0) > 0.9 * SPEED_MPS:
            return ""
        if drive.process.poll() is not None:
            return drive.told()
        time.sleep(0.02)
        deadline.check(lambda: f"the car to drive: {drive.told()}")


def _note_echo(result: Result, rows: Sequence[float | None]) -> None:
    got = [it for it in rows if it is not None]
    result.echo_p50_ms, result.echo_p99_ms = quantile(got, 0.5), quantile(got, 0.99)
    result.echo_lost = 1 - len(got) / len(rows)


def _since(before: Counts, now: Counts) -> Counts:
    return Counts(**{name: value - asdict(before)[name] for name, value in asdict(now).items()})


def _measure(result: Result, logs: tuple[Path, Path], at_s: float, cut_s: float) -> None:
    claims, statuses = messages(logs[0])
    sent, heard = messages(logs[1])
    during = [it for it in statuses if at_s <= it.at_s < cut_s]
    states = [it.message.state in DRIVEN for it in during]  # type: ignore[union-attr]
    result.cut_s = cut_s
    result.stops = sum(was and not is_ for was, is_ in pairwise(states))
    result.claims = sum(at_s <= it.at_s < cut_s for it in sent)
    first, last = during[0].message, during[-1].message
    result.accepted = (last.claim_count - first.claim_count) & 0xFFFF  # type: ignore[union-attr]
    trips = round_trips_ms(sent, [it for it in heard if at_s <= it.at_s < cut_s])
    ways = ways_ms(sent, [it for it in claims if at_s <= it.at_s < cut_s])
    result.trip_p50_ms, result.trip_p99_ms = quantile(trips, 0.5), quantile(trips, 0.99)
    result.way_p50_ms, result.way_p99_ms = quantile(ways, 0.5), quantile(ways, 0.99)
    if states[-1]:
        result.halt = standstill(statuses, cut_s, DRIVEN)
