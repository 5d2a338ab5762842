"""The car. ``App.step`` is all of it: from the bytes that came in to the pulses that go out."""

from firmware.compat import TYPE_CHECKING
from firmware.core import supervisor as conditions
from firmware.core.actions import Actions
from firmware.core.arbiter import Arbiter
from firmware.core.battery import EMPTY, Battery
from firmware.core.chronicle import Chronicle
from firmware.core.clock import Sessions
from firmware.core.configuration import Configuration
from firmware.core.deadlines import Deadline
from firmware.core.drive import Drive
from firmware.core.events import Events
from firmware.core.hearing import Hearing
from firmware.core.latch import Latch
from firmware.core.limits import clamped
from firmware.core.odometry import Odometry
from firmware.core.outbox import Outbox
from firmware.core.outputs import OutputStage
from firmware.core.params import POLICY_BRAKE, POLICY_CUT, SOURCES, Params
from firmware.core.plausibility import Plausibility
from firmware.core.receiver import Receiver
from firmware.core.steering import Steering
from firmware.core.stopping import StopSequence
from firmware.core.supervisor import Supervisor
from firmware.core.telemetry import Telemetry
from firmware.core.warm_up import WarmUp
from firmware.protocol.codes import (
    ACTIVE,
    BRAKE,
    CAUSE_CHARGER,
    CAUSE_CLOCK_UNSURE,
    CAUSE_EMPTY_BATTERY,
    CAUSE_FROZEN_INPUT,
    CAUSE_OVERRUN,
    CAUSE_RUNSTOP_LOOP,
    CAUSE_SILENCE,
    CAUSE_UNATTENDED,
    DRIVE,
    FAULT_CONFIGURATION,
    FAULT_FOREIGN_CONFIGURATION,
    FAULT_NO_MOTION,
    FAULT_RELAY,
    FAULT_TOO_FAST,
    HOLD,
    NOBODY,
    STARTING,
    STEERING,
    STOPPING,
)
from firmware.protocol.frame import crc_table
from firmware.protocol.version import protocol_hash

if TYPE_CHECKING:
    from firmware.boards.contract import Board

_RELAY_SETTLES_US = 50_000  # contacts bounce and travel for 10 to 20 ms
_SPEED_IN_DOUBT = 1 << FAULT_NO_MOTION | 1 << FAULT_TOO_FAST
_OVERRUN_STEPS = 3  # a step that took as long as three has missed two sets of claims


class App:
    """One car. The board is handed in; ``step`` is called at the configured beat."""

    def __init__(self, board: "Board") -> None:
        table = crc_table()
        self.board = board
        self.params = Params(table)
        self.sessions = Sessions()
        self.events = Events()
        self.runstop = Latch()
        self.faults = Latch()
        self.arbiter = Arbiter(self.sessions)
        self.supervisor = Supervisor()
        self.stop_sequence = StopSequence()
        self.steering = Steering()
        self.drive = Drive()
        self.odometry = Odometry()
        self.battery = Battery()
        self.output_stage = OutputStage()
        self.receiver = Receiver(board, table)
        self.outbox = Outbox(board, table)
        self.actions = Actions(board, self.sessions, self.runstop, self.faults)
        self.configuration = Configuration(board, self.params, self.sessions)
        self.hearing = Hearing(self, protocol_hash(table), table)
        self.telemetry = Telemetry(self)
        self.is_enabled, self.brake = False, 0
        self._chronicle = Chronicle(self.events)
        self._relay_settling = Deadline()
        self._warm_up = WarmUp()
        self._plausibility = Plausibility()
        self._dt_ms = 10
        self._step_us = 10_000
        self.configuration.load()
        self.configure()

    def configure(self) -> None:
        """Hand out the parameters; at start-up and after each commit, never while moving."""
        params = self.params
        for part in (
            self.arbiter, self.stop_sequence, self.steering, self.drive, self.odometry,
            self.battery, self.output_stage, self.actions, self.telemetry, self._warm_up,
            self._plausibility,
        ):  # fmt: skip
            part.configure(params)
        self._step_us = params.get("step_us")
        self._dt_ms = self._step_us // 1000
        self._runstop_fitted = params.get("runstop_fitted") == 1
        self._clock_bound_us = params.get("clock_bound_us")
        self._speed_max = params.get("speed_max_mm_s")
        self._reverse_max = params.get("reverse_max_mm_s")
        self._steer_centres = params.get("steer_centres") == 1

    def step(self, now_us: int) -> None:
        """One beat of the car. ``now_us`` is the board's time, modulo 2**30."""
        self.board.read(now_us)
        self.sessions.step(now_us)
        self.receiver.step(now_us)
        self.arbiter.step(now_us)
        self._measure(now_us)
        self._watch(now_us)
        self._supervise(now_us)
        self._steer()
        self._move(now_us)
        self._put_out(now_us)
        self._report(now_us)

    def _measure(self, now_us: int) -> None:
        board = self.board
        self.odometry.step(
            board.count_left,
            board.count_right,
            board.captured_us,
            self.steering.steer_urad,
            board.yaw_rate_mrad_s,
        )
        self.battery.step(board.battery_mv, now_us)

    def _watch(self, now_us: int) -> None:
        """What stops the car: conditions that last, then those of a moment while it is armed."""
        board, runstop, arbiter = self.board, self.runstop, self.arbiter
        runstop.set(CAUSE_RUNSTOP_LOOP, self._runstop_fitted and not board.runstop_closed)
        runstop.set(CAUSE_CHARGER, board.charger != 0)
        runstop.set(CAUSE_EMPTY_BATTERY, self.battery.stage == EMPTY)
        if self.is_armed():
            if arbiter.frozen_source != NOBODY:
                runstop.latch(CAUSE_FROZEN_INPUT)
            if arbiter.silent_source != NOBODY:
                runstop.latch(CAUSE_SILENCE)
            if not arbiter.attended.is_open:
                runstop.latch(CAUSE_UNATTENDED)
            if self._is_clock_lost():
                runstop.latch(CAUSE_CLOCK_UNSURE)
            if board.step_us > self._step_us * _OVERRUN_STEPS:
                runstop.latch(CAUSE_OVERRUN)
        self._watch_faults(now_us)

    def _watch_faults(self, now_us: int) -> None:
        faults = self.faults
        faults.set(FAULT_CONFIGURATION, not self.configuration.is_valid)
        is_foreign = self.configuration.is_valid and not self.configuration.is_ours
        faults.set(FAULT_FOREIGN_CONFIGURATION, is_foreign)
        is_driving = self.supervisor.state == ACTIVE
        self._plausibility.step(self.drive.effort, self.odometry.speed_mm_s, is_driving, now_us)
        faults.set(FAULT_NO_MOTION, self._plausibility.is_stuck)
        faults.set(FAULT_TOO_FAST, self._plausibility.is_too_fast)
        self._relay_settling.step(now_us)
        differs = self.board.enable_contact != (1 if self.is_enabled else 0)
        faults.set(FAULT_RELAY, differs and not self._relay_settling.is_open)

    def is_armed(self) -> bool:
        return self.supervisor.state == ACTIVE or self.supervisor.state == HOLD

    def _is_clock_lost(self) -> bool:
        winner = self.arbiter.winners[DRIVE]
        if winner == NOBODY:
            return False
        session = self.sessions.slots[self.arbiter.sources[winner].slot]
        return session.bound_us > self._clock_bound_us

    def is_standing(self) -> bool:
        return self.stop_sequence.is_standing(self.odometry.speed_mm_s)

    def _supervise(self, now_us: int) -> None:
        self.stop_sequence.step(self.odometry.speed_mm_s, now_us)
        found = self.actions.granted
        if self._warm_up.is_over(now_us):
            found |= conditions.READY
        self.actions.granted = 0
        if self.runstop.bits:
            found |= conditions.STOP
        if self.faults.bits:
            found |= conditions.FAULTY
        if self.stop_sequence.is_over:
            found |= conditions.AT_REST
        if self.arbiter.winners[DRIVE] != NOBODY:
            found |= conditions.COMMANDED
        self.supervisor.step(found)
        if self.supervisor.state == STOPPING:
            if self.supervisor.has_changed():
                is_measured = not self.faults.bits & _SPEED_IN_DOUBT
                self.stop_sequence.begin(self.runstop.bits, now_us, is_measured)
            self.stop_sequence.add(self.runstop.bits)

    def _steer(self) -> None:
        """The winner's angle; with nobody it is held or centred. Only in the slew is it changed."""
        winner = self.arbiter.winners[STEERING]
        target_urad = 0 if self._steer_centres else self.steering.steer_urad
        if winner != NOBODY and not self.runstop.bits:
            target_urad = self.arbiter.sources[winner].steer_urad
        if self.supervisor.state == STARTING:
            target_urad = 0
        self.steering.step(target_urad, self.odometry.speed_mm_s, self._dt_ms)

    def _move(self, now_us: int) -> None:
        state = self.supervisor.state
        speed = self.odometry.speed_mm_s
        self.brake = 0
        if state == ACTIVE:
            self._follow(speed, now_us)
        elif state == HOLD or (state == STOPPING and self.stop_sequence.policy == POLICY_BRAKE):
            self.brake = 255
            self.drive.brake(speed, now_us, self._dt_ms)
        else:
            self.drive.neutral(speed)

    def _follow(self, speed_mm_s: int, now_us: int) -> None:
        source = self.arbiter.sources[self.arbiter.winners[DRIVE]]
        braker = self.arbiter.winners[BRAKE]
        if braker < SOURCES and self.arbiter.sources[braker].brake:
            self.brake = self.arbiter.sources[braker].brake
            self.drive.brake(speed_mm_s, now_us, self._dt_ms)
            return
        low = max(-self._reverse_max, -source.cap_mm_s)
        high = min(self._speed_max, source.cap_mm_s)
        target = clamped(source.speed_mm_s, low, high)
        self.drive.follow(target, speed_mm_s, now_us, self._dt_ms)

    def _put_out(self, now_us: int) -> None:
        state = self.supervisor.state
        is_cut = state == STOPPING and self.stop_sequence.policy == POLICY_CUT
        enable = self.is_armed() or (state == STOPPING and not is_cut)
        if enable != self.is_enabled:
            self.is_enabled = enable
            self._relay_settling.set(now_us, _RELAY_SETTLES_US)
        self.output_stage.step(self.drive.effort if enable else 0, self.steering)
        self.board.write(self.output_stage.values, enable)

    def _report(self, now_us: int) -> None:
        chronicle = self._chronicle
        chronicle.sources(self.arbiter, now_us)
        chronicle.stops(self.runstop, self.arbiter, self.hearing.stop_sender, now_us)
        chronicle.faults(self.faults, now_us)
        chronicle.state(self.supervisor, now_us)
        self.hearing.acknowledge()
        self.telemetry.step(now_us)
