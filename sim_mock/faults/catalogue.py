"""The catalogue of faults: what went wrong elsewhere, and what lines do to frames.

A row is what goes wrong, where that comes from, how it must end and what the board waits for.

Not yet, for the car has no part for it, or not here:

* any one of several registered runstops, the RC receiver, its switch and its gesture
* a hung main loop, interrupts off, a panic: needs the guard that renews pulses (rings 0 and 1);
  likewise a runstop loop that opens for less than a step
* an encoder that is stuck, dead or runs away: not told from a standing car so far
* brown-out in stages, over-temperature: no sensor is read
* an ESC taught the other way round: no vehicle file may say so so far
* the heap nearly full: no step touches it, shown in tests/firmware with the heap locked
* a board that never answers, a paced or paused world: of the host, shown in its own tests
* the clock's bound past its limit: takes 50 s without a Sync, shown in tests/firmware
"""

from collections.abc import Callable
from dataclasses import dataclass

from sim_mock.faults import injections as inject
from sim_mock.faults import lines, starts
from sim_mock.faults.host import Line
from sim_mock.faults.injections import Injection
from sim_mock.faults.scene import Scene

_WRAP_BEGINS_US = starts.WRAP_US - 8_000_000  # time to arm and to come to speed


@dataclass(frozen=True)
class Case:
    """One thing that goes wrong. ``wait`` is a key of ``limits.WAITS``."""

    id: str
    title: str
    source: str
    expects: str
    inject: Injection
    wait: str = "step"
    extra_ms: int = 0  # how long it takes until it is all there
    start: Callable[[Scene, float], None] = starts.driving
    speed_mps: float = 3.0
    start_us: int = 0  # of the board's clock
    ahead_us: int = 0  # of the session's clock, before the board's


def _repl(scene: Scene) -> Line:
    return lines.inserted(scene.random, inject.REPL, 0.2)


CASES = (
    # --- hosts, inputs, people
    Case("frozen-input", "the device's last report repeats at the full rate", "peers 1: joy",
         "frozen input", inject.host(input_lives=False), "frozen"),
    Case("heartbeat-only", "clocks are kept, claims are not", "peers 2: PX4 offboard",
         "silence", inject.host(claims=False), "lease"),
    Case("last-setpoint", "silence while it accelerates", "peers 3: PX4 #18346",
         "silence", inject.cable_pulled, "lease", start=starts.accelerating),
    Case("total-silence", "the cable is pulled", "peers 5: ROSflight; 7: linorobot2",
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
    Case("lets-go", "the deadman is released", "a person",
         "holds", inject.host(deadman=0), "claim"),
    # --- arming
    Case("lost-between-steps", "the cable is pulled while it is armed", "peers 7: linorobot2",
         "refused", inject.gone_after_asking, start=starts.standing_by),
    Case("lost-with-arming", "the frame that arms is the last", "peers 19: panda #988",
         "silence", inject.gone_with_arming, "lease", start=starts.standing_by),
    Case("lost-moving-off", "the first claim with a speed is the last", "peers 19: panda #988",
         "silence", inject.gone_when_moving_off, "lease", 20, start=starts.armed),
    Case("runstop-at-boot", "the runstop loop is open at power-up", "peers 20: ArduPilot",
         "refused, runstop", inject.runstop_open_at_boot, start=starts.off),
    Case("welded-at-boot", "the drive enable's contact is closed at power-up", "a relay",
         "refused, fault", inject.contact_welded_at_boot, start=starts.off),
    Case("arm-wrong-address", "the arm is meant for another car", "wrong address",
         "refused", inject.armed_for_another_car, start=starts.standing_by),
    # --- the board and its pins
    Case("runstop-opens", "the runstop loop opens", "peers 4: AutoRally",
         "runstop loop", inject.world(runstop_closed=False)),
    Case("board-resets", "the program begins anew while it rolls", "peers 6: ROSflight",
         "disarmed", inject.board_resets),
    Case("charger", "a charger is plugged in", "a person",
         "charger", inject.world(charger=True)),
    Case("battery-empty", "the battery falls under its limit", "a battery",
         "empty battery", inject.pin(battery_mv=8000), "battery"),
    Case("steps-overrun", "steps take as long as four and a half", "a slow board",
         "overrun", inject.pin(step_us=45_000)),
    Case("contact-opens", "the drive enable's contact reads open", "a relay",
         "relay fault", inject.pin(enable_contact=0)),
    # --- others on the line
    Case("stranger-stops", "somebody without a session says Stop", "S10",
         "stop request", inject.stranger_stops),
    Case("stop-and-clear", "Stop and clear in one step, in any order", "peers 19: panda #988",
         "stop request", inject.stop_and_clear),
    Case("masquerade", "another car's session claims this one", "masquerade",
         "drives on", inject.stranger_claims),
    Case("second-writer", "another session has the driver's source", "masquerade",
         "drives on", inject.second_writer),
    Case("masquerade-alone", "the driver goes, a foreign session stays", "masquerade",
         "silence", inject.gone_while_stranger_claims, "lease"),
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
    Case("deaf-host", "the host hears nothing of the car", "asymmetric information",
         "drives on", inject.host(hears=False)),
    Case("deaf-car", "the car hears nothing of the host", "asymmetric information",
         "silence", inject.line(lambda _s: lines.dead()), "lease"),
)  # fmt: skip


def cases() -> tuple[Case, ...]:
    """All of them, in the order in which they are shown."""
    return CASES
