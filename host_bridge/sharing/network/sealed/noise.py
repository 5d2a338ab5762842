"""The handshake ``Noise_NKpsk0_25519_ChaChaPoly_SHA256`` (Noise Protocol Framework, revision 34).

The client knows the server's static public key and a pre-shared key. Both add an ephemeral key, so
that neither of the lasting secrets opens a recording. Pattern: <- s, ..., -> psk, e, es, <- e, ee.
"""

from __future__ import annotations

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

NAME = b"Noise_NKpsk0_25519_ChaChaPoly_SHA256"
KEY_BYTES = 32  # of X25519, ChaCha20 and SHA-256
TAG_BYTES = 16  # of Poly1305


class HandshakeRefused(ValueError):
    """A handshake message that is not what the holder of the right keys would send."""


def new_private_key() -> bytes:
    """Return a new X25519 private key, 32 bytes of the system's generator."""
    return X25519PrivateKey.generate().private_bytes_raw()


def public_key(private: bytes) -> bytes:
    """Return the public key of a private key, 32 bytes."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def nonce_of(counter: int) -> bytes:
    """Return the 12 bytes of nonce of a counter, as Noise has it for ChaChaPoly."""
    return b"\0\0\0\0" + counter.to_bytes(8, "little")  # 64 bits (Noise, section 12)


class _Transcript:
    """Noise's symmetric state: the chaining key, the hash of all that was said, and a cipher."""

    def __init__(self, prologue: bytes, server_public: bytes, psk: bytes) -> None:
        self.hash = self._chain = hashlib.sha256(NAME).digest()  # longer than 32 bytes
        self._cipher: ChaCha20Poly1305 | None = None
        self._counter = 0
        self.mix_hash(prologue)
        self.mix_hash(server_public)
        self._chain, mixed, key = self._expand(psk, 3)
        self.mix_hash(mixed)
        self._take_key(key)

    def mix_hash(self, data: bytes) -> None:
        self.hash = hashlib.sha256(self.hash + data).digest()

    def mix_key(self, secret: bytes) -> None:
        self._chain, key = self._expand(secret, 2)
        self._take_key(key)

    def mix_ephemeral(self, public: bytes) -> None:
        """Mix a public key into the hash and, as every pattern with a PSK does, into the key."""
        self.mix_hash(public)
        self.mix_key(public)

    def mix_shared(self, private: bytes, public: bytes) -> None:
        """Mix a Diffie-Hellman secret. Raises HandshakeRefused for a point of low order."""
        try:
            key = X25519PrivateKey.from_private_bytes(private)
            self.mix_key(key.exchange(X25519PublicKey.from_public_bytes(public)))
        except ValueError:
            raise HandshakeRefused("a public key of low order") from None

    def seal(self, payload: bytes) -> bytes:
        assert self._cipher, "a key is mixed in before"
        sealed = self._cipher.encrypt(nonce_of(self._counter), payload, self.hash)
        self._counter += 1
        self.mix_hash(sealed)
        return sealed

    def open(self, sealed: bytes) -> bytes:
        """Return the payload. Raises HandshakeRefused."""
        assert self._cipher, "a key is mixed in before"
        try:
            payload = self._cipher.decrypt(nonce_of(self._counter), sealed, self.hash)
        except InvalidTag:
            raise HandshakeRefused("not sealed with these keys") from None
        self._counter += 1
        self.mix_hash(sealed)
        return payload

    def split(self) -> tuple[bytes, bytes]:
        """Return the two keys of the session: client to server, server to client."""
        up, down = self._expand(b"", 2)
        return up, down

    def _expand(self, secret: bytes, count: int) -> list[bytes]:
        """Noise's HKDF: ``count`` keys of 32 bytes."""
        key = hmac.digest(self._chain, secret, "sha256")
        found = [b""]
        for number in range(1, count + 1):
            found.append(hmac.digest(key, found[-1] + bytes([number]), "sha256"))
        return found[1:]

    def _take_key(self, key: bytes) -> None:
        self._cipher = ChaCha20Poly1305(key)
        self._counter = 0


class ClientHandshake:
    """The client's side: ``start``, then ``finish`` with the answer.

    After that ``hash`` names the session, and ``keys`` are those of up and down.
    """

    def __init__(
        self, prologue: bytes, server_public: bytes, psk: bytes, ephemeral: bytes | None = None
    ) -> None:
        """Take the keys, 32 bytes each; ``ephemeral`` is a new one but for test vectors."""
        self._transcript = _Transcript(prologue, server_public, psk)
        self._server_public = server_public
        self._ephemeral = ephemeral or new_private_key()
        self.keys = (b"", b"")

    @property
    def hash(self) -> bytes:
        return self._transcript.hash

    def start(self, payload: bytes) -> bytes:
        """Return the first message."""
        public = public_key(self._ephemeral)
        self._transcript.mix_ephemeral(public)
        self._transcript.mix_shared(self._ephemeral, self._server_public)
        return public + self._transcript.seal(payload)

    def finish(self, message: bytes) -> bytes:
        """Return the payload of the answer. Raises HandshakeRefused."""
        public = message[:KEY_BYTES]
        if len(public) < KEY_BYTES:
            raise HandshakeRefused("too short")
        self._transcript.mix_ephemeral(public)
        self._transcript.mix_shared(self._ephemeral, public)
        payload = self._transcript.open(message[KEY_BYTES:])
        self.keys = self._transcript.split()
        return payload


class ServerHandshake:
    """The server's side: ``hear`` the first message, then ``answer`` it."""

    def __init__(
        self, prologue: bytes, private: bytes, psk: bytes, ephemeral: bytes | None = None
    ) -> None:
        """Take the static private key and the PSK, 32 bytes each."""
        self._transcript = _Transcript(prologue, public_key(private), psk)
        self._private = private
        self._ephemeral = ephemeral or new_private_key()
        self._client_public = b""
        self.keys = (b"", b"")

    @property
    def hash(self) -> bytes:
        return self._transcript.hash

    def hear(self, message: bytes) -> bytes:
        """Return the payload of the first message. Raises HandshakeRefused."""
        self._client_public = message[:KEY_BYTES]
        if len(self._client_public) < KEY_BYTES:
            raise HandshakeRefused("too short")
        self._transcript.mix_ephemeral(self._client_public)
        self._transcript.mix_shared(self._private, self._client_public)
        return self._transcript.open(message[KEY_BYTES:])

    def answer(self, payload: bytes) -> bytes:
        """Return the second message."""
        public = public_key(self._ephemeral)
        self._transcript.mix_ephemeral(public)
        self._transcript.mix_shared(self._ephemeral, self._client_public)
        sealed = self._transcript.seal(payload)
        self.keys = self._transcript.split()
        return public + sealed
