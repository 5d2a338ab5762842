"""A car's whole program on a desk: on a virtual board whose inputs are set by hand, no plant."""

from firmware.app import App
from firmware.boards.keys import take_key
from firmware.boards.simulated.virtual import VirtualBoard
from firmware.core.arbitration.source import OPEN
from firmware.protocol.codes import ACTIVE, DRIVE_BIT, HELD, STEERING_BIT, STOP_SOURCE_LINK
from host_bridge.config import load_vehicle
from sim_mock.board.pairing_keys import stored_key
from sim_mock.board.stored_image import board_id_of, stored_image
from tests.firmware.core.desk import parameters_of


class Facts:
    """A vehicle whose parameters differ: name=value, or name={place: value}."""

    def __init__(self, name: str, **changes) -> None:
        vehicle = load_vehicle(name)
        self.name = name
        self.plant = vehicle.plant
        self.channels = vehicle.channels
        self.parameters = {key: list(values) for key, values in vehicle.parameters.items()}
        for key, change in changes.items():
            places = change if isinstance(change, dict) else {0: change}
            for place, value in places.items():
                self.parameters[key][place] = value


def program(vehicle: str = "f1tenth", key: bytes = b"", **changes) -> App:
    """A program that has just begun, with the parameters of this vehicle, paired by this key."""
    board_id = board_id_of(vehicle)
    board = VirtualBoard(board_id, stored_image(Facts(vehicle, **changes), board_id, vehicle), 1)
    if key:
        take_key(board, stored_key(key, board_id))
    board.battery_mv = 12_000
    return App(board)


def step(app: App, now_us: int, received: bytes = b"") -> bytes:
    """One step; the contact follows the enable, and what was written is read back."""
    board = app.board
    board.enable_contact = int(board.enable)
    board.read_back[:] = board.values
    board.received[: len(received)] = received
    board.received_size = len(received)
    app.step(now_us & (1 << 30) - 1)
    return bytes(board.sent[: board.sent_size])


def known(app: App, epoch: int, now_us: int, bound_us: int = 200) -> int:
    """A session of this epoch whose clock is the board's own, give or take the bound; its slot."""
    slot = app.sessions.bind(epoch, now_us)
    session = app.sessions.slots[slot]
    session.bound_us = session._sampled_bound_us = bound_us
    session._sampled_us = session.heard_us = now_us
    return slot


def activate(app: App, source_id: int, slot: int, now_us: int) -> None:
    """ACTIVE, at rest, commanded by this source for the next 10 ms."""
    app.supervisor.state = app.supervisor.before = ACTIVE
    app.output_stage.is_enabled = app.board.enable = app.fault_monitor._is_enabled = True
    app.arbiter.attended.set(now_us, 1_000_000)
    source = app.arbiter.sources[source_id]
    source.slot, source.gate, source.deadman = slot, OPEN, HELD
    source.claimed, source.is_fresh = STEERING_BIT | DRIVE_BIT, True
    source.lease.set(now_us, 10_001)
    source.alive.set(now_us, 1_000_000)


def quiet(app: App) -> App:
    """Without its telemetry, which changes nothing and takes half of the time of a step."""
    app.telemetry.step = lambda now_us: None  # type: ignore[method-assign]
    return app


def by_link(app: App, stop_source: int) -> None:
    """Make it one of those that a host speaks for; what a runstop box takes besides is in
    tests/firmware/test_two_boxes.py."""
    at = parameters_of(app).index("stop_source_kind")
    app.configuration.values[at + stop_source] = STOP_SOURCE_LINK
    app.stop_sources.configure(parameters_of(app))
