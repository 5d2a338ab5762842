"""A real board file booted on the bench and driven: what its tests share."""

from host_bridge.config.boards import pin_module
from host_bridge.deploy.hil.host.small_host import SmallHost

RUNTIMES = ("cpython", 64, 32)
SPEED_MM_S = 300
FAST_MM_S = 1500  # for wheels with six magnets
FRAME_MS = 20
PUMP_MS = 30  # the charge pump's own
NEUTRAL = {"f1tenth": 1_500_000, "nigel": 0, "autorally": 1_500_000}
DRIVE = {"f1tenth": 1, "nigel": 4, "autorally": 1}  # the first drive channel


BOARDS = {"f1tenth": "pico", "nigel": "weact_rp2350b", "autorally": "pico2"}
ON_A_UART = (
    ('LINK = "usb"', 'LINK = "uart"'),
    ("UARTS = (", 'UARTS = (("link", 0, 0, 1, 921_600),'),
)


def pins_of(wiring, board):
    """The module that a flashed board has, with the host on a UART (the REPL's stream is no
    virtual machine's: test_link.py)."""
    text = pin_module(board, wiring)
    for before, after in ON_A_UART:
        assert before in text, before
        text = text.replace(before, after)
    return text


def driving(world, ms=1500, speed_mm_s=SPEED_MM_S):
    host = SmallHost(world)
    host.take_the_wheel()
    host.drive(ms, speed_mm_s, steer_urad=100_000)
    assert world.enable
    assert world.plant.truth.vx_mps * 1000 > speed_mm_s // 2
    return host


def is_neutral(world, vehicle="f1tenth"):
    at = DRIVE[vehicle]
    return abs(world.values[at] - NEUTRAL[vehicle]) <= 1000


def moved_off(host, vehicle="f1tenth"):
    """Milliseconds until the drive was neutral, and until its power was off."""
    world, neutral_ms, off_ms = host.world, None, None
    for ms in range(1, 700):
        host.hear(world.advance(world.now_us + 1000))
        neutral_ms = neutral_ms or (ms if is_neutral(world, vehicle) else None)
        off_ms = off_ms or (ms if not world.enable else None)
        if neutral_ms and off_ms:
            break
    return neutral_ms, off_ms
