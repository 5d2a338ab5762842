"""The stop of a fleet: whom it means, what answers it, and what proves an answer."""

from __future__ import annotations

import pytest

from firmware.protocol.messages import StopSeen
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.stops import fleet_messages
from host_bridge.sharing.network.stops.fleet_messages import fleet_tag, stop_question
from host_bridge.sharing.network.stops.fleet_stop import SILENT, UNPROVEN, FleetStop
from host_bridge.sharing.stop.frozen_stop import stop_frame
from tests.host_bridge.sharing.network.bench import BOARD, HOST_ADDRESSES, Bench

RED = fleet_tag("red")


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path / "guests")
    bench.server.open_stops.fleet_tag = RED
    bench.server.open_stops.car_name = "car0"
    return bench


def seen(token: int, state: int = 5) -> bytes:
    return wire.encode(
        wire.new(StopSeen, token=token, state=state, sender=3, sender_name=bytes(16))
    )


@pytest.mark.parametrize(
    ("tag", "is_meant"), [(RED, True), (0, True), (fleet_tag("blue"), False), (1, False)]
)
def test_a_car_obeys_the_stop_of_its_fleet_and_of_every_car(bench, tag, is_meant):
    bench.hear(stop_question(tag, stop_frame(7, "marshal", 3)))
    assert len(bench.passed) == is_meant
    assert bench.server.open_stops.counts["another fleet's stop"] == (not is_meant)
    answers = bench.take(bench.server.deliver(seen(7), bench.now_us))
    assert len(answers) == is_meant
    for answer, where in answers:
        assert where == HOST_ADDRESSES[0]
        assert len(answer) == 53 < len(stop_question(tag, b""))
        assert fleet_messages.parse_answer(answer) == (BOARD, "car0", seen(7))


@pytest.mark.parametrize(
    "datagram", [b"\x01", b"\x01" + bytes(63), b"\x01" * 64, b"\x01" + bytes(80)]
)
def test_what_is_no_stop_of_a_fleet_goes_nowhere(bench, datagram):
    bench.hear(datagram)
    bench.hear(stop_question(RED, wire.encode(wire.new(StopSeen, token=1, state=1, sender=1,
                                                       sender_name=bytes(16)))))  # fmt: skip
    assert not bench.passed
    assert not bench.take(bench.server.deliver(seen(1), bench.now_us))


def test_a_forged_answer_proves_nothing_and_an_own_car_is_not_told_twice():
    call = FleetStop(RED, list, own=["192.0.2.9"])
    token = call._token
    answer = fleet_messages.answer(BOARD, "car0", seen(token))
    call._hear(answer, ("192.0.2.9", 27410))
    assert not call.cars
    call._hear(fleet_messages.answer(BOARD, "car0", seen(token + 1 & 0xFFFF)), ("192.0.2.1", 27410))
    assert not call.cars
    call._hear(answer, ("192.0.2.1", 27410))
    call._hear(answer[:-1], ("192.0.2.1", 27410))
    (car,) = call.cars.values()
    assert (car.answer, car.state, car.is_seen) == (UNPROVEN, "STOPPED", True)
    assert "no token here proves it" in str(car)
    assert car.called == "car0 (192.0.2.1)"
    car.place = None
    assert car.called == "car0"


def test_no_flood_of_invented_cars_fills_the_list():
    call = FleetStop(RED, list)
    for number in range(1000):
        board = number.to_bytes(8, "little")
        call._hear(fleet_messages.answer(board, "x", seen(call._token)), ("192.0.2.1", 1))
    assert len(call.cars) == 256


def test_a_car_that_should_prove_its_answer_and_does_not_is_not_seen(bench, tmp_path):
    from host_bridge.sharing.network.invitations import accept, note_reached, reached_cars
    from host_bridge.sharing.network.sealed.handshake import Role

    token = bench.token(Role.STOP)
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o700)
    accept(token.text(), folder)
    assert [(it.place, it.fleet_tag) for it in reached_cars(RED, folder)] == [(None, None)]
    note_reached(token, ("192.0.2.1", 27410), RED, folder)
    assert not reached_cars(fleet_tag("blue"), folder)
    (known,) = reached_cars(RED, folder)
    assert known.place == ("192.0.2.1", 27410)
    call = FleetStop(RED, lambda: [known])
    call.cars[BOARD] = car = _car(known)
    assert (car.answer, car.is_known) == (SILENT, True)
    call._hear(fleet_messages.answer(BOARD, "car0", seen(call._token)), ("192.0.2.66", 27410))
    assert (car.answer, car.is_seen, car.place) == (UNPROVEN, False, ("192.0.2.1", 27410))
    assert "its host did not prove it" in str(car)


def _car(known):
    from host_bridge.sharing.network.stops.fleet_stop import FleetCar

    return FleetCar(known.name, known.board_id, known.place, known)


def test_a_file_that_cannot_be_read_keeps_nobody_from_being_stopped(monkeypatch):
    from host_bridge.core.errors import DataFileFault
    from host_bridge.sharing.network.stops import fleet_stop

    monkeypatch.setattr(fleet_stop, "interfaces", list)

    def damaged():
        raise DataFileFault("a file of keys is damaged")

    call = FleetStop(RED, damaged)
    assert call.run() == []
    assert "damaged" in str(call.fault)
