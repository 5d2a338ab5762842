"""Faults around the runstop loop of a car whose circuit has an off-delay.

Such a car brakes first and is cut afterwards (hardware/stopping.md). Each injection opens its
loop and does something else to it.
"""

from collections.abc import Callable

from sim_mock.faults.cases import starts
from sim_mock.faults.cases.breakages import turned_by_hand
from sim_mock.faults.cases.case import FaultCase
from sim_mock.faults.cases.injections import TrialInjection
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.target import TICK_US
from sim_mock.world import World

OFF_DELAY = {"loop_brake_ms": 600}  # the parameter of a car that brakes before it is cut
_HANGS_US = 300 * TICK_US  # 300 ms: the guard comes long before its end, the watchdog after it
_Change = Callable[[World], object]


def _turn(trial: FaultTrial, is_closed: bool) -> None:
    trial.world.runstop_closed = is_closed


def opens_with(change: _Change) -> TrialInjection:
    """Return an injection that opens the loop and changes the world at the same moment."""

    def inject(trial: FaultTrial) -> None:
        change(trial.world)
        _turn(trial, False)

    return inject


def opens(trial: FaultTrial) -> None:
    """Open the loop, nothing else."""
    _turn(trial, False)


def opens_then_hangs(ms: int, change: _Change = lambda _world: None) -> TrialInjection:
    """Return an injection that opens the loop with ``change`` to the world.

    ``ms`` later the program hangs, for the length of all hangs here.
    """

    def inject(trial: FaultTrial) -> None:
        opens_with(change)(trial)
        trial.after(ms, lambda: trial.world.hang(_HANGS_US))

    return inject


def hangs_then_opens(ms: int) -> TrialInjection:
    """Return an injection: the loop opens ``ms`` after the program has hung."""

    def inject(trial: FaultTrial) -> None:
        trial.world.hang(_HANGS_US)
        trial.after(ms, lambda: _turn(trial, False))

    return inject


def bounces(trial: FaultTrial) -> None:
    """Open and close the loop at random for 1.5 s, as a loose wire does, then leave it open."""
    _turn(trial, False)
    at_ms, is_closed = 0, False
    while at_ms < 1_500:  # ms: one and a half seconds
        at_ms += trial.random.randrange(2, 40)  # a contact bounces for so long
        is_closed = not is_closed
        trial.after(at_ms, lambda closed=is_closed: _turn(trial, closed))  # type: ignore[misc]
    trial.after(at_ms + 1, lambda: _turn(trial, False))


def opens_under_hands(trial: FaultTrial) -> None:
    """Open the loop of a car that holds while its wheels are turned by hand."""
    # ms: the wheels have stood for 1 s, and are turned since a tenth
    trial.after(1_100, lambda: _turn(trial, False))
    turned_by_hand(0.9)(trial)
    trial.run(200)


def late(trial: FaultTrial) -> None:
    """Open the loop while each step takes two and a half periods, which is no overrun yet."""
    trial.pins.stuck["step_us"] = trial.vehicle.parameters["step_us"][0] * 5 // 2  # two and a half
    _turn(trial, False)


def brake_does_nothing(world: World) -> None:
    """Disable the ESC: it ignores all pulses, and the car coasts."""
    world.plant.is_drive_dead = True


def encoders_stop(world: World) -> None:
    """Freeze the counts of both encoders."""
    world.dead_encoders = {"left", "right"}


def delay_is_open(world: World) -> None:
    """Remove the delay's capacitor: relay K1 opens with the loop."""
    world.hardware.circuit.is_delay_open = True


def delay_is_shorted(world: World) -> None:
    """Weld the transistor Q3: relay K1 does not open with the loop."""
    world.hardware.circuit.is_delay_shorted = True


def delay_is_doubled(world: World) -> None:
    """Double the delay, as a capacitor of twice the size would."""
    world.hardware.circuit.off_delay_us *= 2


def _delayed(
    case_id: str,
    title: str,
    injection: TrialInjection,
    extra_ms: int = 0,
    coasts: bool = False,
    start: Callable[[FaultTrial, float], None] = starts.driving,
) -> FaultCase:
    """Return a case of a car that brakes first and is cut afterwards."""
    return FaultCase(case_id, f"off-delay: {title}", "stop category 1", "runstop loop", injection,
                "step", extra_ms, start, coasts=coasts, needs="off-delay",
                changes=OFF_DELAY)  # fmt: skip


OFF_DELAY_CASES = (
    # --- braked first, then cut: a runstop circuit with an off-delay
    _delayed("delayed-opens", "the loop opens", opens),
    _delayed("delayed-no-brake", "and the brake does nothing",
             opens_with(brake_does_nothing), 100, coasts=True),
    _delayed("delayed-then-hangs", "and the program hangs 40 ms later",
             opens_then_hangs(40), 90, coasts=True),
    _delayed("delayed-hangs-first", "20 ms after the program hung",
             hangs_then_opens(20), 40, coasts=True),
    _delayed("delayed-hung-before", "60 ms after the program hung",
             hangs_then_opens(60), 40, coasts=True),
    _delayed("delayed-bounces", "and closes and opens again, and again", bounces),
    _delayed("delayed-encoders-dead", "and the encoders stand",
             opens_with(encoders_stop), coasts=True),
    _delayed("delayed-late", "while its steps take two and a half beats", late, 20,
             coasts=True),
    _delayed("delay-open", "and the delay's capacitor is lost",
             opens_with(delay_is_open), coasts=True),
    _delayed("delay-shorted", "and the delay's transistor is welded",
             opens_with(delay_is_shorted)),
    _delayed("delay-doubled", "and the delay lasts twice as long",
             opens_with(delay_is_doubled)),
    _delayed("delay-shorted-hangs", "and it is welded, and the program hangs",
             opens_then_hangs(40, delay_is_shorted), 90, coasts=True),
    _delayed("delayed-on-stand", "on a stand", opens, coasts=True,
             start=starts.on_stand),
    _delayed("delayed-under-hands", "while hands turn the wheels of a car that holds",
             opens_under_hands, 1100, coasts=True, start=starts.armed),
)  # fmt: skip
