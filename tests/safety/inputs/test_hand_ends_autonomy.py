"""A hand ends autonomy (S4, S6): no program moves the car on before a person permits it anew.

Shown on the whole program of a virtual car that a program drives by the seat's permission, or by a
live kill-switch, while somebody else takes over: by the RC, a pad, a terminal, from afar.
"""

import pytest

from firmware.protocol import codes, messages
from host_bridge.deploy.hil.host.small_host import GAMEPAD, HELD, RELEASED, ROS2
from tests.firmware.copies import saved
from tests.safety.support.hosts import host_of
from tests.safety.ways.ways import ACTIVE, HOLD, Autonomous, Way

SLOW_SEAT, REMOTE, SCRIPT = 5, 7, 3
FLEET = 5  # a stop source
STOPPED = 5
DRIVE, NOBODY = codes.DRIVE, codes.NOBODY


class Beside(Autonomous):
    """A program drives by the seat's permission; a transmitter and another host lie there."""

    hand_id = GAMEPAD
    hand_speed_mm_s = 200
    hand_deadman = RELEASED
    is_permitted = True

    def take_up(self) -> None:
        self.hand = host_of(self.world, epoch=778, source=self.hand_id)
        self.others.append(self.hand)
        self.transmitter = self.world.attach_rc()
        self.transmitter.mode = "autonomy"
        super().take_up()

    def say(self) -> None:
        super().say()
        lease_ms = 300 if self.hand_id == SLOW_SEAT else 120
        is_held = self.hand_deadman == HELD
        speed_mm_s = self.hand_speed_mm_s if is_held else 0
        self.hand.claim(speed_mm_s, 0, self.hand_deadman, lease_ms=lease_ms)

    def winner(self) -> int:
        return int(self.world.runner.app.arbiter.winners[DRIVE])

    def take_over(self) -> None:
        """By the other host: held from neutral, then driven for a while."""
        self.hand_deadman, asked = HELD, self.hand_speed_mm_s
        self.hand_speed_mm_s = 0
        self.beat()
        self.hand_speed_mm_s = asked
        self.drive(300, self.cruise_mm_s)

    def permit(self, ms: int = 100) -> None:
        self.hold()
        self.drive(ms, self.cruise_mm_s)

    def forbid(self) -> None:
        self.deadman = RELEASED
        self.drive(50, self.cruise_mm_s)

    def assert_nothing_moves_it(self, ms: int = 1500) -> None:
        """Whatever the program asks for, and the permission still held: nobody has the car."""
        winners = set()
        for _ in range(ms // 10):
            self.beat()
            winners.add(self.winner())
        assert winners == {NOBODY}
        assert self.state == HOLD
        assert self.host.status.speed_mm_s == 0


@pytest.fixture(scope="module")
def cars():
    made = {}
    for hand in (GAMEPAD, SLOW_SEAT, REMOTE, SCRIPT):
        kind = type(f"Beside{hand}", (Beside,), {"hand_id": hand})
        globals()[kind.__name__] = kind  # for pickle, which keeps a copy
        car = kind("f1tenth")
        car.begin()
        car.come_to_speed()
        assert car.winner() == ROS2
        made[hand] = saved(car)
    return made


@pytest.fixture
def car(cars):
    return cars[GAMEPAD]()


@pytest.mark.parametrize("hand", [GAMEPAD, SLOW_SEAT, REMOTE, SCRIPT])
def test_after_a_hand_let_go_a_program_waits_for_a_permission_that_is_given_anew(cars, hand):
    car = cars[hand]()
    car.take_over()
    assert (car.state, car.winner()) == (ACTIVE, hand)
    car.hand_deadman = RELEASED
    car.drive(1500, car.cruise_mm_s)
    car.assert_nothing_moves_it()
    car.forbid()
    car.permit()
    assert (car.state, car.winner()) == (ACTIVE, ROS2)


def test_a_permission_that_is_given_while_a_hand_drives_is_none(car):
    car.take_over()
    car.forbid()
    car.permit()
    assert car.winner() == GAMEPAD
    car.hand_deadman = RELEASED
    car.drive(1500, car.cruise_mm_s)
    car.assert_nothing_moves_it()


def test_the_rc_takes_over_lets_go_and_the_program_does_not_have_the_car_again(car):
    """The live-man switch once gave it back at once, at 0.5 to 1.5 m/s."""
    car.transmitter.mode = "manual"
    car.drive(100, car.cruise_mm_s)
    assert (car.state, car.winner()) == (HOLD, NOBODY)
    car.transmitter.live_man = True
    car.drive(100, car.cruise_mm_s)
    car.transmitter.throttle = 0.3
    car.drive(500, car.cruise_mm_s)
    assert (car.state, car.winner()) == (ACTIVE, codes.SOURCE_RC)
    car.transmitter.live_man, car.transmitter.throttle = False, 0.0
    car.drive(1500, car.cruise_mm_s)
    car.assert_nothing_moves_it()


def test_the_rcs_manual_excludes_programs_for_as_long_as_it_is_set(car):
    car.transmitter.mode = "manual"
    car.drive(1500, car.cruise_mm_s)
    for _ in range(2):
        car.forbid()
        car.permit()
        car.assert_nothing_moves_it(300)
    car.transmitter.mode = "autonomy"
    car.drive(100, car.cruise_mm_s)
    car.assert_nothing_moves_it()
    car.forbid()
    car.permit()
    assert (car.state, car.winner()) == (ACTIVE, ROS2)


def test_a_rule_that_forgets_the_hand_is_noticed(car, monkeypatch):
    monkeypatch.setattr(
        "firmware.core.arbitration.arbiter.Arbiter._is_hand", lambda self, source: False
    )
    with pytest.raises(AssertionError):
        test_the_rcs_manual_excludes_programs_for_as_long_as_it_is_set(car)


# --- a kill-switch in place of a person


class BySwitch(Way):
    """A program that drives while the fleet's switch lets it; a pad beside it."""

    source, source_id, has_counter = "ros2", ROS2, False
    starts_from_neutral = False
    switch_runs = 1
    hand_deadman = RELEASED
    parameters = {"source_kill_switch": {ROS2: FLEET}}  # noqa: RUF012

    def take_up(self) -> None:
        self.pad = host_of(self.world, epoch=778, source=GAMEPAD)
        self.others.append(self.pad)
        super().take_up()

    def say(self) -> None:
        fields = {"stop_source": FLEET, "sequence": self.beats, "runs": self.switch_runs}
        self.host.say(messages.Alive, stamp_us=self.host.now_us(), **fields)
        self.pad.claim(0, 0, self.hand_deadman)
        held, self.deadman = self.deadman, RELEASED
        super().say()
        self.deadman = held

    def winner(self) -> int:
        return int(self.world.runner.app.arbiter.winners[DRIVE])

    def disarm(self) -> None:
        """And until its contact was seen open, without which nothing is armed."""
        config_hash = bytes(self.host.latest["Identity"].config_hash)
        self.host.say(messages.Act, action=codes.ACTION_DISARM, nonce=0, config_hash=config_hash)
        self.drive(300, 0)

    def press_and_release(self) -> None:
        """The switch says stop, which stops the car, and run again; the stop is cleared."""
        self.switch_runs = 0
        self.drive(1000, 0)
        assert self.state == STOPPED
        self.switch_runs = 1
        self.drive(50, 0)
        assert self.clear() == 0


@pytest.fixture(scope="module")
def switched():
    car = BySwitch("f1tenth")
    car.take_up()
    car.drive(50, 0)
    assert car.arm() == 0
    car.drive(200, 500)
    assert (car.state, car.winner()) == (ACTIVE, ROS2)
    return saved(car)


def test_after_a_hand_a_kill_switch_says_stop_and_run_and_the_car_is_armed_anew(switched):
    car = switched()
    car.hand_deadman = HELD
    car.drive(1000, 500)
    assert (car.state, car.winner()) == (ACTIVE, GAMEPAD)
    car.hand_deadman = RELEASED
    car.drive(500, 500)
    assert (car.state, car.winner()) == (HOLD, NOBODY)
    car.disarm()
    assert car.arm() == 0
    car.drive(500, 500)
    assert (car.state, car.winner()) == (HOLD, NOBODY), "an arm alone is no word of the switch"
    car.press_and_release()
    assert car.arm() == 0
    car.drive(200, 500)
    assert (car.state, car.winner()) == (ACTIVE, ROS2)


def test_a_kill_switch_that_was_pressed_before_the_hand_let_go_has_to_be_pressed_again(switched):
    car = switched()
    car.hand_deadman = HELD
    car.drive(100, 500)
    car.press_and_release()
    car.hand_deadman = RELEASED
    car.drive(50, 500)
    assert car.arm() == 0
    car.drive(500, 500)
    assert (car.state, car.winner()) == (HOLD, NOBODY)
    car.press_and_release()
    assert car.arm() == 0
    car.drive(200, 500)
    assert (car.state, car.winner()) == (ACTIVE, ROS2)
