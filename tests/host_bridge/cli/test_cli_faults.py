"""``tandem faults``: what it prints, for people and for programs, and what its exit code says."""

import io
import json
import re
import signal
from types import SimpleNamespace

import pytest
from rich.console import Console

from host_bridge.cli import main as cli
from host_bridge.cli.output import faults_report as report
from host_bridge.core.errors import UsageFault
from host_bridge.drive.lockstep import follower_faults
from sim_mock.faults.bounds.limits import StopLimit
from sim_mock.faults.bounds.stops import CAUSES
from sim_mock.faults.cases.catalogue import CASES
from sim_mock.faults.running import CaseResult
from tests.host_bridge.cli.programs import program, tandem, until
from tests.host_bridge.station.processes import processor_s, programs_below
from tests.support import patience
from tests.support.evidence import every, some

RUNS_S = 4.0  # of a processor: two workers have started and done some runs


@pytest.mark.process
def test_two_seeds_of_two_cases_are_run_and_told_as_json(tmp_path):
    picture = tmp_path / "stops.png"
    words = ["--case", "total-silence", "loss", "--seeds", "2", "--vehicle", "nigel"]
    done = tandem("faults", *words, "--json", "--picture", str(picture), within_s=90.0)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)
    assert [(run["case"], run["seed"]) for run in runs] == [
        ("loss", 0),
        ("loss", 1),
        ("total-silence", 0),
        ("total-silence", 1),
    ]
    silent = runs[2]
    assert silent["held"]
    assert silent["cause"] == "silence"
    assert 0 < silent["distance_m"] < silent["limit"]["distance_m"]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.process
@pytest.mark.parametrize(
    "words",
    [("--case", "rc-silent", "--vehicle", "nigel"), ("--case", "lets-go", "--seeds", "0")],
)
def test_no_run_at_all_is_no_success(words):
    done = tandem("faults", *words)
    assert done.returncode == UsageFault.exit_code, done.stdout
    assert "at least one run" in done.stderr or "--seeds" in done.stderr


@pytest.mark.process
def test_the_table_names_case_and_verdict():
    done = tandem("faults", "--case", "lets-go", "session-wrap-silence", "--vehicle", "nigel")
    assert done.returncode == 0, done.stderr
    assert "lets-go" in done.stdout
    assert "2 of 2 runs held" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout


def outcome(case, metres, held=True):
    limit = StopLimit(reaction_s=70.01, stop_s=71.95, distance_m=212.19)
    numbers = {"reaction_s": 18.975, "stop_s": 19.9, "distance_m": metres, "limit": limit}
    return SimpleNamespace(vehicle="autorally", case=case.id, held=held, **numbers)


def test_the_widest_row_of_any_case_fits_80_columns_with_its_verdict_and_the_worst_comes_first():
    runs = [outcome(case, at * 0.5, held=at != 3) for at, case in enumerate(CASES)]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(*report.tables(CASES, [*runs, *runs]))
    rows = console.export_text().splitlines()[2:]
    assert not any("…" in row or "..." in row for row in rows)
    assert [row.split()[0] for row in rows] == [case.id for case in reversed(CASES)]
    assert {row.split()[-1] for row in rows} == {"2/2", "0/2"}


@pytest.mark.process
def test_stops_are_shown_by_cause_the_farthest_first_beside_what_friction_allows():
    cases = ("--case", "runstop-opens", "stranger-stops", "lets-go", "loss")
    done = tandem("faults", "--stops", "--vehicle", "f1tenth_vesc", *cases)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    rows = [line for line in done.stdout.splitlines() if re.search(r"×\d", line)]
    parts = [
        re.fullmatch(r"(\D+?) +\d+ +(\S+) +(\S+) m ×(\S+) +(\S+) +(\S+) m ×(\S+) *", row)
        for row in rows
    ]
    assert [part[1] for part in parts] == [
        "runstop button: loop open", "Stop, by anybody", "deadman let go",
    ]  # fmt: skip
    for part in some(parts):
        numbers = part.groups()[1:]
        for speed, metres, ratio in (map(float, numbers[:3]), map(float, numbers[3:])):
            bound = speed**2 / (2 * 1.0489 * 9.81)
            assert ratio == pytest.approx(metres / bound, rel=0.05)
            assert bound < metres < 3 * bound
    assert "6 of 6 runs held" in done.stdout


def test_every_cause_of_every_vehicle_fits_80_columns():
    words = {cause.case: cause.words for cause in CAUSES}
    runs = [
        SimpleNamespace(
            vehicle="f1tenth_vesc", case=case, asked_mps=speed, speed_mps=speed,
            reaction_s=9.851, distance_m=metres, friction_m=0.025, coasts=True,
        )
        for case in words
        for speed, metres in ((3.0, 8.41), (10.2, 120.45))
    ]  # fmt: skip
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(*report.stops_tables(runs, words, {"f1tenth_vesc": ""}))
    rows = console.export_text().splitlines()[2:]
    assert len(rows) == len(CAUSES)
    assert not any("…" in row or "..." in row for row in rows)
    assert every("coasts 8.41 m ×336" in row and "coasts 120 m ×4818" in row for row in some(rows))


@pytest.mark.process
def test_a_car_that_cannot_brake_coasts_in_the_table_and_in_what_programs_read():
    """A plain ESC without power; the same car's Stop brakes."""
    words = ("faults", "--stops", "--vehicle", "f1tenth", "--case", "runstop-opens", "lets-go")
    done = tandem(*words)
    assert done.returncode == 0, done.stderr
    button, release = (line for line in done.stdout.splitlines() if re.search(r"×\d", line))
    assert re.search(r"coasts 8\.\d\d m ×\d+ .*coasts 14\.\d m ×\d+", button)
    assert "coasts" not in release
    rows = json.loads(tandem(*words, "--json").stdout)
    assert {(row["words"], row["coasts"]) for row in rows} == {
        ("runstop button: loop open", True),
        ("deadman let go", False),
    }


@pytest.mark.process
def test_a_case_that_stops_nothing_has_no_row_in_the_table_of_stops():
    done = tandem("faults", "--stops", "--vehicle", "nigel", "--case", "loss")
    assert done.returncode == UsageFault.exit_code
    assert "at least one run" in done.stderr


@pytest.mark.process
def test_a_vehicle_without_a_receiver_has_no_cases_of_rc():
    done = tandem("faults", "--case", "rc-silent", "lets-go", "--vehicle", "nigel", "--json")
    assert [run["case"] for run in json.loads(done.stdout)] == ["lets-go"]


@pytest.mark.process
def test_all_cases_are_listed():
    done = tandem("faults", "--list")
    expected = [case.id for case in (*CASES, *follower_faults.cases())]
    assert [line.split()[0] for line in done.stdout.splitlines()] == expected


def test_an_unknown_case_is_named_with_those_there_are(capsys):
    assert cli.main(["faults", "--case", "frozen"]) == UsageFault.exit_code
    said = capsys.readouterr().err
    assert "unknown case 'frozen'" in said
    assert "frozen-input" in said


def failed_run():
    return CaseResult("loss", "nigel", 3, 0.4, "silence", 0.0, 0.0, 0.0, None, ("slowed",))


def test_a_failure_says_what_repeats_it():
    lines = list(report.failures([failed_run()]))
    assert lines == ["nigel loss, seed 3: slowed", "0 of 1 runs held"]


def test_a_failed_run_is_exit_code_one(monkeypatch):
    module = "host_bridge.cli.commands.faults"
    monkeypatch.setattr(f"{module}._all", lambda tasks, jobs: ([failed_run()], False))
    assert cli.main(["faults", "--case", "loss", "--vehicle", "nigel"]) == 1


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.44, "0.4 s"), (90, "2 min"), (7200, "2 h"), (4e6, ">1000 h")],
)
def test_times_are_said_in_the_unit_that_fits(seconds, said):
    assert report._long(seconds) == said


def worked_s(pid):
    """What the workers of a program have taken of the processor."""
    return sum(map(processor_s, programs_below(pid, "spawn_main")))


@pytest.mark.process
def test_an_interrupt_prints_what_was_done_so_far():
    words = ["faults", "--seeds", "1000", "--case", "lets-go", "--vehicle", "nigel"]
    with program(*words) as started:
        until(lambda: worked_s(started.pid) > RUNS_S, "some runs to be done")
        started.send_signal(signal.SIGINT)
        out, err = patience.communicate(started, 60)
    assert started.returncode == 130, err
    assert "of 1000 runs" in err
    assert "runs held" in out
