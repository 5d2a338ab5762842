"""Cases of the line: others that speak on it, and what it does to frames."""

from sim_mock.faults.cases import injections as inject
from sim_mock.faults.cases import lines
from sim_mock.faults.cases.case import FaultCase
from sim_mock.faults.trial.target import InjectionTarget
from sim_mock.faults.trial.wire import Line


def _repl(target: InjectionTarget) -> Line:
    return lines.inserted(target.random, inject.REPL, 0.2)  # one frame in five


LINE_CASES = (
    # --- others on the line
    FaultCase("stranger-stops", "somebody without a session says Stop", "S10",
              "stop request", inject.other_host_stops),
    FaultCase("stop-and-clear", "Stop and clear in one step, in any order", "peers 19: panda #988",
              "stop request", inject.stop_and_clear),
    FaultCase("masquerade", "another car's session claims this one", "masquerade",
              "drives on", inject.other_host_claims),
    FaultCase("second-writer", "another session has the driver's source", "masquerade",
              "drives on", inject.second_writer),
    FaultCase("masquerade-alone", "the driver goes, a foreign session stays", "masquerade",
              "silence", inject.gone_while_other_host_claims, "lease"),
    FaultCase("tool-keeps-alive", "the driver goes, a busy tool stays", "peers 18: VESC Tool",
              "silence", inject.gone_while_tool_watches, "lease"),
    FaultCase("replay", "the driver goes, all it said comes again", "insertion, repetition",
              "silence", inject.session_replayed, "lease"),
    FaultCase("flood", "a babbler fills the line", "blocked access",
              "silence", inject.flooded, "lease", 10),
    # --- what lines do to frames
    FaultCase("repl-bytes", "what breaks into Python, between frames", "peers 13: kbd_intr",
              "drives on", inject.replace_line(lambda s: lines.among(s.random, inject.REPL))),
    FaultCase("repl-bytes-within", "the same, anywhere in a fifth of them", "peers 13: kbd_intr",
              "drives on", inject.replace_line(_repl)),
    FaultCase("noise", "random bytes between all frames", "insertion",
              "drives on", inject.replace_line(lambda s: lines.among(s.random, inject.ALL_BYTES))),
    FaultCase("doubled", "every frame comes twice", "repetition",
              "drives on", inject.replace_line(lambda _s: lines.doubled())),
    FaultCase("repeater", "one frame is repeated in place of all others", "repetition",
              "silence", inject.replace_line(lambda _s: lines.repeated()), "lease", 10),
    FaultCase("loss", "one frame in ten is lost", "loss",
              "drives on", inject.replace_line(lambda s: lines.lossy(s.random, 0.1))),
    FaultCase("short-burst", "nothing arrives for 80 ms", "loss",
              "drives on", inject.replace_line_for(80, lambda _s: lines.dead())),
    FaultCase("long-burst", "nothing arrives for 200 ms", "loss",
              "silence", inject.replace_line_for(200, lambda _s: lines.dead()), "lease"),
    FaultCase("late", "every frame is 30 ms late", "delay",
              "drives on", inject.replace_line(lambda _s: lines.late(30))),
    FaultCase("too-late", "every frame is 150 ms late", "delay",
              "silence", inject.replace_line(lambda _s: lines.late(150)), "lease"),
    FaultCase("wrong-order", "frames come in fives, the last first", "wrong order",
              "drives on", inject.replace_line(lambda _s: lines.reversed_in(5))),
    FaultCase("corruption", "a bit flips in one frame of ten", "corruption",
              "drives on", inject.replace_line(lambda s: lines.flipped(s.random, 0.1))),
    FaultCase("total-corruption", "a bit flips in every frame", "corruption",
              "silence", inject.replace_line(lambda s: lines.flipped(s.random, 1.0)), "lease"),
    FaultCase("in-two", "every frame comes in two parts", "partial reception",
              "drives on", inject.replace_line(lambda s: lines.in_two(s.random))),
    FaultCase("cut-short", "every frame loses its end", "partial reception",
              "silence", inject.replace_line(lambda s: lines.cut_short(s.random)), "lease"),
    FaultCase("nobody-reads", "nothing that the car says is taken", "blocked access; peers 16",
              "drives on", inject.nobody_reads),
    FaultCase("deaf-host", "the host hears nothing of the car", "asymmetric information",
              "drives on", inject.set_host(hears=False)),
    FaultCase("deaf-car", "the car hears nothing of the host", "asymmetric information",
              "silence", inject.replace_line(lambda _s: lines.dead()), "lease"),
)  # fmt: skip
