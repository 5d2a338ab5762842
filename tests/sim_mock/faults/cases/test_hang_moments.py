"""A hang, dead interrupts and a reset at the worst moments: nothing turns the wheels backward.

Seen from outside, by pins and plant: from the blow on no wheel turns farther backward than it did,
nothing drives after a tenth of a second, and what brakes without a program does so soon.
"""

from collections.abc import Callable
from random import Random

import pytest

from firmware.protocol import codes
from host_bridge.config import load_vehicle
from sim_mock.faults.cases import starts
from sim_mock.faults.cases.off_delay import OFF_DELAY
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.faulty_runner import IN_PROCESS, runner_factory
from sim_mock.faults.trial.vehicles import motors_of, with_parameters
from tests.support.evidence import some

VEHICLES = ("f1tenth", "f1tenth_vesc", "autorally", "nigel")  # each way of driving
FOREVER_US = 60_000_000
DRIVES_MS = 100
LOOKS_MS = 1_500  # the watchdog, the start-up, and a second of standing by
BACK_MPS = 0.02  # an axle's play


class Observer:
    """From here on: how far back the wheels turned, and when an output last drove."""

    def __init__(self, trial: FaultTrial) -> None:
        self.world, neutrals = trial.world, trial.vehicle.parameters["channel_neutral"]
        self.motors = [(i, neutrals[i]) for i in motors_of(trial.vehicle)]
        self.begun_us = self.drove_us = self.world.now_us
        plant = self.world.plant
        self.slowest_mps = plant.wheel_speed_mps
        self.begun_mps = min(
            plant.wheel_speed_mps, plant.truth.vx_mps
        )  # wheels that slip turn less
        self.speeds_mps: list[float] = []  # of the car, by the millisecond
        self.world.observers.append(self.look)

    def look(self, _world: object) -> None:
        world = self.world
        self.speeds_mps.append(world.plant.truth.vx_mps)
        self.slowest_mps = min(self.slowest_mps, world.plant.wheel_speed_mps)
        if world.enable and any(world.values[i] != rest for i, rest in self.motors):
            self.drove_us = world.now_us

    def wrong(self) -> list[str]:
        """What must not be."""
        found = []
        if self.slowest_mps < min(self.begun_mps, 0.0) - BACK_MPS:
            found.append(f"turned backward at {self.slowest_mps:.3f} m/s")
        if self.drove_us - self.begun_us > DRIVES_MS * 1_000:
            found.append(f"drove for {(self.drove_us - self.begun_us) // 1000} ms")
        return found


def fast_mps(trial: FaultTrial) -> float:
    return min(2.0, 0.9e-3 * trial.vehicle.parameters["speed_max_mm_s"][0])


def standing_by(trial: FaultTrial) -> None:
    starts.standing_by(trial)


def holding(trial: FaultTrial) -> None:
    starts.armed(trial)


def driving(trial: FaultTrial) -> None:
    starts.driving(trial, fast_mps(trial))


def reversing(trial: FaultTrial) -> None:
    """As fast as it may; a vehicle that may not stands."""
    starts.armed(trial)
    trial.driver.deadman = codes.HELD
    trial.run(50)
    trial.driver.speed_mm_s = -trial.vehicle.parameters["reverse_max_mm_s"][0]
    trial.run(2_500)


def braking(trial: FaultTrial) -> None:
    driving(trial)
    trial.driver.stop()
    trial.run(80)


def braking_in_reverse(trial: FaultTrial) -> None:
    reversing(trial)
    trial.driver.stop()
    trial.run(60)


def before_standstill(trial: FaultTrial) -> None:
    """A braked stop, a millisecond or less before the wheels stand."""
    braking(trial)
    assert trial.until(lambda: trial.world.plant.wheel_speed_mps < 0.01, 20_000)


def at_standstill(trial: FaultTrial) -> None:
    """They have just stood: the last pulse that was written may still brake."""
    braking(trial)
    assert trial.until(lambda: abs(trial.world.plant.wheel_speed_mps) < 0.001, 20_000)
    trial.run(5)


def sign_flipped(trial: FaultTrial) -> None:
    """It brakes, and for 30 ms its encoders say that it goes backward."""
    braking(trial)
    counts_mps = 1e9 / trial.vehicle.parameters["nm_per_count"][0]
    begun, per_ms = trial.world.plant.counts()[0], counts_mps * 1e-3
    for ms in range(30):
        value = begun - round(ms * per_ms) & (1 << 30) - 1
        trial.pins.stuck.update(count_left=value, count_right=value)
        trial.run(1)


def encoders_dead(trial: FaultTrial) -> None:
    """It brakes, and its encoders have stood for 30 ms."""
    braking(trial)
    trial.world.dead_encoders = {"left", "right"}
    trial.run(30)


def loop_open(trial: FaultTrial) -> None:
    """Its loop opened 30 ms ago; with an off-delay it is being braked."""
    driving(trial)
    trial.world.runstop_closed = False
    trial.run(30)


MOMENTS = (
    standing_by, holding, driving, reversing, braking, braking_in_reverse, before_standstill,
    at_standstill, sign_flipped, encoders_dead, loop_open,
)  # fmt: skip


def hangs(trial: FaultTrial) -> None:
    trial.world.hang(FOREVER_US)


def interrupts_off(trial: FaultTrial) -> None:
    trial.world.hang(FOREVER_US, interrupts_too=True)


def resets(trial: FaultTrial) -> None:
    trial.world.restart(codes.RESET_WATCHDOG)


BLOWS = (hangs, interrupts_off, resets)


def struck(
    name: str,
    moment: Callable[[FaultTrial], None],
    blow: Callable[[FaultTrial], object],
    seed: int = 0,
) -> Observer:
    """The vehicle, brought to that moment and struck; watched for long enough."""
    vehicle = load_vehicle(name)
    if moment is loop_open and name == "f1tenth":
        vehicle = with_parameters(vehicle, OFF_DELAY)
    trial = FaultTrial(vehicle, runner_factory(IN_PROCESS, None), Random(f"{name} {seed}"))
    try:
        moment(trial)
        trial.run(seed)
        observer = Observer(trial)
        blow(trial)
        trial.run(LOOKS_MS)
        return observer
    finally:
        trial.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("blow", BLOWS)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", VEHICLES)
def test_at_no_moment_the_wheels_turn_backward_under_power(name, moment, blow):
    assert struck(name, moment, blow).wrong() == []


@pytest.mark.parametrize("phase_ms", range(1, 10, 2))
@pytest.mark.parametrize("blow", BLOWS)
def test_the_moment_before_standstill_whatever_the_phase_of_the_beat(blow, phase_ms):
    assert struck("f1tenth", before_standstill, blow, phase_ms).wrong() == []


def test_a_pulse_that_stays_at_reverse_is_seen():
    """What it is judged by objects to a drive that keeps its power and its pulse."""

    def keeps(trial: FaultTrial) -> None:
        hangs(trial)
        hardware, channel = trial.world.hardware, motors_of(trial.vehicle)[0]
        hardware.contact_stuck = True
        hardware.stuck[channel] = trial.vehicle.parameters["channel_low"][channel]

    found = struck("f1tenth", holding, keeps).wrong()
    assert [word.split()[0] for word in some(found)] == ["turned", "drove"]


BRAKES_WITHIN_MS = 1_200
BRAKED_MPS2 = 2.0  # rolling out is 0.1 to 0.6


@pytest.mark.parametrize("name", ["autorally", "f1tenth_vesc"])
def test_a_reset_while_it_rolls_brakes_soon_where_the_drive_can(name):
    speeds = struck(name, driving, resets).speeds_mps
    slowed = [
        ms for ms in range(100, len(speeds)) if speeds[ms - 100] - speeds[ms] > 0.1 * BRAKED_MPS2
    ]
    assert speeds[0] > 1.5
    assert some(slowed)[0] <= BRAKES_WITHIN_MS
    assert min(speeds) > -BACK_MPS


def test_a_plain_esc_rolls_out_after_a_reset_as_its_page_says():
    speeds = struck("f1tenth", driving, resets).speeds_mps
    assert speeds[-1] > speeds[0] - 1.0  # 0.55 m/s^2 for 1.5 s
