"""Every fault of the catalogue on the complete program: it holds, everywhere, and can fail."""

import re
from functools import cache

import pytest

from firmware.core.arbitration.arbiter import Source
from firmware.core.deadlines import Deadline
from firmware.core.link.dispatcher import MessageDispatcher
from firmware.core.motion.drive import Drive
from firmware.core.stops.latch import Latch
from firmware.protocol import codes
from host_bridge.config import load_vehicle, vehicle_names
from sim_mock.faults.bounds.expectations import EXPECTATIONS
from sim_mock.faults.bounds.limits import UNAIDED_MS, WAITS
from sim_mock.faults.cases.catalogue import CASES, cases
from sim_mock.faults.running import run
from sim_mock.faults.trial.vehicles import NEEDS
from sim_mock.runtime import micropython

IDS = [case.id for case in CASES]
VEHICLES = vehicle_names()


def assert_held(case_id, vehicle="f1tenth", seed=0, runtime="in-process"):
    result = run(case_id, load_vehicle(vehicle), seed, runtime)
    assert result.wrong == ()
    return result


@pytest.mark.parametrize("step_s", [0.01, 0.013, 0.016, 0.02])
@pytest.mark.parametrize("name", ["f1tenth", "autorally", "nigel"])
def test_a_step_that_takes_longer_than_its_beat_drives_on_whatever_the_beat(name, step_s):
    """What such a step comes late is not added up until it looks like an overrun."""
    result = run("off-beat", load_vehicle(name, {"timing.step_s": step_s}), 0)
    assert result.wrong == ()


@cache  # all of them are asked for each case: a tenth of the time of these tests
def known(name):
    return load_vehicle(name)


def vehicle_for(case, turn):
    """They take turns; ``turn`` is where to begin."""
    fitting = [name for name in VEHICLES if case.fits(known(name))]
    return fitting[(CASES.index(case) + turn) % len(fitting)]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_fault_ends_as_it_must(case):
    """On one vehicle; `tandem faults` runs all on all."""
    assert_held(case.id, vehicle_for(case, 0))


@pytest.mark.exhaustive
@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize(
    "case_id",
    ["lets-go", "total-silence", "runstop-opens", "loop-hangs", "contact-opens", "brown-out",
     "left-encoder-dead", "box-silent", "board-resets"],
)  # fmt: skip
def test_every_way_of_stopping_is_held_by_every_vehicle(case_id, vehicle):
    assert_held(case_id, vehicle)


@pytest.mark.exhaustive
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_silence_stops_in_time_at_every_moment_at_which_it_may_begin(vehicle):
    runs = [assert_held("total-silence", vehicle, seed) for seed in range(8)]
    assert len({one.reaction_s for one in runs}) > 3  # the moments differ


@pytest.mark.exhaustive
@pytest.mark.micropython
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_micropython_holds_every_fault_too(case):
    """64 and 32 bits take turns, on another vehicle than in this Python where there is one."""
    bits = 32 if CASES.index(case) % 2 else 64
    if micropython.find(bits) is None:
        pytest.skip(f"no MicroPython of {bits} bit on this machine; `make setup` fetches one")
    runtime = "micropython32" if bits == 32 else "micropython"
    assert_held(case.id, vehicle_for(case, 1), 1, runtime)


@pytest.mark.exhaustive
@pytest.mark.micropython
@pytest.mark.parametrize("runtime", ["micropython", "micropython32"])
@pytest.mark.parametrize("case_id", ["total-silence", "rc-lets-go", "pulse-stuck"])
def test_a_micropython_does_the_very_same(case_id, runtime):
    if micropython.find(32 if runtime.endswith("32") else 64) is None:
        pytest.skip(f"no {runtime} on this machine; `make setup` fetches one")
    assert assert_held(case_id, "f1tenth", 1, runtime) == assert_held(case_id, "f1tenth", 1)


def test_a_run_can_be_repeated():
    assert assert_held("loss", seed=7) == assert_held("loss", seed=7)


def test_the_table_uses_words_that_there_are():
    assert len(set(IDS)) == len(IDS)
    assert {case.expects for case in CASES} <= set(EXPECTATIONS)
    assert {case.wait for case in CASES} <= {*WAITS, *UNAIDED_MS}
    assert {case.needs for case in CASES} <= set(NEEDS)
    assert cases() == CASES


def test_every_vehicle_has_most_of_the_cases():
    common = [case for case in CASES if case.needs != "off-delay"]  # which is one drive's
    for name in VEHICLES:
        vehicle = load_vehicle(name)
        assert sum(case.fits(vehicle) for case in common) > 0.85 * len(common)


def test_every_cause_and_every_fault_that_can_be_brought_is_brought():
    ends = [EXPECTATIONS[case.expects] for case in CASES]
    # the clock's bound takes 50 s without a Sync: tests/firmware/core/test_clock.py
    assert {end.cause for end in ends} | {codes.CAUSE_CLOCK_UNSURE} >= set(range(codes.CAUSE_COUNT))
    # what is stored is no fault that comes while driving: tests/firmware/test_core.py
    stored = {codes.FAULT_CONFIGURATION, codes.FAULT_FOREIGN_CONFIGURATION}
    assert {end.fault for end in ends} | stored >= set(range(codes.FAULT_COUNT))


@pytest.mark.parametrize("row", range(1, 21))
def test_every_failure_of_the_list_of_peers_has_a_case(row):
    assert [case.id for case in CASES if row in _rows_of(case.source)]


def _rows_of(source):
    """The numbers after the word peers."""
    if "peers" not in source:
        return set()
    return {int(n) for n in re.findall(r"(?<![#\d])\b(\d{1,2})\b", source.split("peers")[1])}


# --- each kind of fault is found when the part of the car that answers it is broken


def lease_without_end(monkeypatch):
    monkeypatch.setattr(Deadline, "step", lambda self, now_us: None)


def ears_shut(monkeypatch):
    monkeypatch.setattr(MessageDispatcher, "_stop", lambda self, message, now_us: None)


def frozen_unnoticed(monkeypatch):
    step = Source.step

    def blind(self, now_us):
        step(self, now_us)
        self.is_frozen = False

    monkeypatch.setattr(Source, "step", blind)


def never_brakes(monkeypatch):
    monkeypatch.setattr(Drive, "brake", lambda self, speed, *_rest: self.neutral(speed))


def latches_nothing(monkeypatch):
    monkeypatch.setattr(Latch, "latch", lambda self, bit: None)


# what is broken -> the case that finds it, and a word of what it says
PLANTED = {
    "lease-without-end": (lease_without_end, "repeater", "never began"),
    "ears-shut": (ears_shut, "stranger-stops", "never stood still"),
    "frozen-unnoticed": (frozen_unnoticed, "frozen-input", "never stood still"),
    "never-brakes": (never_brakes, "total-silence", "took"),
    "stop-not-latched": (latches_nothing, "long-burst", "drove again"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_defect_is_found(planted, monkeypatch):
    plant, case_id, said = PLANTED[planted]
    plant(monkeypatch)
    result = run(case_id, load_vehicle("f1tenth"), 0)
    assert said in " ".join(result.wrong)


def test_a_lease_that_outlives_its_time_is_found(monkeypatch):
    """By a fifth of a second only: the limit in time is what finds it."""
    set_deadline = Deadline.set
    monkeypatch.setattr(
        Deadline,
        "set",
        lambda self, now_us, in_us: set_deadline(
            self, now_us, in_us + 200_000 * (100_000 < in_us < 125_000)
        ),
    )
    result = run("heartbeat-only", load_vehicle("f1tenth"), 0)
    assert any(text.startswith("drove for") for text in result.wrong)


def test_a_runtime_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("sim_mock.faults.trial.faulty_runner.find", lambda bits: None)
    with pytest.raises(LookupError, match="tandem doctor"):
        run("lets-go", load_vehicle("f1tenth"), 0, "micropython")
