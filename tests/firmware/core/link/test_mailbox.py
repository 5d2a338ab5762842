"""What comes over the link goes to whoever handles it; what goes is framed, sent or counted."""

import pytest

from firmware.boards.simulated.virtual import VirtualBoard
from firmware.core.link.outbox import Outbox
from firmware.core.link.receiver import Receiver
from firmware.protocol.codec import DECODED, decode_into, encode_into, fill_values
from firmware.protocol.frame import FrameReader, FrameWriter, crc_table
from firmware.protocol.messages import Alive, Identify, Stop, StopSeen

TABLE = crc_table()
NOW_US = 77


class Host:
    """The end of a link: gives what came in pieces, and takes as much as it has room for."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.reads = 0
        self.sizes: list[int] = []

    def receive_into(self, buffer: bytearray) -> int:
        self.reads += 1
        self.sizes.append(len(buffer))
        if not self.pieces:
            return 0
        piece = self.pieces.pop(0)
        buffer[: len(piece)] = piece
        return len(piece)


class Desk:
    """A receiver, and whom it calls."""

    def __init__(self) -> None:
        self.host = Host()
        self.receiver = Receiver(self.host, TABLE)
        self.heard: list[tuple[object, int, int]] = []
        self.receiver.route(((Stop(), self._note), (Identify(), self._note)))
        self.receiver.route_by_values(((Alive(), self._note_values),))

    def _note(self, message, now_us) -> None:
        self.heard.append((message.ID, now_us, self.receiver.size))

    def _note_values(self, message, now_us) -> None:
        self.heard.append((message.ID, now_us, message.values[0]))

    def step(self, *pieces: bytes) -> list[tuple[object, int, int]]:
        self.host.pieces += pieces
        self.heard.clear()
        self.receiver.step(NOW_US)
        return list(self.heard)

    @property
    def lost(self) -> tuple[int, int]:
        return self.receiver.unknown, self.receiver.out_of_range


def payload_of(message) -> bytes:
    buffer = bytearray(64)
    return bytes(buffer[: encode_into(message, buffer)])


def frame_of(payload: bytes) -> bytes:
    writer = FrameWriter(TABLE)
    writer.payload[: len(payload)] = payload
    return bytes(writer.out[: writer.wrap(len(payload))])


STOP = payload_of(Stop())
IDENTIFY = payload_of(Identify())
HEARD = [(Stop.ID, NOW_US, len(STOP)), (Identify.ID, NOW_US, len(IDENTIFY))]


@pytest.fixture
def desk():
    return Desk()


def test_each_message_is_handed_to_its_own_handler_with_its_size_and_the_time(desk):
    assert desk.step(frame_of(STOP) + frame_of(IDENTIFY)) == HEARD
    assert desk.lost == (0, 0)
    assert desk.receiver.reader.good == 2


@pytest.mark.parametrize("size", [1, 2, 7])
def test_however_it_is_cut_it_is_whole_in_the_end(desk, size):
    data = frame_of(STOP) + frame_of(IDENTIFY)[1:]
    heard = []
    for at in range(0, len(data), size):
        heard += desk.step(data[at : at + size])
    assert heard == HEARD


def test_who_reads_values_is_given_values(desk):
    alive = Alive()
    alive.epoch, alive.sequence = 1234, 9
    assert desk.step(frame_of(payload_of(alive))) == [(Alive.ID, NOW_US, 1234)]
    fill_values(alive)
    assert alive.values[0] == 1234, "the epoch is the first"


def test_who_is_added_by_attributes_again_reads_attributes(desk):
    desk.receiver.route(((Alive(), lambda it, _: desk.heard.append((it.epoch, it.sequence, 0))),))
    alive = Alive()
    alive.epoch, alive.sequence = 1234, 9
    assert desk.step(frame_of(payload_of(alive))) == [(1234, 9, 0)]


@pytest.mark.parametrize("number", [0, 60, 63, 64, 65, 255])
def test_a_number_that_nobody_handles_is_counted_and_no_more(desk, number):
    assert desk.step(frame_of(bytes([number, 1, 2])), frame_of(STOP)) == HEARD[:1]
    assert desk.lost == (1, 0)


def test_a_message_of_another_size_is_unknown_and_one_out_of_range_is_counted_apart(desk):
    assert desk.step(frame_of(STOP + b"x")) == []
    assert desk.lost == (1, 0)
    alive = bytearray(payload_of(Alive()))
    for at in range(1, len(alive)):  # the most that a number can be is no epoch and no time
        alive[at] = 0xFF
    assert desk.step(frame_of(bytes(alive)), frame_of(bytes(alive))) == []
    assert desk.lost == (1, 2)
    assert desk.step(frame_of(STOP + b"x")) == []
    assert desk.lost == (2, 2)
    assert desk.receiver.size == 0


def test_what_is_damaged_is_nothing(desk):
    frame = bytearray(frame_of(STOP))
    frame[5] ^= 1
    assert desk.step(bytes(frame)) == []
    assert (desk.receiver.reader.damaged, desk.lost) == (1, (0, 0))


def test_a_flood_is_read_four_times_a_step_and_256_bytes_a_time(desk):
    assert desk.step(*[frame_of(STOP)] * 6) == HEARD[:1] * 4
    assert (desk.host.reads, set(desk.host.sizes)) == (4, {256})
    assert desk.step() == HEARD[:1] * 2
    assert desk.host.reads == 4 + 3


def test_what_is_sent_is_one_frame_whose_payload_reads_back():
    board = VirtualBoard(bytes(8), b"", 1)
    outbox = Outbox(board, TABLE)
    seen = StopSeen()
    seen.token = 4242
    assert outbox.send(seen) is True
    first = board.sent_size
    fill_values(seen)
    assert outbox.send_values(seen) is True
    sent = bytes(board.sent[: board.sent_size])
    assert sent == 2 * sent[:first]
    assert sent[0] == sent[first - 1] == 0
    reader = FrameReader(TABLE)
    assert reader.read(bytearray(sent), 0, len(sent)) == first - 1
    read_back = StopSeen()
    assert decode_into(read_back, reader.frame, reader.payload_size()) == DECODED
    assert (read_back.token, outbox.unsent) == (4242, 0)


def test_what_is_in_its_payload_is_posted_as_it_is():
    board = VirtualBoard(bytes(8), b"", 1)
    outbox = Outbox(board, TABLE)
    outbox.payload[:3] = b"abc"
    assert outbox.post(3) is True
    assert bytes(board.sent[: board.sent_size]) == frame_of(b"abc")


def test_what_finds_no_room_is_counted_and_waits_for_nothing():
    board = VirtualBoard(bytes(8), b"", 1)
    board.room = 5
    outbox = Outbox(board, TABLE)
    assert outbox.send(Identify()) is False
    assert outbox.send_values(StopSeen()) is False
    assert (outbox.unsent, board.sent_size) == (2, 0)
    board.room = 1000
    assert outbox.send(Identify()) is True
    assert outbox.unsent == 2
