"""``machine`` and ``rp2`` of the drivers' tests, for the board files that import them."""

from tests.firmware.drivers import conftest as drivers

VIRTUAL = drivers.VIRTUAL
