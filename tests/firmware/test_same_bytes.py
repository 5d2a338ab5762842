"""S13, S12: the same inputs give the same bytes everywhere, and no step touches the heap."""

import pytest

from tests.firmware.rig import Host, Storm
from tests.firmware.worlds import HEAP_LOCKED, VEHICLES, world_of

MINUTE = 6000  # beats
WRAP_US = 1 << 30


def stormy_drive(vehicle, runtime, beats, seed, **options):
    """The digest of every byte and every output of a drive full of trouble, and its host."""
    world = world_of(vehicle, runtime, seed, **options)
    host = Host(world)
    try:
        host.take_the_wheel()
        host.drive(2000, 1000, 100_000)
        Storm(host, seed).run(beats)
    finally:
        world.close()
    return host


@pytest.fixture(scope="module", params=VEHICLES)
def in_process(request):
    return request.param, stormy_drive(request.param, "in process", MINUTE, seed=3)


def test_the_storm_meets_every_state_and_many_refusals(in_process):
    _, host = in_process
    states = {e[3] for e in host.events if e[1] == 0}
    assert states >= {1, 2, 3, 4, 5}
    counters = host.latest["LinkCounters"]
    assert counters.claims_refused > 50
    assert counters.damaged > 50
    assert counters.claims_accepted > 2000


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", ["cpython", 64, 32])
def test_a_minute_of_trouble_gives_the_same_bytes_on_every_python(in_process, runtime):
    vehicle, expected = in_process
    host = stormy_drive(vehicle, runtime, MINUTE, seed=3)
    assert host.outputs.hexdigest() == expected.outputs.hexdigest()


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_no_step_of_ten_thousand_allocates(bits):
    """Receive and transmit included, across the wrap of the board's clock."""
    start_us = WRAP_US - 40_000_000
    host = stormy_drive("f1tenth", bits, 10_000, seed=5, program=HEAP_LOCKED, start_us=start_us)
    assert host.world.now_us > WRAP_US


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_an_allocation_in_a_step_is_found(bits, tmp_path):
    """The proof above can fail: the same program with a float in its step ends at once."""
    program = tmp_path / "allocates.py"
    text = HEAP_LOCKED.read_text()
    program.write_text(
        text.replace("app.step(board.now_us)", "app.step(board.now_us); 1.5 * len(text)").replace(
            "import sys", "import sys\ntext = 'text'"
        )
    )
    world = world_of("f1tenth", bits, program=program)
    with pytest.raises(RuntimeError, match="ended"):
        Host(world).rest(50)
