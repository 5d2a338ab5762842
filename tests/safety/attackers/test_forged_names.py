"""Another login lays 20,000 names of stop sockets into the folder: a third login stops the car as
soon as without."""

from __future__ import annotations

import os

import pytest

from tests.host_bridge.programs import serving
from tests.safety.attackers import logins, tries

pytestmark = [pytest.mark.process, logins.as_root]
FORGED = 20_000


def forge(folder: str, count: int) -> int:
    """Lay so many names there, links that lead nowhere; how many there are."""
    for place in range(count):
        os.symlink("x", os.path.join(folder, f"tandem-stop.a.00000000.00000000.{place:08x}"))
    return count


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [12, 300])
def test_a_third_login_stops_the_car_as_soon_as_without_20000_names(shared, count):
    with serving("sim://nigel", "car"):
        control = tries.tried(count, "car")
        with logins.working(logins.ATTACKER, forge, str(shared), FORGED) as work:
            made = work.answer()
            attacked = tries.tried(count, "car")
            stopped = tries.program("car")
    assert made == FORGED
    tries.judged(
        control, attacked, f"{made} names forged by process {work.pid} of login {logins.ATTACKER}"
    )
    assert stopped.returncode == 0, stopped.stderr
