"""The stop sockets of every car that is served on this machine, by whichever login.

A socket's file name says which car it is: ``tandem-stop.NAME.FLEET.URI.RANDOM``, the middle ones
as checksums. Any login may create such a file, so a name is trusted for one thing only: a Stop may
be sent to it.

* Symbolic links are not followed, and what the name leads to has to be a socket.
* The login that listens has to be the one that owns the file, so that nobody can direct a Stop to
  another program.
* The owner's login and process are asked of the system, and not taken from the name.
* No socket is waited for. Each is connected to as soon as it is found: first those with the name of
  a car of this login, then the rest from a random place on. Each login has a share of them, so one
  with many files cannot crowd out the others.
* A socket whose queue is full may belong to a program that hangs, or another login may be filling
  the queue. It is tried again while the others are served, and its owner is asked to call back
  (``stop_calls.py``).

Imports as little as a stop in a hurry needs.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
import zlib

from host_bridge.core.errors import DeviceFault
from host_bridge.sharing.endpoints.folders import private_folder, stop_folders
from host_bridge.sharing.stop.listening import listening_sockets

TYPE_CHECKING = False  # typing takes 3 ms to import
if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "tandem-stop"
SUFFIX = ".sock"
MOST = 400  # sockets that are asked, of each login a share
LOOKED_AT_ONCE = 128  # names: some 1 ms, in which nothing is said to who was found before
LISTED_AT_ONCE = 1024  # names that are only read: as long
_PARTS = 5  # of a socket's name: prefix, car, tags of fleet and URI, a random number
_NAME_SIZE = 32  # letters of a car's name: a socket's whole path has 108 bytes on Linux
_OWN_FILES = "/proc/self/fd"
_PEER = struct.Struct("3i")  # pid, uid, gid: Linux, struct ucred
# This program's or this machine's own need: whether anybody is there was not asked
OUT_OF = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class StopSocket:
    """A socket of a served car, and who is behind it. ``end`` is connected, or None: it was not
    let in, and ``fault`` says why: EAGAIN, the queue is full, or what this program ran out of."""

    def __init__(
        self, path: str, name: str, fleet: str = "", uri: str = "", *, uid: int = -1
    ) -> None:
        self.path = path
        self.name = name
        self.fleet = fleet  # ``tag`` of what the car was served with
        self.uri = uri
        self.end: socket.socket | None = None
        self.fault = 0  # errno
        self.uid = uid  # of the file, and so of whoever listens; -1 before it was looked at
        self.pid = 0  # of whoever listens; 0 where the system does not say

    @property
    def is_foreign(self) -> bool:
        """Return whether another login serves the car."""
        return self.uid != os.getuid()

    def close(self) -> None:
        if self.end:
            self.end.close()
            self.end = None

    def connect(self) -> bool:
        """Connect without waiting; False if nobody is there, or it is not what its file says."""
        try:
            end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError as error:
            self.fault = error.errno or errno.EMFILE
            return True
        try:
            end.setblocking(False)
            self._connect(end)
        except OSError as error:
            end.close()
            self.fault = error.errno or 0
            return self.fault in (errno.EAGAIN, *OUT_OF)
        if not self._is_its_owner(end):
            end.close()
            return False
        self.end, self.fault = end, 0
        return True

    def _connect(self, end: socket.socket) -> None:
        """Connect to the very file that was looked at. Raises OSError."""
        if not (hasattr(os, "O_PATH") and os.path.isdir(_OWN_FILES)):  # not Linux
            self._look_at(os.lstat(self.path))
            end.connect(self.path)
            return
        file = os.open(self.path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self._look_at(os.fstat(file))
            end.connect(f"{_OWN_FILES}/{file}")
        finally:
            os.close(file)

    def _look_at(self, status: os.stat_result) -> None:
        if not stat.S_ISSOCK(status.st_mode):
            raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK), self.path)
        self.uid = status.st_uid

    def _is_its_owner(self, end: socket.socket) -> bool:
        peer = peer_of(end)
        if peer is None:
            return True
        self.pid, uid = peer
        return uid == self.uid


def peer_of(end: socket.socket) -> tuple[int, int] | None:
    """Return process and user id at the other end; None where the system does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    pid, uid, _ = _PEER.unpack(end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return pid, uid


def tag(text: str) -> str:
    """Return the checksum of a fleet or URI for a file name; a serial port's names give one."""
    scheme, separator, rest = text.partition("://")
    if separator and scheme == "serial":
        text = f"serial://{os.path.realpath(rest.partition('?')[0])}"
    return f"{zlib.crc32(text.encode()):08x}"


def file_name(name: str, fleet: str, uri: str) -> str:
    """Return a new name for the file of a car's stop socket.

    Name, fleet and URI (as tags) can be read from it; four random bytes make it this owner's.
    """
    return f"{PREFIX}.{name}.{tag(fleet)}.{tag(uri)}.{os.urandom(4).hex()}"


class LoginQuota:
    """A number of places that all logins share, so that none of them takes another's.

    Another login gets a quarter of what is left, and always one; this login as many as there are.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._taken: dict[int, int] = {}
        self._own = os.getuid()

    def has(self, uid: int) -> bool:
        """Return whether this login, by its user id, may take one more place."""
        taken = self._taken.get(uid, 0)
        share = self._left + taken
        return taken < (share if uid == self._own else max(share // 4, 1))

    def take(self, uid: int) -> bool:
        """Take one place for this login; return False if there is none."""
        if not self.has(uid):
            return False
        self._taken[uid] = self._taken.get(uid, 0) + 1
        self._left -= 1
        return True

    def give_back(self, uid: int) -> None:
        """Return one place that was taken and not used."""
        self._taken[uid] -= 1
        self._left += 1


def find_stop_sockets() -> Iterator[StopSocket | None]:
    """Yield the stop sockets of all served cars, each as it is connected.

    This login's own sockets of cars that have no stop socket come last. None comes now and then,
    for a caller with something else to do meanwhile: anybody may put any number of names there, and
    each has to be looked at. The caller closes the sockets. Raises errors.DeviceFault where this
    program could not look.
    """
    private = _private()
    share, known, spent = LoginQuota(MOST), set(), set()
    for place, path in enumerate(_public({it.name for it in private}), 1):
        if path is None or place % LOOKED_AT_ONCE == 0:
            yield None
        uid = owner_of(path) if path else -1  # before what takes longer: there may be very many
        if path is None or uid < 0 or uid in spent:
            continue
        it = _of_name(path, uid)
        if it and not share.take(uid):
            spent.add(uid)  # for good: what is left for a login only shrinks
        elif it and it.connect():
            known.add((it.name, it.pid))
            yield it
        elif it and uid == os.getuid():  # nobody crowds out its own cars by what they left behind
            share.give_back(uid)
    for it in private:
        if it.connect():
            if (it.name, it.pid) in known:
                it.close()
            else:
                yield it


def _public(own: set[str]) -> Iterator[str | None]:
    """Yield the path of whatever may be a stop socket; None now and then. Of a crowded folder first
    those that somebody listens at: most names may be dead. Then all others: first what is called as
    a car of this login, and the rest from anywhere on, so that nobody else has a say in what is
    first."""
    begins = tuple(f"{PREFIX}.{name}." for name in own)
    folders = list(dict.fromkeys(map(os.path.realpath, stop_folders())))
    living: set[str] = set()
    for folder in filter(_is_crowded, folders):
        paths = listening_sockets(f"{folder}/{PREFIX}.")
        yield from paths
        yield None
        living.update(paths)
    first: list[str] = []
    rest: list[str] = []
    for folder in folders:
        for name in _listed(folder):
            if name is None:
                yield None
            elif name.startswith(PREFIX) and (path := f"{folder}/{name}") not in living:
                (first if begins and name.startswith(begins) else rest).append(path)
    at = int.from_bytes(os.urandom(4), "little") % max(len(rest), 1)
    yield from first
    yield from rest[at:]
    yield from rest[:at]


def _of_name(path: str, uid: int) -> StopSocket | None:
    """Return the stop socket of this login that this path says it is; None for any other name."""
    parts = path.rpartition("/")[2].split(".")
    is_one = len(parts) == _PARTS and is_name(parts[1])
    return StopSocket(path, *parts[1:4], uid=uid) if is_one else None


def _private() -> list[StopSocket]:
    folder = private_folder()
    names = [name[: -len(SUFFIX)] for name in _listed(folder) if name and name.endswith(SUFFIX)]
    own = os.getuid()
    return [
        StopSocket(os.path.join(folder, name + SUFFIX), name, uid=own)
        for name in names
        if is_name(name)
    ]


def owner_of(path: str) -> int:
    """Return the login that owns what has this path; -1 if it is gone."""
    try:
        return os.lstat(path).st_uid
    except OSError:
        return -1


def _is_crowded(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return (
                sum(1 for _ in zip(range(LOOKED_AT_ONCE), entries, strict=False)) == LOOKED_AT_ONCE
            )
    except OSError:
        return False  # ``_listed`` says why


def _listed(folder: str) -> Iterator[str | None]:
    """Yield what may be a socket there, by what the folder itself says: nothing is looked at. None
    comes now and then.

    Raises errors.DeviceFault where this program could not look: that is not "nobody there".
    """
    try:
        with os.scandir(folder) as entries:
            for place, it in enumerate(entries, 1):
                if place % LISTED_AT_ONCE == 0:
                    yield None
                if not (it.is_symlink() or _is_other(it)):
                    yield it.name
    except OSError as error:
        if error.errno not in OUT_OF:
            return
        raise DeviceFault(
            "this program could not look for served cars",
            where=folder,
            got=error.strerror or str(error),
            remedy="close programs or files of this login; ulimit -n says how many it may have",
        ) from None


def _is_other(it: os.DirEntry[str]) -> bool:
    return it.is_file(follow_symlinks=False) or it.is_dir(follow_symlinks=False)


def is_name(text: str) -> bool:
    """Return whether a car can be served by this name: up to 32 ASCII letters, digits, - and _."""
    letters = text.replace("-", "a").replace("_", "a")
    return len(text) <= _NAME_SIZE and letters.isascii() and letters.isalnum()
