"""The real ``App``, one small step at a time: a message is heard, a time is over, a step ends.

Nothing of the program is replaced that decides. What is: the deadlines have no clock, the measured
speed is an input (``odometry.step``), the reports are caught where they are sent, and the random
nonce is always the same one. ``App.begin`` and ``App.finish`` are the program's own, and so is each
message's handler.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firmware.app import App
from firmware.core.clock import OWN, UNKNOWN_US
from firmware.protocol import codes, messages
from firmware.protocol.codec import encode_into
from tests.firmware.core.desk import parameters_of
from tests.proof.car.boxes import CHALLENGE, KEY, Talk
from tests.proof.car.clockless import Clockless, without_clock
from tests.proof.car.places import Place, walked
from tests.proof.promises import Promises, Rights, Vehicle
from tests.proof.rules import ACTIVE, HOLD, STANDBY, STOPPING, Inputs, Report
from tests.proof.words import BOX, EPOCHS, Numbers, Speaker, Word
from tests.safety.support.desk import known, program

BEAT_US = 10_000
NOW_US = 1 << 20  # it is always now
_ESC = 1  # the channel of an F1TENTH's drive
_OTHERS = (101, 102)  # hosts that only hold their slots
_OF_THE_START = ("_left", "_starting", "_settling")  # deadlines
_STALE_US = 3_100_000
_RC_PULSES = {  # live-man, throttle, mode: the places of low, centre, high
    "rest": (0, 1, 1), "held": (2, 1, 1), "throttle": (2, 2, 1), "idle": (0, 1, 2),
    "autonomy": (2, 1, 2), "stop": (0, 1, 0),
}  # fmt: skip


@dataclass(frozen=True)
class Alphabet:
    """What may be said, what the environment may do, and to which car."""

    name: str
    says: str  # what is asked, in a line
    words: tuple[Word, ...]
    inputs: tuple[Inputs, ...]
    rights: tuple[Rights, ...]
    changes: tuple[tuple[str, Any], ...] = ()  # of the vehicle's numbers
    default_profile: int = codes.PROFILE_TRACK
    needs_box: tuple[bool, ...] = (False, False, True)
    has_rc: bool = False
    is_full: bool = False  # all slots for hosts are taken
    is_paired: bool = False  # with a runstop box, where it has a key
    has_key: bool = True
    other_cap: int = 30
    is_lost: bool = False  # of a car without a key: it was given one, and cannot read it


CAPS = (20, 40, 60)  # stand, track, race
SPEED = 50  # what is asked for: reached within a step
ROLLING = 500


def _rights_as_parameters(rights: Sequence[Rights], has_rc: bool) -> dict[str, Any]:
    masks, needs, switches = dict.fromkeys(range(16), 0), {}, {}
    flags, priorities, silences, repress = {}, {}, {}, {}
    for right in rights:
        at = right.number
        masks[at] = 15
        flags[at] = right.is_attended * codes.SOURCE_ATTENDED
        flags[at] |= right.has_counter * codes.SOURCE_HAS_COUNTER
        priorities[at] = right.priority
        silences[at] = codes.ON_SILENCE_STOP if right.stops_by_silence else codes.ON_SILENCE_YIELD
        needs[at] = right.needs
        switches[at] = BOX if right.needs_switch else codes.NOBODY
        repress[at] = 5000 if right.has_repress else 0
    return {
        "source_mask": masks, "source_flags": flags, "source_priority": priorities,
        "source_on_silence": silences, "source_needs": needs, "source_kill_switch": switches,
        "source_repress_ms": repress, "rc_fitted": int(has_rc),
    }  # fmt: skip


def car_of(alphabet: Alphabet) -> App:
    """The program, just begun, in a car of such numbers that a drive settles within a step or two,
    with two hosts that are bound."""
    box_needs = {
        profile * 16 + BOX: codes.REQUIRED if needed else codes.OPTIONAL
        for profile, needed in enumerate(alphabet.needs_box)
    }
    kinds = dict.fromkeys(range(16), codes.STOP_SOURCE_NONE)
    of_box = codes.STOP_SOURCE_PAIRED if alphabet.is_paired else codes.STOP_SOURCE_LINK
    kinds |= {0: codes.STOP_SOURCE_LOOP, BOX: of_box}
    needs = dict.fromkeys(range(48), codes.NOT_NEEDED) | {0: 2, 16: 2, 32: 2} | box_needs
    if alphabet.has_rc:
        kinds[1] = codes.STOP_SOURCE_RC
    app = program(
        "f1tenth",
        _stored(alphabet),
        **{
            **_rights_as_parameters(alphabet.rights, alphabet.has_rc),
            "stop_source_kind": kinds, "stop_source_need": needs, "gain_per_m_s": 0,
            "gain_per_m": 0, "accel_mm_s2": 30_000, "decel_mm_s2": 30_000, "jerk_mm_s3": 1_000_000,
            "brake_decel_mm_s2": 20_000, "brake_jerk_mm_s3": 1_000_000, "full_effort_mm_s": 200,
            "profile_cap_mm_s": dict(enumerate(CAPS)), "temperature_max_c": 60,
            "profile_default": alphabet.default_profile, **dict(alphabet.changes),
        },
    )  # fmt: skip
    app.board.has_receiver = int(alphabet.has_rc)
    app.board.temperature_c = 20
    for epoch in EPOCHS[:2]:
        known(app, epoch, NOW_US)
    for epoch in _OTHERS if alphabet.is_full else ():
        known(app, epoch, NOW_US)
    if alphabet.has_rc:
        app.rc._frames = 0  # its first frame has been
    return app


def _stored(alphabet: Alphabet) -> bytes:
    """Of the key: one that was lost is too short."""
    if not alphabet.is_paired:
        return b""
    return KEY[:-1] if alphabet.is_lost else KEY * alphabet.has_key


def vehicle_of(alphabet: Alphabet) -> Vehicle:
    other = (CAPS[0], alphabet.other_cap, CAPS[2])
    return Vehicle(
        alphabet.rights, (CAPS, other), alphabet.default_profile, _needs_box(alphabet),
        alphabet.is_paired, alphabet.has_key, "loop_brake_ms" in dict(alphabet.changes),
    )  # fmt: skip


def _needs_box(alphabet: Alphabet) -> tuple[bool, ...]:
    """By profile: as the file has it; with a key that was given always, but on a stand."""
    was_given = alphabet.is_paired and (alphabet.has_key or alphabet.is_lost)
    at_stand, *others = alphabet.needs_box
    return (at_stand, *[was_given or needed for needed in others])


def numbers_of(app: App, alphabet: Alphabet) -> Numbers:
    index = parameters_of(app).index("profile_cap_mm_s") + codes.PROFILE_TRACK
    return Numbers.of(app, index, alphabet.other_cap)


def feed(app: App, inputs: Inputs) -> None:
    """The inputs of one step, on the board."""
    board = app.board
    board.enable_contact = int(board.enable)
    board.read_back[:] = board.values
    board.runstop_closed = int(inputs.loop_closed)
    board.charger = int(inputs.charger)
    board.temperature_c = 90 if inputs.hot else 20
    if inputs.rc:
        rc = app.rc
        live, throttle, mode = _RC_PULSES[inputs.rc]
        board.rc_frames = (rc._frames + 1) & (1 << 30) - 1
        board.rc_steering_us = rc._centres[0]
        places = (rc._lows, rc._centres, rc._highs)
        board.rc_throttle_us, board.rc_live_man_us = places[throttle][1], places[live][2]
        board.rc_mode_us = places[mode][3]


def report_of(app: App, numbers: Numbers, seen_state: int) -> Report:
    """What a Status, an Identity and the wires say."""
    values, winners = app.board.values, app.arbiter.winners
    return Report(
        app.supervisor.state, values[_ESC] - 1_500_000, bool(app.board.enable), app.runstop.bits,
        app.faults.bits, winners[codes.DRIVE], winners[codes.STEERING], app.drive.target_mm_s,
        app.actions.profile, numbers.now(app), seen_state,
    )  # fmt: skip


def open_for_long(app: App, most_ms: int, now_us: int) -> None:
    """Opens the loop, if it was opened in this stop, for so long already."""
    brake = app.loop_brake
    if brake and brake._has_opened:
        brake._opened_us = now_us - 1000 * most_ms & (1 << 30) - 1


def know_clock(app: App, session: int, bound_us: int) -> None:
    """From now on the car knows a session's clock only so well."""
    slot = app.sessions.find(EPOCHS[session])
    if slot >= 0:
        held = app.sessions.slots[slot]
        held.bound_us = held._sampled_bound_us = bound_us


class Machine:
    """A car and the promises about it, moved by words, times and ticks."""

    def __init__(self, alphabet: Alphabet, plant: Any = None) -> None:
        self.alphabet = alphabet
        self.app = app = car_of(alphabet)
        self.promises = Promises(vehicle_of(alphabet))
        self.numbers = numbers_of(app, alphabet)
        self.speaker = Speaker(app, alphabet.rights, self.numbers)
        self.script: tuple[bool, ...] = ()
        self.log: list[tuple[str, bool]] = []  # what was asked in this tick, and answered
        self.lasts_us: dict[str, int] = {}  # each deadline, as it was set last
        self.looked: list[tuple[str, bool]] = []  # at a deadline whose passing is an event
        self.due: set[str] | None = None  # which deadlines are over, if a real clock says so
        self.opened: list[tuple[str, int]] = []  # deadlines set, and for how long
        self._seen_state = -1
        self._reply: Any = None
        self._tie_environment()
        if plant is not None:
            plant(app)
        self.places, self.deadlines = self._untimed()
        self._handlers = app.receiver._handlers
        self._words = {
            "claim": self._claim, "ask": self._ask, "confirm": self._confirm,
            "command": self._command, "draft": self._silently, "commit": self._commit,
            "stop": self._stop, "box": self._box, "answer": self._answer, "bind": self._bind,
            "sync": self._sync,
        }  # fmt: skip
        self._start()

    @property
    def times(self) -> list[str]:
        """All that may be over as a step ends."""
        return sorted(self.deadlines) + ([CHALLENGE] if self.talk else [])

    @property
    def rules(self) -> Any:
        return self.promises.rules

    # --- what stands in for the environment

    def _tie_environment(self) -> None:
        app = self.app
        self._speed = 0
        app.odometry.step = lambda *_: setattr(app.odometry, "speed_mm_s", self._speed)
        app.board.entropy = lambda: 1
        app.outbox.send = self._catch
        app.outbox.post = lambda payload_size: True
        self.talk: Talk | None = None
        if app.pairing:
            hears = self.promises.heard_challenge
            self.talk = Talk(app, self._ask_time, self._note, hears, NOW_US)
        app.events.add = self._event
        app._report = self._report
        app.overlay._load()  # what writes is there all the time: a place has to be, to be kept
        app.overlay.let_go = lambda: None

    def _catch(self, message: Any) -> bool:
        self._reply = message
        if isinstance(message, messages.StopSeen):
            self._seen_state = message.state
        return True

    def _event(self, time_us: int, code: int, a: int, b: int) -> None:
        if code == codes.EVENT_ACTION_TAKEN and b == OWN:
            self.promises.heard_gesture(a)

    def _report(self, now_us: int) -> None:
        """The reports change nothing, but for these four (the differential test has all)."""
        self.app.runstop.news = self.app.faults.news = 0
        self.app.dispatcher.acknowledge()
        if self.talk:
            self.talk.step(now_us)

    def _untimed(self) -> tuple[list[Place], dict[str, Clockless]]:
        """Take the clock from each deadline; name those whose passing is an event."""
        events = self._event_deadlines()
        _, found = walked({"app": self.app})
        clockless: dict[str, Clockless] = {}
        self.paths: dict[str, str] = {}  # of each deadline
        for path, deadline in found.items():
            name = events.get(id(deadline), "")
            made = without_clock(deadline, name or path, bool(name), self._ask_time, self._note)
            clockless[made.name] = made
            self.paths[made.name] = path
        places, _ = walked({"app": self.app, "promises": self.promises})
        return places, clockless

    def _event_deadlines(self) -> dict[int, str]:
        app = self.app
        found = {
            id(app.actions._open): "request", id(app.stop_sources.all[BOX].heard): "box",
            id(app.rc._live): "receiver", id(app.rc._rests): "rest",
        }  # fmt: skip
        if app.pairing:
            found[id(app.pairing._spoken)] = "talk"
        for place, right in enumerate(self.alphabet.rights):
            source = app.arbiter.sources[right.number]
            found[id(source.lease)] = f"lease {place}"
            if right.has_counter:
                found[id(source.alive)] = f"input {place}"
            if right.has_repress:
                found[id(source.pressed)] = f"press {place}"
        return found

    def _note(self, name: str, in_us: int) -> None:
        self.opened.append((name, in_us))
        self.lasts_us[name] = in_us
        if self.due is not None:
            self.due.discard(name)

    def _ask_time(self, name: str, is_due: bool | None) -> bool:
        """Whether this deadline is over now: known already, by a real clock, or by the script."""
        if is_due is not None:
            self.looked.append((name, is_due))
            return is_due
        if self.due is not None:
            answer = name in self.due
        else:
            at = len(self.log)
            answer = at < len(self.script) and self.script[at]
        self.log.append((name, answer))
        return answer

    def _start(self) -> None:
        """The first steps: neutral for a while, the contacts settled, its ten seconds over."""
        self.app.begin(NOW_US)
        quiet = Inputs("start")
        self.tick(quiet)
        self.due = {name for name in self.deadlines if name.endswith(_OF_THE_START)}
        self.tick(quiet)
        self.due = None
        if self.app.supervisor.state != STANDBY or self.rules.broken:
            wrong = parameters_of(self.app).first_wrong()
            raise RuntimeError(f"the car does not stand by: number {wrong} of {self.alphabet.name}")
        self.rules.evidence.clear()

    # --- what is heard

    def hear(self, word: Word) -> None:
        self.rules.broken = []
        self.opened, self.looked = [], []
        if word.kind == "lost":
            know_clock(self.app, word.session, UNKNOWN_US)
            self.promises.clock_is_lost(word.session)
        elif word.kind == "known":
            know_clock(self.app, word.session, word.value)
            self.promises.clock_is_known(word.session, word.value)
        elif word.kind == "stale":
            self._grow_stale(word.session)
        elif word.kind == "late":
            open_for_long(self.app, word.value, NOW_US)
            self.promises.loop_is_late()
        else:
            message = self.speaker.message(word, NOW_US)
            self._words[word.kind](word, message)

    def _handle(self, message: Any) -> Any:
        self._reply = None
        self._handlers[message.ID](message, NOW_US)
        return self._reply

    def _silently(self, word: Word, message: Any) -> None:
        self._handle(message)

    def _claim(self, word: Word, message: Any) -> None:
        accepted = self.app.arbiter.accepted
        self._handle(message)
        said = (word.deadman, word.speed, word.is_new, word.mask != 0)
        args = (word.session, word.place, word.lease_ms, *said)
        right = self.promises.heard_claim(*args) == (self.app.arbiter.accepted != accepted)
        self.rules.check("S6 a claim is taken from its writer, while its clock is sure", right)

    def _act(self, message: Any) -> bool:
        """Whether it was granted."""
        refusals = self._handle(message).refusals
        self.rules.refusals.add((message.action, refusals))
        return not refusals

    def _ask(self, word: Word, message: Any) -> None:
        config = self.numbers.now(self.app)
        granted = self._act(message)
        args = (word.session, word.action, word.value, config)
        self.promises.heard_ask(*args, granted)

    def _confirm(self, word: Word, message: Any) -> None:
        granted = self._act(message)
        said = (word.session, word.action, word.value, word.config)
        self.promises.heard_confirm(said, word.is_newest, granted)

    def _command(self, word: Word, message: Any) -> None:
        state = self.app.supervisor.state
        granted = self._act(message)
        self.promises.heard_command(word.session, word.action, word.value, state, granted)

    def _commit(self, word: Word, message: Any) -> None:
        state = self.app.supervisor.state
        granted = self._handle(message).result == codes.PARAMETER_OK
        self.promises.heard_commit(word.session, state, granted)

    def _stop(self, word: Word, message: Any) -> None:
        self._handle(message)
        self.promises.heard_stop()

    def _box(self, word: Word, message: Any) -> None:
        self._handle(message)
        counts = self.promises.heard_box(word.session, bool(word.value))
        self._check_run(counts)

    def _answer(self, word: Word, message: Any) -> None:
        """Of a runstop box: its tag is looked for where a frame's bytes are."""
        if self._handlers[message.ID] is not None:
            encode_into(message, self.app.receiver.reader.frame)
            self._handle(message)
        self._check_run(self.promises.heard_answer(word.session, word.answer, bool(word.value)))

    def _check_run(self, counts: bool) -> None:
        is_taken = any(name == "box" for name, _ in self.opened)
        if self.alphabet.is_paired and counts:
            self.rules.check("S10 an answer of its own box counts", is_taken)
        elif self.alphabet.is_paired:
            self.rules.check(
                "S10 what is no answer of its own box counts for nothing", not is_taken
            )

    def _bind(self, word: Word, message: Any) -> None:
        reply = self._handle(message)
        self.promises.heard_bind(word.session, reply.slot if reply.result == codes.BOUND else -1)

    def _sync(self, word: Word, message: Any) -> None:
        self._handle(message)
        self.promises.heard_sync(word.session)

    # --- what time does

    def _grow_stale(self, session: int) -> None:
        slot = self.app.sessions.find(EPOCHS[session])
        if slot >= 0:
            self.app.sessions.slots[slot].heard_us = NOW_US - _STALE_US

    def time_is_over(self, timer: str) -> None:
        self.rules.broken = []
        self.opened, self.looked = [], []
        deadline = self.deadlines.get(timer)
        if deadline is not None and deadline.is_open:
            deadline.is_due = True
        self.promises.time_is_over(timer)

    # --- a step ends, and the next one begins

    def tick(self, inputs: Inputs, script: tuple[bool, ...] = ()) -> None:
        self.rules.broken = []
        self.script, self.log, self.opened, self.looked = script, [], [], []
        app, promises = self.app, self.promises
        before = app.supervisor.state
        may_gesture = promises.receiver_stepped(inputs.rc) if self.alphabet.has_rc else False
        feed(app, inputs)
        self._speed, self._seen_state = inputs.speed, -1
        app.motion._stepped_us = NOW_US - BEAT_US
        if inputs.rc:
            app.rc.claim.sequence = app.arbiter.sources[0].sequence
        app.finish(NOW_US)
        self.report = report_of(app, self.numbers, self._seen_state)
        promises.stepped(before, inputs, self.report, may_gesture)
        app.begin(NOW_US)
        self.forget_the_dead()

    def forget_the_dead(self) -> None:
        """What nobody will read again before it is set anew is one constant: fewer states. The
        perturbation test puts other values in its place and sees the same come of them."""
        app = self.app
        state, stopping, watch, actions = (
            app.supervisor.state, app.stop_sequence, app.fault_monitor, app.actions,
        )  # fmt: skip
        if state != STOPPING:
            stopping._patience.is_open = stopping._rolling.is_open = stopping.is_over = False
            stopping.policy = 0
            if app.loop_brake:
                app.loop_brake._has_opened = False
                app.loop_brake._from_mm_s = app.loop_brake._opened_us = 0
        if state not in (ACTIVE, HOLD):
            app.arbiter.attended.is_open = watch._stand_time.is_open = False
            _forget_which(app, state == STOPPING)
        elif not watch.is_on_stand:
            watch._stand_time.is_open = False
        if not actions.nonce:
            actions._open.shut()
            actions._epoch = actions._action = actions._value = actions._sender = 0
        if not self.alphabet.has_rc:
            app.rc._rests.is_open = False
        if self.talk:
            self.talk.hold_still()
        for source in app.arbiter.active:
            source.fell_silent = False
            if not source.is_fresh:
                source.deadman = source.claimed = source.speed_mm_s = 0
                source.slot = -1
                source.alive.shut()
                source.pressed.shut()


def _forget_which(app: App, is_stopping: bool) -> None:
    """Outside of a drive it matters whether there is a cause, or a fault, and not which: how it
    stops was decided as they came, but for a speed in doubt, and a loop that is braked first."""
    runstop, faults = app.runstop, app.faults
    if runstop.bits:
        is_braked = is_stopping and app.loop_brake
        loop = runstop.bits & 1 << codes.CAUSE_RUNSTOP_LOOP if is_braked else 0
        runstop.bits = loop or 1 << codes.CAUSE_STOP_REQUEST
    if faults.bits:
        is_in_doubt = is_stopping and faults.bits & codes.SPEED_IN_DOUBT
        faults.bits = 1 << (codes.FAULT_TOO_FAST if is_in_doubt else codes.FAULT_OVER_TEMPERATURE)
