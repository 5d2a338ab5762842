"""A receiver on a desk, and the frames that it is given."""

from firmware.boards.simulated.virtual import VirtualBoard
from firmware.core.arbitration.rc_receiver import RcReceiver
from firmware.core.arbitration.source import Source
from tests.firmware.core.desk import params_with

STOP, MANUAL, AUTONOMY = 0, 1, 2
HELD, PERMITS = 1, 2
FRAME_US, LOSS_US = 20_000, 50_000
SECOND_US = 1_000_000
PERIOD = 2**30
# Steering: the longer pulse is right. The throttle's centre is not in its middle.
PULSES = {
    "rc_low_us": [2000, 1100, 1000, 1000],
    "rc_centre_us": [1500, 1400, 1500, 1500],
    "rc_high_us": [1000, 2000, 2000, 2000],
}
CLOSED, OPEN = 1000, 2000  # of the live-man
LOW, MIDDLE, HIGH = 1000, 1500, 2000  # of the mode


class Bench:
    def __init__(self, now_us: int = 0, **values) -> None:
        self.board = VirtualBoard(bytes(8), b"", 1)
        self.board.has_receiver = 1
        self.rc = RcReceiver()
        given = {"rc_fitted": 1, "rc_dead_band": 0, "steer_max_urad": 400_000, **PULSES}
        self.rc.configure(params_with(**{**given, **values}))
        self.now_us = now_us
        self.set(steering=1500, throttle=1400, live_man=CLOSED, mode=MIDDLE)
        self.step()

    def set(self, **pulses) -> None:
        for name, value in pulses.items():
            setattr(self.board, f"rc_{name}_us", value)

    def step(self, after_us: int = 0) -> RcReceiver:
        self.now_us = (self.now_us + after_us) % PERIOD
        self.rc.step(self.board, self.now_us)
        return self.rc

    def frame(self, after_us: int = FRAME_US, **pulses) -> RcReceiver:
        self.set(**pulses)
        self.board.rc_frames = (self.board.rc_frames + 1) % PERIOD
        return self.step(after_us)

    def rest(self, for_us: int, **pulses) -> int:
        """Frames for so long; how many gestures were made in it."""
        return sum(self.frame(**pulses).gesture for _ in range(for_us // FRAME_US))

    def claim(self, **rights):
        source = Source(0)
        source.mask, source.cap_mm_s, source.lease_max_ms = 15, 4000, 60
        for name, value in rights.items():
            setattr(source, name, value)
        return self.rc.fill_claim(source, 77, self.now_us)
