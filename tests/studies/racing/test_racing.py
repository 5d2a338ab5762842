"""The studies of racing: who locates the car, what is kept, and one short race of each."""

import numpy as np
import pytest

from tests.studies.racing import autorally, race
from tests.studies.racing.driving import PoseFile


def race_of(law="pursuit", lap_s=14.0, seed=0, hits=0, why=""):
    laps_s = [lap_s + 2.0, lap_s, lap_s]
    return race.Race(law, 4.9, seed, 3, laps_s, hits, why, 0.1, 0.02, 1.0)


def test_a_mean_has_its_interval_and_one_value_none():
    assert race.interval([]) == "none clean"
    assert race.interval([3.0]) == "3.00"
    assert race.interval([1.0, 2.0, 3.0]) == "2.00 (-0.48 to 4.48)"


def test_laws_are_compared_by_the_same_seeds_and_only_clean_races_count():
    races = [race_of(seed=i, lap_s=14.0 + i) for i in range(3)]
    races += [race_of("mppi", seed=i, lap_s=0.9 * (14.0 + i)) for i in range(3)]
    races += [race_of("lqr", hits=1)]
    told = list(race.lines(races))
    assert "mppi at 4.9 m/s^2 is faster than pure pursuit by 10.00 (10.00 to 10.00) %" in told
    assert any(it.startswith("lqr") and "0 of 1   none clean" in it for it in told)
    assert not any("lqr at" in it for it in told)


def test_a_race_that_was_kept_is_not_driven_again(tmp_path, monkeypatch):
    driven = []
    monkeypatch.setattr(race, "driven", lambda *key: driven.append(key) or race_of())
    for _ in range(2):
        kept = race.KeptRaces(tmp_path / "races.jsonl")
        assert kept.race("pursuit", 4.9, 0, 3) == race_of()
    assert driven == [("pursuit", 4.9, 0, 3)]


def test_a_pose_is_read_no_sooner_than_it_is_due(tmp_path):
    poses = PoseFile(tmp_path / "poses")
    poses.put(50, "one")
    poses.put(100, "two")
    poses.tick(99)
    assert poses.path.read_text() == "one\n"
    poses.tick(100)
    poses.close()
    assert poses.path.read_text() == "one\ntwo\n"


def test_the_map_of_a_track_has_its_walls_and_what_is_free():
    field = race.field()
    ends = np.array([[0.0, 1.0], [0.0, -1.0]])  # the corridor's walls beside its beginning
    assert field.fit(np.zeros(3), ends) == 1.0
    assert field.fit(np.array([0.0, 0.5, 0.0]), ends) == 0.0


@pytest.mark.exhaustive(as_a_whole=True)  # laps: a minute
@pytest.mark.timeout(900)
@pytest.mark.parametrize("law", ["pursuit", "mppi"])
def test_a_race_is_clean(law):
    if law == "mppi":
        pytest.importorskip("numba", reason="law=mppi needs tandem-cars[mppi]")
    found = race.driven(law, race.LAWS[law][0], 0, 2)
    assert found.is_clean, found.why
    assert found.located_m < 0.1
    assert found.lap_s < 16.0


@pytest.mark.exhaustive(as_a_whole=True)  # two laps
@pytest.mark.timeout(900)
def test_autorally_drives_round_its_track():
    pytest.importorskip("numba", reason="law=mppi needs tandem-cars[mppi]")
    found = autorally.driven(4.0, 0, 2)
    assert (found.why, found.hits) == ("", 0)
    assert found.mean_mps == pytest.approx(4.0, abs=0.4)
