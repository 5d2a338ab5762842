"""What goes wrong: each does it to a scene. Bytes, pins and time are all there is to do it with."""

from collections.abc import Callable

from firmware.protocol import codes, messages
from sim_mock.faults import lines, starts
from sim_mock.faults.scene import Scene
from sim_mock.faults.stage import Stage, Stroke
from sim_mock.faults.wire import Line

Injection = Callable[[Scene], None]

REPL = b"\x03\x04\x01\x02\x05\r\n\x1b"  # what a terminal sends a MicroPython to break into it
ALL_BYTES = bytes(range(256))
_FLOOD = 4096  # bytes per beat, of which a board takes 512
JUMP_US = 1_000_000
LIE_US = 300_000


# --- makers of injections


def none(_scene: Scene) -> None:
    """Nothing goes wrong: time passes."""


def line(make: Callable[[Stage], Line]) -> Stroke:
    """From now on the line towards the car is this one."""

    def inject(scene: Stage) -> None:
        scene.driver.line = make(scene)

    return inject


def line_for(ms: int, make: Callable[[Stage], Line]) -> Stroke:
    """For this long only."""

    def inject(scene: Stage) -> None:
        before, scene.driver.line = scene.driver.line, make(scene)
        scene.after(ms, lambda: setattr(scene.driver, "line", before))

    return inject


def host(**changes: object) -> Injection:
    """The driver's host is different from now on: attributes of ``host.Host``."""

    def inject(scene: Scene) -> None:
        for name, value in changes.items():
            setattr(scene.driver, name, value)

    return inject


def world(**changes: object) -> Stroke:
    """Something about the car's surroundings is: attributes of ``World``."""

    def inject(scene: Stage) -> None:
        for name, value in changes.items():
            setattr(scene.world, name, value)

    return inject


def pin(**values: int) -> Stroke:
    """A pin reads this from now on, whatever is there."""
    return lambda scene: scene.pins.stuck.update(values)


# --- the host and its process


def cable_pulled(scene: Scene) -> None:
    """Both directions."""
    scene.driver.line = lines.dead()
    scene.driver.hears = False


def host_stopped(ms: int) -> Stroke:
    """SIGSTOP: it neither speaks nor reads, then goes on as if nothing had been."""

    def inject(scene: Stage) -> None:
        scene.driver.runs = False
        room, scene.world.link_room = scene.world.link_room, 0

        def go_on() -> None:
            scene.driver.runs = True
            scene.world.link_room = room

        scene.after(ms, go_on)

    return inject


def clock_jumps(by_us: int) -> Injection:
    """The host's clock, all of it."""

    def inject(scene: Scene) -> None:
        scene.driver.ahead_us += by_us

    return inject


def reverse_asked_then_gone(scene: Scene) -> None:
    """Full astern at full speed, and 60 ms later nobody is there."""
    scene.driver.speed_mm_s = -1000
    scene.after(60, lambda: cable_pulled(scene))


# --- arming


def gone_after_asking(scene: Scene) -> None:
    """Between the two steps of arming."""
    starts.ask(scene, codes.ACTION_ARM)
    cable_pulled(scene)


def gone_with_binding(scene: Scene) -> None:
    """The frame that binds it is the last; who comes back holds the deadman and asks for speed."""
    scene.run(1500)
    scene.driver.bind()
    cable_pulled(scene)
    scene.driver.deadman, scene.driver.speed_mm_s = codes.HELD, 300


def gone_while_clearing(scene: Scene) -> None:
    """Between the two steps of a clear."""
    starts.ask(scene, codes.ACTION_CLEAR)
    cable_pulled(scene)


def gone_with_clearing(scene: Scene) -> None:
    """The frame that clears is the last; who comes back holds the deadman and asks for speed."""
    starts.ask(scene, codes.ACTION_CLEAR)
    starts.confirm(scene, codes.ACTION_CLEAR)
    cable_pulled(scene)
    scene.driver.deadman, scene.driver.speed_mm_s = codes.HELD, 300


def gone_with_arming(scene: Scene) -> None:
    """The frame that arms is the last to arrive."""
    arm(scene)
    cable_pulled(scene)


def gone_when_moving_off(scene: Scene) -> None:
    """Hands on, neutral, go: and the first claim with a speed is the last to arrive."""
    scene.driver.deadman = codes.HELD
    scene.run(20)
    scene.driver.speed_mm_s = 300
    scene.driver.claim()
    cable_pulled(scene)


def runstop_open_at_boot(scene: Scene) -> None:
    """And somebody tries to arm all the same."""
    scene.world.runstop_closed = False
    try_to_drive(scene)


def armed_for_another_car(scene: Scene) -> None:
    """The arm carries the hash of another car's configuration."""
    scene.driver.latest["Identity"].config_hash = bytearray(4)
    hold_and_go(scene)


def try_to_drive(scene: Scene) -> None:
    """From power-up on, as anybody would."""
    scene.run(1500)
    scene.driver.bind()
    scene.run(300)
    scene.driver.claims = True
    hold_and_go(scene)


def arm(scene: Scene) -> None:
    """Both steps, if it answers the first."""
    if starts.ask(scene, codes.ACTION_ARM):
        starts.confirm(scene, codes.ACTION_ARM)


def hold_and_go(scene: Scene) -> None:
    """Arm it, hold the deadman, ask for a walk."""
    arm(scene)
    scene.run(100)
    scene.driver.deadman = codes.HELD
    scene.run(50)
    scene.driver.speed_mm_s = 300
    scene.run(300)


def odd_pace(scene: Scene) -> None:
    """Time comes in uneven pieces, as a paced or a busy machine gives it."""
    cuts = sorted(scene.random.sample(range(1, 1000), 5))
    scene.pieces_us = [*cuts, 1000]


# --- others on the line


def stopped(scene: Scene) -> None:
    """The driver's own host says Stop."""
    scene.driver.stop()


def stranger_stops(scene: Scene) -> None:
    """Somebody without a session says Stop."""
    scene.stranger().stop()


def stop_and_clear(scene: Scene) -> None:
    """In one step: which comes first is drawn."""
    driver = scene.driver
    said: list[Callable[[], object]] = [driver.stop, lambda: driver.ask(codes.ACTION_CLEAR)]
    scene.random.shuffle(said)
    for say in said:
        say()


def stranger_claims(scene: Scene) -> None:
    """Another car's session claims this one, at its own speed."""
    stranger = scene.stranger()
    stranger.claims, stranger.deadman, stranger.speed_mm_s = True, codes.HELD, -300


def second_writer(scene: Scene) -> None:
    """A second program binds a session and claims with the driver's own source."""
    stranger_claims(scene)
    scene.others[0].bind()


def gone_while_stranger_claims(scene: Scene) -> None:
    """The driver falls silent, a foreign session does not."""
    stranger_claims(scene)
    scene.driver.line = lines.dead()


def gone_while_tool_watches(scene: Scene) -> None:
    """The driver falls silent; a tool goes on with all that keeps a line busy, and no deadman."""
    sources = scene.vehicle.parameters["source_mask"]
    other = next(i for i, mask in enumerate(sources) if mask and i != scene.driver.source)
    tool = scene.stranger(other)
    tool.bind()
    tool.claims = True
    scene.every(20, 50, lambda: tool.say(messages.Identify, token=2))
    scene.driver.line = lines.dead()


def session_replayed(scene: Scene) -> None:
    """The driver falls silent, and all that it ever said comes again, a frame a millisecond."""
    recorded = iter(list(scene.driver.said))
    scene.driver.line = lines.dead()
    scene.every(1, len(scene.driver.said), lambda: scene.world.feed(next(recorded)))


def nobody_reads(scene: Scene) -> None:
    """What the car says is not taken: its link is full for good."""
    scene.world.link_room = 0
    scene.after(1900, lambda: setattr(scene.world, "link_room", 1024))


def flooded(scene: Scene) -> None:
    """A babbler fills the line for 200 ms, faster than a board can take."""
    scene.every(1, 200, lambda: scene.world.feed(scene.random.randbytes(_FLOOD)))
