"""The address of a Devkit script: parsed, resolved, and told apart from this machine's own.

Nothing listens for a script: this side connects to it, where a person said. Its wire authenticates
and encrypts nothing, so a script on another machine is told as such.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from host_bridge.core.errors import DeviceFault, UsageFault

DEFAULT = "127.0.0.1:4567"  # where the Devkit's examples listen
_PORTS = range(1, 65536)


@dataclass(frozen=True)
class ScriptAddress:
    """An address that exists; ``is_local`` if it is this machine's own, and no other's."""

    host: str
    port: int
    is_local: bool

    def note(self) -> str:
        """Return what connecting to another machine means, as sentences; "" for this machine."""
        if self.is_local:
            return ""
        return (
            f"{self.host} is another machine: whoever answers there at port {self.port} drives, "
            "for the line authenticates and encrypts nothing. A real car drives only while "
            "somebody holds the deadman here; a virtual one needs nobody."
        )


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT; an IPv6 address stands in square brackets.

    Raises errors.UsageFault.
    """
    host, _, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if is_bracketed else host
    is_one = bool(bare) and (is_bracketed or ":" not in bare)
    if not is_one or not (port.isascii() and port.isdecimal()) or int(port) not in _PORTS:
        raise UsageFault(
            "this is not the address of a script",
            expected=f"HOST:PORT, as {DEFAULT} or [::1]:4567",
            got=text,
        )
    return bare, int(port)


def resolve_address(text: str) -> ScriptAddress:
    """Return the address of HOST:PORT, once its name is known on this machine.

    Raises errors.UsageFault for another form, errors.DeviceFault for a name that nobody knows.
    """
    host, port = parse_address(text)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DeviceFault(
            "no machine of this name is known",
            where=text,
            expected=f"the machine on which the script runs, as {DEFAULT} for this one",
            got=(error.strerror if isinstance(error, OSError) else "") or str(error),
            remedy="is the name spelled right? give the machine's IP address",
        ) from None
    # an IPv6 address may name its interface behind a %
    machines = [ipaddress.ip_address(str(it[4][0]).partition("%")[0]) for it in found]
    return ScriptAddress(host, port, all(machine.is_loopback for machine in machines))
