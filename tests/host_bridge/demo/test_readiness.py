"""A car of the demo that is not ready: not served, without an answer, or without its clock."""

from __future__ import annotations

from host_bridge.demo.cars.demo_cars import readiness_text
from tests.host_bridge.drive.drives import Drive, Rig


def test_each_way_of_not_being_ready_is_told_apart():
    drive = Drive(Rig("a"))
    car = drive.rigs[0].car
    assert readiness_text(car) == "a is served and did not answer (its link: identifying)"
    drive.bind()
    known_ms = car.connection.clock.bound_us / 1e3
    assert readiness_text(car) == f"a answers, and its clock is known to {known_ms:g} ms"
    car.connection.clock.bound_us = None
    assert readiness_text(car) == "a answers, and its clock is not known yet"
    car.closed(drive.now_us)
    assert readiness_text(car) == "a is not served any more: its line is closed"
