"""The limits that one run of a case has to keep, and whether its car was braked at all."""

from __future__ import annotations

from firmware.core.settings.params import POLICY_BRAKE, POLICY_CUT, POLICY_NEUTRAL
from firmware.protocol import codes
from sim_mock.faults.bounds.expectations import STOPS, Expectation
from sim_mock.faults.bounds.limits import Decelerations, StopLimit, limit
from sim_mock.faults.cases.case import FaultCase
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.vehicles import brakes_by_motor, has_brake

_ROLLED = 0.5  # a car that goes farther than this share of its roll-out was hardly braked


def limit_of(case: FaultCase, expected: Expectation, trial: FaultTrial) -> StopLimit | None:
    """Return the limits of this run by the speed that it had; None if nothing has to stop."""
    if expected.does != STOPS:
        return None
    motion, vehicle, braked_s = trial.motion, trial.vehicle, 0.0
    fastest_mps = max(motion.fastest_mps, -motion.slowest_mps)
    if expected.cause == codes.CAUSE_RUNSTOP_LOOP:
        braked_s = vehicle.parameters["loop_brake_ms"][0] * 1e-3
    brakes = _brakes(case, expected, trial)
    return limit(vehicle, case.wait, case.extra_ms, brakes, fastest_mps, braked_s)


def _brakes(case: FaultCase, expected: Expectation, trial: FaultTrial) -> bool:
    """Return whether the car brakes, by its policy for the cause or fault, and by its brakes.

    A board that restarts has no policy. A cut of power disables the motor's brake, but no other.
    """
    vehicle = trial.vehicle
    if case.coasts or expected.state == codes.STANDBY:
        return False
    policy = POLICY_BRAKE  # into HOLD
    in_doubt = False
    if expected.fault is not None:
        policy = vehicle.parameters["fault_policy"][expected.fault]
        in_doubt = bool(codes.SPEED_IN_DOUBT >> expected.fault & 1)
    elif expected.cause == codes.CAUSE_RUNSTOP_LOOP:  # whatever the file's policies say
        policy = POLICY_BRAKE if vehicle.parameters["loop_brake_ms"][0] else POLICY_CUT
    elif expected.cause != codes.NO_CAUSE:
        policy = vehicle.parameters["stop_policy"][expected.cause]
    by_motor = brakes_by_motor(vehicle) and not in_doubt
    if has_brake(vehicle):  # it acts on the front wheels, which do not turn on a stand
        return policy != POLICY_NEUTRAL and not trial.world.plant.is_on_stand
    return policy == POLICY_BRAKE and by_motor


def has_coasted(trial: FaultTrial) -> bool:
    """Return whether the car was hardly braked, judged by its distance, not by expectation."""
    motion = trial.motion
    fastest_mps = max(motion.fastest_mps, -motion.slowest_mps)
    _, rolls_m = Decelerations.of(trial.vehicle).coasted(fastest_mps)
    return motion.distance_m - fastest_mps * motion.reaction_s > _ROLLED * rolls_m
