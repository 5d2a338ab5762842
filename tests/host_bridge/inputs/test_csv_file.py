"""Files of commands, good ones and others."""

from __future__ import annotations

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.inputs.manoeuvres import CsvManoeuvre
from tests.host_bridge.drive.drives import vehicle
from tests.support.evidence import some

HEADER = "t_s,channel,value_norm\n"


def file_of(tmp_path, text: str):
    path = tmp_path / "commands.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_values_hold_until_the_next_and_are_scaled_to_the_vehicle(tmp_path):
    rows = "3.0,throttle,0.5\n3.5,steering,-1.0\n4.0,throttle,0.0\n4.0,steering,0.25\n"
    commands = CsvManoeuvre(file_of(tmp_path, HEADER + rows), vehicle())
    full_rad, top_mps = vehicle().steer_max_rad, vehicle().speed_max_mps
    assert commands.duration_s == 1.0
    assert commands.rows == 4
    assert commands.at(0.0) == (0.0, 0.5 * top_mps)
    assert commands.at(0.499) == (0.0, 0.5 * top_mps)
    assert commands.at(0.5) == (-full_rad, 0.5 * top_mps)
    assert commands.at(1.0) == (0.25 * full_rad, 0.0)
    assert commands.at(9.0) == (0.25 * full_rad, 0.0)


def test_a_driver_s_log_of_1400_messages_a_second_is_read(tmp_path):
    rows = "".join(
        f"{3 + i / 1400:.6f},{'throttle,1.0000' if i % 2 else 'steering,0.2000'}\n"
        for i in range(6300)
    )
    commands = CsvManoeuvre(file_of(tmp_path, HEADER + rows), vehicle("nigel"))
    assert commands.duration_s == pytest.approx(4.5, abs=0.01)
    assert commands.at(2.0) == (
        pytest.approx(0.2 * vehicle("nigel").steer_max_rad),
        vehicle("nigel").speed_max_mps,
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "is no file of commands"),
        ("\x00\x01PNG", 1, "is no file of commands"),
        ("time,throttle,steering\n0,1,2\n", 1, "t_s,channel,value_norm"),
        (HEADER, 1, "no commands in it"),
        (HEADER + "0.0,throttle\n", 2, "wrong number of values"),
        (HEADER + "0.0,throttle,0.1\nx,throttle,0.1\n", 3, "t_s is not a number"),
        (HEADER + "1.0,throttle,0.1\n0.5,throttle,0.1\n", 3, "t_s is out of range"),
        (HEADER + "0.0,throttle,1.5\n", 2, "value_norm is out of range"),
        (HEADER + "0.0,throttle,nan\n", 2, "value_norm is out of range"),
        (HEADER + "inf,throttle,0.0\n", 2, "t_s is out of range"),
        (HEADER + "0.0,trottle,0.5\n", 2, "throttle or steering"),
    ],
)
def test_what_is_no_file_of_commands_says_where_and_why(tmp_path, text, line, words):
    path = file_of(tmp_path, text)
    with pytest.raises(DataFileFault) as caught:
        CsvManoeuvre(path, vehicle())
    assert f"{path}:{line}" in str(caught.value)
    assert words in str(caught.value)
    assert caught.value.remedy


def test_binary_data_and_missing_files_are_said(tmp_path):
    with pytest.raises(DataFileFault, match="is not text"):
        CsvManoeuvre(file_of(tmp_path, b"\xff\xfe\x00\x80"), vehicle())
    with pytest.raises(DataFileFault, match="cannot be read"):
        CsvManoeuvre(tmp_path / "missing.csv", vehicle())


def test_commands_in_every_way_of_saving_them(tmp_path):
    plain = "t_s,channel,value_norm\n0.00,steering,0.2\n0.01,throttle,0.3\n1.00,throttle,0.0\n"
    ways = [
        plain,
        "\ufeff" + plain,
        plain.replace("\n", "\r\n"),
        plain.replace(",", ";"),
        plain.replace(",", "\t"),
        plain.replace("steering", '"steering"').replace("t_s", '"t_s"'),
        plain.replace(",", ";").replace(".", ","),
        "# from a spreadsheet\n" + plain,
    ]
    for text in some(ways):
        commands = CsvManoeuvre(file_of(tmp_path, text), vehicle())
        assert (commands.rows, commands.duration_s) == (3, 1.0)
        assert commands.at(0.5) == (
            0.2 * vehicle().steer_max_rad,
            pytest.approx(0.3 * vehicle().speed_max_mps),
        )


def test_other_names_of_columns_and_times_in_milliseconds(tmp_path):
    path = file_of(tmp_path, "time,what,how\n0,throttle,0.5\n1,throttle,0\n")
    names = {"t_s": "time", "channel": "what", "value_norm": "how"}
    assert CsvManoeuvre(path, vehicle(), names).rows == 2
    path = file_of(tmp_path, HEADER + "0,throttle,0.5\n100000000,throttle,0\n")
    with pytest.raises(DataFileFault, match=r"these commands last 27777\.8 h") as caught:
        CsvManoeuvre(path, vehicle())
    assert "milliseconds" in caught.value.remedy
