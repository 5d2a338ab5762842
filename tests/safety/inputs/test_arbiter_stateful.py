"""The real arbiter against the model of S6, S7 and S9, under random claims, sessions and times."""

import random

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from firmware.core.arbitration import arbiter as arbitration
from firmware.core.arbitration.arbiter import Arbiter
from firmware.core.arbitration.source import Source
from firmware.core.clock import Sessions
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol.codec import fill_values
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import Claim
from tests.safety.inputs.arbiter_model import NOBODY, Model, Rights

PERIOD = 1 << 30
OWN = 4  # the board's own session
HOSTS = 3
SOURCES, ACTUATORS = 16, 8
STARTS_US = (0, PERIOD - 1_500_000, PERIOD // 2 - 1_500_000)
ON_SILENCE_YIELD = 1


def table_of(seed: int) -> list[Rights]:
    """Sixteen sources, some unknown; 0 is the receiver on the board."""
    draw = random.Random(seed)
    table = []
    for _ in range(SOURCES):
        rights = Rights(
            mask=draw.choice((0, 3, 15, 0xFF, 2, draw.randrange(256))),
            priority=draw.choice((10, 20, draw.randrange(256))),
            lease_ms=draw.choice((20, 120, 300)),
            attended=draw.random() < 0.7,
            counts=draw.random() < 0.4,
            repress_us=draw.choice((0, 0, 0, 400_000)),
        )
        if not rights.attended:
            rights.needs = draw.choice((NOBODY, 1, 2))
            rights.switch = draw.choice((NOBODY, NOBODY, 3))
        table.append(rights)
    table[0] = Rights(mask=15, priority=200, lease_ms=60)
    table[1] = Rights(mask=15, priority=100)
    table[2] = Rights(mask=0xFF, priority=100, counts=True)
    table[3] = Rights(mask=7, priority=20, attended=False, needs=1)
    table[4] = Rights(mask=7, priority=30, attended=False, switch=3)
    return table


def params_of(table: list[Rights], seed: int) -> CheckedParams:
    params = CheckedParams(crc_table())
    draw = random.Random(seed)
    for source, rights in enumerate(table):
        row = {
            "mask": rights.mask, "priority": rights.priority, "lease_ms": rights.lease_ms,
            "flags": rights.attended | rights.counts << 1, "needs": rights.needs,
            "kill_switch": rights.switch, "repress_ms": rights.repress_us // 1000,
            "on_silence": draw.randrange(2),
        }  # fmt: skip
        for name, value in row.items():
            params.values[params.index("source_" + name) + source] = int(value)
    params.values[params.index("clock_bound_us")] = 10_000
    params.values[params.index("frozen_ms")] = 200
    return params


def often(value, *others):
    """Mostly this, now and then one of the others."""
    return st.sampled_from([value] * (3 * len(others)) + list(others))


AGES = often("fresh", "future", "just future", "just old", "too old", "half a period", "a period")


def age_us(kind: str, lease_ms: int, bound_us: int) -> int:
    """How long ago it was stamped; on both sides of each limit."""
    oldest = lease_ms * 1000 - bound_us
    return {
        "fresh": min(3_000, oldest - 1), "future": -bound_us - 1, "just future": -bound_us,
        "just old": oldest - 1, "too old": oldest, "half a period": PERIOD // 2 - 1,
        "a period": PERIOD // 2 - PERIOD,
    }[kind]  # fmt: skip


class ArbiterMachine(RuleBasedStateMachine):
    """Whatever is said to both, both decide the same."""

    @initialize(seed=st.integers(0, 1 << 16), start_us=st.sampled_from(STARTS_US))
    def begin(self, seed, start_us):
        self.now_us = start_us
        self.table = table_of(seed)
        self.model = Model(self.table)
        self.sessions = Sessions(999)
        self.arbiter = Arbiter(self.sessions)
        self.arbiter.configure(params_of(self.table, seed))
        self.arbiter.has_receiver = True
        self.offsets = [0] * (HOSTS + 2)
        self.next_epoch = 100
        self.own_sequence = 65_530
        for host in range(HOSTS):
            self.bind(host)

    def bind(self, host: int) -> None:
        """A new session in this slot, its clock somewhere else."""
        self.next_epoch += 1
        session = self.sessions.slots[host]
        session.restart(self.next_epoch, self.now_us % PERIOD)
        wraps_soon_us = PERIOD - self.now_us - 500_000
        self.offsets[host] = self.next_epoch * 123_456_789 if host else wraps_soon_us
        session.offset_us = (self.offsets[host] + PERIOD // 2) % PERIOD - PERIOD // 2
        session.bound_us = 200

    def claim_of(self, source: int, **fields) -> Claim:
        claim = Claim()
        claim.source = source
        for name in ("brake", "lights", "aux_1", "aux_2", "aux_3", "aux_4", "steer_urad"):
            setattr(claim, name, 0)
        for name, value in fields.items():
            setattr(claim, name, value)
        fill_values(claim)
        return claim

    @rule(
        source=often(1, 2, 3, 5, 8, 13, 15, 0, 16, 200), host=often(0, 1, 2, HOSTS),
        ahead=often(1, 0, 2, 32_767, 32_768, 65_535), mask=often(3, 0, 2, 15, 0xFF),
        over_ms=often(0, -60, 1), deadman=often(1, 0, 3), speed=often(0, 500),
        counts=often(True, False), age=AGES,
    )  # fmt: skip
    def claim(self, source, host, ahead, mask, over_ms, deadman, speed, counts, age):
        is_known = source < SOURCES
        rights = self.table[source] if is_known else Rights()
        state = self.model.states[source if is_known else 0]
        lease_ms = max(rights.lease_ms + over_ms, 1)
        session = self.sessions.slots[host]
        old_us = age_us(age, lease_ms, session.bound_us)
        claim = self.claim_of(
            source, epoch=session.epoch if host < HOSTS else 7, lease_ms=lease_ms,
            sequence=(state.sequence + ahead) % 65536, deadman=deadman, speed_mm_s=speed,
            mask=mask & rights.mask if ahead == 1 else mask,
            input_count=(state.count + counts) % 65536,
            stamp_us=(self.now_us + self.offsets[host] - old_us) % PERIOD,
        )  # fmt: skip
        may = host < HOSTS and 0 < source < SOURCES  # 0 has its receiver on the board
        may = may and self.model.may(claim, host, old_us, session.bound_us)
        assert (self.arbiter.receive(claim, self.now_us % PERIOD) == 0) == may
        if may:
            self.model.take(claim, host, self.now_us, old_us, session.bound_us)

    @rule(deadman=often(1, 0), speed=often(0, 400), is_new=often(True, False))
    def receiver(self, deadman, speed, is_new):
        """A frame of the receiver on the board, under the board's own epoch."""
        self.own_sequence = (self.own_sequence + is_new) % 65536
        claim = self.claim_of(
            0, epoch=999, lease_ms=60, sequence=self.own_sequence, deadman=deadman, mask=15,
            speed_mm_s=speed, input_count=0, stamp_us=0,
        )  # fmt: skip
        may = self.model.may(claim, OWN, 0, 0)
        assert (self.arbiter.receive_own(claim, self.now_us % PERIOD) == 0) == may
        if may:
            self.model.take(claim, OWN, self.now_us, 0, 0)

    @rule(host=st.integers(0, HOSTS - 1), bound_us=often(200, 0, 9_999, 10_000, 10_001, 65_535))
    def clock(self, host, bound_us):
        self.sessions.slots[host].bound_us = bound_us

    @rule(host=st.integers(0, HOSTS - 1))
    def another_session(self, host):
        if any(w.is_fresh and w.writer == host for w in self.model.states):
            return  # a slot is given away only when its session has been silent for long
        self.bind(host)
        self.arbiter.forget(host)
        for state in self.model.states:
            if state.writer == host:
                state.writer = -1

    @rule(live=often(1 << 3, 0), says_stop=often(False, True))
    def kill_switch(self, live, says_stop):
        """There and lets it, or says stop; or silent."""
        self.arbiter.live_switches = self.model.live_switches = 0 if says_stop else live
        self.arbiter.asserted = self.model.said = 1 << 3 if says_stop else 0

    @rule()
    def arm(self):
        self.arbiter.begin_from_neutral(self.now_us % PERIOD)
        self.model.arm()

    @rule(us=often(10_000, 1, 5_000, 10_000, 19_800, 119_800, 200_000, 300_000_000))
    def step(self, us):
        self.now_us += us
        self.arbiter.step(self.now_us % PERIOD)
        self.model.step(self.now_us)
        self.compare()

    @rule(beats=st.integers(2, 20), program=st.sampled_from((3, 4)), permits=often(3, 1))
    def autonomy(self, beats, program, permits):
        """A program claims, and a person permits it, anew."""
        for beat in range(beats):
            self.claim(1, 0, 1, 0, 0, permits if beat else 0, 0, True, "fresh")
            self.claim(program, 0, 1, 3, 0, 0, 500, True, "fresh")
            self.step(10_000)

    @rule(hand=often(2, 1, 0), lets_go=often(True, False), presses=often(True, False))
    def takes_over(self, hand, lets_go, presses):
        """A hand takes over from programs that one person and one switch let drive, and lets go;
        then the switch is pressed, the car armed anew."""
        self.autonomy(3, 3, 3)
        for beat in range(4):
            self.claim(1, 0, 1, 0, 0, 3, 0, True, "fresh")
            for program in (3, 4):
                self.claim(program, 0, 1, 3, 0, 0, 500, True, "fresh")
            if hand == 0:
                self.receiver(int(beat in (1, 2)), 0, True)
            elif hand == 2:
                self.claim(hand, 0, 1, 3, 0, int(0 < beat < 3 or not lets_go), 0, True, "fresh")
            self.step(10_000)
        if presses:
            self.kill_switch(1 << 3, True)
            self.step(10_000)
            self.kill_switch(1 << 3, False)
        self.claim(4, 0, 1, 3, 0, 0, 500, True, "fresh")
        self.arm()
        self.step(10_000)

    @rule(
        beats=st.integers(1, 30), source=often(1, 2, 5), deadman=often(1, 3),
        freezes=often(False, True),
    )  # fmt: skip
    def drives(self, beats, source, deadman, freezes):
        """Somebody who claims every 10 ms, began as one should, and may not move any more then."""
        for beat in range(beats):
            is_new = beat < 2 or not freezes
            self.claim(source, 0, 1, 3, 0, deadman if beat else 0, 0, is_new, "fresh")
            self.step(10_000)

    def compare(self):
        states = self.model.states
        sources = self.arbiter.sources
        known = [s for s in range(SOURCES) if self.table[s].mask]
        assert [sources[s].is_fresh for s in known] == [states[s].is_fresh for s in known]
        expected = [self.model.winner(actuator) for actuator in range(ACTUATORS)]
        assert self.arbiter.winners == expected
        stops = [s for s in known if states[s].fell_silent and not sources[s].on_silence]
        assert (self.arbiter.silent_source != NOBODY) == bool(stops)
        is_frozen = any(state.is_frozen for state in states)
        assert (self.arbiter.frozen_source != NOBODY) == is_frozen


RUNS = settings(
    max_examples=150, stateful_step_count=60, deadline=None, derandomize=True, database=None,
    phases=[Phase.generate], suppress_health_check=list(HealthCheck),
)  # fmt: skip


def test_the_arbiter_decides_as_the_model_does():
    run_state_machine_as_test(ArbiterMachine, settings=RUNS)


# --- the comparison can fail


def one(value):
    return lambda *_: value


def no_sequence(self, claim, source, slot):
    if source.is_fresh and source.slot != slot:
        return 3
    if claim.mask & ~source.mask:
        return 5
    return 6 if claim.lease_ms > source.lease_max_ms else 0


def by_arrival(self, now_us):
    """Silence is forgotten when the next claim comes: the lease is never looked at."""
    self.fell_silent = self.is_frozen = False
    if self.is_attended and self.is_fresh:
        self._pass_gate(self.deadman & 1, self.speed_mm_s == 0)


def held_hands_only(self, source):
    return source.is_attended and source.claimed & 7 and not self._objection(source)


def an_arm_frees(self, now_us, arms=Arbiter.begin_from_neutral):
    arms(self, now_us)
    self._worn = 0


MISTAKES = {
    "no sequence": (Arbiter, "_rights", no_sequence),
    "no freshness": (Arbiter, "_freshness", one(0)),
    "silence by arrival": (Source, "step", by_arrival),
    "gate open": (Source, "_pass_gate", lambda self, held, neutral: setattr(self, "gate", 2)),
    "anybody permits": (Source, "permits", one(True)),
    "nobody is frozen": (Source, "_watch_hand", one(None)),
    "a hand changes nothing": (Arbiter, "_is_hand", one(False)),
    "the RC's manual changes nothing": (Arbiter, "_is_hand", held_hands_only),
    "an arm frees a kill-switch": (Arbiter, "begin_from_neutral", an_arm_frees),
    "no neutral after an arm": (Source, "begin_from_neutral", one(None)),
    "clocks that wrap": (arbitration, "elapsed_us", lambda now_us, then_us: now_us - then_us),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistaken_arbiter_is_noticed(monkeypatch, mistake):
    monkeypatch.setattr(*MISTAKES[mistake])
    with pytest.raises(AssertionError):
        run_state_machine_as_test(ArbiterMachine, settings=settings(RUNS, max_examples=120))
