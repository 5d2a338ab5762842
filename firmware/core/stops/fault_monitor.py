"""The fault monitor: lasting stop causes, momentary ones while the car is armed, and faults."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline
from firmware.core.motion.battery import EMPTY
from firmware.core.stops.plausibility import Plausibility
from firmware.protocol.codes import (
    ACTIVE,
    CAUSE_CHARGER,
    CAUSE_CLOCK_UNSURE,
    CAUSE_EMPTY_BATTERY,
    CAUSE_FROZEN_INPUT,
    CAUSE_OVERRUN,
    CAUSE_RUNSTOP_LOOP,
    CAUSE_SILENCE,
    CAUSE_STAND_OVER,
    CAUSE_STOP_SOURCE,
    CAUSE_STOP_SOURCE_SILENT,
    CAUSE_UNATTENDED,
    DRIVE,
    FAULT_BOOT_LOOP,
    FAULT_BROWN_OUT,
    FAULT_CONFIGURATION,
    FAULT_COUNT,
    FAULT_ENCODER,
    FAULT_FOREIGN_CONFIGURATION,
    FAULT_NO_MOTION,
    FAULT_OUTPUT,
    FAULT_OVER_TEMPERATURE,
    FAULT_RELAY,
    FAULT_RUNAWAY,
    FAULT_TOO_FAST,
    NOBODY,
    PROFILE_STAND,
    SPEED_IN_DOUBT,
    STOPPING,
)

if TYPE_CHECKING:
    from firmware.core.arbitration.actions import Actions
    from firmware.core.arbitration.arbiter import Arbiter
    from firmware.core.clock import Sessions
    from firmware.core.contract import Board
    from firmware.core.motion.battery import Battery
    from firmware.core.motion.drive import Drive
    from firmware.core.motion.motion import MotionControl
    from firmware.core.motion.odometry import Odometry
    from firmware.core.motion.outputs import OutputStage
    from firmware.core.motion.temperature import Temperature
    from firmware.core.settings.configuration import Configuration
    from firmware.core.settings.params import Params
    from firmware.core.stops.latch import Latch
    from firmware.core.stops.runstop import StopSources
    from firmware.core.supervisor import Supervisor

const = micropython.const

_RELAY_SETTLES_US = const(50_000)  # contacts bounce and travel for 10 to 20 ms
_OVERRUN_STEPS = const(3)  # a step as long as three beats has missed two sets of claims
_OVERRUN_US = const(30_000)  # at most, whatever the beat: below the guard's limit (guard.py)
_BOOTS_MAX = const(3)  # starts in a row that did not last; chosen: one or two may be a loose plug
_HEALTHY_US = const(10_000_000)  # a start that lasts so long did not fail


# The causes whose conditions last; all others are of a moment
_LASTING = (
    1 << CAUSE_RUNSTOP_LOOP | 1 << CAUSE_STOP_SOURCE | 1 << CAUSE_CHARGER | 1 << CAUSE_EMPTY_BATTERY
)
_ALL_FAULTS = (1 << FAULT_COUNT) - 1


class FaultMonitor:
    """The monitor that reads the state of all other parts and latches stop causes and faults."""

    def __init__(
        self,
        board: "Board",
        runstop: "Latch",
        faults: "Latch",
        stop_sources: "StopSources",
        arbiter: "Arbiter",
        sessions: "Sessions",
        supervisor: "Supervisor",
        actions: "Actions",
        configuration: "Configuration",
        battery: "Battery",
        temperature: "Temperature",
        odometry: "Odometry",
        drive: "Drive",
        motion: "MotionControl",
        output_stage: "OutputStage",
    ) -> None:
        self.is_on_stand = False
        self._board = board
        self._runstop = runstop
        self._faults = faults
        self._stop_sources = stop_sources
        self._arbiter = arbiter
        self._sessions = sessions
        self._supervisor = supervisor
        self._actions = actions
        self._configuration = configuration
        self._battery = battery
        self._temperature = temperature
        self._odometry = odometry
        self._drive = drive
        self._motion = motion
        self._output_stage = output_stage
        self._plausibility = Plausibility()
        self._relay_settling = Deadline()
        self._stand_time = Deadline()
        self._starting = Deadline()
        self._has_started = False
        self._is_enabled = False
        self._overrun_us = _OVERRUN_US
        self._stand_us = 0
        self._clock_bound_us = 0

    def configure(self, params: "Params") -> None:
        self._plausibility.configure(params)
        is_braked_by_speed = params.get("encoder_signed") == 1  # else Drive.brake only lets go
        self._plausibility.only_rolls = not (is_braked_by_speed or self._output_stage.has_brake())
        self._overrun_us = min(params.get("step_us") * _OVERRUN_STEPS, _OVERRUN_US)
        self._stand_us = params.get("stand_ms") * 1000
        self._clock_bound_us = params.get("clock_bound_us")

    def begin(self, profile: int, now_us: int) -> None:
        """Note the profile that the car was just armed in; on a stand its time begins."""
        self.is_on_stand = profile == PROFILE_STAND
        self._stand_time.set(now_us, self._stand_us)

    def step(self, now_us: int) -> None:
        self._conditions()
        if self._supervisor.is_armed():
            self._moments(now_us)
        self._look_for_faults(now_us)

    @micropython.native
    def _conditions(self) -> None:
        board, runstop, stop_sources = self._board, self._runstop, self._stop_sources
        others = ~stop_sources.loop
        found = 0
        if stop_sources.loop and not board.runstop_closed:
            found |= 1 << CAUSE_RUNSTOP_LOOP
        if stop_sources.asserted & others:
            found |= 1 << CAUSE_STOP_SOURCE
        if board.charger:
            found |= 1 << CAUSE_CHARGER
        if self._battery.stage == EMPTY:
            found |= 1 << CAUSE_EMPTY_BATTERY
        runstop.hold(found, _LASTING)
        if stop_sources.received:  # in the name of whatever stop source, a wired one too
            runstop.latch(CAUSE_STOP_SOURCE)

    def _moments(self, now_us: int) -> None:
        arbiter, runstop = self._arbiter, self._runstop
        if arbiter.frozen_source != NOBODY:
            runstop.latch(CAUSE_FROZEN_INPUT)
        if arbiter.silent_source != NOBODY:
            runstop.latch(CAUSE_SILENCE)
        if self._stop_sources.missing:
            runstop.latch(CAUSE_STOP_SOURCE_SILENT)
        if not arbiter.attended.is_open:
            runstop.latch(CAUSE_UNATTENDED)
        if self._is_clock_lost():
            runstop.latch(CAUSE_CLOCK_UNSURE)
        if self._board.guard_tripped or self._board.step_us > self._overrun_us:
            runstop.latch(CAUSE_OVERRUN)
        self._stand_time.step(now_us)
        if self.is_on_stand and not self._stand_time.is_open:
            runstop.latch(CAUSE_STAND_OVER)

    def _is_clock_lost(self) -> bool:
        arbiter = self._arbiter
        winner = arbiter.winners[DRIVE]
        if winner == NOBODY:
            return False
        session = self._sessions.slots[arbiter.sources[winner].slot]
        return session.bound_us > self._clock_bound_us

    @micropython.native
    def _look_for_faults(self, now_us: int) -> None:
        found = self._watch_motion(now_us) | self._watch_outputs(now_us) | self._watch_start(now_us)
        if not self._configuration.is_valid:
            found |= 1 << FAULT_CONFIGURATION
        elif not self._configuration.is_ours:
            found |= 1 << FAULT_FOREIGN_CONFIGURATION
        if self._battery.is_browned_out:
            found |= 1 << FAULT_BROWN_OUT
        if self._temperature.is_over:
            found |= 1 << FAULT_OVER_TEMPERATURE
        self._faults.hold(found, _ALL_FAULTS)

    @micropython.native
    def _watch_motion(self, now_us: int) -> int:
        found = self._plausibility
        state, speed = self._supervisor.state, self._odometry.speed_mm_s
        # on a stand a differential may let one wheel stand, and no mass of the car keeps the
        # wheels rolling
        is_on_ground = found.is_on_ground = not self.is_on_stand
        found.step(self._drive.effort, speed, state == ACTIVE, now_us)
        is_gated = self._board.guard_tripped != 0  # then the outputs have no effect
        must_obey = not is_gated and (self._supervisor.is_armed() or state == STOPPING)
        # while a claim brakes (as of the step before) no deceleration is expected: it may be slight
        is_braked = (state == ACTIVE and not self._motion.brake) or self._motion.is_braking()
        if found.only_rolls or self._faults.bits & SPEED_IN_DOUBT:
            is_braked = False  # nothing brakes by a speed in doubt
        found.watch_target(self._drive.target_mm_s, speed, must_obey, is_braked, now_us)
        found.watch_sides(self._odometry.is_one_sided, is_on_ground and state == ACTIVE, now_us)
        bits = 1 << FAULT_NO_MOTION if found.is_stuck else 0
        if found.is_too_fast:
            bits |= 1 << FAULT_TOO_FAST
        if found.is_runaway:
            bits |= 1 << FAULT_RUNAWAY
        return bits | 1 << FAULT_ENCODER if found.is_one_sided else bits

    def _watch_outputs(self, now_us: int) -> int:
        board, stage = self._board, self._output_stage
        if stage.is_enabled != self._is_enabled:
            self._is_enabled = stage.is_enabled
            self._relay_settling.set(now_us, _RELAY_SETTLES_US)
        self._relay_settling.step(now_us)
        is_settled = not self._relay_settling.is_open
        differs = board.enable_contact != (1 if stage.is_enabled else 0)
        # the guard has opened it and gated the drive, before this step
        is_gated = stage.is_enabled and (board.guard_tripped or not board.runstop_closed)
        differs = differs and not is_gated
        self._actions.is_contact_sure = is_settled and not board.enable_contact
        stage.verify(board.read_back, stage.is_enabled and not is_gated)
        bits = 1 << FAULT_RELAY if differs and is_settled else 0
        is_away = stage.differs or board.has_held_output
        return bits | 1 << FAULT_OUTPUT if is_away else bits

    def _watch_start(self, now_us: int) -> int:
        """Return the boot-loop fault for the first 10 s of a start after three that failed.

        A start that lasts 10 s is marked healthy. So a program that fails soon after each start
        does not move the car in between.
        """
        if not self._has_started:
            self._has_started = True
            self._starting.set(now_us, _HEALTHY_US)
        if not self._starting.is_open:
            return 0
        self._starting.step(now_us)
        if not self._starting.is_open:
            self._board.mark_healthy()
            return 0
        return 1 << FAULT_BOOT_LOOP if self._board.failed_starts >= _BOOTS_MAX else 0
