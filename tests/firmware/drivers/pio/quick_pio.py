"""PIO programs translated to Python: some thirty times as fast as the emulator, for long walks.

Only what the quadrature program uses: IN pins, OUT to x, y and isr, MOV between registers, JMP,
PUSH noblock that nobody reads, no delays. ``test_rp2_quadrature.py`` holds it against the emulator,
cycle by cycle.
"""

MASK = 0xFFFFFFFF
_REGISTERS = {1: "x", 2: "y", 6: "isr", 7: "osr"}
_CONDITIONS = {0: "True", 3: "y == 0", 4: "dec_y", 2: "dec_x"}


def translated(opcodes, wrap_target, wrap):
    """A function (levels, end, pc, x, y, isr, osr, clock) -> the last six, at the first block's
    end that is not before ``end``. ``levels(clock)`` are the pins."""
    starts = _block_starts(opcodes, wrap_target)
    lines = ["def run(levels, end, pc, x, y, isr, osr, clock):", "    while clock < end:"]
    for number, start in enumerate(starts):
        lines.append(f"        {'el' if number else ''}if pc == {start}:")
        stop = next((s for s in starts if s > start), len(opcodes))
        lines += ["            " + line for line in _block(opcodes, start, stop, wrap_target, wrap)]
    lines.append("    return pc, x, y, isr, osr, clock")
    namespace = {}
    exec("\n".join(lines), namespace)
    return namespace["run"]


def _block_starts(opcodes, wrap_target):
    starts = {0, wrap_target}
    for at, opcode in enumerate(opcodes):
        if opcode >> 13 == 0:
            starts |= {opcode & 31, at + 1}
    return sorted(start for start in starts if start < len(opcodes))


def _block(opcodes, start, stop, wrap_target, wrap):
    lines = []
    for at in range(start, stop):
        lines += _instruction(opcodes[at], at - start, stop - start)
    after = wrap_target if stop - 1 == wrap else stop
    return [*lines, f"clock += {stop - start}", f"pc = {after}"]


def _instruction(opcode, offset, size):
    assert opcode >> 8 & 31 == 0, "no delays here"
    kind, field, count = opcode >> 13, opcode >> 5 & 7, opcode & 31
    if kind == 0:
        return _jump(field, count, size)
    if kind == 2 and field == 0:
        shifted = f"(levels(clock + {offset}) & {(1 << count) - 1}) << {32 - count}"
        return [f"isr = {shifted} | isr >> {count}"]
    if kind == 3:
        return [f"{_REGISTERS[field]} = osr >> {32 - count}", f"osr = osr << {count} & {MASK}"]
    if kind == 5:
        inverted = f" ^ {MASK}" if opcode >> 3 & 3 == 1 else ""
        return [f"{_REGISTERS[field]} = {_REGISTERS[opcode & 7]}{inverted}"]
    assert opcode == 0x8000, f"not translated: {opcode:#06x}"  # push noblock
    return ["isr = 0"]


def _jump(condition, target, size):
    """A jump is always the last of its block."""
    lines = []
    if condition in (2, 4):
        register = "x" if condition == 2 else "y"
        lines = [f"dec_{register} = {register}", f"{register} = {register} - 1 & {MASK}"]
    taken = f"    clock += {size}; pc = {target}; continue"
    return [*lines, f"if {_CONDITIONS[condition]}:", taken]
