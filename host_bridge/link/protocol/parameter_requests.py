"""The messages that read, write and commit a configuration."""

from __future__ import annotations

from firmware.protocol import messages
from host_bridge.link.protocol.units import name_field
from host_bridge.link.protocol.wire import new


def read(index: int) -> messages.ParameterRead:
    """Ask for the value at this index of the draft."""
    return new(messages.ParameterRead, index=index)


def write(epoch: int, index: int, value: int) -> messages.ParameterWrite:
    """Set the value at this index of the draft."""
    return new(messages.ParameterWrite, epoch=epoch, index=index, value=value)


def commit(epoch: int, config_hash: bytes, car_name: str) -> messages.ConfigCommit:
    """Make the draft the configuration, if it has this hash with this name."""
    return new(
        messages.ConfigCommit, epoch=epoch, config_hash=config_hash, car_name=name_field(car_name)
    )
