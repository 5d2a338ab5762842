"""``tandem calibrate --guide``: the guided calibration, which drives and asks step by step.

It needs a stand, a floor, a tape measure and about an hour.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import dist
from pathlib import Path
from typing import TypeAlias

from calibration.guide.manoeuvres import MANOEUVRES, CalibrationDrive, seconds_of
from calibration.logs.trace import DriveTrace, refuse_several_cars
from calibration.logs.trace_reader import Load, LogChoices, read_trace
from calibration.regression.identify import identify
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.files import Key, number, read_json, read_keys, read_samples

# Drives by a CSV file, records the drive, and writes a virtual car's sensors where that is asked;
# returns the exit code, and the file of a virtual car's sensors
Drive: TypeAlias = Callable[[Path, Path, Path | None], tuple[int, Path | None]]
ANSWERS = "answers.json"
_YES, _NO = ("y", "yes"), ("n", "no")
_TRIES = 3
_TAPE_MAX_M = 1000.0  # no tape is longer


class GuidedCalibration:
    """One guided calibration with its logs in one folder; a finished step is not repeated.

    ``car`` is its name on the command line; ``vehicle`` is its vehicle file; ``load`` reads
    vehicle files; ``drive`` drives it.
    """

    def __init__(self, folder: Path, car: str, vehicle: Vehicle, load: Load, drive: Drive) -> None:
        """Make or read the folder.

        Raises errors.DataFileFault for a folder that cannot be made or read.
        """
        self._folder = folder
        self._car = car
        self._vehicle = vehicle
        self._load = load
        self._drive_by = drive
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataFileFault(
                "this is no folder of a guide", where=str(folder), got=str(error)
            ) from None
        self._tapes = _read_tapes(folder / ANSWERS)

    def run(self) -> list[DriveTrace]:
        """Do all steps; return the traces of their drives.

        Raises errors.TandemError.
        """
        total = len(MANOEUVRES)
        print(f"Calibrating {self._car}, a {self._vehicle.name}, in {total} steps.")
        print(f"Logs and answers are kept in {self._folder}; Ctrl-C ends, the same words go on.")
        traces: list[DriveTrace] = []
        for step, manoeuvre in enumerate(MANOEUVRES, 1):
            print(f"\nStep {step} of {total}: {manoeuvre.name}, {manoeuvre.where}")
            traces.append(self._step(manoeuvre, traces))
        return traces

    def _step(self, manoeuvre: CalibrationDrive, before: Sequence[DriveTrace]) -> DriveTrace:
        log = self._folder / f"{manoeuvre.name}.mcap"
        for _ in range(_TRIES):
            if log.exists():
                print(f"  driven: {log.name}")
            else:
                self._drive(manoeuvre, log, before)
            trace = self._read(manoeuvre, log)
            refuse_several_cars([*before, trace])
            lacking = self._lacking(manoeuvre, [*before, trace])
            if not lacking:
                return trace
            print(f"  This drive does not tell {manoeuvre.determines}: {lacking}")
            if not self.says_yes("  Drive it again"):
                return trace
            self._set_aside(manoeuvre, log)
        return trace

    def _drive(self, manoeuvre: CalibrationDrive, log: Path, before: Sequence[DriveTrace]) -> None:
        print(f"  {manoeuvre.text}")
        straight = self._straight(before)
        commands = self._folder / f"{manoeuvre.name}.csv"
        rows = manoeuvre.rows(self._vehicle, straight)
        lines = [f"{t_s:.2f},{channel},{part:.5f}" for t_s, channel, part in rows]
        commands.write_text("\n".join(["t_s,channel,value_norm", *lines]) + "\n")
        takes_s = seconds_of(manoeuvre, self._vehicle)
        self._ask(f"  Is it there, and the way free? It takes {takes_s:.0f} s. Enter drives: ")
        part = log.with_name(f"{manoeuvre.name}.part.mcap")
        part.unlink(missing_ok=True)
        sensors = log.with_suffix(".jsonl") if manoeuvre.is_taped else None
        code, seen = self._drive_by(commands, part, sensors)
        if code:
            raise UsageFault(
                f"the drive {manoeuvre.name} ended before its end (exit code {code})",
                where=str(part),
                expected="a drive to the end of its commands",
                remedy="the same command goes on from here; tandem log shows why it ended",
            )
        if manoeuvre.question and not self.says_yes(f"  {manoeuvre.question}"):
            raise UsageFault(
                "its steering goes the other way",
                where=self._vehicle.path,
                expected="left first, for left is positive",
                remedy="turn the pulses of its [[channels]] points round, and flash or write it",
            )
        if manoeuvre.is_taped:
            _print_true_distance(seen)
            self._tapes[manoeuvre.name] = self._metres()
            (self._folder / ANSWERS).write_text(json.dumps(self._tapes) + "\n")
        part.rename(log)  # last, when every question is answered: now the step counts as done

    def _straight(self, before: Sequence[DriveTrace]) -> float:
        """Return the steering that drives straight, as a part of full lock, from the drives so far.

        It is 0 before the first drive that identifies the trim.
        """
        trim = identify(before, self._vehicle).estimate("steer_trim_rad") if before else None
        if trim is None or not trim.is_estimated:
            return 0.0
        return float(trim.value / self._vehicle.steer_max_rad)

    def _read(self, manoeuvre: CalibrationDrive, log: Path) -> DriveTrace:
        wanted = LogChoices(vehicle=self._vehicle.path)
        tape_m = self._tapes.get(manoeuvre.name)
        return read_trace(log, wanted, self._load, tape_m)

    def _lacking(self, manoeuvre: CalibrationDrive, traces: Sequence[DriveTrace]) -> str:
        if not manoeuvre.determines:
            return ""
        found = identify(traces, self._vehicle).estimate(manoeuvre.determines)
        if found.is_estimated:
            print(f"  {found.name}: {found.value:.4g} ({found.low:.4g} to {found.high:.4g})")
            return ""
        return found.why

    def _set_aside(self, manoeuvre: CalibrationDrive, log: Path) -> None:
        """Rename the log of a step that is driven again; no measurement is deleted."""
        number = 1
        while (aside := log.with_name(f"{manoeuvre.name}.{number}.aside.mcap")).exists():
            number += 1
        log.rename(aside)

    def _metres(self) -> float:
        for _ in range(_TRIES):
            text = self._ask("  How far is it from mark to mark, in metres? ")
            try:
                metres = float(text.replace(",", "."))
            except ValueError:
                metres = 0.0
            if 0.0 < metres < 1000.0:
                return metres
            print("  A number of metres is meant, as 6.42.")
        raise UsageFault("how far it went is not told", expected="metres, as 6.42", got=text)

    def says_yes(self, question: str) -> bool:
        for _ in range(_TRIES):
            answer = self._ask(f"{question}? [y/n] ").strip().lower()
            if answer in (*_YES, *_NO):
                return answer in _YES
        raise UsageFault("it is not answered", expected="y or n", got=answer)

    def _ask(self, question: str) -> str:
        try:
            return input(question)
        except EOFError:
            print()
            raise UsageFault(
                "nobody answers",
                expected="a person at this terminal",
                got="the end of the input",
                remedy="tandem calibrate --guide is for a terminal; what was driven is kept",
            ) from None


def _print_true_distance(path: Path | None) -> None:
    """Print what a tape measure would show for a virtual car, from its true poses."""
    if path is None or not path.is_file():
        return
    truths = [row["truth"] for row in read_samples(path, "truth", (Key("truth", "table"),))]
    if truths:
        first, last = ((truths[at]["x_m"], truths[at]["y_m"]) for at in (0, -1))
        print(f"  A virtual car has no floor; a tape would say {dist(first, last):.2f}.")


def _read_tapes(path: Path) -> dict[str, float]:
    """Return the answers of an earlier run, if there are any. Raises errors.DataFileFault."""
    if not path.exists():
        return {}
    document = read_json(path)
    return read_keys(document, [number(name, 0.0, _TAPE_MAX_M) for name in document.values])
