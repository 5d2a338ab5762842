"""Where a case begins: each takes the car there by what any host would say."""

from collections.abc import Callable

from firmware.protocol import codes
from sim_mock.faults.scene import TICK_US, Scene

WRAP_US = 1 << 30  # of the board's and of the session's clock
_FULL = 0.9  # of what the vehicle can do, where that is less than asked
_BEAT_MS = 10


class NotReady(Exception):
    """The car did not come to where the case begins: the case says nothing about its fault."""


def off(_scene: Scene, _speed_mps: float) -> None:
    """Before the first step of the program."""


def standing_by(scene: Scene, _speed_mps: float = 0.0) -> None:
    """Bound, its clock known, a driver there whose hands are off."""
    scene.run(_BEAT_MS)
    _wait_for(scene, codes.STANDBY, 3000)
    scene.driver.bind()
    scene.run(300)
    scene.driver.claims = True
    scene.run(100)


def ask(scene: Scene, action: int) -> bool:
    """The first step of an action; whether the car answered with a nonce."""
    scene.driver.ask(action)
    scene.until(lambda: "ActReply" in scene.driver.latest, 100)
    reply = scene.driver.latest.get("ActReply")
    return reply is not None and reply.nonce != 0


def confirm(scene: Scene, action: int) -> None:
    """The second step."""
    scene.driver.ask(action, scene.driver.latest["ActReply"].nonce)


def armed(scene: Scene, _speed_mps: float = 0.0) -> None:
    """In HOLD, hands off."""
    standing_by(scene)
    if not ask(scene, codes.ACTION_ARM):
        raise NotReady("the car refused to be armed")
    confirm(scene, codes.ACTION_ARM)
    _wait_for(scene, codes.HOLD, 100)
    scene.run(50)


def accelerating(scene: Scene, speed_mps: float) -> None:
    """About half as fast as it is going to be."""
    armed(scene)
    scene.driver.deadman = codes.HELD
    _wait_for(scene, codes.ACTIVE, 100)
    reach_mps = min(speed_mps, _FULL * scene.vehicle.parameters["speed_max_mm_s"][0] * 1e-3)
    scene.driver.speed_mm_s = round(reach_mps * 1000)
    if not scene.until(lambda: scene.world.plant.truth.vx_mps > reach_mps / 2, 5000):
        raise NotReady("the car did not come up to speed")


def driving(scene: Scene, speed_mps: float) -> None:
    """At a steady speed."""
    accelerating(scene, speed_mps)
    scene.run(1500)


def before_board_wraps(scene: Scene, speed_mps: float) -> None:
    """Steady, 60 ms before the board's clock begins anew: a lease ends after it."""
    driving(scene, speed_mps)
    _until_us(scene, lambda: scene.world.now_us)


def before_session_wraps(scene: Scene, speed_mps: float) -> None:
    """Steady, 60 ms before the host's clock begins anew."""
    driving(scene, speed_mps)
    _until_us(scene, lambda: scene.world.now_us + scene.driver.ahead_us)


def _until_us(scene: Scene, clock_us: Callable[[], int]) -> None:
    left_us = WRAP_US - 60 * TICK_US - clock_us()
    if left_us < 0:
        raise NotReady("the clock had wrapped before")
    scene.run(left_us // TICK_US)


def _wait_for(scene: Scene, state: int, within_ms: int) -> None:
    if not scene.until(lambda: scene.driver.state == state, within_ms):
        raise NotReady(f"state {scene.driver.state} instead of {state}")
