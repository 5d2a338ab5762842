"""Faults around the runstop loop of a car whose circuit has an off-delay.

Such a car brakes first and is cut afterwards (hardware/stopping.md). Each injection opens its
loop and does something else to it.
"""

from collections.abc import Callable

from sim_mock.faults.cases.breakages import turned_by_hand
from sim_mock.faults.cases.injections import TrialInjection
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.target import TICK_US
from sim_mock.world import World

OFF_DELAY = {"loop_brake_ms": 600}  # the parameter of a car that brakes before it is cut
_HANGS_US = 300 * TICK_US
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
    """Return an injection: the program hangs ``ms`` after the loop has opened."""

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
    while at_ms < 1_500:
        at_ms += trial.random.randrange(2, 40)
        is_closed = not is_closed
        trial.after(at_ms, lambda closed=is_closed: _turn(trial, closed))  # type: ignore[misc]
    trial.after(at_ms + 1, lambda: _turn(trial, False))


def opens_under_hands(trial: FaultTrial) -> None:
    """Open the loop of a car that holds while its wheels are turned by hand."""
    trial.after(1_100, lambda: _turn(trial, False))
    turned_by_hand(0.9)(trial)
    trial.run(200)


def late(trial: FaultTrial) -> None:
    """Open the loop while each step takes two and a half periods, which is no overrun yet."""
    trial.pins.stuck["step_us"] = trial.vehicle.parameters["step_us"][0] * 5 // 2
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
