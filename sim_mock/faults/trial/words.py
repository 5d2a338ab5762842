"""The program's numbers in a person's words: states, stop causes and faults by their names.

They are read from the constants of ``firmware.protocol.codes``, so a new one has a word at once.
"""

from __future__ import annotations

from firmware.protocol import codes

_STATES = ("STARTING", "STANDBY", "ACTIVE", "HOLD", "STOPPING", "STOPPED", "FAULT")


def _named(prefix: str, count: int) -> dict[int, str]:
    """Return the words of a group of constants by their values."""
    names = {value: name for name, value in vars(codes).items() if name.startswith(prefix)
             and not name.endswith("_COUNT") and isinstance(value, int)}  # fmt: skip
    return {value: names[value].removeprefix(prefix).lower().replace("_", " ")
            for value in range(count)}  # fmt: skip


_CAUSES = _named("CAUSE_", codes.CAUSE_COUNT)
_FAULTS = _named("FAULT_", codes.FAULT_COUNT)


def state_word(state: int) -> str:
    """Return a state's name; of a number that is none, that."""
    return next((name for name in _STATES if getattr(codes, name) == state), f"state {state}")


def cause_word(cause: int) -> str:
    """Return a stop cause's words; "no cause" for none."""
    return "no cause" if cause == codes.NO_CAUSE else _CAUSES.get(cause, f"cause {cause}")


def fault_words(bits: int) -> str:
    """Return the words of all faults in a mask; "no fault" for none."""
    found = [
        _FAULTS.get(bit, f"fault {bit}") for bit in range(bits.bit_length()) if bits >> bit & 1
    ]
    return ", ".join(found) or "no fault"
