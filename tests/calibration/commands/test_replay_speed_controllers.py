"""``tandem replay`` of cars whose drive is an ESC or a VESC: the twin runs their board's loop."""

import json

import pytest

from host_bridge.cli import main as cli

# Position error at the end as a share of the way. AutoRally's brake servo lets go late.
CARS = [("f1tenth", 0.01), ("f1tenth_vesc", 0.01), ("hunter_se", 0.01), ("autorally", 0.03)]


@pytest.mark.fit
@pytest.mark.parametrize(("vehicle", "share"), CARS, ids=str)
def test_a_recorded_drive_is_predicted_from_start_to_stop(vehicle, share, tmp_path, capsys):
    log = tmp_path / "drive.mcap"
    words = ["--input", "script:straight", "--seconds", "4", "--lockstep", "--record", str(log)]
    assert cli.main(["drive", "--car", f"sim://{vehicle}", *words]) == 0
    capsys.readouterr()
    assert cli.main(["replay", str(log), "--json"]) == 0
    shown = capsys.readouterr()
    (row,) = json.loads(shown.out)
    assert ("its odometry begins up to 0.20 m late" in shown.err) == (vehicle == "autorally")
    assert row["car"]["x_m"][-1] > 2.0
    assert row["twin"]["error_percent_of_way"] < 100 * share
    assert row["twin"]["position_last_m"] < share * row["car"]["x_m"][-1]
