"""A car on a desk: its own program on a virtual board, whose inputs and state are set by hand."""

from firmware.app import App
from firmware.boards.simulated.virtual import VirtualBoard
from tests.firmware.core.desk import claim_of, params_with

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
(RUNSTOP_LOOP, STOP_REQUEST, FROZEN, SILENCE, CLOCK_STEP, CLOCK_UNSURE, CHARGER, EMPTY, OVERRUN,
 UNATTENDED, STOP_SOURCE, STOP_SOURCE_SILENT, STAND_OVER) = range(13)  # fmt: skip
(CONFIGURATION, FOREIGN, RELAY, NO_MOTION, TOO_FAST, OUTPUT, RUNAWAY, ENCODER, BROWN_OUT,
 OVER_TEMPERATURE, BOOT_LOOP) = range(11)  # fmt: skip
STAND, TRACK, RACE = 0, 1, 2
BRAKES, NEUTRAL, CUTS = 0, 1, 2
PAD, SEAT, LAST = 1, 2, 15
STEERS, DRIVES = 1, 2
US, OTHERS = 1001, 1002
BOARD_ID = bytes(range(8))
STEP_US = 10_000
ESC_LOW, ESC_NEUTRAL, ESC_HIGH = 1_000_000, 1_500_000, 2_000_000
CHANNEL_ESC = 2

GIVEN = {
    "board_id": [0x0100, 0x0302, 0x0504, 0x0706], "start_ms": 100,
    "stop_source_kind": [1], "stop_source_need": [2] + [0] * 15 + [2] + [0] * 15 + [2],
    "profile_cap_mm_s": [30_000] * 3, "may_arm": 63, "may_clear": 63, "fault_policy": [0] * 11,
    "battery_low_mv": 7000, "battery_empty_mv": 6000, "clock_bound_us": 10_000,
    "speed_max_mm_s": 2000, "reverse_max_mm_s": 700, "accel_mm_s2": 30_000, "decel_mm_s2": 30_000,
    "jerk_mm_s3": 1_000_000, "brake_jerk_mm_s3": 1_000_000, "runaway_mm_s": 5000,
    "blind_mm": 1000, "wheelbase_um": 500_000,
    "steer_max_urad": 400_000, "steer_rate_urad_s": 10_000_000, "lateral_accel_mm_s2": 30_000,
    "full_effort_mm_s": 4000, "nm_per_count": 1_000_000, "gain_per_m": 0,
    "source_mask": [0, 15, 15] + [0] * 12 + [15],
    "source_priority": [0, 120, 100],
    "source_lease_ms": [0, 500, 500] + [0] * 12 + [500],
    "source_cap_mm_s": [0, 1000, 1500] + [0] * 12 + [1000],
    "source_flags": [0, 3, 1] + [0] * 12 + [1],
    "channel_kind": [CHANNEL_ESC], "channel_low": [ESC_LOW], "channel_neutral": [ESC_NEUTRAL],
    "channel_high": [ESC_HIGH],
}  # fmt: skip


class Car:
    """An App on a virtual board. Wheels turn as they are told, the contact follows the enable."""

    def __init__(self, image=None, **values) -> None:
        params = params_with(**{**GIVEN, **values})
        made = bytearray(params.image_size())
        params.write_image(made)
        self.board = VirtualBoard(BOARD_ID, bytes(made) if image is None else image, 1)
        self.board.battery_mv = 8000
        self.app = App(self.board)
        self.now_us = 0
        self.speed_mm_s = 0
        self.is_welded = False
        self.sequence = 0
        self.app.sessions.bind(US, 0)
        self.app.sessions.bind(OTHERS, 0)
        self.claims = {}
        self.counts = {}

    @property
    def state(self) -> int:
        return self.app.supervisor.state

    def step(self, steps=1) -> "Car":
        for _ in range(steps):
            self._sync()
            self._claim()
            moved = self.speed_mm_s * STEP_US // 1_000_000
            self.board.count_left += moved
            self.board.count_right += moved
            if not self.is_welded:
                self.board.enable_contact = int(self.board.enable)
            self.board.read_back[:] = self.board.values
            self.app.step(self.now_us)
            self.now_us += STEP_US
        return self

    def _sync(self) -> None:
        for session in self.app.sessions.slots[:2]:
            session.bound_us = session._sampled_bound_us = 1000
            session._sampled_us = self.now_us

    def _claim(self) -> None:
        for source, command in self.claims.items():
            self.sequence += 1
            self.counts[source] = self.counts.get(source, 0) + 1
            fields = {"epoch": US, "source": source, "sequence": self.sequence, "mask": 3,
                      "deadman": 1, "input_count": self.counts[source], "lease_ms": 100,
                      "stamp_us": self.now_us}  # fmt: skip
            claim = claim_of(**{**fields, **command})
            assert self.app.arbiter.receive(claim, self.now_us) == 0

    def drive(self, source=PAD, **command) -> "Car":
        """From power-up to ACTIVE under this source; the arm itself is actions' business."""
        self.step(12)
        self.claims = {source: {"deadman": 0}}
        self.step(2)
        self.app.supervisor.state = HOLD
        self.app.arbiter.begin_from_neutral(self.now_us)
        self.claims = {source: {}}
        self.step(2)
        assert self.state == ACTIVE
        self.claims = {source: command}
        return self.step()

    def has_cause(self, cause: int) -> bool:
        return self.app.runstop.bits == 1 << cause

    def has_fault(self, fault: int) -> bool:
        return self.app.faults.bits == 1 << fault

    @property
    def drive_ns(self) -> int:
        return self.board.values[0]


def share(car: Car) -> None:
    """One host's gamepad steers to the left, another's seat drives."""
    car.drive()
    claims = {PAD: {"mask": STEERS, "steer_urad": 90_000, "speed_mm_s": 200}}
    for deadman in (0, 1):
        car.claims = {**claims, SEAT: {"deadman": deadman, "mask": 0, "epoch": OTHERS}}
        car.step()
    assert car.state == HOLD  # who only steers does not drive
    seat = {"mask": DRIVES, "steer_urad": -90_000, "speed_mm_s": 600, "epoch": OTHERS}
    car.claims = {**claims, SEAT: seat}
    car.step(15)
    assert car.state == ACTIVE
