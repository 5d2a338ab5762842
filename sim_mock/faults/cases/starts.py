"""The start conditions of cases; each is reached by messages that any host could send."""

from collections.abc import Callable

from firmware.protocol import codes
from sim_mock.faults.trial.fault_trial import FaultTrial
from sim_mock.faults.trial.target import TICK_US
from sim_mock.faults.trial.vehicles import needs_rc_to_race
from sim_mock.faults.trial.words import state_word

WRAP_US = 1 << 30  # where the board's and the session's clock wrap
_BEAT_MS = 10  # the usual control period


class NotReady(Exception):
    """The car did not reach the start condition: the run says nothing about the fault."""


def off(_trial: FaultTrial, _speed_mps: float) -> None:
    """Start before the first step of the program."""


def standing_by(trial: FaultTrial, _speed_mps: float = 0.0) -> None:
    """Start in STANDBY: bound, clocks synchronised, a driver claims without a deadman."""
    trial.run(_BEAT_MS)
    # ms: neutral after power-up for up to 2 s, as the vehicle files have it
    _wait_for(trial, codes.STANDBY, 3000)
    trial.driver.bind()
    trial.run(300)  # ms: six answers to statuses, by which the clock gets good enough to arm
    trial.driver.claims = True
    trial.run(100)


def ask(trial: FaultTrial, action: int) -> bool:
    """Send the first step of an action; return whether the car answered with a nonce."""
    trial.driver.ask(action)
    trial.until(lambda: "ActReply" in trial.driver.latest, 100)
    reply = trial.driver.latest.get("ActReply")
    return reply is not None and reply.nonce != 0


def confirm(trial: FaultTrial, action: int) -> None:
    """Send the second step of an action."""
    trial.driver.ask(action, trial.driver.latest["ActReply"].nonce)


def armed(trial: FaultTrial, _speed_mps: float = 0.0) -> None:
    """Start in HOLD, without a deadman."""
    standing_by(trial)
    _arm(trial)


def _arm(trial: FaultTrial) -> None:
    if not ask(trial, codes.ACTION_ARM):
        raise NotReady("the car refused to be armed")
    confirm(trial, codes.ACTION_ARM)
    _wait_for(trial, codes.HOLD, 100)
    trial.run(50)  # ms: some claims, so that the source has begun in neutral


def stopped(trial: FaultTrial, _speed_mps: float = 0.0) -> None:
    """Start in STOPPED after a Stop, standing, without a deadman."""
    armed(trial)
    trial.driver.stop()
    _wait_for(trial, codes.STOPPED, 5000)  # ms: from any speed of these cars it stands by then


def accelerating(trial: FaultTrial, speed_mps: float) -> None:
    """Start while accelerating, at about half the speed asked for."""
    armed(trial)
    _set_out(trial, speed_mps)


def _set_out(trial: FaultTrial, speed_mps: float) -> None:
    trial.driver.deadman = codes.HELD
    _wait_for(trial, codes.ACTIVE, 100)
    trial.driver.speed_mm_s = round(speed_mps * 1000)
    _wait_for_speed(trial, speed_mps / 2)


def driving(trial: FaultTrial, speed_mps: float) -> None:
    """Start at a steady speed."""
    accelerating(trial, speed_mps)
    trial.run(1500)  # ms: the drive's ramp and its overshoot are over


def on_stand(trial: FaultTrial, _speed_mps: float) -> None:
    """Start on a stand: the wheels are off the ground and turn at the cap."""
    trial.world.plant.is_on_stand = True
    trial.driver.profile = codes.PROFILE_STAND
    armed(trial)
    trial.driver.deadman = codes.HELD
    _wait_for(trial, codes.ACTIVE, 100)
    cap_mm_s = trial.vehicle.parameters["profile_cap_mm_s"][codes.PROFILE_STAND]
    trial.driver.speed_mm_s = cap_mm_s
    trial.run(1500)  # ms: the wheels turn steadily


def by_rc(trial: FaultTrial, speed_mps: float) -> None:
    """Start at a steady speed by the transmitter, which armed the car by its gesture."""
    rc = trial.attach_rc()
    trial.run(_BEAT_MS)
    _wait_for(trial, codes.STANDBY, 3000)  # ms, as for the other starts
    trial.driver.bind()
    trial.run(1200)  # the live-man switch is released, the sticks are neutral
    rc.live_man = True
    _drive_by_rc(trial, speed_mps)


def _drive_by_rc(trial: FaultTrial, speed_mps: float) -> None:
    # ms: the gesture and the live-man switch take a few frames of the RC
    _wait_for(trial, codes.ACTIVE, 200)
    assert trial.transmitter
    parameters = trial.vehicle.parameters
    cap_mps = parameters["source_cap_mm_s"][codes.SOURCE_RC] * 1e-3
    dead_band = parameters["rc_dead_band"][0] * 1e-3
    trial.transmitter.throttle = dead_band + (1.0 - dead_band) * min(speed_mps / cap_mps, 1.0)
    _wait_for_speed(trial, 0.9 * speed_mps)  # of it: the rest comes within the time below
    trial.run(1500)  # ms: the drive's ramp and its overshoot are over


def _ready_to_race(trial: FaultTrial) -> None:
    """Arm in the profile race, with the stop sources that this needs."""
    if needs_rc_to_race(trial.vehicle):
        trial.attach_rc()
    box = trial.add_runstop_box()
    standing_by(trial)
    box.hears = True
    trial.run(400)  # ms: the box pairs its challenge, and has been heard
    trial.driver.profile = codes.PROFILE_RACE
    _arm(trial)


def racing(trial: FaultTrial, speed_mps: float) -> None:
    """Start in the profile race, at a steady speed by the driver."""
    _ready_to_race(trial)
    _set_out(trial, speed_mps)
    trial.run(1500)  # ms: the drive's ramp and its overshoot are over


def racing_by_rc(trial: FaultTrial, speed_mps: float) -> None:
    """Start in the profile race, at a steady speed by the transmitter."""
    trial.attach_rc()
    _ready_to_race(trial)
    assert trial.transmitter
    trial.transmitter.live_man = True
    _drive_by_rc(trial, speed_mps)


RACING = (racing, racing_by_rc)  # each with a runstop box, and its key


def before_board_wraps(trial: FaultTrial, speed_mps: float) -> None:
    """Start at a steady speed, 60 ms before the board's clock wraps: a lease ends after it."""
    driving(trial, speed_mps)
    _until_us(trial, lambda: trial.world.now_us)


def before_session_wraps(trial: FaultTrial, speed_mps: float) -> None:
    """Start at a steady speed, 60 ms before the host's clock wraps."""
    driving(trial, speed_mps)
    _until_us(trial, lambda: trial.world.now_us + trial.driver.ahead_us)


def _until_us(trial: FaultTrial, clock_us: Callable[[], int]) -> None:
    left_us = WRAP_US - 60 * TICK_US - clock_us()
    if left_us < 0:
        raise NotReady("the clock had wrapped before")
    trial.run(left_us // TICK_US)


def _wait_for_speed(trial: FaultTrial, speed_mps: float) -> None:
    # ms: longer than any of these cars takes
    if not trial.until(lambda: trial.world.plant.truth.vx_mps > speed_mps, 8000):
        raise NotReady("the car did not come up to speed")


def _wait_for(trial: FaultTrial, state: int, within_ms: int) -> None:
    if not trial.until(lambda: trial.driver.state == state, within_ms):
        raise NotReady(f"{state_word(trial.driver.state)} instead of {state_word(state)}")
