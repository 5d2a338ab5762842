"""The states of a link and their transitions."""

from __future__ import annotations

from enum import Enum


class LinkState(Enum):
    """The state of a link to a car."""

    LOST = "lost"  # no transport
    IDENTIFYING = "identifying"
    MISMATCH = "mismatch"
    STRANGER = "another car"
    IDENTIFIED = "identified"
    BINDING = "binding"
    BOUND = "bound"


class Trigger(Enum):
    """The events that move a link from state to state."""

    OPENED = "opened"
    CLOSED = "closed"
    SILENT = "silent"
    RESTARTED = "restarted"
    RECOGNISED = "recognised"
    DIFFERS = "differs"
    STRANGE = "strange"
    ASKED = "asked"
    TAKEN_IN = "taken in"


_S, _T = LinkState, Trigger
MET = (_S.MISMATCH, _S.STRANGER, _S.IDENTIFIED, _S.BINDING, _S.BOUND)
UNDERSTOOD = (_S.IDENTIFIED, _S.BINDING, _S.BOUND)

# A pair that is not in here changes nothing
TRANSITIONS: dict[tuple[LinkState, Trigger], LinkState] = {
    (_S.LOST, _T.OPENED): _S.IDENTIFYING,
    (_S.IDENTIFYING, _T.RECOGNISED): _S.IDENTIFIED,
    (_S.IDENTIFYING, _T.DIFFERS): _S.MISMATCH,
    (_S.MISMATCH, _T.RECOGNISED): _S.IDENTIFIED,
    (_S.IDENTIFIED, _T.ASKED): _S.BINDING,
    (_S.BINDING, _T.TAKEN_IN): _S.BOUND,
    (_S.STRANGER, _T.RECOGNISED): _S.IDENTIFIED,
    **{(state, _T.DIFFERS): _S.MISMATCH for state in (_S.STRANGER, *UNDERSTOOD)},
    **{(state, _T.STRANGE): _S.STRANGER for state in (_S.IDENTIFYING, _S.MISMATCH, *UNDERSTOOD)},
    **{(state, _T.SILENT): _S.IDENTIFYING for state in MET},
    **{(state, _T.RESTARTED): _S.IDENTIFYING for state in UNDERSTOOD},
    **{(state, _T.CLOSED): _S.LOST for state in _S if state is not _S.LOST},
}
