"""The handshake and the sealed datagrams, byte for byte as the vectors have them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from host_bridge.sharing.network.sealed import handshake, sealing
from host_bridge.sharing.network.sealed.handshake import Grant, GrantStatus, Request
from host_bridge.sharing.network.sealed.noise import ClientHandshake, ServerHandshake, public_key
from tests.support.evidence import some

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VECTORS = tomllib.loads(Path(__file__).with_name("vectors.toml").read_text("utf-8"))
MINUTE = 7


class Inputs:
    """The inputs of one vector."""

    def __init__(self, number: str) -> None:
        self.number = number
        self.rows = VECTORS[number]
        self.board, self.token = self.of("board", 8), self.of("token", 8)
        self.nonce = self.of("client nonce", 16)
        self.address = tuple(self.rows["address"])
        self.prologue = handshake.prologue(self.board, self.token, self.nonce)
        self.request = Request(
            self.of("protocol hash", 4), self.of("instance", 8), self.rows["role"]
        )
        self.grant = Grant(
            GrantStatus.GRANTED,
            self.rows["role"],
            self.rows["session"],
            self.of("protocol hash", 4),
            self.board,
            self.rows["sources"],
            self.rows["stop_sources"],
            self.rows["cap_mm_s"],
            self.rows["left_s"],
        )

    def of(self, name: str, size: int = 32) -> bytes:
        return hashlib.sha256(f"tandem vector {self.number} {name}".encode()).digest()[:size]

    def bytes_of(self, name: str) -> bytes:
        return bytes.fromhex(self.rows[name])


@pytest.fixture(params=sorted(VECTORS))
def inputs(request):
    return Inputs(request.param)


def both(inputs):
    """Both ends after a handshake, and its two messages."""
    static, psk = inputs.of("server static"), inputs.of("psk")
    client = ClientHandshake(
        inputs.prologue, public_key(static), psk, inputs.of("client ephemeral")
    )
    server = ServerHandshake(inputs.prologue, static, psk, inputs.of("server ephemeral"))
    first = client.start(inputs.request.pack())
    assert Request.parse(server.hear(first)) == inputs.request
    second = server.answer(inputs.grant.pack())
    assert Grant.parse(client.finish(second)) == inputs.grant
    return client, server, first, second


def test_the_cookie(inputs):
    cookie = handshake.cookie_of(
        inputs.of("cookie key"), inputs.address, inputs.token, inputs.nonce, MINUTE
    )
    assert cookie == inputs.bytes_of("cookie")


def test_the_handshake(inputs):
    client, server, first, second = both(inputs)
    assert public_key(inputs.of("server static")) == inputs.bytes_of("server_public")
    cookie = inputs.bytes_of("cookie")
    assert handshake.start(inputs.token, inputs.nonce, cookie, first) == inputs.bytes_of("start")
    assert handshake.head(handshake.GRANT) + inputs.nonce + second == inputs.bytes_of("grant")
    assert client.hash == server.hash == inputs.bytes_of("hash")
    assert client.keys == server.keys


def test_the_sealed_datagrams(inputs):
    client, _, _, _ = both(inputs)
    session = inputs.rows["session"]
    for name, row in some(inputs.rows["sealed"].items()):
        purpose = next(it for it in sealing.PURPOSES if it.name == name)
        key = sealing.key_of(client.keys[not purpose.is_up], purpose, client.hash)
        assert key.hex() == row["key"]
        sealer = sealing.Sealer(purpose, key, session)
        for _ in range(row["counter"]):
            sealer.seal(b"")
        datagram = sealer.seal(bytes.fromhex(row["frame"]))
        assert datagram.hex() == row["datagram"]
        opened = sealing.Opener(purpose, key, session).open(datagram)
        assert opened == (bytes.fromhex(row["frame"]), True)


def test_another_implementation_of_noise_says_the_same(inputs):
    noise = pytest.importorskip("noise.connection", reason="pip install noiseprotocol")
    ours = inputs.bytes_of("start")[44:], inputs.bytes_of("grant")[20:]
    there = noise.NoiseConnection.from_name(b"Noise_NKpsk0_25519_ChaChaPoly_SHA256")
    there.set_as_responder()
    there.set_psks(inputs.of("psk"))
    there.set_prologue(inputs.prologue)
    there.set_keypair_from_private_bytes(noise.Keypair.STATIC, inputs.of("server static"))
    there.set_keypair_from_private_bytes(noise.Keypair.EPHEMERAL, inputs.of("server ephemeral"))
    there.start_handshake()
    assert bytes(there.read_message(ours[0])) == inputs.request.pack()
    assert bytes(there.write_message(inputs.grant.pack())) == ours[1]
    assert there.get_handshake_hash() == inputs.bytes_of("hash")
