"""Injections into the car itself: board, wires, motors, receiver, stop sources.

See ``injections`` for those of hosts and lines.
"""

from collections.abc import Callable

from firmware.protocol import codes
from sim_mock.board.transmitter import Transmitter
from sim_mock.faults.cases import lines
from sim_mock.faults.cases.injections import TrialInjection, arm, hold_and_go, try_to_drive
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.target import TICK_US, Injection, InjectionTarget
from sim_mock.faults.trial.vehicles import motors_of

_MS = TICK_US
_FOREVER_US = 60_000_000  # long enough that the watchdog ends the hang


# --- makers


def set_hardware(**changes: object) -> Injection:
    """Return an injection that sets attributes of ``BoardHardware``, the board's own hardware."""
    return lambda target: _set(target.world.hardware, changes)


def set_plant(**changes: object) -> Injection:
    """Return an injection that sets attributes of ``Plant``, the car's physics."""
    return lambda target: _set(target.world.plant, changes)


def set_rc(**changes: object) -> TrialInjection:
    """Return an injection that sets attributes of ``Transmitter``, or of its receiver."""

    def inject(trial: FaultTrial) -> None:
        assert trial.transmitter
        _set(trial.transmitter, changes)

    return inject


def set_box(**changes: object) -> TrialInjection:
    """Return an injection that sets attributes of ``box.RadioRunstopBox``, the runstop box."""

    def inject(trial: FaultTrial) -> None:
        assert trial.box
        _set(trial.box, changes)

    return inject


def battery_under(limit: str, ms: int = 60_000) -> Injection:  # ms: as long as the trial lasts
    """Return an injection: the battery reads 100 mV less than this parameter for ``ms``."""

    def inject(target: InjectionTarget) -> None:
        stuck = target.pins.stuck
        stuck["battery_mv"] = target.vehicle.parameters[limit][0] - 100
        target.after(ms, lambda: stuck.pop("battery_mv", None))

    return inject


def _set(what: object, changes: dict[str, object]) -> None:
    for name, value in changes.items():
        setattr(what, name, value)


# --- the board


def board_resets(target: InjectionTarget) -> None:
    """Brown-out: restart the board while the car rolls, with 100 to 300 ms of start-up."""
    target.pins.reset(target.random.randrange(10, 31))  # tens of ms


def hangs(ms: int, interrupts_too: bool = False) -> Injection:
    """Return an injection that halts the program's loop, if asked the guard's tick, too."""
    return lambda target: target.world.hang(ms * _MS, interrupts_too)


def steps_take(steps: float) -> TrialInjection:
    """Return an injection: the program measures each step as ``steps`` times its period."""

    def inject(trial: FaultTrial) -> None:
        step_us = trial.vehicle.parameters["step_us"][0]
        trial.pins.stuck["step_us"] = round(steps * step_us)

    return inject


def steps_last(us: int) -> Injection:
    """Return an injection: each step takes ``us``; longer than the period, it delays the next."""
    return lambda target: setattr(target.world, "step_takes_us", us)


def armed_off_beat(trial: FaultTrial) -> None:
    """Let steps take 1.14 periods while the car stands by, then try to drive."""
    step_us = trial.vehicle.parameters["step_us"][0]
    steps_last(step_us * 114 // 100)(trial)  # in hundredths, see above
    trial.run(1000)
    hold_and_go(trial)


def hangs_and_loop_opens(trial: FaultTrial) -> None:
    """Open the runstop loop 10 ms into a hang, before the guard would notice the hang."""
    # twice the time in which the guard and the watchdog have to be quicker
    trial.world.hang(200 * _MS)
    trial.after(10, lambda: setattr(trial.world, "runstop_closed", False))


def program_ends(trial: FaultTrial) -> None:
    """End the program, as an exception or a kill would: it never comes back by itself."""
    trial.world.hang(_FOREVER_US)


def loop_glitches(trial: FaultTrial) -> None:
    """Open the loop for 300 us, between two steps."""
    now_us = trial.world.now_us
    trial.world.hardware.glitch(now_us, now_us + 300)


def loop_spikes(trial: FaultTrial) -> None:
    """Open the loop twenty times for 15 us: interference, which the filter has to reject."""

    def spike() -> None:
        now_us = trial.world.now_us
        trial.world.hardware.glitch(now_us, now_us + 15)

    trial.every(7, 20, spike)  # every 7 ms, twenty times: at another phase of the step each


def starts_fail(trial: FaultTrial) -> None:
    """Restart three times before a start counts as healthy, then try to drive."""
    trial.run(300)  # ms: it has started, and is not healthy yet
    for _ in range(3):
        trial.world.restart(codes.RESET_WATCHDOG)
        trial.run(300)  # ms, as before
    try_to_drive(trial)


def power_lost(target: InjectionTarget) -> None:
    """Pull the battery's plug."""
    target.world.lose_power()


# --- wires


def drive_pulse_stuck(trial: FaultTrial) -> None:
    """Hold a driving output at a tenth of its range above its present value."""
    channel = motors_of(trial.vehicle)[0]
    span = trial.vehicle.parameters["channel_high"][channel]
    span -= trial.vehicle.parameters["channel_neutral"][channel]
    trial.world.hardware.stuck[channel] = trial.world.values[channel] + span // 10


def steering_pulse_stuck(trial: FaultTrial) -> None:
    """Hold a steering output at its present value while the driver steers."""
    trial.world.hardware.stuck[0] = trial.world.values[0]
    # 0.1 rad: more than the limit at which a pulse counts as away
    trial.driver.steer_urad = 100_000


def servo_stuck(trial: FaultTrial) -> None:
    """Block the servo while the driver steers: the pulses are right, the wheels do not follow."""
    trial.world.plant.is_steering_stuck = True
    trial.driver.steer_urad = 50_000  # 0.05 rad: seen in the path


def contact_never_closes(trial: FaultTrial) -> None:
    """Hold the drive enable's contact open while the car is armed."""
    trial.world.hardware.contact_stuck = False
    hold_and_go(trial)


def contact_welded_at_boot(trial: FaultTrial) -> None:
    """Hold the drive enable's contact closed from power-up on, then try to drive."""
    trial.world.hardware.contact_stuck = True
    try_to_drive(trial)


# --- what is measured


def encoders_dead(*sides: str) -> Injection:
    """Return an injection that freezes the counts of the encoders "left", "right" or both."""
    return lambda target: setattr(target.world, "dead_encoders", set(sides))


def counts_race(trial: FaultTrial) -> None:
    """Make the encoders count 300 m/s, as if their lines picked up the motor's noise."""
    _count_by_themselves(trial, 300.0)


def turned_by_hand(share: float) -> TrialInjection:
    """Return an injection: the driver lets go, then the encoders count without the motors.

    It is as if somebody turned the wheels, at this share of the speed of a runaway, for 0.6 s:
    after that a hand has to grip anew.
    """

    def inject(trial: FaultTrial) -> None:
        trial.driver.deadman = 0
        trial.run(1000)
        _count_by_themselves(trial, share * 1e-3 * trial.vehicle.parameters["runaway_mm_s"][0])

    return inject


def _count_by_themselves(trial: FaultTrial, speed_mps: float) -> None:
    """Make the encoders report this speed for 0.6 s, whatever the motors do."""
    counts_mps = 1e9 / trial.vehicle.parameters["nm_per_count"][0] * speed_mps
    begun = trial.world.plant.counts()[0]

    def count(ms: int) -> Callable[[], object]:
        value = begun + round(counts_mps * ms * 1e-3) & (1 << 30) - 1
        return lambda: trial.pins.stuck.update(count_left=value, count_right=value)

    for ms in range(10, 600, 10):  # ms: 0.6 s, from step to step
        trial.after(ms, count(ms))


# --- motors


def throttle_stuck(target: InjectionTarget) -> None:
    """Hold the motors at full throttle, whatever is put out."""
    target.world.plant.stuck_throttle = 1.0


def throttle_stuck_below_top(trial: FaultTrial) -> None:
    """Hold the throttle for 3/4 of top speed, and ask for a tenth of the present speed."""
    top, full = (
        trial.vehicle.parameters[f"{name}_mm_s"][0] for name in ("speed_max", "full_effort")
    )
    trial.world.plant.stuck_throttle = 0.75 * top / full  # of the duty that gives top speed
    trial.driver.speed_mm_s //= 10


def moves_off_with(speed_mm_s: int, **changes: object) -> TrialInjection:
    """Return an injection that sets attributes of ``Plant``, and then moves off."""

    def inject(trial: FaultTrial) -> None:
        _set(trial.world.plant, changes)
        trial.driver.deadman = codes.HELD
        trial.run(50)  # ms: some claims, so that the source has begun in neutral
        trial.driver.speed_mm_s = speed_mm_s

    return inject


def pushed(trial: FaultTrial) -> None:
    """Push a car that holds, with more force than its brake has, for 700 ms."""
    plant = trial.world.plant
    # 0.7 of its weight: more than any brake or tyre of these cars holds
    plant.pushed_n = 0.7 * 9.81 * trial.vehicle.plant["body"]["mass_kg"]
    trial.after(700, lambda: setattr(plant, "pushed_n", 0.0))


# --- people and boxes


def armed_and_left(trial: FaultTrial) -> None:
    """Arm the car from a program without a claiming source; nobody takes the wheel."""
    trial.driver.claims = False
    trial.run(500)  # ms: the lease of the last claim is over
    if trial.driver.state == codes.STANDBY:
        arm(trial)


def box_replayed(trial: FaultTrial) -> None:
    """Silence the box and replay all its frames, one per millisecond."""
    assert trial.box
    frames = list(trial.box.sent_frames)
    recorded = iter(frames)
    trial.box.line = lines.dead()
    trial.every(1, len(frames), lambda: trial.world.feed(next(recorded)))


def rc_says(what: str) -> TrialInjection:
    """Return an injection: the radio is lost, and the receiver does ``what`` (its failsafe)."""

    def inject(trial: FaultTrial) -> None:
        transmitter: Transmitter | None = trial.transmitter
        assert transmitter
        transmitter.is_on, transmitter.failsafe = False, what

    return inject
