"""Tables of a drive from anywhere: what is used, what is said, and what is refused."""

import numpy as np
import pytest

from calibration.logs.trace_csv import read_trace_csv
from calibration.logs.trace_tandem import cars_of_tandem_tables, read_tandem_tables
from calibration.logs.tracked_positions import read_tracked_positions
from host_bridge.cli.main import main
from host_bridge.config import load_vehicle
from host_bridge.core.errors import DataFileFault
from tests.support.evidence import some

NIGEL = load_vehicle("nigel")


def written(folder, text, name="drive.csv"):
    path = folder / name
    path.write_text(text)
    return path


def read(folder, text, names=None):
    return read_trace_csv(written(folder, text), NIGEL, names)


def test_a_table_with_a_mark_semicolons_and_decimal_commas(tmp_path):
    trace = read(tmp_path, "\ufefft_s;target_mps;speed_mps\n0;0,3;0\n0,5;0,3;0,2\n1;0;0,3\n")
    assert trace.target.t_s.tolist() == [0.0, 0.5, 1.0]
    assert trace.travel.values[0] == pytest.approx([0.0, 0.1, 0.25])
    assert trace.notes == ()


def test_other_names_of_columns(tmp_path):
    text = "time,delta,v\n0,0.1,1\n1,0.2,1\n"
    trace = read(tmp_path, text, {"t_s": "time", "steer_rad": "delta"})
    assert trace.steering.values.tolist() == [[0.1, 0.2]]
    assert trace.notes == ("of no meaning here: v",)
    with pytest.raises(DataFileFault, match="no names of its columns") as caught:
        read(tmp_path, text)
    assert "--columns t_s=NAME" in caught.value.remedy


def test_gaps_and_repeated_times_are_said(tmp_path):
    trace = read(tmp_path, "t_s,steer_rad,battery_v\n0,0.1,\n0,0.1,8\n1,nan,8\n2,0.2,8\n")
    assert trace.steering.t_s.tolist() == [0.0, 2.0]
    assert trace.notes == (
        "1 rows have the time of another row, the first of which counts",
        "battery_v is empty in 1 of 4 rows",
        "steer_rad is empty in 1 of 4 rows",
    )


def test_half_a_reading_of_an_imu_is_left_out_and_not_made_up(tmp_path):
    text = "t_s,yaw_rate_radps,accel_x_mps2\n0,0.1,1\n1,0.1,\n2,0.1,3\n"
    trace = read(tmp_path, text)
    assert trace.inertial.t_s.tolist() == [0.0, 2.0]
    assert trace.inertial.values.tolist() == [[0.1, 0.1], [1.0, 3.0], [0.0, 0.0]]
    assert "accel_x_mps2 is empty in 1 of 3 rows" in trace.notes


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("t_s,steer_rad\n0,12.5\n1,0\n", 2, "are these degrees?"),
        ("t_s,effort\n0,50\n1,0\n", 2, "are these percent?"),
        ("t_s,steer_rad\n1,0\n0,0\n", 3, "time runs backward"),
        ("t_s,steer_rad\n,0\n1,0\n", 2, "t_s is not a number"),
        ("t_s,name\n0,a\n1,b\n", 1, "no table of a drive"),
        ("t_s,steer_rad\n0,0\n", 1, "too few rows"),
        ("t_ms,steer_rad\n0,0\n", 1, "t_ms is in another unit"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path, text, line, what):
    with pytest.raises(DataFileFault) as caught:
        read(tmp_path, text)
    assert caught.value.where.endswith(f"drive.csv:{line}")
    assert what in str(caught.value)


def test_places_of_cameras_in_csv_and_of_a_virtual_car(tmp_path):
    rows = "".join(f"{n / 10};{n / 5};0\n" for n in range(30))
    seen = read_tracked_positions(written(tmp_path, "\ufefft_s;x_m;y_m\n" + rows))
    assert seen.values[0][:3] == pytest.approx([0.0, 0.2, 0.4])
    lines = [f'{{"sensor": "position", "taken_s": {n}, "x_m": {n}, "y_m": 0.0}}' for n in range(30)]
    samples = written(tmp_path, "\n".join(lines) + "\n", "run")
    assert np.array_equal(read_tracked_positions(samples).values[0], np.arange(30.0))
    for text, what in some(
        [
            (lines[0].replace("0.0", "NaN"), "NaN is no number of JSON"),
            (lines[0].replace("0.0", '"0"'), "run:1, y_m: y_m cannot be that"),
            (lines[0], "1 places"),
        ]
    ):
        samples.write_text(text + "\n")
        with pytest.raises(DataFileFault, match=what):
            read_tracked_positions(samples)


def test_the_tables_of_a_log_are_read_whoever_saved_them(tmp_path, capsys):
    log, folder = tmp_path / "d.mcap", tmp_path / "out"
    words = ["sim://nigel", "--lockstep", "--input", "script:slalom", "--seconds", "2"]
    assert main(["drive", *words, "--record", str(log)]) == 0
    assert main(["log", str(log), "--csv", str(folder)]) == 0
    assert cars_of_tandem_tables(folder) == ["nigel"]
    plain = read_tandem_tables(folder, "nigel", NIGEL)
    assert plain.travel.values[0][-1] > 0.1
    for path in some(list(folder.glob("*.csv"))):  # as a spreadsheet saves them again
        path.write_text("\ufeff" + path.read_text().replace(",", ";").replace(".", ","))
    saved = read_tandem_tables(folder, "nigel", NIGEL)
    for name in ("steering", "target", "travel", "inertial", "battery", "effort"):
        was, is_now = getattr(plain, name), getattr(saved, name)
        assert np.array_equal(was.t_s, is_now.t_s), name
        assert np.array_equal(was.values, is_now.values, equal_nan=True), name
    path = folder / "nigel_motion.csv"
    path.write_text(path.read_text().replace("captured_us", "captured"))
    with pytest.raises(DataFileFault, match="the column captured_us is missing") as caught:
        read_tandem_tables(folder, "nigel", NIGEL)
    assert "tandem log FILE.mcap --csv FOLDER writes it anew" in caught.value.remedy
