"""The car's program: ``App.step`` runs one control period, from received bytes to output pulses."""

from firmware.compat import TYPE_CHECKING
from firmware.core import supervisor as conditions
from firmware.core.arbitration.actions import Actions
from firmware.core.arbitration.arbiter import Arbiter
from firmware.core.arbitration.rc_receiver import RcReceiver
from firmware.core.clock import OWN, Sessions
from firmware.core.link.dispatcher import MessageDispatcher
from firmware.core.link.event_reporter import EventReporter
from firmware.core.link.events import Events
from firmware.core.link.outbox import Outbox
from firmware.core.link.receiver import Receiver
from firmware.core.link.telemetry import Telemetry
from firmware.core.motion.battery import Battery
from firmware.core.motion.drive import Drive
from firmware.core.motion.motion import MotionControl
from firmware.core.motion.odometry import Odometry
from firmware.core.motion.outputs import OutputStage
from firmware.core.motion.steering import Steering
from firmware.core.motion.temperature import Temperature
from firmware.core.motion.warm_up import WarmUp
from firmware.core.overrun import OverrunMonitor
from firmware.core.settings.configuration import Configuration
from firmware.core.settings.overlay import Overlay, load_stored
from firmware.core.settings.params import POLICY_CUT
from firmware.core.stops.fault_monitor import FaultMonitor
from firmware.core.stops.latch import Latch
from firmware.core.stops.runstop import StopSources
from firmware.core.stops.stopping import StopSequence
from firmware.core.supervisor import Supervisor
from firmware.protocol.codes import (
    DRIVE,
    EVENT_STARTED,
    LIGHTS,
    NOBODY,
    SOURCE_RC,
    SPEED_IN_DOUBT,
    STOPPING,
)
from firmware.protocol.frame import crc_table
from firmware.protocol.version import protocol_hash

if TYPE_CHECKING:
    from firmware.core.contract import Board
    from firmware.core.settings.params import Params
    from firmware.core.stops.loop_brake import LoopBrake
    from firmware.core.stops.pairing import PairedBox


class App:
    """One car on a given board; call ``step`` once per configured control period (beat)."""

    def __init__(self, board: "Board") -> None:  # noqa: PLR0915 - the list of its parts
        table = crc_table()
        self.board = board
        self.configuration = Configuration()
        params = load_stored(board, self.configuration, table)
        self.sessions = Sessions(board.entropy() or 1)
        self.events = Events()
        self.runstop = Latch()
        self.faults = Latch()
        self.stop_sources = StopSources(self.sessions, board.needs_box)
        self.arbiter = Arbiter(self.sessions)
        self.supervisor = Supervisor()
        self.stop_sequence = StopSequence()
        self.steering = Steering()
        self.drive = Drive()
        self.rc = RcReceiver()
        self.odometry = Odometry()
        self.battery = Battery()
        self.temperature = Temperature()
        self.output_stage = OutputStage()
        self.receiver = Receiver(board, table)
        self.outbox = Outbox(board, table)
        self.overruns = OverrunMonitor()
        self.actions = Actions(board, self.sessions, self.runstop, self.faults, self.stop_sources)
        self.overlay = Overlay(
            board, self.configuration, self.sessions, self.events, self.supervisor, self.receiver,
            self.outbox, self.actions, self.configure, table,
        )  # fmt: skip
        self.motion = MotionControl(
            self.supervisor, self.actions, self.battery, self.runstop, self.faults, self.arbiter,
            self.stop_sequence, self.steering, self.drive, self.odometry, self.output_stage,
        )  # fmt: skip
        self.fault_monitor = FaultMonitor(
            board, self.runstop, self.faults, self.stop_sources, self.arbiter, self.sessions,
            self.supervisor, self.actions, self.configuration, self.battery, self.temperature,
            self.odometry, self.drive, self.motion, self.output_stage,
        )  # fmt: skip
        self.dispatcher = MessageDispatcher(
            board, self.configuration, self.sessions, self.events, self.runstop, self.faults,
            self.stop_sources, self.arbiter, self.supervisor, self.receiver, self.outbox,
            self.actions, self.overlay, self.fault_monitor, self.motion, protocol_hash(table),
            table,
        )  # fmt: skip
        self.loop_brake: "LoopBrake | None" = None
        self.pairing: "PairedBox | None" = None
        if board.key:
            from firmware.core.stops.pairing import make_pairing

            self.pairing = make_pairing(board, self.stop_sources, self.receiver, self.outbox)
        self.telemetry = Telemetry(
            board, self.outbox, self.supervisor, self.runstop, self.faults, self.actions,
            self.arbiter, self.sessions, self.steering, self.drive, self.motion, self.odometry,
            self.events, self.stop_sources, self.rc, self.output_stage, self.battery,
            self.temperature, self.receiver, self.overruns,
        )  # fmt: skip
        self._event_reporter = EventReporter(self.events)
        self._warm_up = WarmUp()
        self.configure(params)
        self.overlay.let_go()
        self.events.add(0, EVENT_STARTED, board.reset_cause, board.failed_starts)

    def configure(self, params: "Params") -> None:
        """Hand the parameters to all parts; at start-up and after each commit, never in motion."""
        for part in (
            self.arbiter, self.stop_sources, self.stop_sequence, self.steering,
            self.drive, self.rc, self.odometry, self.battery, self.temperature, self.output_stage,
            self.actions, self.telemetry, self.fault_monitor, self.motion, self.overruns,
            self._warm_up,
        ):  # fmt: skip
            part.configure(params)
        self._fit_loop_brake(params)
        self.board.begin(self.output_stage.fallbacks, params.get("step_us"))

    def _fit_loop_brake(self, params: "Params") -> None:
        """Configure the loop brake; it is loaded only for a car that has one, to save heap."""
        if params.get("loop_brake_ms") and not self.loop_brake:
            from firmware.core.stops.loop_brake import LoopBrake

            self.loop_brake = LoopBrake(
                self.board, self.runstop, self.faults, self.stop_sequence, self.odometry,
                self.fault_monitor, self.drive,
            )  # fmt: skip
        if self.loop_brake:
            self.loop_brake.configure(params)

    def step(self, now_us: int) -> None:
        """Run one control period; ``now_us`` is the board's time, modulo 2**30."""
        self.begin(now_us)
        self.receiver.step(now_us)
        self.finish(now_us)

    def begin(self, now_us: int) -> None:
        """Update inputs, clocks and flags that the handling of this step's messages depends on."""
        self.runstop.step(now_us)
        self.faults.step(now_us)
        self.board.read(now_us)
        self.overruns.step(self.board.step_us, now_us)
        self.sessions.step(now_us, self.board.ran_us)
        self.actions.is_standing = self.stop_sequence.is_standing(self.odometry.speed_mm_s)
        self.actions.is_off_beat = self.overruns.is_off_beat
        self.arbiter.has_receiver = self.rc.is_fitted and self.board.has_receiver == 1

    def finish(self, now_us: int) -> None:
        """Decide, put out and report, once the step's messages are handled."""
        self._hear_board(now_us)
        self.arbiter.step(now_us)
        self._measure(now_us)
        self.fault_monitor.step(now_us)
        self._hear_stop(now_us)
        self._supervise(now_us)
        self.motion.step(now_us)
        self._put_out(now_us)
        self._report(now_us)

    def _hear_stop(self, now_us: int) -> None:
        """Read the link again if a Stop came during this step, so that this step obeys it."""
        if self.supervisor.is_armed() and self.board.hears_stop():
            self.receiver.step(now_us)

    def _hear_board(self, now_us: int) -> None:
        """Update the stop sources; handle the claim and the gesture of the board's RC receiver."""
        self.rc.step(self.board, now_us)
        stop_sources = self.stop_sources
        stop_sources.step(self.board.runstop_closed, self.rc, now_us)
        self.arbiter.asserted = stop_sources.asserted
        self.arbiter.live_switches = stop_sources.fresh & ~stop_sources.asserted
        if self.rc.has_news:
            source = self.arbiter.sources[SOURCE_RC]
            epoch = self.sessions.slots[OWN].epoch
            self.dispatcher.own_claim(self.rc.fill_claim(source, epoch, now_us), now_us)
        if self.rc.gesture:
            self.dispatcher.gesture(now_us)

    def _measure(self, now_us: int) -> None:
        board = self.board
        self.odometry.is_driven = self.drive.effort != 0
        self.odometry.is_on_stand = self.fault_monitor.is_on_stand
        self.odometry.is_gyro_lost = self.odometry.has_gyro and not board.imu_answers
        self.odometry.step(
            board.count_left,
            board.count_right,
            board.captured_us,
            self.steering.steer_urad,
            board.yaw_rate_mrad_s,
        )
        self.battery.step(board.battery_mv, now_us)
        self.temperature.step(board.temperature_c)

    def _supervise(self, now_us: int) -> None:
        stop_sequence = self.stop_sequence
        is_trusted = not self.faults.bits & SPEED_IN_DOUBT
        stop_sequence.step(self.odometry.speed_mm_s, is_trusted, now_us)
        self.supervisor.step(self._conditions(now_us))
        if self.actions.nonce or self.rc.is_live:
            self._settle_requests(now_us)
        self.actions.granted = 0
        if self.supervisor.state == STOPPING:
            if self.supervisor.has_changed():
                stop_sequence.begin(now_us)
            stop_sequence.add(self.runstop.bits, self.faults.bits)
            if self.board.guard_tripped:  # it has cut; a write with the drive off releases it
                stop_sequence.tighten(POLICY_CUT)
            stop_sources = self.stop_sources
            stop_sequence.tighten(
                stop_sources.policy_of(stop_sources.stop_mask | stop_sources.missing)
            )
            if self.loop_brake:
                if self.supervisor.has_changed():
                    self.loop_brake.begin()
                self.loop_brake.step(now_us)

    def _settle_requests(self, now_us: int) -> None:
        """End an open request and a half-made gesture on a stop, a fault, a grant or a change."""
        is_disturbed = (
            self.actions.granted != 0
            or self.supervisor.has_changed()
            or self.dispatcher.must_acknowledge
            or self.stop_sources.received != 0
            or self.runstop.present != 0
            or self.faults.present != 0
        )
        if self.actions.nonce:
            self.actions.settle(is_disturbed, now_us)
        if is_disturbed:
            self.rc.begin_again(now_us)

    def _conditions(self, now_us: int) -> int:
        found = self.actions.granted
        if self._warm_up.is_over(now_us):
            found |= conditions.READY
        if self.runstop.bits:
            found |= conditions.STOP
        if self.faults.bits:
            found |= conditions.FAULTY
        if self.stop_sequence.is_over:
            found |= conditions.AT_REST
        if self.arbiter.winners[DRIVE] != NOBODY:
            found |= conditions.COMMANDED
        return found

    def _put_out(self, now_us: int) -> None:
        state = self.supervisor.state
        is_cut = state == STOPPING and self.stop_sequence.policy == POLICY_CUT
        stage = self.output_stage
        stage.is_enabled = self.supervisor.is_armed() or (state == STOPPING and not is_cut)
        stage.step(self.drive.effort if stage.is_enabled else 0, self.motion.brake, self.steering)
        self.board.write(stage.values, stage.is_enabled, stage.levels[LIGHTS])

    def _report(self, now_us: int) -> None:
        event_reporter = self._event_reporter
        event_reporter.sources(self.arbiter, now_us)
        event_reporter.stop_sources(self.stop_sources, now_us)
        if self.runstop.news:
            sender = self.dispatcher.stop_sender
            event_reporter.stops(self.runstop, self.arbiter, self.stop_sources, sender, now_us)
        if self.faults.news:
            event_reporter.faults(self.faults, now_us)
        event_reporter.conditions(self.supervisor, self.battery, self.odometry.is_gyro_lost, now_us)
        event_reporter.beat(self.overruns, now_us)
        event_reporter.clamped(self.arbiter.winners[DRIVE], self.motion.clamped, now_us)
        self.dispatcher.acknowledge()
        if self.pairing and self.pairing.is_spoken_to:
            self.pairing.step(now_us)
        self.telemetry.step(now_us)
