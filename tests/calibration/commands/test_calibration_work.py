"""The host finds the work of a calibration by its entry point, or says how to install it."""

import pytest

from calibration.vehicles.board import calibrated_board
from host_bridge.cli.arguments.calibration_work import calibration_work
from host_bridge.core.errors import UsageFault


def test_work_is_found_under_its_name():
    assert calibration_work("board") is calibrated_board


def test_work_that_nobody_offers_is_said_with_its_remedy():
    with pytest.raises(UsageFault, match="nothing that calibrates is installed") as caught:
        calibration_work("nothing")
    assert "make setup" in caught.value.remedy
