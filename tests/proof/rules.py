"""S1 to S4, S6, S9 and S10 as checks of one step: what was before, what came in, what came out.

Each check counts how often there was something to check: a promise that was never put to the test
was not shown.
"""

from collections import Counter
from dataclasses import dataclass

from firmware.protocol import codes

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
STATES = ["STARTING", "STANDBY", "ACTIVE", "HOLD", "STOPPING", "STOPPED", "FAULT"]
NOBODY = codes.NOBODY
_ARMED = (ACTIVE, HOLD)
_DRIVEN = (ACTIVE, HOLD, STOPPING)
# Without an arm and without a clear: whither a state may go by itself
_BY_ITSELF = {
    STARTING: (STARTING, STANDBY, FAULT),
    STANDBY: (STANDBY, FAULT),
    ACTIVE: (ACTIVE, HOLD, STOPPING),
    HOLD: (HOLD, ACTIVE, STOPPING),
    STOPPING: (STOPPING, STOPPED, FAULT),
    STOPPED: (STOPPED, FAULT),
    FAULT: (FAULT,),
}


CAUSES = (
    "an open loop", "a charger", "a Stop", "a box's stop", "the RC's stop", "silence",
    "a frozen input", "a missing box", "a lost clock",
)  # fmt: skip
# All that is checked, here and in ``promises``; a search of all alphabets puts each to the test
PROMISES = (
    "S1 neutral and cut where it may not move",
    "S1 a brake opposes the measured motion",
    "S1 nothing by a speed in doubt",
    "S2 what is confirmed is what was asked for",
    "S2 one thing takes effect in a step",
    "S2 the required box is there at the arm",
    "S2 a gesture arms the default",
    "S2 the profile confirmed is the one armed",
    "S2 the numbers confirmed are those armed",
    "S2 ACTIVE without a cause",
    "S2 ACTIVE without a fault",
    "S2 ACTIVE with the required box",
    "S2 ACTIVE with a fresh, held, engaged source",
    *[f"S3 {cause} stops an armed car on its step" for cause in (*CAUSES, "a fault")],
    *[f"S3 {cause} is latched, in every state" for cause in CAUSES],
    "S3 a cause moves no state but an armed one",
    "S3 an opened loop cuts, but for what rolls by its own drive",
    "S3 a cause stays until it is cleared",
    "S4 a stranger's request is refused",
    "S4 a stranger's command is refused",
    "S4 a nonce that was used, or died, does nothing",
    "S4 a commit is made at rest, by who is bound",
    "S4 nothing leaves a stop without a clear",
    "S4 no clear while the cause is there",
    "S4 nothing is armed without an arm",
    "S4 a disarm is asked for",
    "S4 a gesture is a hand off, a second in neutral, and on",
    "S4 a source begins from neutral",
    "S4 a permission that was held all along lets no program drive",
    "S6 beside a hand no program has anything",
    "S6 a claim is taken from its writer, while its clock is sure",
    "S6 the cap of an armed car is only lowered",
    "S6 the output goes towards what its winner may ask for",
    "S6 who asks for nothing drives nothing",
    "S6 the best fresh and engaged source has the car",
    "S6 nobody has it whom nothing entitles",
    "S9 silence is latched on its step",
    "S9 who fell silent has nothing",
    "S10 a stop is obeyed, whoever sends it",
    "S10 a stop is answered with the state it brought",
    "S10 an answer of its own box counts",
    "S10 what is no answer of its own box counts for nothing",
)


@dataclass(frozen=True)
class Inputs:
    """What the environment does in one step."""

    name: str
    speed: int = 0
    loop_closed: bool = True
    hot: bool = False
    charger: bool = False
    rc: str = ""  # the frame that comes: rest, held, throttle, idle, autonomy, stop; none


@dataclass
class Report:
    """What the car put out and reported of one step."""

    state: int
    esc: int  # away from neutral, forward is up; ns
    enable: bool
    causes: int
    faults: int
    winner: int
    steers: int  # the winner of the steering
    target: int
    profile: int
    config: int
    seen_state: int  # of the StopSeen that it sent, or -1


@dataclass(frozen=True)
class Expected:
    """What of this step follows from all that was heard, by the promises."""

    before: int  # the state
    causes: tuple[str, ...]
    silent: bool
    latched: bool  # a cause that nobody has cleared
    winner: int
    winner_speed: int
    stop: bool  # a Stop, or a box's, was heard since the last step
    asked_stop: bool  # a Stop
    arm: bool
    clear: bool
    disarm: bool
    by_gesture: bool
    may_gesture: bool
    armed_profile: int
    armed_config: int
    cap: int
    target_before: int
    box_missing: bool  # in the armed profile
    was_missing: bool  # at the begin of this step as well
    default_profile: int
    in_hand: bool  # a person drives by hand, or the RC is at manual
    waits: bool  # a program that is let drive, and was not let so anew
    programs: tuple[int, ...]  # sources
    must_be_cut: bool  # the loop was opened in this stop, and it is not braked first


class Rules:
    """Checks, what they found broken, and how often each was put to the test."""

    is_apart = True  # no memory of the car's or the promises': the search does not keep it

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.evidence: Counter[str] = Counter()
        self.refusals: set[tuple[int, int]] = set()  # of an action, as in its reply
        self.ways: set[tuple[int, int]] = set()  # from a state to a state

    def check(self, promise: str, holds: bool) -> None:
        self.evidence[promise] += 1
        if not holds:
            self.broken.append(promise)

    def step(self, inputs: Inputs, report: Report, e: Expected) -> None:
        """All that is to be true of one step."""
        self.ways.add((e.before, report.state))
        self._outputs(inputs, report)
        self._stops(inputs, report, e)
        self._ways(inputs, report, e)
        self._arms(report, e)
        if report.state in _ARMED:
            self._armed(inputs, report, e)
        self._winners(report, e)

    def _outputs(self, inputs: Inputs, report: Report) -> None:
        state, esc = report.state, report.esc
        if state not in _DRIVEN:
            self.check("S1 neutral and cut where it may not move", esc == 0 and not report.enable)
            return
        if state != ACTIVE and esc:
            self.check("S1 a brake opposes the measured motion", esc * inputs.speed < 0)
        if state != ACTIVE and report.faults & codes.SPEED_IN_DOUBT:
            self.check("S1 nothing by a speed in doubt", esc == 0)

    def _stops(self, inputs: Inputs, report: Report, e: Expected) -> None:
        state = report.state
        found = [f"S3 {cause} stops an armed car on its step" for cause in e.causes]
        if inputs.hot:
            found.append("S3 a fault stops an armed car on its step")
        for promise in found if e.before in _ARMED else ():
            self.check(promise, state == STOPPING)
        for cause in e.causes:
            self.check(f"S3 {cause} is latched, in every state", report.causes != 0)
        if e.causes and e.before not in _ARMED and not inputs.hot and not report.faults:
            stays = state == e.before or e.before in (STARTING, STOPPING)
            self.check("S3 a cause moves no state but an armed one", stays)
        if e.must_be_cut:
            self.check(
                "S3 an opened loop cuts, but for what rolls by its own drive", not report.enable
            )
        if e.latched:
            self.check("S3 a cause stays until it is cleared", report.causes != 0)
        if e.silent and e.before in _ARMED:
            is_latched = bool(report.causes >> codes.CAUSE_SILENCE & 1)
            self.check("S9 silence is latched on its step", is_latched)
        if e.stop:
            self.check("S10 a stop is obeyed, whoever sends it", state not in _ARMED)
        if e.asked_stop:
            self.check(
                "S10 a stop is answered with the state it brought", report.seen_state == state
            )

    def _ways(self, inputs: Inputs, report: Report, e: Expected) -> None:
        before, state = e.before, report.state
        if state in _BY_ITSELF[before]:
            return
        if before in (STOPPED, FAULT):
            by_hand = e.clear and state == STANDBY
            self.check("S4 nothing leaves a stop without a clear", by_hand)
            self.check("S4 no clear while the cause is there", not e.causes and not inputs.hot)
        elif before == STANDBY:
            self.check("S4 nothing is armed without an arm", e.arm and state == HOLD)
        elif before == HOLD:
            self.check("S4 a disarm is asked for", e.disarm and state == STANDBY)
        else:
            self.check(f"S4 no way from {STATES[before]} to {STATES[state]}", False)

    def _arms(self, report: Report, e: Expected) -> None:
        if e.by_gesture:
            self.check("S4 a gesture is a hand off, a second in neutral, and on", e.may_gesture)
        if e.before != STANDBY or report.state != HOLD:
            return
        self.check("S2 the required box is there at the arm", not (e.was_missing and e.box_missing))
        if e.by_gesture:
            self.check("S2 a gesture arms the default", report.profile == e.default_profile)

    def _armed(self, inputs: Inputs, report: Report, e: Expected) -> None:
        self.check("S2 the profile confirmed is the one armed", report.profile == e.armed_profile)
        self.check("S2 the numbers confirmed are those armed", report.config == e.armed_config)
        if report.state == HOLD:
            return
        self.check(
            "S2 ACTIVE without a cause", not e.causes and not e.latched and not report.causes
        )
        self.check("S2 ACTIVE without a fault", not inputs.hot and not report.faults)
        self.check("S2 ACTIVE with the required box", not e.box_missing)
        self.check("S2 ACTIVE with a fresh, held, engaged source", e.winner != NOBODY)
        if e.before == HOLD:
            self.check("S4 a source begins from neutral", e.winner != NOBODY)
        wanted, was = min(e.winner_speed, e.cap), e.target_before
        follows = min(wanted, was) <= report.target <= max(wanted, was)
        self.check("S6 the output goes towards what its winner may ask for", follows)
        if not report.target:
            self.check("S6 who asks for nothing drives nothing", report.esc <= 0)

    def _winners(self, report: Report, e: Expected) -> None:
        right = report.winner == e.winner and report.steers == e.winner
        if e.winner != NOBODY:
            self.check("S6 the best fresh and engaged source has the car", right)
        else:
            self.check("S6 nobody has it whom nothing entitles", right)
        if e.silent:
            self.check("S9 who fell silent has nothing", right)
        found = {report.winner, report.steers} & {*e.programs}
        if e.in_hand and e.programs:
            self.check("S6 beside a hand no program has anything", not found)
        elif e.waits:
            self.check("S4 a permission that was held all along lets no program drive", not found)
