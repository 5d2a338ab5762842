"""Every fault of the catalogue on the complete program: it holds, everywhere, and can fail."""

import pytest

from firmware.core.arbiter import Source
from firmware.core.deadlines import Deadline
from firmware.core.drive import Drive
from firmware.core.hearing import Hearing
from firmware.core.latch import Latch
from firmware.protocol import codes
from host_bridge.config import load_vehicle, vehicle_names
from sim_mock import micropython
from sim_mock.faults.catalogue import CASES, cases
from sim_mock.faults.expectations import EXPECTATIONS
from sim_mock.faults.limits import WAITS
from sim_mock.faults.running import run

IDS = [case.id for case in CASES]
VEHICLES = vehicle_names()


def held(case_id, vehicle="f1tenth", seed=0, runtime="in-process"):
    result = run(case_id, load_vehicle(vehicle), seed, runtime)
    assert result.wrong == ()
    return result


@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("case_id", IDS)
def test_every_fault_ends_as_it_must(case_id, vehicle):
    held(case_id, vehicle)


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_silence_stops_in_time_at_every_moment_at_which_it_may_begin(vehicle):
    runs = [held("total-silence", vehicle, seed) for seed in range(20)]
    assert len({one.reaction_s for one in runs}) > 5  # the moments differ


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", ["micropython", "micropython32"])
@pytest.mark.parametrize("case_id", IDS)
def test_a_micropython_does_the_very_same(case_id, runtime):
    if micropython.find(32 if runtime.endswith("32") else 64) is None:
        pytest.skip(f"no {runtime} on this machine; `make setup` fetches one")
    vehicle = VEHICLES[IDS.index(case_id) % len(VEHICLES)]
    assert held(case_id, vehicle, 1, runtime) == held(case_id, vehicle, 1)


def test_a_run_can_be_repeated():
    assert held("loss", seed=7) == held("loss", seed=7)


def test_the_table_uses_words_that_there_are():
    assert len(set(IDS)) == len(IDS)
    assert {case.expects for case in CASES} <= set(EXPECTATIONS)
    assert {case.wait for case in CASES} <= set(WAITS)
    assert cases() == CASES


def test_every_cause_that_the_catalogue_can_bring_is_brought():
    brought = {EXPECTATIONS[case.expects].cause for case in CASES}
    elsewhere = {codes.CAUSE_CLOCK_UNSURE, codes.CAUSE_UNATTENDED}
    assert brought | elsewhere >= set(range(codes.CAUSE_COUNT))


# --- each kind of fault is found when the part of the car that answers it is broken


def lease_without_end(monkeypatch):
    monkeypatch.setattr(Deadline, "step", lambda self, now_us: None)


def ears_shut(monkeypatch):
    monkeypatch.setattr(Hearing, "_stop", lambda self, message, now_us: None)


def frozen_unnoticed(monkeypatch):
    step = Source.step

    def blind(self, now_us):
        step(self, now_us)
        self.is_frozen = False

    monkeypatch.setattr(Source, "step", blind)


def never_brakes(monkeypatch):
    monkeypatch.setattr(Drive, "brake", lambda self, speed, now_us, dt_ms: self.neutral(speed))


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
    monkeypatch.setattr("sim_mock.faults.pins.find", lambda bits: None)
    with pytest.raises(LookupError, match="make setup"):
        run("lets-go", load_vehicle("f1tenth"), 0, "micropython")
