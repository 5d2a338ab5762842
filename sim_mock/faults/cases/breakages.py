"""Injections into the car itself: board, wires, motors, receiver, stop sources.

See ``injections`` for those of hosts and lines.
"""

from collections.abc import Callable

from firmware.protocol import codes
from sim_mock.board.transmitter import Transmitter
from sim_mock.faults.cases import lines
from sim_mock.faults.cases.injections import Injection, arm, hold_and_go, try_to_drive
from sim_mock.faults.trial.fault_trial import Scene
from sim_mock.faults.trial.target import TICK_US, Stage, Stroke
from sim_mock.faults.trial.vehicles import motors_of

_MS = TICK_US
_FOREVER_US = 60_000_000  # long enough that the watchdog ends the hang


# --- makers


def hardware(**changes: object) -> Stroke:
    """Return a stroke that sets attributes of ``BoardHardware``, the board's own hardware."""
    return lambda scene: _set(scene.world.hardware, changes)


def plant(**changes: object) -> Stroke:
    """Return a stroke that sets attributes of ``Plant``, the car's physics."""
    return lambda scene: _set(scene.world.plant, changes)


def rc(**changes: object) -> Injection:
    """Return an injection that sets attributes of ``Transmitter``, or of its receiver."""

    def inject(scene: Scene) -> None:
        assert scene.transmitter
        _set(scene.transmitter, changes)

    return inject


def box(**changes: object) -> Injection:
    """Return an injection that sets attributes of ``box.BoxAtRadio``, the runstop box."""

    def inject(scene: Scene) -> None:
        assert scene.box
        _set(scene.box, changes)

    return inject


def battery_under(limit: str, ms: int = 60_000) -> Stroke:
    """Return a stroke: the battery reads 100 mV less than this parameter for ``ms``."""

    def inject(scene: Stage) -> None:
        stuck = scene.pins.stuck
        stuck["battery_mv"] = scene.vehicle.parameters[limit][0] - 100
        scene.after(ms, lambda: stuck.pop("battery_mv", None))

    return inject


def _set(what: object, changes: dict[str, object]) -> None:
    for name, value in changes.items():
        setattr(what, name, value)


# --- the board


def board_resets(scene: Stage) -> None:
    """Brown-out: restart the board while the car rolls, with 100 to 300 ms of start-up."""
    scene.pins.reset(scene.random.randrange(10, 31))


def hangs(ms: int, interrupts_too: bool = False) -> Stroke:
    """Return a stroke that halts the program's loop, and the guard's tick if ``interrupts_too``."""
    return lambda scene: scene.world.hang(ms * _MS, interrupts_too)


def steps_take(steps: float) -> Injection:
    """Return an injection: the program measures each step as ``steps`` times its period."""

    def inject(scene: Scene) -> None:
        step_us = scene.vehicle.parameters["step_us"][0]
        scene.pins.stuck["step_us"] = round(steps * step_us)

    return inject


def steps_last(us: int) -> Stroke:
    """Return a stroke: each step takes ``us``; longer than the period, it delays the next one."""
    return lambda scene: setattr(scene.world, "step_takes_us", us)


def armed_off_beat(scene: Scene) -> None:
    """Let steps take 1.14 periods while the car stands by, then try to drive."""
    step_us = scene.vehicle.parameters["step_us"][0]
    steps_last(step_us * 114 // 100)(scene)
    scene.run(1000)
    hold_and_go(scene)


def hangs_and_loop_opens(scene: Scene) -> None:
    """Open the runstop loop 10 ms into a hang, before the guard would notice the hang."""
    scene.world.hang(200 * _MS)
    scene.after(10, lambda: setattr(scene.world, "runstop_closed", False))


def program_ends(scene: Scene) -> None:
    """End the program, as an exception or a kill would: it never comes back by itself."""
    scene.world.hang(_FOREVER_US)


def loop_glitches(scene: Scene) -> None:
    """Open the loop for 300 us, between two steps."""
    now_us = scene.world.now_us
    scene.world.hardware.glitch(now_us, now_us + 300)


def loop_spikes(scene: Scene) -> None:
    """Open the loop twenty times for 15 us: interference, which the filter has to reject."""

    def spike() -> None:
        now_us = scene.world.now_us
        scene.world.hardware.glitch(now_us, now_us + 15)

    scene.every(7, 20, spike)


def starts_fail(scene: Scene) -> None:
    """Restart three times before a start counts as healthy, then try to drive."""
    scene.run(300)
    for _ in range(3):
        scene.world.restart(codes.RESET_WATCHDOG)
        scene.run(300)
    try_to_drive(scene)


def power_lost(scene: Stage) -> None:
    """Pull the battery's plug."""
    scene.world.lose_power()


# --- wires


def drive_pulse_stuck(scene: Scene) -> None:
    """Hold a driving output at a tenth of its range above its present value."""
    channel = motors_of(scene.vehicle)[0]
    span = scene.vehicle.parameters["channel_high"][channel]
    span -= scene.vehicle.parameters["channel_neutral"][channel]
    scene.world.hardware.stuck[channel] = scene.world.values[channel] + span // 10


def steering_pulse_stuck(scene: Scene) -> None:
    """Hold a steering output at its present value while the driver steers."""
    scene.world.hardware.stuck[0] = scene.world.values[0]
    scene.driver.steer_urad = 100_000


def servo_stuck(scene: Scene) -> None:
    """Block the servo while the driver steers: the pulses are right, the wheels do not follow."""
    scene.world.plant.is_steering_stuck = True
    scene.driver.steer_urad = 50_000


def contact_never_closes(scene: Scene) -> None:
    """Hold the drive enable's contact open while the car is armed."""
    scene.world.hardware.contact_stuck = False
    hold_and_go(scene)


def contact_welded_at_boot(scene: Scene) -> None:
    """Hold the drive enable's contact closed from power-up on, then try to drive."""
    scene.world.hardware.contact_stuck = True
    try_to_drive(scene)


# --- what is measured


def encoders_dead(*sides: str) -> Stroke:
    """Return a stroke that freezes the counts of the encoders "left", "right" or both."""
    return lambda scene: setattr(scene.world, "dead_encoders", set(sides))


def counts_race(scene: Scene) -> None:
    """Make the encoders count 300 m/s, as if their lines picked up the motor's noise."""
    _count_by_themselves(scene, 300.0)


def turned_by_hand(share: float) -> Injection:
    """Return an injection: the driver lets go, then the encoders count without the motors.

    It is as if somebody turned the wheels, at this share of the speed of a runaway, for 0.6 s:
    after that a hand has to grip anew.
    """

    def inject(scene: Scene) -> None:
        scene.driver.deadman = 0
        scene.run(1000)
        _count_by_themselves(scene, share * 1e-3 * scene.vehicle.parameters["runaway_mm_s"][0])

    return inject


def _count_by_themselves(scene: Scene, speed_mps: float) -> None:
    """Make the encoders report this speed for 0.6 s, whatever the motors do."""
    counts_mps = 1e9 / scene.vehicle.parameters["nm_per_count"][0] * speed_mps
    begun = scene.world.plant.counts()[0]

    def count(ms: int) -> Callable[[], object]:
        value = begun + round(counts_mps * ms * 1e-3) & (1 << 30) - 1
        return lambda: scene.pins.stuck.update(count_left=value, count_right=value)

    for ms in range(10, 600, 10):
        scene.after(ms, count(ms))


# --- motors


def throttle_stuck(scene: Stage) -> None:
    """Hold the motors at full throttle, whatever is put out."""
    scene.world.plant.stuck_throttle = 1.0


def throttle_stuck_below_top(scene: Scene) -> None:
    """Hold the throttle for 3/4 of top speed, and ask for a tenth of the present speed."""
    top, full = (
        scene.vehicle.parameters[f"{name}_mm_s"][0] for name in ("speed_max", "full_effort")
    )
    scene.world.plant.stuck_throttle = 0.75 * top / full
    scene.driver.speed_mm_s //= 10


def moves_off_with(speed_mm_s: int, **changes: object) -> Injection:
    """Return an injection that sets attributes of ``Plant``, and then moves off."""

    def inject(scene: Scene) -> None:
        _set(scene.world.plant, changes)
        scene.driver.deadman = codes.HELD
        scene.run(50)
        scene.driver.speed_mm_s = speed_mm_s

    return inject


def pushed(scene: Scene) -> None:
    """Push a car that holds, with more force than its brake has, for 700 ms."""
    plant = scene.world.plant
    plant.pushed_n = 0.7 * 9.81 * scene.vehicle.plant["body"]["mass_kg"]
    scene.after(700, lambda: setattr(plant, "pushed_n", 0.0))


# --- people and boxes


def armed_and_left(scene: Scene) -> None:
    """Arm the car from a program without a claiming source; nobody takes the wheel."""
    scene.driver.claims = False
    scene.run(500)
    if scene.driver.state == codes.STANDBY:
        arm(scene)


def box_replayed(scene: Scene) -> None:
    """Silence the box and replay all its frames, one per millisecond."""
    assert scene.box
    said = list(scene.box.said)
    recorded = iter(said)
    scene.box.line = lines.dead()
    scene.every(1, len(said), lambda: scene.world.feed(next(recorded)))


def rc_says(what: str) -> Injection:
    """Return an injection: the radio is lost, and the receiver does ``what`` (its failsafe)."""

    def inject(scene: Scene) -> None:
        transmitter: Transmitter | None = scene.transmitter
        assert transmitter
        transmitter.is_on, transmitter.failsafe = False, what

    return inject
