"""S13, S12: the same inputs give the same bytes everywhere, and no step touches the heap."""

import contextlib

import pytest

from firmware.manifest import NOT_DEPLOYED
from firmware.protocol import codes
from host_bridge.deploy.flash.build import program_for
from host_bridge.deploy.flash.program.program import compile_program
from host_bridge.deploy.hil.host.small_host import SmallHost
from tests.firmware.worlds import HEAP_LOCKED, VEHICLES, stormy_drive, world_of

MINUTE = 3500  # beats of the storm; what happens in it takes as long again
STEPS = 10_000
STEP_US = 10_000
WRAP_US = 1 << 30
ARCHITECTURE = {64: "x64", 32: "x86"}  # as mpy-cross calls what this machine's MicroPythons are
CAUSES = {
    codes.CAUSE_RUNSTOP_LOOP, codes.CAUSE_STOP_REQUEST, codes.CAUSE_FROZEN_INPUT,
    codes.CAUSE_SILENCE, codes.CAUSE_CLOCK_STEP, codes.CAUSE_CHARGER, codes.CAUSE_OVERRUN,
    codes.CAUSE_STOP_SOURCE,
}  # fmt: skip
FAULTS = {
    codes.FAULT_RELAY, codes.FAULT_OUTPUT, codes.FAULT_RUNAWAY, codes.FAULT_BROWN_OUT,
    codes.FAULT_OVER_TEMPERATURE,
}  # fmt: skip


@pytest.fixture(scope="module", params=VEHICLES)
def in_process(request):
    return request.param, stormy_drive(request.param, "in process", MINUTE, seed=3)


@pytest.mark.exhaustive(as_a_whole=True)
def test_the_storm_meets_every_state_and_most_of_what_can_go_wrong(in_process):
    _, host = in_process

    def seen(code):
        return {e[2] for e in host.events if e[1] == code}

    assert {e[3] for e in host.events if e[1] == codes.EVENT_STATE_CHANGED} == {1, 2, 3, 4, 5, 6}
    assert seen(codes.EVENT_STOP_LATCHED) >= CAUSES
    assert seen(codes.EVENT_FAULT_LATCHED) >= FAULTS
    assert seen(codes.EVENT_PROFILE) >= {codes.PROFILE_STAND, codes.PROFILE_TRACK}
    assert seen(codes.EVENT_ACTION_REFUSED) >= {codes.ACTION_ARM, codes.ACTION_CAP}
    kinds = [e[1] for e in host.events]
    assert kinds.count(codes.EVENT_CLAIM_REFUSED) > 20
    assert kinds.count(codes.EVENT_STOP_SOURCE) > 100


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", ["cpython", 64, 32])
def test_a_minute_of_trouble_gives_the_same_bytes_on_every_python(in_process, runtime):
    vehicle, expected = in_process
    host = stormy_drive(vehicle, runtime, MINUTE, seed=3)
    assert host.outputs.hexdigest() == expected.outputs.hexdigest()


@pytest.mark.smoke
@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_the_program_as_it_is_flashed_gives_the_same_bytes(bits, tmp_path):
    """Its constants folded, compiled; and its steps touch no heap either."""
    left_out = tuple(file for file in NOT_DEPLOYED if file != "main.py")
    sources = {**program_for("unix", left_out), "drive.py": HEAP_LOCKED.read_text()}
    for path, data in compile_program(
        sources, ARCHITECTURE[bits], lambda done, total: None
    ).items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    script = tmp_path / "main.py"  # what is beside it is found first
    script.write_text(
        "import drive, firmware.core.stops.guard as g\nassert g.__file__[-4:] == '.mpy'\n"
    )
    hosts = [
        stormy_drive("f1tenth", *where, MINUTE // 10, seed=7, **how)
        for where, how in ((("in process",), {}), ((bits,), {"program": script}))
    ]
    assert hosts[0].outputs.hexdigest() == hosts[1].outputs.hexdigest()


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_no_step_of_ten_thousand_allocates(bits):
    """Receive and transmit included, across the wrap of the board's clock."""
    start_us = WRAP_US - 40_000_000
    host = stormy_drive("f1tenth", bits, MINUTE, seed=5, program=HEAP_LOCKED, start_us=start_us)
    assert host.world.now_us - start_us > STEPS * STEP_US
    assert host.world.now_us > WRAP_US


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_an_allocation_in_a_step_is_found(bits, tmp_path):
    """The proof above can fail: the same program with a float in its step ends at once."""
    program = tmp_path / "allocates.py"
    text, step = HEAP_LOCKED.read_text(), "program.step(board.now_us)"
    assert step in text
    program.write_text(text.replace(step, step + "; 1.5 * board.now_us"))
    world = world_of("f1tenth", bits, program=program)
    with contextlib.suppress(KeyError):  # it says nothing
        SmallHost(world).rest(50)
    assert "ended" in str(world.losses[0])
