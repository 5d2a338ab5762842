"""A guest who configures: only on a stand that somebody attested, and nothing but numbers."""

from __future__ import annotations

import pytest

from firmware.protocol.codes import ACTIVE, FAULT, HOLD, STANDBY, STOPPING
from firmware.protocol.messages import ConfigCommit, ParameterRead, ParameterWrite, Status
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.hosting.attestation import AttestationFile, new_attestation
from host_bridge.sharing.network.hosting.visits import VisitLog
from host_bridge.sharing.network.sealed.handshake import Role
from tests.host_bridge.sharing.network.bench import BOARD, Bench, act, bind, claim, stop
from tests.support.evidence import some

SHORT_S = 2.0  # a guest that is silent for 3 s has no epoch any more


class Stand(Bench):
    """A bench with the command's end of an attestation."""

    def __init__(self, folder):
        super().__init__(folder)
        self.file = AttestationFile(BOARD, folder)
        self.report()

    def report(self, state=STANDBY, speed_mm_s=0):
        fields = dict.fromkeys(wire.LAYOUTS[Status].names, 0) | {"claim_crc": bytes(4)}
        fields |= {"state": state, "speed_mm_s": speed_mm_s}
        self.take(self.server.deliver(wire.encode(wire.new(Status, **fields)), self.now_us))

    def attest(self, for_s=SHORT_S):
        """What became of it, within a step."""
        self.file.write(new_attestation(for_s, "ada"))
        self.step()
        return self.file.read()

    def step(self, us=10_000):
        self.now_us += us
        self.wall_s += us * 1e-6
        self.take(self.server.step(self.now_us))

    def configures(self, link):
        """Whether a write of this guest reaches the car."""
        self.passed.clear()
        self.hear(link.seal(write()))
        return self.passed == [write()]


def write(epoch=5, value=7):
    return wire.encode(wire.new(ParameterWrite, epoch=epoch, index=3, value=value))


def commit(epoch=5):
    fields = {"epoch": epoch, "config_hash": bytes(4), "car_name": bytes(16)}
    return wire.encode(wire.new(ConfigCommit, **fields))


@pytest.fixture
def bench(tmp_path):
    return Stand(tmp_path / "guests")


@pytest.fixture
def link(bench):
    link = bench.join(bench.token(Role.CONFIGURE))
    assert link.grant.role == Role.CONFIGURE
    bench.hear(link.seal(bind()))
    assert bench.passed == [bind()]
    return link


def test_numbers_are_written_on_an_attested_stand_only(bench, link):
    assert not bench.configures(link)
    assert bench.server.counts == {"no attestation that the car is on a stand": 1}
    assert bench.attest().opened
    assert bench.configures(link)
    bench.hear(link.seal(commit()))
    assert bench.passed[-1] == commit()


ENDS = {
    "its time": lambda bench: bench.step(int(SHORT_S * 1e6)),
    "a car that is armed": lambda bench: bench.report(HOLD),
    "a car that drives": lambda bench: bench.report(ACTIVE),
    "a car that stops": lambda bench: bench.report(STOPPING),
    "wheels that turn": lambda bench: bench.report(STANDBY, -1),
    "a request to arm": lambda bench: bench.server.hear_local(act()),
    "a cable that was out": lambda bench: setattr(bench, "has_car", False),
    "a person who takes it back": lambda bench: bench.file.forget(),
    "the end of the server": lambda bench: bench.take(bench.server.close(bench.now_us)),
}


@pytest.mark.parametrize("why", ENDS)
def test_an_attestation_ends_and_does_not_come_back(bench, link, why):
    bench.attest()
    assert bench.configures(link)
    ENDS[why](bench)
    bench.step()
    bench.has_car = True
    bench.report()
    bench.step()
    if why != "the end of the server":
        assert not bench.configures(link)
        assert bench.server.counts == {"no attestation that the car is on a stand": 1}
    assert bench.server.stand.refusal()
    found = bench.file.read()
    assert found is None or found.ended
    assert any("is over" in note for note in bench.server.notes) or why.endswith("back")


def test_what_a_stand_does_not_end_with(bench, link):
    bench.attest()
    for state in (STANDBY, FAULT):
        bench.report(state)
    bench.server.hear_local(stop())
    bench.attest()  # another one, from now on
    bench.step(int(SHORT_S * 0.9 * 1e6))
    assert bench.configures(link)


@pytest.mark.parametrize("state", [ACTIVE, HOLD, STOPPING])
def test_no_stand_is_attested_of_a_car_that_is_armed(bench, link, state):
    bench.report(state)
    assert "armed" in bench.attest().ended
    bench.report()
    bench.step()
    assert not bench.configures(link), "an attestation that came to nothing does not come later"


def test_no_stand_outlives_the_server_or_two_hours(bench, tmp_path):
    bench.attest(100 * 3600.0)
    bench.step(7_199_000_000)
    assert not bench.file.read().ended
    again = Stand(tmp_path / "guests")
    assert again.file.read() is None
    assert again.server.stand.refusal()
    again.attest(100 * 3600.0)
    again.step(7_201_000_000)
    assert again.file.read().ended == "its time is over"


def test_who_configures_moves_and_permits_nothing(bench, link):
    bench.attest()
    bench.passed.clear()
    for frame in some([claim(), act(), write(epoch=6), commit(epoch=6)]):
        bench.hear(link.seal(frame))
    assert bench.passed == []
    read = wire.encode(wire.new(ParameterRead, index=3))
    for frame in (stop(), read):
        bench.hear(link.seal(frame))
    assert bench.passed == [stop(), read]


@pytest.mark.parametrize("role", [Role.WATCH, Role.STOP, Role.DRIVE])
def test_no_other_role_configures_even_on_a_stand(bench, role):
    link = bench.join(bench.token(role))
    bench.hear(link.seal(bind()))
    bench.attest()
    assert not bench.configures(link)
    assert bench.server.counts["beyond its role"] >= 1


def test_the_log_has_who_came_and_is_closed_and_bounded(tmp_path, monkeypatch):
    folder = tmp_path / "guests"
    folder.mkdir(mode=0o700)
    log = VisitLog(BOARD, lambda: 1_800_000_000.0, folder)
    assert log.rows() == []
    log.add("Ada: came to drive, 192.0.2.1\nforged")
    row = log.rows()[-1]
    assert row["at"].startswith("2027-01-15T08:00:00")
    assert row["what"] == "Ada: came to drive, 192.0.2.1\\nforged"
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr("host_bridge.sharing.network.hosting.visits._LONGEST_BYTES", 1000)
    for _ in range(100):
        log.add("Ada: went, left")
    assert len(list(folder.iterdir())) == 2
    assert sum(it.stat().st_size for it in folder.iterdir()) < 2200
    assert log.rows()[-1]["what"] == "Ada: went, left"
