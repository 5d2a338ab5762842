"""A board that comes to the port of the one in the loop stays a real car: nothing is said to it."""

import pytest

from firmware.protocol.enter_hitl import EnterHitl
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import Claim, Identity, Stop
from firmware.protocol.plant import hitl_id
from firmware.protocol.version import protocol_hash
from host_bridge.config import load_vehicle
from sim_mock.faults.trial.host import framed
from sim_mock.hitl.frames import kind_of
from sim_mock.hitl.handshake import HandshakeStage, HitlHandshake
from sim_mock.virtual_car.config import virtual_car_config

CONFIG = virtual_car_config(load_vehicle("f1tenth"), {})
ONE, OTHER = b"\1\2\3\4\5\6\7\x08", b"\x11\2\3\4\5\6\7\x08"


def identity(board_id, name=b"blue"):
    said = Identity()
    said.board_id[:] = board_id
    said.car_name[:] = name.ljust(16, b"\0")
    said.protocol_hash[:] = bytes(protocol_hash(crc_table()))
    return framed(said)


def met(board_id, board=b""):
    """The handshake after a board has said who it is, and the kinds of what that was told."""
    told = []
    handshake = HitlHandshake(CONFIG, told.append, lambda data: None, board)
    handshake.hear_board(identity(board_id))
    handshake.tick()
    kinds = {kind_of(frame) for data in told for frame in data.split(b"\0") if frame}
    return handshake, kinds


@pytest.mark.parametrize("board_id", [ONE, hitl_id(ONE)])
def test_the_same_board_is_taken_again_whether_it_was_reset_or_not(board_id):
    first, told = met(ONE)
    assert first.stage is HandshakeStage.ENTERING
    assert EnterHitl.ID in told
    again, _ = met(board_id, first.board)
    assert again.fault == ""
    assert again.stage in (HandshakeStage.ENTERING, HandshakeStage.LOADING)


def test_what_passed_to_the_board_counts_as_sent_though_other_frames_were_dropped():
    told = []
    handshake = HitlHandshake(CONFIG, told.append, lambda data: None)
    stop, claim = framed(Stop()), framed(Claim())
    assert not handshake.is_open
    assert handshake.hear_host(claim) == 0
    assert told == []
    assert handshake.hear_host(stop) == len(stop)
    assert handshake.hear_host(claim + stop + claim) == len(stop)
    assert told == [stop, stop]
    assert handshake.hear_host(b"") == 0


@pytest.mark.parametrize("board_id", [OTHER, hitl_id(OTHER)])
def test_another_board_is_named_and_told_nothing(board_id):
    handshake, told = met(board_id, hitl_id(ONE))
    assert EnterHitl.ID not in told
    assert handshake.stage is HandshakeStage.MEETING
    for part in ("another board is at the port", hitl_id(ONE).hex(), hitl_id(OTHER).hex(), "blue"):
        assert part in handshake.fault
