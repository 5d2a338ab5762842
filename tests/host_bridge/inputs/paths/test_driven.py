"""Paths driven by the car's own program in virtual time, and measured, by the commands."""

import json

import pytest

from host_bridge.cli.main import main


def figures(capsys, *words):
    code = main([*words, "--json"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return json.loads(printed.out.splitlines()[-1])


def lap(capsys, tmp_path, track, vehicle, *words, query=""):
    """The figures of a drive of a track's centre line: as the car reckoned, and in truth."""
    line, truth = tmp_path / "line.csv", tmp_path / "run.jsonl"
    figures(capsys, "path", "centre", track, "-o", str(line))
    car = f"sim://{vehicle}?track={track}&sensors={truth}"
    driven = figures(capsys, "drive", car, "--lockstep", "--input", f"path:{line}{query}", *words)[
        "summary"
    ]
    assert driven["is_completed"]
    assert driven["cars"][0]["state"] == "STANDBY"
    error = figures(capsys, "path", "error", str(line), "--of", str(truth), "--vehicle", vehicle)
    return driven["path"], error


@pytest.mark.exhaustive(as_a_whole=True)  # whole laps; the other tests drive less of one
@pytest.mark.parametrize(
    ("track", "vehicle", "law", "laps", "reckoned_m", "true_m"),
    [
        ("corridor", "f1tenth", "pursuit", 1, 0.02, 0.2),
        ("corridor", "f1tenth", "stanley", 1, 0.02, 0.25),
        ("oval", "nigel", "pursuit", 1, 0.01, 0.1),
        ("corridor", "f1tenth", "lqr", 1, 0.02, 0.25),
        ("oval", "nigel", "lqr", 2, 0.01, 0.1),
        ("oval", "nigel", "stanley", 2, 0.01, 0.1),  # at its end it may be 1 cm before the line
    ],
)
@pytest.mark.timeout(600)
def test_a_lap_of_a_track_is_driven_on_its_line_without_a_hit(
    capsys, tmp_path, track, vehicle, law, laps, reckoned_m, true_m
):
    reckoned, true = lap(capsys, tmp_path, track, vehicle, query=f"?law={law}&laps={laps}")
    assert reckoned["laps"] == laps
    assert reckoned["cross_track_rms_m"] < reckoned_m
    assert true["cross_track_worst_m"] < true_m
    assert true["hits"] == 0
    assert reckoned["lap_times_s"][0] == pytest.approx(true["lap_times_s"][0], rel=0.05)


@pytest.mark.exhaustive(as_a_whole=True)  # two times two laps
@pytest.mark.timeout(600)
def test_on_its_racing_line_a_car_is_faster_than_on_the_middle_and_hits_nothing(capsys, tmp_path):
    """By a tenth; both with the same limits, by the same law."""
    limits = "law=lqr&laps=2&lateral=4.9&decel=3.5"
    laps_s = []
    for what in (["centre", "corridor"], ["race", "corridor", "--vehicle", "f1tenth_vesc"]):
        line, truth = tmp_path / f"{what[0]}.csv", tmp_path / f"{what[0]}.jsonl"
        made = figures(capsys, "path", *what, "-o", str(line))
        start = ",".join(map(str, made["start"]))
        car = f"sim://f1tenth_vesc?track=corridor&sensors={truth}&start={start}"
        driven = figures(
            capsys, "drive", car, "--lockstep", "--input", f"path:{line}?{limits}", "--speed", "4"
        )["summary"]
        assert driven["is_completed"]
        error = figures(
            capsys, "path", "error", str(line), "--of", str(truth), "--vehicle", "f1tenth_vesc"
        )
        assert error["hits"] == 0
        laps_s.append(min(error["lap_times_s"]))
    assert laps_s[1] < 0.9 * laps_s[0]


@pytest.mark.exhaustive(as_a_whole=True)  # two drives of ten seconds
@pytest.mark.timeout(600)
def test_mppi_drives_the_same_twice_and_stays_on_the_track(capsys, tmp_path):
    pytest.importorskip("numba", reason="law=mppi needs tandem-cars[mppi]")
    line, truth = tmp_path / "line.csv", tmp_path / "run.jsonl"
    figures(capsys, "path", "centre", "corridor", "-o", str(line))
    car = f"sim://f1tenth_vesc?track=corridor&sensors={truth}"
    options = "law=mppi&wide=0.5&far=0.9&lateral=4.9&decel=3.5"
    drive = ("drive", car, "--lockstep", "--input", f"path:{line}?{options}", "--seconds", "10")
    drives, truths = [], []
    for _ in range(2):
        drives.append(figures(capsys, *drive, "--speed", "3")["summary"]["path"])
        truths.append(truth.read_bytes())
        truth.unlink()
    assert drives[0] == drives[1]
    assert truths[0] == truths[1]
    assert drives[0]["driven_m"] > 20.0
    assert drives[0]["cross_track_worst_m"] < 0.6


@pytest.mark.timeout(600)
def test_a_drive_is_recorded_as_a_path_and_driven_again(capsys, tmp_path):
    log, line = tmp_path / "drive.mcap", tmp_path / "drive.csv"
    again = tmp_path / "again.mcap"
    drive = ("drive", "sim://f1tenth", "--lockstep")
    figures(
        capsys, *drive, "--input", "script:slalom", "--seconds", "6", "--speed", "1.5",
        "--record", str(log),
    )  # fmt: skip
    made = figures(capsys, "path", "record", str(log), "-o", str(line))
    assert not made["is_loop"]
    assert made["speeds_mps"][1] == pytest.approx(1.5, abs=0.15)
    driven = figures(capsys, *drive, "--input", f"path:{line}?law=stanley", "--record", str(again))[
        "summary"
    ]["path"]
    assert driven["driven_m"] == pytest.approx(made["length_m"], abs=0.15)
    assert driven["cross_track_rms_m"] < 0.03
    error = figures(capsys, "path", "error", str(line), "--of", str(again))
    assert error["cross_track_rms_m"] == pytest.approx(driven["cross_track_rms_m"], abs=0.01)


@pytest.mark.timeout(600)
def test_hits_are_counted_and_a_car_that_cannot_follow_is_stopped(capsys, tmp_path):
    """A straight line out of the corridor: the wall holds it, and its program stops it."""
    line, truth = tmp_path / "line.csv", tmp_path / "run.jsonl"
    line.write_text("x_m,y_m\n0,0\n30,0\n")
    car = f"sim://f1tenth?track=corridor&sensors={truth}"
    assert main(["drive", car, "--lockstep", "--input", f"path:{line}", "--speed", "1"]) == 1
    capsys.readouterr()
    assert figures(capsys, "path", "error", str(line), "--of", str(truth))["hits"] == 1
