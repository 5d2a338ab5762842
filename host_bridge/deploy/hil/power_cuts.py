"""Power cuts by a person's hand, and the car's own report of how it came back.

They happen at three moments: in STANDBY, while it stores its configuration repeatedly, and while
its program is on trial, as after a flash.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firmware.protocol import codes, messages
from host_bridge.config.vehicle.image import parameter_count, values_hash
from host_bridge.core.codes import State
from host_bridge.core.errors import DeviceFault
from host_bridge.deploy.flash.plan import PINS, SLOTS, Slots
from host_bridge.deploy.hil.as_flashed import CAR
from host_bridge.deploy.hil.bench import HilBench
from host_bridge.deploy.hil.host.paced_car import PacedCar
from host_bridge.deploy.hil.host.port import NoAnswer
from host_bridge.deploy.hil.person import PERSON_TIMEOUT_S, Person, PersonTimeout
from host_bridge.deploy.hil.report.limits import failed, judged, unmeasured
from host_bridge.deploy.hil.report.report import Measurement

STANDBY, COMMIT, TRIAL = "power_standby", "power_commit", "power_trial"
KEYS = (STANDBY, COMMIT, TRIAL)
_MOMENTS = {
    STANDBY: "while it stands by",
    COMMIT: "while it stores its configuration, again and again under two names",
    TRIAL: "while its program is on trial, as in the first ten seconds after tandem flash",
}
_PULL = "Pull the power NOW, all of it (battery and USB), wait two seconds, and put it back."
_NEEDS_FLASH = "needs a flash first: --vehicle and --board"
_NO_REPL = "not known: its REPL does not answer"
_TRIES = 12  # each waits as long as the bench does for a port or a car's first message
_COMMIT_EVERY_MS = 500  # a write to flash and its answer take less
_EPOCH = 70_000  # the first session's; each later one has its own, which tells boots apart
_HEALTHY_S = 15.0  # a board's start, and the ten seconds of firmware/core/stops/fault_monitor.py


class CarDidNotReturn(RuntimeError):
    """Raised when the car did not come back."""


@dataclass(frozen=True)
class BootReport:
    """The car's report of its present run since the last boot."""

    config_hash: bytes
    state: int
    has_begun: bool  # it restarted since the session before: a power cut or a reset
    reset_cause: int
    took_s: float
    clock: str


class PowerCuts:
    """The power cuts of one car; ``was_flashed`` if this command has flashed it."""

    def __init__(self, bench: HilBench, person: Person, was_flashed: bool) -> None:
        self._bench, self._person, self._was_flashed = bench, person, was_flashed
        self._epoch = _EPOCH

    def rows(self, pulls: int) -> Iterator[Measurement]:
        """Have the power pulled so many times, at the moments in turn.

        Raises PersonTimeout, NoAnswer.
        """
        moments = KEYS if self._was_flashed else (STANDBY, COMMIT)
        for number in range(pulls):
            key = moments[number % len(moments)]
            try:
                yield self._pulled(key, f"{number + 1} of {pulls}")
            except CarDidNotReturn as lost:
                yield failed(key, str(lost))
                return
        for key in [key for key in KEYS if key not in moments[:pulls]]:
            yield unmeasured(key, "needs more --pulls" if key in moments else _NEEDS_FLASH)

    def _pulled(self, key: str, which: str) -> Measurement:
        before, has_older = self._look()
        if key == TRIAL and not (before and has_older):
            return unmeasured(key, "needs an older program in the other slot, to fall back to")
        self._person.ready(
            f"POWER {which}, {_MOMENTS[key]}. The car is not armed. You will be told when to pull."
        )
        if key == TRIAL and before:
            self._switch(before)
        name, may_be = self._pull(key)
        life = self._wait_back()
        after, _ = self._look()
        self._put_back(key, name, may_be, before)
        return _row(key, may_be, life, before, after)

    # --- before

    def _met(self, car: PacedCar) -> tuple[str, bytes]:
        self._epoch += 1
        car.host.epoch = self._epoch
        car.connect()
        it = car.host.latest["Identity"]
        return bytes(it.car_name).rstrip(b"\0").decode(), bytes(it.config_hash)

    def _other_hash(self, car: PacedCar, name: str) -> bytes:
        """Return the hash of the same configuration under another name."""
        self._bench.progress("reading the configuration")
        return values_hash(_values(car), _beside(name))

    def _look(self) -> tuple[Slots | None, bool]:
        """Ask the REPL, which resets the board, which slot runs, and if the other has a program.

        The slots are None if no REPL answers, or there is no launcher.
        """
        with contextlib.suppress(DeviceFault), self._bench.board() as board:
            slots = board.slots()
            other = SLOTS[1 - slots.slot] if slots else ""
            return slots, bool(slots) and PINS in board.hashes(f"/{other}")
        return None, False

    def _switch(self, slots: Slots) -> None:
        """Start the program of this slot on trial, like the last step of tandem flash."""
        with self._bench.board() as board:
            board.switch(slots.slot)

    # --- the pull

    def _pull(self, key: str) -> tuple[str, list[bytes]]:
        """Wait until the car is gone; return its name and the configurations it may return with."""
        with self._bench.car(0) as car:
            name, known = self._met(car)
            may_be = [known]
            if key != COMMIT:
                self._person.tell(_PULL)
                self._wait_gone(car, ())
                return name, may_be
            may_be.append(self._other_hash(car, name))
            self._person.tell(_PULL)
            try:
                self._wait_gone(car, ((_beside(name), may_be[1]), (name, known)))
            except (PersonTimeout, KeyboardInterrupt):
                self._restore(car, name, known)
                raise
        return name, may_be

    def _wait_gone(self, car: PacedCar, commits: Sequence[tuple[str, bytes]]) -> None:
        """Wait until the car falls silent; meanwhile it stores these configurations in turn."""
        begun_us, turn = car.port.car_us, 0
        try:
            while car.port.car_us - begun_us < PERSON_TIMEOUT_S * 1e6:
                if commits:
                    _commit(car, *commits[turn % len(commits)])
                    turn += 1
                car.host.rest(_COMMIT_EVERY_MS)
        except (NoAnswer, OSError):
            self._bench.progress("it is gone")
            return
        raise PersonTimeout(f"the power was not pulled within {PERSON_TIMEOUT_S:g} s")

    def _wait_back(self) -> BootReport:
        """Wait until the car is back. Raises CarDidNotReturn if it does not come back."""
        was_away, why = not Path(self._bench.link).exists(), ""
        for left in reversed(range(_TRIES)):
            try:
                with self._bench.car(0) as car:
                    return self._life(car, was_away)
            except (NoAnswer, OSError) as error:
                was_away |= isinstance(error, OSError)
                why = str(error)
                self._bench.progress(f"not back yet; {left} more looks")
        raise CarDidNotReturn(f"it did not come back by itself: {why}")

    def _life(self, car: PacedCar, was_away: bool) -> BootReport:
        opened_s, before = time.monotonic(), self._epoch
        car.port.advance(0)
        seen_s = time.monotonic() - opened_s
        self._met(car)
        car.host.say(messages.EventRequest, first=0)
        car.host.rest(1000)
        began, stood_us = _beginning(car, before)
        pace = min(car.port.us_per_s() / 1e6, 1.0)
        took_s, clock = stood_us / 1e6, f"{CAR} (events), from its reset to standing by"
        if was_away:
            took_s, clock = seen_s * pace, "this host's, from the port's return to its first word"
        it = car.host.latest["Identity"]
        return BootReport(
            bytes(it.config_hash), car.host.state, began is not None, began or 0, took_s, clock
        )

    # --- after

    def _put_back(self, key: str, name: str, may_be: Sequence[bytes], slots: Slots | None) -> None:
        """Restore the board: its configuration's name, its slot, its trial over."""
        if key == COMMIT:
            with self._bench.car(0) as car:
                self._met(car)
                self._restore(car, name, may_be[0])
        if key == TRIAL and slots is not None:
            self._switch(slots)
            with self._bench.car(0) as car:
                self._met(car)
                self._bench.progress("the trial of its program ends")
                car.host.rest(int(_HEALTHY_S * 1000))

    def _restore(self, car: PacedCar, name: str, config_hash: bytes) -> None:
        for _ in range(_TRIES):
            _commit(car, name, config_hash)
            car.host.rest(1000)
            done = car.host.latest.get("Committed")
            if done is not None and bytes(done.config_hash) == config_hash:
                return
        raise DeviceFault(
            "the car did not take its own configuration back",
            where=self._bench.link,
            expected=f"the name {name!r}",
            remedy=f"tandem config write, with --name {name}",
        )


def _row(
    key: str, may_be: Sequence[bytes], life: BootReport, before: Slots | None, after: Slots | None
) -> Measurement:
    slot, slot_before = (it.name if it else _NO_REPL for it in (after, before))
    summary = f"configuration {life.config_hash.hex()}, slot {slot}"
    if slot != slot_before:
        summary += f" after {slot_before}"
    if not life.has_begun:
        return unmeasured(key, f"it went on, so it was not without power; {summary}")
    detail: dict[str, Any] = {
        "state": life.state,
        "reset_cause": life.reset_cause,
        "config_hash": life.config_hash.hex(),
        "config_may_be": [one.hex() for one in may_be],
        "slot": slot,
        "slot_before": slot_before,
    }
    row = judged(key, life.took_s, f"came back by itself, {summary}", life.clock, **detail)
    defect = _defect_of(key, may_be, life, slot != slot_before)
    return _failing(row, defect) if defect else row


def _defect_of(key: str, may_be: Sequence[bytes], life: BootReport, is_other_slot: bool) -> str:
    """Return what is wrong with the car that came back; "" if nothing is."""
    if is_other_slot and key != TRIAL:
        return "with the program of the other slot"
    if life.config_hash not in may_be and not is_other_slot:  # each slot has a configuration
        return "with another configuration"
    if life.state not in (codes.STANDBY, codes.STARTING):
        return f"in the state {State(life.state).word}"
    return ""


def _failing(row: Measurement, defect: str) -> Measurement:
    return replace(row, how=f"{defect}: {row.how}", holds=False)


def _beginning(car: PacedCar, epoch_before: int) -> tuple[int | None, int]:
    """Return the cause of a restart since that session (or None), and when STANDBY began, in us."""
    events = car.host.events
    began = [e[2] for e in events if e[1] == codes.EVENT_STARTED]
    bound = [e[3] for e in events if e[1] == codes.EVENT_SESSION_BOUND]
    stood = [e[0] for e in events if e[1] == codes.EVENT_STATE_CHANGED and e[2] == codes.STARTING]
    is_new = bool(began) and epoch_before not in bound
    return began[0] if is_new else None, stood[0] if stood else 0


def _beside(name: str) -> str:
    """Return another name, with no more bytes."""
    return name[:-1] + ("~" if name[-1:] != "~" else "-")


def _commit(car: PacedCar, name: str, config_hash: bytes) -> None:
    car_name = name.encode().ljust(16, b"\0")  # bytes: the field's
    car.host.say(messages.ConfigCommit, config_hash=config_hash, car_name=car_name)


def _values(car: PacedCar) -> list[int]:
    """Read all parameters, one with each step, as the car answers one per step. Raises NoAnswer."""
    count = parameter_count()
    found: dict[int, int] = {}
    for _ in range(_TRIES):
        for index in range(count):
            if index not in found:
                car.host.say(messages.ParameterRead, index=index)
                _hear_one(car, found)
        _hear_one(car, found)
        if len(found) == count:
            return [found[index] for index in range(count)]
    raise NoAnswer(f"{count - len(found)} of its parameters are not answered", where=car.port.path)


def _hear_one(car: PacedCar, found: dict[int, int]) -> None:
    car.host.beat()
    answer = car.host.latest.get("Parameter")
    if answer is not None and answer.result == codes.PARAMETER_OK:
        found[answer.index] = answer.value
