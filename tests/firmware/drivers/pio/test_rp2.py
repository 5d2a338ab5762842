"""The assembler of ``virtual/rp2.py`` against encodings that the RP2040 datasheet prints."""

# ruff: noqa: F821 - PIO functions have the assembler's words

import pytest
import rp2
from rp2 import PIO


@rp2.asm_pio(set_init=PIO.OUT_LOW)
def square_wave():
    set(pindirs, 1)
    label("again")
    set(pins, 1)[1]
    set(pins, 0)
    jmp("again")


@rp2.asm_pio(sideset_init=PIO.OUT_LOW, out_shiftdir=PIO.SHIFT_LEFT, autopull=True, pull_thresh=24)
def ws2812():
    wrap_target()
    label("bit")
    out(x, 1).side(0)[2]
    jmp(not_x, "zero").side(1)[1]
    jmp("bit").side(1)[4]
    label("zero")
    nop().side(0)[4]
    wrap()


@rp2.asm_pio(in_shiftdir=PIO.SHIFT_RIGHT, autopush=True, push_thresh=8)
def uart_receiver():
    wait(0, pin, 0)
    set(x, 7)[10]
    label("bit")
    in_(pins, 1)
    jmp(x_dec, "bit")[6]


@rp2.asm_pio(sideset_init=PIO.OUT_LOW)
def pwm():
    pull(noblock).side(0)
    mov(x, osr)
    mov(y, isr)
    label("count")
    jmp(x_not_y, "skip")
    jmp("next").side(1)
    label("skip")
    nop()
    label("next")
    jmp(y_dec, "count")


@rp2.asm_pio()
def the_rest():
    pull(ifempty, block)
    push(block)
    push(iffull, noblock)
    irq(3)
    irq(rel(2))
    mov(x, invert(y))
    mov(isr, reverse(osr))
    out(pc, 32)
    wait(1, irq, 4)
    jmp(pin, "end")
    label("end")
    out(exec, 16)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (square_wave, [0xE081, 0xE101, 0xE000, 0x0001]),
        (ws2812, [0x6221, 0x1123, 0x1400, 0xA442]),
        (uart_receiver, [0x2020, 0xEA27, 0x4001, 0x0642]),
        (
            the_rest,
            [
                0x80E0,
                0x8020,
                0x8040,
                0xC003,
                0xC012,
                0xA02A,
                0xA0D7,
                0x60A0,
                0x20C4,
                0x00CA,
                0x60F0,
            ],
        ),
    ],
)
def test_known_programs_have_their_known_encodings(program, words):
    assert [hex(word) for word in program.opcodes] == [hex(word) for word in words]


def test_a_side_set_takes_its_bits_from_the_delay():
    # the datasheet's PWM with one side-set bit; its optional side-set is not used by any driver
    assert [hex(w) for w in pwm.opcodes] == [
        "0x8080",
        "0xa027",
        "0xa046",
        "0xa5",
        "0x1006",
        "0xa042",
        "0x83",
    ]


def test_wrap_is_where_it_is_written():
    assert (ws2812.wrap_target, ws2812.wrap) == (0, 3)
    assert (uart_receiver.wrap_target, uart_receiver.wrap) == (0, 3)


_PULSE = 5  # a module's own names are not there while the chip assembles, so not here either


def uses_a_module_name():
    set(x, _PULSE)


def sets_too_much():
    set(x, 32)


def waits_too_long():
    nop()[32]


def is_too_long():
    for _ in (1,) * 33:
        nop()


def moves_to_null():
    mov(null, x)


def jumps_behind_its_end():
    jmp("end")
    label("end")


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (uses_a_module_name, NameError),
        (sets_too_much, rp2.PIOASMError),
        (waits_too_long, rp2.PIOASMError),
        (is_too_long, rp2.PIOASMError),
        (moves_to_null, rp2.PIOASMError),
        (jumps_behind_its_end, rp2.PIOASMError),
    ],
)
def test_what_the_chip_cannot_do_is_refused(function, error):
    with pytest.raises(error):
        rp2.asm_pio()(function)
    assert _PULSE == 5  # its module is as it was
