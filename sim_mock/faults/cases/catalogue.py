"""The catalogue of faults: failures seen in other projects, and what lines do to frames.

A row is the fault, its source, how it must end and what the board waits for before it acts. Sources
"peers N" are the rows of the table in README.md: failures of other cars and programs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from firmware.protocol import codes
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.cases import breakages as broken
from sim_mock.faults.cases import injections as inject
from sim_mock.faults.cases import lines, off_delay, starts
from sim_mock.faults.cases.injections import TrialInjection
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.target import InjectionTarget
from sim_mock.faults.trial.vehicles import NEEDS
from sim_mock.faults.trial.wire import Line

_CROWDED = Path(__file__).with_name("crowded_heap.py")
STOPS_SOURCE = "S1, S10"
_WRAP_BEGINS_US = starts.WRAP_US - 8_000_000  # time to arm and to come to speed


@dataclass(frozen=True)
class Case:
    """One fault of the catalogue. ``wait`` is a key of ``limits.WAITS`` or ``UNAIDED_MS``."""

    id: str
    title: str
    source: str
    expects: str
    inject: TrialInjection
    wait: str = "step"
    extra_ms: int = 0  # the time until the fault is fully developed
    start: Callable[[FaultTrial, float], None] = starts.driving
    speed_mps: float = 3.0
    top_share: float = 0.9  # of the vehicle's top speed, where that is less
    coasts: bool = False  # nothing is left to brake with
    rolls_back: bool = False  # the fault itself may drive it backward
    needs: str = ""  # of the vehicle: a key of ``vehicles.NEEDS``
    changes: Mapping[str, int] = field(default_factory=dict)  # of parameters
    program: Path | None = None  # the program a MicroPython runs in place of the firmware's
    start_us: int = 0  # start value of the board's clock
    ahead_us: int = 0  # offset of the session's clock from the board's

    def fits(self, vehicle: VehicleSpec) -> bool:
        """Return whether this vehicle has what the case needs."""
        return NEEDS[self.needs](vehicle)

    def speed_on(self, vehicle: VehicleSpec) -> float:
        """Return the speed in m/s at which this vehicle is driven in the case."""
        caps = vehicle.parameters["profile_cap_mm_s"]
        top_mps = min(vehicle.parameters["speed_max_mm_s"][0], max(caps)) * 1e-3
        races = self.start in (starts.racing, starts.racing_by_rc)
        profile = codes.PROFILE_RACE if races else vehicle.parameters["profile_default"][0]
        return min(self.speed_mps, self.top_share * top_mps, caps[profile] * 1e-3)

    def at(self, speed_mps: float, start: Callable[[FaultTrial, float], None]) -> "Case":
        """Return the case with this start and speed, the vehicle's top speed included."""
        return replace(self, speed_mps=speed_mps, top_share=1.0, start=start)


def _repl(target: InjectionTarget) -> Line:
    return lines.inserted(target.random, inject.REPL, 0.2)


def _delayed(
    case_id: str,
    title: str,
    injection: TrialInjection,
    extra_ms: int = 0,
    coasts: bool = False,
    start: Callable[[FaultTrial, float], None] = starts.driving,
) -> Case:
    """Return a case of a car that brakes first and is cut afterwards."""
    return Case(case_id, f"off-delay: {title}", "stop category 1", "runstop loop", injection,
                "step", extra_ms, start, coasts=coasts, needs="off-delay",
                changes=off_delay.OFF_DELAY)  # fmt: skip


CASES = (
    # --- how a car stops at all, compared with the limit by friction
    Case("stop-at-3", "a Stop at 3 m/s, or at its top speed", STOPS_SOURCE,
         "stop request", inject.stopped, top_share=1.0),
    Case("stop-flat-out", "a Stop in a race, at its top speed by RC", STOPS_SOURCE,
         "stop request", inject.stopped, start=starts.racing_by_rc, speed_mps=10.0,
         top_share=1.0, needs="rc"),
    # --- hosts, inputs, people
    Case("frozen-input", "the device's last report repeats at the full rate", "peers 1: joy",
         "frozen input", inject.host(input_is_live=False), "frozen"),
    Case("heartbeat-only", "clocks are kept, claims are not", "peers 2: PX4 offboard",
         "silence", inject.host(claims=False), "lease"),
    Case("last-setpoint", "silence while it accelerates", "peers 3: PX4 #18346",
         "silence", inject.cable_pulled, "lease", start=starts.accelerating),
    Case("total-silence", "the cable is pulled", "peers 5, 7, 9",
         "silence", inject.cable_pulled, "lease"),
    Case("board-wrap-silence", "the board's clock wraps meanwhile", "peers 8: micro-ROS",
         "silence", inject.cable_pulled, "lease", start=starts.before_board_wraps,
         start_us=_WRAP_BEGINS_US),
    Case("session-wrap-silence", "the host's clock wraps meanwhile", "peers 8: micro-ROS",
         "silence", inject.cable_pulled, "lease", start=starts.before_session_wraps,
         ahead_us=_WRAP_BEGINS_US),
    Case("board-wrap", "the board's clock wraps", "peers 8: micro-ROS",
         "drives on", inject.none, start=starts.before_board_wraps, start_us=_WRAP_BEGINS_US),
    Case("session-wrap", "the host's wraps", "peers 8: micro-ROS",
         "drives on", inject.none, start=starts.before_session_wraps, ahead_us=_WRAP_BEGINS_US),
    Case("reverse-at-speed", "full astern at speed, then silence", "peers 10, 11: ESCs",
         "silence", inject.reverse_asked_then_gone, "lease", 60),
    Case("host-stopped", "the host is stopped for 600 ms and goes on", "peers 15: Klipper",
         "silence", inject.host_stopped(600), "lease"),
    Case("host-stalls", "the host is stopped for 80 ms", "peers 15: Klipper",
         "drives on", inject.host_stopped(80)),
    Case("clock-jumps-ahead", "the host's clock jumps ahead by 1 s", "a host's clock",
         "clock step", inject.clock_jumps(inject.JUMP_US), "sync"),
    Case("clock-jumps-back", "the host's clock jumps back by 1 s", "a host's clock",
         "clock step", inject.clock_jumps(-inject.JUMP_US), "sync"),
    Case("claims-from-future", "stamps 300 ms ahead of their own clock", "a lying stamp",
         "silence", inject.host(stamp_ahead_us=inject.LIE_US), "lease"),
    Case("claims-too-old", "stamps 300 ms behind their own clock", "a lying stamp",
         "silence", inject.host(stamp_ahead_us=-inject.LIE_US), "lease"),
    Case("clock-unsure", "claims go on, but clocks are compared no more", "two crystals",
         "clock unsure", inject.host(syncs=False), "clock", changes={"clock_bound_us": 7000}),
    Case("lets-go", "the deadman is released", "a person",
         "holds", inject.host(deadman=0), "claim"),
    # --- arming
    Case("lost-with-binding", "the frame that binds the session is the last", "peers 7: linorobot2",
         "refused", inject.gone_with_binding, start=starts.off),
    Case("lost-while-clearing", "the cable is pulled between the steps of a clear", "peers 7",
         "stays stopped", inject.gone_while_clearing, start=starts.stopped),
    Case("lost-with-clearing", "the frame that clears is the last", "peers 7: linorobot2",
         "refused", inject.gone_with_clearing, start=starts.stopped),
    Case("lost-between-steps", "the cable is pulled while it is armed", "peers 7: linorobot2",
         "refused", inject.gone_after_asking, start=starts.standing_by),
    Case("lost-with-arming", "the frame that arms is the last", "peers 19: panda #988",
         "silence", inject.gone_with_arming, "lease", start=starts.standing_by),
    Case("lost-moving-off", "the first claim with a speed is the last", "peers 19: panda #988",
         "silence", inject.gone_when_moving_off, "lease", 20, start=starts.armed),
    Case("runstop-at-boot", "the runstop loop is open at power-up", "peers 20: ArduPilot",
         "refused, runstop", inject.runstop_open_at_boot, start=starts.off),
    Case("welded-at-boot", "the drive enable's contact is closed at power-up", "a relay",
         "refused, fault", broken.contact_welded_at_boot, start=starts.off),
    Case("contact-never-closes", "it stays open when the car is armed", "a relay",
         "refused, fault", broken.contact_never_closes, start=starts.standing_by),
    Case("three-starts-fail", "three starts in a row do not last", "S5",
         "refused, boots", broken.starts_fail, start=starts.off),
    Case("armed-and-left", "armed, and nobody takes the wheel", "a person",
         "unattended", broken.armed_and_left, "nobody", 600, starts.standing_by),
    Case("arm-wrong-address", "the arm is meant for another car", "wrong address",
         "refused", inject.armed_for_another_car, start=starts.standing_by),
    # --- the board and its program
    Case("board-resets", "the program begins anew while it rolls", "peers 6: ROSflight",
         "disarmed", broken.board_resets),
    Case("loop-hangs", "the program stands still for 150 ms", "peers 14: ExpressLRS #3681",
         "overrun", broken.hangs(150), "hung", coasts=True),
    Case("interrupts-off", "and its interrupts too", "peers 14: ExpressLRS #3681",
         "overrun", broken.hangs(150, True), "hung", coasts=True),
    Case("hangs-and-runstop", "the runstop opens while it stands still", "peers 14",
         "runstop loop", broken.hangs_and_loop_opens, "loop", 10),
    Case("program-ends", "an exception, or killed", "peers 14: a panic",
         "disarmed", broken.program_ends, "hung"),
    Case("steps-overrun", "steps take as long as four and a half", "a slow board",
         "overrun", broken.steps_take(4.5)),
    Case("off-beat", "a step takes 2 ms more than its beat", "a slow board",
         "drives on", lambda trial: broken.steps_last(trial.world.step_us + 2000)(trial)),
    Case("armed-off-beat", "1.14 of it, and somebody wants to drive", "a slow board",
         "refused", broken.armed_off_beat, start=starts.standing_by),
    Case("heap-crowded", "95 % of a MicroPython's heap taken, then silence", "peers 12: Pybricks",
         "silence", inject.cable_pulled, "lease", program=_CROWDED),
    Case("odd-pace", "time comes in uneven pieces", "peers 17: PX4 #26504",
         "drives on", inject.odd_pace),
    # --- wires
    Case("runstop-opens", "the runstop loop opens", "peers 4: AutoRally",
         "runstop loop", inject.world(runstop_closed=False), "loop"),
    Case("runstop-flickers", "it opens for 300 us between two steps", "a loose wire",
         "runstop loop", broken.loop_glitches, "loop"),
    Case("runstop-spikes", "it seems open for 15 us, again and again", "interference",
         "drives on", broken.loop_spikes),
    Case("contact-opens", "the drive enable opens by itself", "a relay",
         "relay fault", broken.hardware(contact_stuck=False)),
    Case("pulse-stuck", "a driving output keeps a pulse", "S11",
         "output fault", broken.drive_pulse_stuck, "two steps"),
    Case("steering-pulse-stuck", "a steering output keeps a pulse", "S11",
         "output fault", broken.steering_pulse_stuck, "steering read back"),
    Case("servo-stuck", "the servo does not follow: not noticed, no sensor", "a servo",
         "drives on", broken.servo_stuck),
    # --- what it measures
    Case("left-encoder-dead", "the left encoder stands", "a cable",
         "encoder fault", broken.encoders_dead("left"), "stuck", 100),
    Case("encoders-dead", "both stand", "a cable",
         "no motion", broken.encoders_dead("left", "right"), "stuck", 100),
    Case("encoders-race", "they count 300 m/s", "interference",
         "too fast", broken.counts_race, "too fast", 20),
    # --- motors
    Case("throttle-stuck", "full throttle, whatever is put out", "an ESC",
         "runaway", broken.throttle_stuck, "too fast", 500, top_share=0.3),
    Case("esc-unarmed", "the ESC never arms, and the driver moves off", "an ESC",
         "no motion", broken.moves_off_with(1000, is_drive_dead=True), "stuck", 3000, starts.armed),
    Case("taught-wrong", "the ESC takes forward for reverse", "peers 10: ArduPilot #27",
         "runaway", broken.moves_off_with(300, is_drive_inverted=True), "too fast", 3000,
         starts.armed, rolls_back=True, needs="direction"),
    Case("pushed", "somebody pushes while it holds", "a person",
         "runaway", broken.pushed, "too fast", 600, starts.armed, needs="rolls"),
    Case("counts-at-rest", "encoders count a little while it holds", "interference",
         "holds", broken.turned_by_hand(0.8), "claim", start=starts.armed),
    # --- power and heat
    Case("charger", "a charger is plugged in", "a person",
         "charger", inject.world(charger=True)),
    Case("battery-low", "the battery falls under its first limit", "a battery",
         "limps", broken.battery_under("battery_low_mv")),
    Case("battery-empty", "under its second", "a battery",
         "empty battery", broken.battery_under("battery_empty_mv"), "battery"),
    Case("brown-out", "it collapses", "a battery",
         "brown-out", broken.battery_under("brown_out_mv", 200), "two steps"),
    Case("too-hot", "the ESC gets too hot", "a hill",
         "too hot", inject.world(temperature_c=120), needs="thermometer"),
    Case("power-lost", "the battery's plug is pulled", "a person",
         "disarmed", broken.power_lost, coasts=True),
    # --- by RC
    Case("rc-silent", "the radio is lost, its receiver sends no pulses", "a radio",
         "silence", broken.rc_says("silent"), "rc lease", start=starts.by_rc, needs="rc"),
    Case("rc-says-failsafe", "its receiver says so", "a radio",
         "silence", broken.rc_says("flag"), "rc lease", start=starts.by_rc, needs="rc"),
    Case("rc-holds", "its receiver repeats the last frame: not noticed", "a radio",
         "drives on", broken.rc_says("hold"), start=starts.by_rc, needs="rc"),
    Case("rc-lets-go", "the live-man switch is released", "a person",
         "holds", broken.rc(live_man=False), "rc frame", start=starts.by_rc, needs="rc"),
    Case("rc-mode-stop", "the mode switch is put to stop", "a person",
         "stop source", broken.rc(mode="stop"), "rc frame", start=starts.by_rc, needs="rc"),
    Case("rc-lost-in-race", "the transmitter that a race needs is gone", "peers 4: AutoRally",
         "source silent", broken.rc_says("silent"), "rc lease", start=starts.racing,
         needs="rc to race"),
    # --- stop sources and profiles
    Case("box-silent", "one of the registered runstops falls silent", "peers 4: AutoRally",
         "source silent", broken.box(runs=False), "box", start=starts.racing),
    Case("box-stops", "its button is pressed", "peers 4: AutoRally",
         "stop request", broken.box(runs_on=False), "rc frame", start=starts.racing),
    Case("box-replayed", "it falls silent, what it said comes again", "repetition",
         "source silent", broken.box_replayed, "box", start=starts.racing),
    Case("box-too-late", "all that it says is 300 ms late", "delay",
         "source silent", broken.box(line=lines.late(300)), "box", start=starts.racing),
    Case("stand-over", "the time on the stand is over", "a person",
         "stand over", inject.none, "stand", start=starts.on_stand,
         changes={"stand_ms": 3000}),
    Case("stand-wheel-held", "on the stand one wheel stands, as a differential lets it", "a hand",
         "drives on", broken.encoders_dead("left"), start=starts.on_stand),
    Case("stand-encoders-dead", "on the stand both encoders stand", "a cable",
         "no motion", broken.encoders_dead("left", "right"), "stuck", 3000, starts.on_stand),
    Case("stand-turned", "somebody turns wheels that hold on the stand", "a hand",
         "holds", broken.turned_by_hand(1.5), "claim", start=starts.on_stand),
    Case("stand-runaway", "on the stand a motor runs away, below its top speed", "an ESC",
         "runaway", broken.throttle_stuck_below_top, "on stand", 500,
         starts.on_stand),
    Case("stand-silence", "silence, on the stand", "a person",
         "silence", inject.cable_pulled, "lease", start=starts.on_stand),
    # --- others on the line
    Case("stranger-stops", "somebody without a session says Stop", "S10",
         "stop request", inject.other_host_stops),
    Case("stop-and-clear", "Stop and clear in one step, in any order", "peers 19: panda #988",
         "stop request", inject.stop_and_clear),
    Case("masquerade", "another car's session claims this one", "masquerade",
         "drives on", inject.other_host_claims),
    Case("second-writer", "another session has the driver's source", "masquerade",
         "drives on", inject.second_writer),
    Case("masquerade-alone", "the driver goes, a foreign session stays", "masquerade",
         "silence", inject.gone_while_other_host_claims, "lease"),
    Case("tool-keeps-alive", "the driver goes, a busy tool stays", "peers 18: VESC Tool",
         "silence", inject.gone_while_tool_watches, "lease"),
    Case("replay", "the driver goes, all it said comes again", "insertion, repetition",
         "silence", inject.session_replayed, "lease"),
    Case("flood", "a babbler fills the line", "blocked access",
         "silence", inject.flooded, "lease", 10),
    # --- what lines do to frames
    Case("repl-bytes", "what breaks into Python, between frames", "peers 13: kbd_intr",
         "drives on", inject.line(lambda s: lines.among(s.random, inject.REPL))),
    Case("repl-bytes-within", "the same, anywhere in a fifth of them", "peers 13: kbd_intr",
         "drives on", inject.line(_repl)),
    Case("noise", "random bytes between all frames", "insertion",
         "drives on", inject.line(lambda s: lines.among(s.random, inject.ALL_BYTES))),
    Case("doubled", "every frame comes twice", "repetition",
         "drives on", inject.line(lambda _s: lines.doubled())),
    Case("repeater", "one frame is repeated in place of all others", "repetition",
         "silence", inject.line(lambda _s: lines.repeated()), "lease", 10),
    Case("loss", "one frame in ten is lost", "loss",
         "drives on", inject.line(lambda s: lines.lossy(s.random, 0.1))),
    Case("short-burst", "nothing arrives for 80 ms", "loss",
         "drives on", inject.line_for(80, lambda _s: lines.dead())),
    Case("long-burst", "nothing arrives for 200 ms", "loss",
         "silence", inject.line_for(200, lambda _s: lines.dead()), "lease"),
    Case("late", "every frame is 30 ms late", "delay",
         "drives on", inject.line(lambda _s: lines.late(30))),
    Case("too-late", "every frame is 150 ms late", "delay",
         "silence", inject.line(lambda _s: lines.late(150)), "lease"),
    Case("wrong-order", "frames come in fives, the last first", "wrong order",
         "drives on", inject.line(lambda _s: lines.reversed_in(5))),
    Case("corruption", "a bit flips in one frame of ten", "corruption",
         "drives on", inject.line(lambda s: lines.flipped(s.random, 0.1))),
    Case("total-corruption", "a bit flips in every frame", "corruption",
         "silence", inject.line(lambda s: lines.flipped(s.random, 1.0)), "lease"),
    Case("in-two", "every frame comes in two parts", "partial reception",
         "drives on", inject.line(lambda s: lines.in_two(s.random))),
    Case("cut-short", "every frame loses its end", "partial reception",
         "silence", inject.line(lambda s: lines.cut_short(s.random)), "lease"),
    Case("nobody-reads", "nothing that the car says is taken", "blocked access; peers 16",
         "drives on", inject.nobody_reads),
    Case("deaf-host", "the host hears nothing of the car", "asymmetric information",
         "drives on", inject.host(hears=False)),
    Case("deaf-car", "the car hears nothing of the host", "asymmetric information",
         "silence", inject.line(lambda _s: lines.dead()), "lease"),
    # --- braked first, then cut: a runstop circuit with an off-delay
    _delayed("delayed-opens", "the loop opens", off_delay.opens),
    _delayed("delayed-no-brake", "and the brake does nothing",
             off_delay.opens_with(off_delay.brake_does_nothing), 100, coasts=True),
    _delayed("delayed-then-hangs", "and the program hangs 40 ms later",
             off_delay.opens_then_hangs(40), 90, coasts=True),
    _delayed("delayed-hangs-first", "20 ms after the program hung",
             off_delay.hangs_then_opens(20), 40, coasts=True),
    _delayed("delayed-hung-before", "60 ms after the program hung",
             off_delay.hangs_then_opens(60), 40, coasts=True),
    _delayed("delayed-bounces", "and closes and opens again, and again", off_delay.bounces),
    _delayed("delayed-encoders-dead", "and the encoders stand",
             off_delay.opens_with(off_delay.encoders_stop), coasts=True),
    _delayed("delayed-late", "while its steps take two and a half beats", off_delay.late, 20,
             coasts=True),
    _delayed("delay-open", "and the delay's capacitor is lost",
             off_delay.opens_with(off_delay.delay_is_open), coasts=True),
    _delayed("delay-shorted", "and the delay's transistor is welded",
             off_delay.opens_with(off_delay.delay_is_shorted)),
    _delayed("delay-doubled", "and the delay lasts twice as long",
             off_delay.opens_with(off_delay.delay_is_doubled)),
    _delayed("delay-shorted-hangs", "and it is welded, and the program hangs",
             off_delay.opens_then_hangs(40, off_delay.delay_is_shorted), 90, coasts=True),
    _delayed("delayed-on-stand", "on a stand", off_delay.opens, coasts=True,
             start=starts.on_stand),
    _delayed("delayed-under-hands", "while hands turn the wheels of a car that holds",
             off_delay.opens_under_hands, 1100, coasts=True, start=starts.armed),
)  # fmt: skip


_BY_ID = {case.id: case for case in CASES}


def case_of(case_id: str) -> Case:
    """Return the case with this id. Raises KeyError if there is none."""
    return _BY_ID[case_id]


def cases() -> tuple[Case, ...]:
    """Return all cases, in the order in which they are shown."""
    return CASES
