"""Another login lays stop sockets that hang or make noise into the folder, some by the very name of
the car: a third login stops the car as soon as without, and is told of each what is known of it."""

from __future__ import annotations

import os
import re
import select
import socket
import time

import pytest

from host_bridge.core.errors import DeviceFault
from tests.host_bridge.cli.programs import serving
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Notes, attacking
from tests.support.evidence import some

pytestmark = [pytest.mark.process, logins.as_root]
# Each of them: 200 that let everybody in and answer nobody, 200 whose queue is full
HANGING, PROCESSES = 200, 2
_TURN_S = 0.1
NOISY = 60  # that send without end to whoever connects: less than a login's share of all


def hang(notes: Notes, folder: str, count: int) -> None:
    """Listen at so many of each kind and answer nobody, until killed. What it did are looks at
    them, at one of which it connects anew; it holds those that listen."""
    kept = []
    for place in range(2 * count):
        name = "car" if place % 4 == 0 else f"car{place}"
        end = socket.socket(socket.AF_UNIX)
        random = f"{os.getpid() % 0x10000:04x}{place:04x}"
        end.bind(os.path.join(folder, f"tandem-stop.{name}.00000000.00000000.{random}"))
        os.chmod(end.getsockname(), 0o666)
        end.listen(0 if place % 2 else 64)
        kept.append(end)
        if place % 2:
            fill(end.getsockname(), kept)
    done = 0
    while True:
        done += 1
        notes.holds(2 * count)
        notes.did(done)
        time.sleep(_TURN_S)


def fill(path: str, kept: list[socket.socket]) -> None:
    """Connect until nobody else can."""
    while True:
        end = socket.socket(socket.AF_UNIX)
        kept.append(end)
        end.setblocking(False)
        try:
            end.connect(path)
        except BlockingIOError:
            return


def make_noise(notes: Notes, folder: str, count: int) -> None:
    """Listen at so many by the car's own name, and send zeros to whoever connects as fast as they
    are taken, until killed. What it did are turns; it holds those that listen."""
    poll, ends = select.poll(), {}
    for place in range(count):
        end = socket.socket(socket.AF_UNIX)
        random = f"{os.getpid() % 0x10000:04x}{place:04x}"
        end.bind(os.path.join(folder, f"tandem-stop.car.00000000.00000000.{random}"))
        os.chmod(end.getsockname(), 0o666)
        end.listen(64)
        end.setblocking(False)
        ends[end.fileno()] = end
        poll.register(end, select.POLLIN)
    done = 0
    while True:
        done += 1
        notes.holds(count)
        notes.did(done)
        for file, _ in poll.poll(_TURN_S * 1e3):
            try:
                if ends[file].getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    end = ends[file].accept()[0]
                    end.setblocking(False)
                    ends[end.fileno()] = end
                    poll.register(end, select.POLLOUT)
                else:
                    ends[file].send(bytes(65_536))
            except BlockingIOError:
                continue
            except OSError:  # whoever it was has gone
                poll.unregister(file)
                ends.pop(file).close()


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [6, 300])
def test_a_third_login_stops_the_car_as_soon_as_without_sockets_that_hang(shared, count):
    with serving("sim://nigel", "car"):
        control = tries.tried(count, "car")
        with attacking(PROCESSES, hang, str(shared), HANGING) as attack:
            attacked = attack.beside(lambda: tries.tried(count, "car"))
            stopped = tries.program()
    tries.judged(control, attacked, attack.told("looks at sockets that hang"))
    assert stopped.stdout.splitlines()[0].startswith("car"), "acknowledged"
    assert stopped.returncode == DeviceFault.exit_code, "others did not"
    assert f"of user {logins.ATTACKER}): NOT ACKNOWLEDGED" in stopped.stderr
    # A socket that is no car's: whether "its car stops by itself" nobody knows, and nobody says
    said = re.findall(r"stops by itself.{3}", stopped.stderr)
    assert set(some(said)) <= {"stops by itself; e", "stops by itself is"}


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [6, 300])
def test_a_third_login_stops_the_car_as_soon_as_without_sockets_that_make_noise(shared, count):
    with serving("sim://nigel", "car"):
        control = tries.tried(count, "car")
        with attacking(1, make_noise, str(shared), NOISY) as attack:
            attacked = attack.beside(lambda: tries.tried(count, "car"))
    tries.judged(control, attacked, attack.told("turns of noise"))
