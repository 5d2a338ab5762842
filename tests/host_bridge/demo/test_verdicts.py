"""Three verdicts: kept, broken, and what nobody could see; each by the machine's latency probe."""

import asyncio
import dataclasses
import json
import time

import pytest

from host_bridge.config import load_vehicle
from host_bridge.core.system.running import run_in_virtual_time
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.demo import whole
from host_bridge.demo.cars.demo_run import WAIT_S, DemoRun, heard_text
from host_bridge.demo.judging import attempts
from host_bridge.demo.judging.limits import StopLimits, judge_stop
from host_bridge.demo.judging.part_one_checks import judge, judge_altered
from host_bridge.demo.judging.verdict import (
    OK,
    PunctualTiming,
    Verdict,
    by_time,
    ended_by_itself,
    fails,
    late,
    missing,
    stopped_by_itself,
)
from host_bridge.demo.output import DemoOutput
from host_bridge.demo.stops import StopCase
from host_bridge.demo.trace import MeasuredStop, TraceReader
from sim_mock.programs.car import TraceWriter
from tests.host_bridge.demo.test_parts import drive, second_drive

LIMITS = StopLimits(0.16, 1.3, 1.7)
KEPT = MeasuredStop(3.0, 0.12, 1.2, 1.4, ())


class Late(PunctualTiming):
    """A machine that loses this share of all time, and wakes so late."""

    def __init__(self, share=0.0, wake_s=0.0):
        self.share = share
        self.wake_s = wake_s

    def granted_s(self, begun_s, ended_s=None):
        return (ended_s - begun_s) * (1 - self.share)

    def late_s(self, begun_s, ended_s=None):
        return (ended_s - begun_s) * self.share + self.wake_s

    def worst_wake_s(self, begun_s, ended_s=None):
        return self.wake_s


QUIET, BUSY = Late(), Late(share=0.8, wake_s=0.05)

# --- time


def test_within_the_limit_it_is_ok_however_late_the_machine_was():
    assert by_time(-0.001, 9.9) is OK
    assert by_time(0.0, 0.0) is OK


def test_over_it_by_less_than_the_machine_was_late_nothing_is_shown():
    ruling = by_time(0.05, 0.084)
    assert ruling.verdict is Verdict.NOT_SHOWN
    assert ruling.reason == "the machine was 84 ms late"


def test_over_it_by_more_it_is_a_fail():
    assert by_time(0.085, 0.084).verdict is Verdict.FAIL
    assert by_time(1e-6, 0.0).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    "judged", [stopped_by_itself, lambda m, at, why: ended_by_itself(m, at - 3, at, why)]
)
def test_what_ends_by_itself_is_the_machines_fault_only_where_it_was_late(judged):
    assert judged(QUIET, 10.0, "why") == fails("why")
    assert judged(BUSY, 10.0, "why").verdict is Verdict.NOT_SHOWN


# --- a stop


def judged(stop, machine, **words):
    return judge_stop(stop, LIMITS, machine, 10.0, **words).verdict


LATE = dataclasses.replace(KEPT, reaction_s=0.22)  # 60 ms over: 80 % of 220 ms is more
COASTS = dataclasses.replace(KEPT, seconds=5.6, metres=8.7)


def test_a_stop_is_judged_by_its_limits_and_the_machine():
    assert judged(KEPT, QUIET) is Verdict.OK
    assert judged(KEPT, BUSY) is Verdict.OK
    assert judged(LATE, QUIET) is Verdict.FAIL
    assert judged(LATE, BUSY) is Verdict.NOT_SHOWN


def test_a_car_that_coasts_fails_on_any_machine():
    """Who brakes does not wait for the processor: a late machine excuses the reaction alone."""
    assert judged(COASTS, BUSY) is Verdict.FAIL
    assert judged(dataclasses.replace(KEPT, metres=5.0), BUSY) is Verdict.FAIL


def test_a_wrong_cause_is_a_fail_unless_it_is_that_of_a_late_host():
    words = {"cause": "STOP_REQUEST"}
    assert judged(KEPT, QUIET, causes=("STOP_REQUEST", "SILENCE"), **words) is Verdict.OK
    assert judged(KEPT, BUSY, causes=("FROZEN_INPUT",), **words) is Verdict.FAIL
    assert judged(KEPT, BUSY, causes=(), **words) is Verdict.FAIL
    assert judged(KEPT, QUIET, causes=("SILENCE",), **words) is Verdict.FAIL
    assert judged(KEPT, BUSY, causes=("SILENCE",), **words) is Verdict.NOT_SHOWN


def test_a_wrong_cause_is_told_in_words():
    causes = ("FROZEN_INPUT", "unknown (13)")
    ruling = judge_stop(KEPT, LIMITS, QUIET, 10.0, cause="STOP_REQUEST", causes=causes)
    assert ruling.reason == (
        "it had to stop because a stop was requested, and stopped because an input kept repeating "
        "one value; also, unknown (13)"
    )


def test_a_car_that_had_stopped_before_the_fault_shows_nothing_of_it():
    before = dataclasses.replace(KEPT, was_driven=False)
    assert judged(before, BUSY) is Verdict.NOT_SHOWN
    assert judged(before, QUIET) is Verdict.FAIL


def test_a_machine_that_is_slow_to_start_any_program_is_no_fault_of_a_stop():
    assert judged(LATE, QUIET, slow_start_s=0.1) is Verdict.NOT_SHOWN
    assert judged(LATE, QUIET, slow_start_s=0.01) is Verdict.FAIL


# --- evidence


def verdicts(of, machine=None):
    output = DemoOutput(is_terminal=False)
    judge(of, output, machine)
    return {check.what.split(",")[0]: check for check in output.checks}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"crcs": {}, "counts": {}}, "claims that both cars accepted"),
        ({"crcs": {"a": "1234abcd"}, "counts": {"a": 1}}, "claims that both cars accepted"),
        ({"agreed": 0}, "claims that both cars accepted"),
        ({"skews_us": []}, "applied at the same time"),
    ],
)
def test_missing_evidence_is_neither_ok_nor_a_fail(change, what):
    found = verdicts(drive(**change))
    open_ones = {name for name, check in found.items() if check.verdict is not Verdict.OK}
    assert open_ones == {what}
    assert found[what].verdict is Verdict.NOT_SHOWN
    assert found[what].ruling.reason.startswith("the evidence is missing: ")


def test_a_drive_that_ended_early_says_nothing_of_the_alarm():
    found = verdicts(drive(why_ended="a: Stopped.", alarms=[], alarm_s=0.0))
    assert found["slalom and skidpad"].verdict is Verdict.FAIL
    assert found["the alarm finds the load and the slippery patch"].verdict is Verdict.NOT_SHOWN


def test_in_real_time_what_a_late_machine_may_have_done_is_not_shown():
    change = {"missed": 1, "skews_us": [30_000], "why_ended": "a: Stopped.", "ended_s": 15.0}
    on_busy, on_quiet = (verdicts(drive(**change), machine) for machine in (BUSY, QUIET))
    for what in (
        "claims that both cars accepted",
        "applied at the same time",
        "slalom and skidpad",
    ):
        assert on_busy[what].verdict is Verdict.NOT_SHOWN
        assert on_quiet[what].verdict is Verdict.FAIL


def test_other_bytes_are_a_fail_on_any_machine():
    what = "claims that both cars accepted"
    assert verdicts(drive(differs=True, ended_s=15.0), BUSY)[what].verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, Verdict.OK),
        ({"crcs": {"a": "1234abcd", "b": "1234abcd"}}, Verdict.FAIL),
        ({"crcs": {}, "counts": {}}, Verdict.NOT_SHOWN),
        ({"counts": {"a": 0, "b": 0}}, Verdict.NOT_SHOWN),
    ],
)
def test_an_altered_byte_is_found_not_found_or_not_to_be_seen(change, verdict):
    output = DemoOutput(is_terminal=False)
    judge_altered(second_drive(**change), output, "a log")
    assert [check.verdict for check in output.checks] == [verdict]


# --- a case on a stage

DRIVES = {
    "state": "ACTIVE",
    "word": "DRIVING",
    "speed_mps": 3.0,
    "is_known": True,
    "causes": [],
    "why": "",
}


class Stage:
    """A car of whom is heard what a test says."""

    def __init__(self, machine, heard):
        self.machine = machine
        self.latest = heard
        self.has_ended = False

    def tell_car(self, command):
        pass

    def tell(self, command):
        pass

    async def start_driver(self, by_pad):
        return self

    async def end(self):
        pass


async def _nothing(run):
    run.now()


async def _stays(run):
    await run.until(lambda s: s["state"] == "STOPPED", "STOPPED")
    return "stays"


def tried(machine, heard, path, rows=()):
    """The check of one case; its time is virtual, and its trace has these (s, m/s, channel)."""
    lines = [f"{s},{s},0,0,0,{mps},0,1,{channel}" for s, mps, channel in rows]
    path.write_text("\n".join([TraceWriter.COLUMNS, *lines, ""]))
    output = DemoOutput(is_terminal=False)
    case = StopCase("a case", 0.13, "SILENCE", _nothing, _stays)
    run = DemoRun(Stage(machine, heard), TraceReader(path), load_vehicle("f1tenth"))
    loop = VirtualTimeLoop()

    async def main():
        await attempts.run_cases([case], run, output)
        return 0

    run_in_virtual_time(main(), loop)
    (check,) = output.checks
    return check, loop.time()


FOREVER = [(i / 10, 3.0, 1_600_000) for i in range(4000)]


def test_a_car_that_never_stops_is_a_fail_on_any_machine_and_not_waited_for_for_ever(tmp_path):
    for machine in (QUIET, BUSY):
        check, took_s = tried(machine, DRIVES, tmp_path / "trace.csv", FOREVER)
        assert check.verdict is Verdict.FAIL
        assert check.got == "not at rest after 5 s"
        assert took_s < 3 + WAIT_S / (1 - machine.share)


def test_a_trace_that_says_nothing_is_missing_evidence(tmp_path):
    check, _ = tried(QUIET, DRIVES, tmp_path / "trace.csv")
    assert check.verdict is Verdict.NOT_SHOWN
    assert check.ruling.reason == "the evidence is missing: nothing of that time is in trace.csv"


def test_a_car_that_hangs_is_a_fail_on_any_machine(tmp_path):
    for machine in (QUIET, BUSY):
        check, _ = tried(machine, {**DRIVES, "speed_mps": 0.1}, tmp_path / "trace.csv", FOREVER)
        assert check.verdict is Verdict.FAIL
        assert "waited 5 s for 3 m/s" in check.ruling.reason
        assert check.ruling.reason.endswith("last heard: it was DRIVING at 0.10 m/s")


def test_what_was_heard_last_is_told_in_words():
    lost = {**DRIVES, "is_known": False, "why": "Stopped because its stop loop was open."}
    assert heard_text({}) == "nothing"
    assert heard_text(lost) == (
        "its link is lost; before that it was DRIVING at 3.00 m/s: "
        "Stopped because its stop loop was open."
    )


def test_a_car_that_stops_while_cruising_is_tried_again_and_then_not_shown(tmp_path):
    class Stopping(Stage):
        seats = 0

        async def start_driver(self, by_pad):
            Stopping.seats += 1
            return self

    stage = Stopping(BUSY, {**DRIVES, "state": "STOPPED"})
    output = DemoOutput(is_terminal=False)
    case = StopCase("a case", 0.13, "SILENCE", _nothing, _stays)
    run = DemoRun(stage, TraceReader(tmp_path / "none.csv"), load_vehicle("f1tenth"))

    async def main():
        await attempts.run_cases([case], run, output)
        return 0

    def armed(word):
        stage.latest["state"] = "HOLD" if word == "arm" else "STOPPED"
        stage.latest["speed_mps"] = 0.5

    stage.tell = armed
    run_in_virtual_time(main(), VirtualTimeLoop())
    (check,) = output.checks
    assert check.verdict is Verdict.NOT_SHOWN
    assert check.ruling.reason.startswith("the machine was ")
    assert Stopping.seats == attempts.TRIES


# --- the end


def ended(tmp_path, capsys, *rulings):
    output = DemoOutput(is_terminal=False)
    for i, ruling in enumerate(rulings):
        output.check(f"check {i}", "a", "b", ruling, "a log")
    code = whole.verdict(output, tmp_path)
    return code, capsys.readouterr().out.splitlines()


def test_the_exit_code_and_the_last_line_say_what_was_not_shown(tmp_path, capsys):
    assert ended(tmp_path, capsys, OK, OK)[0] == 0
    code, said = ended(tmp_path, capsys, OK, late(0.084))
    assert code == 8
    assert said[-1] == "1 not shown: check 1 (the machine was 84 ms late)."
    code, said = ended(tmp_path, capsys, OK, missing("a log"), fails())
    assert code == 1
    assert "1 did NOT hold, 1 not shown" in " ".join(said)


def test_each_check_says_its_verdict_and_why_as_json():
    output = DemoOutput(is_terminal=False)
    for ruling in (OK, fails("broken"), late(0.084)):
        output.check("a check", "a", "b", ruling, "a log")
    rows = json.loads(json.dumps([check.row() for check in output.checks]))
    assert [(row["verdict"], row["holds"], row["reason"]) for row in rows] == [
        ("ok", True, ""),
        ("fail", False, "broken"),
        ("not shown", False, "the machine was 84 ms late"),
    ]


def test_virtual_time_is_never_late():
    assert (PunctualTiming().late_s(1.0, 2.0), PunctualTiming().granted_s(1.0, 3.0)) == (0.0, 2.0)
    assert PunctualTiming().worst_wake_s(1.0, 2.0) == 0.0


def test_a_loops_time_is_the_machines_monotonic_one():
    """The probe and the run have to mean the same moments."""

    async def main():
        return asyncio.get_running_loop().time() - time.monotonic()

    assert abs(asyncio.run(main())) < 1.0
