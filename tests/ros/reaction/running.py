"""The programs of a scenario: car and recorder at one end of the line, publishers at the other."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import astuple
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.ros import real_ros
from tests.ros.reaction.f1tenth_rules import Arrival, Moment, driven
from tests.ros.reaction.impairment import CLEAR, CUT, Counts
from tests.ros.reaction.line import Line
from tests.ros.reaction.measured import Result, reaction
from tests.ros.reaction.scenarios import Event, Scenario, Talk
from tests.ros.real_ros import PYTHON

OWN_NODES = Path(__file__).parent
VEHICLE = "f1tenth_vesc"
WATCH_S = 1.8  # after the event: Tandem stands within 0.8 s, and what goes on is seen to
PAUSE_S = 0.6
PATIENCE_S = 40.0  # of a busy machine
SETTLES_S = 5.0  # or it has stopped: then it is armed again
TRIES = 20
NEAR, SETTLED_ROWS = 0.07, 10  # for 0.2 s
ROLL_OUT_S = 15.0  # of f1tenth_system's car, in virtual time


def environment(log: str) -> dict[str, str]:
    """UDP alone: through shared memory, namespaces of one machine would reach each other."""
    ours = real_ros.environment(log, 7, "SUBNET")  # a domain of namespaces of our own
    return {**ours, "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}


class ReactionRecorder:
    """The node that says what arrives and what the car does; its lines are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._rows: list[dict[str, Any]] = []
        self._came = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, word: str, kind: str) -> dict[str, Any]:
        """Its answer to a word of ours."""
        since = len(self._rows)
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        return self.until(lambda row: row["kind"] == kind, since)

    def until(
        self,
        is_so: Callable[[dict[str, Any]], bool],
        since: int = 0,
        patience_s: float = PATIENCE_S,
    ) -> dict[str, Any]:
        """The first row from ``since`` on that is so. Raises TimeoutError."""
        ends_s = time.monotonic() + patience_s
        with self._came:
            while True:
                for row in self._rows[since:]:
                    if is_so(row):
                        return row
                since = len(self._rows)
                if not self._came.wait(ends_s - time.monotonic()):
                    raise TimeoutError(f"not within {patience_s} s; last: {self._rows[-3:]}")

    @property
    def count(self) -> int:
        return len(self._rows)

    def rows(self, kind: str, since: int = 0) -> list[dict[str, Any]]:
        return [row for row in self._rows[since:] if row["kind"] == kind]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            with self._came:
                self._rows.append(json.loads(text))
                self._came.notify_all()


class Talker:
    """A publisher in a process of its own, that begins when it is told to."""

    def __init__(
        self, process: subprocess.Popen[str], talk: Talk, number: int, count: Path
    ) -> None:
        self.process, self.talk, self.number = process, talk, number
        self._count = count
        assert process.stdout is not None
        if process.stdout.readline().strip() != "ready":
            raise RuntimeError("a publisher has not come up")

    def begin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    @property
    def sent(self) -> int:
        return int(self._count.read_text() or 0) if self._count.exists() else 0


class Stage:
    """A car and its recorder, for scenarios one after the other."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._made = ExitStack()
        with ExitStack() as made:
            self._folder = Path(made.enter_context(tempfile.TemporaryDirectory(prefix="tandem-")))
            self._environment = environment(str(self._folder))
            self._started: list[subprocess.Popen[str]] = []
            made.callback(self._end)
            car = [
                "-m", "host_bridge.cli.main", "ros", "--car", f"sim://{VEHICLE}",
                "--json", "--seconds", "900",
            ]  # fmt: skip
            self._start(1, *car, output=subprocess.DEVNULL)
            self._recorder = ReactionRecorder(
                self._start(1, str(OWN_NODES / "reaction_recorder.py"))
            )
            self._recorder.until(lambda row: row["kind"] == "ready")
            self._made = made.pop_all()

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._made.close()

    def played(self, scenario: Scenario) -> Result:
        """As it came out. Where a busy machine made the car stop before the event, once more."""
        for _ in range(TRIES):
            result = self._played(scenario)
            if not result.stops_before:
                return result
        raise TimeoutError(f"{scenario.name}: it stops before the event, again and again")

    def _played(self, scenario: Scenario) -> Result:
        """Up to speed on a clear line, then as the scenario has it."""
        talkers = [self._talker(talk) for talk in scenario.talks]
        since = self._up_to_speed(talkers, scenario.talks[0].speed_mps)
        first = talkers[0]
        before, began_sent = Counts(*astuple(self._line.ways[0].counts)), first.sent
        began_s = self._line.apply(scenario.settings)
        time.sleep(scenario.impaired_s)
        # Beyond this moment nothing counts as impaired: what is on its way still comes
        after, ended_sent = Counts(*astuple(self._line.ways[0].counts)), first.sent
        event_s = self._happens(scenario, first, began_s)
        time.sleep(WATCH_S)
        seen_s = time.monotonic()
        self._line.apply(CLEAR)
        for talker in talkers:
            self._kill(talker.process)
        kept = self._recorder.ask("dump", "kept")
        numbers = [
            number
            for _, _, _, number, talker in kept["best_effort"]
            if talker == first.number and began_sent <= number < ended_sent
        ]
        stops = [row for row in self._recorder.rows("stopped", since) if row["is_so"]]
        own = {talker.number for talker in talkers}
        arrivals = [Arrival(*row[:3]) for row in kept["theirs"] if row[4] in own]
        why = [row["words"] for row in self._recorder.rows("why", since) if row["words"]]
        theirs = self._theirs(arrivals, event_s, seen_s, goes_on=scenario.goes_on)
        self._until_it_stands()
        return Result(
            scenario,
            Counts(*(b - a for a, b in zip(astuple(before), astuple(after), strict=True))),
            ended_sent - began_sent,
            len(set(numbers)),
            numbers == sorted(numbers),
            sum(began_s < row["t"] <= event_s for row in stops),
            why[-1] if why else "",
            reaction(self._moments(since, seen_s), event_s, first.talk.speed_mps),
            reaction(theirs, event_s, first.talk.speed_mps),
        )

    def _happens(self, scenario: Scenario, first: Talker, began_s: float) -> float:
        """The event, and the moment from which it counts."""
        event, now_s = scenario.event, time.monotonic()
        if event is Event.KILLED:
            self._kill(first.process)
        elif event is Event.PAUSED:
            first.process.send_signal(signal.SIGSTOP)
        elif event is Event.RESUMED:
            first.process.send_signal(signal.SIGSTOP)
            time.sleep(PAUSE_S)
            first.process.send_signal(signal.SIGCONT)
        elif event is Event.CUT:
            return self._line.apply(CUT)
        elif every_s := scenario.settings.every_s:
            return began_s + every_s - began_s % every_s  # the first stall
        else:
            return began_s
        return now_s

    def _up_to_speed(self, talkers: list[Talker], speed_mps: float) -> int:
        """Armed and driving, armed again where a busy machine made it stop; from which row on."""
        first = self._recorder.count
        for attempt in range(TRIES):
            since = self._recorder.count
            self._recorder.ask("arm", "armed")
            if not attempt:
                for talker in talkers:
                    talker.begin()
            try:
                self._recorder.until(Settled(speed_mps), since, SETTLES_S)
                for talker in talkers:  # whoever is to be counted has been heard
                    self._recorder.until(partial(_is_first, talker.number), first)
            except TimeoutError:
                continue
            return since
        raise TimeoutError("it stops again and again, on a clear line")

    def _until_it_stands(self) -> None:
        self._recorder.until(
            lambda row: row["kind"] == "odom" and abs(row["speed"]) < 0.02, self._recorder.count
        )

    def _moments(self, since: int, until_s: float) -> list[Moment]:
        """Of Tandem's car, by its own reckoning."""
        moments, way_m, before = [], 0.0, None
        for row in self._recorder.rows("odom", since):
            if row["t"] > until_s:
                break
            if before is not None:
                way_m += ((row["x"] - before["x"]) ** 2 + (row["y"] - before["y"]) ** 2) ** 0.5
            before = row
            moments.append(Moment(row["t"], way_m, row["speed"]))
        return moments

    def _theirs(
        self, arrivals: list[Arrival], event_s: float, seen_s: float, *, goes_on: bool
    ) -> list[Moment]:
        """Once all is silent nothing more comes, and how far it rolls is worked out."""
        until_s = seen_s if goes_on else seen_s + ROLL_OUT_S
        moments = driven([it for it in arrivals if it.at_s <= seen_s], until_s, VEHICLE)
        return moments or [Moment(event_s - 1.0, 0.0, 0.0), Moment(until_s, 0.0, 0.0)]

    # --- processes

    def _talker(self, talk: Talk) -> Talker:
        number = len(self._started)
        count = self._folder / f"sent_{number}"
        words = [talk.topic, str(talk.speed_mps), str(talk.hz), talk.qos, str(number), str(count)]
        process = self._start(0, str(OWN_NODES / "numbered_talker.py"), *words)
        return Talker(process, talk, number, count)

    def _start(self, end: int, *words: str, output: int = subprocess.PIPE) -> subprocess.Popen[str]:
        command = self._line.ends[end].words(PYTHON, *words)
        process = subprocess.Popen(
            command, env=self._environment, stdin=subprocess.PIPE, stdout=output, text=True
        )
        self._started.append(process)
        return process

    def _kill(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait()

    def _end(self) -> None:
        for process in self._started:
            self._kill(process)


def _is_first(number: int, row: dict[str, Any]) -> bool:
    """It reached the subscriber by best effort, which takes all kinds."""
    return row["kind"] == "first" and row["talker"] == number


class Settled:
    """Whether the car is as fast as it was told, and stays so."""

    def __init__(self, speed_mps: float) -> None:
        self._speed_mps = speed_mps
        self._in_a_row = 0

    def __call__(self, row: dict[str, Any]) -> bool:
        if row["kind"] == "odom":
            is_near = abs(row["speed"] - self._speed_mps) < NEAR * self._speed_mps
            self._in_a_row = self._in_a_row + 1 if is_near else 0
        return self._in_a_row >= SETTLED_ROWS
