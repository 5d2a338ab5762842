"""The cars that ``bench_step.py`` measures do what it says of them."""

import pytest

from firmware.protocol import codes
from tests.bench.step.step_scene import CASES, scene_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_car_of_the_benchmark_drives_where_it_is_said_to(case):
    scene = scene_of(case)
    scene.run(10)
    assert scene.app.configuration.is_valid
    assert scene.app.supervisor.state == (codes.ACTIVE if case[4] else codes.STANDBY)
