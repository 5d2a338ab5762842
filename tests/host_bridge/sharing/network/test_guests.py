"""Tokens, their ends, and the files in which both sides keep them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.protocol.messages import Status
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.link.protocol import wire
from host_bridge.sharing.network import invitations as invitation_files
from host_bridge.sharing.network.guest_link import GuestState
from host_bridge.sharing.network.guests import GuestBook
from host_bridge.sharing.network.invitations import accept, forget, invitations, invitations_to
from host_bridge.sharing.network.sealed.handshake import GrantStatus, Role
from host_bridge.sharing.network.tokens import Token
from tests.host_bridge.sharing.network.bench import BOARD, Bench, bind

HOUR_S, DAY_S = 3600.0, 86_400.0


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "guests")


def test_a_token_comes_back_from_its_text_however_it_was_typed(bench):
    token = bench.book.invite(
        next(iter(bench.book.guests.values()), None) or _guest(bench), "red", (("fd00::7", 27410),)
    )
    assert Token.parse(token.text()) == token
    assert Token.parse(f" {token.text().lower()[:90]}\n {token.text()[90:]} ") == token
    assert token.psk.hex() not in repr(token)


def _guest(bench):
    bench.token()
    return next(iter(bench.book.guests.values()))


def test_every_letter_that_is_wrong_is_told(bench):
    text = bench.token().text()
    for at in range(len("TANDEM:"), len(text) - 1):  # of the last letter some bits mean nothing
        wrong = "A" if text[at] != "A" else "B"
        with pytest.raises(UsageFault):
            Token.parse(text[:at] + wrong + text[at + 1 :])
    for junk in ("", "TANDEM:", "hello", text[:-1], text * 3):
        with pytest.raises(UsageFault):
            Token.parse(junk)


def test_what_is_accepted_is_found_again_and_closed_to_others(bench, tmp_path):
    token = bench.token()
    folder = tmp_path / "invitations"
    folder.mkdir(mode=0o700)
    assert accept(token.text(), folder) == token
    assert invitations(folder) == [token]
    file = next(folder.iterdir())
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    with pytest.raises(DataFileFault):
        invitations(folder)


def test_a_guest_is_over_by_the_date(bench):
    token = bench.token(for_s=HOUR_S)
    bench.wall_s += HOUR_S
    link = bench.join(token)
    assert (link.state, link.grant.status) == (GuestState.REFUSED, GrantStatus.EXPIRED)
    bench.wall_s -= 30 * 60
    bench.server.book.pass_time(HOUR_S)
    assert bench.join(token).grant.status is GrantStatus.EXPIRED, "also by the time served"


def test_a_clock_that_was_set_back_revives_nobody(bench, tmp_path):
    guest = _guest(bench)
    bench.wall_s += 2 * HOUR_S
    bench.book.pass_time(1.0)
    again = GuestBook(BOARD, tmp_path / "guests", lambda: bench.wall_s - 10 * DAY_S)
    assert again.left_s(guest) <= 0


def test_a_wrong_date_ahead_is_believed_for_a_day_and_a_half_at_most(bench, tmp_path):
    bench.token(for_s=5 * DAY_S)
    guest = next(iter(bench.book.guests.values()))
    bench.book.pass_time(1.0)
    again = GuestBook(BOARD, tmp_path / "guests", lambda: bench.wall_s + 1000 * DAY_S)
    assert again.left_s(guest) > 3 * DAY_S


def test_a_session_ends_when_its_time_does(bench):
    link = bench.join(bench.token(for_s=60.0))
    bench.wall_s += 61.0
    for datagram, _ in bench.take(bench.server.step(bench.now_us)):
        link.hear(datagram, bench.now_us)
    assert link.state is GuestState.ENDED
    assert not bench.server.sessions


def test_a_revoked_guest_is_told_so_and_a_rotated_one_hears_nothing(bench):
    token = bench.token()
    bench.book.revoke(token.token_id.hex()[:6])
    assert bench.join(token).grant.status is GrantStatus.REVOKED
    assert bench.book.rotate() == 1
    assert bench.join(token).state is GuestState.STARTING
    assert bench.server.counts["unknown token"] > 0


def test_an_id_that_two_guests_begin_with_revokes_neither(bench):
    first, second = bench.token(), bench.token()
    for begin in ("", "no id"):
        with pytest.raises(UsageFault, match="guests have an id that begins with"):
            bench.book.revoke(begin)
    for token in (first, second):
        assert bench.join(token).grant.status is GrantStatus.GRANTED
    assert len(bench.book.revoke("all")) == 2
    assert bench.join(first).grant.status is GrantStatus.REVOKED


def test_a_token_is_forgotten_by_the_beginning_of_its_id_and_only_alone(bench, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o700)
    first, second = bench.token(), bench.token()
    for token in (first, second):
        accept(token.text(), kept)
    for begin in ("", "no id"):
        with pytest.raises(UsageFault, match="tokens have an id that begins with"):
            forget(begin, kept)
    assert forget(first.token_id.hex(), kept) == [first]
    assert invitations(kept) == [second]


def test_a_token_has_sixteen_letters_of_a_name_and_is_found_by_all_of_them(bench, monkeypatch):
    kept = bench.book._path.parent / "kept"
    kept.mkdir(mode=0o700)
    monkeypatch.setattr(invitation_files, "data_folder", lambda kind: kept)
    made = replace(bench.token(), car_name="a_long_name_of_a_car")
    accept(made.text())
    (token,) = invitations_to("a_long_name_of_a_car", "tandem://a/a_long_name_of_a_car")
    assert token.token_id == made.token_id
    for name in ("a_long_name_of_", "a_long_name_of_b_car", "other"):
        with pytest.raises(UsageFault, match="nobody has invited you"):
            invitations_to(name, "tandem://a/it")


def test_without_the_cars_board_nobody_is_let_in(bench):
    bench.has_car = False
    assert bench.join(bench.token()).grant.status is GrantStatus.NO_CAR


def test_a_role_is_what_the_record_says_not_what_the_token_says(bench):
    token = bench.token(Role.WATCH)
    raised = Token(
        Role.DRIVE, token.token_id, token.board_id, token.server_public, token.psk, "red"
    )
    assert bench.join(raised).grant.role == Role.WATCH


def test_a_whole_set_of_guests_finds_its_end(bench):
    for _ in range(64):
        bench.token()
    with pytest.raises(UsageFault):
        bench.token()


def test_a_file_of_keys_that_others_could_read_is_refused(bench, tmp_path):
    bench.token()
    (tmp_path / "guests" / f"{BOARD.hex()}.json").chmod(0o640)
    with pytest.raises(DataFileFault):
        GuestBook(BOARD, tmp_path / "guests")


def state(number: int) -> bytes:
    """What a car says in one step, with its number."""
    status = dict.fromkeys(wire.LAYOUTS[Status].names, 0) | {"claim_crc": bytes(4)}
    return wire.encode(wire.new(Status, **status | {"time_us": number}))


def carried(bench, link, step_us, steps=20):
    """What comes down to a guest of ``steps`` of its car, and in how many datagrams."""
    begun, frames = bench.sent, []
    for number in range(steps):
        bench.now_us += step_us
        for datagram, _ in bench.take(bench.server.deliver(state(number), bench.now_us)):
            frames.append(link.hear(datagram, bench.now_us))
    return b"".join(frames), bench.sent - begun


def test_two_states_of_a_fast_car_go_together_to_who_watches_and_each_to_who_drives(bench):
    watcher = bench.join(bench.token(Role.WATCH))
    assert watcher.state is GuestState.LIVE
    frames, datagrams = carried(bench, watcher, step_us=10_000, steps=21)
    assert datagrams == 11, "the first at once, then two in each"
    assert frames == b"".join(map(state, range(21))), "nothing is left out, in order"
    frames, datagrams = carried(bench, watcher, step_us=20_000)
    assert datagrams == 20, "a slower car's go at once: a watcher is never longer without"
    driver = bench.join(bench.token())
    bench.hear(driver.seal(bind()))
    bench.server.sessions.pop(next(iter(bench.server.sessions)))
    frames, datagrams = carried(bench, driver, step_us=10_000)
    assert (frames, datagrams) == (b"".join(map(state, range(20))), 20)
