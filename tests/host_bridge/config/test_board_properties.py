"""Pins swapped at random: what is let through is right by rules that are restated here."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from host_bridge.config.boards import load_board
from host_bridge.config.boards.pins.case import WiringCase
from host_bridge.config.boards.pins.checking import examine
from host_bridge.config.boards.pins.needs import needs_of
from host_bridge.config.boards.reading import read_wiring
from tests.support.evidence import every

PINS = 50  # numbers below are pins, from there on wires


def case_of(board_name, vehicle):
    board, needs = load_board(board_name), needs_of(vehicle)
    return WiringCase(board, read_wiring(board, vehicle, needs.channels), needs)


CASES = [
    case_of("pico", "f1tenth"),
    case_of("pico", "autorally"),
    case_of("pico2", "autorally"),
    case_of("weact_rp2350b", "nigel"),
]


def moved(case, moves):
    """With some wires, by their number, on another pin, or swapped with another wire."""
    pins = {wire.key: wire.pin for wire in case.wiring.wires}
    keys = list(pins)
    for at, to in moves:
        one = keys[at % len(keys)]
        if to < PINS:
            pins[one] = to
        else:
            other = keys[to % len(keys)]
            pins[one], pins[other] = pins[other], pins[one]

    def part(old):
        changed = {wire.name: pins[wire.key] for wire in old.wires}
        return replace(old, values={**old.values, **changed})

    wiring = case.wiring
    return replace(
        case,
        wiring=replace(
            wiring,
            channels=tuple(map(part, wiring.channels)),
            encoders=tuple(map(part, wiring.encoders)),
            others={slot: part(old) for slot, old in wiring.others.items()},
        ),
    )


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(CASES),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, PINS + 99)), min_size=1, max_size=4),
)
def test_no_wrong_pin_is_let_through(good, moves):
    case = moved(good, moves)
    faults, allocated = examine(case)
    if faults:
        return
    wires = case.wiring.wires
    own = [w.pin for w in wires if w.use not in ("sda", "scl")]
    assert len(own) == len(set(own)), "doubled"
    assert not {w.pin for w in wires if w.use in ("sda", "scl")} & set(own), "doubled with a bus"
    for wire in wires:
        assert wire.pin in case.board.pins or (wire.part.slot, wire.pin) == ("led", 25)
    slices_are_right(case, allocated)
    machines_are_right(case, allocated)
    routes_are_right(wires, case.board.adc)


def slices_are_right(case, allocated):
    frequency, outputs = {}, set()
    for wire in case.wiring.wires:
        if wire.pwm_hz and wire.use != "esc":
            number = (wire.pin >> 1) & 7 if wire.pin < 32 else 8 + ((wire.pin >> 1) & 3)
            assert frequency.setdefault(number, wire.pwm_hz) == wire.pwm_hz
            assert (number, wire.pin & 1) not in outputs
            outputs.add((number, wire.pin & 1))
    assert len(allocated.groups()) == len(frequency)


def machines_are_right(case, allocated):
    placed = allocated.placed
    assert (
        len({p.machine for p in placed})
        == len(placed)
        == sum(wire.use in ("esc", "life", "a") for wire in case.wiring.wires)
    )
    loop = case.wiring.others["runstop"].values["loop"]
    for p in placed:
        assert p.machine // 4 == p.block < case.board.chip.pio.blocks
        assert {q.base for q in placed if q.block == p.block} == {p.base}
        reached = (p.job.wire.pin, p.job.wire.pin + 1 if p.job.wire.use == "a" else loop)
        assert every(p.base <= pin <= p.base + 31 for pin in reached)
    for block in range(3):
        programs = {p.job.program for p in placed if p.block == block}
        lengths = {"pulses": 20, "life_signal": 9, "quadrature": 23}
        assert sum(lengths[name] for name in programs) <= 32


def routes_are_right(wires, adc):
    for wire in wires:
        if wire.use in ("sda", "scl"):
            assert wire.pin & 1 == ("sda", "scl").index(wire.use)
        if wire.use == "adc":
            assert wire.pin in adc
        if wire.use == "a":
            assert wire.part.values["b"] == wire.pin + 1
    buses = {(w.pin >> 1) & 1 for w in wires if w.use in ("sda", "scl")}
    assert len(buses) == 1


def test_moves_that_are_right_are_let_through():
    """The property above is not true for want of anything to look at."""
    pico = case_of("pico", "f1tenth")
    keys = [wire.title for wire in pico.wiring.wires]
    faults, allocated = examine(moved(pico, [(keys.index("drive pulse"), 17)]))
    assert faults == []
    assert [p.machine for p in allocated.placed] == [0, 4, 1]
