"""A car that was given a box's key has the beat that its steps hold with it."""

import pytest

from host_bridge.config.boards import load_board
from host_bridge.core import KnownCar
from host_bridge.core.system.running import run_async
from host_bridge.deploy.flash.board.control_period import lengthen_control_period
from host_bridge.sharing.services import make_host
from tests.host_bridge.cli.programs import virtual_car

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))


def test_a_beat_that_does_not_hold_is_written_once_and_said(tmp_path):
    """Of a release that was never timed nothing is known: the board's own beat it is."""
    port, pico, said = tmp_path / "port", load_board("pico"), []

    async def twice(host):
        for _ in range(2):
            said.append(
                await lengthen_control_period(
                    f"serial://{port}", host, pico, "1.0.0", KnownCar(b"")
                )
            )
        opened = await host.cars.open(f"serial://{port}")
        said.append(await host.configurations.beat_us(opened))
        await opened.close()
        return 0

    with virtual_car("f1tenth", port):
        assert run_async(twice(make_host())) == 0
    said_first = "f1tenth has a control period of 20 ms now, all read back: with a box's key"
    assert said[0].startswith(said_first)
    assert "do not hold 10 ms" in said[0]
    assert said[1:] == ["", 20_000]
