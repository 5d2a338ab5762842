"""What has to be remembered to say whether the car keeps its promises; ``rules`` has those.

``Promises`` is told of each message and its answer, of each time that passed, and of each step. It
imports nothing of the core: it sees messages, inputs, and what a Status reports. Its attributes are
part of each state that the search keeps.
"""

from dataclasses import dataclass
from typing import TypeVar

from firmware.protocol import codes
from tests.proof.rules import (
    ACTIVE,
    FAULT,
    HOLD,
    NOBODY,
    STANDBY,
    STOPPING,
    Expected,
    Inputs,
    Report,
    Rules,
)

ARM, CLEAR, DISARM, CAP = 1, 2, 3, 4
NO_CAP = 65535
SHUT, LET_GO, OPEN = 0, 1, 2  # a source's gate: what its person has done so far
_BOARD = 3  # the session of the receiver on the board, beside two hosts and a stranger
_ROLLS = 500  # mm/s, from which on an opened loop may be braked before it is cut
_BOX = 4  # the paired box's in place of a session, at its first start
_FULL = 7000  # mm/s that a receiver's full throttle asks for
_T = TypeVar("_T")
_RC_SAYS = {"held": codes.HELD, "throttle": codes.HELD, "autonomy": 3}


@dataclass(frozen=True)
class Rights:
    """A source as the vehicle file has it."""

    number: int
    priority: int
    is_attended: bool = True
    has_counter: bool = False
    stops_by_silence: bool = True
    needs: int = NOBODY
    needs_switch: bool = False  # a box that lets it run, in place of a person's deadman
    has_repress: bool = False


@dataclass(frozen=True)
class Vehicle:
    """What of the vehicle the promises are about."""

    is_apart = True

    sources: tuple[Rights, ...]
    caps: tuple[tuple[int, ...], ...]  # by configuration, by profile
    default_profile: int
    needs_box: tuple[bool, ...]  # by profile
    is_paired: bool = False  # with a box of its own, where it has a key
    has_key: bool = False
    brakes_loop: bool = False  # an off-delay keeps the drive's power for a while


class Voice:
    """What is known of one source from what it said, and from the time that passed."""

    def __init__(self) -> None:
        self.silence()

    def silence(self) -> None:
        self.session = -1
        self.fresh = self.held = self.permits = self.claims = False
        self.lease_over = self.still = self.press_over = False
        self.gate = SHUT
        self.speed = 0

    def hear(self, session: int, deadman: int, speed: int, is_new: bool, claims: bool) -> None:
        is_held = bool(deadman & codes.HELD)
        if is_new or not self.fresh or not is_held:
            self.still = False
        if not (self.fresh and self.held):
            self.press_over = False
        self.fresh, self.session, self.lease_over = True, session, False
        self.held, self.permits = is_held, deadman == codes.HELD | codes.PERMITS_AUTONOMY
        self.speed, self.claims = speed, claims

    def pass_gate(self, held: bool, neutral: bool) -> None:
        if not held:
            self.gate = LET_GO
        elif self.gate == LET_GO and neutral:
            self.gate = OPEN


class Promises:
    def __init__(self, vehicle: Vehicle) -> None:
        self.rules = Rules()
        self.vehicle = vehicle
        self.request = False  # a nonce lives
        self.asked: tuple[int, ...] = ()  # session, action, value, configuration
        self.armed_profile = self.armed_config = -1
        self.cap = NO_CAP
        self.effects = 0  # since the last step
        self.arm = self.clear = self.disarm = self.by_gesture = False
        self.stop = self.box_stop = False
        self.latched = False
        self.box = self.box_runs = self.box_over = False
        self.box_session = -1
        self.talk = self.talk_over = False  # a box was heard, of whatever key
        self.challenged = False
        self.rc = ""  # the newest frame, while it is live
        self.rc_over = self.rested = self.rest_over = False
        self.bound: tuple[bool, ...] = (True, True, False)
        self.slots: tuple[int, ...] = (0, 1, -1, -1)  # who has each
        self.sure: tuple[bool, ...] = (True, True, False)  # of that session's clock
        self.known_us: tuple[int, ...] = (
            0,
            0,
            0,
        )  # how well it is known, where that is worse than after a Sync
        self.speed = self.target = 0  # of the last step: measured, and put out
        self.voices = tuple(Voice() for _ in vehicle.sources)
        self.stale = False  # the switch has said no stop since a hand let go
        self.drove = False  # something was put out in the last step
        self.loop_known = self.loop_brakes = False  # in this stop: it opened; it is braked first

    # --- what is heard

    def end_request(self) -> None:
        self.request = False
        self.asked = ()

    def heard_ask(self, session: int, action: int, value: int, config: int, granted: bool) -> None:
        if granted:
            self.rules.check("S4 a stranger's request is refused", self.bound[session])
        if self.bound[session]:
            self.end_request()
        if granted:
            self.request, self.asked = True, (session, action, value, config)

    def heard_confirm(
        self, words: tuple[int, int, int, int], is_newest: bool, granted: bool
    ) -> None:
        """``words`` are session, action, value and configuration, as in the ask."""
        lives = self.request and is_newest
        if not lives:
            self.rules.check("S4 a nonce that was used, or died, does nothing", not granted)
        if granted:
            if lives:
                self.rules.check("S2 what is confirmed is what was asked for", words == self.asked)
            self._take_effect()
            if words[1] == ARM:
                self._arm(words[2], words[3])
            else:
                self._clear()
        if self.bound[words[0]]:
            self.end_request()

    def heard_command(
        self, session: int, action: int, value: int, state: int, granted: bool
    ) -> None:
        """A disarm or a cap: in one step."""
        if granted:
            self.rules.check("S4 a stranger's command is refused", self.bound[session])
            self._take_effect()
            if action == DISARM:
                self.disarm = True
            else:
                lowers = state == STANDBY or value <= self.cap
                self.rules.check("S6 the cap of an armed car is only lowered", lowers)
                self.cap = value
        if self.bound[session]:
            self.end_request()

    def heard_commit(self, session: int, state: int, granted: bool) -> None:
        if granted:
            stands = self.speed == 0 and state in (STANDBY, FAULT)
            self.rules.check("S4 a commit is made at rest, by who is bound", stands)
            self._take_effect()
        if self.bound[session]:
            self.end_request()

    def heard_stop(self) -> None:
        self.stop = self.latched = True
        self.end_request()

    def heard_bind(self, session: int, slot: int) -> None:
        """``slot`` is the one it was given; below 0 if it was refused."""
        if slot < 0:
            return
        if self.asked and self.asked[0] == session:
            self.end_request()
        if self.bound[session]:
            return
        self.sure = _with(self.sure, session, False)
        self.bound = _with(self.bound, session, True)
        before, self.slots = self.slots[slot], _with(self.slots, slot, session)
        if before >= 0:
            self.bound = _with(self.bound, before, False)
            self._forget_session(before)

    def _forget_session(self, session: int) -> None:
        """Another has its slot now, and nobody's clock vouches for what it claimed: that ends."""
        for voice in self.voices:
            if voice.session == session:
                voice.session, voice.lease_over = -1, True
        if self.box_session == session:
            self.box_session = -1

    def heard_sync(self, session: int) -> None:
        if self.bound[session]:
            self.sure = _with(self.sure, session, True)
            self.known_us = _with(self.known_us, session, 0)

    def heard_claim(
        self, session: int, place: int, lease_ms: int, deadman: int, speed: int, is_new: bool,
        claims: bool,
    ) -> bool:  # fmt: skip
        """Whether it is to be accepted."""
        voice = self.voices[place]
        is_other = voice.fresh and voice.session != session
        is_sure = self.sure[session] and 4 * self.known_us[session] <= 1000 * lease_ms
        if not self.bound[session] or not is_sure or is_other:
            return False
        voice.hear(session, deadman, speed, is_new, claims)
        return True

    def heard_box(self, session: int, runs: bool) -> bool:
        """A host's word for a box; whether it is to count."""
        is_known = self.bound[session] and self.sure[session] and not self.vehicle.is_paired
        return self._heard_box(session, runs, is_known)

    def heard_answer(self, start: int, answer: str, runs: bool) -> bool:
        """A runstop box's, of this of its starts; whether it is to count. A car that has no key
        hears none, a stop neither: the box says that as a Stop, too."""
        if not (self.vehicle.is_paired and self.vehicle.has_key):
            return False
        self.talk, self.talk_over = True, False
        return self._heard_box(_BOX + start, runs, answer == "right" and self.challenged)

    def _heard_box(self, writer: int, runs: bool, is_known: bool) -> bool:
        if not runs:
            self.box_stop = True
        if not is_known or (self.box and self.box_session != writer):
            return False
        self.box, self.box_runs, self.box_session = True, runs, writer
        self.box_over = False
        return True

    def heard_challenge(self) -> None:
        """The car said one."""
        self.challenged = True

    def heard_gesture(self, action: int) -> None:
        """The car reports that one took effect; whether it was one is asked at the step's end."""
        self._take_effect()
        self.by_gesture = True
        if action == ARM:
            self._arm(self.vehicle.default_profile, -1)
        else:
            self._clear()

    def _take_effect(self) -> None:
        self.effects = min(self.effects + 1, 2)
        self.rules.check("S2 one thing takes effect in a step", self.effects == 1)
        self.end_request()

    def _arm(self, profile: int, config: int) -> None:
        self.arm = True
        self.armed_profile, self.armed_config = profile, config
        for voice, rights in zip(self.voices, self.vehicle.sources, strict=True):
            if rights.needs_switch:
                voice.gate = OPEN if voice.fresh else SHUT
            elif not rights.is_attended:
                voice.gate = SHUT
            elif voice.gate == OPEN:
                voice.gate = LET_GO

    def _clear(self) -> None:
        self.clear = True
        self.latched = self.stop  # one on the same step outlives the clear

    # --- what time does

    def timers(self) -> list[str]:
        """Which times may be over as a step begins."""
        found = ["request"] if self.request else []
        if self.box and not self.box_over:
            found.append("box")
        if self.talk and not self.talk_over:
            found.append("talk")
        if self.rc and not self.rc_over:
            found.append("receiver")
        if self.rc in ("rest", "idle") and not self.rested and not self.rest_over:
            found.append("rest")
        for place, voice in enumerate(self.voices):
            if voice.fresh:
                found += self._times_of(place, voice)
        return found

    def _times_of(self, place: int, voice: Voice) -> list[str]:
        rights = self.vehicle.sources[place]
        found = [] if voice.lease_over else [f"lease {place}"]
        if rights.has_counter and voice.held and not voice.still:
            found.append(f"input {place}")
        if rights.has_repress and voice.held and not voice.press_over:
            found.append(f"press {place}")
        return found

    def time_is_over(self, timer: str) -> None:
        word, _, number = timer.partition(" ")
        if word == "request":
            self.end_request()
        elif word == "box":
            self.box_over = True
        elif word == "talk":
            self.talk_over = True
        elif word == "receiver":
            self.rc_over = True
        elif word == "rest":
            self.rest_over = True
        else:
            flag = {"lease": "lease_over", "input": "still", "press": "press_over"}[word]
            setattr(self.voices[int(number)], flag, True)

    def clock_is_lost(self, session: int) -> None:
        self.sure = _with(self.sure, session, False)
        self.known_us = _with(self.known_us, session, 0)

    def clock_is_known(self, session: int, known_us: int) -> None:
        """Note that it is known only so well, which the car's numbers allow."""
        if self.bound[session]:
            self.sure = _with(self.sure, session, True)
            self.known_us = _with(self.known_us, session, known_us)

    # --- a step

    def receiver_stepped(self, frame: str) -> bool:
        """The first thing of a step: the receiver's frame. Whether a gesture may be in it."""
        if self.rc_over:
            self.rc, self.rc_over = "", False
        if frame:
            self.rc, self.rc_over = frame, False
            deadman = _RC_SAYS.get(frame, 0)
            claims = frame not in ("autonomy", "idle", "stop")
            self.voices[0].hear(_BOARD, deadman, _FULL if frame == "throttle" else 0, True, claims)
        may = self.rested and self.rc in ("held", "autonomy")
        if self.rc in ("rest", "idle"):
            self.rested = self.rested or self.rest_over
        else:
            self.rested = False
        self.rest_over = False
        return may

    def stepped(self, before: int, inputs: Inputs, report: Report, may_gesture: bool) -> None:
        """The rest of it, and the checks."""
        had_box = self.box
        if self.box_over:
            self.box = self.box_runs = self.box_over = False
            self.box_session = -1
        silent, frozen = self._sources_stepped()
        in_hand, waits = self._programs_stepped()
        winner, speed = self._winner()
        if self.by_gesture and self.armed_config < 0:
            self.armed_config = report.config
        causes = self._causes(before, inputs, winner, silent, frozen)
        needs_box = self.armed_profile >= 0 and self.vehicle.needs_box[self.armed_profile]
        self.rules.step(
            inputs,
            report,
            Expected(
                before, causes, silent, self.latched, winner, speed, self.stop or self.box_stop,
                self.stop, self.arm, self.clear, self.disarm, self.by_gesture, may_gesture,
                self.armed_profile, self.armed_config, self._cap(), self.target,
                needs_box and not self.box, not had_box, self.vehicle.default_profile,
                in_hand, waits, self._programs(), self._must_be_cut(before, inputs, report),
            ),
        )  # fmt: skip
        self._settle(before, inputs, report, causes)

    def _sources_stepped(self) -> tuple[bool, bool]:
        """Time and hands of each source: whether one fell silent that stops, or is frozen."""
        silent = frozen = False
        for voice, rights in zip(self.voices, self.vehicle.sources, strict=True):
            if not voice.fresh:
                continue
            if voice.lease_over:
                voice.silence()
                silent = silent or rights.stops_by_silence
                continue
            frozen = frozen or (voice.still and voice.held)
            if voice.held and voice.press_over:
                voice.gate = SHUT
            if rights.is_attended:
                voice.pass_gate(voice.held, voice.speed == 0)
        return silent, frozen

    def _programs_stepped(self) -> tuple[bool, bool]:
        """The gates of programs: whether a hand is beside them, and whether one of them waits that
        a person, or a switch, would let drive."""
        in_hand, waits = self._is_in_hand(), False
        if in_hand:
            self.stale = any(rights.needs_switch for rights in self.vehicle.sources)
        elif self.box and not self.box_runs:
            self.stale = False
        for voice, rights in zip(self.voices, self.vehicle.sources, strict=True):
            if not voice.fresh or rights.is_attended:
                continue
            is_let = (
                self.box and self.box_runs if rights.needs_switch else self._is_permitted(rights)
            )
            if in_hand or (rights.needs_switch and (self.stale or not is_let)):
                voice.gate = SHUT
            elif not rights.needs_switch:
                voice.pass_gate(is_let, True)
            waits = waits or (is_let and voice.claims and voice.gate != OPEN)
        return in_hand, waits

    def _is_in_hand(self) -> bool:
        """Who steers and drives by hand has taken over; so has the RC at manual, held or not."""
        return any(
            voice.claims
            and (
                rights.number == codes.SOURCE_RC
                or (voice.held and voice.gate == OPEN and not voice.still)
            )
            for voice, rights in zip(self.voices, self.vehicle.sources, strict=True)
            if voice.fresh and rights.is_attended
        )

    def loop_is_late(self) -> None:
        """It has been open for as long as it may be braked."""
        self.loop_brakes = False

    def _must_be_cut(self, before: int, inputs: Inputs, report: Report) -> bool:
        """Whether the loop was opened in this stop and may not, or no longer, be braked first: that
        takes an off-delay, and wheels that roll by their own drive as it opens."""
        if report.state != STOPPING:
            self.loop_known = self.loop_brakes = False
            return False
        is_open = not inputs.loop_closed
        if not self.vehicle.brakes_loop:
            return is_open
        if before != STOPPING:
            self.loop_known = False
        if is_open and not self.loop_known:
            self.loop_known, self.loop_brakes = True, inputs.speed >= _ROLLS and self.drove
        return self.loop_known and not self.loop_brakes

    def _programs(self) -> tuple[int, ...]:
        return tuple([it.number for it in self.vehicle.sources if not it.is_attended])

    def _is_permitted(self, rights: Rights) -> bool:
        for voice, other in zip(self.voices, self.vehicle.sources, strict=True):
            if other.number == rights.needs:
                return voice.fresh and voice.gate != SHUT and voice.held and voice.permits
        return False

    def _winner(self) -> tuple[int, int]:
        best, who, speed = -1, NOBODY, 0
        for voice, rights in zip(self.voices, self.vehicle.sources, strict=True):
            if not (voice.fresh and voice.gate == OPEN and voice.claims):
                continue
            if rights.is_attended and (not voice.held or voice.still):
                continue
            if rights.priority > best:
                best, who, speed = rights.priority, rights.number, voice.speed
        return who, speed

    def _causes(
        self, before: int, inputs: Inputs, winner: int, silent: bool, frozen: bool
    ) -> tuple[str, ...]:
        is_armed = before in (ACTIVE, HOLD)
        needs_box = self.armed_profile >= 0 and self.vehicle.needs_box[self.armed_profile]
        box_stops = self.box_stop or (self.box and not self.box_runs)
        rows = (
            ("an open loop", not inputs.loop_closed),
            ("a charger", inputs.charger),
            ("a Stop", self.stop),
            ("a box's stop", box_stops),
            ("the RC's stop", self.rc == "stop"),
            ("silence", is_armed and silent),
            ("a frozen input", is_armed and frozen),
            ("a missing box", is_armed and needs_box and not self.box),
            ("a lost clock", is_armed and self._is_clock_lost(winner)),
        )
        return tuple([name for name, holds in rows if holds])

    def _is_clock_lost(self, winner: int) -> bool:
        for voice, rights in zip(self.voices, self.vehicle.sources, strict=True):
            if rights.number == winner and voice.session < _BOARD:
                return not self.sure[voice.session]
        return False

    def _cap(self) -> int:
        if self.armed_profile < 0:
            return self.cap
        return min(self.cap, self.vehicle.caps[max(self.armed_config, 0)][self.armed_profile])

    def _settle(self, before: int, inputs: Inputs, report: Report, causes: tuple[str, ...]) -> None:
        if causes or inputs.hot or self.effects or self.box_stop or report.state != before:
            self.end_request()
            self.rested = False
        self.latched = self.latched or bool(causes)
        if report.state not in (ACTIVE, HOLD):
            self.armed_profile = self.armed_config = -1
        self.effects = 0
        self.arm = self.clear = self.disarm = self.by_gesture = False
        self.stop = self.box_stop = False
        if self.talk_over:
            self.talk = self.talk_over = self.challenged = False
        self.speed, self.target = inputs.speed, report.target
        self.drove = self.vehicle.brakes_loop and report.esc != 0


def _with(flags: tuple[_T, ...], at: int, value: _T) -> tuple[_T, ...]:
    return (*flags[:at], value, *flags[at + 1 :])
