"""The assembler of ``rp2``, from the RP2040 datasheet (section 3.4, the instruction set).

The words are the documented ones of the ``rp2`` module. Runs under CPython and MicroPython.
"""

_JMP, _WAIT, _IN, _OUT, _PUSH, _MOV, _IRQ, _SET = (n << 13 for n in range(8))
_PULL = _PUSH | 0x80
_MAX_LENGTH = 32

# The number of a name where it is a destination or source; None: the instruction has no such one.
_OPERANDS = ("pins", "x", "y", "null", "pindirs", "pc", "isr", "osr", "exec", "status")
_IN_SOURCES = (0, 1, 2, 3, None, None, 6, 7, None, None)
_OUT_TARGETS = (0, 1, 2, 3, 4, 5, 6, None, 7, None)
_MOV_TARGETS = (0, 1, 2, None, None, 5, 6, 7, 4, None)
_MOV_SOURCES = (0, 1, 2, 3, None, None, 6, 7, None, 5)
_SET_TARGETS = (0, 1, 2, None, 4, None, None, None, None, None)
_CONDITIONS = ("always", "not_x", "x_dec", "not_y", "y_dec", "x_not_y", "pin", "not_osre")
_WAITS = ("gpio", "pin", "irq")


class PIOASMError(Exception):
    pass


class _Name:
    """A word of the assembler's: a register, a condition. ``operation`` is that of ``mov``."""

    def __init__(self, name, operation=0):
        self.name = name
        self.operation = operation


class Program:
    """What ``asm_pio`` leaves: the instructions, and how a state machine is to be set up."""

    def __init__(self, settings):
        self.opcodes = []
        self.settings = settings
        self.wrap_target = 0
        self.wrap = -1
        self.sideset_count = 0


class _Instruction:
    def __init__(self, program, at):
        self.program = program
        self.at = at

    def __getitem__(self, cycles):
        return self.delay(cycles)

    def delay(self, cycles):
        if not 0 <= cycles < 1 << 5 - self.program.sideset_count:
            raise PIOASMError("delay too large")
        self.program.opcodes[self.at] |= cycles << 8
        return self

    def side(self, value):
        count = self.program.sideset_count
        if not 0 <= value < 1 << count:
            raise PIOASMError("sideset too large")
        self.program.opcodes[self.at] |= value << 13 - count
        return self


class Assembler:
    """The words that an ``@asm_pio`` function is written in; called twice, the first for labels."""

    def __init__(self, program):
        self.program = program
        self.labels = {}
        self.jumps = []
        self.is_second = False

    def begin(self, is_second):
        self.program.opcodes = []
        self.program.wrap_target = 0
        self.program.wrap = -1
        self.is_second = is_second

    def words(self):
        """Every name that is visible in the function; its own module's are not, as on the chip."""
        methods = ("label", "wrap_target", "wrap", "nop", "jmp", "wait", "in_", "out", "push")
        methods += ("pull", "mov", "irq", "set", "word")
        words = {name: getattr(self, name) for name in methods}
        words.update({name: _Name(name) for name in _OPERANDS + _CONDITIONS[1:] + ("gpio",)})
        words["irq"] = self.irq
        words.update({"block": 0x21, "noblock": 0x01, "iffull": 0x41, "ifempty": 0x41})
        words.update({"clear": 0x40, "rel": lambda index: index | 0x10})
        words["invert"] = lambda source: _Name(source.name, 1)
        words["reverse"] = lambda source: _Name(source.name, 2)
        return words

    def label(self, name):
        if not self.is_second:
            if name in self.labels:
                raise PIOASMError("duplicate label " + name)
            self.labels[name] = len(self.program.opcodes)

    def wrap_target(self):
        self.program.wrap_target = len(self.program.opcodes)

    def wrap(self):
        self.program.wrap = len(self.program.opcodes) - 1

    def word(self, opcode):
        if len(self.program.opcodes) == _MAX_LENGTH:
            raise PIOASMError("program too long: 32 instructions are all that there are")
        self.program.opcodes.append(opcode)
        return _Instruction(self.program, len(self.program.opcodes) - 1)

    def nop(self):
        return self.word(_MOV | 2 << 5 | 2)

    def jmp(self, condition, label=None):
        code = 0
        if label is None:
            label = condition
        else:
            code = _CONDITIONS.index(condition.name)
        target = self.labels[label] if self.is_second else 0
        self.jumps.append(target)
        return self.word(_JMP | code << 5 | target)

    def wait(self, polarity, source, index):
        name = "irq" if source == self.irq else source.name
        return self.word(_WAIT | polarity << 7 | _WAITS.index(name) << 5 | index)

    def in_(self, source, bits):
        return self.word(_IN | _number(_IN_SOURCES, source) << 5 | _bits(bits))

    def out(self, target, bits):
        return self.word(_OUT | _number(_OUT_TARGETS, target) << 5 | _bits(bits))

    def push(self, first=0x20, second=0):
        return self.word(_PUSH | _fifo_flags(first | second))

    def pull(self, first=0x20, second=0):
        return self.word(_PULL | _fifo_flags(first | second))

    def mov(self, target, source):
        word = _number(_MOV_TARGETS, target) << 5 | source.operation << 3
        return self.word(_MOV | word | _number(_MOV_SOURCES, source))

    def irq(self, mode, index=None):
        if index is None:
            mode, index = 0, mode
        return self.word(_IRQ | (mode & 0x60) | index)

    def set(self, target, value):
        if not 0 <= value < 32:
            raise PIOASMError("set takes 5 bits")
        return self.word(_SET | _number(_SET_TARGETS, target) << 5 | value)


def _number(table, operand):
    number = table[_OPERANDS.index(operand.name)]
    if number is None:
        raise PIOASMError("no such operand here: " + operand.name)
    return number


def _bits(count):
    if not 1 <= count <= 32:
        raise PIOASMError("1 to 32 bits")
    return count & 31


def _fifo_flags(flags):
    """``noblock`` has bit 0 and takes the block bit away; without it, to block is the default."""
    blocks = 0x20 if flags & 0x20 or not flags & 1 else 0
    return (flags & 0x40) | blocks


def assembled(function, settings):
    program = Program(settings)
    sides = settings["sideset_init"]
    program.sideset_count = len(sides) if isinstance(sides, tuple) else int(sides is not None)
    assembler = Assembler(program)
    own = function.__globals__
    kept = own.copy()
    own.clear()
    own.update(assembler.words())
    try:
        for is_second in (False, True):
            assembler.begin(is_second)
            function()
    finally:
        own.clear()
        own.update(kept)
    if len(program.opcodes) in assembler.jumps:  # the chip would run into another program
        raise PIOASMError("a jump behind the end")
    if program.wrap < 0:
        program.wrap = len(program.opcodes) - 1
    return program
