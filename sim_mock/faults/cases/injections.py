"""The injections of faults into a trial; they alter bytes, pins and time, nothing else."""

from collections.abc import Callable

from firmware.protocol import codes, messages
from sim_mock.faults.cases import lines, starts
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.target import Injection, InjectionTarget
from sim_mock.faults.trial.wire import Line

TrialInjection = Callable[[FaultTrial], None]

REPL = b"\x03\x04\x01\x02\x05\r\n\x1b"  # bytes by which a terminal breaks into a MicroPython
ALL_BYTES = bytes(range(256))
_FLOOD = 4096  # bytes per beat, of which a board takes 512
JUMP_US = 1_000_000  # as long as the longest lease
LIE_US = 300_000  # beyond the lease of a usual source, and within a second


# --- makers of injections


def none(_trial: FaultTrial) -> None:
    """Inject nothing: time passes."""


def replace_line(make: Callable[[InjectionTarget], Line]) -> Injection:
    """Return an injection that replaces the line towards the car from then on."""

    def inject(target: InjectionTarget) -> None:
        target.driver.line = make(target)

    return inject


def replace_line_for(ms: int, make: Callable[[InjectionTarget], Line]) -> Injection:
    """Return an injection that replaces the line towards the car for ``ms``."""

    def inject(target: InjectionTarget) -> None:
        before, target.driver.line = target.driver.line, make(target)
        target.after(ms, lambda: setattr(target.driver, "line", before))

    return inject


def set_host(**changes: object) -> TrialInjection:
    """Return an injection that sets attributes of ``host.TrialHost``, the driver's host."""

    def inject(trial: FaultTrial) -> None:
        for name, value in changes.items():
            setattr(trial.driver, name, value)

    return inject


def set_world(**changes: object) -> Injection:
    """Return an injection that sets attributes of ``World``, the car's surroundings."""

    def inject(target: InjectionTarget) -> None:
        for name, value in changes.items():
            setattr(target.world, name, value)

    return inject


def set_poses(**changes: object) -> Injection:
    """Return an injection that sets attributes of ``PoseFault``, what is wrong with poses."""

    def inject(target: InjectionTarget) -> None:
        for name, value in changes.items():
            setattr(target.world.pose_fault, name, value)

    return inject


# --- the host and its process


def cable_pulled(trial: FaultTrial) -> None:
    """Pull the cable: nothing passes in either direction."""
    trial.driver.line = lines.dead()
    trial.driver.hears = False


def host_stopped(ms: int) -> Injection:
    """Return an injection: the host is stopped (SIGSTOP) for ``ms``, then goes on unaware."""

    def inject(target: InjectionTarget) -> None:
        target.driver.runs = False
        room, target.world.link_room = target.world.link_room, 0

        def go_on() -> None:
            target.driver.runs = True
            target.world.link_room = room

        target.after(ms, go_on)

    return inject


def clock_jumps(by_us: int) -> TrialInjection:
    """Return an injection that shifts the host's clock."""

    def inject(trial: FaultTrial) -> None:
        trial.driver.ahead_us += by_us

    return inject


def reverse_asked_then_gone(trial: FaultTrial) -> None:
    """Ask for full reverse at full speed; 60 ms later the cable is pulled."""
    trial.driver.speed_mm_s = -1000
    trial.after(60, lambda: cable_pulled(trial))


# --- arming


def gone_after_asking(trial: FaultTrial) -> None:
    """Pull the cable between the two steps of arming."""
    starts.ask(trial, codes.ACTION_ARM)
    cable_pulled(trial)


def gone_with_binding(trial: FaultTrial) -> None:
    """Pull the cable after the frame that binds the session.

    If the driver comes back, it holds the deadman and asks for speed.
    """
    trial.run(1500)  # ms: it has started, and says who it is
    trial.driver.bind()
    cable_pulled(trial)
    trial.driver.deadman, trial.driver.speed_mm_s = codes.HELD, 300  # a walk, in mm/s


def gone_while_clearing(trial: FaultTrial) -> None:
    """Pull the cable between the two steps of a clear."""
    starts.ask(trial, codes.ACTION_CLEAR)
    cable_pulled(trial)


def gone_with_clearing(trial: FaultTrial) -> None:
    """Pull the cable after the frame that clears.

    If the driver comes back, it holds the deadman and asks for speed.
    """
    starts.ask(trial, codes.ACTION_CLEAR)
    starts.confirm(trial, codes.ACTION_CLEAR)
    cable_pulled(trial)
    trial.driver.deadman, trial.driver.speed_mm_s = codes.HELD, 300  # a walk, in mm/s


def gone_with_arming(trial: FaultTrial) -> None:
    """Pull the cable after the frame that arms."""
    arm(trial)
    cable_pulled(trial)


def gone_when_moving_off(trial: FaultTrial) -> None:
    """Hold the deadman in neutral, ask for speed, and pull the cable after that first claim."""
    trial.driver.deadman = codes.HELD
    trial.run(20)  # ms: two claims in neutral
    trial.driver.speed_mm_s = 300  # a walk, in mm/s
    trial.driver.claim()
    cable_pulled(trial)


def runstop_open_at_boot(trial: FaultTrial) -> None:
    """Open the runstop loop at power-up, then try to drive all the same."""
    trial.world.runstop_closed = False
    try_to_drive(trial)


def armed_for_another_car(trial: FaultTrial) -> None:
    """Arm with the hash of another car's configuration, then try to drive."""
    trial.driver.latest["Identity"].config_hash = bytearray(4)
    hold_and_go(trial)


def try_to_drive(trial: FaultTrial) -> None:
    """Bind, arm and ask for speed from power-up on, as any host would."""
    trial.run(1500)  # ms: it has started, and says who it is
    trial.driver.bind()
    trial.run(300)  # ms: six answers to statuses, by which the clock gets good enough to arm
    trial.driver.claims = True
    hold_and_go(trial)


def arm(trial: FaultTrial) -> None:
    """Send both steps of arming; the second only if the car answers the first."""
    if starts.ask(trial, codes.ACTION_ARM):
        starts.confirm(trial, codes.ACTION_ARM)


def hold_and_go(trial: FaultTrial) -> None:
    """Arm the car, hold the deadman, and ask for a walk."""
    arm(trial)
    trial.run(100)
    trial.driver.deadman = codes.HELD
    trial.run(50)  # ms: some claims, so that the source has begun in neutral
    trial.driver.speed_mm_s = 300  # a walk, in mm/s
    trial.run(300)  # ms: it moves off


def odd_pace(trial: FaultTrial) -> None:
    """Let time pass in uneven pieces, as a busy machine does."""
    cuts = sorted(trial.random.sample(range(1, 1000), 5))  # six pieces of a millisecond
    trial.pieces_us = [*cuts, 1000]


# --- others on the line


def stopped(trial: FaultTrial) -> None:
    """Send a Stop from the driver's own host."""
    trial.driver.stop()


def other_host_stops(trial: FaultTrial) -> None:
    """Send a Stop from a host without a session."""
    trial.add_host().stop()


def stop_and_clear(trial: FaultTrial) -> None:
    """Send a Stop and a clear in one step, in random order."""
    driver = trial.driver
    requests: list[Callable[[], object]] = [driver.stop, lambda: driver.ask(codes.ACTION_CLEAR)]
    trial.random.shuffle(requests)
    for ask in requests:
        ask()


def other_host_claims(trial: FaultTrial) -> None:
    """Let another car's session claim this one, at its own speed."""
    other = trial.add_host()
    # a walk backwards, in mm/s
    other.claims, other.deadman, other.speed_mm_s = True, codes.HELD, -300


def second_writer(trial: FaultTrial) -> None:
    """Let a second program bind a session and claim with the driver's own source."""
    other_host_claims(trial)
    trial.others[0].bind()


def gone_while_other_host_claims(trial: FaultTrial) -> None:
    """Silence the driver while a foreign session goes on claiming."""
    other_host_claims(trial)
    trial.driver.line = lines.dead()


def gone_while_tool_watches(trial: FaultTrial) -> None:
    """Silence the driver while a tool keeps the line busy, without a deadman."""
    sources = trial.vehicle.parameters["source_mask"]
    other = next(i for i, mask in enumerate(sources) if mask and i != trial.driver.source)
    tool = trial.add_host(other)
    tool.bind()
    tool.claims = True
    trial.every(20, 50, lambda: tool.say(messages.Identify, token=2))  # every 20 ms for a second
    trial.driver.line = lines.dead()


def session_replayed(trial: FaultTrial) -> None:
    """Silence the driver and replay all its frames, one per millisecond."""
    recorded = iter(list(trial.driver.sent_frames))
    trial.driver.line = lines.dead()
    trial.every(1, len(trial.driver.sent_frames), lambda: trial.world.feed(next(recorded)))


def nobody_reads(trial: FaultTrial) -> None:
    """Block the car's output: its link is full for the whole run."""
    trial.world.link_room = 0
    # ms: at the end of the run, as much room as before
    trial.after(1900, lambda: setattr(trial.world, "link_room", 1024))


def flooded(trial: FaultTrial) -> None:
    """Flood the line for 200 ms, faster than a board can read."""
    trial.every(1, 200, lambda: trial.world.feed(trial.random.randbytes(_FLOOD)))
