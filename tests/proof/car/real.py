"""The unmodified program with its real clock, its real deadlines and real frames, step by step.

Beside the search's machine it shows two things: that the machine does what the program does
(``Lockstep``), and that a counterexample is none of the machine's own (``replay.py``). Two inputs
are set here too: the speed that the wheels report, where an alphabet has wheels that turn, and the
random number of a nonce.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from firmware.app import App
from firmware.core.clock import UNKNOWN_US
from firmware.core.deadlines import elapsed_us
from firmware.protocol import messages
from firmware.protocol.boxes import BoxHeard
from firmware.protocol.codec import DECODED, decode_into
from firmware.protocol.frame import FrameReader, crc_table
from host_bridge.deploy.hil.host.small_host import framed
from tests.proof.car.boxes import CHALLENGE, boxes_of, is_due
from tests.proof.car.machine import (
    NOW_US,
    Alphabet,
    Machine,
    car_of,
    feed,
    know_clock,
    numbers_of,
    open_for_long,
    report_of,
)
from tests.proof.car.places import Place, walked
from tests.proof.rules import Inputs, Report
from tests.proof.search import Explorer
from tests.proof.words import Speaker, Word

MASK = (1 << 30) - 1
STARTED_US = 11_000_000  # after that the start is over
WORDS_MAX = 4  # the program reads its link so often in a step
_DRAFT = "app.configuration.draft"
# The machine's own, a time, and what the next step finds out of others as it begins
_APART = ("is_due", "heard_us", "is_standing", "is_stale", "_opened_us")


class RealCar:
    """``App.step`` at the times that it is given."""

    def __init__(self, alphabet: Alphabet, plant: Any = None) -> None:
        self.app = app = car_of(alphabet)
        self.alphabet = alphabet
        self.numbers = numbers_of(app, alphabet)
        self.speaker = Speaker(app, alphabet.rights, self.numbers)
        self.now_us = NOW_US
        self.answers: list[Any] = []  # of the last step, decoded
        self._waiting: list[Word] = []
        self._reader = FrameReader(crc_table())
        self._types = {message.ID: message for message in (*messages.TO_HOST, BoxHeard)}
        app.board.receive_into = self._next_frame
        app.board.entropy = lambda: 1
        self._speed = 0
        if any(inputs.speed for inputs in alphabet.inputs):
            app.odometry.step = lambda *_: setattr(app.odometry, "speed_mm_s", self._speed)
        if plant is not None:
            plant(app)
        self.step(0, (), Inputs("start"))
        for session in app.sessions._hosts:
            session.heard_us = session._sampled_us = self.now_us + STARTED_US & MASK
        self.step(STARTED_US, (), Inputs("start"))

    def _next_frame(self, buffer: bytearray) -> int:
        """One frame at a time, made as it is read: its numbers follow those heard before."""
        while self._waiting:
            word = self._waiting.pop(0)
            if word.kind in ("lost", "known"):
                know_clock(self.app, word.session, word.value or UNKNOWN_US)
                continue
            if word.kind == "late":
                open_for_long(self.app, word.value, self.now_us)
                continue
            frame = framed(self.speaker.message(word, self.now_us))
            buffer[: len(frame)] = frame
            return len(frame)
        return 0

    def step(self, after_us: int, words: Sequence[Word], inputs: Inputs) -> Report:
        """One step, so long after the last one."""
        self.now_us = self.now_us + after_us & MASK
        self._waiting = [word for word in words if word.kind != "stale"]
        if len(self._waiting) > WORDS_MAX:
            raise ValueError(f"{len(self._waiting)} messages in a step, expected {WORDS_MAX}")
        self._speed = inputs.speed
        feed(self.app, inputs)
        self.app.step(self.now_us)
        self.answers = self._decoded(self.app.board.sent[: self.app.board.sent_size])
        seen = [a.state for a in self.answers if isinstance(a, messages.StopSeen)]
        return report_of(self.app, self.numbers, seen[-1] if seen else -1)

    def _decoded(self, data: bytearray) -> list[Any]:
        found, at = [], 0
        while at < len(data):
            at = self._reader.read(data, at, len(data)) + 1
            size = self._reader.payload_size() if at <= len(data) else 0
            if size:
                message = self._types[self._reader.frame[0]]()
                if decode_into(message, self._reader.frame, size) == DECODED:
                    found.append(message)
        return found


class Lockstep:
    """The machine and the real car, moved by the same things at the same times."""

    def __init__(self, explorer: Explorer, plant: Any = None) -> None:
        self.explorer = explorer
        self.machine: Machine = explorer.machine
        self.real = RealCar(explorer.alphabet, plant)
        _, by_path = walked({"app": self.real.app})
        self._deadlines = {name: by_path[path] for name, path in self.machine.paths.items()}
        places, _ = walked({"app": self.real.app})
        self._places = {place.path: place for place in places}
        self.broken: list[str] = []
        self.report: Report | None = None

    def over_at(self, now_us: int) -> set[str]:
        """The deadlines that a look at this time finds over."""
        found = {
            name
            for name, deadline in self._deadlines.items()
            if deadline.is_open and elapsed_us(now_us, deadline._at_us) >= 0
        }
        boxes = boxes_of(self.real.app)
        if boxes is not None and is_due(boxes, now_us):
            found.add(CHALLENGE)
        return found

    def left_us(self, name: str) -> int:
        """How long this deadline is still open; below 0 if it is not."""
        boxes = boxes_of(self.real.app)
        if name == CHALLENGE and boxes is not None:
            return elapsed_us(boxes._next_us, self.real.now_us)
        deadline = self._deadlines[name]
        return elapsed_us(deadline._at_us, self.real.now_us) if deadline.is_open else -1

    def step(self, after_us: int, words: Sequence[Word], inputs: Inputs) -> list[str]:
        """One step of both; what differs between them, in words."""
        machine, real = self.machine, self.real
        now_us = real.now_us + after_us & MASK
        over = self.over_at(now_us)
        self.broken = []
        self._keep_sessions(now_us)
        for timer in machine.promises.timers():
            if timer in over:
                machine.time_is_over(timer)
        machine.due = over
        self._keep_opening(now_us)
        for word in words:
            machine.hear(word)
            self.broken += machine.rules.broken
        machine.tick(inputs)
        machine.due = None
        self.broken += machine.rules.broken
        self.report = report = real.step(after_us, words, inputs)
        return self._differences(report)

    def _keep_sessions(self, now_us: int) -> None:
        """Hosts go on to send Sync, but for those that are not heard any more."""
        mine = self.machine.app.sessions._hosts
        for real, own in zip(self.real.app.sessions._hosts, mine, strict=True):
            real._sampled_us, real.bound_us = now_us, real._sampled_bound_us
            real.heard_us = now_us - (NOW_US - own.heard_us) & MASK

    def _keep_opening(self, now_us: int) -> None:
        """A loop that is braked first was opened as long ago in both: that is counted."""
        real, own = self.real.app.loop_brake, self.machine.app.loop_brake
        if real and own and real._has_opened:
            own._opened_us = NOW_US - elapsed_us(now_us, real._opened_us) & MASK

    def _differences(self, report: Report) -> list[str]:
        machine = self.machine
        found = []
        if _without_which(report) != _without_which(machine.report):
            found.append(f"the report is {report}, expected {machine.report}")
        key = self.explorer.key()
        for place in self.explorer.kept:
            if place.path.startswith("app.") and place.name not in _APART:
                self._put_real(place)
        machine.forget_the_dead()
        if self.explorer.key() != key:
            was, now = self.explorer.named(key), self.explorer.named(self.explorer.key())
            found += [f"{n}: {now[n]}, expected {was[n]}" for n in was if was[n] != now[n]]
        self.explorer.restore(key)
        return found

    def _put_real(self, place: Place) -> None:
        """Put into the machine what the program holds in its stead; of a draft, the numbers."""
        if place.path.startswith(_DRAFT):
            drafted = _draft_of(self.real.app)
            if (place.path, place.index) in drafted:
                place.put(drafted[place.path, place.index])
            return
        held = self._places[place.path].get()
        place.put(held if place.index < 0 else held[place.index])


def _draft_of(app: App) -> dict[tuple[str, int], int]:
    """Piece and byte -> value; a draft that was let go of has the car's own numbers."""
    held = app.configuration.draft
    pieces = held or app.configuration.open_draft()
    app.configuration.draft = held
    return {
        (f"{_DRAFT}[{i}]", at): byte
        for i, piece in enumerate(pieces)
        for at, byte in enumerate(piece)
    }


def _without_which(report: Report) -> Report:
    """The machine forgets which causes and faults there are once nothing depends on it."""
    return replace(report, causes=int(report.causes != 0), faults=int(report.faults != 0))
