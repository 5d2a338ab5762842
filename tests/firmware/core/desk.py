"""Parts of the core on a desk: their inputs are made by hand, nothing moves and no time passes."""

from firmware.core.clock import Sessions
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol.codec import fill_values
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import Claim

_TABLE = crc_table()
OWN_EPOCH = 4321  # the board's


def params_with(**values) -> CheckedParams:
    """The defaults but for these; a list fills a parameter from its first value on."""
    params = CheckedParams(_TABLE)
    for name, value in values.items():
        given = value if isinstance(value, list) else [value]
        at = params.index(name)
        params.values[at : at + len(given)] = given
    return params


def parameters_of(app) -> CheckedParams:
    """All that a car holds, by name: it has them itself only while they are handed out."""
    return CheckedParams(_TABLE, app.configuration)


def claim_of(**fields) -> Claim:
    claim = Claim()
    for name, value in fields.items():
        setattr(claim, name, value)
    fill_values(claim)
    return claim


def sure_sessions(*epochs: int, bound_us: int = 1000, offset_us: int = 0) -> Sessions:
    """Sessions of these epochs, heard at 0, whose clocks are known to ``bound_us``."""
    sessions = Sessions(OWN_EPOCH)
    for epoch in epochs:
        session = sessions.slots[sessions.bind(epoch, 0)]
        session.bound_us = bound_us
        session.offset_us = offset_us
    return sessions
