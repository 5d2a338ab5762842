"""A runstop box as the wire has it, with tags of its own making: it shares no code with the car.

What it knows it has from what the car sent to the host at the other end; its air takes no time.
"""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from firmware.protocol import boxes
from firmware.protocol.codec import encode_into
from host_bridge.deploy.hil.host.small_host import SmallHost, framed
from sim_mock.board.firmware_runner import FlashContents
from sim_mock.board.pairing_keys import stored_key
from sim_mock.board.stored_image import board_id_of, stored_image

KEY = b"a key of 16 byte"


def tag_of(key: bytes, nonce: int, message: bytes) -> bytes:
    """CBC-MAC over the nonce's block and the message's, as the textbooks have it."""
    blocks = nonce.to_bytes(4, "little").ljust(16, b"\0") + message[:16]
    cipher = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    return cipher.update(blocks)[16:24]


def flash_of(facts, key: bytes = KEY, name: str = "") -> FlashContents:
    """A car's, that was paired."""
    board_id = board_id_of(name or facts.name)
    return FlashContents(
        stored_image(facts, board_id, name or facts.name), stored_key(key, board_id)
    )


class PairedBox:
    """``host`` is at the far end of the car's line; ``word`` is one word, ``say`` sends it."""

    def __init__(self, host: SmallHost, key: bytes = KEY, epoch: int = 5150) -> None:
        self.host = host
        self.key = key
        self.epoch = epoch
        self.sequence = 0
        self.ahead_us = 0  # it lies about when it heard the challenge
        self._heard = (0, 0, 0)  # challenge, nonce, and when they were heard

    def listen(self) -> None:
        """To the newest challenge, unless the tag is another key's."""
        heard = self.host.latest.get("BoxHeard")
        if heard is None or heard.challenge == self._heard[0]:
            return
        payload = bytearray(64)
        encode_into(heard, payload)
        assert bytes(heard.tag) == tag_of(self.key, heard.nonce, bytes(payload)), "the car's tag"
        self._heard = (heard.challenge, heard.nonce, self.host.now_us())

    def word(self, runs: int, **changes) -> bytes:
        """The next, with the tag of what it says."""
        self.listen()
        self.sequence += 1
        challenge, nonce, heard_us = self._heard
        said = boxes.BoxWord()
        said.says, said.challenge, said.epoch = runs, challenge, self.epoch
        said.sequence = self.sequence
        since_us = self.host.now_us() - heard_us & (1 << 30) - 1
        said.since_100us = max(since_us + self.ahead_us, 0) // 100 if challenge else 0
        for name, value in changes.items():
            setattr(said, name, value)
        payload = bytearray(64)
        encode_into(said, payload)
        said.tag[:] = tag_of(self.key, nonce, bytes(payload))
        return framed(said)

    def say(self, runs: int, **changes) -> bytes:
        frame = self.word(runs, **changes)
        self.host.world.feed(frame)
        return frame
