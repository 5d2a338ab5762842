"""``tandem path``: what cannot be meant so is refused, and says what to do."""

import json
from math import pi

import numpy as np
import pytest
from PIL import Image

from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.system.progress import LINES


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
        (("centre", "corridr"), DataFileFault.exit_code, "did you mean corridor?"),
        (("centre", "nowhere"), DataFileFault.exit_code, "one of autorally, corridor, oval"),
        (("centre", "oval", "--start", "1,2,3"), UsageFault.exit_code, "begins at the origin"),
        (("record", "none.mcap"), DataFileFault.exit_code, "cannot be read"),
    ],
)
def test_what_makes_no_path_is_refused(capsys, tmp_path, words, code, what):
    got, output = refused(capsys, *words, "-o", str(tmp_path / "out.csv"))
    assert got == code
    assert what in output
    assert not (tmp_path / "out.csv").exists()


BEFORE_WORK = (
    ("path", "record", "none.mcap"),
    ("path", "centre", "none.yaml"),
    ("path", "race", "none.yaml", "--vehicle", "f1tenth"),
    ("map", "none.mcap"),
)


@pytest.mark.parametrize("words", BEFORE_WORK)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(words, capsys, tmp_path):
    there = tmp_path / "there.yaml"
    there.write_text("mine")
    for out, what in ((there, "none is overwritten"), (tmp_path / "no" / "a", "No such file")):
        assert main([*words, "-o", str(out)]) == DataFileFault.exit_code
        error = capsys.readouterr().err
        assert what in error
        assert "none.mcap" not in error
    assert there.read_text() == "mine"


def test_an_image_beside_the_map_is_not_overwritten_after_all_the_work(capsys, tmp_path):
    (tmp_path / "lab.pgm").write_text("mine")
    assert main(["map", "none.mcap", "-o", str(tmp_path / "lab.yaml")]) == DataFileFault.exit_code
    assert "lab.pgm: there is such a file" in capsys.readouterr().err


def test_the_steps_of_a_map_are_shown_to_whoever_asks_for_progress(capsys, monkeypatch, tmp_path):
    words = ["path", "race", str(ring_map(tmp_path, 0.25)), "--vehicle", "f1tenth"]
    assert main([*words, "-o", str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setenv(LINES, "1")
    assert main([*words, "-o", str(tmp_path / "b.csv")]) == 0
    steps = capsys.readouterr().err.splitlines()
    assert [step.partition(",")[0] for step in steps] == [
        "reading the map ...",
        "looking for the middle between the walls",
        "looking for the line of least curvature ...",
    ]


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


def ring_map(folder, free_thresh):
    """A ring of floor about the origin, unknown elsewhere, as a saver of maps writes it."""
    y, x = np.mgrid[-60:60, -60:60] + 0.5
    apart = np.hypot(x, y)
    shades = np.where((apart > 30) & (apart < 50), 254, 205)
    shades[((apart > 28) & (apart <= 30)) | ((apart >= 50) & (apart < 52))] = 0
    Image.fromarray(shades.astype(np.uint8)).save(folder / "lab.pgm")
    path = folder / "lab.yaml"
    path.write_text(
        "image: lab.pgm\nresolution: 0.1\norigin: [-6.0, -6.0, 0]\nnegate: 0\n"
        f"occupied_thresh: 0.65\nfree_thresh: {free_thresh}\n"
    )
    return path


def test_the_centre_of_a_map_as_nav2_saves_it_is_within_its_walls(capsys, tmp_path):
    """With free_thresh 0.25 the unknown is no floor, and the person is told."""
    file = ring_map(tmp_path, 0.25)
    assert main(["path", "centre", str(file), "-o", str(tmp_path / "a.csv"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["length_m"] == pytest.approx(2 * pi * 4.0, abs=0.3)
    assert "the grey 205" in figures["notes"][0]
    ring_map(tmp_path, 0.196)
    assert main(["path", "centre", str(file), "-o", str(tmp_path / "b.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["length_m"] == figures["length_m"]


def test_a_start_that_is_no_place_and_a_map_that_is_none_are_refused(capsys, tmp_path):
    file, out = str(ring_map(tmp_path, 0.25)), str(tmp_path / "o.csv")
    code, output = refused(capsys, "centre", file, "-o", out, "--start", "0,0,0")
    assert code == DataFileFault.exit_code
    assert "0,0 is no free place of the map: it is unknown" in output
    assert refused(capsys, "centre", file, "-o", out, "--start", "4,0,90")[0] == 0
    (tmp_path / "lab.pgm").unlink()
    (tmp_path / "o.csv").unlink()
    code, output = refused(capsys, "centre", file, "-o", out)
    assert code == DataFileFault.exit_code
    assert f"{tmp_path / 'lab.pgm'}: cannot be read" in output


def test_a_car_in_the_unknown_is_refused_and_the_note_is_told(capsys, tmp_path, caplog):
    file = ring_map(tmp_path, 0.25)
    words = ["drive", "--lockstep", "--input", "script:straight", "--seconds", "0.1", "--json"]
    assert main([*words, "--car", f"sim://f1tenth?map={file}&start=0,0,0"]) == UsageFault.exit_code
    assert "nobody may be there" in capsys.readouterr().err
    assert main([*words, "--car", f"sim://f1tenth?map={file}&start=4,0,90"]) == 0
    assert "the grey 205" in caplog.text
