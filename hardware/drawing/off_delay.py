"""The runstop circuit with an off-delay: the parts that differ from the common circuit.

``NETS`` lists the inputs of each gate of the latch; a test computes the coil's supply from it.
"""

from __future__ import annotations

from hardware.drawing.circuit import At, Circuit

# Gate of U1, its two inputs, its output
NETS: tuple[tuple[str, str, str, str], ...] = (
    ("U1A", "loop", "drain of Q1", "not set"),
    ("U1B", "not set", "not held", "held"),
    ("U1C", "held", "loop", "not held"),
)
SYMBOLS: tuple[tuple[str, str, At, At, str], ...] = (
    # 1 the loop, and its load
    ("wire", "", (0, 7.6), (0, 7.2), ""),
    ("wire", "", (0, 5.2), (0, 4.4), ""),
    ("resistor", "R12", (0, 4.4), (0, 2.2), "bottom"),
    ("wire", "", (-1.4, 4.4), (1.6, 4.4), ""),
    ("wire", "", (1.6, 4.4), (1.6, -0.4), ""),
    ("wire", "", (1.6, 3), (3.04, 3), ""),
    ("wire", "", (1.6, -0.4), (7.24, -0.4), ""),
    # 2 the latch
    ("wire", "", (6, 2.6), (7.24, 2.6), ""),
    ("wire", "", (10.2, 2.2), (10.6, 2.2), ""),
    ("wire", "", (10.6, 2.2), (10.6, 1.5), ""),
    ("wire", "", (10.6, 1.5), (6.8, 0.8), ""),
    ("wire", "", (6.8, 0.8), (6.8, 0.4), ""),
    ("wire", "", (6.8, 0.4), (7.24, 0.4), ""),
    ("wire", "", (10.2, 0), (10.6, 0), ""),
    ("wire", "", (10.6, 0), (10.6, 0.7), ""),
    ("wire", "", (10.6, 0.7), (6.8, 1.4), ""),
    ("wire", "", (6.8, 1.4), (6.8, 1.8), ""),
    ("wire", "", (6.8, 1.8), (7.24, 1.8), ""),
    # 3 the capacitor that holds the gate of Q3
    ("wire", "", (10.6, 2.2), (10.6, 3.85), ""),
    ("diode", "D10", (10.6, 3.85), (13, 3.85), "top"),
    ("capacitor", "C10", (13, 3.85), (13, 1.85), "bottom"),
    ("wire", "", (13, 3.85), (16.63, 3.85), ""),
    ("resistor", "R10", (15, 3.85), (15, 1.85), "bottom"),
    # the coil
    ("wire", "", (18, 7.6), (18, 7.2), ""),
    ("box", "K1", (18, 7.2), (18, 5), "top"),
    ("wire", "", (18, 7.2), (19.8, 7.2), ""),
    ("zener", "D4", (19.8, 7.2), (19.8, 6.1), "bottom"),
    ("diode", "D3", (19.8, 5), (19.8, 6.1), "bottom"),
    ("wire", "", (19.8, 5), (18, 5), ""),
    ("wire", "", (18, 5), (18, 4.6), ""),
    ("wire", "", (18, 3.1), (18, 1.5), ""),
    ("wire", "", (15.6, 0.75), (16.63, 0.75), ""),
    # 4 whether Q1 conducts
    ("wire", "", (18, 2.3), (21, 2.3), ""),
    ("resistor", "R13", (21, 4.5), (21, 2.3), "bottom"),
    ("wire", "", (19.2, 2.3), (19.2, -1.4), ""),
    ("resistor", "R11", (13.4, -1.4), (11, -1.4), "bottom"),
    ("wire", "", (19.2, -1.4), (13.4, -1.4), ""),
    ("wire", "", (11, -1.4), (2.4, -1.4), ""),
    ("wire", "", (2.4, -1.4), (2.4, 2.2), ""),
    ("wire", "", (2.4, 2.2), (3.04, 2.2), ""),
)
CIRCUIT = Circuit(
    "runstop_off_delay",
    ("runstop_board", "runstop_off_delay"),
    SYMBOLS,
    grounds=((0, 2.2), (13, 1.85), (15, 1.85), (18, 0)),
    dots=(
        *((0, 4.4), (1.6, 3), (10.6, 2.2), (13, 3.85), (15, 3.85), (18, 5), (18, 7.2)),
        *((18, 2.3), (19.2, 2.3)),
    ),
    transistors=(("Q3", (16.63, 3.85)), ("Q1", (16.63, 0.75))),
    terminals=(
        ("L+", (0, 7.2), "left"),
        ("L-", (0, 5.2), "left"),
        ("LOOP, by R3\nand R4", (-1.4, 4.4), "left"),
        ("LIFE, by\nits pump", (15.6, 0.75), "left"),
        ("5V", (18, 7.6), "top"),
        ("5V", (21, 4.5), "top"),
    ),
    texts=(
        ("1  The loop, normally closed, carries 10 mA and no coil", (-2.4, 9.2)),
        ("2  U1A to U1C latch: reset as the loop opens;\n"
         "    set while it is closed and Q1 conducts nothing", (2.6, 5.6)),
        ("3  Q3 conducts for 0.69 to 1.76 s\n    after the latch was reset", (10.2, 6.4)),
        ("4  Q1 lets K1 go within 30 ms of LIFE's end, whatever the latch says", (3.6, -3.2)),
        ("SB1", (0.5, 6)),
    ),
    button=((0, 5.2), (0, 7.2)),
    supply=(0, 7.6),
    gates=(("U1A", (6, 2.6), 1.0), ("U1B", (10.2, 2.2), 1.0), ("U1C", (10.2, 0), -1.25)),
)  # fmt: skip
