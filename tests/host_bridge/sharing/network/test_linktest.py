"""What a trace of a link means for driving over it, by traces whose answer is known; and probes."""

from __future__ import annotations

import asyncio
import gc
import json
import random
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from host_bridge.cli.commands import linktest
from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault
from host_bridge.core.files.link_traces import Probe, read_trace, write_trace
from host_bridge.link.transports.lossy import traces_of
from host_bridge.link.transports.lossy_line import LineParameters, LineTrace, LossyLine
from host_bridge.sharing.network.guest_link import Echo
from host_bridge.sharing.network.link_test.findings import bounds, cap_mps, findings, metres
from host_bridge.sharing.network.link_test.probing import ProbeRecording, record
from tests.host_bridge.sharing.network.bench import Bench

COUNT = 2000
EACH_S = 0.005


def trace(up=lambda number: 0.004, down=lambda number: 0.006) -> list[Probe]:
    return [Probe(EACH_S * n, up(n), down(n) if up(n) is not None else None) for n in range(COUNT)]


def test_a_clear_link_is_told_as_it_is():
    found = findings(trace())
    assert found.probes == COUNT
    assert found.seconds == pytest.approx(COUNT * EACH_S, abs=0.01)
    for value in (found.trip_least_s, found.trip_p50_s, found.trip_p99_s):
        assert value == pytest.approx(0.01)
    assert found.clock_s == pytest.approx(0.005 + 0.0013)
    assert (found.lost_up, found.lost_down, found.longest_run, found.reordered) == (0, 0, 0, 0)
    assert found.lease_s() == 0.12
    assert [it.stops for it in found.single] == [0] * 5


def test_losses_are_told_by_way_and_a_copy_bridges_single_ones():
    source = random.Random(3)
    lost = {n for n in range(COUNT) if source.random() < 0.2}
    found = findings(trace(lambda n: None if n in lost else 0.004))
    assert found.lost_up == pytest.approx(len(lost) / COUNT)
    assert found.lost_down == 0
    every_copy = findings(trace(lambda n: 0.004 if n % 2 else None))
    assert every_copy.single[0].stops == 1, "no claim ever came"
    assert every_copy.doubled[0].stops == 0


@pytest.mark.parametrize(("gap", "lease_s"), [(16, 0.12), (24, 0.15), (34, 0.2), (44, 0.25)])
def test_the_lease_to_use_is_the_shortest_that_bridges_the_longest_gap(gap, lease_s):
    """A gap of ``gap`` probes of 5 ms; the clock takes 6.3 ms off each lease, the way 4."""
    found = findings(trace(lambda n: None if 1000 <= n < 1000 + gap else 0.004))
    assert found.longest_run == gap
    assert found.lease_s() == lease_s
    worse = findings(trace(lambda n: None if 1000 <= n < 1000 + gap + 10 else 0.004))
    assert worse.lease_s() != lease_s


@pytest.mark.parametrize("held_s", [0.2, 0.4])
def test_claims_that_were_held_back_together_stop_a_car_once(held_s):
    """All that was sent in ``held_s`` arrives 10 ms apart at its end, the oldest first."""
    first, count = 1000, round(held_s / EACH_S)

    def up_s(number):
        place = number - first
        return held_s + place * (0.01 - EACH_S) if 0 <= place < count else 0.004

    assert [it.stops for it in findings(trace(up_s)).single][:2] == [1, 1]


def test_what_no_stop_in_a_minute_may_claim():
    assert bounds(0) == (0.0, pytest.approx(2.9957, abs=1e-3))
    assert bounds(4) == (pytest.approx(1.0899, abs=1e-3), pytest.approx(10.2416, abs=1e-3))
    rate = findings(trace()).doubled[0]
    assert (rate.per_h, rate.low_per_h) == (0, 0)
    assert 1000 < rate.high_per_h < 1100, "ten seconds"


def test_a_link_over_which_nothing_comes_drives_nothing():
    found = findings(trace(lambda n: None))
    assert (found.trip_p50_s, found.clock_s, found.lease_s()) == (None, None, None)
    assert found.lost_up == found.lost_down == 1
    assert findings([]).lease_s() is None


@pytest.mark.parametrize(
    ("way_s", "lease_s", "words", "not_words"),
    [
        (0.008, 0.12, "it can be driven", "NOT"),
        (0.020, 0.12, "NOT DRIVABLE. Nearer, or a wider clock_bound_s", "by any"),
        (0.029, 0.15, "30 by any vehicle file: NOT DRIVABLE. Nearer", "clock_bound_s"),
        (0.080, None, "30 by any vehicle file: NOT DRIVABLE. Nearer", "clock_bound_s"),
    ],
)
def test_a_lease_whose_quarter_the_clock_is_not_known_to_is_none(way_s, lease_s, words, not_words):
    found = findings(trace(lambda n: way_s, lambda n: way_s))
    assert found.lease_s() == lease_s
    line = linktest._clock_line(found, None)
    assert words in line
    assert not_words not in line


def test_metres_and_cap():
    assert cap_mps(0.12, 0.3) == pytest.approx(2.5)
    assert metres(2.0, 0.12, 8.0) == (pytest.approx(0.51), pytest.approx(0.26))


def test_the_ways_are_told_apart_though_the_clocks_are_days_apart():
    recording = ProbeRecording()
    ahead_us = 86_400_000_000
    for number in range(100):
        recording.sent[number] = sent_us = 1_000_000 + 5000 * number
        if number % 10 == 3:  # lost on its way there
            continue
        heard = sum(1 << bit for bit in range(min(number, 40)) if (number - 1 - bit) % 10 != 3)
        if number % 10 == 7:  # its answer is lost
            continue
        echo = Echo(number, sent_us, sent_us + ahead_us + 4000 + number, heard)
        recording.hear(echo, sent_us + 8000 + 2 * number)
    rows = recording.trace()
    assert len(rows) == 100
    assert [n for n, it in enumerate(rows) if it.up_s is None] == list(range(3, 100, 10))
    no_way_back = [n for n, it in enumerate(rows) if it.up_s is not None and it.down_s is None]
    assert no_way_back == list(range(7, 100, 10))
    assert rows[0].up_s == rows[0].down_s == pytest.approx(0.004)


@pytest.mark.parametrize("fails", [False, True])
def test_no_collection_of_memory_makes_a_gap_among_the_probes(fails):
    """After five minutes one took 0.1 s, and the stops that it meant were told of the link."""
    collected = []

    def send_probe(now_us):
        collected.append(gc.isenabled())
        if fails:
            raise OSError("the network is gone")
        return len(collected)

    car = SimpleNamespace(link=SimpleNamespace(on_echo=None), send_probe=send_probe)
    with nullcontext() if not fails else pytest.raises(OSError, match="gone"):
        recording = asyncio.run(record(car, 0.02, lambda: 0, lambda sent, came: None))
        assert len(recording.sent) == 4
    assert not any(collected)
    assert len(collected) == (1 if fails else 4)
    assert gc.isenabled()


def test_a_host_tells_which_probes_it_heard_and_no_number_costs_it_anything(tmp_path):
    bench = Bench(tmp_path / "guests")
    link = bench.join(bench.token())
    echoes: list[Echo] = []
    link.on_echo = lambda echo, now_us: echoes.append(echo)
    sent = [link.probe(bench.now_us + n) for n in range(10)]
    for n, (_, datagram) in enumerate(sent):
        if n not in (4, 5):
            for answer, _ in bench.hear(datagram):
                link.hear(answer, bench.now_us)
    assert [it.number for it in echoes] == [it for n, (it, _) in enumerate(sent) if n not in (4, 5)]
    assert echoes[-1].heard & 0b1_1111_1111 == 0b1_1110_0111
    link._probes = 0xFFFF_FFF0
    _, far = link.probe(bench.now_us)
    (answer,) = bench.hear(far)
    link.hear(answer[0], bench.now_us)
    assert echoes[-1].heard == 0


def test_a_trace_is_written_read_and_played(tmp_path):
    probes = trace(lambda n: None if n % 5 == 2 else 0.001 * (1 + n % 3))
    path = tmp_path / "hall.csv"
    write_trace(path, probes, ["tandem linktest"])
    shown = [(round(it.sent_s, 6), it.up_s, it.down_s) for it in probes]
    assert [(it.sent_s, it.up_s, it.down_s) for it in read_trace(path)] == shown
    ways = [(round(it.sent_s * 1e6), it.up_s and round(it.up_s * 1e6)) for it in probes]
    line = LossyLine(LineParameters(), 1, LineTrace(ways))
    for number in range(COUNT):
        line.pass_(b"\0%d\0" % (number + 1), 7_000_000 + 5000 * number)
    assert line.counts.lost == COUNT // 5
    assert len(line.due(10**9)) == COUNT - COUNT // 5
    (first,) = (LineTrace(ways, offset_us=5000).took_us(it) for it in (123,))
    assert first == 2000
    again = LineTrace(ways)
    span_us = 5000 * COUNT
    assert [again.took_us(it) for it in (0, 5000, span_us, span_us + 5000)] == [1000, 2000] * 2


def test_what_was_lost_on_its_way_there_is_no_loss_of_the_way_back():
    """Every second probe never arrived, and of those that did every fifth answer was lost."""
    probes = [
        Probe(EACH_S * n, None if n % 2 else 0.004, None if n % 2 or n % 10 == 4 else 0.006)
        for n in range(COUNT)
    ]
    up, down = traces_of(probes).values()
    took = [[way.took_us(round(it.sent_s * 1e6)) for it in probes] for way in (up, down)]
    assert [it.count(None) / COUNT for it in took] == [0.5, 0.2]
    assert took[1][:8] == [6000] * 4 + [None] * 2 + [6000] * 2


def test_a_trace_of_which_nothing_arrived_brings_nothing_back():
    up, down = traces_of(trace(lambda n: None)).values()
    assert (up.took_us(0), down.took_us(0)) == (None, None)


@pytest.mark.parametrize("gap", [0, 28])
def test_a_car_is_driven_through_a_trace_in_virtual_time_and_stops_in_its_gap(
    gap, tmp_path, capsys
):
    """A tenth is lost each way. In lockstep a way takes a whole step: so the wide bound."""
    source = random.Random(35)
    lost = {n for n in range(COUNT) if source.random() < 0.1} | set(range(800, 800 + gap))
    path, wide = tmp_path / "hall.csv", tmp_path / "wide.toml"
    write_trace(path, trace(lambda n: None if n in lost else 0.003), [])
    wide.write_text('base = "nigel"\n[stop]\nclock_bound_s = 0.03\n')
    words = ("drive", "--car", f"lossy+sim://{wide}?trace={path}", "--input", "script:slalom",
             "--seconds", "6", "--lockstep", "--json")  # fmt: skip
    assert (main([*words]) == 0) == (gap == 0)
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]
    assert summary["is_completed"] == (gap == 0)
    stops = summary["cars"][0]["stops"]
    assert ["fell silent" in it for it in stops] == [True] * (gap > 0), stops


def test_what_is_no_trace_is_refused_with_its_line(tmp_path):
    path = tmp_path / "hall.csv"
    path.write_text("sent_s,up_s,down_s\n0.0,0.1,0.1\n0.005,x,\n", "utf-8")
    with pytest.raises(DataFileFault, match="3"):
        read_trace(path)


def test_a_trace_in_the_way_is_told_before_the_hour_that_it_would_cost(tmp_path, capsys):
    trace = tmp_path / "trace.csv"
    trace.write_text("an hour of another day")
    code = main(["linktest", "tandem://127.0.0.1:9/red", "--for", "3600", "--out", str(trace)])
    assert code == DataFileFault.exit_code
    assert "none is overwritten" in capsys.readouterr().err
    assert trace.read_text() == "an hour of another day"
