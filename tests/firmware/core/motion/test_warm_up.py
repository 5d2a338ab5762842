"""The time in neutral after power-up."""

import pytest

from firmware.core.deadlines import shifted_us
from firmware.core.motion.warm_up import WarmUp
from tests.firmware.core.desk import params_with

MOST_US = (1 << 30) - 1


@pytest.mark.parametrize("begin_us", [0, 5, MOST_US - 999])
def test_it_is_over_after_its_time_from_the_first_call_on_and_stays_over(begin_us):
    made = WarmUp()
    made.configure(params_with(start_ms=20))
    for passed_us in (0, 1, 10_000, 19_999):
        assert made.is_over(shifted_us(begin_us, passed_us)) is False
    for passed_us in (20_000, 30_000, 200_000_000, 500_000_000):
        assert made.is_over(shifted_us(begin_us, passed_us)) is True


def test_of_no_time_it_is_over_at_once():
    made = WarmUp()
    made.configure(params_with(start_ms=0))
    assert made.is_over(0) is True
