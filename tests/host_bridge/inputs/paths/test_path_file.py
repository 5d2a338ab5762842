"""Files of paths: our own, F1TENTH's, and what is none."""

from math import cos, sin, tau

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.inputs.paths import Path, read_path, write_path
from host_bridge.inputs.paths.follower import make
from host_bridge.inputs.paths.speed_profile import SpeedProfile
from tests.support.evidence import some

RACE_LINE = """\
#1c1d5f0c-cd97
# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps; ax_mps2
0.0; 0.0; 0.0; -1.57; 0.0; 3.0; 0.1
1.0; 1.0; 0.0; -1.57; 0.0; 3.5; 0.1
2.0; 2.0; 0.5; -1.57; 0.0; 4.0; 0.1
"""
CENTRE_LINE = "# x_m, y_m, w_tr_right_m, w_tr_left_m\n0, 0, 1.1, 1.1\n1, 0, 1.1, 1.1\n"


def read(tmp_path, text):
    file = tmp_path / "line.csv"
    file.write_text(text)
    return read_path(file)


def test_a_racing_line_and_a_centre_line_of_f1tenth(tmp_path):
    raced = read(tmp_path, RACE_LINE)
    assert raced.points_m.tolist() == [[0, 0], [1, 0], [2, 0.5]]
    assert raced.speeds_mps.tolist() == [3, 3.5, 4]
    assert read(tmp_path, CENTRE_LINE).speeds_mps is None


@pytest.mark.parametrize("is_loop", [True, False])
def test_what_is_written_is_read_and_nothing_is_overwritten(tmp_path, is_loop):
    written = Path([[0, 0], [1, 0], [1, 1], [0, 1]], [1.0, 2.0, 1.0, 2.0], is_loop=is_loop)
    file = tmp_path / "mine.csv"
    write_path(file, written)
    again = read_path(file)
    assert again.is_loop is is_loop
    assert again.points_m.tolist() == written.points_m.tolist()
    assert again.speeds_mps.tolist() == written.speeds_mps.tolist()
    with pytest.raises(DataFileFault, match="none is overwritten"):
        write_path(file, written)
    with pytest.raises(DataFileFault, match="cannot be written"):
        write_path(tmp_path / "nowhere" / "mine.csv", written)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("0,0\n1,0\n", ":1", "no names of its columns"),
        ("x_m,y_m\n", ":1", "no points"),
        ("x_m,y_m\n0,0\n0,0\n", ":1", "too short"),
        ("x_m,y_m\n0,0\n1\n", ":3", "wrong number of values"),
        ("x_m,y_m\n0,0\n1,east\n", ":3", "not a number"),
        ("x_m,y_m\n0,0\n1,inf\n", ":3", "not a finite number"),
    ],
)
def test_what_is_no_path_is_refused_with_its_line(tmp_path, text, where, what):
    with pytest.raises(DataFileFault, match=what) as caught:
        read(tmp_path, text)
    assert caught.value.where.endswith(where)
    assert "x_m,y_m" in caught.value.remedy


def test_what_is_no_text_or_not_there_is_refused(tmp_path):
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    for name, what in some([("b.csv", "not text"), ("none.csv", "cannot be read")]):
        with pytest.raises(DataFileFault, match=what):
            read_path(tmp_path / name)


LOOP = [(5.0 * cos(a), 5.0 * sin(a)) for a in (n * tau / 60 for n in range(60))]


def test_a_path_in_millimetres_is_refused_at_once_with_its_length(tmp_path):
    text = "x_m,y_m\n" + "".join(f"{1000 * x:.1f},{1000 * y:.1f}\n" for x, y in LOOP)
    with pytest.raises(DataFileFault, match=r"this path is 30\.9 km long") as caught:
        read(tmp_path, text)
    assert "millimetres" in caught.value.remedy


@pytest.mark.parametrize("sign", ["; ", "\t", ", ", " "])
def test_a_racing_line_with_any_separator_and_a_mark(tmp_path, sign):
    raced = read(tmp_path, "\ufeff" + RACE_LINE.replace("; ", sign))
    assert raced.points_m.tolist() == [[0, 0], [1, 0], [2, 0.5]]
    assert raced.speeds_mps.tolist() == [3, 3.5, 4]


def test_columns_of_other_names(tmp_path):
    file = tmp_path / "line.csv"
    file.write_text("X,Y,v\n0,0,1\n1,0,2\n")
    path = read_path(file, {"x_m": "X", "y_m": "Y", "speed_mps": "v"})
    assert path.points_m.tolist() == [[0, 0], [1, 0]]
    assert path.speeds_mps.tolist() == [1, 2]
    with pytest.raises(DataFileFault, match="no path: the column x_m is missing") as caught:
        read_path(file)
    assert "--columns x_m=X" in caught.value.remedy


@pytest.mark.parametrize(
    ("speeds", "line", "what"),
    [
        ([1, -0.5, 1, 1], 3, "a path is driven forward only"),
        ([1, 0, 1, 1], 3, "0 on the way"),
        ([0, 0, 0, 0], 2, "0 on the way"),
        ([1, 99, 1, 1], 3, "speed_mps is out of range"),
    ],
)
def test_a_speed_that_is_not_driven_is_refused(tmp_path, speeds, line, what):
    rows = "".join(f"{n},0,{speed}\n" for n, speed in enumerate(speeds))
    with pytest.raises(DataFileFault, match=what) as caught:
        read(tmp_path, "x_m,y_m,speed_mps\n" + rows)
    assert caught.value.where.endswith(f":{line}")


def test_a_path_may_begin_and_end_at_rest(tmp_path):
    rows = "".join(f"{n},0,{speed}\n" for n, speed in enumerate([0, 0, 1, 1, 0]))
    assert read(tmp_path, "x_m,y_m,speed_mps\n" + rows).speeds_mps.tolist() == [0, 0, 1, 1, 0]


def test_two_columns_of_speed_and_a_loop_that_is_neither_are_refused(tmp_path):
    for text, what in some(
        [
            ("x_m,y_m,speed_mps,vx_mps\n0,0,1,2\n1,0,1,2\n", "two columns have speeds"),
            ("# loop: maybe\nx_m,y_m\n0,0\n1,0\n", "neither yes nor no"),
        ]
    ):
        with pytest.raises(DataFileFault, match=what):
            read(tmp_path, text)


UNREAD = {
    RACE_LINE: "s_m, psi_rad, kappa_radpm, ax_mps2",
    ",x_m,y_m,speed_mps\n0,0.0,0.0,1.5\n1,1.0,0.0,1.5\n": "one without a name",  # pandas' index
    "x_m,y_m\n0,0\n1,0\n": "",
}


@pytest.mark.parametrize("text", UNREAD, ids=lambda text: text[:20])
@pytest.mark.parametrize("query", ["", "?loop=0", "?loop=1"])
def test_columns_that_are_not_read_are_told_before_the_drive(tmp_path, text, query):
    (tmp_path / "line.csv").write_text(text)
    told = f"columns of the path that are not read: {UNREAD[text]}"
    follower = make(f"{tmp_path / 'line.csv'}{query}", {}, lambda: 0)
    path = follower._read()
    assert path.unread == (told if UNREAD[text] else "")
    follower._path, follower._profile = path, SpeedProfile(path, 1.0, 2.0, 0.3, 1.0)
    assert (told in follower.limit_notes()) == bool(UNREAD[text])


@pytest.mark.parametrize("name", ["speed_kmh", "Speed_mps", "speed", "vx"])
def test_a_column_of_speeds_that_would_not_be_read_is_refused(tmp_path, name):
    path = tmp_path / "line.csv"
    path.write_text(f"x_m,y_m,{name}\n0,0,5\n1,0,5\n")
    with pytest.raises(DataFileFault, match=f"the column {name} would not be read"):
        read_path(path)
