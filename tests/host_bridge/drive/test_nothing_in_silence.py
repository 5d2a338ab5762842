"""What is driven otherwise than asked is told on the screen, in JSON and in the log."""

import json

import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import NotHeldFault
from host_bridge.logs import reading

WORDS = ("--lockstep", "--seconds", "1.5")


def line(folder, speeds):
    path = folder / "line.csv"
    rows = "".join(f"{n},0,{speed}\n" for n, speed in enumerate(speeds))
    path.write_text("x_m,y_m,speed_mps\n" + rows)
    return f"path:{path}"


def test_a_path_that_is_too_fast_is_told_in_all_three_places(tmp_path, capsys):
    words = ["drive", "sim://nigel", "--input", line(tmp_path, [9] * 5), *WORDS]
    log = tmp_path / "d.mcap"
    assert main([*words, "--record", str(log)]) == 0
    note = "the path asks for up to 9.00 m/s"
    assert f"tandem: {note}" in capsys.readouterr().err
    assert any(note in text for text in reading.summary(log).notes)
    assert main([*words, "--json"]) == 0
    shown = capsys.readouterr()
    summary = json.loads(shown.out.splitlines()[-1])["summary"]
    assert note in summary["notes"][0]
    assert note not in shown.err


def test_a_speed_beyond_the_limit_is_told_in_json_too(capsys):
    words = ["drive", "sim://nigel", "--input", "script:straight", "--speed", "50", *WORDS]
    assert main([*words, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]
    assert "--speed 50 is more than these cars and this input may" in summary["notes"][0]


@pytest.mark.parametrize("car", ["sim://nigel?fault=esc_unarmed", "sim://nigel?fault=dead_encoder"])
def test_a_car_that_does_not_move_does_not_end_with_0(car, capsys):
    words = ["drive", car, "--input", "script:straight", "--speed", "0.2", *WORDS]
    assert main(words) == NotHeldFault.exit_code
    assert "nigel" in capsys.readouterr().err
