"""Hardware in the loop: the real board file and loop under MicroPython behind a pseudo-terminal,
the plant on this side, the very commands of the user. Its heap is locked in every step."""

import asyncio
import json
import os
import time
import tty

import pytest

from firmware.protocol.plant import PLANT, hitl_id
from host_bridge.sharing.services import make_host
from sim_mock.faults.trial.host import framed
from sim_mock.hitl.frames import FrameDecoder, FrameSplitter, kind_of
from tests.host_bridge.cli.programs import serving, tandem
from tests.sim_mock.hitl.boards import bare_board
from tests.support.evidence import every

WAVE = "script:slalom"
REFUSED = 6
STARTS_S = 1.5  # of its first second it stands in neutral


@pytest.fixture(params=(64, 32))
def board(request, tmp_path):
    with bare_board(tmp_path / "board", runtime=request.param) as board:
        time.sleep(STARTS_S)
        yield board


def uri_of(board):
    return f"serial://{board.device}?hitl=f1tenth&name=desk"


def in_the_end(*words, within_s=90.0, anew=lambda: None):
    """Of a machine that has no time at all the car thinks as of a dead host, and refuses: again."""
    for _ in range(3):
        anew()
        done = tandem(*words, within_s=within_s)
        if done.returncode != REFUSED:
            break
    return done


def assert_still(board):
    """Its metal has never had the drive's relay closed, nor anything but neutral pulses."""
    seen = board.metal()
    assert seen
    assert not any(is_closed for is_closed, _ in seen)
    assert len({values for _, values in seen}) == 1
    assert board.process.poll() is None


@pytest.mark.process(drives=True)
def test_a_drive_goes_its_way_and_no_metal_moves(board, tmp_path):
    log = tmp_path / "drive.mcap"
    drive = ("drive", "--car", uri_of(board), "--input", WAVE, "--seconds", "4")
    done = in_the_end(*drive, "--json", "--record", str(log), anew=lambda: log.unlink(True))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    (car,) = json.loads(done.stdout.splitlines()[-1])["summary"]["cars"]
    assert car["distance_m"] > 3
    assert log.stat().st_size > 10_000
    assert_still(board)


@pytest.mark.process(drives=True)
@pytest.mark.parametrize("board", [64], indirect=True)
def test_it_says_what_it_is_and_stops_when_told(board):
    with serving(uri_of(board), "desk"):
        (row,) = [
            row for row in json.loads(tandem("cars", "--json").stdout) if row["name"] == "desk"
        ]
        assert row["is_hitl"]
        assert row["vehicle"] == "f1tenth"
        assert "HITL" in tandem("cars").stdout
        assert "desk is hardware in the loop" in tandem("doctor").stdout
        assert "HARDWARE IN THE LOOP" in tandem("monitor", "desk", "--seconds", "2").stdout
        done = tandem("monitor", "desk", "--seconds", "2", "--json")
        samples = done.stdout.splitlines()
        assert {"identity"} <= {json.loads(sample)["topic"] for sample in samples}, done.stderr
        assert every(json.loads(sample).get("is_hitl", True) for sample in samples)
        assert tandem("stop", "desk").returncode == 0
    assert_still(board)


@pytest.mark.process(drives=True)
@pytest.mark.parametrize("board", [64], indirect=True)
def test_a_plant_that_is_gone_opens_the_loop_and_the_next_one_begins_anew(board):
    async def main():
        transport = make_host().cars.transport(uri_of(board))
        heard = []
        await transport.open(heard.append, heard.append)
        await asyncio.sleep(0.3)
        transport.close()
        assert heard
        assert heard[-1] is None
        await asyncio.sleep(0.5)
        opened = await make_host().cars.open(f"serial://{board.device}", name="bare")
        try:
            identity = opened.car.identity
            assert identity.is_hitl
            assert identity.is_virtual  # its wheels are: no metal moves
            assert identity.board_id == hitl_id(board.chip_id)
            await opened.until(lambda: opened.car.status is not None, 5)
            assert [cause.name for cause in opened.car.status.causes] == ["RUNSTOP_LOOP"]
        finally:
            await opened.close()
        await transport.open(heard.append, heard.append)
        assert transport.world.now_us < 1_000_000
        transport.close()

    asyncio.run(main())
    assert_still(board)


@pytest.mark.process(drives=True)
@pytest.mark.parametrize("board", [64], indirect=True)
def test_a_board_that_is_reset_is_a_real_car_again_and_hears_nothing(board):
    async def main():
        transport = make_host().cars.transport(uri_of(board))
        closed = []
        await transport.open(lambda data: None, closed.append)
        board.cut_power()
        for _ in range(500):
            await asyncio.sleep(0.01)
            if closed:
                break
        assert "silent" in str(closed[0])
        assert transport.send(b"\0\x12\0") == 0

    asyncio.run(main())


@pytest.mark.process(drives=True)
def test_a_port_without_a_board_says_so():
    master, slave = os.openpty()
    tty.setraw(slave)
    done = tandem("serve", "--car", f"serial://{os.ttyname(slave)}?hitl=f1tenth", within_s=40)
    os.close(master)
    os.close(slave)
    assert done.returncode == 3
    assert "nothing of Tandem is heard from the board" in done.stderr


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sim://f1tenth?hitl=f1tenth", "board on a cable"),
        ("serial:///dev/x?hitl=nogel", "nogel"),
        ("serial:///dev/x?hitl=f1tenth&blank=1", "blank"),
        ("serial:///dev/x?hitl=f1tenth&baudd=1", "baudd"),
        ("serial:///dev/x?hitl=f1tenth&baud=115200", "expected baud=230400 or more"),
        ("serial:///dev/x?hitl=f1tenth&baud=230399", "got baud=230399"),
        ("lossy+serial:///dev/x?loss=0.1&baud=115200&hitl=f1tenth", "got baud=115200"),
    ],
)
def test_what_does_not_fit_is_refused(text, why):
    with pytest.raises(Exception, match=why):
        make_host().cars.transport(text)


@pytest.mark.parametrize("baud", ["", "&baud=230400", "&baud=921600"])
def test_a_line_that_is_quick_enough_is_taken(baud):
    assert make_host().cars.transport("serial:///dev/x?hitl=f1tenth" + baud).cable


@pytest.mark.process(drives=True)
def test_too_slow_a_line_is_said_by_the_command():
    done = tandem("drive", "--car", "serial:///dev/x?hitl=f1tenth&baud=115200", "--input", WAVE)
    assert done.returncode == 2
    assert "expected baud=230400" in done.stderr


def test_by_its_uri_it_is_of_a_known_type():
    assert make_host().cars.transport("serial:///dev/ttyACM0?hitl=nigel").vehicle == "nigel"


@pytest.mark.parametrize("kind", PLANT)
def test_the_plants_frames_are_read_as_they_were_written(kind):
    message = kind()
    for row in kind.FIELDS:
        if row[1][0] != "b":
            setattr(message, row[0], row[3])
    (frame,) = FrameSplitter().feed(framed(message))
    assert len(frame) + 2 <= 64
    assert kind_of(frame) == kind.ID
    read = FrameDecoder(kind).message(frame)
    for row in kind.FIELDS:
        assert getattr(read, row[0]) == getattr(message, row[0])
    assert FrameDecoder(kind).message(frame[:-1] + bytes([frame[-1] ^ 1 or 2])) is None


@pytest.mark.process(drives=True)
@pytest.mark.parametrize("board", [64], indirect=True)
def test_the_demo_drives_it_beside_its_twin(board, tmp_path):
    """How well the two keep pace is this machine's matter; that they hear the same is not."""
    demo = ("demo", "--board", board.device, "--only", "together", "--out", str(tmp_path))
    done = in_the_end(*demo, within_s=150)
    assert done.returncode in (0, 1, 8), done.stderr  # 8: not everything was shown
    checks = json.loads((tmp_path / "demo.json").read_text())["checks"]
    (same,) = [check for check in checks if check["what"].startswith("claims that both")]
    assert same["holds"], same
    assert_still(board)
