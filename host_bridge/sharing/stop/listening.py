"""The Unix sockets that some program listens at, as Linux itself lists them, with their logins.

A folder with 20,000 names takes long to look through one by one, and most may be dead. The system
knows at once at which of them anybody listens, and who: sock_diag(7), which any login may ask. What
it says only orders the search, for it does not know the sockets of another network namespace, as a
container has.

Imports as little as ``tandem stop`` needs.
"""

from __future__ import annotations

import socket
import struct

TYPE_CHECKING = False  # typing takes 3 ms to import
if TYPE_CHECKING:
    from collections.abc import Iterator

# linux/netlink.h, linux/sock_diag.h, linux/unix_diag.h
_PROTOCOL, _BY_FAMILY, _REQUEST, _DUMP = 4, 20, 1, 0x300
_LISTENS = 1 << 10  # of the states, as of TCP
_SHOW_NAME, _SHOW_LOGIN = 1, 0x40
_LOGIN = 7  # an attribute; a kernel before 5.3 does not have it
_HEADER, _ASKED = struct.Struct("=IHHII"), struct.Struct("=BBHIIIII")
_SIZE, _ATTRIBUTE, _LOGIN_ROW = struct.Struct("=I"), struct.Struct("=HH"), struct.Struct("=HHI")
_PATH_AT = 16 + 16 + 4  # behind the header, one unix_diag_msg, and its attribute's head
_READ_BYTES = 1 << 17
# Each has some 270 sockets and takes a millisecond. Whoever listens at more than all these keeps
# the search as slow as it is without this
_MOST_ANSWERS = 160
_ANSWERS_S = 0.2  # the system answers within the call
UNKNOWN_LOGIN = -1
MOST_OF_LOGIN = 128  # more than the share that another login has of those that are asked


def listening_sockets(prefix: str) -> list[str]:
    """Return the paths that begin so and are listened at: one of each login, then the next of each.

    Empty on another system than Linux, and where it forbids to ask; not complete of a login that
    has more than ``MOST_OF_LOGIN``, and where very many sockets are listened at.
    """
    found: dict[int, list[bytes]] = {}
    begin = prefix.encode(errors="surrogateescape")
    try:
        for data in _answers():
            _read(data, begin, found)
    except (AttributeError, OSError, struct.error):
        pass  # what was said so far is true
    turns = range(max(map(len, found.values()), default=0))
    paths = [
        of_login[turn] for turn in turns for of_login in found.values() if turn < len(of_login)
    ]
    return [path.rstrip(b"\0").decode(errors="surrogateescape") for path in paths]


def _answers() -> Iterator[bytes]:
    """Ask for all of them; yield each of the system's answers. Raises OSError."""
    asked = _ASKED.pack(socket.AF_UNIX, 0, 0, _LISTENS, 0, _SHOW_NAME | _SHOW_LOGIN, 0, 0)
    header = _HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _REQUEST | _DUMP, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _PROTOCOL) as end:
        end.settimeout(_ANSWERS_S)
        end.send(header + asked)
        for _ in range(_MOST_ANSWERS):
            data = end.recv(_READ_BYTES)
            yield data
            if _HEADER.unpack_from(data)[1] != _BY_FAMILY:  # all were said, or it was refused
                return


def _read(data: bytes, begin: bytes, found: dict[int, list[bytes]]) -> None:
    """Add the sockets of one answer whose paths begin so, by their logins.

    The path is the first attribute of each, and the login the last one.
    """
    at, end = 0, len(data)
    while at < end:
        size = _SIZE.unpack_from(data, at)[0]
        if size < _HEADER.size:
            return
        if data.startswith(begin, at + _PATH_AT):
            *_, kind, login = _LOGIN_ROW.unpack_from(data, at + size - _LOGIN_ROW.size)
            of_login = found.setdefault(login if kind == _LOGIN else UNKNOWN_LOGIN, [])
            if len(of_login) < MOST_OF_LOGIN:
                length = _ATTRIBUTE.unpack_from(data, at + _PATH_AT - _ATTRIBUTE.size)[0]
                of_login.append(data[at + _PATH_AT : at + _PATH_AT - _ATTRIBUTE.size + length])
        at += size + 3 & ~3
