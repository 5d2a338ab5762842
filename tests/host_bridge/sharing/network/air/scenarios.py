"""How the air is while a guest drives through it, as a table, and what ends the driving."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.ros.reaction.impairment import CLEAR, LineSettings


@dataclass(frozen=True)
class Scenario:
    """``out`` is the air from the car's host to the guest, ``into`` the one to the car's host.

    The car drives for ``seconds`` through it, and then nothing gets through any more.
    """

    name: str
    into: LineSettings = CLEAR
    out: LineSettings = CLEAR
    seconds: float = 4.0
    is_ipv6: bool = False
    drives: bool = True  # False: it has to be refused, in words
    clock_bound_s: float | None = None  # of the vehicle file; None: what it says
    cuts: str = "both"  # ways: "both", "up" (to the car), "down"


def air(
    name: str, is_ipv6: bool = False, bound_s: float | None = None, **how: float | bool
) -> Scenario:
    """Return a scenario whose two ways are alike; ``bound_s`` is the car's ``clock_bound_s``."""
    line = LineSettings(**how)  # type: ignore[arg-type]
    return Scenario(name, line, line, is_ipv6=is_ipv6, clock_bound_s=bound_s)


SCENARIOS = (
    air("clear air"),
    air("clear air, IPv6", is_ipv6=True),
    air("1 % lost, 3 ms one way", loss=0.01, delay_s=0.003),
    air("5 % lost, 3 ms", loss=0.05, delay_s=0.003),
    air("10 % lost, 3 ms", loss=0.1, delay_s=0.003),
    air("20 % lost, 3 ms", loss=0.2, delay_s=0.003),
    air("30 % lost, 3 ms", loss=0.3, delay_s=0.003),
    air("3 ms and up to 10 more, reordered", delay_s=0.003, jitter_s=0.01),
    air(
        "20 % doubled, 10 % held back 20 ms", delay_s=0.003, doubled=0.2, held_back=0.1, hold_s=0.02
    ),
    air(
        "3 ms, all lost for 40 ms each 0.25 s",
        delay_s=0.003,
        every_s=0.25,
        stall_s=0.04,
        is_gap=True,
    ),
    air("3 ms, all held for 60 ms each 0.5 s", delay_s=0.003, every_s=0.5, stall_s=0.06),
    air("nothing longer than 576 bytes", longest_bytes=14 + 576),
    air("5 % lost, 3 ms, IPv6", is_ipv6=True, loss=0.05, delay_s=0.003),
    replace(air("9.5 ms", delay_s=0.0095), drives=False),
    air("9.5 ms, clock_bound_s = 0.03", bound_s=0.03, delay_s=0.0095),
    air("10 % lost, 20 ms, clock_bound_s = 0.03", bound_s=0.03, loss=0.1, delay_s=0.02),
    replace(air("30 ms, clock_bound_s = 0.03", bound_s=0.03, delay_s=0.03), drives=False),
    replace(air("3 ms, and only the way to the car ends", delay_s=0.003), cuts="up"),
    replace(air("3 ms, and only the way from the car ends", delay_s=0.003), cuts="down"),
)
