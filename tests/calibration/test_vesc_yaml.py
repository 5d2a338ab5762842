"""F1TENTH's vesc.yaml is written from pulses that are known, and from no others."""

import numpy as np
import pytest

from calibration.files.calibration import Calibration
from calibration.files.source import CalibrationSource
from calibration.logs.ros_bag import BAG
from calibration.regression.steering_map import SteeringMap
from calibration.vehicles.vesc_yaml import vesc_yaml
from host_bridge.config import load_vehicle
from host_bridge.core.errors import UsageFault


def calibration(kind, has_map=True):
    at = np.array([-0.3, 0.0, 0.3])
    steering_map = SteeringMap(at, 0.9 * at, 0.8 * at, at, 0.0) if has_map else None
    source = CalibrationSource("run", "", kind, 60.0)
    return Calibration("f1tenth_vesc", "2026-05-01", "made", (source,), (), steering_map)


def test_a_bag_does_not_say_by_which_pulses_it_was_steered():
    vehicle = load_vehicle("f1tenth_vesc")
    with pytest.raises(UsageFault, match="pulses that steered this car are not known"):
        vesc_yaml(vehicle, calibration(BAG))
    assert "servo_gain: -0.6667" in vesc_yaml(vehicle, calibration("log of Tandem"))


def test_without_a_steering_map_a_bag_tells_the_rest():
    text = vesc_yaml(load_vehicle("f1tenth_vesc"), calibration(BAG, has_map=False))
    assert "servo_gain: -0.6000  # not told by the logs" in text
