"""A guest's token: the text that one hands over, and which a QR code shows.

It names the car by its board and carries two secrets' ends: the server's public key, by which the
guest knows the car's computer, and a key of the guest's own. Nothing of it is a permission by
itself: the server's record of the guest decides.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from dataclasses import dataclass, field

from host_bridge.core.errors import UsageFault
from host_bridge.sharing.network.sealed.handshake import Address, Role

PREFIX = "TANDEM:"
_FORMAT = 1
_NAME_BYTES = 16  # as a car's name has on its board
_FIXED_BYTES = 98  # up to the number of addresses
_CHECK_BYTES = 4  # against typing errors, of which one in four billion passes
_LONGEST_TEXT = 400  # a token of three addresses has under 300 letters
_ADDRESSES = 3  # a cable's, a radio's and a VPN's
_EXPECTED = "TANDEM: and some 180 letters and digits, as tandem invite prints them"


def name_in_token(car_name: str) -> str:
    """Return as much of a name as a token has room for."""
    return car_name.encode()[:_NAME_BYTES].decode("utf-8", "ignore")


@dataclass(frozen=True)
class Token:
    """The token of a guest. ``role`` and ``addresses`` are hints."""

    role: Role
    token_id: bytes
    board_id: bytes
    server_public: bytes
    psk: bytes = field(repr=False)
    car_name: str
    addresses: tuple[Address, ...] = ()

    def text(self) -> str:
        """Return the token in letters that a QR code packs densely."""
        name = name_in_token(self.car_name).encode()
        body = bytes((_FORMAT, self.role)) + self.token_id + self.board_id
        body += self.server_public + self.psk + name.ljust(_NAME_BYTES, b"\0")
        body += bytes((len(self.addresses),)) + b"".join(map(_packed, self.addresses))
        check = hashlib.sha256(body).digest()[:_CHECK_BYTES]
        return PREFIX + base64.b32encode(body + check).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Token:
        """Return the token of a text; spaces and lower case are let pass. Raises UsageFault."""
        letters = "".join(text.split()).upper()
        if len(letters) > _LONGEST_TEXT or not letters.startswith(PREFIX):
            raise _fault("no token")
        letters = letters.removeprefix(PREFIX)
        try:
            data = base64.b32decode(letters + "=" * (-len(letters) % 8))
        except ValueError:
            raise _fault("letters that no token has") from None
        body, check = data[:-_CHECK_BYTES], data[-_CHECK_BYTES:]
        if len(body) <= _FIXED_BYTES or hashlib.sha256(body).digest()[:_CHECK_BYTES] != check:
            raise _fault("a token with a letter wrong, or not all of one")
        if body[0] != _FORMAT or body[1] not in list(Role):
            raise _fault(f"a token of format {body[0]}, role {body[1]}")
        name = body[82:_FIXED_BYTES].rstrip(b"\0").decode("utf-8", "replace")
        addresses = _unpacked(body[_FIXED_BYTES:])
        return cls(
            Role(body[1]), body[2:10], body[10:18], body[18:50], body[50:82], name, addresses
        )


def _packed(address: Address) -> bytes:
    host = ipaddress.ip_address(address[0])
    return bytes((host.version,)) + host.packed + address[1].to_bytes(2, "little")


def _unpacked(data: bytes) -> tuple[Address, ...]:
    found: list[Address] = []
    count, rest = data[0], data[1:]
    for _ in range(min(count, _ADDRESSES)):
        size = {4: 4, 6: 16}.get(rest[0] if rest else 0)  # bytes of an address by its version
        if size is None or len(rest) < size + 3:
            raise _fault("a token with an address cut short")
        host = ipaddress.ip_address(rest[1 : 1 + size])
        found.append((str(host), int.from_bytes(rest[1 + size : size + 3], "little")))
        rest = rest[size + 3 :]
    return tuple(found)


def _fault(got: str) -> UsageFault:
    return UsageFault(
        "this is no token of a guest",
        expected=_EXPECTED,
        got=got,
        remedy="copy it once more, whole; or ask for a new one: tandem invite",
    )
