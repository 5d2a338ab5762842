"""The start conditions of cases; each is reached by messages that any host could send."""

from collections.abc import Callable

from firmware.protocol import codes
from sim_mock.faults.trial.fault_trial import Scene
from sim_mock.faults.trial.target import TICK_US
from sim_mock.faults.trial.vehicles import needs_rc_to_race

WRAP_US = 1 << 30  # where the board's and the session's clock wrap
_BEAT_MS = 10


class NotReady(Exception):
    """The car did not reach the start condition: the run says nothing about the fault."""


def off(_scene: Scene, _speed_mps: float) -> None:
    """Start before the first step of the program."""


def standing_by(scene: Scene, _speed_mps: float = 0.0) -> None:
    """Start in STANDBY: bound, clocks synchronised, a driver claims without a deadman."""
    scene.run(_BEAT_MS)
    _wait_for(scene, codes.STANDBY, 3000)
    scene.driver.bind()
    scene.run(300)
    scene.driver.claims = True
    scene.run(100)


def ask(scene: Scene, action: int) -> bool:
    """Send the first step of an action; return whether the car answered with a nonce."""
    scene.driver.ask(action)
    scene.until(lambda: "ActReply" in scene.driver.latest, 100)
    reply = scene.driver.latest.get("ActReply")
    return reply is not None and reply.nonce != 0


def confirm(scene: Scene, action: int) -> None:
    """Send the second step of an action."""
    scene.driver.ask(action, scene.driver.latest["ActReply"].nonce)


def armed(scene: Scene, _speed_mps: float = 0.0) -> None:
    """Start in HOLD, without a deadman."""
    standing_by(scene)
    _arm(scene)


def _arm(scene: Scene) -> None:
    if not ask(scene, codes.ACTION_ARM):
        raise NotReady("the car refused to be armed")
    confirm(scene, codes.ACTION_ARM)
    _wait_for(scene, codes.HOLD, 100)
    scene.run(50)


def stopped(scene: Scene, _speed_mps: float = 0.0) -> None:
    """Start in STOPPED after a Stop, standing, without a deadman."""
    armed(scene)
    scene.driver.stop()
    _wait_for(scene, codes.STOPPED, 5000)


def accelerating(scene: Scene, speed_mps: float) -> None:
    """Start while accelerating, at about half the speed asked for."""
    armed(scene)
    _set_out(scene, speed_mps)


def _set_out(scene: Scene, speed_mps: float) -> None:
    scene.driver.deadman = codes.HELD
    _wait_for(scene, codes.ACTIVE, 100)
    scene.driver.speed_mm_s = round(speed_mps * 1000)
    _wait_for_speed(scene, speed_mps / 2)


def driving(scene: Scene, speed_mps: float) -> None:
    """Start at a steady speed."""
    accelerating(scene, speed_mps)
    scene.run(1500)


def on_stand(scene: Scene, _speed_mps: float) -> None:
    """Start on a stand: the wheels are off the ground and turn at the cap."""
    scene.world.plant.is_on_stand = True
    scene.driver.profile = codes.PROFILE_STAND
    armed(scene)
    scene.driver.deadman = codes.HELD
    _wait_for(scene, codes.ACTIVE, 100)
    cap_mm_s = scene.vehicle.parameters["profile_cap_mm_s"][codes.PROFILE_STAND]
    scene.driver.speed_mm_s = cap_mm_s
    scene.run(1500)


def by_rc(scene: Scene, speed_mps: float) -> None:
    """Start at a steady speed by the transmitter, which armed the car by its gesture."""
    rc = scene.take_up_rc()
    scene.run(_BEAT_MS)
    _wait_for(scene, codes.STANDBY, 3000)
    scene.driver.bind()
    scene.run(1200)  # the live-man switch is released, the sticks are neutral
    rc.live_man = True
    _drive_by_rc(scene, speed_mps)


def _drive_by_rc(scene: Scene, speed_mps: float) -> None:
    _wait_for(scene, codes.ACTIVE, 200)
    assert scene.transmitter
    parameters = scene.vehicle.parameters
    cap_mps = parameters["source_cap_mm_s"][codes.SOURCE_RC] * 1e-3
    dead_band = parameters["rc_dead_band"][0] * 1e-3
    scene.transmitter.throttle = dead_band + (1.0 - dead_band) * min(speed_mps / cap_mps, 1.0)
    _wait_for_speed(scene, 0.9 * speed_mps)
    scene.run(1500)


def _ready_to_race(scene: Scene) -> None:
    """Arm in the profile race, with the stop sources that this needs."""
    if needs_rc_to_race(scene.vehicle):
        scene.take_up_rc()
    box = scene.put_up_box()
    standing_by(scene)
    box.hears = True
    scene.run(400)
    scene.driver.profile = codes.PROFILE_RACE
    _arm(scene)


def racing(scene: Scene, speed_mps: float) -> None:
    """Start in the profile race, at a steady speed by the driver."""
    _ready_to_race(scene)
    _set_out(scene, speed_mps)
    scene.run(1500)


def racing_by_rc(scene: Scene, speed_mps: float) -> None:
    """Start in the profile race, at a steady speed by the transmitter."""
    scene.take_up_rc()
    _ready_to_race(scene)
    assert scene.transmitter
    scene.transmitter.live_man = True
    _drive_by_rc(scene, speed_mps)


RACING = (racing, racing_by_rc)  # each with a runstop box, and its key


def before_board_wraps(scene: Scene, speed_mps: float) -> None:
    """Start at a steady speed, 60 ms before the board's clock wraps: a lease ends after it."""
    driving(scene, speed_mps)
    _until_us(scene, lambda: scene.world.now_us)


def before_session_wraps(scene: Scene, speed_mps: float) -> None:
    """Start at a steady speed, 60 ms before the host's clock wraps."""
    driving(scene, speed_mps)
    _until_us(scene, lambda: scene.world.now_us + scene.driver.ahead_us)


def _until_us(scene: Scene, clock_us: Callable[[], int]) -> None:
    left_us = WRAP_US - 60 * TICK_US - clock_us()
    if left_us < 0:
        raise NotReady("the clock had wrapped before")
    scene.run(left_us // TICK_US)


def _wait_for_speed(scene: Scene, speed_mps: float) -> None:
    if not scene.until(lambda: scene.world.plant.truth.vx_mps > speed_mps, 8000):
        raise NotReady("the car did not come up to speed")


def _wait_for(scene: Scene, state: int, within_ms: int) -> None:
    if not scene.until(lambda: scene.driver.state == state, within_ms):
        raise NotReady(f"state {scene.driver.state} instead of {state}")
