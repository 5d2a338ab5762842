"""``tandem path``: what cannot be meant so is refused, and says what to do."""

import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault, UsageFault


def refused(capsys, *words):
    code = main(["path", *words])
    return code, capsys.readouterr().err


def test_a_track_is_shown_for_people(capsys, tmp_path):
    file = tmp_path / "oval.csv"
    assert main(["path", "centre", "oval", "-o", str(file)]) == 0
    assert main(["path", "show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "8.85 m, a loop, 177 points" in shown
    assert "begins at start=0,0,0" in shown


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("centre", "nowhere.yaml"), DataFileFault.exit_code, "cannot be read"),
        (("centre", "oval", "--start", "1,2,3"), UsageFault.exit_code, "begins at the origin"),
        (("record", "none.mcap"), DataFileFault.exit_code, "cannot be read"),
    ],
)
def test_what_makes_no_path_is_refused(capsys, tmp_path, words, code, what):
    got, output = refused(capsys, *words, "-o", str(tmp_path / "out.csv"))
    assert got == code
    assert what in output
    assert not (tmp_path / "out.csv").exists()


def test_a_log_without_a_drive_and_samples_of_nothing_are_refused(capsys, tmp_path):
    log, line, none = tmp_path / "idle.mcap", tmp_path / "line.csv", tmp_path / "none.jsonl"
    line.write_text("x_m,y_m\n0,0\n1,0\n")
    none.write_text('{"sensor": "imu"}\n')
    words = ["sim://f1tenth", "--lockstep", "--input", "script:straight", "--seconds", "0.1"]
    main(["drive", *words, "--speed", "0.1", "--record", str(log)])
    capsys.readouterr()
    code, output = refused(capsys, "record", str(log), "-o", str(tmp_path / "out.csv"))
    assert code == DataFileFault.exit_code
    assert "did not move" in output
    code, output = refused(
        capsys, "record", str(log), "--car", "red", "-o", str(tmp_path / "o.csv")
    )
    assert "--car f1tenth" in output
    code, output = refused(capsys, "error", str(line), "--of", str(none))
    assert code == DataFileFault.exit_code
    assert "no pose of a car" in output
