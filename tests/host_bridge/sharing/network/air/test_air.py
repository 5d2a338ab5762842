"""A guest drives through bad air between network namespaces: it stops in time, or is refused."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.host_bridge.sharing.network import hours, load, recording
from tests.host_bridge.sharing.network.air.field import Program, invite, served
from tests.host_bridge.sharing.network.air.hub import Hub, both_ways
from tests.host_bridge.sharing.network.air.playing import Field, Result
from tests.host_bridge.sharing.network.air.scenarios import SCENARIOS, Scenario
from tests.host_bridge.sharing.network.air.twin import mirrored
from tests.ros.reaction.impairment import CUT, Counts, LineSettings
from tests.ros.reaction.line import why_not
from tests.support import patience

pytestmark = [
    pytest.mark.process(drives=True),
    pytest.mark.skipif(bool(why_not()), reason=f"no air between namespaces here: {why_not()}"),
    pytest.mark.xdist_group("wall clock"),
]

LEASE_S, STEP_S = 0.12, 0.01  # hardware/vehicles/bases/car.toml
HALF_OPEN_S = 0.2  # a guest that hears nothing for so long claims nothing
CPU_S = 0.02  # of a processor, between the last claim and the report of the stop
BRAKES_M = 0.30  # from 1.5 m/s
SPEED_MPS = 1.5
LONGEST_S = 600.0
NIGHT = ("10 % lost, 3 ms", "5 % lost, 3 ms, IPv6", "9.5 ms", "9.5 ms, clock_bound_s = 0.03",
         "3 ms, and only the way from the car ends")  # fmt: skip
BY_NAME = {it.name: it for it in SCENARIOS}


@pytest.fixture
def field():
    # A folder with a path that is short enough for a socket's
    with tempfile.TemporaryDirectory(prefix="air-") as folder, Hub(1, 2, LONGEST_S) as hub:
        yield Field(hub, Path(folder))


@pytest.mark.parametrize("scenario", [BY_NAME[it] for it in NIGHT], ids=NIGHT)
def test_what_cannot_be_driven_is_refused_in_words_and_the_rest_stops_in_time(field, scenario):
    result = field.play(scenario)
    assert result.drove == scenario.drives, result.why
    if not scenario.drives:
        assert "known to 1" in result.why, result.why
        assert "and this car allows 10" in result.why
        assert "clock_bound_s" in result.why
        return
    it_counts_what_it_does(scenario, result)
    assert result.halt is not None, "it had stopped before the air ended"
    on_its_way_s = scenario.into.delay_s + scenario.into.jitter_s
    blind_s = LEASE_S + 2 * STEP_S + on_its_way_s + HALF_OPEN_S * (scenario.cuts == "down")
    began_s = result.cut_s + result.halt.begins_ms * 1e-3
    patience.took(result.cut_s, blind_s, scenario.name, CPU_S, began_s)
    assert result.halt.metres < SPEED_MPS * result.halt.begins_ms * 1e-3 + BRAKES_M


def it_counts_what_it_does(scenario: Scenario, result: Result) -> None:
    """The air lost as many datagrams as it was told to, by its own count."""
    for settings, counts in ((scenario.into, result.into), (scenario.out, result.out)):
        assert isinstance(counts, Counts)
        assert counts.taken > 100
        sigma = (counts.taken * settings.loss * (1 - settings.loss)) ** 0.5
        assert abs(counts.lost - counts.taken * settings.loss) <= 4 * sigma


def test_a_guest_comes_back_after_the_air_was_gone_and_under_another_address(field):
    hub = field.hub
    both_ways(hub, 0, LineSettings(loss=0.05, delay_s=0.003))
    with served(field.owner, "sim://nigel", "red", "0.0.0.0"):
        invite(field.owner, field.guest, "red", "watch")
        watch = field.guest.start("monitor", f"tandem://{hub.hosts[0].ipv4}/red", "--json")
        try:
            seen_us = newer(watch, -1)
            both_ways(hub, 0, CUT)
            time.sleep(3.0)  # longer than the guest keeps a session
            both_ways(hub, 0)
            seen_us = newer(watch, seen_us + 3_000_000)
            move(hub)
            newer(watch, seen_us + 1_000_000)
        finally:
            watch.end()


def newer(watch: Program, than_us: int) -> int:
    """Wait for a status of the car's that is newer than this time of its clock; return its time."""

    def seen_us() -> int:
        rows = [line for line in watch.lines[-40:] if '"status"' in line]
        return json.loads(rows[-1])["time_us"] if rows else -1

    patience.until(lambda: seen_us() > than_us, "a newer status", 30.0)
    return seen_us()


def move(hub: Hub) -> None:
    """Give the guest another address; the one it had is gone."""
    guest = hub.hosts[1]
    for words in (
        f"addr del {guest.ipv4}/24 dev air",  # first: a second one would go with it
        "addr add 10.99.0.77/24 brd + dev air",
        "route replace default dev air",
    ):
        subprocess.run(guest.words("ip", *words.split()), check=True)


def test_linktest_finds_what_the_air_does_lowers_the_cap_and_writes_its_trace(field):
    hub, owner, guest = field.hub, field.owner, field.guest
    with served(owner, "sim://f1tenth", "red", hub.hosts[0].ipv4):
        invite(owner, guest, "red")
        both_ways(hub, 0, LineSettings(loss=0.1, delay_s=0.005))
        trace = guest.folder / "trace.csv"
        uri = f"tandem://{hub.hosts[0].ipv4}/red"
        told = guest.run("linktest", uri, "--for", "10", "--out", str(trace), "--json", "--apply")
        assert told.returncode == 0, (told.stdout, told.stderr)
        found = json.loads(told.stdout)
        assert found["probes"] == 2000
        for name in ("lost_up", "lost_down"):
            assert abs(found[name] - 0.1) < 4 * (0.09 / 1800) ** 0.5, found
        assert 0.0099 < found["trip_least_s"] < 0.0150, found
        assert "0.12" in told.stderr or "m/s at most" in told.stderr
        rows = [line.split(",") for line in trace.read_text("utf-8").splitlines()[2:]]
        assert len(rows) == 2000
        assert abs(sum(not up for _, up, _ in rows) / 2000 - found["lost_up"]) < 1e-6
        guest.said("cap", "0.1", "--car", uri)
        words = guest.run("linktest", uri, "--for", "1", "--apply")
        assert "round trip" in words.stdout, words
        assert words.returncode == 0, words.stderr
        assert "its cap is lower already" in words.stderr


def test_an_air_that_is_recorded_here_is_driven_in_virtual_time(field):
    ((path, found),) = recording.record(field.hub, field.folder / "recorded", 12.0, field.folder)
    assert abs(found["lost_up"] - 0.1) < 4 * (0.09 / found["probes"]) ** 0.5
    driven = hours.drive_recorded(path)
    assert driven.stops == 0, driven.causes
    assert driven.seconds > 6.0
    assert 0.05 < driven.lost_up / driven.up < 0.15


def test_what_guests_take_of_the_air_is_counted_for_each(field):
    found = load.rows(field.hub, field.folder / "load", 1.0)
    names = [name for name, _ in found]
    assert names == ["nobody", *[f"a driver, {count} watching" for count in load.WATCHERS]]
    (_, *nobody), *others = [rates for _, rates in found]
    assert nobody == [0.0] * 4
    to_frames, from_frames = ([rates[place] for rates in others] for place in (2, 4))
    assert to_frames[0] > 50, "claims, each twice"
    assert from_frames[0] < from_frames[1] < from_frames[2], "the state goes to each guest"


def test_a_twin_on_another_host_takes_the_same_claims_and_the_skew_is_told(field):
    found = mirrored(field)
    assert found["is_completed"], found
    assert found["source"] == "remote", "all cars get the same claims, so none is the seat's"
    assert found["agreement"]["is_equal"]
    assert found["agreement"]["agreed"] > 100
    assert found["worst_skew_us"] > 0
    assert [it["stops"] for it in found["cars"]] == [[], []]
    red_m, blue_m = (it["distance_m"] for it in found["cars"])
    assert abs(red_m - blue_m) < 0.2
