"""What the demo's verdict is made of, piece by piece: each can fail by itself."""

import asyncio
import dataclasses
import re

import pytest

from firmware.protocol import messages
from host_bridge.config import load_vehicle
from host_bridge.demo import stops
from host_bridge.demo.cars import baselines, demo_cars, together
from host_bridge.demo.judging.limits import StopLimits
from host_bridge.demo.judging.part_one_checks import judge
from host_bridge.demo.judging.verdict import OK, fails, missing
from host_bridge.demo.output import DemoOutput
from host_bridge.demo.stops import StopCase
from host_bridge.demo.trace import MeasuredStop, TraceRow, read_trace, stop_after
from host_bridge.deploy.hil.host.small_host import framed
from host_bridge.link.protocol import wire
from host_bridge.link.transports.loopback import pair
from sim_mock.programs.car import TraceWriter
from tests.firmware.worlds import world_of
from tests.support.evidence import some

VEHICLE = load_vehicle("f1tenth")
NEUTRAL = 1_500_000.0

# --- the trace and what is read from it


def braking(from_s, mps2=5.0, speed_mps=3.0, until_s=3.0):
    """A car at 100 lines a second that begins to brake at ``from_s``."""
    rows, x_m = [], 0.0
    for i in range(int(until_s * 100)):
        now_s = i / 100
        speed = max(speed_mps - max(now_s - from_s, 0) * mps2, 0.0)
        x_m += speed / 100
        rows.append(
            TraceRow(now_s, x_m, 0.0, speed, 1_600_000.0 if now_s < from_s else 1_300_000.0, now_s)
        )
    return rows


def test_a_stop_is_measured_from_the_fault_to_standstill():
    stop = stop_after(braking(1.12), 1.0, NEUTRAL)
    assert stop.from_mps == pytest.approx(3.0)
    assert stop.reaction_s == pytest.approx(0.12, abs=0.011)
    assert stop.seconds == pytest.approx(0.12 + 0.6, abs=0.02)
    assert stop.metres == pytest.approx(0.12 * 3.0 + 0.9, abs=0.05)
    assert stop.speeds[0][1] == pytest.approx(3.0)


def test_a_car_that_drives_on_has_no_stop():
    assert stop_after(braking(99.0), 1.0, NEUTRAL) is None


def test_a_trace_that_begins_after_the_fault_says_nothing():
    assert stop_after(braking(0.5), -1.0, NEUTRAL) is None


def test_the_cars_own_trace_is_read_and_a_cut_line_left_out(tmp_path):
    path = tmp_path / "trace.csv"
    world = world_of()
    trace = TraceWriter(str(path))
    for now_us in range(0, 50_000, 10_000):
        world.beat(now_us)
        trace.write(world)
    whole = read_trace(path)
    assert len(whole) == 5
    assert whole[-1].channel_drive == NEUTRAL
    path.write_text(path.read_text()[:-12])
    assert read_trace(path) == whole[:-1]


# --- others' rules


@pytest.fixture(scope="module")
def baseline_stops():
    holds = (0.0, 0.2, 0.5, 1.0, 2.0)
    return [baselines.simulated_stop(VEHICLE, 3.0, hold_s) for hold_s in holds]


def test_the_longer_a_command_is_held_the_farther_and_longer_it_rolls(baseline_stops):
    assert [baseline_stop.metres for baseline_stop in baseline_stops] == sorted(
        {baseline_stop.metres for baseline_stop in baseline_stops}
    )
    assert [baseline_stop.seconds for baseline_stop in baseline_stops] == sorted(
        {baseline_stop.seconds for baseline_stop in baseline_stops}
    )


def test_a_second_more_of_the_command_is_a_second_more_of_the_way(baseline_stops):
    assert baseline_stops[4].metres - baseline_stops[3].metres == pytest.approx(3.0, rel=0.03)
    assert baseline_stops[4].seconds - baseline_stops[3].seconds == pytest.approx(1.0, rel=0.03)


def test_the_roll_begins_at_speed_and_ends_at_rest(baseline_stops):
    for baseline_stop in some(baseline_stops):
        assert baseline_stop.speeds[0][1] == pytest.approx(3.0, rel=0.02)
        assert baseline_stop.speeds[-1][1] < 0.1


@pytest.mark.parametrize("baseline", baselines.BASELINES, ids=lambda baseline: baseline.name)
def test_a_peers_number_is_the_one_that_its_source_says(baseline):
    """The source is named, and holds the number that is used."""
    said = re.search(r"([\d.]+) (ms|s)\b", baseline.source)
    assert said, baseline.source
    assert float(said[1]) / (1000 if said[2] == "ms" else 1) == baseline.holds_s
    assert re.search(r"\w+\.(yaml|h|py)", baseline.source)


# --- limits


def case(reaction_s=0.13):
    async def nothing(run):
        return ""

    return StopCase("a case", reaction_s, "SILENCE", nothing, nothing)


def test_limits_grow_with_speed_and_with_the_reaction():
    slow, fast, late = case().limits(2.0), case().limits(3.0), case(0.5).limits(3.0)
    assert slow.metres < fast.metres < late.metres
    assert slow.seconds < fast.seconds < late.seconds
    assert slow.reaction_s == fast.reaction_s < late.reaction_s


def test_limits_are_nothing_that_a_coasting_car_could_keep(baseline_stops):
    """Not even one that lets go of the throttle in the very moment of the fault."""
    for each in some(stops.cases()):
        limits = each.limits(3.0)
        assert baseline_stops[0].metres > 2 * limits.metres
        assert baseline_stops[0].seconds > 2 * limits.seconds


LIMITS = StopLimits(0.16, 1.3, 1.7)
KEPT = MeasuredStop(3.0, 0.12, 1.2, 1.4, ())


def test_limits_hold_a_stop_that_keeps_them():
    assert LIMITS.hold(KEPT)


@pytest.mark.parametrize("change", [{"reaction_s": 0.17}, {"seconds": 1.31}, {"metres": 1.71}])
def test_each_limit_alone_is_enough_to_fail(change):
    assert not LIMITS.hold(dataclasses.replace(KEPT, **change))


def test_a_reaction_of_eighty_ms_too_late_is_found():
    """As if the silence limit were 200 ms and not 120."""
    for each in some(stops.cases()):
        if each.cause == "SILENCE":
            assert not each.limits(3.0).hold(dataclasses.replace(KEPT, reaction_s=0.2))


# --- by the same bytes


def drive(**changes):
    whole = together.DriveResult(
        agreed=1500,
        missed=0,
        differs=False,
        crcs={"a": "1234abcd", "b": "1234abcd"},
        counts={"a": 1500, "b": 1500},
        skews_us=[4000] * 100,
        alarms=["path"],
        alarm_s=3.7,
    )
    return dataclasses.replace(whole, **changes)


def test_a_drive_is_identical_when_all_agrees():
    assert drive().is_identical()


@pytest.mark.parametrize(
    "change",
    [
        {"missed": 1},
        {"differs": True},
        {"agreed": 0},
        {"crcs": {"a": "1234abcd", "b": "1234abce"}},
        {"crcs": {"a": "1234abcd"}},
        {"crcs": {}},
        {"counts": {"a": 1500, "b": 1499}},
    ],
)
def test_each_difference_alone_makes_a_drive_not_identical(change):
    assert not drive(**change).is_identical()


def second_drive(**changes):
    """What the second drive gives: one claim did not reach car B."""
    whole = {"crcs": {"a": "1234abcd", "b": "77777777"}, "counts": {"a": 150, "b": 149}}
    return drive(**{**whole, "agreed": 40, "missed": 1, **changes})


def test_an_altered_byte_is_shown_by_both_cars_reports():
    assert second_drive().is_shown_to_differ()
    assert second_drive(counts={"a": 150, "b": 150}, missed=0).is_shown_to_differ()


@pytest.mark.parametrize(
    "change",
    [
        {"crcs": {}, "counts": {}},
        {"crcs": {"a": "1234abcd"}, "counts": {"a": 150}},
        {"agreed": 0},
        {"counts": {"a": 0, "b": 0}},
        {"crcs": {"a": "1234abcd", "b": "1234abcd"}},
    ],
)
def test_a_difference_without_evidence_is_none(change):
    assert not second_drive(**change).is_shown_to_differ()


def failures(of):
    output = DemoOutput(is_terminal=False)
    judge(of, output)
    return [check.what for check in output.failed()]


def test_a_good_drive_passes_every_check():
    assert failures(drive()) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"why_ended": "a: Stopped."}, "slalom"),
        ({"missed": 1}, "byte for byte"),
        ({"differs": True}, "byte for byte"),
        ({"skews_us": [13_000] * 100}, "same time"),
        ({"alarms": ["speed"]}, "alarm"),
        ({"alarms": []}, "alarm"),
        ({"alarm_s": 1.9}, "alarm"),
    ],
)
def test_each_broken_promise_fails_its_own_check_only(change, what):
    (failed,) = failures(drive(**change))
    assert what in failed


def test_the_skew_is_ranked_claim_by_claim():
    skews = drive(skews_us=list(range(100, 0, -1)))
    assert (skews.skew_us(0.5), skews.skew_us(0.99), drive(skews_us=[]).skew_us(0.5)) == (
        51,
        100,
        0,
    )


# --- the altered claim

CLAIM = framed(messages.Claim())
SYNC = framed(messages.Sync())


def altered(nth, *sent):
    """What comes out at the far end of an altered line."""
    heard = []

    async def main():
        near, far = pair()
        line = together.AlteredTransport(near, nth)
        await line.open(lambda data: None, lambda why: None)
        await far.open(heard.append, lambda why: None)
        for data in sent:
            assert line.send(data) == len(data)
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        line.close()

    asyncio.run(main())
    return b"".join(heard)


def bits_changed(one, other):
    assert len(one) == len(other)
    return sum((a ^ b).bit_count() for a, b in zip(one, other, strict=True))


def test_one_bit_of_the_nth_claim_is_changed_and_nothing_else():
    sent = [SYNC, CLAIM, CLAIM, SYNC + CLAIM, CLAIM, SYNC]
    got = altered(3, *sent)
    assert bits_changed(got, b"".join(sent)) == 1
    decoded = [type(message).__name__ for message in wire.MessageDecoder().feed(got)]
    assert decoded == ["Sync", "Claim", "Claim", "Sync", "RejectedFrame", "Claim", "Sync"]


def test_what_is_no_claim_is_never_touched():
    assert altered(1, SYNC, SYNC) == SYNC + SYNC


# --- what is printed


def test_checks_are_printed_with_their_verdict_in_eighty_columns(capsys):
    output = DemoOutput(is_terminal=False)
    output.live("never seen in a pipe")
    output.check("a thing that is checked", "9 m " * 10, "at most 3 m " * 5, fails(), "demo.mcap")
    output.check("another", "1 m", "at most 3 m", OK, "demo.mcap")
    output.check("a third", "nothing", "at most 3 m", missing("the trace " * 10), "demo.mcap")
    printed = capsys.readouterr().out
    assert "FAIL" in printed
    assert "ok  " in printed
    assert "not shown: the evidence is missing" in printed
    assert "never" not in printed
    assert "\x1b" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert [check.what for check in output.failed()] == ["a thing that is checked"]
    assert [check.what for check in output.not_shown()] == ["a third"]


def test_a_live_line_fits_the_terminal_and_is_wiped(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    output = DemoOutput(is_terminal=True)
    output.live("x" * 100)
    output.say("done")
    assert capsys.readouterr().out == "\r\x1b[K" + "x" * 39 + "\r\x1b[K" + "done\n"


# --- at the wheel


def test_a_manoeuvre_goes_by_the_clock_even_where_ticks_are_left_out():
    """Else a busy machine would drive another way, and miss the slippery patch."""
    scripted_input = demo_cars.ScriptedInput()
    scripted_input.take(together.SHORT)
    for now_us in (0, 10_000, 1_000_000, 1_010_000, 1_500_000):
        scripted_input.read(now_us)
    assert scripted_input.position_s == pytest.approx(1.49)  # since the last neutral one


def test_a_puppet_that_lets_go_stays_where_it_is_and_a_frozen_one_repeats_itself():
    scripted_input = demo_cars.ScriptedInput()
    scripted_input.take(together.SHORT)
    command = [scripted_input.read(now_us) for now_us in range(0, 1_000_000, 10_000)][-1]
    assert command.is_held
    assert command.speed_mps == together.SHORT.speed_mps
    scripted_input.is_frozen = True
    assert scripted_input.read(1_000_000) == command
    at_s = scripted_input.position_s
    scripted_input.let_go()
    assert not scripted_input.read(1_010_000).is_held
    assert scripted_input.position_s == at_s
