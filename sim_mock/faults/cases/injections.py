"""The injections of faults into a trial; they alter bytes, pins and time, nothing else."""

from collections.abc import Callable

from firmware.protocol import codes, messages
from sim_mock.faults.cases import lines, starts
from sim_mock.faults.trial.fault_trial import Scene
from sim_mock.faults.trial.target import Stage, Stroke
from sim_mock.faults.trial.wire import Line

Injection = Callable[[Scene], None]

REPL = b"\x03\x04\x01\x02\x05\r\n\x1b"  # bytes by which a terminal breaks into a MicroPython
ALL_BYTES = bytes(range(256))
_FLOOD = 4096  # bytes per beat, of which a board takes 512
JUMP_US = 1_000_000
LIE_US = 300_000


# --- makers of injections


def none(_scene: Scene) -> None:
    """Inject nothing: time passes."""


def line(make: Callable[[Stage], Line]) -> Stroke:
    """Return a stroke that replaces the line towards the car from then on."""

    def inject(scene: Stage) -> None:
        scene.driver.line = make(scene)

    return inject


def line_for(ms: int, make: Callable[[Stage], Line]) -> Stroke:
    """Return a stroke that replaces the line towards the car for ``ms``."""

    def inject(scene: Stage) -> None:
        before, scene.driver.line = scene.driver.line, make(scene)
        scene.after(ms, lambda: setattr(scene.driver, "line", before))

    return inject


def host(**changes: object) -> Injection:
    """Return an injection that sets attributes of ``host.Host``, the driver's host."""

    def inject(scene: Scene) -> None:
        for name, value in changes.items():
            setattr(scene.driver, name, value)

    return inject


def world(**changes: object) -> Stroke:
    """Return a stroke that sets attributes of ``World``, the car's surroundings."""

    def inject(scene: Stage) -> None:
        for name, value in changes.items():
            setattr(scene.world, name, value)

    return inject


def pin(**values: int) -> Stroke:
    """Return a stroke: pins read these values from then on, whatever is there."""
    return lambda scene: scene.pins.stuck.update(values)


# --- the host and its process


def cable_pulled(scene: Scene) -> None:
    """Pull the cable: nothing passes in either direction."""
    scene.driver.line = lines.dead()
    scene.driver.hears = False


def host_stopped(ms: int) -> Stroke:
    """Return a stroke: the host is stopped (SIGSTOP) for ``ms``, then goes on unaware."""

    def inject(scene: Stage) -> None:
        scene.driver.runs = False
        room, scene.world.link_room = scene.world.link_room, 0

        def go_on() -> None:
            scene.driver.runs = True
            scene.world.link_room = room

        scene.after(ms, go_on)

    return inject


def clock_jumps(by_us: int) -> Injection:
    """Return an injection that shifts the host's clock."""

    def inject(scene: Scene) -> None:
        scene.driver.ahead_us += by_us

    return inject


def reverse_asked_then_gone(scene: Scene) -> None:
    """Ask for full reverse at full speed; 60 ms later the cable is pulled."""
    scene.driver.speed_mm_s = -1000
    scene.after(60, lambda: cable_pulled(scene))


# --- arming


def gone_after_asking(scene: Scene) -> None:
    """Pull the cable between the two steps of arming."""
    starts.ask(scene, codes.ACTION_ARM)
    cable_pulled(scene)


def gone_with_binding(scene: Scene) -> None:
    """Pull the cable after the frame that binds the session.

    If the driver comes back, it holds the deadman and asks for speed.
    """
    scene.run(1500)
    scene.driver.bind()
    cable_pulled(scene)
    scene.driver.deadman, scene.driver.speed_mm_s = codes.HELD, 300


def gone_while_clearing(scene: Scene) -> None:
    """Pull the cable between the two steps of a clear."""
    starts.ask(scene, codes.ACTION_CLEAR)
    cable_pulled(scene)


def gone_with_clearing(scene: Scene) -> None:
    """Pull the cable after the frame that clears.

    If the driver comes back, it holds the deadman and asks for speed.
    """
    starts.ask(scene, codes.ACTION_CLEAR)
    starts.confirm(scene, codes.ACTION_CLEAR)
    cable_pulled(scene)
    scene.driver.deadman, scene.driver.speed_mm_s = codes.HELD, 300


def gone_with_arming(scene: Scene) -> None:
    """Pull the cable after the frame that arms."""
    arm(scene)
    cable_pulled(scene)


def gone_when_moving_off(scene: Scene) -> None:
    """Hold the deadman in neutral, ask for speed, and pull the cable after that first claim."""
    scene.driver.deadman = codes.HELD
    scene.run(20)
    scene.driver.speed_mm_s = 300
    scene.driver.claim()
    cable_pulled(scene)


def runstop_open_at_boot(scene: Scene) -> None:
    """Open the runstop loop at power-up, then try to drive all the same."""
    scene.world.runstop_closed = False
    try_to_drive(scene)


def armed_for_another_car(scene: Scene) -> None:
    """Arm with the hash of another car's configuration, then try to drive."""
    scene.driver.latest["Identity"].config_hash = bytearray(4)
    hold_and_go(scene)


def try_to_drive(scene: Scene) -> None:
    """Bind, arm and ask for speed from power-up on, as any host would."""
    scene.run(1500)
    scene.driver.bind()
    scene.run(300)
    scene.driver.claims = True
    hold_and_go(scene)


def arm(scene: Scene) -> None:
    """Send both steps of arming; the second only if the car answers the first."""
    if starts.ask(scene, codes.ACTION_ARM):
        starts.confirm(scene, codes.ACTION_ARM)


def hold_and_go(scene: Scene) -> None:
    """Arm the car, hold the deadman, and ask for a walk."""
    arm(scene)
    scene.run(100)
    scene.driver.deadman = codes.HELD
    scene.run(50)
    scene.driver.speed_mm_s = 300
    scene.run(300)


def odd_pace(scene: Scene) -> None:
    """Let time pass in uneven pieces, as a busy machine does."""
    cuts = sorted(scene.random.sample(range(1, 1000), 5))
    scene.pieces_us = [*cuts, 1000]


# --- others on the line


def stopped(scene: Scene) -> None:
    """Send a Stop from the driver's own host."""
    scene.driver.stop()


def stranger_stops(scene: Scene) -> None:
    """Send a Stop from a host without a session."""
    scene.stranger().stop()


def stop_and_clear(scene: Scene) -> None:
    """Send a Stop and a clear in one step, in random order."""
    driver = scene.driver
    said: list[Callable[[], object]] = [driver.stop, lambda: driver.ask(codes.ACTION_CLEAR)]
    scene.random.shuffle(said)
    for say in said:
        say()


def stranger_claims(scene: Scene) -> None:
    """Let another car's session claim this one, at its own speed."""
    stranger = scene.stranger()
    stranger.claims, stranger.deadman, stranger.speed_mm_s = True, codes.HELD, -300


def second_writer(scene: Scene) -> None:
    """Let a second program bind a session and claim with the driver's own source."""
    stranger_claims(scene)
    scene.others[0].bind()


def gone_while_stranger_claims(scene: Scene) -> None:
    """Silence the driver while a foreign session goes on claiming."""
    stranger_claims(scene)
    scene.driver.line = lines.dead()


def gone_while_tool_watches(scene: Scene) -> None:
    """Silence the driver while a tool keeps the line busy, without a deadman."""
    sources = scene.vehicle.parameters["source_mask"]
    other = next(i for i, mask in enumerate(sources) if mask and i != scene.driver.source)
    tool = scene.stranger(other)
    tool.bind()
    tool.claims = True
    scene.every(20, 50, lambda: tool.say(messages.Identify, token=2))
    scene.driver.line = lines.dead()


def session_replayed(scene: Scene) -> None:
    """Silence the driver and replay all its frames, one per millisecond."""
    recorded = iter(list(scene.driver.said))
    scene.driver.line = lines.dead()
    scene.every(1, len(scene.driver.said), lambda: scene.world.feed(next(recorded)))


def nobody_reads(scene: Scene) -> None:
    """Block the car's output: its link is full for the whole run."""
    scene.world.link_room = 0
    scene.after(1900, lambda: setattr(scene.world, "link_room", 1024))


def flooded(scene: Scene) -> None:
    """Flood the line for 200 ms, faster than a board can read."""
    scene.every(1, 200, lambda: scene.world.feed(scene.random.randbytes(_FLOOD)))
