"""What an attacker on the network gets to the car: stops, and nothing else."""

from __future__ import annotations

import random

import pytest

from firmware.protocol.boxes import BoxWord
from firmware.protocol.enter_hitl import EnterHitl
from firmware.protocol.messages import Identify, Stop, StopSeen
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.guest_link import GuestState
from host_bridge.sharing.network.sealed import handshake, noise, sealing
from host_bridge.sharing.network.sealed.handshake import Role
from host_bridge.sharing.network.sealed.sealing import COPY
from tests.host_bridge.sharing.network.bench import (
    HOST_ADDRESSES,
    Bench,
    act,
    bind,
    claim,
    stop,
)
from tests.support.evidence import some

OTHER = HOST_ADDRESSES[1]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "guests")


@pytest.fixture
def driver(bench):
    """A guest who drives with epoch 5."""
    link = bench.join(bench.token())
    assert link.state is GuestState.LIVE
    bench.hear(link.seal(bind()))
    bench.hear(link.seal(claim()))
    assert bench.passed == [bind(), claim()], "an honest guest is heard, byte for byte"
    bench.passed.clear()
    bench.server.counts.clear()
    return link


def test_every_flipped_bit_of_a_datagram_is_refused(bench, driver):
    datagram = driver.seal(claim(sequence=2))
    for bit in range(8 * len(datagram)):
        changed = bytearray(datagram)
        changed[bit // 8] ^= 1 << bit % 8
        bench.hear(bytes(changed))
    assert bench.passed == []
    assert bench.server.counts.total() + bench.server.open_stops.counts.total() == 8 * len(datagram)
    bench.hear(datagram)
    assert bench.passed == [claim(sequence=2)], "and the one that was not changed passes after"


def test_every_cut_of_a_datagram_is_refused(bench, driver):
    datagram = driver.seal(claim(sequence=2))
    for size in range(len(datagram)):
        bench.hear(datagram[:size])
        bench.hear(datagram + bytes(size + 1))
    assert bench.passed == []


def test_a_repeated_and_a_late_claim_are_refused_and_a_copy_costs_nothing(bench, driver):
    first, second = driver.seal(claim(sequence=2)), driver.seal(claim(sequence=3))
    for datagram in (second, first, second):
        bench.hear(datagram)
    assert bench.passed == [claim(sequence=3)]
    assert bench.server.counts == {"late": 1, COPY: 1}


def test_of_a_batch_only_the_newest_claim_goes_on(bench, driver):
    batch = [(driver.seal(claim(sequence=n)), HOST_ADDRESSES[0]) for n in range(2, 100)]
    bench.take(bench.server.hear(batch, bench.now_us))
    assert bench.passed == [claim(sequence=99)]


def test_a_stop_passes_in_any_order_once(bench, driver):
    sealed = [driver.seal(stop(n)) for n in range(64)]
    for datagram in [*reversed(sealed), *sealed]:
        bench.hear(datagram)
    assert bench.passed == [stop(n) for n in reversed(range(64))]
    assert bench.server.counts == {"repeated": 64}


def test_what_belongs_to_another_session_purpose_direction_or_car_is_refused(
    bench, driver, tmp_path
):
    other = bench.join(bench.token(), OTHER)
    elsewhere = Bench(tmp_path / "elsewhere", bytes(8))
    stranger = elsewhere.join(elsewhere.token())
    assert other.state is stranger.state is GuestState.LIVE
    sealed = driver.seal(claim(sequence=2))
    number = sealed[2:6]
    forged = [sealed[:2] + other.grant.session.to_bytes(4, "little") + sealed[6:]]
    forged += [bytes([kind]) + sealed[1:] for kind in range(1, 256) if kind != sealed[0]]
    foreign = stranger.seal(claim(sequence=2))
    forged += [foreign, foreign[:2] + number + foreign[6:]]
    for datagram in some(forged):
        bench.hear(datagram)
    assert bench.passed == []
    refused = bench.server.counts + bench.server.open_stops.counts
    assert refused.total() == len(forged)


def test_a_handshake_with_any_byte_changed_makes_no_session(bench):
    token = bench.token()
    nonce, address = bytes(16), OTHER
    hello = handshake.hello(token.token_id, nonce)
    for at in range(len(hello)):
        changed = bytearray(hello)
        changed[at] ^= 1
        bench.hear(bytes(changed), address)
    assert not bench.server.sessions
    fresh = bench.join(token, address, within_us=0)
    cookie = bench.hear(fresh.step(bench.now_us)[0], address)[0][0]
    fresh.hear(cookie, bench.now_us)
    start = fresh.step(bench.now_us)[0]
    for at in range(len(start)):
        bench.now_us += 500_000  # within the rate of handshakes
        changed = bytearray(start)
        changed[at] ^= 1
        bench.hear(bytes(changed), address)
    assert not bench.server.sessions
    assert bench.server.counts["wrong key"] >= 60


def test_a_cookie_counts_for_its_address_only(bench):
    token = bench.token()
    link = bench.join(token, within_us=0)
    link.hear(bench.hear(link.step(bench.now_us)[0])[0][0], bench.now_us)
    start = link.step(bench.now_us)[0]
    bench.hear(start, OTHER)
    assert not bench.server.sessions
    assert bench.server.counts == {"wrong cookie": 1}


def test_a_repeated_start_gets_the_same_grant_and_later_none(bench):
    link = bench.join(bench.token(), within_us=0)
    link.hear(bench.hear(link.step(bench.now_us)[0])[0][0], bench.now_us)
    start = link.step(bench.now_us)[0]
    first, second = bench.hear(start), bench.hear(start)
    assert first == second
    assert len(bench.server.sessions) == 1
    bench.now_us += 6_000_000
    assert bench.hear(start) == []
    assert bench.server.counts == {"repeated handshake": 1}


def test_handshakes_are_limited(bench):
    token = bench.token()
    for n in range(1000):
        link = bench.join(token, HOST_ADDRESSES[n % 39], within_us=0)
        address = HOST_ADDRESSES[n % 39]
        link.hear(bench.hear(link.step(bench.now_us)[0], address)[0][0], bench.now_us)
        bench.hear(link.step(bench.now_us)[0], address)
    assert bench.server.counts["too many handshakes"] >= 990
    assert len(bench.server.sessions) <= 4


@pytest.mark.parametrize("kind", [it for it in range(256) if it not in (Stop.ID, Identify.ID)])
def test_nothing_but_a_stop_passes_without_a_key(bench, kind):
    frame = wire.frame(bytes([kind]) + bytes(30))
    bench.hear(frame)
    assert bench.passed == []


def test_a_flood_of_open_stops_takes_no_turn_and_no_answer_of_another_sender(bench):
    """A step of 10 ms lets one Stop through: the sender beside the flood has every second one."""
    flood, marshal = HOST_ADDRESSES[:2]
    answered = 0
    for step in range(200):
        bench.now_us += 5_000
        for token in range(40):  # 8,000 a second
            bench.hear(stop(1000 + 40 * step + token).ljust(64, b"\0"), flood)
        if step % 4 == 0:  # each 20 ms, as tandem stop repeats it
            bench.hear(stop(7).ljust(64, b"\0"), marshal)
        bench.take(bench.server.step(bench.now_us))
        for frame in bench.passed:
            answer = seen(frame)
            sent = bench.take(bench.server.deliver(answer, bench.now_us))
            answered += (answer, marshal) in sent
        bench.passed.clear()
    assert 45 <= answered <= 50  # as often as it asked


def seen(frame: bytes) -> bytes:
    """The car's acknowledgement of a Stop."""
    (message,) = wire.MessageDecoder().feed(frame)
    return wire.encode(
        wire.new(StopSeen, token=message.token, state=5, sender=3, sender_name=bytes(16))
    )


def test_a_flood_of_open_stops_is_limited_and_answered_no_longer_than_asked(bench):
    for n in range(10_000):
        bench.now_us += 100
        bench.hear(stop(n % 65_536), HOST_ADDRESSES[n % 39])
        bench.take(bench.server.step(bench.now_us))
    assert 95 <= len(bench.passed) <= 101, "one in each step of the board"
    bench.hear(wire.encode(wire.new(Identify, token=1, challenge=b"12345678")))
    assert bench.server.open_stops.counts == {"not a stop": 1}, "no answer with a box's key"


def test_a_watcher_stops_and_does_nothing_else(bench):
    link = bench.join(bench.token(Role.WATCH))
    for frame in (bind(), claim(), act()):
        bench.hear(link.seal(frame))
    assert bench.passed == []
    assert bench.server.counts == {"beyond its role": 3}
    bench.hear(link.seal(stop()))
    assert bench.passed == [stop()]


def least(kind):
    """A message of this kind, each field as low as it goes."""
    message = kind.__new__(kind)
    for name, of, low, *_ in kind.FIELDS:
        message.__dict__[name] = bytes(int(of[1:])) if of[0] == "b" else low
    return wire.frame(wire.MessageLayout(kind).payload(message))


FOR_ALL = {"Identify", "EventRequest", "ParameterRead", "Stop", "Alive"}
# Its Bind makes epoch 0 its own; the source and the sender of 0 were not lent to it
SESSION = {"Bind", "Sync", "Leave"}
OF_A_SESSION = {Role.DRIVE: SESSION, Role.CONFIGURE: SESSION}


@pytest.mark.parametrize("role", list(Role))
def test_each_message_that_is_not_of_its_role_is_refused_to_a_guest(bench, role):
    """So no guest brings the words of a stop box, or makes a board hardware in the loop."""
    link = bench.join(bench.token(role))
    passed = set()
    for kind in (*wire.LAYOUTS, BoxWord, EnterHitl):
        for sealer in ("drive", "link", "stop"):
            before = len(bench.passed)
            bench.now_us += 1_000_000
            bench.hear(link._sealers[sealer].seal(least(kind)))
            bench.take(bench.server.step(bench.now_us))
            if len(bench.passed) > before:
                passed.add(kind.__name__)
    assert passed == FOR_ALL | OF_A_SESSION.get(role, set())


@pytest.mark.parametrize(
    ("frame", "cause"),
    [
        (claim(epoch=6), "another's epoch"),
        (claim(source=1), "another's source"),
        (claim(speed=1001), "beyond its cap"),
        (claim(speed=-1001), "beyond its cap"),
        (act(sender=4), "another's sender"),
        (act(epoch=6), "another's epoch"),
    ],
)
def test_a_driver_stays_within_what_was_lent(bench, driver, frame, cause):
    bench.hear(driver.seal(frame))
    assert bench.passed == []
    assert bench.server.counts == {cause: 1}


def test_one_frame_that_may_not_pass_refuses_its_whole_datagram(bench, driver):
    sealer = driver._sealers["link"]
    bench.hear(sealer.seal(bind() + act(sender=4)))
    assert bench.passed == []


def test_who_photographs_a_token_is_that_guest_and_poses_as_no_host(bench, tmp_path):
    token = bench.token(Role.WATCH)
    (guest,) = bench.book.guests.values()
    impostor = Bench(tmp_path / "impostor")
    forged = impostor.book.invite(guest, "red", ())
    assert (forged.psk, forged.token_id, forged.board_id) == (
        token.psk, token.token_id, token.board_id
    )  # fmt: skip
    assert impostor.join(forged).state is GuestState.LIVE, "all it lacks is the host's own key"
    assert impostor.join(token).state is not GuestState.LIVE
    poses_with_the_public_key_of(token)
    copy = bench.join(token, OTHER)
    assert copy.state is GuestState.LIVE
    bench.hear(copy.seal(bind()), OTHER)
    bench.hear(copy.seal(claim()), OTHER)
    assert bench.passed == [], "and it watches, as the token says"
    bench.book.revoke(guest.token_id)
    assert bench.join(token, OTHER).state is GuestState.REFUSED


def poses_with_the_public_key_of(token) -> None:
    """A host that takes the key of the photograph for its own, and answers all the same."""
    guest = noise.ClientHandshake(b"", token.server_public, token.psk)
    start = guest.start(b"")
    host = noise.ServerHandshake(b"", noise.new_private_key(), token.psk)
    host._transcript = noise._Transcript(b"", token.server_public, token.psk)
    with pytest.raises(noise.HandshakeRefused):
        host.hear(start)
    with pytest.raises(noise.HandshakeRefused):
        guest.finish(host.answer(b""))


def test_a_second_driver_takes_neither_the_seat_nor_an_epoch(bench, driver):
    second = bench.join(bench.token(), OTHER)
    bench.hear(second.seal(bind(5)), OTHER)
    bench.hear(second.seal(bind(6)), OTHER)
    bench.passed.clear()
    bench.hear(second.seal(claim(epoch=6)), OTHER)
    assert bench.passed == []
    assert bench.server.counts == {"another's epoch": 1, "another drives": 1}
    bench.now_us += 3_100_000
    bench.hear(second.seal(claim(epoch=6)), OTHER)
    assert bench.passed == [claim(epoch=6)], "a free seat is anybody's who may drive"


def test_a_local_program_takes_its_epoch_from_a_guest(bench, driver):
    bench.server.hear_local(bind(5))
    bench.hear(driver.seal(claim(sequence=2)))
    assert bench.passed == []
    assert bench.server.counts == {"another's epoch": 1}


def test_who_is_revoked_while_driving_stops_the_car_and_is_told(bench, driver):
    bench.book.revoke("all")
    datagrams = bench.take(bench.server.step(bench.now_us))
    decoded = wire.MessageDecoder().feed(bench.passed[0])
    assert [type(it) for it in decoded] == [Stop]
    driver.hear(datagrams[0][0], bench.now_us)
    assert driver.state is GuestState.ENDED
    bench.passed.clear()
    bench.hear(driver.seal(claim(sequence=2)) or sealed_anyway(driver))
    assert bench.passed == []


def sealed_anyway(link):
    return link._sealers["drive"].seal(claim(sequence=2))


def test_a_guest_who_moves_is_followed_only_after_its_answer(bench, driver):
    old, new = HOST_ADDRESSES[0], OTHER
    session = next(iter(bench.server.sessions.values()))
    answers = bench.hear(driver.seal(claim(sequence=2)), new)
    assert session.address == old, "a copy that was raced diverts nothing"
    assert [where for _, where in answers] == [new]
    driver.hear(answers[0][0], bench.now_us)
    bench.hear(driver.step(bench.now_us)[0], new)
    assert session.address == new


class Attacker:
    """Makes hostile datagrams of what honest guests of two cars have sent, by kind."""

    def __init__(self, own: list[bytes], others: list[bytes], seed: int) -> None:
        self.own = own  # which the car has had already
        self.others = others  # of another session, another purpose, another car
        self.random = random.Random(seed)

    def forged(self) -> bytes:
        head = self.random.choice(self.own)[:12]
        return head + self.random.randbytes(self.random.randrange(16, 80))

    def flipped(self) -> bytes:
        changed = bytearray(self.random.choice(self.own))
        changed[self.random.randrange(len(changed))] ^= 1 << self.random.randrange(8)
        return bytes(changed)

    def cut(self) -> bytes:
        datagram = self.random.choice(self.own)
        return datagram[: self.random.randrange(len(datagram))]

    def longer(self) -> bytes:
        return self.random.choice(self.own) + self.random.randbytes(self.random.randrange(1, 40))

    def replayed(self) -> bytes:
        return self.random.choice(self.own)

    def moved(self) -> bytes:
        """One of another session, purpose or car, under this session's number."""
        datagram = self.random.choice(self.others)
        return datagram[:2] + self.own[0][2:6] + datagram[6:]

    def renamed(self) -> bytes:
        """One whose purpose is another's."""
        kind = self.random.choice(sorted(sealing.UP_BY_KIND))
        datagram = self.random.choice(self.own)
        return bytes((kind,)) + datagram[1:] if kind != datagram[0] else datagram


HOSTILE = ("forged", "flipped", "cut", "longer", "replayed", "moved", "renamed")


@pytest.mark.parametrize("count", [14_000, pytest.param(10**6, marks=pytest.mark.exhaustive)])
def test_of_hostile_datagrams_of_each_kind_none_passes(bench, tmp_path, driver, count):
    """A million take half a minute."""
    second = bench.join(bench.token(), OTHER)
    elsewhere = Bench(tmp_path / "other", board=bytes(8))
    strange = elsewhere.join(elsewhere.token())
    own = [driver.seal(frame) for number in range(2, 40) for frame in (
        claim(sequence=number), stop(number), act())]  # fmt: skip
    for datagram in own:
        bench.hear(datagram)
    others = [link.seal(frame) for number in range(2, 40) for link in (second, strange)
              for frame in (claim(sequence=number), stop(number), bind(number))]  # fmt: skip
    bench.passed.clear()
    bench.server.counts.clear()
    attacker = Attacker(own, others, 35)
    for number in range(count):
        bench.hear(getattr(attacker, HOSTILE[number % len(HOSTILE)])(), HOST_ADDRESSES[number % 39])
    assert bench.passed == []
    counts = bench.server.counts + bench.server.open_stops.counts
    assert counts.total() == count, "each one counted, by cause"
    assert {"forged", "repeated", "unknown session", "unknown type"} <= set(counts), counts


@pytest.mark.parametrize("count", [20_000, pytest.param(10**6, marks=pytest.mark.exhaustive)])
def test_of_random_datagrams_none_passes(bench, driver, count):
    """A million take two minutes."""
    source = random.Random(35)
    session = driver.grant.session.to_bytes(4, "little")
    for _ in range(count):
        kind = source.choice(sorted(sealing.UP_BY_KIND))
        size = source.randrange(16, 80)
        datagram = bytes([kind, 0]) + session + source.randbytes(size)
        bench.hear(datagram, HOST_ADDRESSES[source.randrange(39)])
    assert bench.passed == []
    assert bench.server.counts.total() == count
