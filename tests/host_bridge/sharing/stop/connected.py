"""The stop sockets of all served cars, as a test wants them: at once, and in order."""

from host_bridge.sharing.stop.stop_request import by_name
from host_bridge.sharing.stop.stop_sockets import StopSocket, find_stop_sockets


def connect_all() -> list[StopSocket]:
    """Connected, by name; whoever gets them closes them. Raises errors.DeviceFault."""
    return sorted((it for it in find_stop_sockets() if it), key=by_name)
