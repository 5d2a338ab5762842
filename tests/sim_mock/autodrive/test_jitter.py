"""What the board measures while frames come as they do from a busy machine: unevenly."""

from random import Random

import pytest

from host_bridge.deploy.hil.host.small_host import RELEASED
from tests.sim_mock.autodrive.unity_drive import UnityDrive

SPEEDS = {"nigel": 0.2, "f1tenth": 1.5, "roboracer": 3.5, "hunter_se": 1.5}


class JitteredDrive(UnityDrive):
    """``late``: frames are rendered evenly and arrive unevenly. Otherwise they are rendered so."""

    def __init__(self, vehicle, car, rate_hz, *, late, hides_speed=False, jitter_us=8000):
        self.random, self.late, self.hides_speed = Random(1), late, hides_speed
        self.jitter_us, self.on_the_way = jitter_us, []
        self.speed_mps = 0.0
        super().__init__(vehicle, car, rate_hz)
        self.rendered_us = self.grid_us = 0

    def run(self, world):
        now_us = world.now_us
        restart = self.exchange.due(now_us)
        self.to_unity += [restart] if restart else []
        for due_us, text in list(self.on_the_way):
            if due_us <= now_us:
                self.on_the_way.remove((due_us, text))
                answer = self.exchange.answer(text)
                self.to_unity += [answer] if answer else []
                self.exchange.take(text, now_us)
        if now_us >= self.due_us:
            self._render(now_us)

    def _render(self, now_us):
        wobble_us = self.random.randint(-self.jitter_us, self.jitter_us)
        self.grid_us += self.frame_us
        self.due_us = self.grid_us + self.frame_us + (0 if self.late else wobble_us)
        self._roll((now_us - self.rendered_us) * 1e-6)
        self.rendered_us = now_us
        texts = self.to_car + [self.unity.on_text(text) for text in self.to_unity]
        self.to_car, self.to_unity = [], []
        late_us = self.jitter_us + wobble_us if self.late else 0
        for text in texts:
            if text:
                shown = text.replace("V1 Speed", "V1 Nothing") if self.hides_speed else text
                self.on_the_way.append((now_us + late_us, shown))

    def _roll(self, dt_s):
        """At one speed, whatever it is told: what is asked is what the board makes of it."""
        unity = self.unity
        unity.speed = self.speed_mps
        unity.rolled += unity.speed * dt_s / unity.radius


def measured(drive, speed_mps, ms=3000):
    """The board's speed over the simulator's, each 10 ms, while that is the same."""
    drive.speed_mps = speed_mps
    drive.host.connect()
    drive.host.drive(1000, deadman=RELEASED)
    ratios = []
    for _ in range(ms // 10):
        drive.host.drive(10, deadman=RELEASED)
        ratios.append(drive.host.status.speed_mm_s * 1e-3 / speed_mps)
    return ratios


def rms(ratios):
    return (sum((ratio - 1.0) ** 2 for ratio in ratios) / len(ratios)) ** 0.5


@pytest.mark.parametrize("late", [True, False], ids=["they arrive", "they are rendered"])
@pytest.mark.parametrize(("car", "speed_mps"), SPEEDS.items())
def test_the_speed_is_measured_within_five_percent_of_frames_that_jitter_by_8_ms(
    car, speed_mps, late
):
    vehicle = "f1tenth" if car == "roboracer" else car
    ratios = measured(JitteredDrive(vehicle, car, 30, late=late), speed_mps)
    assert rms(ratios) < 0.05
    assert sum(ratios) / len(ratios) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("late", [True, False], ids=["they arrive", "they are rendered"])
def test_so_it_is_of_an_older_build_that_says_no_speed(late):
    assert (
        rms(measured(JitteredDrive("nigel", "nigel", 30, late=late, hides_speed=True), 0.2)) < 0.05
    )


def test_frames_at_60_hz_that_jitter_by_3_ms_are_a_steady_speed():
    """They were 2.59 to 4.36 m/s for 3.5."""
    drive = JitteredDrive("f1tenth", "roboracer", 60, late=True, jitter_us=3000)
    ratios = measured(drive, 3.5)
    assert 0.93 < min(ratios) <= max(ratios) < 1.07
