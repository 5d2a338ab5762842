"""One run of one case, from power-up to standstill, with its verdict."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from firmware.protocol import codes
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.bounds.case_limit import has_coasted, limit_of
from sim_mock.faults.bounds.expectations import (
    DRIVES,
    EXPECTATIONS,
    LIMPS,
    NEVER_MOVES,
    STOPS,
    Expectation,
)
from sim_mock.faults.bounds.limits import G_MPS2, StopLimit, plant_parameters
from sim_mock.faults.bounds.stops import begun_at
from sim_mock.faults.cases.case import FaultCase
from sim_mock.faults.cases.catalogue import case_of
from sim_mock.faults.cases.starts import RACING, NotReady
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.faulty_runner import IN_PROCESS, runner_factory
from sim_mock.faults.trial.host import reported_cause
from sim_mock.faults.trial.target import TICK_US
from sim_mock.faults.trial.vehicles import with_parameters
from sim_mock.faults.trial.wire import clean
from sim_mock.faults.trial.words import cause_word, fault_words, state_word

_DRAWN_MS = 200  # four times the host's longest period, so that any phase comes
_DRIVES_ON_MS = 2000  # longer than any lease or silence limit: it was not on the way to a stop
_STOPS_WITHIN_MS = 60_000  # a car that rolls in neutral stands long before
_STARTS_WITHIN_MS = 5_000  # neutral after power-up for up to 2 s, and a margin
_LOOKS_MS = 500  # anything that has to fall silent first has done so by then
_SLOWER = 0.9  # least share of its speed at which a car counts as driving on
_LIMPS_WITHIN_MS = 5000  # brakes to the limit from any speed of these cars
_STILL_M = 0.002  # an axle's play
_GRAIN_S = TICK_US * 1e-6  # resolution of the times measured here


@dataclass(frozen=True)
class CaseResult:
    """The result of one run.

    ``limit`` is None where nothing has to stop; ``wrong`` is empty if all conditions held.
    """

    case: str
    vehicle: str
    seed: int
    speed_mps: float
    cause: str
    reaction_s: float
    stop_s: float
    distance_m: float
    limit: StopLimit | None
    wrong: tuple[str, ...]
    friction_s: float = 0.0  # the least that mu g on all wheels would allow: v / mu g
    friction_m: float = 0.0  # the same of the distance: v^2 / 2 mu g
    slid_s: float = 0.0  # the time for which wheels were locked, or spun
    asked_mps: float = 0.0  # the speed at which it was to be driven
    fastest_mps: float = 0.0  # from the fault on
    coasts: bool = False  # friction alone slowed it over most of its distance

    @property
    def held(self) -> bool:
        return not self.wrong


def run(
    case_id: str,
    vehicle: VehicleSpec,
    seed: int,
    runtime: str = IN_PROCESS,
    speed_mps: float = 0.0,
) -> CaseResult:
    """Run one case; ``speed_mps`` replaces its speed, as the table of stops does.

    Raises LookupError for an unknown case or a runtime that is not here.
    """
    case = begun_at(case_id, vehicle, speed_mps) if speed_mps else case_of(case_id)
    return run_case(case, vehicle, seed, runtime)


def run_case(
    case: FaultCase, vehicle: VehicleSpec, seed: int, runtime: str = IN_PROCESS
) -> CaseResult:
    """Run one case, which need not be in the catalogue.

    Raises LookupError for a runtime that is not here.
    """
    random = Random(f"{case.id} {vehicle.name} {seed}")
    factory = runner_factory(runtime, case.program)
    car = with_parameters(vehicle, case.changes)
    is_paired = case.start in RACING
    trial = FaultTrial(car, factory, random, case.start_us, case.ahead_us, is_paired)
    try:
        return _CaseRun(case, trial, seed).run()
    finally:
        trial.close()


class _CaseRun:
    """The phases of one run, in their order."""

    def __init__(self, case: FaultCase, trial: FaultTrial, seed: int) -> None:
        self.case = case
        self.trial = trial
        self.seed = seed
        self.expected: Expectation = EXPECTATIONS[case.expects]
        self.speed_mps = 0.0

    def run(self) -> CaseResult:
        try:
            self.case.start(self.trial, self.case.speed_on(self.trial.vehicle))
        except NotReady as fault:
            return self._result(None, [f"never began: {fault}"])
        self.trial.wait(self._drawn_ms())
        motion = self.trial.motion
        motion.begin()
        self.speed_mps = motion.fastest_mps
        self.case.inject(self.trial)
        wrong = list(_ENDINGS[self.expected.does](self))
        return self._result(limit_of(self.case, self.expected, self.trial), wrong)

    def _drawn_ms(self) -> int:
        near_wrap = self.case.start_us or self.case.ahead_us
        return 50 if near_wrap else _DRAWN_MS  # ms: near the wrap nothing else may move it

    def drives(self) -> Iterator[str]:
        """Yield what is wrong, for a car that has to drive on unaffected."""
        motion = self.trial.motion
        self.trial.run(_DRIVES_ON_MS)
        if motion.slowest_mps < self.speed_mps * _SLOWER:
            yield f"slowed from {self.speed_mps:.2f} to {motion.slowest_mps:.2f} m/s"
        self.cured()
        self.trial.run(100)
        yield from self.reported()

    def limps(self) -> Iterator[str]:
        """Yield what is wrong, for a car that has to go on at the speed of a low battery."""
        self.trial.run(_LIMPS_WITHIN_MS)
        limp_mps = self.trial.vehicle.parameters["limp_mm_s"][0] * 1e-3
        speed_mps = self.trial.world.plant.truth.vx_mps
        if not _SLOWER * limp_mps < speed_mps < limp_mps / _SLOWER:
            yield f"drives at {speed_mps:.2f} m/s instead of {limp_mps:.2f}"
        yield from self.reported()

    def never_moves(self) -> Iterator[str]:
        """Yield what is wrong, for a car that must neither move nor drive its outputs."""
        motion = self.trial.motion
        self.trial.run(_LOOKS_MS)
        if motion.distance_m > _STILL_M or motion.reaction_s:
            yield f"moved {motion.distance_m:.3f} m"
        self.cured()
        self.trial.run(100)
        yield from self.reported()

    def stops(self) -> Iterator[str]:
        """Yield what is wrong, for a car that has to stop within its limits and stay stopped.

        It must not roll the other way.
        """
        trial = self.trial
        most = limit_of(self.case, self.expected, self.trial)
        assert most is not None
        trial.run(max(_LOOKS_MS, round(most.reaction_s * 1000) + 100))
        if not trial.until(trial.motion.rests, _STOPS_WITHIN_MS):
            yield "never stood still"
        yield from self._over()
        timeout_ms = trial.vehicle.parameters["stop_timeout_ms"][0]  # where no speed is trusted
        # ms: some statuses more
        trial.until(lambda: trial.driver.state != codes.STOPPING, timeout_ms + 500)
        before_m = trial.motion.distance_m
        reaction = trial.motion.drove_us, trial.motion.moved_us
        self.comes_back()
        if trial.motion.distance_m - before_m > _STILL_M or trial.motion.drove_us != reaction[0]:
            yield "drove again although nobody cleared and armed it"
        trial.motion.drove_us, trial.motion.moved_us = reaction
        trial.motion.distance_m = before_m
        yield from self.reported()

    def _over(self) -> Iterator[str]:
        motion, most = self.trial.motion, limit_of(self.case, self.expected, self.trial)
        assert most is not None
        standstill_mps = self.trial.vehicle.parameters["standstill_mm_s"][0] * 1e-3
        if motion.slowest_mps < -standstill_mps and not self.case.rolls_back:
            yield f"rolled backward at {-motion.slowest_mps:.2f} m/s"
        if motion.reaction_s > most.reaction_s + _GRAIN_S / 2:
            yield f"drove for {motion.reaction_s:.3f} s, limit {most.reaction_s:.3f} s"
        if motion.stop_s > most.stop_s + _GRAIN_S:
            yield f"stood after {motion.stop_s:.3f} s, limit {most.stop_s:.3f} s"
        if motion.distance_m > most.distance_m + _STILL_M:
            yield f"took {motion.distance_m:.3f} m, limit {most.distance_m:.3f} m"

    def cured(self) -> None:
        """Remove all faults: what is latched now has to stay so by itself."""
        driver, world, plant = self.trial.driver, self.trial.world, self.trial.world.plant
        driver.line, driver.runs, driver.hears, driver.claims = clean, True, True, True
        driver.input_is_live, driver.stamp_ahead_us, driver.steer_urad = True, 0, 0
        # degrees: a room
        world.charger, world.runstop_closed, world.temperature_c = False, True, 25
        world.dead_encoders.clear()
        world.restore_power()
        world.hardware.stuck.clear()
        world.hardware.contact_stuck = None
        world.hardware.circuit.is_delay_open = world.hardware.circuit.is_delay_shorted = False
        plant.stuck_throttle, plant.is_drive_inverted, plant.is_drive_dead = None, False, False
        plant.is_steering_stuck, plant.pushed_n = False, 0.0
        self.trial.pins.stuck.clear()
        if self.trial.box:
            self.trial.box.line, self.trial.box.runs, self.trial.box.runs_on = clean, True, True

    def comes_back(self) -> None:
        """Remove the fault; the driver lets go, holds again from neutral and asks for speed.

        After a mere release of the deadman that is how one drives on; then nothing is asked for.
        """
        driver, rc = self.trial.driver, self.trial.transmitter
        self.cured()
        if self.expected.state == codes.HOLD:
            self.trial.run(_LOOKS_MS)
            return
        # a walk, in mm/s, for a case that stood
        asked, driver.speed_mm_s, driver.deadman = abs(driver.speed_mm_s) or 300, 0, 0
        was_held = rc is not None and rc.live_man
        if rc:
            rc.is_on, rc.mode, rc.live_man = True, "manual", False
        self.trial.run(200)  # ms: released so long that the source may begin anew
        driver.deadman = codes.HELD
        if rc:
            rc.live_man = was_held
        self.trial.run(100)
        driver.speed_mm_s = asked
        self.trial.run(_LOOKS_MS)

    def reported(self) -> Iterator[str]:
        """Yield what is wrong with the car's own report of its state and cause.

        A car that restarts is given time to do so.
        """
        driver = self.trial.driver
        self.trial.until(lambda: driver.state != codes.STARTING, _STARTS_WITHIN_MS)
        status = self.trial.driver.latest.get("Status")
        if status is None:
            yield "said nothing"
            return
        expected = self.expected
        if status.state != expected.state:
            yield f"is in {state_word(status.state)} instead of {state_word(expected.state)}"
        if status.first_cause != expected.cause:
            told, meant = cause_word(status.first_cause), cause_word(expected.cause)
            yield f"names {told} as its cause instead of {meant}"
        wanted = 0 if expected.fault is None else 1 << expected.fault
        if status.faults & ~expected.also != wanted:
            yield f"reports {fault_words(status.faults)} instead of {fault_words(wanted)}"

    def _result(self, most: StopLimit | None, wrong: list[str]) -> CaseResult:
        motion = self.trial.motion
        stops = most is not None
        grip_mps2 = G_MPS2 * plant_parameters(self.trial.vehicle).mu
        return CaseResult(
            case=self.case.id,
            vehicle=self.trial.vehicle.name,
            seed=self.seed,
            speed_mps=round(self.speed_mps, 4),
            cause=reported_cause(self.trial.driver),
            reaction_s=round(motion.reaction_s, 6) if stops else 0.0,
            stop_s=round(motion.stop_s, 6) if stops else 0.0,
            distance_m=round(motion.distance_m, 4) if stops else 0.0,
            limit=most,
            wrong=tuple(wrong),
            friction_s=round(self.speed_mps / grip_mps2, 6),
            friction_m=round(self.speed_mps**2 / (2.0 * grip_mps2), 6),
            slid_s=round(motion.slid_us * 1e-6, 6) if stops else 0.0,
            fastest_mps=round(motion.fastest_mps, 4),
            asked_mps=round(self.case.speed_on(self.trial.vehicle), 4),
            coasts=stops and has_coasted(self.trial),
        )


_ENDINGS = {
    STOPS: _CaseRun.stops,
    DRIVES: _CaseRun.drives,
    LIMPS: _CaseRun.limps,
    NEVER_MOVES: _CaseRun.never_moves,
}
