"""The messages of requests, for ``cars`` and ``config``, which do not know the wire."""

from __future__ import annotations

from firmware.protocol import messages
from host_bridge.core import OperatorAction, Sender
from host_bridge.core.board_time import TIME_MASK
from host_bridge.link.protocol.units import name_field
from host_bridge.link.protocol.wire import new


def stop(token: int, sender: Sender, sender_name: str) -> messages.Stop:
    """Return a Stop; the name is cut to 16 bytes."""
    return new(messages.Stop, token=token, sender=int(sender), sender_name=name_field(sender_name))


def action(
    epoch: int, operator_action: OperatorAction, nonce: int, config_hash: bytes
) -> messages.Act:
    """Return one step of an action; with nonce 0 it asks for a nonce."""
    return new(
        messages.Act,
        epoch=epoch,
        action=int(operator_action.kind),
        sender=int(operator_action.sender),
        value=operator_action.value,
        nonce=nonce,
        config_hash=config_hash,
    )


def alive(
    epoch: int, stop_source: int, sequence: int, *, runs: bool, now_us: int
) -> messages.Alive:
    """Return a stop source's heartbeat message: its cars may run, or they have to stop."""
    return new(
        messages.Alive,
        epoch=epoch,
        stop_source=stop_source,
        sequence=sequence,
        runs=int(runs),
        stamp_us=now_us & TIME_MASK,
    )


def read_parameter(index: int) -> messages.ParameterRead:
    """Ask for the value at this index of the draft."""
    return new(messages.ParameterRead, index=index)


def write_parameter(epoch: int, index: int, value: int) -> messages.ParameterWrite:
    """Set the value at this index of the draft."""
    return new(messages.ParameterWrite, epoch=epoch, index=index, value=value)


def commit_parameters(epoch: int, config_hash: bytes, car_name: str) -> messages.ConfigCommit:
    """Make the draft the configuration, if it has this hash with this name."""
    return new(
        messages.ConfigCommit, epoch=epoch, config_hash=config_hash, car_name=name_field(car_name)
    )
